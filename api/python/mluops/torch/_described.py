"""torch.library operators out of what a description in api/operators tells of a C function: the fake kernel with its
checks, the call, and the derivative where it is another C function.

    gradient = described("psa_mask_backward(grad, psa_type, h_mask, w_mask)", BACKWARD)
    forward = described("psa_mask(input, psa_type, h_mask, w_mask)", FORWARD, gradient=gradient, linear="input")
"""

from typing import Any, Callable, Dict, Iterable, List, Optional

import torch
from torch import Tensor

from .. import _context as c
from .._forms import Form
from .._function import CFunction, Part
from ._operator import linear_tangent, no_derivative, no_tangent, no_tangents, operator
from ._tensors import new_image, run

SMALLEST: Dict[str, Callable] = {}  # of each operator but gradients the smallest call, given what makes its tensors
FORMS: Dict[str, "_Form"] = {}  # of each operator
_DTYPES = {"int32": torch.int32, "bool": torch.bool, "float32": torch.float32}


def described(schema: str, function: CFunction, *, fixed: Dict[str, Any] = {}, int64: str = "",
              absent: Dict[str, Callable] = {}, gradient: Any = None, of: str = "", linear: str = "",
              names: Dict[str, str] = {}, results: str = "", sizes: Dict[str, Optional[Callable]] = {},
              least: Dict[str, int] = {}, rule: Optional[Callable] = None, more: Optional[Part] = None,
              **others: Any) -> Any:
    """operator() with what follows from the description of its C function.

    Args:
        schema, names, results, sizes, least, rule, more: Form's (_forms.py).
        fixed: the values of parts that are no arguments.
        int64: the outputs that are int64 where the description says int32.
        absent: output -> (**sizes), whether it is not wanted: it is empty then. Neither is the gradient of an input
            that is not given.
        gradient: the operator, made by described(), that has the gradients, or a tuple of such. Their arguments are
            gradients of outputs, inputs, outputs and sizes, and of_<input>: whether that input's gradient is wanted.
            Without one, an operator that is not called ..._backward gives constants.
        of: the inputs whose gradients its outputs are, where their names do not tell.
        linear: the inputs in each of which the first output is linear. Others have no forward-mode derivative.
        others: operator()'s, instead of what would follow; `call` too.
    """
    form = _Form(schema, function, fixed, int64.split(), absent, names=names, results=results, sizes=sizes, least=least,
                 rule=rule, more=more)
    follows: Dict[str, Any] = {"call": form.call}
    if gradient is not None:
        derivative = _Derivative(form, gradient if isinstance(gradient, tuple) else (gradient,), of.split())
        follows.update(setup=derivative.setup, backward=derivative.backward)
    elif not form.name.endswith("_backward"):
        follows.update(setup=no_derivative, jvp=no_tangents)
    if linear:
        follows["jvp"] = lambda *given: _linear(made, linear.split(), *given)
    made: Any = operator(form.schema, form.fake, **{**follows, **others})
    made.form = FORMS[form.name] = form
    form.others = others
    if "_backward" not in form.name:
        SMALLEST[form.name] = lambda ones, zeros: made(*form.smallest(ones, zeros))
    return made


class _Form(Form):
    """A form on tensors."""

    IMAGE = (0, 3, 1, 2)

    def __init__(self, schema: str, function: CFunction, fixed: Dict[str, Any], int64: List[str],
                 absent: Dict[str, Callable], **others: Any) -> None:
        super().__init__(schema, function, unused=tuple(fixed), **others)
        self.others: Dict[str, Any] = {}
        self.absent, self.fixed = absent, {"workspace": None, "workspace_size": 0, **fixed}
        self.dtypes = {part.name: torch.int64 if part.name in int64 else
                       _DTYPES.get(part.dtype if part.dims else "int32") for part in self.outputs}

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
            shape = (0,) if self._absent(part, known, given) else self.shape(part.name, known)
            dtype = self.dtypes[part.name] or like.dtype
            image = part.layout == c.NHWC and len(shape) == 4
            made.append(new_image(images, shape, dtype) if image else like.new_empty(shape, dtype=dtype))
        return tuple(made) if len(made) > 1 else made[0]

    def fill(self, inputs: List[Any], places: Iterable[int]) -> None:
        """Zeros for the tensors at these places that are None."""
        for place in places:
            if inputs[place] is None:
                shape = self.shape(self.arguments[place], self.sizes(inputs))
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
    """The setup and backward of an operator whose gradients others compute. Their arguments are called as its own inputs,
    outputs and sizes, as gradients of outputs, or of_<input>: whether that input's gradient is wanted."""

    def __init__(self, form: _Form, gradients: Iterable[Any], of: List[str]) -> None:
        self.form = form
        self.outputs = [part.name for part in form.outputs]
        self.constant = [i for i, part in enumerate(form.outputs)
                         if part.dtype or not part.dims or part.name in form.absent]
        gradients = tuple(gradients)
        names = dict.fromkeys(name for each in gradients for name in each.form.arguments if not self._given_late(name))
        tensors = [name for name in names if any(name in each.form.axes for each in gradients)]
        others = [name for name in names if name not in tensors]
        self.saved, self.kept = [self._take(name) for name in tensors], [self._take(name) for name in others]
        known = {name: place for place, name in enumerate(tensors + others)}
        self.gradients = [(each, [known[name] if name in known else len(known) + self._late(name)
                                  for name in each.form.arguments],
                           [place for place, name in enumerate(each.form.arguments) if name.startswith("grad")],
                           [form.arguments.index(name) for name in of] or
                           [self._input_of(part) for part in each.form.outputs]) for each in gradients]

    def _given_late(self, name: str) -> bool:
        return name.startswith("grad") or name[:3] == "of_" and name[3:] in self.form.arguments

    def _late(self, name: str) -> int:
        """The place of what backward is given: gradients of outputs, then whether those of inputs are wanted."""
        if not name.startswith("grad"):
            return len(self.outputs) + self.form.arguments.index(name[3:])
        output = name.replace("grad_", "", 1)
        return self.outputs.index(output) if output in self.outputs else 0

    def _input_of(self, grad: Part) -> int:
        known = {part.c_name: part.name for part in self.form.inputs}
        known.update((name, name) for name in self.form.arguments)
        names = (*(name.replace("grad_", "", 1) for name in (grad.name, grad.c_name)), grad.like)
        return self.form.arguments.index(next(known[name] for name in names if name in known))

    def _take(self, name: str) -> Callable:
        """(inputs, outputs) -> an argument of a gradient."""
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
        ctx.save_for_backward(*[take(inputs, outputs) for take in self.saved])
        ctx.kept = [take(inputs, outputs) for take in self.kept]

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        needed = ctx.needs_input_grad
        known = (*ctx.saved_tensors, *ctx.kept, *grads, *needed)
        made: list = [None] * len(needed)
        for gradient, arguments, of_outputs, places in self.gradients:
            if not any([needed[place] for place in places]):
                continue
            values = [known[place] for place in arguments]
            if len(of_outputs) > 1:
                gradient.form.fill(values, of_outputs)
            found = gradient(*values)
            for place, grad in zip(places, found if isinstance(found, tuple) else (found,)):
                made[place] = grad if needed[place] else None
        return tuple(made)


def _linear(function: Any, linear: List[str], inputs: tuple, output: Any, tangents: tuple) -> Any:
    """The jvp of an operator that is linear in each of these inputs, with the others kept."""
    form = function.form
    places = tuple(form.arguments.index(name) for name in linear)
    for place, tangent in enumerate(tangents):
        if place not in places:
            no_tangent(form.name, form.caller(form.arguments[place]), tangent)
    several = isinstance(output, tuple)
    along = linear_tangent((lambda *values: function(*values)[0]) if several else function, inputs, tangents, places)
    if not isinstance(along, Tensor):
        along = torch.zeros_like(output[0] if several else output)
    return (along, *(None,) * (len(output) - 1)) if several else along
