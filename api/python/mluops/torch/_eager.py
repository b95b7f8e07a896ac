"""Whether a call may go straight to the kernel, or somebody wants to see it as an operator of torch's dispatcher.

The dispatcher and the autograd of torch.library operators cost more than many a call (docs/python.md). In plain eager
mode they change nothing, so such a call does without: an autograd.Function when gradients are wanted, the bare kernel
otherwise. Everything that watches or transforms operators gets the operator: torch.compile, export, tracing, fake and
meta tensors, subclasses, functorch transforms, dispatch and function modes, the profiler.
"""

import torch
from torch import Tensor
from torch.nn import Parameter

_PLAIN = (Tensor, Parameter)

_tracing = getattr(torch._C, "_get_tracing_state", None)
_transforms = getattr(torch._C, "_are_functorch_transforms_active", None)
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)
_function_modes = getattr(torch._C, "_len_torch_function_stack", None)
_profiled = getattr(getattr(torch._C, "_autograd", None), "_profiler_enabled", None)
_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)

# A torch that cannot answer one of the questions gets the operator always.
KNOWS_EAGER = None not in (_tracing, _transforms, _dispatch_modes, _function_modes, _profiled, _compiling)


def unwatched(inputs: tuple) -> bool:
    """Whether only torch's own autograd would see this call. Not for use while compiling."""
    for value in inputs:
        if isinstance(value, Tensor) and not (type(value) in _PLAIN and value.is_cpu):
            return False
    return not (_dispatch_modes() or _function_modes() or _transforms() or _profiled() or _tracing() is not None)


def wants_gradient(inputs: tuple) -> bool:
    if torch.is_grad_enabled():
        for value in inputs:
            if isinstance(value, Tensor) and value.requires_grad:
                return True
    return False
