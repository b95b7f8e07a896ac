"""feature_refine_cuda of R3Det: features at the refined boxes of each pixel."""

from ...torch._buffers import add, fill
from ...torch._tensors import floats
from ...torch.op.rotated_feature_align import gradient, rotated_feature_align

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = ("feature_refine_cuda", "*.feature_refine_cuda")


def forward(features, best_rbboxes, spatial_scale, points, output):
    fill("output", output, rotated_feature_align(features.detach(), best_rbboxes.detach(), spatial_scale, points))
    return 1


def backward(grad_output, best_rbboxes, spatial_scale, points, grad_input):
    """Added to what there is."""
    grad, boxes = floats(grad_output=grad_output, best_rbboxes=best_rbboxes)
    add("grad_input", grad_input, gradient(grad, boxes, float(spatial_scale), points))
    return 1
