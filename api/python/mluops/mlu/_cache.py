"""The cache of code compiled for a torch, where each entry is made once. _trust.py says who may write there."""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Sequence

from .. import _trust

try:
    import fcntl
except ImportError:  # not on Windows, where device mlu cannot be made
    fcntl = None  # type: ignore[assignment]

VARIABLE = "MLUOPS_CACHE_DIR"


def _folders() -> List[Path]:
    """The folders that are searched for entries; new ones go to the first."""
    if os.environ.get(VARIABLE):
        return [Path(os.environ[VARIABLE])]
    places = [Path(os.environ["XDG_CACHE_HOME"])] if os.environ.get("XDG_CACHE_HOME") else []
    with contextlib.suppress(RuntimeError):  # nobody's home
        places.append(Path.home() / ".cache")
    if not places:
        raise OSError(f"no folder for what is compiled once: set {VARIABLE}")
    return [place / "mluops" for place in places]


def key_of(parts: Iterable[object]) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time. The lock's file is never followed elsewhere, and nothing is written to it."""
    if fcntl is None:
        raise OSError("files cannot be locked here: what is compiled for a torch is made on Linux only")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise OSError(error.errno, f"cannot open the lock ({error.strerror})", str(path)) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Says what takes a while and how long it took."""
    begin = time.monotonic()
    print(f"mluops: {what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print(" failed", file=sys.stderr, flush=True)
        raise
    print(f" {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def _whole(folder: Path, files: Sequence[str]) -> bool:
    return all((folder / file).is_file() and (folder / file).stat().st_size > 0 for file in files)


def _demand_trusted(folder: Path, files: Sequence[str]) -> None:
    for file in files:
        _trust.demand_trusted(folder / file)


def _remove(path: Path) -> None:
    """A folder, a file or a link, which is not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def _made(parent: Path, name: str, make: Callable[[Path], None], what: str) -> None:
    """The entry appears whole or not at all: it is made beside its place, in a folder of the owner's alone."""
    for left in parent.glob(f"{name}.tmp*"):  # of a process that was killed; the lock is ours
        _remove(left)
    scratch = Path(tempfile.mkdtemp(prefix=f"{name}.tmp", dir=parent))
    try:
        with told(what):
            make(scratch)
        _remove(parent / name)
        scratch.rename(parent / name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def entry(name: str, make: Callable[[Path], None], what: str, files: Sequence[str]) -> Path:
    """The folder `name`, filled by make(folder) if it, or one of its `files`, does not exist yet. Raises UntrustedError
    where somebody else could have written what lies there."""
    folders = _folders()
    for folder in folders:
        if _whole(folder / name, files):
            _demand_trusted(folder / name, files)
            return folder / name
    parent = _trust.own_folder(folders[0], VARIABLE)
    with locked(parent / f"{name}.lock"):
        if not _whole(parent / name, files):
            _made(parent, name, make, what)
    _demand_trusted(parent / name, files)
    return parent / name


def has(name: str, files: Sequence[str]) -> bool:
    """Whether the folder `name` exists with its `files`."""
    return any(_whole(folder / name, files) for folder in _folders())


def is_first(name: str) -> bool:
    """Whether this was never asked about `name` before, by any process."""
    parent = _trust.own_folder(_folders()[0], VARIABLE)
    with locked(parent / f"{name}.lock"), contextlib.suppress(FileExistsError):
        os.close(os.open(parent / f"{name}.asked", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        return True
    return False


def forget(folder: Path) -> None:
    """An entry whose files turn out not to be usable is made anew by the next entry()."""
    with locked(folder.with_name(f"{folder.name}.lock")):
        _remove(folder)
