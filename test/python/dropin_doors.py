"""What tests of drop-in modules share: the doors while a test runs, packages without files, modules by name, inputs."""

import contextlib
import importlib
import types
import warnings

import torch

import mluops.dropin as dropin

EVERY_DOOR = tuple(name for name in dropin.names() if name not in ("mmcv", "torchvision", "torch_mlu"))


@contextlib.contextmanager
def opened(*names, **options):
    """The doors, installed and taken away again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install(*names, **options)
        yield
    dropin.uninstall()


def package(name):
    """A package of the program that has no modules but ours."""
    module = types.ModuleType(name)
    module.__path__ = []
    return module


def door(name):
    return importlib.import_module(name)


def random(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def near(found, wanted, tolerance=1e-11):
    assert found.shape == wanted.shape
    assert torch.allclose(found.double(), wanted.double(), atol=tolerance, rtol=tolerance), \
        (found.double() - wanted).abs().max()
