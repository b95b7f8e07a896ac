"""carafe_cuda, carafe_ext, carafe_naive_cuda and carafe_naive_ext of mmdet 1 and 2.0. The naive ones' functions, of as many
arguments as they take, are called by the same names."""

from ...torch._buffers import fill, fill_all
from ...torch._tensors import floats
from ...torch.op.carafe import forward as _carafe
from ...torch.op.carafe import gradients

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}_{kind}" for name in ("carafe", "carafe_naive") for kind in ("cuda", "ext")
              for prefix in ("", "*."))


def _kept(buffer, features):
    """features in the memory of a buffer that comes back in `backward`, in NHWC order there."""
    n, c, h, w = features
    return buffer.view(n, h, w, c).permute(0, 3, 1, 2)


def forward(features, *rest):
    """(rfeatures, masks, rmasks, kernel_size, group_size, scale_factor, routput, output), or
    (masks, kernel_size, group_size, scale_factor, output)."""
    if len(rest) == 8:
        rfeatures, masks, _, *numbers, _, output = rest
        _kept(rfeatures, features.shape).copy_(features)
    else:
        masks, *numbers, output = rest
    fill("output", output, _carafe(*floats(features=features, masks=masks), *numbers))
    return 1


def backward(grad_output, features, masks, kernel_size, group_size, scale_factor, *buffers):
    """Last of the buffers: the gradients of features and masks. Seven: features are what `forward` kept."""
    grad_input, grad_masks = buffers[-2:]
    if len(buffers) > 2:
        features = _kept(features, grad_input.shape)
    tensors = floats(grad_output=grad_output, features=features, masks=masks)
    fill_all(gradients(*tensors, kernel_size, group_size, scale_factor), grad_input=grad_input, grad_masks=grad_masks)
    return 1
