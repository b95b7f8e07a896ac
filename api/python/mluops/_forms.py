"""The arguments of a C function as its callers name them: the numbers and sizes among them, checked by what the
description in api/operators tells (_functions)."""

from ctypes import c_bool, c_double, c_float
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _context as c
from ._errors import bad_param
from ._function import CFunction, Part
from ._shapes import expect, rank


# What sizes are called in schemas, and in descriptions, where both are the same.
_SHORT = {"height": "h", "width": "w", "pooled_height": "pooled_h", "pooled_width": "pooled_w"}


class Form:
    """The arguments and outputs of a function, under the names of the description.

    Args:
        schema: "carafe(features, masks, kernel_size)". Its arguments are called as the parts of the C function or the
            sizes of its tensors; "grad" is the first part whose name begins so. A type in front of an argument is
            one that does not follow from its part.
        names: arguments of the schema that have other names: {"points": "n"}; heights and widths need not be told.
        results: the outputs in their order, where that is not C's.
        unused: outputs that there are not.
        sizes: sizes that are computed otherwise than the description tells, from all others by name; None: not
            computed, but found in a tensor.
        least: of sizes among the arguments; 0 for those of type SymInt. (That of a part is in the description.)
        more: a tensor that C does not take, such as a gradient that its results are multiplied by.
        rule: (**sizes): raises where a rule of the operator's own is broken. Sizes include the numbers among the
            arguments.
    """

    IMAGE: Sequence[int] = (0, 1, 2, 3)  # where an image has the sizes that C calls N, H, W, C

    def __init__(self, schema: str, function: CFunction, names: Dict[str, str] = {}, results: str = "",
                 unused: Sequence[str] = (), sizes: Dict[str, Optional[Callable]] = {}, least: Dict[str, int] = {},
                 rule: Optional[Callable] = None, more: Optional[Part] = None) -> None:
        self.name, inside = schema.rstrip(")").split("(", 1)
        self.function, self.rule = function, rule
        self.derived = {name: how for name, how in {**function.derived, **sizes}.items() if how is not None}
        parts = {part.name: part for each in (*([more] if more else []), *function.parts) for part in (each, *each.parts)}
        first = next((name for name in parts if name.startswith("grad")), "")
        typed, declared = zip(*[each.rpartition(" ")[::2] for each in inside.split(", ")])
        sizes_of_all = {size for part in parts.values() for size in part.dims.split()}
        short = {name: size for name, size in _SHORT.items()
                 if size in sizes_of_all and name not in parts and name not in sizes_of_all}
        names = {**short, **names}
        self.arguments = [first if name == "grad" else names.get(name, name) for name in declared]
        self.callers = {names[name]: name for name in declared if name in names}
        self.types = {argument: kind or _type(parts.get(argument)) for argument, kind in zip(self.arguments, typed)}
        tensors = [parts[argument] for argument, kind in self.types.items() if kind.startswith("Tensor")]
        self.inputs = [part for grads in (False, True) for part in parts.values()  # the sizes of gradients are others'
                       if part in tensors and part.name.startswith("grad") == grads]
        given = [part for part in function.parts[-function.results:] if part.name not in unused]
        self.outputs = [parts[name] for name in results.split()] or given
        least = {**{name: 0 for name, kind in self.types.items() if kind == "SymInt"}, **least}
        self.limits = [(name, parts[name].least, parts[name].most) if name in parts else (name, least.get(name), None)
                       for name, kind in self.types.items() if not kind.startswith("Tensor")]
        results_ = ", ".join(["Tensor"] * len(self.outputs))
        self.schema = (f"{self.name}({', '.join(map(' '.join, zip(self.types.values(), declared)))}) -> "
                       + (f"({results_})" if len(self.outputs) > 1 else results_))
        self.axes = {part.name: self._axes(part) for part in self.inputs + self.outputs}

    def _axes(self, part: Part) -> List[Tuple[str, str]]:
        """The sizes of a tensor and what they are."""
        say, made = self.function.say, []
        for axis, size in enumerate(part.dims.split() or ["1"]):
            keys = f"{part.name}.{size}", f"{part.name}.{axis}", size
            otherwise = f"that of {part.like}" if part.like else self.caller(size) if size in self.arguments else ""
            made.append((size, next((say[key] for key in keys if key in say), otherwise)))
        return [made[i] for i in self.IMAGE] if part.layout == c.NHWC else made

    def caller(self, name: str) -> str:
        return self.callers.get(name, name)

    def sizes(self, inputs: Sequence[Any]) -> Dict[str, Any]:
        """Every size and number by name, after the checks."""
        given = dict(zip(self.arguments, inputs))
        present = [(self.caller(part.name), given[part.name].shape, self.axes[part.name]) for part in self.inputs
                   if given[part.name] is not None]
        known = {name: value for name, value in given.items() if name not in self.axes}
        for name, shape, axes in present:
            rank(name, shape, len(axes))
        self._check_numbers(known)
        for _, shape, axes in present:
            for (size, _), extent in zip(axes, shape):
                if not size.isdigit() and size not in self.derived:
                    known.setdefault(size, extent)
        if self.rule is not None:
            self.rule(**known)
        for size, how in self.derived.items():
            known.setdefault(size, how(**known))
        for name, shape, axes in present:
            expect(name, shape, _shape(axes, known), [meaning for _, meaning in axes])
        return known

    def _check_numbers(self, known: Dict[str, Any]) -> None:
        for name, least, most in self.limits:
            if least is not None and known[name] < least or most is not None and known[name] > most:
                wanted = f"at least {least}" if most is None else f"{least} to {most}"
                raise bad_param(self.caller(name), wanted, known[name])

    def shape(self, name: str, known: Dict[str, Any]) -> tuple:
        return _shape(self.axes[name], known)

    def smallest(self, ones: Callable, zeros: Callable) -> list:
        """Inputs of the smallest call, given makers of ones and of int32 zeros; without what is optional."""
        least = {name: max(1, least or 0) for name, least, _ in self.limits}
        numbers = {"float": 1.0, "bool": True}
        known = {name: numbers.get(self.types[name], self.function.smallest.get(name, least[name]))
                 for name in self.arguments if name not in self.axes}
        given = [part for part in self.inputs if not part.optional]
        for size, _ in (axis for part in given for axis in self.axes[part.name]):
            if size not in self.derived:
                known.setdefault(size, int(size) if size.isdigit() else self.function.smallest.get(size, 1))
        for size, how in self.derived.items():
            known.setdefault(size, how(**known))
        tensors = {part.name: (zeros if part.dtype == "int32" else ones)(*self.shape(part.name, known)) for part in given}
        tensors.update((part.name, tensors[part.name] != 0) for part in given if part.dtype == "bool")
        return [tensors.get(name) if name in self.axes else known[name] for name in self.arguments]

    def shapes(self, *inputs: Any) -> List[tuple]:
        """The shapes of the outputs, after the checks."""
        known = self.sizes(inputs)
        return [self.shape(part.name, known) for part in self.outputs]


def _type(part: Optional[Part]) -> str:
    """What a schema calls the type of an argument; a size of tensors is no part."""
    if part is None:
        return "SymInt"
    if part.layout is not None:
        return "Tensor?" if part.optional else "Tensor"
    return {c_float: "float", c_double: "float", c_bool: "bool"}.get(part.types[0], "int")


def _shape(axes: List[Tuple[str, str]], known: Dict[str, Any]) -> tuple:
    return tuple(int(size) if size.isdigit() else known[size] for size, _ in axes)
