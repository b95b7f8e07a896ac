"""PSAMask: point-wise spatial attention."""

from typing import Optional

from .._arguments import PsaType, Size, pair, psa_type_number, renamed
from .._arrays import Array, floats, output, run
from .._forms import Form
from .._functions.psamask import PSAMASK_BACKWARD as BACKWARD, PSAMASK_FORWARD as FORWARD

__all__ = ["psa_mask", "psa_mask_backward"]


_FORWARD = Form("psa_mask(Tensor input, int psa_type, int h_mask, int w_mask)", FORWARD)
_BACKWARD = Form("psa_mask_backward(Tensor grad, int psa_type, int h_mask, int w_mask)", BACKWARD)


@renamed(x="input")
def psa_mask(input: Array, psa_type: PsaType, mask_size: Size, *, out: Optional[Array] = None) -> Array:
    """Point-wise spatial attention: lays the mask of every pixel over the feature map.

    For every pixel (h,w) and mask cell (i,j) whose target (p,q) = (h+i-(hm-1)//2, w+j-(wm-1)//2) is in the map,
    collect: output[n,h,w,p*W+q] = input[n,h,w,i*wm+j]; distribute: output[n,p,q,h*W+w] = input[n,h,w,i*wm+j]; other
    outputs are 0.

    Args:
        input: T [N, H, W, hm*wm]; float32, under the extended contract any float type.
        psa_type: "collect" (0) or "distribute" (1).
        mask_size: hm, wm, or one number for both.
        out: T [N, H, W, H*W].
    Returns: T [N, H, W, H*W].
    """
    x, = floats(input=input)
    kind, (hm, wm) = psa_type_number(psa_type), pair("mask_size", mask_size)
    y = output(out, "out", *_FORWARD.shapes(x, kind, hm, wm), x.dtype)
    run(FORWARD, (y,), kind, x, hm, wm, y)
    return y


def psa_mask_backward(grad_output: Array, psa_type: PsaType, mask_size: Size, *,
                      out: Optional[Array] = None) -> Array:
    """Gradient of psa_mask: T [N, H, W, hm*wm] from grad_output T [N, H, W, H*W]."""
    g, = floats(grad_output=grad_output)
    kind, (hm, wm) = psa_type_number(psa_type), pair("mask_size", mask_size)
    gx = output(out, "out", *_BACKWARD.shapes(g, kind, hm, wm), g.dtype)
    run(BACKWARD, (gx,), kind, g, hm, wm, gx)
    return gx


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"psa_mask": lambda ones, zeros: psa_mask(ones(1, 1, 1, 1), 0, 1)}
