"""Deformable RoI pooling."""

from typing import Optional, Sequence, Tuple

from .._arguments import Size, integer, pair
from .._arrays import Array, floats, output, outputs, run
from .._forms import Form
from .._functions.deform_roi_pool import DEFORM_ROI_POOL_BACKWARD as BACKWARD, DEFORM_ROI_POOL_FORWARD as FORWARD

__all__ = ["deform_roi_pool", "deform_roi_pool_backward"]


_FORWARD = Form("deform_roi_pool(Tensor input, Tensor rois, Tensor? offset, int pooled_height, int pooled_width)",
                FORWARD)
_BACKWARD = Form("deform_roi_pool_backward(Tensor grad, Tensor input, Tensor rois, Tensor? offset)", BACKWARD)


def deform_roi_pool(input: Array, rois: Array, offset: Optional[Array], output_size: Size,
                    spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1, *,
                    out: Optional[Array] = None) -> Array:
    """Deformable RoI pooling: the mean of bilinear samples in each bin, bins shifted by gamma * RoI size * offset.

    Args:
        input: T [B, H, W, C].
        rois: T [R, 5]: batch index, x1, y1, x2, y2.
        offset: T [R, 2, PH, PW] (plane 0 is x, plane 1 is y) or None.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the RoIs; 0.5 is then subtracted.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(RoI size / bins).
        gamma: scale of offset.
        out: T [R, PH, PW, C].
    Returns: T [R, PH, PW, C].
    """
    x, r, o = floats(optional="offset", input=input, rois=rois, offset=offset)
    ph, pw = pair("output_size", output_size)
    y = output(out, "out", *_FORWARD.shapes(x, r, o, ph, pw), x.dtype)
    run(FORWARD, (y,), x, r, o, ph, pw, float(spatial_scale), integer("sampling_ratio", sampling_ratio),
        float(gamma), y)
    return y


def deform_roi_pool_backward(grad_output: Array, input: Array, rois: Array, offset: Optional[Array],
                             spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1, *,
                             out: Optional[Sequence[Array]] = None) -> Tuple[Array, Optional[Array]]:
    """Gradients of deform_roi_pool. grad_offset uses the unclamped sample coordinates, so in the border bands it is
    not the derivative of the forward function.

    Args:
        grad_output: T [R, PH, PW, C].
        input, rois, offset, ...: as given to deform_roi_pool.
        out: grad_input T [B, H, W, C] and, with offset, grad_offset T [R, 2, PH, PW].
    Returns: grad_input, grad_offset (None without offset).
    """
    g, x, r, o = floats(optional="offset", grad_output=grad_output, input=input, rois=rois, offset=offset)
    known = _BACKWARD.sizes((g, x, r, o))
    ph, pw = known["pooled_height"], known["pooled_width"]
    names, shapes = ("grad_input", "grad_offset"), (x.shape, None if o is None else o.shape)
    count = 1 if o is None else 2
    results = outputs(out, names[:count], shapes[:count], (x.dtype, x.dtype)[:count])
    gx, go = (*results, None)[:2]
    run(BACKWARD, results, g, x, r, o, ph, pw, float(spatial_scale), integer("sampling_ratio", sampling_ratio),
        float(gamma), gx, go)
    return gx, go


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"deform_roi_pool": lambda ones, zeros: deform_roi_pool(ones(2, 2, 2, 1), ones(1, 5), None, 1)}
