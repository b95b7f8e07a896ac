"""rotated_feature_align. A compiled mmcv has CPU code for it and keeps it."""

from ...torch._tensors import floats
from ...torch.op.rotated_feature_align import forward, gradient


def rotated_feature_align_forward(features, best_rbboxes, output, spatial_scale, points):
    output.copy_(forward(*floats(features=features, best_rbboxes=best_rbboxes), float(spatial_scale), points))


def rotated_feature_align_backward(top_grad, best_rbboxes, bottom_grad, spatial_scale, points):
    bottom_grad.copy_(gradient(*floats(grad_output=top_grad, best_rbboxes=best_rbboxes), float(spatial_scale), points))


ENTRY_POINTS = (rotated_feature_align_forward, rotated_feature_align_backward)
KEEPS_OWN = ("rotated_feature_align_forward", "rotated_feature_align_backward")
