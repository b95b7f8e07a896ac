"""Makes an operator known to torch from one description of it: as a torch.library operator (torch.ops.mluops.*) where
torch has that API (2.4 and later), and as an autograd.Function for older torch, for plain eager calls (_eager.py), and
for the transforms of torch.func.
"""

import re
from typing import Any, Callable, Dict, Optional

import torch
from torch import Tensor
from torch.autograd import Function

from .. import _arguments
from .._context import Context
from . import _eager, _elsewhere
from ._batched import one_by_one
from ._memory import prefer_huge_pages
from ._plan import Plan, distinct, signature, stored
from ._tensors import any_empty, check_call, context

HAS_LIBRARY_API = all(hasattr(getattr(torch, "library", None), name)
                      for name in ("Library", "register_fake", "register_autograd"))

SCHEMAS: Dict[str, str] = {}  # of each operator of torch.ops.mluops
if HAS_LIBRARY_API:
    _library = torch.library.Library("mluops", "DEF")  # kept: the registrations live as long as it does
    _arguments.symbolic(torch.SymInt)


def _open(schema: str) -> str:
    """The schema with integers whose numbers a graph may learn when it runs. torch makes an `int` a constant of the graph."""
    return re.sub(r"\bint\b", "SymInt", schema)


def _declare(schema: str, *tags: Any) -> None:
    """Tells torch the schema, unless libmluops_torch.so (library.py), which is loaded already, has told it. The kernels of
    this package then take the place of the library's."""
    name = schema.split("(")[0]
    SCHEMAS[name] = _open(schema)
    if not torch._C._dispatch_has_kernel(f"mluops::{name}"):
        _library.define(SCHEMAS[name], tags=(torch.Tag.pt2_compliant_tag, *tags))


def define(schema: str, kernel: Callable, fake: Callable) -> None:
    """An operator torch.ops.mluops.<name> without derivative, with a kernel in torch."""
    name = schema.split("(")[0]
    _declare(schema)
    _implement(name, kernel)
    torch.library.register_fake(f"mluops::{name}", fake, lib=_library)


def _implement(name: str, kernel: Callable) -> None:
    """The kernel of an operator, for CPU tensors and by way of the CPU for those of other devices."""
    _library.impl(name, kernel, "CPU")
    elsewhere = _elsewhere.served(name, kernel)
    for key in _elsewhere.DISPATCH_KEYS:
        _library.impl(name, elsewhere, key)


def _tensors(values: Any) -> list:
    return [value for value in (values if isinstance(values, (tuple, list)) else (values,))
            if isinstance(value, Tensor)]


def operator(schema: str, fake: Callable, call: Callable, *, setup: Optional[Callable] = None,
             backward: Optional[Callable] = None, jvp: Optional[Callable] = None,
             empty: Optional[Callable] = None, check: Callable = check_call, before: Optional[Callable] = None,
             after: Optional[Callable] = None) -> Callable:
    """Defines torch.ops.mluops.<name> and returns a function for it, differentiable, on the shortest way.

    Args:
        schema: "name(Tensor features, int kernel_size) -> Tensor". An `int` may be symbolic: it is registered as SymInt.
        fake: (*inputs) -> output or tuple of outputs, not filled. It checks shapes and numbers before it allocates, so
            a rule holds for real, empty, meta and symbolic tensors alike; the kernel allocates through it.
        call: (outputs, *inputs): the C call, its outputs as `fake` returns them. Not asked when an input is empty, or
            every output: outputs are zeros then. What it returns, if anything, is run()'s result: then later calls of
            this kind skip what the first one found out (_plan.py).
        setup: (ctx, inputs, output): saves for backward.
        backward: (ctx, *grads) -> a gradient or None for each input. At least one of `grads` is a tensor; that of an
            output nobody used is None. None: not differentiable.
        jvp: (inputs, output, tangents) -> tangent or tuple of them; tangents holds None where an input has none.
        empty: (outputs) -> None: fills them where an input is empty, if not with zeros.
        check: (name, inputs): what holds before `fake` is asked.
        before, after: (outputs, *inputs) -> None: what torch computes in the outputs around each C call.
    """
    name = schema.split("(")[0]
    made = _Made(name, fake, call, empty or _zeros, setup or _no_setup, backward or _refuse(name, "reverse"),
                 jvp or _refuse(name, "forward"), check, before, after)
    function = made.function()
    if not HAS_LIBRARY_API:
        return _untraceable(name, _elsewhere.served(name, function))
    made.register(schema)
    registered = getattr(torch.ops.mluops, name).default
    transformed = made.transformed(registered)

    def call_(*inputs: Any) -> Any:
        compiling = _eager.compiling()
        if not compiling and _eager.KNOWS_EAGER and _eager.unwatched(inputs):
            return function(*inputs)
        device = _elsewhere.device_of(inputs)
        if device is not None:
            return _elsewhere.by_way_of_the_cpu(name, call_, device, inputs)
        if compiling:
            return registered(*inputs)
        if _eager.transformed() or _eager.forward_mode():
            return transformed(*inputs)
        return registered(*inputs)

    return call_


def _untraceable(name: str, function: Callable) -> Callable:
    """torch.jit.trace would keep the results of the call it sees as constants."""

    def call(*inputs: Any) -> Any:
        if _eager.tracing():
            raise NotImplementedError(f"mluops: torch.jit.trace of {name} needs torch 2.4 or later")
        return function(*inputs)

    return call


def no_derivative(ctx: Any, inputs: tuple, output: Any) -> None:
    """The setup of operators whose outputs are constants to a gradient, such as indices."""
    ctx.mark_non_differentiable(*(output if isinstance(output, tuple) else (output,)))


def no_tangents(inputs: tuple, output: Any, tangents: tuple) -> Any:
    """The jvp that goes with no_derivative."""
    return (None,) * len(output) if isinstance(output, tuple) else None


def no_tangent(name: str, argument: str, tangent: Optional[Tensor]) -> None:
    """Refuses a tangent, other than zeros, along an argument in which the operator has no forward-mode derivative."""
    if tangent is not None and tangent.any():
        raise RuntimeError(f"mluops: {name} has no forward-mode derivative in {argument}")


def linear_tangent(function: Callable, inputs: tuple, tangents: tuple, places: tuple) -> Any:
    """The part of `function`'s tangent that belongs to the inputs at `places`, in each of which it is linear; 0 if none
    of them has one."""
    along = 0
    for place in places:
        if tangents[place] is not None:
            along = along + function(*inputs[:place], tangents[place], *inputs[place + 1:])
    return along


def filled(*values: float) -> Callable:
    """The `empty` of an operator with several outputs, each filled with a value."""

    def fill(outputs: tuple) -> None:
        for output, value in zip(outputs, values):
            output.fill_(value)

    return fill


def _zeros(outputs: Any) -> None:
    for output in outputs if isinstance(outputs, tuple) else (outputs,):
        output.zero_()


def _no_setup(ctx: Any, inputs: tuple, output: Any) -> None:
    """Operators without a derivative save nothing."""


def _without_zeros(setup: Callable) -> Callable:
    """A setup whose backward gets None for an output without a gradient: zeros for argmax would cost as much as it."""

    def setup_(ctx: Any, inputs: tuple, output: Any) -> None:
        setup(ctx, inputs, output)
        ctx.set_materialize_grads(False)

    return setup_


def _of_gradients(backward: Callable) -> Callable:
    """A backward that is asked only where an output has a gradient."""

    def backward_(ctx: Any, *grads: Any) -> Any:
        if all(grad is None for grad in grads):
            return (None,) * len(ctx.needs_input_grad)
        return backward(ctx, *grads)

    return backward_


def _refuse(name: str, mode: str) -> Callable:
    def refuse(*_: Any) -> None:
        if name.endswith("_backward"):
            raise RuntimeError("mluops: double backward is not supported")
        raise RuntimeError(f"mluops: {name} has no {mode}-mode derivative")

    return refuse


class _Made:
    """The forms of one operator."""

    def __init__(self, name: str, fake: Callable, call: Callable, empty: Callable, setup: Callable,
                 backward: Callable, jvp: Callable, check: Callable, before: Optional[Callable],
                 after: Optional[Callable]) -> None:
        self.name, self.fake, self.call, self.empty = name, fake, call, empty
        self.setup, self.check = _without_zeros(setup), check
        self.backward, self.jvp = one_by_one(_of_gradients(backward)), one_by_one(lambda ctx, *tangents: jvp(*ctx, tangents))
        self.before, self.after = before, after

    def checked_fake(self, *inputs: Any) -> Any:
        self.check(self.name, inputs)
        return self.fake(*inputs)

    def kernel(self, *inputs: Any) -> Any:
        if _eager.forward_mode():
            self._refuse_tangents(inputs)
        properties = signature(inputs)
        if properties is None:
            inputs = stored(inputs)
            properties = signature(inputs)
        key, found = (self.name, properties), context()
        plan = found.plans.get(key)
        if plan is None:
            return self._first_call(found, key, inputs)
        return plan(found, inputs)

    def plainly(self, *inputs: Any) -> Any:
        """kernel, without `with torch.device(...)` and other modes of Python, which have seen the operator."""
        with torch._C.DisableTorchFunction():
            return self.kernel(*inputs)

    def _first_call(self, found: Context, key: tuple, inputs: tuple) -> Any:
        self.check(self.name, inputs)
        outputs = self.fake(*inputs)
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        if not results[0].is_cpu:  # a torch without torch.library operators comes here with any tensor
            raise NotImplementedError(f"mluops: {self.name} works on CPU tensors, got {results[0].device}")
        if any_empty(inputs) or not any(result.numel() for result in results):
            self.empty(outputs)
            return outputs
        for result in results:
            prefer_huge_pages(result)
        inputs = distinct(inputs)
        if self.before is not None:
            self.before(outputs, *inputs)
        prepared = self.call(outputs, *inputs)
        if self.after is not None:
            self.after(outputs, *inputs)
        if prepared is not None:
            found.plans.put(key, Plan.of(prepared, inputs, results, self.before, self.after))
        return outputs

    def _refuse_tangents(self, inputs: tuple) -> None:
        if _eager.tangents_would_be_lost(_tensors(inputs)):
            raise RuntimeError(f"mluops: torch.ops.mluops.{self.name} has no forward-mode derivative; the function in "
                               "mluops.torch has")

    def register(self, schema: str) -> None:
        """The operator torch.ops.mluops.<name>, known to autograd, torch.compile and torch.export."""
        _declare(schema, torch.Tag.needs_fixed_stride_order)
        _implement(self.name, self.plainly)
        full = f"mluops::{self.name}"
        torch.library.register_fake(full, self.checked_fake, lib=_library)
        torch.library.register_autograd(full, self.backward, setup_context=self.setup, lib=_library)
        if hasattr(torch.library, "register_vmap"):
            torch.library.register_vmap(full, _one_by_one(getattr(torch.ops.mluops, self.name)), lib=_library)

    def function(self) -> Callable:
        """An autograd.Function around the kernel; without the operator's features, and without its cost."""
        setup, kernel = self.setup, self.kernel

        def forward(ctx: Any, *inputs: Any) -> Any:
            output = kernel(*inputs)
            setup(ctx, inputs, output)
            if _eager.forward_mode():
                self._save_for_forward(ctx, inputs, output)
            return output

        apply = self._subclass(forward=forward).apply

        def call(*inputs: Any) -> Any:
            return apply(*inputs) if _eager.wants_gradient(inputs) else kernel(*inputs)

        return call

    def transformed(self, registered: Callable) -> Callable:
        """An autograd.Function around the operator, in the form the transforms of torch.func understand."""

        def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
            self.setup(ctx, inputs, output)
            self._save_for_forward(ctx, inputs, output)

        made = self._subclass(forward=registered, setup_context=setup_context)
        made.vmap = staticmethod(_one_by_one(made.apply))
        return made.apply

    def _subclass(self, **methods: Callable) -> type:
        def backward(ctx: Any, *grads: Any) -> Any:
            return self.backward(ctx, *grads)

        def jvp(ctx: Any, *tangents: Any) -> Any:
            saved = list(ctx.saved_tensors)
            if not HAS_LIBRARY_API and len(ctx.mluops_values[1]) > 1:
                raise RuntimeError(f"mluops: {self.name} has no forward-mode derivative with this torch, which wants "
                                   "one for every result, indices too")
            inputs, output = ([saved.pop(0) if v is _SAVED else v for v in values] for values in ctx.mluops_values)
            return self.jvp((inputs, output[0] if len(output) == 1 else tuple(output)), *tangents)

        methods.update(backward=backward, jvp=jvp)
        return type(Function)(f"mluops_{self.name}", (Function,), {k: staticmethod(v) for k, v in methods.items()})

    @staticmethod
    def _save_for_forward(ctx: Any, inputs: tuple, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.mluops_values = [[_SAVED if isinstance(v, Tensor) else v for v in values] for values in (inputs, outputs)]
        ctx.save_for_forward(*_tensors(inputs), *_tensors(outputs))


_SAVED = object()  # stands for a tensor among values


def _one_by_one(call: Callable) -> Callable:
    """The rule of torch.vmap: one call for each element of the mapped dimension."""

    def vmap(info: Any, in_dims: tuple, *inputs: Any) -> tuple:
        if info.batch_size == 0:
            raise ValueError("mluops: vmap over a dimension of size 0 is not available")
        each = [call(*(value if dim is None else value.select(dim, i) for value, dim in zip(inputs, in_dims)))
                for i in range(info.batch_size)]
        if isinstance(each[0], tuple):
            return tuple(torch.stack(part) for part in zip(*each)), (0,) * len(each[0])
        return torch.stack(each), 0

    return vmap
