"""roi_crop: bilinear samples of images at the points of grids, several grids an image."""

from torch import Tensor

from ..._functions.roi_crop import ROI_CROP_BACKWARD as BACKWARD, ROI_CROP_FORWARD as FORWARD
from .._blocks import bad_param, described, floats

__all__ = ["roi_crop"]


def _grids_of_images(batch, grids, out_h, out_w, **_):
    if grids % batch if batch else grids:
        raise bad_param("grid", f"a multiple of the {batch} images", (grids, out_h, out_w, 2))


gradient = described("roi_crop_backward(grad, grid, batch, height, width)", BACKWARD, rule=_grids_of_images)
forward = described("roi_crop(input, grid)", FORWARD, rule=_grids_of_images, gradient=gradient, linear="input")


def roi_crop(input: Tensor, grid: Tensor) -> Tensor:
    """Bilinear samples of images at the points of grids; pixels outside count 0.

    Args:
        input: T [B, C, H, W].
        grid: T [G, OH, OW, 2]: y, x of each point, from -1, the first pixel, to 1, the last. G is a multiple of B: the
            first G / B grids sample the first image.
    Returns: T [G, C, OH, OW], differentiable in input. With G = B what torch's grid_sample gives for grid.flip(-1) and
    align_corners.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of input.
    Source: Jaderberg et al., "Spatial Transformer Networks", NIPS 2015; mluOpRoiCropForward.
    """
    return forward(*floats(input=input, grid=grid))
