"""rotated_feature_align. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._sampled import gradient_into
from ...torch.op.rotated_feature_align import rotated_feature_align


def rotated_feature_align_forward(features, best_rbboxes, output, spatial_scale, points):
    output.copy_(rotated_feature_align(features.detach(), best_rbboxes, spatial_scale, points))


def rotated_feature_align_backward(top_grad, best_rbboxes, bottom_grad, spatial_scale, points):
    gradient_into(bottom_grad, top_grad, rotated_feature_align, best_rbboxes, spatial_scale, points)


ENTRY_POINTS = COMPOSED = (rotated_feature_align_forward, rotated_feature_align_backward)
KEEPS_OWN = ("rotated_feature_align_forward", "rotated_feature_align_backward")
