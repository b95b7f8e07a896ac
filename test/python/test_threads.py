"""Threads: torch's count is honoured, one OpenMP runtime serves both, forked workers work."""

import multiprocessing
import os
import threading

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402

X = torch.rand(1, 16, 16, 16)
MASKS = torch.rand(1, 25, 32, 32)


def upsample():
    return mt.carafe(X, MASKS, 5, 1, 2)


def test_torch_s_thread_count_is_used():
    from mluops._context import torch_door
    before = torch.get_num_threads()
    try:
        for count in (1, 3, 2):
            torch.set_num_threads(count)
            upsample()
            assert torch_door.context().threads_in_force() == count
    finally:
        torch.set_num_threads(before)


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no /proc")
def test_one_openmp_runtime():
    """A second libgomp would bring a second pool of spinning threads."""
    upsample()
    torch.rand(64, 4096).add_(1)
    with open("/proc/self/maps") as maps:
        runtimes = {line.split()[-1] for line in maps if "gomp" in line.rsplit("/", 1)[-1]}
    assert len(runtimes) == 1, runtimes


def test_many_python_threads():
    expected, failures = upsample(), []

    def work():
        for _ in range(20):
            if not torch.equal(upsample(), expected):
                failures.append("differs")

    workers = [threading.Thread(target=work) for _ in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert not failures


class Upsampled(torch.utils.data.Dataset):

    def __len__(self):
        return 8

    def __getitem__(self, index):
        x = torch.full((1, 4, 8, 8), float(index), requires_grad=True)
        y = mt.carafe(x, torch.full((1, 9, 16, 16), 1 / 9), 3, 1, 2)
        y.sum().backward()
        return y.detach()[0], x.grad[0]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_data_loader_workers(context):
    """Workers forked after the parent's pool has started must not wait for it."""
    upsample()
    torch.rand(64, 4096).add_(1)
    loader = torch.utils.data.DataLoader(Upsampled(), batch_size=2, num_workers=2, multiprocessing_context=context,
                                         timeout=120)
    images = torch.cat([batch[0] for batch in loader])
    inner = images[:, 0, 8, 8]
    assert torch.allclose(inner, torch.arange(8.0), atol=1e-5)


def _child(queue):
    import numpy as np
    x, m = np.ones((1, 64, 64, 32), np.float32), np.ones((1, 128, 128, 25), np.float32)
    mluops.set_num_threads(2)
    queue.put(float(mluops.carafe(x, m, 5, 1, 2)[0, 60, 60, 0]))


def test_plain_fork_with_many_threads():
    """Even a bare fork that asks for several threads gets its answer."""
    upsample()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == 25
    finally:
        child.join(10)
        if child.is_alive():
            child.kill()
