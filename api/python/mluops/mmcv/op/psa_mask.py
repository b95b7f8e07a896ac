"""PSAMask. mmcv's autograd function clears its results before the kernel writes them; ours does not."""

from ..._arguments import pair, psa_type_number
from ...torch.op.psa_mask import forward, gradient, psa_mask


def psamask_forward(input, output, psa_type, num_, h_feature, w_feature, h_mask, w_mask, half_h_mask, half_w_mask):
    output.copy_(forward(input, psa_type, h_mask, w_mask))


def psamask_backward(grad_output, grad_input, psa_type, num_, h_feature, w_feature, h_mask, w_mask, half_h_mask,
                     half_w_mask):
    grad_input.copy_(gradient(grad_output, psa_type, h_mask, w_mask))


ENTRY_POINTS = (psamask_forward, psamask_backward)


def _function_forward(ctx, input, psa_type, mask_size):
    ctx.psa_type, ctx.mask_size = psa_type_number(psa_type), pair("mask_size", mask_size)
    return psa_mask(input, ctx.psa_type, ctx.mask_size)


def _function_backward(ctx, grad_output):
    return gradient(grad_output, ctx.psa_type, *ctx.mask_size), None, None


METHODS = {("mmcv.ops.psa_mask", "PSAMaskFunction", "forward"): _function_forward,
           ("mmcv.ops.psa_mask", "PSAMaskFunction", "backward"): _function_backward}
