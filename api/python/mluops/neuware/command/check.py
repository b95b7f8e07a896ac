"""compile a kernel, run it with all checks, and compare its results with a PyTorch module

An online judge does the same. The reference is a Python file with a class Model (a torch.nn.Module), get_inputs() with
the arguments of forward() and get_init_inputs() with those of __init__(). The function, bang_func, takes the inputs.
Further tensors are parameters and buffers of the model, further numbers are arguments of the constructor. Both are bound
by name if one matches, otherwise in order."""

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from .. import _report

RIGHT, WRONG, USAGE, FAULT, NOT_BUILT = 0, 1, 2, 3, 4
_TOLERANCES = {"float16": 1e-2, "bfloat16": 2e-2}
_CHUNK = 1 << 22  # numbers compared at a time: a large output leaves no room for copies of all of it
_DTYPES = ("float32", "float16", "bfloat16", "float64", "int32")


def _parsed(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m mluops.neuware check",
        description="Compares a kernel's C++ function with a torch module, as an online judge does.",
        epilog="Exit status: 0 right, 1 wrong, 3 a fault of the kernel or its host code, 4 it does not compile.")
    parser.add_argument("file", type=Path, help="the .mlu file with the function")
    parser.add_argument("--reference", type=Path, required=True, help="the Python module")
    parser.add_argument("--function", default="bang_func", help="the C++ function (bang_func)")
    parser.add_argument("--dtype", choices=_DTYPES, help="of floating inputs (default: as get_inputs() makes them)")
    parser.add_argument("--tolerance", type=float,
                        help="absolute and relative: 1e-2 for float16, 2e-2 for bfloat16, else 1e-4")
    parser.add_argument("--seed", type=int, default=0, help="seed of get_inputs() (0)")
    parser.add_argument("--train", action="store_true",
                        help="leave the module in training mode, as judges do that do not call eval()")
    parser.add_argument("--flags", default="-O2", help="flags for cncc, in one argument (-O2)")
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    parsed = parser.parse_args(arguments)
    for path in (parsed.file, parsed.reference):
        if not path.is_file():
            parser.error(f"no such file: {path}")
    return parsed


# ---- in the process that runs the kernel ----


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"reference_{re.sub(r'[^0-9a-zA-Z]', '_', path.stem)}", str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not hasattr(module, name):
            raise ValueError(f"{path} has no {name}: a reference has Model, get_inputs() and get_init_inputs()")
    return module


def _signature(source: Path, function: str) -> str:
    """The function's declaration, out of its definition."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source.read_text(errors="replace"), flags=re.S)
    found = re.search(rf"^[ \t]*((?:[\w:<>,&* \t]+?)\s{function}\s*\([^)]*\))\s*\{{", text, flags=re.M)
    if found is None:
        raise ValueError(f"{source} does not define {function}(...)")
    return re.sub(r"\s+", " ", found.group(1)).strip()


def _mapped(value: Any, function: Any) -> Any:
    import torch
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, function) for item in value)
    return value


def _tensors(value: Any) -> List[Any]:
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _place(flat: int, shape: Tuple[int, ...]) -> str:
    index = []
    for extent in reversed(shape):
        index.append(flat % extent)
        flat //= extent
    return "[" + ", ".join(map(str, reversed(index))) + "]"


def _compared(number: int, got: Any, want: Any, tolerance: float) -> Dict[str, Any]:
    """The text about one output."""
    import torch
    name = f"output {number}"
    if got.shape != want.shape:
        return {"right": False, "text": f"{name} is of shape {tuple(got.shape)}, {tuple(want.shape)} was wanted"}
    a, b = got.detach().flatten(), want.detach().flatten()
    if a.numel() == 0:
        return {"right": True, "text": f"{name} is empty, as it should be"}
    count, worst, first = 0, 0.0, 0
    for begin in range(0, a.numel(), _CHUNK):
        x, y = a[begin:begin + _CHUNK].cpu().double(), b[begin:begin + _CHUNK].cpu().double()
        same = (x == y) | (x.isnan() & y.isnan())
        difference = torch.where(same, torch.zeros_like(x), (x - y).abs().nan_to_num(nan=float("inf")))
        bad = ~(same | (difference <= tolerance + tolerance * y.abs()))
        if count == 0 and bad.any():
            first = begin + int(bad.nonzero()[0])
        count, worst = count + int(bad.sum()), max(worst, float(difference.max()))
    text = f"{name} {tuple(got.shape)}: largest difference {worst:.3g}"
    if count == 0:
        return {"right": True, "text": f"{text}, {tolerance:g} allowed"}
    text += (f"; {count} of {a.numel()} values are off by more than {tolerance:g}, the first at "
             f"{_place(first, tuple(got.shape))}: {float(a[first]):.6g}, {float(b[first]):.6g} was wanted")
    return {"right": False, "text": text}


def _promoted(tensor: Any) -> Any:
    import torch
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _wanted(model: Any, inputs: List[Any], train: bool) -> List[Any]:
    """The outputs of the module for copies of the inputs, which it may change."""
    import torch
    with torch.no_grad():
        return _tensors(model.train(train)(*_mapped(_mapped(inputs, _promoted), torch.clone)))


def _judged(got: List[Any], want: List[Any], inputs: List[Any], tolerance: Optional[float]) -> List[Dict[str, Any]]:
    """The text about each output."""
    import torch
    if len(got) != len(want):
        return [{"right": False, "text": f"{len(got)} outputs, {len(want)} were wanted"}]
    said = []
    for i, (a, b) in enumerate(zip(got, want)):
        allowed = tolerance or max(_TOLERANCES.get(str(t.dtype).split(".")[1], 1e-4)
                                   for t in [a, *inputs] if isinstance(t, torch.Tensor))
        said.append(_compared(i, a, b, allowed))
    return said


def _right(said: List[Dict[str, Any]]) -> bool:
    return all(one["right"] for one in said)


def _run(options: argparse.Namespace) -> Dict[str, Any]:
    import torch
    from ...mlu import _arguments, _cache, cpp_extension
    reference = _module(options.reference)
    signature = _signature(options.file, options.function)
    dtype = getattr(torch, options.dtype) if options.dtype else None

    def cast(tensor: torch.Tensor) -> torch.Tensor:
        wanted = dtype is not None and (tensor.is_floating_point() or not dtype.is_floating_point)
        return (tensor.to(dtype) if wanted else tensor).contiguous()

    begin = time.monotonic()
    name = f"check_{_cache.key_of([options.file.resolve(), options.function, options.flags])}"
    text = f"#line 1 \"{options.file}\"\n{options.file.read_text()}"  # faults name the lines of the file itself
    extension = cpp_extension.load_inline(name, signature + ";", text, [options.function],
                                          extra_bang_cflags=[*options.flags.split(),
                                                             f"-I{options.file.resolve().parent}"])
    built = time.monotonic() - begin
    torch.manual_seed(options.seed)
    initial = _mapped(list(reference.get_init_inputs()), cast)
    inputs = _mapped(list(reference.get_inputs()), cast)
    model = reference.Model(*_mapped(initial, _promoted))
    if dtype is not None and dtype.is_floating_point:
        model.to(dtype)  # the weights the kernel sees
    model.to(torch.float64 if dtype == torch.float64 else torch.float32)
    named = [*_arguments.initial_of(reference.Model, initial), *_arguments.state_of(model)]
    arguments = _arguments.bind(_arguments.parameters(signature), inputs, _mapped(named, cast))
    arguments = _mapped(arguments, lambda tensor: tensor.to("mlu"))
    want = _wanted(model, inputs, options.train)
    model.to("mlu")  # where host code finds its weights that looks for the module
    begin = time.monotonic()
    got = _tensors(getattr(extension, options.function)(*arguments))
    torch.mlu.synchronize()
    ran = time.monotonic() - begin
    said = _judged(got, want, inputs, options.tolerance)
    texts = [one["text"] for one in said]
    if not (_right(said) or options.train):
        want = _wanted(model.to("cpu"), inputs, True)
        if _right(_judged(got, want, inputs, options.tolerance)):
            texts.append("right against the module in training mode: --train")
    return {"status": RIGHT if _right(said) else WRONG, "texts": texts, "built": built, "ran": ran}


def _worker(options: argparse.Namespace) -> None:
    from ...mlu import _compiler
    try:
        result = _run(options)
    except _compiler.CompileError as error:
        result = {"status": NOT_BUILT, "texts": [str(error).partition("\n")[2].strip()]}
    except (FileNotFoundError, ValueError) as error:
        result = {"status": USAGE, "texts": [str(error)]}
    except Exception as error:  # the kernel's fault, the host code's or the reference's: all end the check
        result = {"status": FAULT, "texts": [f"{type(error).__name__}: {error}"]}
    options.result.write_text(json.dumps(result))


# ---- in the process that tells ----


def _spent(report: Path) -> List[str]:
    """Modelled time, by launch and by engine."""
    return _report.told(json.loads(report.read_text())) if report.exists() else []


_WORDS = {RIGHT: "right", WRONG: "WRONG", USAGE: "cannot check", FAULT: "FAULT", NOT_BUILT: "does not build"}


def main(arguments: List[str]) -> int:
    if importlib.util.find_spec("torch") is None:
        print("check runs kernels on torch's tensors: pip install torch", file=sys.stderr)
        return USAGE
    options = _parsed(arguments)
    if options.result is not None:
        _worker(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        result, report = Path(folder) / "result.json", Path(folder) / "report.json"
        environment = {"MLUOP_EMU_LIMIT": "120s", **os.environ, "MLUOP_EMU_REPORT": str(report)}
        done = subprocess.run([sys.executable, "-m", "mluops.neuware", "check", *arguments, "--result", str(result)],
                              env=environment)
        if not result.exists():
            print(f"{options.file}: FAULT\n  the process ended with status {done.returncode}")
            return FAULT
        told = json.loads(result.read_text())
        print(f"{options.file}: {_WORDS[told['status']]}")
        lines = [line for text in told["texts"] for line in text.splitlines()] + _spent(report)
        if "built" in told:
            lines.append(f"built in {told['built']:.1f} s, ran in {told['ran']:.2f} s on this machine")
        print("\n".join(f"  {line}" for line in lines))
        return told["status"]
