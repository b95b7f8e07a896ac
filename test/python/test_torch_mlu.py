"""The tests of device mlu, mlu_device.py, in a process of their own: torch's autograd knows the devices there were at its
first backward pass."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NOTHING_COLLECTED = 5


def test_device():
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-c",
                           str(HERE.parents[1] / "pyproject.toml"), str(HERE / "mlu_device.py")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == NOTHING_COLLECTED:
        pytest.skip(done.stdout[-400:])
    assert done.returncode == 0, done.stdout
