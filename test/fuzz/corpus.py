#!/usr/bin/env python3
"""The seeds of a fuzz target, one file a target: corpus/<target>.hex has an input a line, in hexadecimal, sorted.

    corpus.py unpack TARGET FOLDER    writes each input to a file of FOLDER, as libFuzzer takes them
    corpus.py add TARGET PATH...      adds inputs: files, or all files of folders
"""

import hashlib
import sys
from pathlib import Path
from typing import List, Set

CORPUS = Path(__file__).resolve().parent / "corpus"


def read(target: str) -> Set[bytes]:
    packed = CORPUS / f"{target}.hex"
    return {bytes.fromhex(line) for line in packed.read_text().splitlines()} if packed.exists() else set()


def unpack(target: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for data in read(target):
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def add(target: str, paths: List[Path]) -> None:
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    inputs = read(target) | {file.read_bytes() for file in files}
    (CORPUS / f"{target}.hex").write_text("".join(f"{data.hex()}\n" for data in sorted(inputs)))


def main(arguments: List[str]) -> int:
    if len(arguments) == 3 and arguments[0] == "unpack":
        unpack(arguments[1], Path(arguments[2]))
    elif len(arguments) > 2 and arguments[0] == "add":
        add(arguments[1], [Path(path) for path in arguments[2:]])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
