"""mluops.dropin.install(old_names=True): names that older versions had. apex, where a program cannot do without it."""

import collections
import importlib
import importlib.util
import inspect
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
import mluops.dropin as dropin  # noqa: E402


@pytest.fixture
def old():
    with opened("apex", old_names=True):
        yield


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Imports a text as a module of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def run(source):
        made.append(f"an_old_program_{len(made)}")
        (tmp_path / f"{made[-1]}.py").write_text(source)
        importlib.invalidate_caches()
        return importlib.import_module(made[-1])

    yield run
    for name in made:
        sys.modules.pop(name, None)


OWNERS = collections, inspect, np, torch, torch.hub


def names():
    return [set(vars(owner)) for owner in OWNERS]


def test_names_come_and_go():
    before, has_six = names(), "torch._six" in sys.modules
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("apex", old_names=True)
        dropin.install("apex", old_names=True)
    assert all(now >= then for now, then in zip(names(), before)) and names() != before
    dropin.uninstall()
    assert names() == before and ("torch._six" in sys.modules) == has_six


def test_names_of_numpy_and_python(old):
    assert np.zeros(2, dtype=np.float).dtype == np.float64 and np.zeros(2, np.int).dtype == np.int64
    assert np.zeros(2, np.bool).dtype == bool and np.product([2, 3]) == 6 and np.Inf == np.inf
    assert np.in1d([[1, 2], [3, 4]], [2, 3]).tolist() == [False, True, True, False]
    assert isinstance([], collections.Sequence) and isinstance({}, collections.Mapping)
    assert inspect.getargspec(lambda a, b=1, *c: 0) == (["a", "b"], "c", None, (1,))


def test_names_of_torch(old):
    from torch._six import container_abcs, int_classes, string_classes
    from torch.hub import _download_url_to_file
    assert torch._six.PY3 and isinstance("a", string_classes) and isinstance(1, int_classes)
    assert container_abcs.Mapping is collections.abc.Mapping and _download_url_to_file is torch.hub.download_url_to_file


def test_what_there_is_stays():
    mean = np.mean
    dropin.install("apex", old_names=True)
    try:
        assert np.mean is mean and collections.OrderedDict is importlib.import_module("collections").OrderedDict
    finally:
        dropin.uninstall()


def test_pkg_resources(old):
    resources = pytest.importorskip("pkg_resources")
    assert resources.get_distribution("pytest").version == pytest.__version__
    assert resources.parse_version("1.10") > resources.parse_version("1.9")
    with pytest.raises(resources.DistributionNotFound):
        resources.get_distribution("no_such_distribution")


def test_names_of_pillow(old):
    image = pytest.importorskip("PIL.Image")
    assert image.new("L", (4, 4)).resize((2, 2), image.ANTIALIAS).size == (2, 2)


TRAINING = """
import torch
from apex import amp
from apex.parallel import DistributedDataParallel, convert_syncbn_model

def train():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loss = amp.float_function(torch.square)(model(torch.ones(2, 3))).mean()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    assert list(amp.master_params(optimizer)) == list(model.parameters())
    amp.load_state_dict(amp.state_dict())
    before = loss.item()
    optimizer.step()
    return before, model(torch.ones(2, 3)).square().mean().item()
"""


@pytest.mark.skipif(importlib.util.find_spec("apex") is not None, reason="apex is installed")
def test_apex_where_a_program_cannot_do_without_it(old, program):
    module = program(TRAINING)
    before, after = module.train()
    assert after < before
    with pytest.raises(NotImplementedError, match="no operator for it; of apex it has .*apex.amp.*: no DistributedData"):
        module.DistributedDataParallel(torch.nn.Linear(1, 1))


@pytest.mark.skipif(importlib.util.find_spec("apex") is not None, reason="apex is installed")
def test_apex_is_absent_where_a_program_does_without_it(old, program):
    assert importlib.util.find_spec("apex") is None
    source = "try:\n    from apex import amp\nexcept ImportError:\n    {}"
    assert program(source.format("amp = None")).amp is None
    assert program(source.format("raise RuntimeError('use apex')")).amp.initialize
