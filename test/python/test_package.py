"""The package itself: which library it loads, what it says when there is none."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mluops

OLDEST = (3, 9)  # requires-python
SOURCES = sorted(Path(mluops.__file__).parent.rglob("*.py"))


def python(code, **variables):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1]), **variables})


def test_missing_library_is_explained():
    result = python("import mluops", MLUOPS_LIBRARY="/nowhere/libmluops.so.1")
    assert result.returncode != 0 and "ImportError" in result.stderr
    assert "/nowhere/libmluops.so.1" in result.stderr and "MLUOPS_LIBRARY" in result.stderr


def test_backend_variable():
    result = python("import mluops; print(mluops.backend())", MLUOP_BACKEND="mlu_emu")
    assert result.stdout.strip() == "mlu_emu", result.stderr
    result = python("import mluops; mluops.num_threads()", MLUOP_BACKEND="abacus")
    assert "NotInitializedError" in result.stderr and "abacus" in result.stderr


def test_numpy_front_end_does_not_need_torch():
    result = python("import sys; sys.modules['torch'] = None; import mluops; print(len(mluops.backends()) >= 2)")
    assert result.stdout.strip() == "True", result.stderr


def test_public_names_are_documented():
    for name in mluops.__all__:
        assert getattr(mluops, name).__doc__, name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_syntax_of_the_oldest_python(path):
    ast.parse(path.read_text(), path.name, feature_version=OLDEST)


def test_standard_library_of_the_oldest_python():
    pytest.importorskip("vermin", reason="vermin is not installed")
    wanted = ".".join(map(str, OLDEST))
    result = subprocess.run([sys.executable, "-c", "from vermin import main; main()", f"-t={wanted}-", "--no-tips", "--violations",
                             "--eval-annotations", *map(str, SOURCES)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
