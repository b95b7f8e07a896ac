"""The tests of device mlu, mlu_*.py, in processes of their own: torch's autograd knows the devices there were at its
first backward pass. And that nothing is left behind where it cannot be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

HERE = Path(__file__).resolve().parent
NOTHING_COLLECTED = 5


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """One cache for all, so that the device is compiled once."""
    cache = os.environ.get("MLUOPS_CACHE_DIR") or str(tmp_path_factory.mktemp("cache"))
    return {**os.environ, "MLUOPS_CACHE_DIR": cache}


@pytest.mark.parametrize("part", ["device", "extensions", "first_interface",
                                  pytest.param("judge", marks=pytest.mark.long)])
def test_device(part, environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-c",
                           str(HERE.parents[1] / "pyproject.toml"), str(HERE / f"mlu_{part}.py")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if done.returncode == NOTHING_COLLECTED:
        pytest.skip(done.stdout[-400:])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("lacking", [
    pytest.param("torch.__version__ = '1.13.0'", id="torch"),
    pytest.param("import os; os.environ.update(PATH='', CXX='', MLUOPS_CACHE_DIR=folder)", id="compiler")])
def test_where_it_cannot_be_had(lacking, tmp_path):
    program = f"""
import sys
import torch
import mluops.dropin as dropin
folder = {str(tmp_path)!r}
{lacking}
try:
    dropin.install("torch_mlu")
except (ImportError, RuntimeError) as error:
    print(error)
assert not dropin.installed()
assert not any(type(finder).__module__.startswith("mluops") for finder in sys.meta_path)
dropin.install()  # all that can be had
import iou3d_nms_cuda
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("device mlu needs"), done.stdout
