"""libmluops_torch.so: the operators torch.ops.mluops.* for programs without Python, or without this package.

    python -m mluops.torch.library FOLDER

writes FOLDER/libmluops_torch.so for the torch of this Python. Most kernels are written from the descriptions
(_described.py): one C++ function an operator, which takes its arguments off torch's stack, checks and allocates by the
sizes of the description, and calls the C function. csrc/ has what they are written in, and the rest.
"""

import argparse
import ctypes
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .. import _compiling, _context as c
from .._function import Part
from .._listing import printed

from ._described import FORMS, _Form
from ._operator import HAS_LIBRARY_API, SCHEMAS

NAME = "libmluops_torch.so"
_CSRC = Path(__file__).parent / "csrc"

# Operators of csrc/by_hand.h, and what is to be done before the C function of those that are described.
BY_HAND = ("bbox_overlaps", "box_iou_quadri", "box_iou_rotated", "first_numbers", "in_range", "int32", "nms", "nms_of_groups",
           "nms_rotated_of_groups")
_BEFORE = {"moe_dispatch": "t_dispatch.zero_();", "mutual_information": "t_p.zero_();",
           "multi_scale_deformable_attn": "check_pixels(call, t_value, t_value_spatial_shapes);"}
_RULES = {name: 'call.demand(s_n > 0 || s_m == 0, "points", "at least one point");'
          for name in ("furthest_point_sample", "furthest_point_sample_with_dist")}
_NOTHING = {"hard_voxelize": "s_max_points == 0 || s_max_voxels == 0"}  # in place of the operator's own call
_TYPES = {"": "kT", "int32": "at::kInt", "int64": "at::kLong", "bool": "at::kBool", "float32": "at::kFloat"}


# ---- sizes that Python computes, in C++


class _Branch(Exception):
    """A condition that the computation asks about."""


class _Size:
    """A number of which only its C++ is known."""

    taken: List[bool] = []  # the answers to the conditions that come first

    def __init__(self, text: str) -> None:
        self.text = text

    def __bool__(self) -> bool:
        if not _Size.taken:
            raise _Branch(self.text)
        return _Size.taken.pop(0)


def _operation(form: str, swapped: bool = False) -> Callable:
    def operation(left: _Size, right: Any) -> _Size:
        pair = _cpp(left), _cpp(right)
        return _Size(form.format(*(reversed(pair) if swapped else pair)))

    return operation


for _name, _sign in {"add": "+", "sub": "-", "mul": "*"}.items():
    setattr(_Size, f"__{_name}__", _operation(f"({{}} {_sign} {{}})"))
    setattr(_Size, f"__r{_name}__", _operation(f"({{}} {_sign} {{}})", swapped=True))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(_Size, f"__{_name}__", _operation(f"({{}} {_sign} {{}})"))
_Size.__floordiv__ = _operation("floor_div({}, {})")  # type: ignore[attr-defined]


def _cpp(value: Any) -> str:
    if isinstance(value, _Size):
        return value.text
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nullptr"}[value]
    if isinstance(value, float) and math.isinf(value):
        return ("-" if value < 0 else "") + "std::numeric_limits<double>::infinity()"
    return repr(value)


def _computed(how: Callable, known: Dict[str, Any], taken: Tuple[bool, ...] = ()) -> Any:
    """The result of `how` on sizes; where it asks for a condition, C++ with both branches."""
    _Size.taken = list(taken)
    try:
        return how(**known)
    except _Branch as condition:
        yes, no = (_cpp(_computed(how, known, (*taken, answer))) for answer in (True, False))
        return _Size(f"({condition} ? {yes} : {no})")


# ---- kernels


def _list(texts: Sequence[str]) -> str:
    return "{" + ", ".join(texts) + "}"


class _Kernel:
    """The C++ function of a described operator."""

    def __init__(self, form: _Form) -> None:
        self.form, self.lines = form, [f"void {form.name}(Call& call) {{"]
        self.known: Dict[str, Any] = {}
        self._arguments()
        self._sizes()
        self._results()
        self._call()
        self._say(f"call.finish({_list([f't_{part.name}' for part in form.outputs])});")
        self.lines.append("}")

    def _say(self, *lines: str) -> None:
        self.lines += [f"  {line}" for line in lines]

    def _arguments(self) -> None:
        parts = {part.name: part for part in self.form.inputs}
        limits = {name: (least, most) for name, least, most in self.form.limits}
        for name in self.form.arguments:
            caller = f'"{self.form.caller(name)}"'
            if name in parts:
                dims = len(self.form.axes[name])
                self._say(f"const Tensor t_{name} = call.tensor({caller}, {dims}, {_TYPES[parts[name].dtype]});")
                continue
            least, most = limits[name]
            given = ", ".join(_cpp(limit) for limit in (least, most) if limit is not None)
            if most is not None and least is None:
                raise ValueError(f"{self.form.name}: {name}: a greatest number without a least one")
            kind, call = {"float": ("double", f"number({caller}{', ' * bool(given)}{given})"), "bool": ("bool", "flag()")}.get(
                self.form.types[name], ("int64_t", f"integer({caller}{', ' * bool(given)}{given})"))
            self._say(f"const {kind} s_{name} = call.{call};")
            self.known[name] = _Size(f"s_{name}")

    def _sizes(self) -> None:
        for part in sorted(self.form.inputs, key=lambda part: part.optional):
            for axis, (size, _) in enumerate(self.form.axes[part.name]):
                if size.isdigit() or size in self.form.derived or size in self.known:
                    continue
                value = f"t_{part.name}.size({axis})"
                self._size(size, f"t_{part.name}.defined() ? {value} : 0" if part.optional else value)
        for size, how in self.form.derived.items():
            if size in self.known:
                continue
            value = _computed(how, self.known)
            if isinstance(value, tuple):
                self._say(f"const int s_{size}[] = {_list([f'Int{{{_cpp(each)}}}' for each in value])};")
                self.known[size] = value
            else:
                self._size(size, _cpp(value))
        for part in self.form.inputs:
            self._say(f'call.expect("{self.form.caller(part.name)}", t_{part.name}, {self._shape(part)});')
        if self.form.name in _RULES:
            self._say(_RULES[self.form.name])

    def _size(self, name: str, value: str) -> None:
        self._say(f"const int64_t s_{name} = {value};")
        self.known[name] = _Size(f"s_{name}")

    def _shape(self, part: Part) -> str:
        return _list([size if size.isdigit() else _cpp(self.known[size]) for size, _ in self.form.axes[part.name]])

    def _results(self) -> None:
        images = [f"t_{part.name}" for part in self.form.inputs if part.layout == c.NHWC]
        if any(part.layout == c.NHWC for part in self.form.outputs):
            like = next(f"t_{part.name}" for part in self.form.inputs if not part.dtype)
            self._say(f"const at::MemoryFormat format = image_format({_list(images or [like])});")
        for part in self.form.outputs:
            dtype = {None: "call.dtype()", torch.int64: "at::kLong", torch.int32: "at::kInt", torch.float32: "at::kFloat",
                     torch.bool: "at::kBool"}[self.form.dtypes[part.name]]
            format = ", format" if part.layout == c.NHWC and len(self.form.axes[part.name]) == 4 else ""
            made = f"call.result({self._shape(part)}, {dtype}{format})"
            if part.name in self.form.absent:
                condition = _cpp(_computed(self.form.absent[part.name], self.known))
                self._say(f"const bool no_{part.name} = {condition};")
                made = f"no_{part.name} ? call.result({{0}}, {dtype}) : {made}"
            self._say(f"const Tensor t_{part.name} = {made};")

    def _call(self) -> None:
        form, others = self.form, self.form.others
        results = _list([f"t_{part.name}" for part in form.outputs])
        nothing = f"call.nothing({results}" + (f", {_NOTHING[form.name]})" if form.name in _NOTHING else ")")
        if "call" in others and form.name not in _NOTHING or "after" in others or "before" in others and form.name not in _BEFORE:
            raise ValueError(f"{form.name}: what it does besides its C function is not known in C++")
        if "empty" in others:
            self._say(f"if ({nothing}) {{", *(f"  {line}" for line in self._fills()), "} else {")
        else:
            self._say(f"if (!{nothing}) {{")
        before = [_BEFORE[form.name]] if "before" in others else []
        self._say(*(f"  {line}" for line in before + self._statements()), "}")

    def _fills(self) -> List[str]:
        """What `empty` fills results with, found by trying it with each dtype."""
        filled = []
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            trial = tuple(torch.full((2, 3, 3), 7, dtype=self.form.dtypes[part.name] or dtype) for part in self.form.outputs)
            self.form.others["empty"](trial if len(trial) > 1 else trial[0])
            if any(tensor.unique().numel() != 1 for tensor in trial):
                raise ValueError(f"{self.form.name}: results without inputs are not of one number")
            filled.append([tensor.flatten()[0].item() for tensor in trial])
        lines = []
        for part, numbers in zip(self.form.outputs, zip(*filled)):
            same = len(set(numbers)) == 1
            number = _cpp(numbers[0]) if same else f"by_dtype(call.dtype(), {', '.join(map(_cpp, numbers))})"
            lines.append(f"t_{part.name}.fill_({number});")
        return lines

    def _statements(self) -> List[str]:
        """The call of C."""
        outputs, lines, arguments, floats = [part.name for part in self.form.outputs], [], [], []
        images = [part for part in self.form.function.parts if part.layout == c.NHWC and self._is_tensor(part)]
        if images:
            lines.append(f"call.images({_list([self._given(part) for part in images])});")
        for part in self.form.function.parts:
            floats += self._floats(part)
            if part.layout is not None and self._is_tensor(part):
                word = {c.NHWC: "image", c.ARRAY: "array", c.NCHW: "array"}[part.layout]
                word += "_result" if word == "image" and part.name in outputs else ""
                planes = ", MLUOP_LAYOUT_NCHW" if part.layout == c.NCHW else ""
                lines.append(f"const Given g_{part.name} = call.{word}({self._given(part)}{planes});")
                arguments += [f"g_{part.name}.desc()", f"g_{part.name}.data()"][-len(part.types):]
            elif part.layout is not None:  # not wanted
                arguments += ["nullptr"] * len(part.types)
            elif part.parts:
                lines += self._descriptor(part)
                arguments.append(f"{part.name}.get()")
            else:
                arguments.append(self._value(part))
        if floats:
            lines.append(f"call.exactly({_list(floats)});")
        return [*lines, f"call.done({self.form.function.name}(call.handle(), {', '.join(arguments)}));"]

    def _is_tensor(self, part: Part) -> bool:
        return part.name not in self.form.fixed

    def _given(self, part: Part) -> str:
        absent = part.name in self.form.absent
        return f"no_{part.name} ? Tensor() : t_{part.name}" if absent else f"t_{part.name}"

    def _descriptor(self, part: Part) -> List[str]:
        names = f"mluOpCreate{part.kind}Descriptor, mluOpDestroy{part.kind}Descriptor"
        values = "".join(f", {self._value(each)}" for each in part.parts)
        return [f"const Owned {part.name}({names});", f"check({part.setter}({part.name}.get(){values}));"]

    def _value(self, part: Part) -> str:
        """C++ of an argument that is no tensor with a descriptor."""
        if part.name in [each.name for each in self.form.outputs]:
            return f"Pointer{{t_{part.name}.data_ptr()}}"
        value = self.form.fixed[part.name] if part.name in self.form.fixed else self.known[part.name]
        if isinstance(value, tuple):
            return f"s_{part.name}"
        if part.types == (ctypes.c_float,):
            return f"static_cast<float>({_cpp(value)})"
        if value is None or part.types in ((ctypes.c_bool,), (ctypes.c_double,), (ctypes.c_size_t,)):
            return _cpp(value)
        return f"Int{{{_cpp(value)}}}"

    def _floats(self, part: Part) -> List[str]:
        return [_cpp(self.form.fixed.get(each.name, self.known.get(each.name)))
                for each in part.parts or (part,) if each.types == (ctypes.c_float,)]


def served() -> List[str]:
    """The operators of the library: those that have no derivative, or are not one."""
    described = [name for name in FORMS if "_backward" not in name]
    return sorted({*described, *BY_HAND})


def source() -> str:
    """The C++ of the library."""
    made = "\n\n".join("\n".join(_Kernel(FORMS[name]).lines) for name in served() if name not in BY_HAND)
    kernels = {name: name if name in served() else "not_served" for name in sorted(SCHEMAS)}
    table = "".join(f'    {{"{SCHEMAS[name]}", {kernel}}},\n' for name, kernel in kernels.items())
    return (f'#include "{_CSRC / "by_hand.h"}"\n\nnamespace mluops_library {{\nnamespace {{\n\n{made}\n\n'
            f"const Operator kOperators[] = {{\n{table}}};\n\n}}  // namespace\n}}  // namespace mluops_library\n\n"
            "TORCH_LIBRARY_FRAGMENT(mluops, library) { mluops_library::define(library, mluops_library::kOperators); }\n")


# ---- building


def _compiler() -> List[str]:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name.split()
    raise RuntimeError(f"{NAME} needs a C++ compiler, and there is none: install g++ or set CXX")


def build(folder: Path) -> Path:
    """Compiles the library into a folder, which is made if it does not exist. Returns its path."""
    if not HAS_LIBRARY_API or not sys.platform.startswith("linux"):
        raise NotImplementedError(f"{NAME} needs Linux and torch 2.4 or later, this is {sys.platform}, torch {torch.__version__}")
    from torch.utils import cpp_extension
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        written, made = Path(scratch, "library.cpp"), Path(scratch, NAME)
        written.write_text(source())
        command = [*_compiler(), _compiling.standard(torch.__version__), "-O1", "-fPIC", "-shared", "-fwrapv",
                   "-fvisibility=hidden", "-DAT_PER_OPERATOR_HEADERS",
                   f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", *shlex.split(_compiling.cflags()),
                   *(f"-isystem{path}" for path in cpp_extension.include_paths()), str(written), "-o", str(made),
                   "-Wl,-rpath,$ORIGIN", *shlex.split(_compiling.libs()),
                   *(f"-L{path}" for path in cpp_extension.library_paths()), "-ltorch_cpu", "-lc10"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            raise RuntimeError(f"compiling {NAME} failed: {shlex.join(command)}\n{done.stdout}")
        return made.rename(folder / NAME)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mluops.torch.library", description=f"Compiles {NAME} for the installed torch.")
    parser.add_argument("folder", type=Path, help="where it goes")
    print(build(parser.parse_args(arguments).folder))
    return 0


if __name__ == "__main__":
    sys.exit(printed(main))
