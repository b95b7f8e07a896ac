"""Where what is compiled for a torch is kept, and how it gets there once."""

import contextlib
import fcntl
import hashlib
import os
import sys
import time
from pathlib import Path
from typing import Callable, Iterable, Iterator, List

VARIABLE = "MLUOPS_CACHE_DIR"


def _folders() -> List[Path]:
    """Where entries are looked for; new ones go to the first."""
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
    """One process at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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


def entry(name: str, make: Callable[[Path], None], what: str) -> Path:
    """The folder `name`, filled by make(folder) if it is not there yet."""
    folders = _folders()
    for folder in folders:
        if (folder / name).is_dir():
            return folder / name
    made = folders[0] / name
    with locked(folders[0] / f"{name}.lock"):
        if not made.is_dir():
            scratch = made.with_name(f"{name}.{os.getpid()}")
            scratch.mkdir(parents=True, exist_ok=True)
            with told(what):
                make(scratch)
            scratch.rename(made)
    return made
