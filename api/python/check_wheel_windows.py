"""Checks a wheel for Windows, which cannot be loaded on Linux: contents, and that its libraries export exactly what they
should and need nothing but the system. Needs pefile.

Usage: check_wheel_windows.py WHEEL
"""

import re
import sys
import zipfile
from pathlib import Path
from typing import List, Set

import pefile

INCLUDE = Path(__file__).resolve().parents[1] / "include"
SYSTEM = re.compile(r"(api-ms-win-crt-.*|kernel32|advapi32|msvcrt)\.dll$")


def declared() -> Set[str]:
    texts = (header.read_text() for header in INCLUDE.rglob("*.h"))
    return {name for text in texts for name in re.findall(r"\b(mluOp\w+)\(", text)}


def check_dll(name: str, data: bytes, wanted: Set[str], own: List[str]) -> None:
    dll = pefile.PE(data=data)
    assert dll.FILE_HEADER.Machine == pefile.MACHINE_TYPE["IMAGE_FILE_MACHINE_AMD64"], f"{name}: not for x86-64"
    exports = {symbol.name.decode() for symbol in dll.DIRECTORY_ENTRY_EXPORT.symbols}
    assert exports == wanted, f"{name}: exports {sorted(exports ^ wanted)[:9]} differ from what the headers declare"
    needs = [entry.dll.decode() for entry in dll.DIRECTORY_ENTRY_IMPORT]
    foreign = [n for n in needs if not SYSTEM.match(n.lower())]
    assert set(foreign) <= set(own), f"{name} needs {foreign}, which Windows lacks"


def check(path: str) -> None:
    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    assert path.endswith("-py3-none-win_amd64.whl"), f"{path}: not a py3-none wheel for win_amd64"
    assert "mluops/py.typed" in names, "py.typed is missing"
    assert any(name.endswith("/licenses/LICENSE") for name in names), "the licence is missing"
    assert not any("/neuware/home/" in name for name in names), "the BANG C toolchain is for Linux"
    libraries = {name.rsplit("/", 1)[-1]: wheel.read(name) for name in names if re.search(r"/lib/[^/]+\.dll$", name)}
    own = ["libmluops-1.dll"]
    check_dll(own[0], libraries[own[0]], declared(), own)
    check_dll("libmluops_ort.dll", libraries["libmluops_ort.dll"], {"RegisterCustomOps"}, own)
    print(f"{path}: {len(libraries)} libraries, complete")


if __name__ == "__main__":
    check(sys.argv[1])
