"""correlation, which mmcv has no CPU code for."""

from ...torch._tensors import floats
from ...torch.op.correlation import forward, gradient


def _numbers(kH, kW, patchH, patchW, padH, padW, dilationH, dilationW, dilation_patchH, dilation_patchW, dH, dW):
    """In our order. mmcv's patches are square."""
    return (kH, kW, (patchH - 1) // 2, dH, dW, padH, padW, dilationH, dilationW, dilation_patchH, dilation_patchW)


def correlation_forward(input1, input2, output, **settings):
    output.copy_(forward(*floats(input1=input1, input2=input2), *_numbers(**settings)))


def correlation_backward(grad_output, input1, input2, grad_input1, grad_input2, **settings):
    tensors = floats(grad_output=grad_output, input1=input1, input2=input2)
    for buffer, found in zip((grad_input1, grad_input2), gradient(*tensors, *_numbers(**settings))):
        buffer.copy_(found)


ENTRY_POINTS = (correlation_forward, correlation_backward)
