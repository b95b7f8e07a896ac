"""psamask_cpu and psamask_gpu of semseg, compiled at import: the masks of PSANet."""

from ...torch._buffers import fill
from ...torch._tensors import floats
from ...torch.op import psa_mask as _psa

__all__ = ["psamask_backward", "psamask_forward"]

PACKAGE = "psamask"
NAMES = ("psamask_cpu", "psamask_gpu")
BUILT = ("psamask_cpu", "psamask_gpu")


def psamask_forward(psa_type, input, output, num_, feature_H_, feature_W_, mask_H_, mask_W_, half_mask_H_, half_mask_W_):
    fill("output", output, _psa.forward(*floats(input=input.detach()), psa_type, mask_H_, mask_W_))


def psamask_backward(psa_type, grad_output, grad_input, num_, feature_H_, feature_W_, mask_H_, mask_W_, half_mask_H_,
                     half_mask_W_):
    fill("grad_input", grad_input, _psa.gradient(*floats(grad_output=grad_output), psa_type, mask_H_, mask_W_))
