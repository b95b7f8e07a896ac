"""torch.library operators out of what a description in api/operators tells of a C function: the fake kernel with its
checks, the call, and the derivative where it is another C function.

    gradient = described("psa_mask_backward(Tensor grad, int psa_type, int h_mask, int w_mask) -> Tensor", BACKWARD)
    forward = described("psa_mask(Tensor input, int psa_type, int h_mask, int w_mask) -> Tensor", FORWARD,
                        gradient=gradient, linear="input")
"""

import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import torch
from torch import Tensor

from .. import _context as c
from .._errors import bad_param
from .._function import CFunction, Part
from .._shapes import expect, rank
from ._operator import linear_tangent, no_derivative, no_tangents, operator
from ._tensors import new_image, run

_DTYPES = {"int32": torch.int32, "bool": torch.bool, "float32": torch.float32}


def described(schema: str, function: CFunction, *, names: Dict[str, str] = {}, results: str = "",
              fixed: Dict[str, Any] = {}, sizes: Dict[str, Optional[Callable]] = {}, least: Dict[str, int] = {},
              int64: str = "", rule: Optional[Callable] = None, absent: Dict[str, Callable] = {}, gradient: Any = None,
              of: str = "", linear: str = "", **others: Any) -> Any:
    """operator() with what follows from the description of its C function.

    Args:
        schema: its arguments are called as the parts of the C function or the sizes of its tensors; "grad" is the first
            part whose name begins so.
        names: arguments of the schema that have other names: {"pooled_height": "pooled_h"}.
        results: the outputs in their order, where that is not C's.
        fixed: the values of parts that are no arguments.
        sizes: sizes that are computed otherwise than the description tells, from all others by name; None: not
            computed, but found in a tensor.
        least: of sizes among the arguments; 0 for those of type SymInt. (That of a part is in the description.)
        int64: the outputs that are int64 where the description says int32.
        rule: (**sizes): raises where a rule of the operator's own is broken. Sizes include the numbers among the
            arguments.
        absent: output -> (**sizes), whether it is not wanted: it is empty then. Neither is the gradient of an input that
            is not given.
        gradient: the operator, made by described(), that has the gradients. Its arguments are gradients of outputs,
            inputs, outputs and sizes. Without one, an operator that is not called ..._backward gives constants.
        of: the inputs whose gradients its outputs are, where their names do not tell.
        linear: the inputs in each of which the first output is linear. Others have no forward-mode derivative.
        others: operator()'s, instead of what would follow; `call` too.
    """
    form = _Form(schema, function, names, results, fixed, sizes, least, int64.split(), rule, absent)
    if gradient is not None:
        derivative = _Derivative(form, gradient, of.split())
        others = {"setup": derivative.setup, "backward": derivative.backward, **others}
    elif not form.name.endswith("_backward"):
        others = {"setup": no_derivative, "jvp": no_tangents, **others}
    if linear:
        others = {"jvp": lambda *given: _linear(made, linear.split(), *given), **others}
    made: Any = operator(schema, form.fake, **{"call": form.call, **others})
    made.form = form
    return made


class _Form:
    """The arguments and outputs of an operator, under the names of the description."""

    def __init__(self, schema: str, function: CFunction, names: Dict[str, str], results: str, fixed: Dict[str, Any],
                 sizes: Dict[str, Optional[Callable]], least: Dict[str, int], int64: List[str], rule: Optional[Callable],
                 absent: Dict[str, Callable]) -> None:
        self.name, inside = schema.split(" -> ")[0].rstrip(")").split("(", 1)
        self.function, self.rule, self.absent = function, rule, absent
        self.fixed = {"workspace": None, "workspace_size": 0, **fixed}
        self.derived = {name: how for name, how in {**function.derived, **sizes}.items() if how is not None}
        parts = {part.name: part for each in function.parts for part in (each, *each.parts)}
        first = next((name for name in parts if name.startswith("grad")), "")
        declared = re.findall(r"(\w+)\?? (\w+)", inside)
        self.arguments = [first if name == "grad" else names.get(name, name) for _, name in declared]
        self.callers = {names[name]: name for _, name in declared if name in names}
        tensors = [parts[argument] for argument, (kind, _) in zip(self.arguments, declared) if kind == "Tensor"]
        self.inputs = [part for grads in (False, True) for part in parts.values()  # the sizes of gradients are others'
                       if part in tensors and part.name.startswith("grad") == grads]
        given = [part for part in function.parts[-function.results:] if part.name not in fixed]
        self.outputs = [parts[name] for name in results.split()] or given
        self.dtypes = {part.name: torch.int64 if part.name in int64 else _DTYPES.get(part.dtype if part.dims else "int32")
                       for part in self.outputs}
        least = {**{name: 0 for name, (kind, _) in zip(self.arguments, declared) if kind == "SymInt"}, **least}
        self.limits = [(name, parts[name].least, parts[name].most) if name in parts else (name, least.get(name), None)
                       for name, (kind, _) in zip(self.arguments, declared) if kind != "Tensor"]
        self.axes = {part.name: self._axes(part) for part in self.inputs + self.outputs}

    def _axes(self, part: Part) -> List[Tuple[str, str]]:
        """The sizes of a tensor and what they are."""
        say, made = self.function.say, []
        for axis, size in enumerate(part.dims.split() or ["1"]):
            keys = f"{part.name}.{size}", f"{part.name}.{axis}", size
            otherwise = f"that of {part.like}" if part.like else self.caller(size) if size in self.arguments else ""
            made.append((size, next((say[key] for key in keys if key in say), otherwise)))
        return [made[i] for i in (0, 3, 1, 2)] if part.layout == c.NHWC else made

    def caller(self, name: str) -> str:
        return self.callers.get(name, name)

    def sizes(self, inputs: tuple) -> Dict[str, Any]:
        """Every size and number by name, after the checks."""
        given = dict(zip(self.arguments, inputs))
        present = [(self.caller(part.name), given[part.name].shape, self.axes[part.name]) for part in self.inputs
                   if given[part.name] is not None]
        known = {name: value for name, value in given.items() if name not in self.axes}
        for name, shape, axes in present:
            rank(name, shape, len(axes))
        for name, least, most in self.limits:
            if least is not None and known[name] < least or most is not None and known[name] > most:
                wanted = f"at least {least}" if most is None else f"{least} to {most}"
                raise bad_param(self.caller(name), wanted, known[name])
        for _, shape, axes in present:
            for (size, _), extent in zip(axes, shape):
                if not size.isdigit() and size not in self.derived:
                    known.setdefault(size, extent)
        if self.rule is not None:
            self.rule(**known)
        for size, how in self.derived.items():
            known.setdefault(size, how(**known))
        for name, shape, axes in present:
            expect(name, shape, self._shape(axes, known), [meaning for _, meaning in axes])
        return known

    @staticmethod
    def _shape(axes: List[Tuple[str, str]], known: Dict[str, Any]) -> tuple:
        return tuple(int(size) if size.isdigit() else known[size] for size, _ in axes)

    def _absent(self, part: Part, known: Dict[str, Any], given: Dict[str, Any]) -> bool:
        if part.name in self.absent:
            return self.absent[part.name](**known)
        return part.optional and given.get(part.name.replace("grad_", "", 1), part) is None

    def fake(self, *inputs: Any) -> Any:
        known, given = self.sizes(inputs), dict(zip(self.arguments, inputs))
        tensors = [part for part in self.inputs if given[part.name] is not None]
        like = next(given[part.name] for part in tensors if not part.dtype)
        images = tuple(given[part.name] for part in tensors if part.layout == c.NHWC) or (like,)
        made = []
        for part in self.outputs:
            shape = (0,) if self._absent(part, known, given) else self._shape(self.axes[part.name], known)
            dtype = self.dtypes[part.name] or like.dtype
            image = part.layout == c.NHWC and len(shape) == 4
            made.append(new_image(images, shape, dtype) if image else like.new_empty(shape, dtype=dtype))
        return tuple(made) if len(made) > 1 else made[0]

    def fill(self, inputs: List[Any], places: Iterable[int]) -> None:
        """Zeros for the tensors at these places that are None."""
        for place in places:
            if inputs[place] is None:
                shape = self._shape(self.axes[self.arguments[place]], self.sizes(tuple(inputs)))
                inputs[place] = next(value for value in inputs if isinstance(value, Tensor)).new_zeros(shape)

    def call(self, outputs: Any, *inputs: Any) -> Any:
        given = dict(zip(self.arguments, inputs))
        known = self.sizes(inputs)
        results = {part.name: None if self._absent(part, known, given) else output for part, output in
                   zip(self.outputs, outputs if isinstance(outputs, tuple) else (outputs,))}
        values = {**known, **given, **results, **self.fixed}
        return run(self.function, *(tuple(values[each.name] for each in part.parts) if part.parts else values[part.name]
                                    for part in self.function.parts))


class _Derivative:
    """The setup and backward of an operator whose gradients another one computes."""

    def __init__(self, form: _Form, gradient: Any, of: List[str]) -> None:
        self.form, self.gradient = form, gradient
        self.outputs = [part.name for part in form.outputs]
        self.constant = [i for i, part in enumerate(form.outputs) if part.dtype or not part.dims or part.name in form.absent]
        parts = {part.name: part for part in gradient.form.inputs}
        self.grads = {place: self._output_of(parts[name]) for place, name in enumerate(gradient.form.arguments)
                      if name.startswith("grad")}
        self.takes = [None if place in self.grads else self._take(name)
                      for place, name in enumerate(gradient.form.arguments)]
        self.places = [form.arguments.index(name) for name in of] or [self._input_of(each) for each in gradient.form.outputs]

    def _output_of(self, grad: Part) -> int:
        name = grad.name.replace("grad_", "", 1)
        return self.outputs.index(name) if name in self.outputs else 0

    def _input_of(self, grad: Part) -> int:
        known = {part.c_name: part.name for part in self.form.inputs}
        known.update((name, name) for name in self.form.arguments)
        names = (*(name.replace("grad_", "", 1) for name in (grad.name, grad.c_name)), grad.like)
        return self.form.arguments.index(next(known[name] for name in names if name in known))

    def _take(self, name: str) -> Callable:
        """(inputs, outputs) -> an argument of the gradient."""
        arguments = self.form.arguments
        if name in arguments:
            i = arguments.index(name)
            return lambda inputs, outputs: inputs[i]
        if name in self.outputs:
            i, may_be_absent = self.outputs.index(name), name in self.form.absent
            return lambda inputs, outputs: None if may_be_absent and outputs[i].numel() == 0 else outputs[i]
        i, axis = next((arguments.index(part.name), axis) for part in self.form.inputs
                       for axis, (size, _) in enumerate(self.form.axes[part.name]) if size == name)
        return lambda inputs, outputs: inputs[i].shape[axis]

    def setup(self, ctx: Any, inputs: tuple, output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        if self.constant:
            ctx.mark_non_differentiable(*[outputs[i] for i in self.constant])
        ctx.values = [None if take is None else take(inputs, outputs) for take in self.takes]
        ctx.tensors = [i for i, value in enumerate(ctx.values) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(ctx.values[i] for i in ctx.tensors))
        for i in ctx.tensors:
            ctx.values[i] = None

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        values = list(ctx.values)
        for i, tensor in zip(ctx.tensors, ctx.saved_tensors):
            values[i] = tensor
        for place, output in self.grads.items():
            values[place] = grads[output]
        if len(self.grads) > 1:
            self.gradient.form.fill(values, self.grads)
        found = self.gradient(*values)
        made: list = [None] * len(self.form.arguments)
        for place, grad in zip(self.places, found if isinstance(found, tuple) else (found,)):
            made[place] = grad if ctx.needs_input_grad[place] else None
        return tuple(made)


def _linear(function: Any, linear: List[str], inputs: tuple, output: Any, tangents: tuple) -> Any:
    """The jvp of an operator that is linear in each of these inputs, with the others kept."""
    form = function.form
    places = tuple(form.arguments.index(name) for name in linear)
    for place, tangent in enumerate(tangents):
        if place not in places and tangent is not None and tangent.any():
            raise RuntimeError(f"mluops: {form.name} has no forward-mode derivative in "
                               f"{form.caller(form.arguments[place])}")
    several = isinstance(output, tuple)
    along = linear_tangent((lambda *values: function(*values)[0]) if several else function, inputs, tangents, places)
    if not isinstance(along, Tensor):
        along = torch.zeros_like(output[0] if several else output)
    return (along, *(None,) * (len(output) - 1)) if several else along
