"""Checks a wheel for macOS, which cannot be loaded on Linux: contents, and that its libraries are for arm64 and macOS 11,
export exactly what they should and need nothing but the system and each other. Needs lief.

Usage: check_wheel_macos.py WHEEL
"""

import re
import sys
import zipfile
from pathlib import Path
from typing import Set

import lief

INCLUDE = Path(__file__).resolve().parents[1] / "include"
SYSTEM = re.compile(r"/usr/lib/(libSystem\.B|libc\+\+(\.1|abi)?)\.dylib$")
# What zig exports of each library: operator new and delete of the C++ runtime inside, and the linker's own.
OF_ZIG = re.compile(r"__Z(nw|na|dl|da)|__mh_dylib_header$|___dso_handle$")
MAIN = "libmluops.1.dylib"


def declared() -> Set[str]:
    texts = (header.read_text() for header in INCLUDE.rglob("*.h"))
    return {name for text in texts for name in re.findall(r"\b(mluOp\w+)\(", text)}


def check_library(name: str, data: bytes, wanted: Set[str]) -> None:
    library = lief.MachO.parse(list(data)).at(0)
    assert library.header.cpu_type == lief.MachO.Header.CPU_TYPE.ARM64, f"{name}: not for arm64"
    assert list(library.build_version.minos)[:2] == [11, 0], f"{name}: for macOS {library.build_version.minos}"
    exports = {symbol.name[1:] for symbol in library.exported_symbols if not OF_ZIG.match(symbol.name)}
    assert exports == wanted, f"{name}: exports {sorted(exports ^ wanted)[:9]} differ from what it should"
    needs = [each.name for each in library.libraries if each.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    foreign = [each for each in needs if not SYSTEM.match(each) and each != f"@rpath/{MAIN}"]
    assert not foreign, f"{name} needs {foreign}, which macOS lacks"
    paths = [each.path for each in library.rpaths]
    assert all(each == "@loader_path" for each in paths), f"{name}: search path {paths}"
    assert name == MAIN or paths, f"{name}: {MAIN} beside it is not found"
    assert library.has_code_signature, f"{name}: not signed, which macOS on arm64 does not load"


def check(path: str) -> None:
    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    assert path.endswith("-py3-none-macosx_11_0_arm64.whl"), f"{path}: not a py3-none wheel for macosx_11_0_arm64"
    assert "mluops/py.typed" in names, "py.typed is missing"
    licences = {name.rsplit("/", 1)[-1] for name in names if "/licenses/" in name}
    assert {"LICENSE", "highway.txt", "libcxx.txt"} <= licences, f"licences: {sorted(licences)}"
    assert not any("/neuware/home/" in name for name in names), "the BANG C toolchain is for Linux"
    libraries = {name.rsplit("/", 1)[-1]: wheel.read(name) for name in names if re.search(r"/lib/[^/]+\.(dylib|so)$", name)}
    check_library(MAIN, libraries[MAIN], declared())
    check_library("libmluops_ort.so", libraries["libmluops_ort.so"], {"RegisterCustomOps"})
    print(f"{path}: {len(libraries)} libraries, complete")


if __name__ == "__main__":
    check(sys.argv[1])
