"""kernelconv2d_cuda of STFAN and other restoration networks: filters k x k that each pixel and channel has of its own."""

from ...torch._buffers import adding, fill, write
from ...torch._tensors import floats
from .. import _windows

__all__ = ["backward", "forward"]

PACKAGE = "kernelconv2d"
NAMES = ("kernelconv2d_cuda", "*.kernelconv2d_cuda")


def _taps(kernel, channels):
    return kernel.unflatten(1, (channels, -1))


def forward(input, kernel, kernel_size, output):
    """Images T [N, C, h + k - 1, w + k - 1], kernels T [N, C * k * k, h, w]; fills output [N, C, h, w]."""
    image, kernel = floats(input=input.detach(), kernel=kernel.detach())
    taps = _taps(kernel, image.shape[1])
    window = _windows.Window((kernel_size, kernel_size))
    fill("output", output, _windows.sums(image, lambda k: taps[:, :, k], window, kernel.shape[2:]))
    return 1


def backward(input, kernel, kernel_size, grad_output, grad_input, grad_kernel):
    """Added to what there is."""
    image, kernel, grad = floats(input=input, kernel=kernel, grad_output=grad_output)
    taps, window = _taps(kernel, image.shape[1]), _windows.Window((kernel_size, kernel_size))
    of_kernel = kernel.new_empty(kernel.shape)
    for k, values in enumerate(_windows.to_weights(grad, image, window)):
        _taps(of_kernel, image.shape[1])[:, :, k] = values
    of_image = _windows.to_image(grad, lambda k: taps[:, :, k], window, image.shape[2:])
    write(adding("grad_input", grad_input, of_image), adding("grad_kernel", grad_kernel, of_kernel))
    return 1
