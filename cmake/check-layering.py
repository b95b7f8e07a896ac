#!/usr/bin/env python3
"""Checks that the tree keeps to the layers of docs/HACKING.md. Prints each violation; the status says whether there was one.

    check-layering.py [ROOT]        checks the tree
    check-layering.py --self-test   plants one fault of each kind in a small tree; each must be found

It checks four things:
  - every include of a file of ours, quoted or in angle brackets, in C, C++, .inc and .mlu files, against MAY_INCLUDE;
  - that no files include each other in a circle;
  - that a namespace is opened in one room only, but for the shared ones (SHARED_NAMESPACES);
  - every import between the rooms of the Python package against MAY_IMPORT.
"""

import ast
import re
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Set, Tuple

SOURCES = (".h", ".c", ".cpp", ".inc", ".mlu")
INCLUDE_ROOTS = ("", "api/include", "backends/mlu_emu/neuware/include")
SKIPPED = ("build", "dist", "out", "node_modules")  # folders of the root that are not in the repository

# ---- includes -----------------------------------------------------------------------------------
# Names of headers as includes write them, as regular expressions.

FILE = r"[a-zA-Z0-9_-]+"
OPERATORS = rf"mluops/op/{FILE}\.h"
PROBLEMS = rf"mluops/problem/{FILE}\.h"
PUBLIC = rf"mlu_op_types\.h|mlu_op\.h|mlu_op_ext\.h|cnrt\.h|cn_api\.h|{OPERATORS}"
PLUGIN = rf"{PUBLIC}|mluops/(backend|backend_types|call|problem)\.h|{PROBLEMS}|mluops/operators\.inc"
# What does not change with an operator's header. Inside the library a file includes the headers of the families it names.
TYPES = r"mlu_op_types\.h|mluops/(backend_types|call)\.h|mluops/operators\.inc"
FAMILY = rf"{TYPES}|{OPERATORS}|{PROBLEMS}"
SHARED = r"common/(guarded|half|per_thread|round|shape|text)\.h"
CPU_RUNTIME = rf"{TYPES}|{SHARED}|backends/cpu/runtime/{FILE}\.h"
CPU_SIMD = rf"{CPU_RUNTIME}|backends/cpu/simd/{FILE}\.h"
SUPPORT = rf"test/support/{FILE}\.h|test/cases/(base/)?{FILE}\.h"


def _cpu(*rooms: str) -> str:
    return rf"{CPU_SIMD}|backends/cpu/({'|'.join(rooms)})/{FILE}\.h"


MAY_INCLUDE: Dict[str, str] = {  # a file has to keep to the rule of the deepest folder named here
    "api/include": PLUGIN,
    "api/include/mluops/op": r"mlu_op_types\.h",
    "api/include/mluops/problem": rf"mlu_op_types\.h|{OPERATORS}|{PROBLEMS}",
    "api/c": rf"{FAMILY}|mlu_op\.h|mlu_op_ext\.h|mluops/(capture|verbose)\.h|api/c/.*|common/.*",
    "api/windows": "$^",
    "api/onnxruntime": rf"{PUBLIC}|common/(half|per_thread)\.h|api/onnxruntime/{FILE}\.h",
    "api/python": rf"{PUBLIC}|aten/.*|framework/.*|utils/cnlog\.h|c10/.*|mluops_bindings\.h|{FILE}\.h",
    "api/python/mluops/neuware/mlu_ops": r"mluops/(mlu_op|without_version)\.h",  # as the written tree has them
    "common": rf"{FAMILY}|common/.*",
    "backends/cpu": rf"{TYPES}|backends/cpu/(operators|dispatch)\.h|backends/cpu/(runtime|simd)/{FILE}\.h",
    "backends/cpu/runtime": CPU_RUNTIME,
    "backends/cpu/simd": CPU_SIMD,
    "backends/cpu/layout": _cpu("layout"),
    "backends/cpu/scatter": _cpu("layout", "scatter") + r"|mluops/problem/indice_convolution\.h",
    "backends/cpu/sampling": _cpu("sampling", "scatter", "layout") + r"|backends/cpu/dispatch\.h",
    "backends/cpu/spatial": _cpu("spatial"),
    "backends/cpu/roi_mean": _cpu("roi_mean", "sampling", "scatter", "layout") + r"|backends/cpu/dispatch\.h",
    "backends/mlu_emu": rf"{FAMILY}|{SHARED}|backends/mlu_emu/(operators\.h|(device|plan|kernels)/.*)",
    "backends/mlu_emu/device": rf"{TYPES}|{SHARED}|backends/mlu_emu/device/.*",
    "backends/mlu_emu/bang": rf"{TYPES}|{SHARED}|backends/mlu_emu/(device|bang)/.*",
    "backends/mlu_emu/plan": rf"{TYPES}|{PROBLEMS}|common/shape\.h|backends/mlu_emu/plan/.*",
    "backends/mlu_emu/kernels": rf"{TYPES}|{PROBLEMS}|common/(round|shape)\.h|backends/mlu_emu/(bang/.*|plan/.*|kernels/.*|operators\.h)",
    "backends/mlu_emu/neuware": rf"{PUBLIC}|{SHARED}|common/trust\.h|backends/mlu_emu/(device|bang|neuware)/.*|page/page\.h|{FILE}\.h",
    # A plugin above the descriptions of the tests, by which it calls the C functions.
    "plugins/device": rf"{PLUGIN}|common/(case_text|env|guarded|shared_object|trust)\.h|plugins/device/{FILE}\.(h|inc)|{SUPPORT}",
    "page": r"page/page\.h|source\.inc",
    "bench": rf"{PUBLIC}|mluops/problem\.h|bench/.*|page/page\.h|test/reference/reference\.h|test/cases/.*",
    "bench/emulator": rf"bench/emulator/.*|{FILE}\.h|common/half\.h|cnrt\.h",
    "examples": rf"{FILE}\.h",
    "examples/plugin": rf"{PUBLIC}|mluops/backend\.h",
    # Tests: the public headers and the words of test/cases and test/support; a room of the library only for its own tests.
    "test": rf"{PUBLIC}|{SUPPORT}",
    "test/api": rf"{PLUGIN}|mluops/(capture|verbose)\.h|{SUPPORT}",
    "test/calls": rf"{PUBLIC}|test/calls/.*|{SUPPORT}",
    "test/cases": rf"{PLUGIN}|test/reference/.*|test/cases/.*",
    "test/common": rf"{FAMILY}|common/.*|api/c/boundary\.h|{SUPPORT}",
    "test/conformance": rf"{PUBLIC}|common/text\.h|plugins/device/runtime\.h|test/conformance/.*|{SUPPORT}",
    "test/cpu": rf"{PLUGIN}|backends/cpu/.*|test/cpu/.*|test/reference/reference\.h|{SUPPORT}",
    "test/device": rf"{PUBLIC}|common/half\.h|backends/mlu_emu/(device|bang)/.*|test/device/.*|test/support/environment\.h",
    "test/emu": rf"{PLUGIN}|common/half\.h|backends/mlu_emu/plan/.*|test/emu/.*|test/support/environment\.h",
    "test/fuzz": rf"{PUBLIC}|backends/mlu_emu/(device|bang|neuware)/.*|test/fuzz/.*|test/replay/{FILE}\.h|{SUPPORT}|{FILE}\.h",
    "test/neuware": rf"{PUBLIC}|test/neuware/.*|test/support/sanitized\.h|{FILE}\.h",
    "test/op": rf"{PUBLIC}|test/op/.*|{SUPPORT}",
    "test/process": rf"{PUBLIC}|test/process/.*|{SUPPORT}",
    "test/plan": r"backends/mlu_emu/plan/.*|test/plan/.*",
    "test/plugin_device": rf"{PUBLIC}|test/plugin_device/fake\.h|{SUPPORT}",
    "test/reference": rf"mluops/problem\.h|{PROBLEMS}|test/reference/.*",
    "test/reference_check": rf"test/reference/.*|test/reference_check/.*|{SUPPORT}",
    "test/registry": rf"{PLUGIN}|common/.*|{SUPPORT}",
    "test/replay": rf"{PLUGIN}|mluops/capture\.h|common/.*|test/replay/.*|{SUPPORT}",
    "test/support": rf"{PUBLIC}|common/text\.h|test/support/.*|test/reference/.*|test/cases/.*|backends/mlu_emu/kernels/kernels\.inc",
    "test/threads": rf"{PUBLIC}|test/threads/.*|{SUPPORT}",
    "test/validation": rf"{PUBLIC}|test/validation/.*|{SUPPORT}",
}
KERNELS = "backends/cpu/kernels"
ANGLES = ("backends/mlu_emu/neuware", "bench/emulator", "examples", "test/neuware", "test/consumer", "test/fuzz",
          "api/python")  # what is built outside the tree, or as if it were


class Include(NamedTuple):
    file: Path  # below the root
    name: str
    quoted: bool
    target: Path  # below the root; Path() where it is no file of ours


def _sources(root: Path) -> Iterator[Path]:
    for top in sorted(root.iterdir()):
        if top.is_dir() and top.name not in SKIPPED and not top.name.startswith("."):
            yield from (path for path in sorted(top.rglob("*")) if path.suffix in SOURCES and path.is_file())


def _target(root: Path, file: Path, name: str, quoted: bool) -> Path:
    for folder in ([file.parent] if quoted else []) + [root / below for below in INCLUDE_ROOTS]:
        path = folder / name
        if path.is_file() and not (not quoted and path == file):
            return path.resolve().relative_to(root)
    return Path()


def _includes(root: Path) -> List[Include]:
    found = []
    for file in _sources(root):
        for quote, name in re.findall(r"^\s*#\s*include\s+([\"<])([^\">]+)[\">]", file.read_text(errors="replace"), re.M):
            quoted = quote == '"'
            target = _target(root, file, name, quoted)
            if quoted or target != Path():
                found.append(Include(file.relative_to(root), name, quoted, target))
    return found


def _rule(file: Path) -> str:
    parts = file.parts
    if file.match(f"{KERNELS}/*/*") or file.match(f"{KERNELS}/*/*/*"):  # a family's room knows no other one
        family = parts[3]
        rooms = _cpu("roi_mean", "sampling", "scatter", "spatial", "layout")
        return rf"{rooms}|{KERNELS}/{family}/.*|mluops/problem/{family}\.h|backends/cpu/(dispatch|operators)\.h"
    for depth in range(len(parts) - 1, 0, -1):
        folder = "/".join(parts[:depth])
        if folder in MAY_INCLUDE:
            return MAY_INCLUDE[folder]
    return ".*" if "consumer" in parts else ""


def wrong_includes(root: Path) -> Iterator[str]:
    for include in _includes(root):
        if not re.fullmatch(_rule(include.file), include.name):
            yield f'{include.file} may not include "{include.name}"'
        elif not include.quoted and not str(include.file).startswith(ANGLES):
            yield f'{include.file} includes <{include.name}>, a file of this repository: wanted "{include.name}"'


def include_circles(root: Path) -> Iterator[str]:
    edges: Dict[Path, Set[Path]] = {}
    for include in _includes(root):
        if include.target != Path():
            edges.setdefault(include.file, set()).add(include.target)
    done: Set[Path] = set()

    def visit(file: Path, way: List[Path]) -> Iterator[str]:
        if file in way:
            yield "circle of includes: " + " -> ".join(str(one) for one in way[way.index(file):] + [file])
        elif file not in done:
            for target in sorted(edges.get(file, ())):
                yield from visit(target, way + [file])
            done.add(file)

    for file in sorted(edges):
        yield from visit(file, [])


# ---- namespaces ---------------------------------------------------------------------------------

SHARED_NAMESPACES = {  # namespaces of several rooms, and the folders that may open them
    "mluops": ("api/c", "common", "test/reference_check", "test/registry"),
    "mluops::cpu": ("backends/cpu",),
    "mluops::cpu::HWY_NAMESPACE": ("backends/cpu",),
    "mluops::cpu::layout": ("backends/cpu/layout", "backends/cpu/kernels"),  # visit_images of their problems
    "mluops::emu": ("backends/mlu_emu",),
    "mluops::emu::bang": ("backends/mlu_emu/bang", "test/device"),
    "mluops::emu::plan": ("backends/mlu_emu/plan", "test/plan"),
    "mluops::emu::test": ("test/emu", "test/device"),
    "mluops::op": ("common", "test/common"),
    "mluops::test": ("test",),
    "mluops_bindings": ("api/python",),
    "std": ("api/python", "backends/mlu_emu/neuware"),  # hashes of types of ours
    "torch_mlu": ("api/python",),
}


def _room(file: Path) -> str:
    """The folder a file's names belong to: a family's room in backends/cpu/kernels, a folder with folders of its own elsewhere."""
    depth = 4 if str(file).startswith(KERNELS) else 3 if file.parts[0] in ("api", "backends") else 2
    if file.parts[0] in ("page", "bench"):
        depth = 2 if file.parts[0] == "bench" and file.parts[1] in ("emulator", "explain") else 1
    return "/".join(file.parent.parts[:depth])


def reopened_namespaces(root: Path) -> Iterator[str]:
    rooms: Dict[str, Dict[str, Path]] = {}
    for path in _sources(root):
        file = path.relative_to(root)
        for name in re.findall(r"^\s*(?:inline )?namespace ([\w:]+) \{", path.read_text(errors="replace"), re.M):
            rooms.setdefault(re.sub(r"(?<=\w\w)::HWY_NAMESPACE$", "", name) if name != "mluops::cpu::HWY_NAMESPACE" else name,
                             {}).setdefault(_room(file), file)
    for name, where in sorted(rooms.items()):
        shared = SHARED_NAMESPACES.get(name)
        if shared is not None:
            strangers = [file for room, file in where.items() if not f"{room}/".startswith(tuple(f"{one}/" for one in shared))]
        else:
            owner = next((room for room in where if room.split("/")[-1] in name.split("::")), list(where)[0])
            strangers = [file for room, file in where.items() if room != owner]
        for file in strangers:
            yield f"{file} opens namespace {name}, which belongs to {', '.join(shared or [owner])}"


# ---- Python -------------------------------------------------------------------------------------

PYTHON = "api/python"
# Rooms of the package; a module below the package itself is "base" unless it is named here.
MAY_IMPORT: Dict[str, Tuple[str, ...]] = {
    "base": (),
    "op": ("base",),  # numpy
    "torch": ("base", "op"),
    "mmcv": ("base", "torch"),
    "dropin": ("base", "torch"),
    "neuware": ("base",),
    "mlu": ("base", "torch", "neuware"),
    "neuware.command": ("base", "neuware", "mlu"),  # python -m mluops.neuware
    "onnxruntime": ("base",),
    "report": ("base", "op", "torch"),  # python -m mluops
}
MODULES = {"mluops.onnxruntime": "onnxruntime", "mluops._report": "report", "mluops.__main__": "report",
           "mluops.neuware.__main__": "neuware.command"}
# Modules that are nothing but another door under the name programs know it by.
ALIASES = {"mluops.dropin.module.mmcv": "mmcv", "mluops.dropin.module.torch_mlu": "mlu",
           "mluops.dropin.module.torch_mlu_utils": "mlu", "mluops.dropin.module.torch_mlu_migration": "mlu",
           "mluops.dropin.__main__": "mlu"}


def _python_room(module: str) -> str:
    if module in MODULES:
        return MODULES[module]
    parts = module.split(".")
    if parts[:3] == ["mluops", "neuware", "command"]:
        return "neuware.command"
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "base"


def _imports(module: str, is_package: bool, text: str) -> Iterator[Tuple[str, int]]:
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ((".".join([*base, alias.name]), node.lineno) for alias in node.names)


def wrong_imports(root: Path) -> Iterator[str]:
    for path in sorted((root / PYTHON / "mluops").rglob("*.py")):
        name = ".".join(path.relative_to(root / PYTHON).with_suffix("").parts)
        is_package = name.endswith(".__init__")
        module = name[:-len(".__init__")] if is_package else name
        own = _python_room(module)
        allowed = (own, *MAY_IMPORT[own], ALIASES.get(module, own))
        if module == "mluops":  # the package shows what op has
            allowed += ("op",)
        for imported, line in _imports(module, is_package, path.read_text()):
            if imported.split(".")[0] == "mluops" and imported != "mluops" and _python_room(imported) not in allowed:
                yield f"{path.relative_to(root)}:{line} may not import {imported}"


# ---- the program --------------------------------------------------------------------------------

CHECKS: Tuple[Callable[[Path], Iterator[str]], ...] = (wrong_includes, include_circles, reopened_namespaces, wrong_imports)


def violations(root: Path) -> List[str]:
    return [text for check in CHECKS for text in check(root)]


FAULTS: Tuple[Tuple[str, Dict[str, str], str], ...] = (
    ("a room of the library", {"backends/cpu/simd/a.h": '#include "backends/cpu/layout/b.h"\n'}, "backends/cpu/simd/a.h may not"),
    ("all problems in a kernel", {"backends/cpu/kernels/nms/a.h": '#include "mluops/problem.h"\n'}, "mluops/problem.h"),
    ("another family's problem", {"backends/cpu/kernels/nms/a.cpp": '#include "mluops/problem/knn.h"\n'}, "problem/knn.h"),
    ("another family's room", {"backends/cpu/kernels/nms/a.cpp": '#include "backends/cpu/kernels/knn/a.h"\n'}, "kernels/knn/a.h"),
    ("an operator's header above types", {"api/include/mluops/op/nms.h": '#include "mlu_op.h"\n'}, "mlu_op.h"),
    ("a room of tests", {"test/plan/a.cpp": '#include "backends/mlu_emu/device/core.h"\n'}, "test/plan/a.cpp may not"),
    ("a list", {"backends/cpu/runtime/a.inc": '#include "common/handle.h"\n'}, "a.inc may not"),
    ("a kernel file", {"examples/bang/a.mlu": '#include "common/handle.h"\n'}, "a.mlu may not"),
    ("angle brackets, of a forbidden file",
     {"common/handle.h": "", "backends/cpu/simd/a.h": "#include <common/handle.h>\n"}, "simd/a.h may not"),
    ("angle brackets", {"common/half.h": "", "backends/cpu/simd/a.h": "#include <common/half.h>\n"}, "wanted"),
    ("a circle", {"common/a.h": '#include "common/b.h"\n', "common/b.h": '#include "common/a.h"\n'},
     "common/a.h -> common/b.h -> common/a.h"),
    ("a namespace of another room", {"backends/cpu/spatial/a.h": "namespace mluops::cpu::spatial {\n",
                                     "backends/cpu/kernels/nms/a.h": "namespace mluops::cpu::spatial {\n"}, "opens namespace"),
    ("a shared namespace elsewhere", {"backends/mlu_emu/device/a.h": "namespace mluops::cpu {\n"}, "opens namespace"),
    ("a door that imports another", {"api/python/mluops/dropin/a.py": "from ..mmcv import op\n"}, "may not import mluops.mmcv"),
    ("an import inside a function", {"api/python/mluops/neuware/a.py": "def f():\n    from ..mlu import b\n"},
     "a.py:2 may not import mluops.mlu"),
    ("an import by full name", {"api/python/mluops/_a.py": "import mluops.torch\n"}, "may not import mluops.torch"),
)


def self_test() -> List[str]:
    """What was not found, or found in a tree without a fault."""
    failures = []
    for name, files, wanted in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for path, text in {"api/python/mluops/__init__.py": "", "common/ok.h": '#include "common/half.h"\n', **files}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            found = violations(root)
            if len(found) != 1 or wanted not in found[0]:
                failures.append(f"{name}: wanted one violation with {wanted!r}, got {found}")
    return failures


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        found = self_test()
    else:
        found = violations(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve())
    for text in found:
        print(f"layering: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
