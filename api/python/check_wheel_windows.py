"""Checks a wheel for Windows, which cannot be loaded on Linux: contents, and that its libraries export exactly what they
should and need nothing but the system.

Usage: check_wheel_windows.py WHEEL
"""

import re
import struct
import sys
import zipfile
from pathlib import Path
from typing import Iterator, List, Set

INCLUDE = Path(__file__).resolve().parents[1] / "include"


def declared() -> Set[str]:
    texts = (header.read_text() for header in INCLUDE.rglob("*.h"))
    return {name for text in texts for name in re.findall(r"\b(mluOp\w+)\(", text)}


class Dll:
    """The tables of a PE32+ file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        head = struct.unpack_from("<I", data, 0x3C)[0]
        assert data[head:head + 4] == b"PE\0\0" and self._number("<H", head + 4) == 0x8664, "not for x86-64"
        sections, optional = self._number("<H", head + 6), self._number("<H", head + 20)
        self._directory = head + 24 + 112
        table = head + 24 + optional
        self._sections = [struct.unpack_from("<8xIIII", data, table + 40 * i) for i in range(sections)]

    def _number(self, form: str, at: int) -> int:
        return struct.unpack_from(form, self.data, at)[0]

    def _place(self, address: int) -> int:
        for size, start, raw_size, raw in self._sections:
            if start <= address < start + max(size, raw_size):
                return raw + address - start
        raise ValueError(f"no section has address {address:#x}")

    def _text(self, address: int) -> str:
        at = self._place(address)
        return self.data[at:self.data.index(b"\0", at)].decode()

    def exports(self) -> Iterator[str]:
        table = self._place(self._number("<I", self._directory))
        count, names = self._number("<I", table + 24), self._place(self._number("<I", table + 32))
        return (self._text(self._number("<I", names + 4 * i)) for i in range(count))

    def needs(self) -> Iterator[str]:
        at = self._place(self._number("<I", self._directory + 8))
        while self._number("<I", at + 12):
            yield self._text(self._number("<I", at + 12))
            at += 20


def check_dll(name: str, data: bytes, wanted: Set[str], own: List[str]) -> None:
    dll = Dll(data)
    exports = set(dll.exports())
    assert exports == wanted, f"{name}: exports {sorted(exports ^ wanted)[:9]} differ from what the headers declare"
    foreign = [n for n in dll.needs() if not re.match(r"(api-ms-win-crt-.*|kernel32|advapi32|msvcrt)\.dll$", n.lower())]
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
