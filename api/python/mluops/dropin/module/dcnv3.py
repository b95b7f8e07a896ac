"""DCNv3 of InternImage: deformable convolution in groups without weights, through multi-scale deformable attention over one
map."""

import torch

from ...torch._tensors import floats
from ...torch.op.ms_deform_attn import forward as _attention
from ...torch.op.ms_deform_attn import gradient as _gradient

__all__ = ["__version__", "dcnv3_backward", "dcnv3_forward"]

PACKAGE = "DCNv3"
NAMES = ("DCNv3",)
__version__ = "1.1"


def points_of(kernel_h, kernel_w, remove_center):
    """How many points a window has."""
    return kernel_h * kernel_w - bool(remove_center)


def _window(kernel_h, kernel_w, dilation_h, dilation_w, offset_scale, remove_center):
    """Offsets of the points of a window from its centre: x and y [P], y fastest."""
    x = torch.arange(kernel_w) * dilation_w - (dilation_w * (kernel_w - 1)) // 2
    y = torch.arange(kernel_h) * dilation_h - (dilation_h * (kernel_h - 1)) // 2
    x, y = x.repeat_interleave(kernel_h), y.repeat(kernel_w)
    if remove_center:
        keep = torch.arange(len(x)) != kernel_w // 2 * kernel_h + kernel_h // 2
        x, y = x[keep], y[keep]
    return x.double() * offset_scale, y.double() * offset_scale


def _inputs(input, offset, mask, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, group,
            group_channels, offset_scale, remove_center):
    """The arguments of the attention: every output pixel is a query, every group a head."""
    input, offset, mask = floats(input=input, offset=offset, mask=mask)
    n, height, width, _ = input.shape
    rows, columns = offset.shape[1:3]
    x, y = (each.to(input.dtype) for each in _window(kernel_h, kernel_w, dilation_h, dilation_w, offset_scale, remove_center))
    middle_y = torch.arange(rows) * stride_h + (dilation_h * (kernel_h - 1)) // 2 - pad_h
    middle_x = torch.arange(columns) * stride_w + (dilation_w * (kernel_w - 1)) // 2 - pad_w
    moves = offset.reshape(n, rows, columns, group, len(x), 2) * offset_scale
    at = torch.stack([moves[..., 0] + x + middle_x[:, None, None] + 0.5,
                      moves[..., 1] + y + middle_y[:, None, None, None] + 0.5], -1)
    locations = (at / at.new_tensor([width, height])).reshape(n, rows * columns, group, 1, len(x), 2)
    weights = mask.reshape(n, rows * columns, group, 1, len(x))
    shapes, starts = torch.tensor([[height, width]], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    return input.reshape(n, height * width, group, group_channels), shapes, starts, locations, weights


def dcnv3_forward(input, offset, mask, *numbers):
    """T [N, H, W, G * C], offset T [N, Ho, Wo, G * P * 2], mask T [N, Ho, Wo, G * P]; numbers: kernel, stride, pad, dilation,
    group, group_channels, offset_scale, im2col_step, remove_center (or without)."""
    numbers, remove_center = numbers[:11], bool(numbers[12]) if len(numbers) > 12 else False
    made = _attention(*_inputs(input, offset, mask, *numbers, remove_center))
    return made.reshape(*offset.shape[:3], -1)


def dcnv3_backward(input, offset, mask, *numbers):
    """The gradients of input, offset and mask; grad_output stands before im2col_step."""
    grad, remove_center = numbers[11], bool(numbers[13]) if len(numbers) > 13 else False
    numbers = numbers[:11]
    value, shapes, starts, locations, weights = _inputs(input, offset, mask, *numbers, remove_center)
    grad = grad.to(value.dtype).reshape(*locations.shape[:3], -1)
    of_value, of_locations, of_weights = _gradient(grad, value, shapes, starts, locations, weights)
    scale = numbers[10] / value.new_tensor([input.shape[2], input.shape[1]])
    return [of_value.reshape(input.shape), (of_locations * scale).reshape(offset.shape), of_weights.reshape(mask.shape)]


def _version(original):
    """A function that tells the version of what is installed, and that of this module where it is not."""

    def version(distribution_name, *args, **kwargs):
        try:
            return original(distribution_name, *args, **kwargs)
        except Exception:
            if distribution_name != "DCNv3":
                raise
            return _Distribution()

    return version


class _Distribution(str):
    """Replaces the results of pkg_resources and importlib.metadata: a version, and an object with one."""

    def __new__(cls):
        return super().__new__(cls, __version__)

    version = __version__


# Programs ask for the version before they call it.
WRAPS = {("pkg_resources", "get_distribution"): _version, ("importlib.metadata", "version"): _version}
