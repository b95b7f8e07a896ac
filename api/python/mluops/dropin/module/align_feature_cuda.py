"""align_feature_cuda of SE-SSD: each pixel's window under weights that all channels share."""

from ...torch._buffers import adding, add, write
from ...torch._tensors import floats
from .. import _windows

__all__ = ["backward", "forward"]

PACKAGE = "det3d"
NAMES = ("align_feature_cuda", "*.align_feature_cuda")


def _window(rows, columns):
    return _windows.Window((rows, columns), padding=(rows // 2, columns // 2))


def forward(data, weight, weight_height, weight_width, output):
    """T [N, C, H, W] and weights T [N, rows * columns, H, W]; added to output."""
    data, weight = floats(data=data.detach(), weight=weight.detach())
    window = _window(weight_height, weight_width)
    add("output", output, _windows.sums(_windows.padded(data, window), lambda k: weight[:, k, None], window, data.shape[2:]))
    return 1


def backward(top_grad, data, weight, weight_height, weight_width, N, C, WeightSize, H, W, grad_data, grad_weight):
    """Added to what there is."""
    grad, data, weight = floats(top_grad=top_grad, data=data, weight=weight)
    window, of_weight = _window(weight_height, weight_width), weight.new_empty(weight.shape)
    for k, values in enumerate(_windows.to_weights(grad, _windows.padded(data, window), window)):
        of_weight[:, k] = values.sum(1)
    of_data = _windows.to_image(grad, lambda k: weight[:, k, None], window, _windows.padded_size(data, window))
    write(adding("grad_data", grad_data, _windows.inside(of_data, window)), adding("grad_weight", grad_weight, of_weight))
    return 1
