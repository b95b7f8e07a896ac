"""Whose code is loaded: the cache of device mlu, MLUOPS_LIBRARY, NEUWARE_HOME, build folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mluops
from mluops import _trust

ANOTHER = 4242
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """_cache.py alone: its package needs torch."""
    import importlib.util
    import types
    folder = tmp_path / "cache"
    monkeypatch.setenv("MLUOPS_CACHE_DIR", str(folder))
    package = types.ModuleType("mluops.mlu")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, "mluops.mlu", package)
    spec = importlib.util.spec_from_file_location("mluops.mlu._cache", Path(mluops.__file__).parent / "mlu" / "_cache.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.folder = folder
    return module


def make(folder):
    (folder / "lib.so").write_text("made")


def entry(cache, make=make):
    return cache.entry("entry", make, "making", ["lib.so"])


def no_make(folder):
    raise AssertionError("it is there already")


# ---- whose code ----


def test_files_and_folders_that_everybody_may_write(tmp_path):
    code = tmp_path / "code.so"
    code.write_text("x")
    assert _trust.why_not_trusted(code) == ""
    code.chmod(0o666)
    assert _trust.why_not_trusted(code) == "everybody may write to the file"
    code.chmod(0o644)
    tmp_path.chmod(0o777)
    assert _trust.why_not_trusted(code) == f"everybody may write to folder {tmp_path}"
    tmp_path.chmod(0o1777)
    assert _trust.why_not_trusted(code) == ""
    assert _trust.why_not_trusted(tmp_path) == "is no regular file"
    assert "No such file" in _trust.why_not_trusted(tmp_path / "absent")
    os.symlink("circle", tmp_path / "circle")
    assert "cannot be opened" in _trust.why_not_trusted(tmp_path / "circle")


@root
def test_files_and_folders_of_another_user(tmp_path):
    code = tmp_path / "inner" / "code.so"
    code.parent.mkdir()
    code.write_text("x")
    os.chown(code, ANOTHER, ANOTHER)
    assert _trust.why_not_trusted(code) == "the file belongs to another user"
    os.chown(code, 0, 0)
    os.chown(code.parent, ANOTHER, ANOTHER)
    assert _trust.why_not_trusted(code) == f"folder {code.parent} belongs to another user"
    link = tmp_path / "link.so"
    link.symlink_to(code)
    assert "belongs to another user" in _trust.why_not_trusted(link)


@pytest.mark.parametrize("variable", ["MLUOPS_LIBRARY", "NEUWARE_HOME"])
def test_variables_that_name_code(tmp_path, variable):
    for name in ("bin/cncc", "include/bang.h", "lib.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    tmp_path.chmod(0o777)
    value = {"MLUOPS_LIBRARY": tmp_path / "lib.so", "NEUWARE_HOME": tmp_path}[variable]
    program = ("import sys, mluops._library as l; l.path = '/usr/lib/none'; l.lib._name = 'none'\n"
               "from mluops import neuware\n"
               "neuware._places = lambda: iter([__import__('pathlib').Path(__import__('os').environ['NEUWARE_HOME'])])\n"
               "neuware.home()") if variable == "NEUWARE_HOME" else "import mluops"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, variable: str(value)},
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0
    assert "its code is not run: everybody may write to folder" in done.stderr


# ---- the cache ----


def test_an_entry_is_made_once_for_its_owner_alone(cache):
    made = entry(cache)
    assert (made / "lib.so").read_text() == "made"
    assert entry(cache, no_make) == made
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert made.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in cache.folder.iterdir()) == ["entry", "entry.lock"]


@pytest.mark.parametrize("harm", [lambda made: (made / "lib.so").unlink(), lambda made: (made / "lib.so").write_text(""),
                                  lambda made: ((made / "lib.so").unlink(), made.rmdir(), made.write_text("a file")),
                                  lambda made: ((made / "lib.so").unlink(), made.rmdir(), made.symlink_to("/nowhere"))])
def test_a_broken_entry_is_made_again(cache, harm):
    harm(entry(cache))
    assert (entry(cache) / "lib.so").read_text() == "made"
    assert (entry(cache, no_make) / "lib.so").read_text() == "made"


def test_an_entry_that_does_not_load_is_made_again(cache):
    cache.forget(entry(cache))
    assert (entry(cache) / "lib.so").read_text() == "made"


def test_a_failed_build_leaves_nothing(cache):
    def fails(folder):
        make(folder)
        raise RuntimeError("no compiler")

    with pytest.raises(RuntimeError, match="no compiler"):
        entry(cache, fails)
    assert [path.name for path in cache.folder.iterdir()] == ["entry.lock"]
    (cache.folder / "entry.tmpkilled").mkdir()
    assert entry(cache).name == "entry"
    assert sorted(path.name for path in cache.folder.iterdir()) == ["entry", "entry.lock"]


def test_a_folder_for_everybody_is_refused(cache):
    made = entry(cache)
    cache.folder.chmod(0o777)
    with pytest.raises(_trust.UntrustedError, match="everybody may write to"):
        entry(cache, no_make)
    (made / "lib.so").unlink()
    with pytest.raises(_trust.UntrustedError, match="everybody may write to it. MLUOPS_CACHE_DIR names another folder"):
        entry(cache, no_make)
    cache.folder.chmod(0o1777)  # as /tmp: everybody may put new files there
    with pytest.raises(_trust.UntrustedError, match="everybody may write to it"):
        entry(cache, no_make)


@root
def test_code_of_another_user_is_refused(cache):
    made = entry(cache)
    os.chown(made / "lib.so", ANOTHER, ANOTHER)
    with pytest.raises(_trust.UntrustedError, match="the file belongs to another user"):
        entry(cache, no_make)
    os.chown(made / "lib.so", 0, 0)
    os.chown(made, ANOTHER, ANOTHER)
    with pytest.raises(_trust.UntrustedError, match=f"folder {made} belongs to another user"):
        entry(cache, no_make)


def test_a_planted_lock_empties_nothing(cache, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    cache.folder.mkdir()
    (cache.folder / "entry.lock").symlink_to(precious)
    with pytest.raises(OSError, match="cannot open the lock"):
        entry(cache)
    assert precious.read_text() == "kept"
    (cache.folder / "entry.lock").unlink()
    os.link(precious, cache.folder / "entry.lock")
    entry(cache)
    assert precious.read_text() == "kept"


@pytest.mark.parametrize("kind", ["open", "other"])
def test_build_folders(tmp_path, kind):
    folder = tmp_path / "extensions"
    folder.mkdir()
    if kind == "open":
        folder.chmod(0o777)
    elif os.geteuid() == 0:
        os.chown(folder, ANOTHER, ANOTHER)
    else:
        pytest.skip("only root can give folders away")
    with pytest.raises(_trust.UntrustedError, match="compiled code is not kept there"):
        _trust.own_folder(folder / "name", "TORCH_EXTENSIONS_DIR")


def test_capture_writes_through_no_link(tmp_path):
    """The names of captured calls can be foreseen: process, number, operator."""
    import numpy as np
    precious = tmp_path / "precious"
    precious.write_text("kept")
    folder = tmp_path / "captured"
    folder.mkdir()
    planted = folder / f"{os.getpid()}-0-psamask_forward.mluops"
    planted.symlink_to(precious)
    with mluops.capture(folder):
        mluops.psa_mask(np.ones((1, 2, 3, 9), np.float32), "collect", (3, 3))
    assert precious.read_text() == "kept"
    assert not planted.is_symlink() and planted.read_bytes().startswith(b"mluops-capture 1\n")
