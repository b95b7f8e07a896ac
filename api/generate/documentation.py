"""The documentation of an operator's C function: its `doc`, then what the description tells of each argument, and of
dtypes, layouts and strides. A `doc` with @param of its own is left as it is."""

import re
import textwrap
from typing import List, Union

from .checks import Names, words_of
from .describe import Argument, Descriptor, Family, Getter, Operator, Plain, Scalar, Tensor

WIDTH = 115
# How sizes are written; family(letters=...) names others. Those of one letter are capitals.
LETTERS = {"batch": "B", "batch_size": "B", "channels": "C", "rois": "R", "pooled_h": "PH", "pooled_w": "PW",
           "pooled_height": "PH", "pooled_width": "PW", "out_h": "Ho", "out_w": "Wo", "ci": "Ci", "co": "Co",
           "boxes_num": "N", "heads": "M", "levels": "L", "inputs": "L", "outputs": "M", "queries": "Q",
           "kernel_h": "Kh", "kernel_w": "Kw", "out_x": "X", "out_y": "Y", "out_z": "Z"}
TYPES = {"HALF FLOAT": "HALF, FLOAT; EXTENDED: also DOUBLE, BFLOAT16"}
ONLY_FLOAT = "FLOAT; EXTENDED: also HALF, DOUBLE, BFLOAT16"


def written(size: str, family: Family) -> str:
    return family.letters.get(size) or LETTERS.get(size) or (size.upper() if len(size) == 1 else size)


def filled(text: str, indent: int) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=" " * indent)


def limit(rule: str) -> str:
    """The rule of a number in words."""
    least, _, most = rule.replace(" exact", "").replace("in ", "").partition("..")
    if not most.isdigit():
        return f">= {least}" if most else least.replace("number", "not NaN")
    return least if least == most else f"{least} {'or' if int(least) + 1 == int(most) else 'to'} {most}"


class Documented:
    """The parts of the documentation of an operator, or of what sets a descriptor."""

    def __init__(self, op: Union[Operator, Descriptor], family: Family) -> None:
        self.op, self.family = op, family
        if isinstance(op, Descriptor):
            return
        names = Names(op, family)
        self.order = names.order
        self.laid_out = [t.name for word, listed in self.order if word == "layouts" for t in names.some(listed)]

    def tensor(self, t: Tensor) -> str:
        of = t
        while of.like:
            of = self.op.find(of.like)
        shape = ", ".join(written(size, self.family) for size in of.dims)
        layouts = {"any": "any layout", "image": "NHWC"}
        layout = layouts.get(t.kind, t.kind.upper()) if t.kind == "any" or t.name in self.laid_out else ""
        layout = "" if "layout" in t.meaning else layout
        absent = "or NULL with its descriptor" if t.optional and not re.search("NULL|absent", t.meaning) else ""
        parts = [t.dtype + (f" [{shape}]" if shape else ""), layout, absent,
                 "overwritten" if t.out and "are written" not in t.meaning else ""]
        return ", ".join(part for part in parts if part)

    def scalar(self, s: Scalar) -> str:
        letter = written(s.name, self.family)
        sized = letter if letter != s.name and any(s.name in t.dims for t in self.op.tensors()) else ""
        return ", ".join(part for part in (sized, limit(s.rule)) if part)

    def plain(self, p: Plain, name: str) -> str:
        if p.word == "count":
            return "INT32 [1], overwritten"
        if p.word != "workspace":
            return ""
        is_size = name.endswith("size")
        if not any(word == "workspace" for word, _ in self.order):
            return "" if is_size else "not used, nor its size"
        if not is_size:
            return "workspace_size bytes; may be NULL where that is 0. Not used"
        getter = next((g.function for g in self.family.of(Getter) if g.of is self.op), "")
        return f"as {getter} says, or less" if getter else ""

    def lines(self, arg: Argument) -> List[tuple]:
        """(name, text) of each of its declarations that has a text."""
        if isinstance(arg, Plain):
            names = [re.sub(r"\W", "", text.split()[-1]) for text in arg.text]
            found = [(name, self.plain(arg, name)) for name in names]
        else:
            found = [(arg.name, self.tensor(arg) if isinstance(arg, Tensor) else self.scalar(arg))]
        if arg.meaning:
            name, formal = found[0]
            found[0] = name, arg.meaning if formal in arg.meaning else f"{formal}: {arg.meaning}"
        return [each for each in found if each[1]]

    def parameters(self) -> str:
        lines: List[tuple] = []
        for name, text in (line for arg in self.op.args for line in self.lines(arg)):
            if lines and lines[-1][1] == text:  # arguments next to each other, told alike
                name = f"{lines.pop()[0]}, {name}"
            lines.append((name, text))
        width = min(max(len(name) for name, _ in lines), 20)
        return "\n".join(filled(f"@param {name.ljust(width)}  {text.rstrip('.')}.", width + 9) for name, text in lines)

    def common(self) -> str:
        words = dict(self.order)
        kinds = {t.kind for t in self.op.tensors() if t.name in self.laid_out}
        rois = words.get("batch_indices", [""])[-1]
        told = [(f"T: {TYPES.get(self.op.floats, ONLY_FLOAT)}.", any(t.dtype == "T" for t in self.op.tensors())),
                ("Images: NHWC; EXTENDED: all NHWC or all NCHW.", "image" in kinds),
                (f"Strided tensors: {self.op.strided}.", "dense" in words or "strides" in words),
                ("An empty tensor: BAD_PARAM.", words.get("not_empty") == []),
                (f"A batch index of {rois} outside [0,B-1]: BAD_PARAM.", rois != "")]
        return filled(" ".join(text for text, holds in told if holds), 0)


def documentation(op: Operator, family: Family) -> str:
    if "@param" in op.doc:
        return op.doc
    made = Documented(op, family)
    forward = [other for other in family.of(Operator) if other.check == re.sub("_backward.*", "_forward", op.check) != op.check]
    as_forward = f"Anything not described here is as in {forward[0].function}." if forward else ""
    return "\n\n".join(part for part in (op.doc.strip(), as_forward, made.parameters(), made.common()) if part)


def of_getter(g: Getter, family: Family) -> str:
    """What bytes it tells, and what it refuses."""
    order = words_of(g.order)
    told = f"Bytes of {f'device memory that {g.of.function} wants: {g.wants}' if g.bytes else f'the workspace of {g.of.function}: 0'}."
    if "form" in dict(order):
        refused = f"Takes the arguments of the call. BAD_PARAM: {g.size} is NULL, or the call gives it."
    else:
        needed = [name for word, names in order if word in ("descs", "desc_pointers") for name in names]
        maybe = " and ".join(f"{t.name}_desc" for t in g.tensors() if needed and t.name not in needed)
        rank = Names(g.of, family).rank
        ranked = [f"; {name} is not of rank {rank(g.of.find(name))}" for word, names in order if word == "ranks" for name in names]
        refused = f"BAD_PARAM: an argument {f'but {maybe} ' if maybe else ''}is NULL{''.join(ranked)}."
    return filled(" ".join(part for part in (told, refused, g.more) if part), 0)
