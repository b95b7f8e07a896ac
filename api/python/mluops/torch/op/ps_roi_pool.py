"""PSRoIPool: means of boxes in bins, every bin from channels of its own."""

from torch import Tensor, nn

from ..._functions.ps_roi_pool import PS_ROI_POOL_BACKWARD as BACKWARD, PS_ROI_POOL_FORWARD as FORWARD
from .._blocks import Rois, Size, bad_param, described, floats, pair, rois_of

__all__ = ["PSRoIPool", "ps_roi_pool"]


def _every_bin(channels, pooled_height, pooled_width, **_):
    if channels % (pooled_height * pooled_width):
        raise bad_param("input", f"channels that are a multiple of {pooled_height} * {pooled_width}", channels)


_NO_MAP = {"mapping_channel": None}
gradient = described("ps_roi_pool_backward(grad, rois, batch, height, width, spatial_scale)", BACKWARD, fixed=_NO_MAP)
forward = described("ps_roi_pool(input, rois, pooled_height, pooled_width, spatial_scale)", FORWARD, fixed=_NO_MAP,
                    rule=_every_bin, gradient=gradient, linear="input",
                    sizes={"channels": None, "group_size": lambda pooled_height, **_: pooled_height,
                           "output_dim": lambda channels, bins, **_: channels // bins})


def ps_roi_pool(input: Tensor, rois: Rois, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Cuts each box in bins and takes the mean of the pixels of each, every bin from channels of its own.

    Args:
        input: T [B, D * PH * PW, H, W]; bin i, j of output channel d is of channel (d * PH + i) * PW + j.
        rois: T [R, 5]: batch index, x1, y1, x2, y2, rounded to whole pixels of the image, the last one included. A
            batch index outside [0, B-1] is refused.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the boxes, above 0.
    Returns: T [R, D, PH, PW], differentiable in input; 0 for a bin without pixels.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input. torchvision's rounds boxes after it has scaled them, and takes
    neither their last pixel nor the map's last row and column.
    Source: Dai et al., "R-FCN", NIPS 2016; mluOpPsRoiPoolForward.
    """
    x, r = floats(input=input, rois=rois_of(input, rois))
    return forward(x, r, *pair("output_size", output_size, 1), float(spatial_scale))


class PSRoIPool(nn.Module):
    """ps_roi_pool with fixed sizes; forward(input [B,D*PH*PW,H,W], rois [R,5])."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)

    def forward(self, input: Tensor, rois: Rois) -> Tensor:
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)
