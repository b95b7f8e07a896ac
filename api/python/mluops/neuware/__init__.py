"""The BANG C toolchain with an emulated MLU: where it lies, and its compiler.

`python -m mluops.neuware` prints NEUWARE_HOME; `python -m mluops.neuware help` lists what else it does.
"""

import os
import sys
from pathlib import Path
from typing import Iterator, NoReturn

from .._library import lib
from .._trust import demand_trusted

__all__ = ["cncc", "home"]


def _places() -> Iterator[Path]:
    """A Python build's; the one beside the library in use, in a build tree or where both are installed; the
    environment's."""
    for folder in (Path(__file__).parents[1], *(Path(entry) / "mluops" for entry in sys.path)):
        yield folder / "neuware" / "home"
    if "/" in lib._name:
        for folder in list(Path(lib._name).resolve().parents)[1:3]:
            yield folder / "neuware"
    if os.environ.get("NEUWARE_HOME"):
        yield Path(os.environ["NEUWARE_HOME"])


def home() -> Path:
    """NEUWARE_HOME: the folder with bin/cncc, include, lib64 and cmake/modules."""
    for place in _places():
        if (place / "bin" / "cncc").is_file() and (place / "include" / "bang.h").is_file():
            if str(place) == os.environ.get("NEUWARE_HOME"):
                demand_trusted(place / "bin" / "cncc")
            return place
    if sys.platform != "linux":
        raise FileNotFoundError(f"the BANG C toolchain is for Linux alone: there is none for {sys.platform}")
    raise FileNotFoundError("the BANG C toolchain is not here: install the mluops wheel, build target neuware, or set "
                            "NEUWARE_HOME to the folder that `./run install PREFIX neuware` made")


def cncc() -> Path:
    """The compiler driver, for `subprocess`."""
    return home() / "bin" / "cncc"


def run_cncc() -> NoReturn:
    """The command `cncc`."""
    try:
        program = str(cncc())
    except FileNotFoundError as error:
        sys.exit(f"cncc: error: {error}")
    os.execv(program, [program, *sys.argv[1:]])
