"""torch_mlu.utils.cpp_extension: extensions of torch with kernels in BANG C, compiled at run time or by setuptools."""

import importlib.machinery
import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Union

import torch
from torch.utils import cpp_extension as of_torch

from . import _build, _cache, _compiler
from .. import _trust
from ._compiler import include_paths, library_paths
from ..neuware import home

__all__ = ["BuildExtension", "MLUExtension", "include_paths", "library_paths", "load", "load_inline"]

Texts = Union[str, Sequence[str]]


def _listed(value: Optional[Texts]) -> List[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def _folder(name: str, given: Optional[str]) -> Path:
    """The build directory: given, or of TORCH_EXTENSIONS_DIR, or of torch's own cache."""
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):  # torch takes those that begin with a digit
        raise ValueError(f"name: letters, digits and underscores were wanted, got {name!r}")
    folder = Path(given or of_torch._get_build_directory(name, False))
    return _trust.own_folder(folder, "build_directory or TORCH_EXTENSIONS_DIR")


def _module(name: str, path: Path) -> ModuleType:
    """A version of its own for each build: Python would not load a path twice."""
    spec = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(name: str, sources: Texts, extra_cflags: Optional[Texts] = None, extra_bang_cflags: Optional[Texts] = None,
         extra_ldflags: Optional[Texts] = None, extra_include_paths: Optional[Texts] = None,
         build_directory: Optional[str] = None, verbose: bool = False, with_bang: Optional[bool] = None,
         is_python_module: bool = True, is_standalone: bool = False, keep_intermediates: bool = True,
         extra_cncc_cflags: Optional[Texts] = None) -> Any:
    """Compiles C++ and BANG C (.mlu) files into an extension and loads it.

    Args:
        name: of the module; TORCH_EXTENSION_NAME in the sources.
        sources: paths. What did not change since the last call is not compiled again.
        extra_cflags, extra_bang_cflags, extra_ldflags: for the host's compiler, for cncc, for linking.
            extra_cncc_cflags is another name of extra_bang_cflags.
        extra_include_paths: of headers.
        build_directory: where objects lie; by default torch's folder of extensions.
        is_python_module: False loads the library for its registered operators and returns None.
        is_standalone: True makes an executable and returns its path.
    """
    folder = _folder(name, build_directory)
    bang_cflags = _listed(extra_bang_cflags) + _listed(extra_cncc_cflags)
    target = folder / (name if is_standalone else f"{name}.so")
    flags = _listed(extra_ldflags)
    jobs = _build.jobs_of(None if is_standalone else name, _listed(sources), folder, _listed(extra_cflags), bang_cflags,
                          _listed(extra_include_paths))
    with _cache.locked(folder / "lock"):
        before = {job.object: job.object.stat().st_mtime_ns for job in jobs if job.object.exists()}
        _build.compile_all(jobs, verbose)
        same = all(before.get(job.object) == job.object.stat().st_mtime_ns for job in jobs)
        record = folder / "linked.txt"
        said = "\n".join([*map(str, (job.object for job in jobs)), *flags])
        if not (same and target.exists() and record.exists() and record.read_text() == said):
            _build.link([job.object for job in jobs], target, flags, verbose, shared=not is_standalone)
            record.write_text(said)
    if is_standalone:
        return str(target)
    if not is_python_module:
        torch.ops.load_library(str(target))
        return None
    return _module(name, target)


def _documented(functions: Union[Texts, Dict[str, str]]) -> Dict[str, str]:
    return dict(functions) if isinstance(functions, dict) else {function: function for function in _listed(functions)}


def _bindings(functions: Dict[str, str], safely: bool) -> str:
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    for function, text in functions.items():
        call = f"torch::wrap_pybind_function({function})" if safely else function
        lines.append(f'  m.def("{function}", {call}, R"doc({text})doc");')
    return "\n".join([*lines, "}"])


def _light_bindings(name: str, functions: Dict[str, str]) -> str:
    """For the common types, and a tenth of pybind11's time to compile."""
    lines = ["#include <mluops_bindings.h>", "static PyMethodDef mluops_methods[] = {"]
    for function, text in functions.items():
        lines.append(f'  {{"{function}", [](PyObject*, PyObject* arguments) {{\n    return mluops_bindings::call("{function}", '
                     f'{function}, arguments); }}, METH_VARARGS, R"doc({function}(*arguments)\n\n{text}\n)doc"}},')
    lines += ["  {nullptr, nullptr, 0, nullptr}};", "static PyModuleDef mluops_module = {PyModuleDef_HEAD_INIT, "
              f'"{name}", nullptr, -1, mluops_methods, nullptr, nullptr, nullptr, nullptr}};',
              f"PyMODINIT_FUNC PyInit_{name}() {{ return PyModule_Create(&mluops_module); }}"]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    """A file that says the same already keeps its time."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def load_inline(name: str, cpp_sources: Texts, bang_sources: Optional[Texts] = None,
                functions: Optional[Union[Texts, Dict[str, str]]] = None, extra_cflags: Optional[Texts] = None,
                extra_bang_cflags: Optional[Texts] = None, extra_ldflags: Optional[Texts] = None,
                extra_include_paths: Optional[Texts] = None, build_directory: Optional[str] = None,
                verbose: bool = False, with_bang: Optional[bool] = None, is_python_module: bool = True,
                with_pytorch_error_handling: bool = True, keep_intermediates: bool = True, use_pch: bool = False,
                extra_cncc_cflags: Optional[Texts] = None) -> Any:
    """load() of sources in strings: `cpp_sources` make one C++ file, `bang_sources` one of BANG C.

    Args:
        functions: names of C++ functions, declared or defined in cpp_sources, that the module is to have; a dictionary
            gives them texts.
    """
    folder = _folder(name, build_directory)
    declared, wanted = "\n".join(_listed(cpp_sources)), _documented(functions or [])
    bang = None
    if bang_sources is not None:
        bang = "\n".join(["#include <mlu.h>", "#include <type_traits>", *_listed(bang_sources)]) + "\n"

    def loaded(texts: Dict[str, str]) -> Any:
        for file, text in texts.items():
            _write(folder / file, text)
        return load(name, [str(folder / file) for file in texts], extra_cflags, extra_bang_cflags, extra_ldflags,
                    extra_include_paths, str(folder), verbose, with_bang, is_python_module,
                    extra_cncc_cflags=extra_cncc_cflags)

    if bang is not None and wanted and "{" not in declared:
        # Only declarations: all fits into the one file.
        headers = "#include <torch/extension.h>\n#include <framework/core/MLUStream.h>\n"
        try:
            return loaded({"whole.mlu": f"{headers}{bang}{declared}\n{_light_bindings(name, wanted)}\n"})
        except _compiler.CompileError as error:
            if "mluops_" not in str(error).partition("\n")[2]:
                raise  # the sources' own
    if wanted:
        declared += "\n" + _bindings(wanted, with_pytorch_error_handling)
    texts = {"main.cpp": f"#include <torch/extension.h>\n{declared}\n"}
    return loaded(texts if bang is None else {**texts, "bang.mlu": bang})


def _setuptools() -> Any:
    try:
        import setuptools
        import setuptools.command.build_ext
    except ImportError as error:
        raise ImportError("MLUExtension and BuildExtension need setuptools: pip install setuptools") from error
    return setuptools


def MLUExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """A setuptools.Extension of C++ and BANG C files. extra_compile_args may be a dictionary: "cxx", "cncc"."""
    for unknown in ("verbose", "extra_cflags"):
        kwargs.pop(unknown, None)
    kwargs["language"] = "c++"
    return _setuptools().Extension(name, list(sources), *args, **kwargs)


def _flags_of(extension: Any, kind: str) -> List[str]:
    given = extension.extra_compile_args or []
    flags = list(given.get(kind, [])) if isinstance(given, dict) else list(given)
    flags += [f"-D{key}" if value is None else f"-D{key}={value}" for key, value in extension.define_macros or []]
    return flags + [f"-U{key}" for key in extension.undef_macros or []]


def _build_extension_class() -> type:
    build_ext = _setuptools().command.build_ext.build_ext

    class BuildExtension(build_ext):
        """setuptools' build_ext for MLUExtension."""

        @classmethod
        def with_options(cls, **options: Any) -> type:
            """The class with arguments given: no_python_abi_suffix, use_ninja (which nothing needs)."""

            class WithOptions(cls):
                def __init__(self, *args: Any, **kwargs: Any) -> None:
                    super().__init__(*args, **{**kwargs, **options})

            return WithOptions

        def __init__(self, *args: Any, no_python_abi_suffix: bool = False, use_ninja: bool = True,
                     **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.no_python_abi_suffix = no_python_abi_suffix

        def get_ext_filename(self, fullname: str) -> str:
            path = super().get_ext_filename(fullname)
            if not self.no_python_abi_suffix:
                return path
            return path[:-len(importlib.machinery.EXTENSION_SUFFIXES[0])] + ".so"

        def build_extension(self, extension: Any) -> None:
            folder = Path(self.build_temp).resolve() / extension.name
            jobs = _build.jobs_of(extension.name.split(".")[-1], extension.sources, folder, _flags_of(extension, "cxx"),
                                  _flags_of(extension, "cncc"), extension.include_dirs or [])
            _build.compile_all(jobs, verbose=bool(self.verbose))
            target = Path(self.get_ext_fullpath(extension.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            flags = [f"-L{path}" for path in extension.library_dirs or []]
            flags += [f"-Wl,-rpath,{path}" for path in extension.runtime_library_dirs or []]
            flags += [f"-l{library}" for library in extension.libraries or []]
            _build.link([*(job.object for job in jobs), *map(Path, extension.extra_objects or [])], target,
                        flags + list(extension.extra_link_args or []), verbose=bool(self.verbose))

    return BuildExtension


def __getattr__(name: str) -> Any:  # setuptools is needed by these alone
    if name == "BuildExtension":
        try:
            globals()[name] = _build_extension_class()
        except ImportError:
            return _setuptools  # raises for who uses it
        return globals()[name]
    if name in ("NEUWARE_HOME", "neuware_home"):
        return str(home())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
