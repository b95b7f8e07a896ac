"""Writes api/python/mluops/_functions/<family>.py, how Python calls the C functions, and op/<family>.py, the functions
on numpy arrays. What C checks is not checked again; only what makes an output's shape is."""

import re
import textwrap
from typing import Dict, List, Optional

from .checks import IDENTIFIER, Checks, arithmetic, literal
from .describe import Descriptor, Family, Operator, Plain, Scalar, Tensor

WIDTH = 120


# ---- C functions ------------------------------------------------------------------------------------


def named(word: str, argument, *more: str) -> str:
    c_name = [] if argument.python == argument.name else [f'"{argument.name}"']
    return f"{word}({', '.join([chr(34) + argument.python + chr(34), *c_name, *more])})"


def dims_of(tensor: Tensor, op: Operator) -> List[str]:
    return tensor.dims or dims_of(op.find(tensor.like), op)


def described(tensor: Tensor, op: Operator, python: Dict[str, str]) -> List[str]:
    """What is told of a tensor beyond its name: its sizes, whose they are, its dtype, whether it may be missing."""
    dims = " ".join(python.get(size, size) for size in dims_of(tensor, op))
    dtype = {"T": "", "S": "", "FLOAT": "float32"}.get(tensor.dtype, tensor.dtype.lower())
    return [f'dims="{dims}"'] + (
        [f'like="{op.find(tensor.like).python}"'] if tensor.like else []) + (
        [f'dtype="{dtype}"'] if dtype else []) + (["optional=True"] if tensor.optional else [])


def limits(scalar: Scalar) -> List[str]:
    """least=, and most= where that is not the greatest int."""
    found = re.match(r">= (-?\d+)|in (-?\d+)\.\.(\w+)", scalar.rule)
    if not found:
        return []
    return [f"least={found[1] or found[2]}"] + ([f"most={found[3]}"] if (found[3] or "INT_MAX") != "INT_MAX" else [])


def part(argument, family: Family, op: Optional[Operator] = None, python: Dict[str, str] = {}) -> List[str]:
    if isinstance(argument, Tensor):
        word = {"image": "NHWC", "nchw": "PLANES"}.get(argument.kind, "ARRAY")
        return [named("BARE_" + word if argument.bare else word, argument, *described(argument, op, python))]
    if isinstance(argument, Scalar):
        kind = {"float": "FLOAT", "double": "DOUBLE", "bool": "BOOL"}.get(argument.kind, "INT")
        return [named("INT64" if "int64_t" in argument.ctype else kind, argument, *limits(argument))]
    if argument.word == "workspace":
        return ['SIZE("workspace_size")' if "size" in text else 'ADDRESS("workspace")' for text in argument.text]
    if argument.word == "descriptor" and not any(d.address for d in family.of(Descriptor)):
        return [f"{argument.name.upper()}"]
    if argument.word == "host" and "const int " in argument.text[0]:
        return [named("INTS", argument)]
    return [named("ADDRESS", argument)]


def results(op: Operator) -> int:
    """How many of the last parts are written."""
    return len([a for a in op.args if (isinstance(a, Tensor) and a.out) or (isinstance(a, Plain) and a.word == "count")])


def call(made: str, parts: List[str], indent: int) -> str:
    """made(part, part ..., with each part on one line."""
    lines = [made]
    for i, each in enumerate(parts):
        each += ", " if i < len(parts) - 1 else ""
        if len((lines[-1] + each).rstrip()) > WIDTH - 1 and lines[-1].strip():
            lines.append(" " * indent)
        lines[-1] += each
    return "\n".join(line.rstrip() for line in lines)


def python_of(text: str, python: Dict[str, str]) -> str:
    """Python of a derived size; "" where its C++ is more than arithmetic."""
    text = arithmetic(text).replace(" / ", " // ")
    text = re.sub(r"\((.*) \? (.*) : (.*)\)", r"(\2 if \1 else \3)", text)
    if re.search(r"(?<!windows)(?<![-+*/] )(?<!^)\(|::|[\[.?]", text):
        return ""
    return IDENTIFIER.sub(lambda m: python.get(m[0], m[0]), text)


def told_otherwise(size: str, op: Operator) -> bool:
    """A derived size of which `sizes` has the other way round: what it follows from is not in an input."""
    return bool(set(op.python.get("sizes", {})) & set(IDENTIFIER.findall(op.derive.get(size, ""))))


def sizes(op: Operator, python: Dict[str, str]) -> List[str]:
    """What is told of sizes: those derived from others, and what they are."""
    def table(name: str, entries: List[str]) -> List[str]:
        return [(f"{name}={{" if i == 0 else "") + entry + ("}" if i == len(entries) - 1 else "")
                for i, entry in enumerate(entries)]

    used = [python.get(size, size) for t in op.tensors() for size in t.dims]
    of_others = {**op.derive, **op.python.get("sizes", {})}
    texts = {name: python_of(text, python) for name, text in of_others.items()}
    derived = []
    for name, text in texts.items():
        if text and not told_otherwise(name, op) and (name in used or name in " ".join(texts.values()).split()):
            takes = [n for n in dict.fromkeys(IDENTIFIER.findall(text)) if n not in ("windows", "if", "else")]
            derived.append(f'"{name}": lambda {", ".join(takes)}, **_: {text}')
    say = {".".join(python.get(each, each) for each in key.split(".")):
           re.sub(r"\bof (\w+)", lambda m: f"of {python.get(m[1], m[1])}", text)
           for key, text in op.say.items() if key.split(".")[0] in python or python.get(key, key) in used}
    smallest = {python.get(name, name): number for name, number in op.smallest().items()}
    return (table("derived", derived) + table("say", [f'"{key}": "{text}"' for key, text in say.items()]) +
            table("smallest", [f'"{name}": {number}' for name, number in smallest.items()]))


def functions(family: Family, mark: str) -> str:
    text = ""
    for d in [d for d in family.of(Descriptor) if not d.address]:
        parts = [f'"{d.argument}"', f'"{d.kind}"', *(p for f in d.fields for p in part(f, family))]
        parts += ['version="_v2"'] if d.set_name.endswith("_v2") else []
        parts += ["ext=True"] if d.set_name.startswith("mluOpExt") else []
        text += call(f"{d.argument.upper()} = DESCRIPTOR(", parts, 4) + ")\n"
    for name, op in {op.check.upper(): op for op in family.of(Operator)}.items():  # of two spellings the last
        own = next((d for d in family.of(Descriptor) if any(p.name == d.argument for p in op.plain("descriptor"))), None)
        python = {a.name: a.python for a in op.args + (own.fields if own else [])}
        parts = [f'"{op.function}"', *(p for a in op.args for p in part(a, family, op, python)), *sizes(op, python)]
        parts += [f"results={results(op)}"] if results(op) != 1 else []
        text += call(f"{name} = CFunction(", parts, 4) + ")\n"
    words = sorted(set(re.findall(r"\b(?:[A-Z][A-Z_0-9]*|CFunction)(?=\()", text)))
    shapes = "from .._shapes import windows\n" if "windows(" in text else ""
    return f'"""{mark}: its C functions."""\n\nfrom .._function import {", ".join(words)}\n{shapes}\n{text}'


# ---- functions on arrays ----------------------------------------------------------------------------


class Function:
    """A function on numpy arrays: inputs and numbers in the order of the C function, without its outputs."""

    def __init__(self, op: Operator, family: Family) -> None:
        self.op, self.family = op, family
        self.name = op.python.get("called", re.sub("_forward$", "", op.check))
        self.fixed: Dict[str, str] = op.python.get("fixed", {})
        self.sizes: Dict[str, str] = dict(op.python.get("sizes", {}))
        # What it takes, where that is not what follows: (name, [sizes that it is], default)
        self.takes = [(name, sizes.split(), default) for name, sizes, default in
                      re.findall(r"(\w+)(?:\(([^)]*)\))?(?:=(\S+))?", op.python.get("takes", ""))]
        self.pairs = {name: sizes for name, sizes, _ in self.takes if len(sizes) == 2}
        self.callers = {sizes[0]: name for name, sizes, _ in self.takes if len(sizes) == 1}
        self.body = Checks(op, family)
        self.inputs = [t for t in op.tensors() if not t.out and t.name not in self.fixed]
        self.outputs = [t for t in op.tensors() if t.out and t.name not in self.fixed]
        self.numbers = [f for f in (self.body.descriptor.fields if self.body.descriptor else [])
                        if f.name not in self.fixed] + [s for s in op.scalars() if s.name not in self.fixed]
        self.extra: List[str] = []  # sizes that no input has: arguments
        self.lines: List[str] = []
        self._known: List[str] = []

    def dims(self, tensor: Tensor) -> List[str]:
        return dims_of(tensor, self.op)

    def size(self, name: str) -> str:
        """Python of a size; takes it from an input, or makes it an argument."""
        number = next((s for s in self.numbers if s.name == name), None)
        if name.isdigit():
            return name
        if number is not None:
            return number.python
        if name in self.fixed:
            return self.fixed[name]
        if name in self.sizes:
            return self.expression(self.sizes[name])
        if name in self.op.derive and not told_otherwise(name, self.op):
            return f"({self.expression(self.op.derive[name])})"
        for t in self.inputs:
            if name in self.dims(t):
                return f"{t.python}.shape[{self.dims(t).index(name)}]"
        name = self.callers.get(name, name)
        if name not in self.extra:
            self.extra.append(name)
        return name

    def expression(self, text: str) -> str:
        text = arithmetic(text).replace(" / ", " // ")
        known = ("windows", "max", "min", "if", "else")
        return IDENTIFIER.sub(lambda m: m[0] if m[0] in known or m[0][0] == '"' else self.size(m[0]), text)

    def shape(self, tensor: Tensor) -> str:
        """Of the gradient of an input that is not given: None."""
        shapes = self.op.python.get("shapes", {})
        if tensor.name in shapes:
            return self.expression(shapes[tensor.name])
        made = ", ".join(self.size(d) for d in self.dims(tensor))
        made = f"({made},)" if len(self.dims(tensor)) == 1 else f"({made})"
        return f"None if {self.given(tensor)} is None else {made}" if self.given(tensor) else made

    def given(self, gradient: Tensor) -> str:
        """The optional input whose gradient an output is."""
        of = gradient.python.replace("grad_", "", 1)
        return of if gradient.out and any(t.optional and t.python == of for t in self.inputs) else ""

    def dtype(self, tensor: Tensor) -> str:
        lead = next((t.python for t in self.inputs if t.dtype == "T"), "")
        return {"T": f"{lead}.dtype", "FLOAT": "np.float32"}.get(tensor.dtype, "np.int32")

    def parameters(self) -> List[tuple]:
        """(name, declaration, value in the smallest call)"""
        types = {"float": "float", "double": "float", "bool": "bool"}
        sizes = [(name, f"{name}: int", self.least(name)) for name in self.extra]
        made = [(t.python, f"{t.python}: Array", self.made_of_ones(t)) for t in self.inputs if not t.optional]
        made += [(s.python, f"{s.python}: {'Union[int, str]' if s.names else types.get(s.kind, 'int')}", self.least(s.name))
                 for s in self.numbers]
        made += sizes + [(t.python, f"{t.python}: Optional[Array]{'' if self.takes else ' = None'}", "None" if self.takes else "")
                         for t in self.inputs if t.optional]
        known = {name: (name, *others) for name, *others in made}
        known.update((name, (name, f"{name}: Size", self.least(both[0]))) for name, both in self.pairs.items())
        return [(name, known[name][1] + (f" = {default}" if default else ""), "" if default else known[name][2])
                for name, _, default in self.takes] or made

    def converted(self) -> List[str]:
        made = []
        group = sorted((t for t in self.inputs if t.dtype in ("T", "FLOAT")), key=lambda t: bool(t.optional))
        if group:
            given = [f'optional="{t.python}"' for t in group if t.optional] + [f"{t.python}={t.python}" for t in group]
            names = ", ".join(t.python for t in group) + "," * (len(group) == 1)
            made.append(f"{names} = floats({', '.join(given)})")
        for t in self.inputs:
            given = f"None if {t.python} is None else " if t.optional else ""
            made += [f'{t.python} = {given}index32("{t.python}", {t.python})'] if t.dtype == "INT32" else []
        made += [f'{t.python} = booleans("{t.python}", {t.python})' for t in self.inputs if t.dtype == "BOOL"]
        for t in self.inputs:
            if any(f"{t.python}.shape[" in text for text in self.lines + self.values()):
                made.append(f'rank("{t.python}", {t.python}.shape, {len(self.dims(t))})')
        return made

    def checked(self) -> List[str]:
        """Of numbers and sizes."""
        made = [f'{first}, {second} = pair("{name}", {name})' for name, (first, second) in self.pairs.items()]
        for s in self.numbers:
            if s.names:
                made.append(f'{s.python} = named("{s.python}", {s.python}, {", ".join(map(literal, s.names))})')
            elif s.kind in ("int", "enum") and not any(s.python in both for both in self.pairs.values()):
                made.append(f'{s.python} = integer("{s.python}", {s.python})')
            elif s.kind in ("float", "double"):
                made.append(f'{s.python} = number("{s.python}", {s.python})')
            elif s.kind == "bool":
                made.append(f"{s.python} = bool({s.python})")
        used = " ".join(self.lines)
        for s in self.numbers:
            least = re.match(r"(?:>= |in )(-?\d+)", s.rule)
            if s.kind == "int" and re.search(rf"\b{s.python}\b", used):
                made.append(f"at_least({least[1] if least else 0}, {s.python}={s.python})")
        made += [f'at_least(0, {name}=integer("{name}", {name}))' for name in self.extra]
        return made

    def values(self) -> List[str]:
        """The arguments of the C function."""
        made, outputs = [], 0
        for a in self.op.args:
            if isinstance(a, Tensor) and a.name in self.fixed:
                made.append(self.fixed[a.name])
            elif isinstance(a, Tensor) and a.out:
                made.append(f"results[{outputs}]")
                outputs += 1
            elif isinstance(a, Plain) and a.word == "workspace":
                made += ["0" if "size" in text else "None" for text in a.text]
            elif isinstance(a, Plain) and a.word == "count":
                made.append(f"{a.python}.ctypes.data")
            elif isinstance(a, Plain):
                fields = self.body.descriptor.fields
                made.append("(" + ", ".join(self.fixed.get(f.name, f.python) for f in fields) + ")")
            else:
                made.append(self.fixed.get(a.name, a.python))
        return made

    def text(self) -> str:
        shapes = [self.shape(t) for t in self.outputs]
        counts = self.op.plain("count")
        self.lines = shapes
        names = ", ".join(f'"{t.python}"' for t in self.outputs)
        made = self.converted() + self.checked()
        if len(self.outputs) == 1:
            made.append(f'results = (output(out, "out", {shapes[0]}, {self.dtype(self.outputs[0])}),)')
        else:
            made.append(f"shapes = ({', '.join(shapes)})")
            made.append(f"dtypes = ({', '.join(self.dtype(t) for t in self.outputs)})")
            made.append(f"results = outputs(out, ({names}), shapes, dtypes)")
        made += [f"{c.python} = np.zeros(1, np.int32)" for c in counts]
        made.append(f"run(_functions.{self.op.check.upper()}, results, {', '.join(self.values())})")
        back = ", ".join(["*results"] + [f"int({c.python}[0])" for c in counts]) if counts else ""
        made.append(f"return {back}" if counts else "return results" if len(self.outputs) > 1 else "return results[0]")
        body = textwrap.indent("\n".join(folded(line) for line in made), "    ")
        returns = "Array" if len(self.outputs) == 1 and not counts else "tuple"
        out = f"out: Optional[{'Sequence[Array]' if len(self.outputs) > 1 else 'Array'}] = None"
        parameters = [declared for _, declared, _ in self.parameters()] + ["*", out]
        renamed = ", ".join(f'{old}="{new}"' for old, new in self.op.python.get("renamed", {}).items())
        head = f"@renamed({renamed})\n" if renamed else ""
        head += call(f"def {self.name}(", parameters, len(self.name) + 5) + f") -> {returns}:\n"
        return head + docstring(self) + body + "\n"

    # ---- the smallest call: sizes of 1, or what the description says

    def least(self, name: str) -> str:
        """Of a size or a number."""
        given = self.op.smallest()
        number = next((s for s in self.numbers if s.name == name), None)
        if name.isdigit() or name in given:
            return str(given.get(name, name))
        if number is not None and number.kind in ("float", "double", "bool"):
            return "True" if number.kind == "bool" else "1.0"
        if number is not None:
            return "0" if number.names else str(max(1, int((re.match(r"(?:>= |in )(-?\d+)", number.rule) or [0, 1])[1])))
        if name in self.op.derive:
            text = arithmetic(self.op.derive[name])
            return str(eval(IDENTIFIER.sub(lambda m: m[0] if m[0] == "windows" else self.least(m[0]),
                                           text.replace(" / ", " // ")), {"windows": windows}))
        return "1"

    def made_of_ones(self, t: Tensor) -> str:
        return f"{'zeros' if t.dtype in ('INT32', 'BOOL') else 'ones'}({', '.join(self.least(d) for d in self.dims(t))})"

    def smallest(self) -> str:
        values = [value for _, _, value in self.parameters() if value]
        return f"lambda ones, zeros: {self.name}({', '.join(values)})"


def docstring(of: Function) -> str:
    def form(t: Tensor) -> str:
        dtype = {"T": "T", "BOOL": "bool", "FLOAT": "float32"}.get(t.dtype, t.dtype.lower())
        return f"{t.python}: {dtype} [{', '.join(of.dims(t))}]" + f", None without {of.given(t)}" * bool(of.given(t))

    paired = [size for both in of.pairs.values() for size in both]
    summary = of.op.doc.split("\n\n")[0].replace("\n", " ")
    made = textwrap.fill(f'"""{summary}', WIDTH - 4) + "\n\nArgs:\n"
    lines = [form(t) + told(t) for t in of.inputs]
    lines += [f"{s.python}{told(s)}" for s in of.numbers if told(s) and s.name not in paired]
    lines += [f"{name}: {' and '.join(both)}, or one number for both" for name, both in of.pairs.items()]
    lines += [f"{', '.join(of.extra)}: sizes of the result"] if of.extra else []
    made += "".join(textwrap.fill(line, WIDTH - 8, initial_indent="    ", subsequent_indent="        ") + "\n" for line in lines)
    made += "Returns: " + textwrap.fill("; ".join([form(t) for t in of.outputs] +
                                                  [f"{c.python}: int" for c in of.op.plain("count")]), WIDTH - 13)
    made += f'\n\n{of.op.function} in mlu_op.h has the definition. Images are NHWC.\n"""'
    return textwrap.indent(made, "    ") + "\n"


def told(argument) -> str:
    """What an argument is, but what C alone knows: pointers, contracts, statuses."""
    names = " or ".join(f'"{name}" ({number})' for number, name in enumerate(getattr(argument, "names", [])))
    parts = [part for part in re.split(r"(?<=\.) |; ", argument.meaning)
             if not re.search("NULL|STRICT|EXTENDED|BAD_PARAM|NOT_SUPPORTED|workspace|likewise", part)]
    text = "; ".join(filter(None, [names, *parts])).rstrip(".").replace(".;", ".")
    return f": {text}" if text else ""


def windows(size: int, kernel: int, pad: int, dilation: int, stride: int) -> int:
    return max(0, (size + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1)


def folded(line: str) -> str:
    if len(line) <= WIDTH - 4:
        return line
    indent = len(line) - len(line.lstrip()) + 4
    return textwrap.fill(line, WIDTH - 4, subsequent_indent=" " * indent, break_long_words=False)


def arrays(family: Family, mark: str) -> str:
    made = [Function(op, family) for op in family.of(Operator) if not op.python.get("no_numpy")]
    texts = "\n\n".join(function.text() for function in made)
    tried = ",\n            ".join(f'"{f.name}": {f.smallest()}' for f in made)
    texts += ("\n\n# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` "
              f"tries.\nSMALLEST = {{{tried}}}\n")
    typing = [name for name in ("Optional", "Sequence", "Union") if f"{name}[" in texts]
    imports_last = f"from .._functions import {family.name} as _functions\n"
    words = {".._arguments": ["Size", "at_least", "integer", "named", "number", "pair", "renamed"],
             ".._arrays": ["Array", "booleans", "floats", "index32", "output", "outputs", "run"], ".._shapes": ["rank", "windows"]}
    imports = f"from typing import {', '.join(typing)}\n\n" + ("import numpy as np\n\n" if "np." in texts else "")
    for module, names in words.items():
        imports += imports_last if module == ".._shapes" else ""
        used = [name for name in names if re.search(rf"\b{name}\b\(|: {name}\b|-> {name}\b|\[{name}\]", texts)]
        imports += f"from {module} import {', '.join(used)}\n" if used else ""
    names = ", ".join(f'"{function.name}"' for function in made)
    return f'"""{mark}: {family.title} on numpy arrays."""\n\n{imports}\n__all__ = [{names}]\n\n\n{texts}'
