"""Programs written for CUDA extensions on the CPU, without a change but one line.

    import mluops.dropin
    mluops.dropin.install()
    import MultiScaleDeformableAttention    # Deformable-DETR's extension, if it is not installed: mluops

or no line at all: `python -m mluops.dropin SCRIPT ARGS...`. `python -m mluops.dropin` prints the modules mluops can
stand for and who has them here. One file in module/ holds each; docs/dropin.md tells which line programs need.
"""

import importlib.util
import sys
import warnings
from types import ModuleType
from typing import Dict, List

from .. import _listing
from .._errors import bad_param
from . import _is_cuda
from . import module as _module
from ._building import Building
from ._finder import Replacing, StandIns

__all__ = ["install", "installed", "names", "uninstall"]

_stand_ins = StandIns()
_replacing = Replacing(_stand_ins)
_building = Building(_stand_ins)
_installed: Dict[str, ModuleType] = {}


def _doors() -> Dict[str, ModuleType]:
    return {door.__name__.rpartition(".")[2]: door for door in _listing.modules(_module)}


def names() -> List[str]:
    """The names that install() accepts."""
    return sorted({door.PACKAGE for door in _doors().values()})


def _chosen(wanted: tuple) -> Dict[str, ModuleType]:
    doors = _doors()
    for name in wanted:
        if name not in names():
            raise bad_param("names", f"some of {', '.join(names())}", name)
    if wanted:
        return {file: door for file, door in doors.items() if door.PACKAGE in wanted}
    return {file: door for file, door in doors.items() if not getattr(door, "ON_REQUEST", False)}


def installed() -> bool:
    """Whether install() is in force."""
    return bool(_installed)


def install(*names: str, cuda_calls: bool = False, old_names: bool = False) -> None:
    """Makes modules importable that programs expect of CUDA extensions and that are not installed. Calls add up.

    Args:
        names: of packages (names() has them); none: all but torchvision, whose functions run on the CPU without us, and
            torch_mlu, which packages that know many devices would move to by themselves.
        cuda_calls: also keep on the CPU what is sent to CUDA: .cuda(), .to("cuda"), device="cuda", torch.cuda.FloatTensor
            and its kin; one warning says so. torch.cuda.is_available() stays as it is.
        old_names: also bring back names that Python, numpy, torch, torchvision and Pillow once had: collections.Sequence,
            np.float, torch._six, torchvision.transforms.functional_tensor, Image.ANTIALIAS and others; and calls of
            autograd functions whose forward is a method.

    Raises:
        ImportError, RuntimeError: what stands for a package named cannot be had here (torch_mlu: torch before 2.7; no
            C++ compiler); nothing has changed.
    """
    chosen = _chosen(names)
    for file, door in chosen.items():
        if names and file not in _installed:
            getattr(door, "prepare", bool)()
    _stand_for(chosen, asked=bool(names))
    from . import _cuda_calls
    _cuda_calls.tell()
    if cuda_calls:
        _cuda_calls.install()
    if old_names:
        from . import _old_names
        _old_names.install()


def _install_into(door: ModuleType, asked: bool) -> None:
    """A package that does not even import here stops only those who asked for it."""
    try:
        door.install()
    except Exception as error:
        if asked:
            raise
        warnings.warn(f"mluops.dropin: {door.PACKAGE} is installed, but left as it is, since it fails: "
                      f"{type(error).__name__}: {error}", stacklevel=4)


def _stand_for(doors: Dict[str, ModuleType], asked: bool = True) -> None:
    chosen = {file: door for file, door in doors.items() if file not in _installed}
    if _stand_ins not in sys.meta_path:
        sys.meta_path.insert(0, _replacing)
        sys.meta_path.append(_stand_ins)
        _replacing.want(_building)
        _is_cuda.install()
    for file, door in chosen.items():
        _installed[file] = door
        _stand_ins.doors.append(door)
        _replacing.want(door)
        if hasattr(door, "install") and importlib.util.find_spec(door.PACKAGE) is not None:
            _install_into(door, asked)


def uninstall() -> None:
    """Undoes install(): the modules made are no longer importable; programs that hold them keep them."""
    from . import _cuda_calls, _old_names
    from .module import torch_mlu_migration
    torch_mlu_migration.undo()
    _cuda_calls.uninstall()
    _old_names.uninstall()
    _is_cuda.uninstall()
    _replacing.undo()
    for door in _installed.values():
        if hasattr(door, "uninstall"):
            door.uninstall()
    _installed.clear()
    _stand_ins.doors.clear()
    _stand_ins.forget()
    for finder in (_stand_ins, _replacing):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
