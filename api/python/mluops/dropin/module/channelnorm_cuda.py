"""channelnorm_cuda of FlowNet2: the length of each pixel's channels."""

from ...torch._buffers import fill

__all__ = ["backward", "forward"]

PACKAGE = "flownet2"
NAMES = ("channelnorm_cuda", "*.channelnorm_cuda")
BUILT = ("channelnorm", "channelnorm_cuda")

_LEAST = 1e-9


def forward(input1, output, norm_deg):
    fill("output", output, input1.detach().square().sum(1, keepdim=True).sqrt())
    return 1


def backward(input1, output, grad_output, grad_input1, norm_deg):
    fill("grad_input1", grad_input1, grad_output * input1.detach() / (output + _LEAST))
    return 1
