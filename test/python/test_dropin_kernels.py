"""mluops.dropin: kernels that programs write in Python for numba.cuda or keep as texts for cupy, found by their names."""

import itertools
import math
import sys
import textwrap
import types
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
import mluops.dropin as dropin  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture
def numba(monkeypatch):
    """numba as it is on a machine without CUDA: what it would compile for CUDA raises when it is decorated."""
    def refuses(*args, **kwargs):
        raise RuntimeError("CUDA driver library cannot be found")

    cuda = types.ModuleType("numba.cuda")
    vars(cuda).update(dict.fromkeys(("device_array", "jit", "select_device", "stream", "synchronize", "to_device"), refuses),
                      is_available=lambda: False)
    package = types.ModuleType("numba")
    package.__path__, package.cuda = [], cuda
    monkeypatch.setitem(sys.modules, "numba", package)
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    return cuda


@pytest.fixture(autouse=True)
def doors(numba):
    with opened("numba", "cupy", cuda_calls=True):
        yield


def program(source):
    module = types.ModuleType("a_program")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(textwrap.dedent(source), vars(module))
    return module


# ---- numba


KERNELS = """
    import numpy as np
    from numba import cuda

    @cuda.jit('(float32[:], float32[:])', device=True, inline=True)
    def inter(one, two):
        return cuda.local.array(1)

    @cuda.jit('(int64, int64, float32[:], float32[:], float32[:], int32)', fastmath=False)
    def rotate_iou_kernel_eval(N, K, dev_boxes, dev_query_boxes, dev_iou, criterion=-1):
        dev_iou[cuda.blockIdx.x] = inter(dev_boxes, dev_query_boxes)

    @cuda.jit
    def rotate_iou_kernel(N, K, dev_boxes, dev_query_boxes, dev_iou):
        pass

    @cuda.jit()
    def nms_kernel(n, threshold, dev_boxes, dev_mask):
        pass

    @cuda.jit()
    def rotate_nms_kernel(n, threshold, dev_boxes, dev_mask):
        pass

    @cuda.jit()
    def another_kernel(n):
        pass

    def launch(kernel, sizes, arrays, out, *rest):
        cuda.select_device(0)
        stream = cuda.stream()
        with stream.auto_synchronize():
            given = [cuda.to_device(each.reshape([-1]), stream) for each in arrays]
            made = cuda.to_device(out.reshape([-1]), stream)
            kernel[(1, 1), 64, stream](*sizes, *given, made, *rest)
            made.copy_to_host(out.reshape([-1]), stream=stream)
        return out
"""


def corners(box):
    """Angles turn from x to -y."""
    x, y, w, h, a = map(float, box[:5])
    c, s = math.cos(a), math.sin(a)
    return [(x + c * u + s * v, y - s * u + c * v) for u, v in ((-w / 2, -h / 2), (-w / 2, h / 2), (w / 2, h / 2),
                                                                 (w / 2, -h / 2))]


def area(points):
    return abs(sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(points, points[1:] + points[:1]))) / 2


def shared(one, two):
    """The area of two rectangles in common, by cutting one at the sides of the other."""
    points, cutter = corners(one), corners(two)
    middle = [sum(each) / 4 for each in zip(*cutter)]
    for (ax, ay), (bx, by) in zip(cutter, cutter[1:] + cutter[:1]):
        def side(p):
            return (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax)
        sense, kept = math.copysign(1, side(middle)), []
        for p, q in zip(points, points[1:] + points[:1]):
            sp, sq = side(p) * sense, side(q) * sense
            if sp >= 0:
                kept.append(p)
            if sp * sq < 0:
                kept.append(tuple(u + (v - u) * sp / (sp - sq) for u, v in zip(p, q)))
        points = kept
    return area(points) if len(points) > 2 else 0.0


def rectangles(count, seed):
    given = np.random.default_rng(seed)
    return (given.random((count, 5)) * [12, 12, 5, 5, 6] + [0, 0, 1, 1, -3]).astype(np.float32)


@pytest.mark.parametrize("criterion", [-1, 0, 1, 2])
def test_kitti_s_ious(criterion):
    """0 is of the queries, 1 of the boxes."""
    boxes, queries = rectangles(17, 0), rectangles(9, 1)
    both = np.array([[shared(a, b) for b in queries] for a in boxes])
    of_boxes, of_queries = (np.prod(each[:, 2:4].astype(float), 1) for each in (boxes, queries))
    wanted = {-1: both / (of_boxes[:, None] + of_queries - both), 0: both / of_queries, 1: both / of_boxes[:, None],
              2: both}[criterion]
    module = program(KERNELS)
    found = module.launch(module.rotate_iou_kernel_eval, (17, 9), (boxes, queries), np.zeros((17, 9), np.float32), criterion)
    assert wanted.max() > 0 and np.abs(found - wanted).max() < 1e-5
    if criterion == -1:
        again = module.launch(module.rotate_iou_kernel, (17, 9), (boxes, queries), np.zeros((17, 9), np.float32))
        assert np.array_equal(again, found)


def upright(boxes):
    def iou(one, two):
        w, h = (min(one[k + 2], two[k + 2]) - max(one[k], two[k]) + 1 for k in (0, 1))
        both = max(w, 0) * max(h, 0)
        return both / (sum((each[2] - each[0] + 1) * (each[3] - each[1] + 1) for each in (one, two)) - both)
    return iou


def turned(boxes):
    return lambda one, two: shared(one, two) / (one[2] * one[3] + two[2] * two[3] - shared(one, two))


@pytest.mark.parametrize("kernel", ["nms_kernel", "rotate_nms_kernel"])
@pytest.mark.parametrize("count", [1, 70, 130])
def test_masks_of_suppression(monkeypatch, kernel, count):
    """Bits of the later boxes in a box's own 64, of all boxes in others, as the kernels set them."""
    from mluops.dropin import _stacked
    monkeypatch.setattr(_stacked, "_ELEMENTS", 40 * count)
    if kernel == "nms_kernel":
        low = np.random.default_rng(2).random((count, 2)) * 20
        boxes = np.concatenate([low, low + 2 + low[::-1] / 3, low[:, :1]], 1).astype(np.float32)
        iou = upright(boxes)
    else:
        boxes = np.concatenate([rectangles(count, 3), np.ones((count, 1), np.float32)], 1)
        iou = turned(boxes)
    exact, words = boxes.astype(float), -(-count // 64)
    wanted = np.zeros((count, words), np.uint64)
    for i, j in itertools.product(range(count), repeat=2):
        if (i // 64 != j // 64 or j > i) and iou(exact[i], exact[j]) > 0.3:
            wanted[i, j // 64] |= np.uint64(1 << j % 64)
    module = program(KERNELS)
    found = module.launch(getattr(module, kernel), (count, 0.3), (boxes,), np.zeros((count, words), np.uint64))
    assert np.array_equal(found, wanted) and (wanted.any() or count == 1)


def test_kernels_that_we_lack_import_and_raise():
    module = program(KERNELS)
    with pytest.raises(NotImplementedError, match="another_kernel.*it has nms_kernel, .*rotate_iou_kernel_eval"):
        module.another_kernel[1, 1](3)


def test_numba_s_own_where_there_is_cuda(numba, monkeypatch):
    monkeypatch.setattr(numba, "is_available", lambda: True)
    with pytest.raises(RuntimeError, match="driver"):
        program(KERNELS)
    dropin.uninstall()
    monkeypatch.setattr(numba, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="driver"):
        program(KERNELS)


# ---- cupy


TEXTS = """
    import cupy
    import torch

    @cupy.memoize(for_each_device=True)
    def launch(name, text):
        return cupy.cuda.compile_with_cache(text).get_function(name)

    @cupy.util.memoize(for_each_device=True)
    def launch_raw(name, text):
        return cupy.RawKernel(text, name)

    def start(kernel, *args):
        kernel(grid=(1, 1, 1), block=(16, 1, 1), args=list(args), stream=None)

    class Correlation(torch.autograd.Function):
        @staticmethod
        def forward(ctx, one, two, radius, step):
            assert one.is_cuda == True
            n, c, h, w = one.shape
            pad = radius * step
            rbot0, rbot1 = (one.new_zeros(n, h + 2 * pad, w + 2 * pad, c) for _ in range(2))
            launch('kernel_Correlation_rearrange', 'text')(grid=(1,), block=(1,), args=[cupy.int32(h * w), one.data_ptr(),
                                                                                       rbot0.data_ptr()])
            launch('kernel_Correlation_rearrange', 'text')(grid=(1,), block=(1,), args=[cupy.int32(h * w), two.data_ptr(),
                                                                                       rbot1.data_ptr()])
            out = one.new_zeros(n, (2 * radius + 1) ** 2, -(-h // step), -(-w // step))
            launch('kernel_Correlation_updateOutput', 'text')(grid=(1,), block=(1,), args=[
                cupy.int32(1), rbot0.data_ptr(), rbot1.data_ptr(), out.data_ptr()])
            ctx.save_for_backward(one, two, rbot0, rbot1)
            return out

        @staticmethod
        def backward(ctx, grad):
            one, two, rbot0, rbot1 = ctx.saved_tensors
            grad = grad.contiguous(); assert grad.is_cuda == True
            first, second = torch.zeros_like(one), torch.zeros_like(two)
            for sample in range(len(one)):
                launch('kernel_Correlation_updateGradOne', 'text')(grid=(1,), block=(1,), args=[
                    cupy.int32(1), sample, rbot0.data_ptr(), rbot1.data_ptr(), grad.data_ptr(), first.data_ptr(), None])
                launch('kernel_Correlation_updateGradSecond', 'text')(grid=(1,), block=(1,), args=[
                    cupy.int32(1), sample, rbot0.data_ptr(), rbot1.data_ptr(), grad.data_ptr(), None, second.data_ptr()])
            return first, second, None, None

    class Splat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, flow):
            out = torch.zeros_like(x); assert out.is_cuda == True
            launch_raw('softsplat_out', 'text')(grid=(1,), block=(1,), args=[cupy.int32(1), x.data_ptr(), flow.data_ptr(),
                                                                            out.data_ptr()])
            ctx.save_for_backward(x, flow)
            return out

        @staticmethod
        def backward(ctx, grad):
            x, flow = ctx.saved_tensors
            grad, of_x, of_flow = grad.contiguous(), torch.zeros_like(x), torch.zeros_like(flow)
            for name, one, two in (('softsplat_ingrad', of_x, None), ('kernel_Softsplat_updateGradFlow', None, of_flow)):
                launch_raw(name, 'text')(grid=(1,), block=(1,), args=[
                    cupy.int32(1), x.data_ptr(), flow.data_ptr(), grad.data_ptr(), one if one is None else one.data_ptr(),
                    two if two is None else two.data_ptr()])
            return of_x, of_flow

    def array():
        return cupy.zeros(3)
"""


def products(one, two, radius, step):
    h, w = one.shape[2:]
    wide, moves = F.pad(two, (radius * step,) * 4), range(0, 2 * radius * step + 1, step)
    found = [(one * wide[:, :, y:y + h, x:x + w]).mean(1) for y, x in itertools.product(moves, moves)]
    return torch.stack(found, 1)[:, :, ::step, ::step]


@pytest.mark.parametrize("radius, step", [(4, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("dtype, limit", [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_correlations_of_sniklaus(radius, step, dtype, limit):
    torch.manual_seed(0)
    one, two = (torch.randn(2, 5, 9, 12, dtype=dtype, requires_grad=True) for _ in range(2))
    exact = [each.detach().double().requires_grad_() for each in (one, two)]
    wanted, found = products(*exact, radius, step), program(TEXTS).Correlation.apply(one, two, radius, step)
    grad = torch.randn_like(found)
    for ours, by_rule in zip((found, *torch.autograd.grad(found, (one, two), grad)),
                             (wanted, *torch.autograd.grad(wanted, exact, grad.double()))):
        assert ours.shape == by_rule.shape and by_rule.abs().max() > 0.1 and (ours - by_rule).abs().max() < limit


def splatted(x, flow):
    """Pixel by pixel; a place on a pixel has that pixel at its left and top."""
    n, c, h, w = x.shape
    out = {}
    for b, row, column in itertools.product(range(n), range(h), range(w)):
        at_x, at_y = column + flow[b, 0, row, column], row + flow[b, 1, row, column]
        left, top = int(at_x.detach().floor()), int(at_y.detach().floor())
        for dy, dx in itertools.product((0, 1), repeat=2):
            share = (at_x - left if dx else 1 - (at_x - left)) * (at_y - top if dy else 1 - (at_y - top))
            key = b, top + dy, left + dx
            out[key] = out.get(key, 0) + x[b, :, row, column] * share
    none = x.new_zeros(c)
    return torch.stack([out.get(key, none) for key in itertools.product(range(n), range(h), range(w))]).reshape(
        n, h, w, c).permute(0, 3, 1, 2)


@pytest.mark.parametrize("dtype, limit", [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_splatting(dtype, limit):
    torch.manual_seed(1)
    x, flow = torch.randn(2, 3, 5, 7, dtype=dtype), torch.randn(2, 2, 5, 7, dtype=dtype) * 2
    flow[:, :, ::2, ::2] = flow[:, :, ::2, ::2].round()
    flow[:, :, 0], flow[0, 0, 1, 1] = 0, 100
    given, exact = (x.requires_grad_(), flow.requires_grad_()), [e.detach().double().requires_grad_() for e in (x, flow)]
    found, wanted = program(TEXTS).Splat.apply(*given), splatted(*exact)
    grad = torch.randn_like(found)
    for ours, by_rule in zip((found, *torch.autograd.grad(found, given, grad)),
                             (wanted, *torch.autograd.grad(wanted, exact, grad.double()))):
        assert by_rule.abs().max() > 0.1 and (ours - by_rule).abs().max() < limit


def test_what_else_programs_ask_of_cupy():
    module = program(TEXTS)
    with pytest.raises(NotImplementedError, match="for the kernel another; it has .*kernel_Correlation"):
        module.start(module.launch("another", "text"), 1)
    with pytest.raises(AttributeError, match="cupy is not installed"):
        module.array()


def test_a_program_without_cupy_keeps_its_fallback(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "with_arrays.py").write_text("try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\n")
    import with_arrays
    monkeypatch.delitem(sys.modules, "with_arrays")
    assert with_arrays.np is np
