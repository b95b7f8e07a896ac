"""RoIPool: the greatest pixels of boxes, in bins."""

import torch
from torch import Tensor, nn

from ..._functions.roi_pool import ROI_POOL_BACKWARD as BACKWARD, ROI_POOL_FORWARD as FORWARD
from .._blocks import Rois, Size, described, floats, no_tangent, pair, rois_of

__all__ = ["RoIPool", "roi_pool"]

# An image of which C gets no descriptor: it is like output.


def _jvp(inputs, output, tangents):
    """The tangents of the winners."""
    no_tangent("roi_pool", "rois", tangents[1])
    if tangents[0] is None:
        return torch.zeros_like(output[0]), None
    argmax, images = output[1].flatten(2).long(), inputs[1][:, 0].long()
    picked = tangents[0].flatten(2)[images].gather(2, argmax.clamp(min=0)) * (argmax >= 0)
    return picked.view(output[0].shape), None


_MAX = {"pooling_mode": 0}
gradient = described("roi_pool_backward(grad, rois, argmax, batch, height, width, spatial_scale)", BACKWARD, fixed=_MAX)
forward = described("roi_pool(input, rois, pooled_height, pooled_width, spatial_scale)", FORWARD, fixed=_MAX,
                    least={"pooled_h": 1, "pooled_w": 1}, gradient=gradient, jvp=_jvp)


def roi_pool(input: Tensor, rois: Rois, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Cuts each box in bins and takes the greatest pixel of each.

    Args:
        input: T [B, C, H, W].
        rois: T [R, 5]: batch index, x1, y1, x2, y2, the last pixel included. A batch index outside [0, B-1] is
            refused.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the boxes.
    Returns: T [R, C, PH, PW], differentiable in input; 0 for a bin without pixels.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input.
    Source: Girshick, "Fast R-CNN", ICCV 2015; mmcv's roi_pool.
    """
    x, r = floats(input=input, rois=rois_of(input, rois))
    return forward(x, r, *pair("output_size", output_size), float(spatial_scale))[0]


class RoIPool(nn.Module):
    """mluops.torch.roi_pool with fixed sizes; forward(input [B,C,H,W], rois [R,5])."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size = pair("output_size", output_size)
        self.spatial_scale = float(spatial_scale)

    def forward(self, input: Tensor, rois: Rois) -> Tensor:
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, spatial_scale={self.spatial_scale}"
