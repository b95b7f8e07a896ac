"""bezier_align: means in the bins between two curves; BezierAlign, the module."""

from torch import Tensor, nn

from ..._functions.bezier_align import BEZIER_ALIGN_BACKWARD as BACKWARD, BEZIER_ALIGN_FORWARD as FORWARD
from .._blocks import Rois, Size, described, floats, integer, pair, rois_of

__all__ = ["BezierAlign", "bezier_align"]


gradient = described("bezier_align_backward(grad, beziers, batch, height, width, spatial_scale, sampling_ratio, "
                     "aligned)", BACKWARD)
forward = described("bezier_align(input, beziers, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned)",
                    FORWARD, least={"pooled_h": 1, "pooled_w": 1}, gradient=gradient, linear="input")


def bezier_align(input: Tensor, beziers: Rois, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 aligned: bool = True) -> Tensor:
    """Means of bilinear samples in bins between two cubic Bezier curves, as text recognition wants them.

    Args:
        input: T [N, C, H, W].
        beziers: T [R, 17]; batch index, x and y of the upper curve's four points, then of the lower one's from right to
            left. A batch index outside [0, N-1] is refused.
        output_size: bins down and across.
        spatial_scale: curves are scaled by it.
        sampling_ratio: samples of a bin along each axis, at most 256; 0 and below: one for each started pixel.
        aligned: curves are moved by half a pixel; else a region is at least one pixel large.
    Returns: T [R, C, *output_size]; 0 of bins without samples. Differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; samples are placed in double. NCHW and
    channels_last tensors are used where they lie; the result has the memory order of input.
    Source: mmcv's bezier_align.
    """
    x, b = floats(input=input, beziers=rois_of(input, beziers, "beziers", 16))
    return forward(x, b, *pair("output_size", output_size, 1), float(spatial_scale),
                   max(integer("sampling_ratio", sampling_ratio), 0), bool(aligned))


class BezierAlign(nn.Module):
    """bezier_align as a module: forward(input, beziers)."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int, aligned: bool = True) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)
        self.sampling_ratio, self.aligned = int(sampling_ratio), aligned

    def forward(self, input: Tensor, beziers: Rois) -> Tensor:
        return bezier_align(input, beziers, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)
