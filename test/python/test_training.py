"""Functions of mlu_op.h for training that the package has no function for, against PyTorch in float64: AdamW, and batch
normalization over several processes, whose statistics are combined by their counts."""

from ctypes import byref, c_bool, c_float, c_int, c_size_t, c_void_p, sizeof

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
from mluops._context import NHWC, numpy_door  # noqa: E402
from mluops._arrays import _CODES  # noqa: E402
from mluops._functions import adam_w, sync_batch_norm  # noqa: E402
from mluops._library import check, lib  # noqa: E402

WEIGHT_DECAY, NEED_REMOVE_NAN = 0, 3  # mluOpAdamWDescAttribute_t


def tensor(array, layout=None):
    return None if array is None else (_CODES[array.dtype], array.shape, array.ctypes.data, layout)


@pytest.fixture
def descriptor():
    made = c_void_p()
    check(lib.mluOpCreateAdamWDescriptor(byref(made)))
    lib.mluOpSetAdamWDescAttr.argtypes = [c_void_p, c_int, c_void_p, c_size_t]
    lib.mluOpDestroyAdamWDescriptor.argtypes = [c_void_p]

    def set_attribute(attribute, value):
        check(lib.mluOpSetAdamWDescAttr(made, attribute, byref(value), sizeof(value)))

    set_attribute(NEED_REMOVE_NAN, c_bool(True))  # gradients in float, the step in a tensor
    yield made.value, set_attribute
    check(lib.mluOpDestroyAdamWDescriptor(made))


@pytest.mark.parametrize("decay", [0.0, 0.05])
def test_adam_w_takes_the_steps_of_torch(descriptor, decay):
    address, set_attribute = descriptor
    set_attribute(WEIGHT_DECAY, c_float(decay))
    rng = np.random.default_rng(3)
    lr, betas, eps, n = 1e-2, (0.9, 0.999), 1e-8, 1000
    param = rng.standard_normal(n).astype(np.float32)
    theirs = torch.tensor(param, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([theirs], lr, betas, eps, weight_decay=decay)
    momentum, velocity, step = np.zeros_like(param), np.zeros_like(param), np.ones(1, np.float32)
    for number in range(1, 11):
        grad = rng.standard_normal(n).astype(np.float32)
        adam_w.ADAM_W(numpy_door.context(), address, tensor(param), tensor(step), tensor(momentum), tensor(velocity),
                      tensor(grad), lr, *betas, 1.0, 1.0, eps)
        theirs.grad = torch.tensor(grad, dtype=torch.float64)
        optimizer.step()
        assert step[0] == number + 1
    np.testing.assert_allclose(param, theirs.detach().numpy(), rtol=0, atol=2e-6)


def images(rng, dtype, channels):
    """Images of three processes, of different sizes, with a mean far from 0."""
    return [(rng.standard_normal((n, 5, 4, channels)) * 3 + 7).astype(dtype) for n in (1, 3, 2)]


def statistics(x):
    mean, invstd = (np.empty(x.shape[-1], x.dtype) for _ in range(2))
    sync_batch_norm.SYNC_BATCH_NORM_STATS(numpy_door.context(), tensor(x, NHWC), 1e-5, tensor(mean), tensor(invstd))
    return mean, invstd


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm_of_three_processes_is_that_of_all_their_images(dtype):
    mluops.set_contract("extended")
    rng, channels, momentum, eps = np.random.default_rng(5), 6, 0.1, 1e-5
    parts, grads = images(rng, dtype, channels), [g - 7 for g in images(rng, dtype, channels)]
    weight, bias = (rng.standard_normal(channels).astype(dtype) for _ in range(2))
    running = [np.zeros(channels, dtype), np.ones(channels, dtype)]

    whole = torch.tensor(np.concatenate(parts), dtype=torch.float64).permute(0, 3, 1, 2).requires_grad_()
    w, b = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (weight, bias))
    moved = [torch.tensor(a, dtype=torch.float64) for a in running]
    wanted = torch.nn.functional.batch_norm(whole, *moved, w, b, training=True, momentum=momentum, eps=eps)
    wanted.backward(torch.tensor(np.concatenate(grads), dtype=torch.float64).permute(0, 3, 1, 2))

    context = numpy_door.context()
    means, invstds = map(np.stack, zip(*map(statistics, parts)))
    count = np.array([x.size // channels for x in parts], dtype)
    mean, invstd = (np.empty(channels, dtype) for _ in range(2))
    sync_batch_norm.SYNC_BATCH_NORM_GATHER_STATS(
        context, tensor(means), tensor(invstds), tensor(running[0]), tensor(running[1]), momentum, eps, tensor(count),
        tensor(mean), tensor(invstd))
    sums = np.zeros((2, channels), dtype)
    gradients = np.zeros((2, channels), dtype)
    for x, grad in zip(parts, grads):
        made = [np.empty(channels, dtype) for _ in range(4)]  # of weight, of bias, sum_dy, sum_dy_xmu
        sync_batch_norm.SYNC_BATCH_NORM_BACKWARD_REDUCE(
            context, tensor(grad, NHWC), tensor(x, NHWC), tensor(mean), tensor(invstd), *map(tensor, made), True, True, True)
        gradients += made[:2]
        sums += made[2:]
    counts = count.astype(np.int32)
    outputs, inputs = [], []
    for x, grad in zip(parts, grads):
        y, grad_x = np.empty_like(x), np.empty_like(x)
        sync_batch_norm.SYNC_BATCH_NORM_ELEMT(context, tensor(x, NHWC), tensor(mean), tensor(invstd), tensor(weight),
                                              tensor(bias), tensor(y, NHWC))
        sync_batch_norm.SYNC_BATCH_NORM_BACKWARD_ELEMT_V2(
            context, tensor(grad, NHWC), tensor(x, NHWC), tensor(mean), tensor(invstd), tensor(weight), tensor(sums[0]),
            tensor(sums[1]), tensor(counts), tensor(grad_x, NHWC))
        outputs.append(y)
        inputs.append(grad_x)

    def same(ours, theirs):
        theirs = theirs.detach().numpy()
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
        assert error < (1e-12 if dtype == "float64" else 1e-5), error

    same(np.concatenate(outputs), wanted.permute(0, 2, 3, 1))
    same(np.concatenate(inputs), whole.grad.permute(0, 2, 3, 1))
    same(gradients[0], w.grad)
    same(gradients[1], b.grad)
    for ours, theirs in zip(running, moved):
        same(ours, theirs)
