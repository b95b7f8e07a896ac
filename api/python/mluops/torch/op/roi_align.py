"""RoIAlign: bilinear samples of boxes, pooled in bins."""

from typing import Union

import torch
from torch import Tensor, nn

from ..._functions.roi_align import ROI_ALIGN_BACKWARD as BACKWARD, ROI_ALIGN_FORWARD as FORWARD
from .._blocks import Rois, Size, described, floats, integer, named, no_tangent, pair, renamed, rois_of

__all__ = ["RoIAlign", "roi_align"]


_MODES = "max", "avg"
_MAX = 0


def _jvp(inputs, output, tangents):
    """Means are linear in input."""
    if inputs[6] == _MAX:
        raise RuntimeError('mluops: roi_align has no forward-mode derivative with pool_mode "max"')
    no_tangent("roi_align", "rois", tangents[1])
    along = torch.zeros_like(output[0]) if tangents[0] is None else forward(tangents[0], *inputs[1:])[0]
    return along, None, None


def _of_means(pool_mode, **_):
    return pool_mode != _MAX


gradient = described("roi_align_backward(grad, rois, Tensor? argmax_y, Tensor? argmax_x, batch, height, width, "
                     "spatial_scale, sampling_ratio, pool_mode, aligned)", BACKWARD)
forward = described("roi_align(input, rois, pooled_height, pooled_width, spatial_scale, sampling_ratio, pool_mode, "
                    "aligned)", FORWARD, results="output argmax_y argmax_x",
                    absent={"argmax_y": _of_means, "argmax_x": _of_means}, gradient=gradient, jvp=_jvp)


def roi_align(input: Tensor, rois: Rois, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
              pool_mode: Union[str, bool] = "avg", aligned: bool = True) -> Tensor:
    """Cuts each box in bins and pools bilinear samples of the input in each.

    Args:
        input: T [B, C, H, W].
        rois: T [R, 5]: batch index, x1, y1, x2, y2. A batch index outside [0, B-1] is refused.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the boxes.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(box size / bins).
        pool_mode: "avg": a bin is the mean of its samples; "max": the greatest of them. A bool is torchvision's `aligned`.
        aligned: True: half a pixel is subtracted from the scaled corners; False: it is not, and boxes are at least one
            pixel wide and high.
    Returns: T [R, C, PH, PW], differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input.
    Source: He et al., "Mask R-CNN", ICCV 2017; mmcv's roi_align.
    """
    x, r = floats(input=input, rois=rois_of(input, rois))
    if isinstance(pool_mode, bool):
        pool_mode, aligned = "avg", pool_mode
    return forward(x, r, *pair("output_size", output_size), float(spatial_scale),
                   integer("sampling_ratio", sampling_ratio), named("pool_mode", pool_mode, *_MODES),
                   bool(aligned))[0]


class RoIAlign(nn.Module):
    """mluops.torch.roi_align with fixed sizes; forward(input [B,C,H,W], rois [R,5]). use_torchvision is mmcv's and
    without effect."""

    @renamed(out_size="output_size", sample_num="sampling_ratio")
    def __init__(self, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 pool_mode: Union[str, bool] = "avg", aligned: bool = True, use_torchvision: bool = False) -> None:
        super().__init__()
        self.output_size = pair("output_size", output_size)
        self.spatial_scale = float(spatial_scale)
        self.sampling_ratio = int(sampling_ratio)
        self.pool_mode = pool_mode
        self.aligned = aligned
        self.use_torchvision = use_torchvision

    def forward(self, input: Tensor, rois: Rois) -> Tensor:
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.pool_mode,
                         self.aligned)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
                f"sampling_ratio={self.sampling_ratio}, pool_mode={self.pool_mode}, aligned={self.aligned}")
