"""Makes every operator known to torch: as a torch.library operator where torch has that API (2.4 and later), and as an
autograd.Function for older torch and for plain eager calls (_eager.py). The rest of the package calls the functions of
`ops` and does not know which it was.

An operator is a row of _TABLE: schema, how to save for backward, how to differentiate. Its kernel and its fake kernel
have its name in _kernels and _fakes.
"""

from types import SimpleNamespace
from typing import Callable, NamedTuple, Optional

import torch

from . import _fakes, _kernels
from ._eager import KNOWS_EAGER, unwatched, wants_gradient

ops = SimpleNamespace()  # name -> callable, filled below


class Operator(NamedTuple):
    schema: str
    setup: Optional[Callable] = None  # (ctx, inputs, output); None: not differentiable
    backward: Optional[Callable] = None  # (ctx, *grads) -> one gradient or None for each input


# Each gradient is itself an operator, linear in grad, without a derivative of its own.


def _carafe_setup(ctx, inputs, output):
    features, masks, *ctx.arguments = inputs
    ctx.save_for_backward(features, masks)


def _carafe_grads(ctx, grad):
    features, masks = ctx.saved_tensors
    grad_features, grad_masks = ops.carafe_backward(grad, features, masks, *ctx.arguments)
    return grad_features, grad_masks, None, None, None


def _psa_mask_setup(ctx, inputs, output):
    _, *ctx.arguments = inputs


def _psa_mask_grads(ctx, grad):
    return ops.psa_mask_backward(grad, *ctx.arguments), None, None, None


def _deform_roi_pool_setup(ctx, inputs, output):
    input, rois, offset, *ctx.arguments = inputs
    ctx.has_offset = offset is not None
    ctx.save_for_backward(input, rois, *([offset] if ctx.has_offset else []))


def _deform_roi_pool_grads(ctx, grad):
    input, rois, *rest = ctx.saved_tensors
    offset = rest[0] if ctx.has_offset else None
    grad_input, grad_offset = ops.deform_roi_pool_backward(grad, input, rois, offset, *ctx.arguments)
    return grad_input, None, grad_offset if ctx.has_offset else None, None, None, None, None, None


def _three_interpolate_setup(ctx, inputs, output):
    features, indices, weight = inputs
    ctx.points = features.shape[2]
    ctx.save_for_backward(indices, weight, *([features] if ctx.needs_input_grad[2] else []))


def _weight_grad(grad, features, indices):
    """grad_weight[b,n,j] = sum over c of grad[b,c,n] * features[b,c,indices[b,n,j]]; 0 for an index out of range."""
    points, channels = features.shape[2], features.shape[1]
    inside = (indices >= 0) & (indices < points)
    safe = indices.clamp(0, max(points - 1, 0)).long()
    columns = []
    for j in range(3):
        picked = features.gather(2, safe[:, None, :, j].expand(-1, channels, -1))
        columns.append((picked * grad).sum(1))
    return torch.stack(columns, 2) * inside


def _three_interpolate_grads(ctx, grad):
    indices, weight, *features = ctx.saved_tensors
    grad_features = ops.three_interpolate_backward(grad, indices, weight, ctx.points)
    return grad_features, None, _weight_grad(grad, features[0], indices) if features else None


def _border_align_setup(ctx, inputs, output):
    input, boxes, ctx.pool_size = inputs
    ctx.height, ctx.width = input.shape[2:]
    ctx.mark_non_differentiable(output[1])
    ctx.set_materialize_grads(False)  # else torch makes zeros as the gradient of argmax
    ctx.save_for_backward(boxes, output[1])


def _border_align_grads(ctx, grad, _):
    if grad is None:
        return None, None, None
    boxes, argmax = ctx.saved_tensors
    return ops.border_align_backward(grad, boxes, argmax, ctx.pool_size, ctx.height, ctx.width), None, None


_TABLE = {
    "carafe": Operator(
        "(Tensor features, Tensor masks, int kernel_size, int group_size, int scale_factor) -> Tensor",
        _carafe_setup, _carafe_grads),
    "carafe_backward": Operator(
        "(Tensor grad, Tensor features, Tensor masks, int kernel_size, int group_size, int scale_factor)"
        " -> (Tensor, Tensor)"),
    "psa_mask": Operator("(Tensor input, int psa_type, int h_mask, int w_mask) -> Tensor",
                         _psa_mask_setup, _psa_mask_grads),
    "psa_mask_backward": Operator("(Tensor grad, int psa_type, int h_mask, int w_mask) -> Tensor"),
    "deform_roi_pool": Operator(
        "(Tensor input, Tensor rois, Tensor? offset, int pooled_height, int pooled_width, float spatial_scale,"
        " int sampling_ratio, float gamma) -> Tensor", _deform_roi_pool_setup, _deform_roi_pool_grads),
    "deform_roi_pool_backward": Operator(
        "(Tensor grad, Tensor input, Tensor rois, Tensor? offset, int pooled_height, int pooled_width,"
        " float spatial_scale, int sampling_ratio, float gamma) -> (Tensor, Tensor)"),
    "three_interpolate": Operator("(Tensor features, Tensor indices, Tensor weight) -> Tensor",
                                  _three_interpolate_setup, _three_interpolate_grads),
    "three_interpolate_backward": Operator("(Tensor grad, Tensor indices, Tensor weight, SymInt points) -> Tensor"),
    "border_align": Operator("(Tensor input, Tensor boxes, int pool_size) -> (Tensor, Tensor)",
                             _border_align_setup, _border_align_grads),
    "border_align_backward": Operator(
        "(Tensor grad, Tensor boxes, Tensor argmax, int pool_size, SymInt height, SymInt width) -> Tensor"),
}

HAS_LIBRARY_API = all(hasattr(getattr(torch, "library", None), name)
                      for name in ("Library", "register_fake", "register_autograd"))


def _no_second_derivative(ctx, *grads):
    raise RuntimeError("mluops: gradients of gradients are not available")


def _no_setup(ctx, inputs, output):
    """Operators without a derivative save nothing."""


def _operator(library: "torch.library.Library", name: str, row: Operator) -> Callable:
    """The operator torch.ops.mluops.<name>, known to autograd, torch.compile and torch.export."""
    tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order)
    library.define(name + row.schema, tags=tags)
    library.impl(name, getattr(_kernels, name), "CPU")
    torch.library.register_fake(f"mluops::{name}", getattr(_fakes, name), lib=library)
    torch.library.register_autograd(f"mluops::{name}", row.backward or _no_second_derivative,
                                    setup_context=row.setup, lib=library)
    return getattr(torch.ops.mluops, name).default


def _function(name: str, row: Operator) -> Callable:
    """The same as an autograd.Function; without the operator's features, and without its cost."""
    kernel, setup = getattr(_kernels, name), row.setup or _no_setup
    gradients = row.backward or _no_second_derivative

    def forward(ctx, *inputs):
        output = kernel(*inputs)
        setup(ctx, inputs, output)
        return output

    def backward(ctx, *grads):
        return gradients(ctx, *grads)

    made = type(torch.autograd.Function)(f"mluops_{name}", (torch.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward)})
    apply = made.apply

    def call(*inputs):
        return apply(*inputs) if wants_gradient(inputs) else kernel(*inputs)

    return call


def _either(operator: Callable, function: Callable) -> Callable:
    """The function in plain eager mode, the operator whenever somebody looks."""
    if not KNOWS_EAGER:
        return operator

    def call(*inputs):
        if not torch.compiler.is_compiling() and unwatched(inputs):
            return function(*inputs)
        return operator(*inputs)

    return call


if HAS_LIBRARY_API:
    _library = torch.library.Library("mluops", "DEF")  # kept: the registrations live as long as it does

for _name, _row in _TABLE.items():
    _made = _function(_name, _row)
    setattr(ops, _name, _either(_operator(_library, _name, _row), _made) if HAS_LIBRARY_API else _made)
