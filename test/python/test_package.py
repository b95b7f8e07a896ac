"""The package itself: which library it loads, what it says when there is none."""

import os
import subprocess
import sys
from pathlib import Path

import mluops


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
