"""write what mmcv's setup.py accepts as the source tree of mlu-ops 0.8.1: mlu-ops-tree DIR

DIR is new or empty. It gets mlu_op.h, no kernels, and an archive in whose place the linker takes libmluops. The tree's
path is printed, for MMCV_MLU_OPS_PATH.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Iterator, List

from ..._library import lib

_PACKAGE = Path(__file__).parents[2]
_OF_0_8 = _PACKAGE / "neuware" / "mlu_ops"


def _places() -> Iterator[Path]:
    """Folders of headers: the wheel's, also beside an editable install; the library's installation; a checkout's."""
    for folder in (_PACKAGE, *(Path(entry) / "mluops" for entry in sys.path)):
        yield folder / "include"
    if "/" in lib._name:
        yield Path(lib._name).resolve().parents[1] / "include" / "mluops-host"
    yield _PACKAGE.parents[1] / "include"


def _headers() -> Path:
    for place in _places():
        if (place / "mlu_op.h").is_file() and (place / "mluops" / "op").is_dir():
            return place
    raise FileNotFoundError("the headers of libmluops are not here: install the mluops wheel, or set MLUOPS_LIBRARY to "
                            "the libmluops.so.1 that `./run install PREFIX` made")


def _linker_script() -> str:
    """What the linker reads where it was to read an archive."""
    library = f'"{Path(lib._name).resolve()}"' if "/" in lib._name else f"-l:{lib._name}"
    return f"/* GNU ld script: the functions are in the shared library. */\nINPUT({library})\n"


def write(folder: Path) -> None:
    """Writes the tree; raises for a folder that is not empty, or has no place."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder}: a new or an empty folder was wanted")
    headers, root = _headers(), folder / "bangc-ops"
    shutil.copytree(headers / "mluops" / "op", root / "mluops" / "op")
    for name in ("mlu_op_types.h", "mlu_op_ext.h"):
        shutil.copy(headers / name, root)
    shutil.copy(headers / "mlu_op.h", root / "mluops")
    for file in ("mlu_op.h", "mluops/without_version.h"):
        shutil.copy(_OF_0_8 / file, root / file)
    (root / "core").mkdir()
    archive = root / "kernels" / "kernel_wrapper" / "lib" / "libextops.a"
    archive.parent.mkdir(parents=True)
    archive.write_text(_linker_script())


def main(arguments: List[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m mluops.neuware mlu-ops-tree DIR", file=sys.stderr)
        return 2
    folder = Path(os.path.abspath(arguments[0]))
    try:
        write(folder)
    except OSError as error:
        print(f"mlu-ops-tree: {error}", file=sys.stderr)
        return 1
    print(folder)
    return 0
