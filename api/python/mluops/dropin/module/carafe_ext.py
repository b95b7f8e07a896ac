"""carafe_cuda, carafe_ext, carafe_naive_cuda and carafe_naive_ext of mmdet 1 and 2.0. The naive ones' functions, of as many
arguments as they take, are called by the same names."""

from ...torch._buffers import fill_all, filling, room, write
from ...torch._tensors import floats
from ...torch.op.carafe import forward as _carafe
from ...torch.op.carafe import gradients

__all__ = ["backward", "forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}_{kind}" for name in ("carafe", "carafe_naive") for kind in ("cuda", "ext")
              for prefix in ("", "*."))


def _kept(name, buffer, features, dtype):
    """features in the memory of a buffer that comes back in `backward`, in NHWC order there."""
    n, c, h, w = features
    return room(name, buffer, (n, h, w, c), dtype).permute(0, 3, 1, 2)


def forward(features, *rest):
    """(rfeatures, masks, rmasks, kernel_size, group_size, scale_factor, routput, output), or
    (masks, kernel_size, group_size, scale_factor, output)."""
    if len(rest) == 8:
        _, masks, _, *numbers, _, output = rest
    else:
        masks, *numbers, output = rest
    found = _carafe(*floats(features=features, masks=masks), *numbers)
    writes = [filling("output", output, found)]
    if len(rest) == 8:
        writes.append(filling("rfeatures", _kept("rfeatures", rest[0], features.shape, features.dtype), features))
    write(*writes)
    return 1


def backward(grad_output, features, masks, kernel_size, group_size, scale_factor, *buffers):
    """Last of the buffers: the gradients of features and masks. Seven: features are what `forward` kept."""
    grad_input, grad_masks = buffers[-2:]
    if len(buffers) > 2:
        features = _kept("features", features, grad_input.shape, features.dtype)
    tensors = floats(grad_output=grad_output, features=features, masks=masks)
    fill_all(gradients(*tensors, kernel_size, group_size, scale_factor), grad_input=grad_input, grad_masks=grad_masks)
    return 1
