"""Decides which files and folders may be used: the rules of common/trust.cpp for the Python package (SECURITY.md).

Code is loaded only from a regular file that belongs to the process's user or to root and that not everybody may write
to, below folders for which the same holds. Files that are written at names somebody else can foresee are opened without
following symbolic links.
"""

import os
import stat
from pathlib import Path
from typing import Union

__all__ = ["UntrustedError", "demand_trusted", "own_folder", "why_not_trusted"]

_NO_OWNER = 65534  # of files whose owner has no number in this container


class UntrustedError(OSError):
    """A file or folder that somebody else could have prepared."""


def _owned_by_another(status: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and status.st_uid not in (0, os.geteuid())


def _why_not_folder(folder: Path) -> str:
    status = folder.stat()
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return f"everybody may write to folder {folder}"
    if _owned_by_another(status) and status.st_uid != _NO_OWNER:
        return f"folder {folder} belongs to another user"
    return ""


def why_not_trusted(path: Union[str, Path]) -> str:
    """Empty when the code in a file may run, else the reason. The path is followed to where it leads first."""
    if os.name != "posix":  # access control lists there say who may write
        return ""
    try:
        real = Path(path).resolve(strict=True)
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is no regular file"
        if status.st_mode & stat.S_IWOTH:
            return "everybody may write to the file"
        if _owned_by_another(status):
            return "the file belongs to another user"
        return next(filter(None, map(_why_not_folder, real.parents)), "")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        return f"cannot be opened: {getattr(error, 'strerror', None) or error}"


def demand_trusted(path: Union[str, Path]) -> None:
    """Raises UntrustedError where why_not_trusted has a reason."""
    why = why_not_trusted(path)
    if why:
        raise UntrustedError(f"{path}: its code is not run: {why}")


def own_folder(folder: Path, variable: str) -> Path:
    """The folder, made for its owner alone if it does not exist. Raises UntrustedError where others may put files into
    it or replace it; `variable` is what names another one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return folder
    real = folder.resolve(strict=True)
    status = real.stat()
    why = ""
    if _owned_by_another(status):
        why = "it belongs to another user"
    elif status.st_mode & stat.S_IWOTH:
        why = "everybody may write to it"
    why = why or next(filter(None, map(_why_not_folder, real.parents)), "")
    if why:
        raise UntrustedError(f"{folder}: compiled code is not kept there: {why}. {variable} names another folder")
    return folder
