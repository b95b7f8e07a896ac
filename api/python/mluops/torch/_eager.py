"""Whether a call may go straight to the kernel, or somebody wants to see it as an operator of torch's dispatcher.

The dispatcher and the autograd of torch.library operators cost more than many a call (docs/python.md). In plain eager
mode they change nothing, so such a call does without: an autograd.Function when gradients are wanted, the bare kernel
otherwise. Everything that watches or transforms operators gets the operator: torch.compile, export, tracing, fake and
meta tensors, subclasses, functorch transforms, dispatch and function modes, the profiler.
"""

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

_PLAIN = (Tensor, Parameter)
NUMBERS = frozenset((int, float, bool, str, type(None)))  # what isinstance(value, Tensor) takes longest to tell

_tracing = getattr(torch._C, "_get_tracing_state", None)
_transforms = getattr(torch._C, "_are_functorch_transforms_active", None)
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
_function_modes = getattr(torch._C, "_len_torch_function_stack", None)
_profiled = getattr(getattr(torch._C, "_autograd", None), "_profiler_enabled", None)
_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
_forward_enabled = getattr(torch._C, "_is_fwd_grad_enabled", lambda: True)

# A torch that cannot answer one of the questions gets the operator always.
KNOWS_EAGER = None not in (_tracing, _transforms, _dispatch_modes, _function_modes, _profiled, _compiling)


def compiling() -> bool:
    return _compiling is not None and _compiling()


def tracing() -> bool:
    """Whether torch.jit.trace is at work."""
    return _tracing is not None and _tracing() is not None


def recording() -> bool:
    """Whether a graph is made of the call, in which nothing may be decided by the numbers it is made with."""
    return compiling() or tracing()


def unwatched(inputs: tuple) -> bool:
    """Whether only torch's own autograd would see this call. Not for use while compiling."""
    for value in inputs:
        kind = type(value)
        if kind not in NUMBERS and isinstance(value, Tensor) and not (kind in _PLAIN and value.is_cpu):
            return False
    return not (_dispatch_modes() or _function_modes() or _transforms() or _profiled() or _tracing() is not None)


def plain(inputs: tuple) -> bool:
    """Whether a call may go straight to the kernel."""
    return not compiling() and KNOWS_EAGER and unwatched(inputs)


def transformed() -> bool:
    """Whether a functorch transform (torch.func.grad, vmap, jvp ...) is at work."""
    return not compiling() and _transforms is not None and _transforms()


def forward_mode() -> bool:
    """Whether forward-mode differentiation is at work (torch.autograd.forward_ad, torch.func.jvp)."""
    return forward_ad._current_level >= 0


def wants_gradient(inputs: tuple) -> bool:
    if forward_mode():
        return True
    if torch.is_grad_enabled():
        numbers = () if compiling() else NUMBERS  # torch 2.6 compiles no look into a set of types
        for value in inputs:
            if type(value) not in numbers and isinstance(value, Tensor) and value.requires_grad:
                return True
    return False


def tangents_would_be_lost(tensors: list) -> bool:
    """Whether forward-mode differentiation reached a kernel, which knows nothing of tangents."""
    if not forward_mode() or not _forward_enabled():
        return False
    return any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)
