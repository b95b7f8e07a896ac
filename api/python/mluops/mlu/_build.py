"""From C++ and BANG C files to a shared object: only what changed is compiled, torch's headers come precompiled."""

import concurrent.futures
import contextlib
import functools
import json
import os
import re
import shlex
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch

from . import _cache, _compiler
from .. import _compiling
from ._compiler import CompileError
from ..neuware import cncc, home

_LIGHT = "-DAT_PER_OPERATOR_HEADERS"  # a header of torch declares only the functions that it uses itself
_WHOLE = ["-DMLUOPS_WHOLE_TORCH", "-UAT_PER_OPERATOR_HEADERS"]


class Job(NamedTuple):
    """A source, and the command that makes its object, without both."""
    source: Path
    object: Path
    command: List[str]


def is_bang(path: object) -> bool:
    return str(path).endswith(".mlu")


def arch_flags(given: Sequence[str]) -> List[str]:
    """The architectures: of the flags, else of TORCH_BANG_ARCH_LIST ("3.0;5.0"), else the device's."""
    if any(flag.startswith(("--bang-mlu-arch", "--bang-arch")) for flag in given):
        return []
    wanted = [arch for arch in os.environ.get("TORCH_BANG_ARCH_LIST", "").replace(" ", ";").split(";") if arch]
    if not wanted:
        wanted = ["{}.{}".format(*torch.mlu.get_device_capability())]
    return [f"--bang-arch=compute_{arch.replace('.', '')}" for arch in wanted]


def common_flags(name: Optional[str], includes: Sequence[str] = ()) -> List[str]:
    flags = ["-fPIC", "-DTORCH_API_INCLUDE_EXTENSION_H", _LIGHT, *_compiler.abi_flags()]
    if name is not None:
        flags.append(f"-DTORCH_EXTENSION_NAME={name}")
    flags += [f"-I{os.path.abspath(path)}" for path in includes]
    return flags + [f"-isystem{path}" for path in _compiler.include_paths()]


def host_command(name: Optional[str], flags: Sequence[str], includes: Sequence[str] = ()) -> List[str]:
    standard = [] if any(flag.startswith("-std=") for flag in flags) else [_compiling.standard(torch.__version__)]
    return [*_compiler.host().split(), *common_flags(name, includes), *standard, *flags]


# Flags that have no effect when only compiling, or that this module sets itself.
def _for_cncc(flag: str) -> bool:
    return not flag.startswith(("-l", "-L", "-Wl,", "--neuware-path="))


def bang_command(name: Optional[str], flags: Sequence[str], includes: Sequence[str] = ()) -> List[str]:
    return [str(cncc()), *common_flags(name, includes), *arch_flags(flags), *filter(_for_cncc, flags),
            f"--neuware-path={home()}"]


# ---- precompiled headers ----


def _shared(command: Sequence[str]) -> List[str]:
    """The flags that headers are precompiled with: without those of one extension, and one level of optimization for all,
    which compilers take for each other's."""
    own = ("-DTORCH_EXTENSION_NAME=", "-I", "-W", "--no-neuware-version-check")
    flags = [flag for flag in command if not flag.startswith(own)]
    flags = ["-O2" if re.fullmatch(r"-O[123s]?", flag) else flag for flag in flags]
    places = [flag for flag in flags[1:] if flag.startswith("-isystem")]
    return [flags[0], *places, *sorted(flag for flag in set(flags[1:]) if flag not in places)]


def _precompiled(command: Sequence[str], bang: bool) -> Optional[Path]:
    """The header that has torch's precompiled for such commands; None where the compiler cannot."""
    if not _compiler.is_gcc(os.environ.get("CNCC_HOST_COMPILER", "g++") if bang else _compiler.host()):
        return None
    shared = _shared(command)

    def make(folder: Path) -> None:
        header = folder / "torch_mlu.h"
        header.write_text("#pragma once\n" + "#include <bang.h>\n" * bang + "#include <torch/extension.h>\n"
                          "#include <framework/core/MLUStream.h>\n")
        _compiler.run([*shared, "-x", "bang-header" if bang else "c++-header", str(header), "-o", f"{header}.gch"])

    kind = "BANG C" if bang else "C++"
    name = f"headers-{torch.__version__}-{_cache.key_of([*shared, *_compiler.of_installation()])}"
    files = ["torch_mlu.h", "torch_mlu.h.gch"]
    if not _cache.has(name, files) and _cache.is_first(name):
        return None  # precompiling takes twice as long as compiling one file
    return _cache.entry(name, make, f"precompiling torch's headers for {kind}, once for these flags (a minute)",
                        files) / "torch_mlu.h"


def _functions(source: Path) -> List[str]:
    """The headers of the functions of torch that a source calls, by any namespace, or names with torch's."""
    text = source.read_text(errors="replace")
    names = sorted({*re.findall(r"\b(\w+)\s*\(", text), *re.findall(r"\b(?:at|torch)\s*::\s*(\w+)", text)})
    places = [Path(folder) / "ATen" / "ops" for folder in _compiler.include_paths()]
    known = [name for name in names if any((place / f"{name}.h").exists() for place in places)]
    return [flag for name in known for flag in ("-include", f"ATen/ops/{name}.h")]


def _with_headers(job: Job) -> Tuple[List[str], bool]:
    """The command with the headers that come before the source, and whether torch's are not precompiled."""
    bang = is_bang(job.source)
    wanted = os.environ.get("MLUOPS_PRECOMPILED") != "0"
    header = _precompiled(job.command, bang) if wanted else None
    prefix = [] if header is None else [f"--bang-prefix-header={header}"] if bang else ["-include", str(header)]
    binds = ["-include", "torch/csrc/utils/pybind.h"] if bang and _binds(job.source) else []
    return [*job.command, *prefix, *binds, *_functions(job.source)], header is None


def _binds(source: Path) -> bool:
    """Whether a BANG C file uses pybind11, which is not among its headers: it takes longer than all else in them."""
    return re.search(r"\b(pybind11|PYBIND11_MODULE|py)\b", source.read_text(errors="replace")) is not None


# ---- compiling ----


def _inputs(depfile: Path) -> List[str]:
    text = depfile.read_text().replace("\\\n", " ")
    return [path.replace("\\ ", " ") for path in shlex.split(text.partition(":")[2])]


def _stamp(paths: Sequence[str]) -> Dict[str, int]:
    return {path: Path(path).stat().st_mtime_ns if Path(path).exists() else 0 for path in paths}


@functools.lru_cache(maxsize=None)
def _installation() -> str:
    """Inputs of an object that compilers do not list: the compilers themselves, and system headers, including ours."""
    return _cache.key_of(_compiler.of_installation())


def _up_to_date(job: Job) -> bool:
    record = job.object.with_suffix(".json")
    if not job.object.exists() or not record.exists():
        return False
    said = json.loads(record.read_text())
    return (said["command"] == job.command and said.get("installation") == _installation()
            and said["inputs"] == _stamp(list(said["inputs"])))


def _compile_once(job: Job, ends: List[str], verbose: bool) -> None:
    """With part of torch; again with all of it where that lacks a name."""
    whole = [*job.command, *_WHOLE, *ends]
    if _wants_all(job.source):
        return _compiler.run(whole, verbose)
    command, slow = _with_headers(job)
    try:
        with _cache.told(f"compiling {job.source.name} with torch's headers") if slow else contextlib.nullcontext():
            _compiler.run([*command, *ends], verbose)
    except CompileError as error:
        if not _may_want_more(str(error)):
            raise
        _compiler.run(whole, verbose)


def _wants_all(source: Path) -> bool:
    """Whether a source includes headers of modules, optimizers and data."""
    return re.search(r"#\s*include\s*[<\"]torch/(torch|all|nn|optim|data|jit|serialize)\b",
                     source.read_text(errors="replace")) is not None


def _compile(job: Job, verbose: bool) -> None:
    if _up_to_date(job):
        return
    job.object.parent.mkdir(parents=True, exist_ok=True)
    depfile = job.object.with_suffix(".d")
    ends = ["-MMD", "-MF", str(depfile), "-MT", "object", "-c", str(job.source), "-o", str(job.object)]
    _compile_once(job, ends, verbose)
    job.object.with_suffix(".json").write_text(json.dumps({
        "command": job.command, "installation": _installation(), "inputs": _stamp(_inputs(depfile))}))


def _may_want_more(message: str) -> bool:
    """Whether an error may come from a name that only all of torch/extension.h has."""
    return any(f"{space}::" in message or f"'{space}'" in message or f"‘{space}’" in message
               for space in ("torch", "at", "c10", "pybind11", "py"))


def compile_all(jobs: Sequence[Job], verbose: bool = False) -> None:
    for job in jobs:
        if not job.source.exists():
            raise FileNotFoundError(f"no such source: {job.source}")
    workers = int(os.environ.get("MAX_JOBS") or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(lambda job: _compile(job, verbose), jobs))


def jobs_of(name: Optional[str], sources: Sequence[object], folder: Path, cflags: Sequence[str],
            bang_cflags: Sequence[str], includes: Sequence[str]) -> List[Job]:
    jobs = []
    for i, source in enumerate(map(Path, sources)):
        command = (bang_command(name, bang_cflags, includes) if is_bang(source) else
                   host_command(name, cflags, includes))
        jobs.append(Job(source.resolve(), folder / f"{i}.{source.name}.o", command))
    return jobs


def link(objects: Sequence[Path], target: Path, flags: Sequence[str] = (), verbose: bool = False,
         shared: bool = True) -> None:
    libraries = [path for folder in _compiler.library_paths() for path in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    scratch = target.with_name(f"{target.name}.{os.getpid()}")
    _compiler.run([*_compiler.host().split(), *["-shared"] * shared, *map(str, objects), *libraries, *flags, "-lc10",
                   "-ltorch_cpu", "-ltorch", *["-ltorch_python"] * shared, "-lcnrt", "-o", str(scratch)], verbose)
    scratch.rename(target)
