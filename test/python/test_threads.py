"""Threads: torch's count is honoured, one OpenMP runtime serves both, forked workers work."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch.op import carafe as carafe_operator  # noqa: E402

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


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="no /proc")
@pytest.mark.parametrize("first", ["torch", "mluops"])
def test_our_calls_run_on_torch_s_threads(first):
    """A second OpenMP runtime would bring a second pool of spinning threads."""
    code = f"""
        import os, {first}, torch
        torch.set_num_threads(3)
        torch.rand(512, 4096).mul_(2).add_(1)
        before = len(os.listdir("/proc/self/task"))
        import mluops.torch as mt
        mt.carafe(torch.rand(1, 64, 32, 32), torch.rand(1, 25, 64, 64), 5, 1, 2)
        with open("/proc/self/maps") as maps:
            names = {{line.split()[-1].rsplit("/", 1)[-1] for line in maps if "libgomp" in line}}
        print(len(os.listdir("/proc/self/task")) - before, any(name.startswith("libgomp-") for name in names))
    """
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    more, renamed = result.stdout.split()
    if renamed == "True" and first == "mluops":
        pytest.skip("this torch's libgomp has a name of its own: torch must come first (docs/python.md)")
    assert more == "0"


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


def autograd_works_here():
    """Some builds of torch refuse every backward in a forked process once the parent ran one."""
    try:
        torch.ones(2, requires_grad=True).sum().backward()
    except RuntimeError as error:
        assert "fork" in str(error)
        return False
    return True


class Upsampled(torch.utils.data.Dataset):

    def __len__(self):
        return 8

    def __getitem__(self, index):
        x = torch.full((1, 4, 8, 8), float(index), requires_grad=True)
        y = mt.carafe(x, torch.full((1, 9, 16, 16), 1 / 9), 3, 1, 2)
        if autograd_works_here():
            y.sum().backward()
            assert torch.allclose(x.grad[..., 2:-2, 2:-2], torch.tensor(4.0))
        return y.detach()[0]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_data_loader_workers(context):
    """Workers forked after the parent's pool has started must not wait for it."""
    upsample()
    torch.rand(64, 4096).add_(1)
    loader = torch.utils.data.DataLoader(Upsampled(), batch_size=2, num_workers=2, multiprocessing_context=context,
                                         timeout=120)
    images = torch.cat(list(loader))
    inner = images[:, 0, 8, 8]
    assert torch.allclose(inner, torch.arange(8.0), atol=1e-5)


def _nchw_child(queue, x, masks, grad, cells):
    torch.set_num_threads(2)  # torch itself makes it 1 in a DataLoader's worker
    y = mt.carafe(x, masks, 5, 1, 2)
    pooled = mt.deform_roi_pool(x, torch.tensor([[0, 4.0, 4, 20, 20]]), None, 4)
    aligned = mt.border_align(x, torch.tensor([[[2.0, 2, 9, 9]]]), 3)
    attention = mt.psa_mask(cells, "collect", 3)
    grads = carafe_operator.gradients(grad, x, masks, 5, 1, 2)
    queue.put([float(pooled[0, 0, 3, 3]), float(aligned[0, 0, 0, 3]), float(y[0, 9, 60, 30]),
               float(attention.numpy().sum()), float(grads[0][0, 9, 30, 15]), float(grads[1][0, 12, 60, 30])])


def test_fork_with_nchw_and_torch_threads():
    """The parent's torch has a pool of threads and ran NCHW calls; a child that asks for threads gets its answers. No
    call makes torch copy a tensor, which in a forked process may wait for the parent's threads for ever."""
    torch.rand(256, 4096).mul_(2).add_(1)
    given = (torch.ones(1, 64, 64, 32), torch.full((1, 25, 128, 64), 0.5), torch.ones(1, 64, 128, 64),
             torch.ones(1, 9, 40, 40))  # made here: filling them would use the pool as well
    mt.carafe(*given[:2], 5, 1, 2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_nchw_child, args=(queue, *given))
    child.start()
    try:
        assert queue.get(timeout=60) == [1, 1, 12.5, (40 * 3 - 2) ** 2, 50, 64]
    finally:
        child.join(10)
        if child.is_alive():
            child.kill()


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


def test_release_memory_of_all_threads():
    def gradient():
        x = torch.ones(1, 16, 200, 200, requires_grad=True)
        return torch.autograd.grad(mt.roi_crop(x, grid).sum(), x)[0]

    grid = torch.rand(1, 100, 100, 2) * 2 - 1
    with ThreadPoolExecutor(1) as pool:
        want = pool.submit(gradient).result()
        held = pool.submit(mluops.query, "scratch_bytes", "cpu", "torch")
        assert int(held.result()) > 1 << 20
        mluops.release_memory()
        assert int(pool.submit(mluops.query, "scratch_bytes", "cpu", "torch").result()) == 0
        assert torch.equal(pool.submit(gradient).result(), want)
