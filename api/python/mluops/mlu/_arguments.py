"""How a C++ function is called where a module of torch says what it is to compute."""

import inspect
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Tuple

import torch


class Parameter(NamedTuple):
    """One of a C++ function."""
    type: str
    name: str

    @property
    def kind(self) -> str:
        if re.search(r"vector|array|pair|tuple|ArrayRef", self.type):
            return "list"
        return "tensor" if re.search(r"\bTensor\b", self.type) else "number"


def _kind(value: Any) -> str:
    """None stands for a missing number."""
    if isinstance(value, (list, tuple)):
        return "list"
    return "tensor" if isinstance(value, torch.Tensor) else "number"


def _split(inside: str) -> List[str]:
    """At the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def parameters(signature: str) -> List[Parameter]:
    """The parameters of a declaration, without its semicolon."""
    inside = signature[signature.index("(") + 1:signature.rindex(")")].strip()
    if inside in ("", "void"):
        return []
    found = []
    for part in _split(inside):
        part = re.sub(r"\s*=.*$", "", part, flags=re.S)  # a default
        named = re.fullmatch(r"(.*[\s&*>])([A-Za-z_]\w*)", part, flags=re.S)
        found.append(Parameter(named.group(1).strip(), named.group(2)) if named else Parameter(part, ""))
    return found


def initial_of(model: type, given: Sequence[Any]) -> List[Tuple[str, Any]]:
    """The arguments of a constructor with their names, those by default too."""
    bound = inspect.signature(model).bind(*given)
    bound.apply_defaults()
    return list(bound.arguments.items())


def state_of(model: torch.nn.Module) -> List[Tuple[str, torch.Tensor]]:
    """Parameters, then buffers, under the last part of their names."""
    both = [*model.named_parameters(), *model.named_buffers()]
    return [(name.rpartition(".")[2], tensor.detach()) for name, tensor in both]


def _take(rest: List[Tuple[str, Any]], parameter: Parameter) -> Any:
    """The value of that name, else the first that fits; it is taken out of `rest`."""
    fits = [pair for pair in rest if _kind(pair[1]) == parameter.kind]
    if not fits:
        raise ValueError(f"parameter {parameter.name or parameter.type} of the function: the reference has no "
                         f"{parameter.kind} left for it after the inputs, the constructor's arguments and the model's "
                         "parameters and buffers")
    pair = next((pair for pair in fits if pair[0] == parameter.name), fits[0])
    rest[:] = [other for other in rest if other is not pair]
    return pair[1]


def bind(wanted: Sequence[Parameter], inputs: Iterable[Any], named: Iterable[Tuple[str, Any]]) -> List[Any]:
    """An argument for each parameter: the inputs in their order, then of `named` by type, and by name or in order.
    Where a number is wanted, a tensor of one element becomes one, and None, which C++ has not, 0."""
    rest, arguments, positional = list(named), [], list(inputs)
    for i, parameter in enumerate(wanted):
        value = positional[i] if i < len(positional) else _take(rest, parameter)
        if isinstance(value, torch.Tensor) and value.numel() == 1 and parameter.kind == "number":
            value = value.item()
        elif value is None and parameter.kind == "number":
            value = 0
        arguments.append(value)
    return arguments
