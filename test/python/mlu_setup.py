"""What the tests of device mlu share: torch, the device, or the reason why they are skipped."""

import os
import shutil

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 7):
    pytest.skip("device mlu needs torch 2.7 or later", allow_module_level=True)
if not any(map(shutil.which, ("g++", "clang++"))):
    pytest.skip("device mlu needs a C++ compiler", allow_module_level=True)
from mluops.neuware import home  # noqa: E402

try:
    home()
except FileNotFoundError as error:
    pytest.skip(str(error), allow_module_level=True)

import mluops.dropin  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    """The device, compiled once into a cache of this run, unless the environment names one."""
    if not os.environ.get("MLUOPS_CACHE_DIR"):
        os.environ["MLUOPS_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["TORCH_EXTENSIONS_DIR"] = str(tmp_path_factory.mktemp("extensions"))
    mluops.dropin.install("torch_mlu")
    yield
    del os.environ["TORCH_EXTENSIONS_DIR"]
    mluops.dropin.uninstall()
