#!/usr/bin/env python3
"""What the way through torch costs: against the bare C calls, and when torch's operators run in between.

Usage: measure.py [--seconds S] (each figure is the median of repeated calls; run it on a quiet machine)
"""

import argparse
import time

import torch

import mluops.torch as mt
from mluops import _calls
from mluops.torch._kernels import _context, _nhwc_ref, _ref


def nhwc(*shape):
    return torch.rand(shape).contiguous(memory_format=torch.channels_last)


class Call:
    """A call of the C API on prepared arguments. Outputs, given as tensors like them, come last in every call."""

    def __init__(self, function, arguments, inputs, outputs):
        self.function, self.arguments, self.inputs = function, arguments, inputs
        self.outputs = [torch.empty_like(t) for t in outputs]
        self.references = [reference(t) for t in (*inputs, *self.outputs)]

    def into_the_same_memory(self):
        self.function(_context(), *self.arguments, *self.references)

    def into_fresh_memory(self):
        """What an operator of a framework does: it returns new tensors."""
        fresh = [torch.empty_like(t) for t in self.outputs]
        self.function(_context(), *self.arguments, *self.references[:len(self.inputs)], *map(reference, fresh))


def reference(tensor):
    return (_nhwc_ref if tensor.dim() == 4 and not tensor.is_contiguous() else _ref)(tensor)


def carafe(h, w, c):
    x, m, k = nhwc(2, c, h, w), nhwc(2, 25, 2 * h, 2 * w), (5, 1, 2)
    y = nhwc(2, c, 2 * h, 2 * w)
    return (f"carafe k5 s2 [2,{h},{w},{c}]", lambda: mt.carafe(x, m, *k), (x, m),
            Call(_calls.carafe_forward, k, (x, m), (y,)), Call(_calls.carafe_backward, k, (x, m, y), (x, m)))


def psa_mask(f, size):
    x, y = nhwc(2, size * size, f, f), nhwc(2, f * f, f, f)
    arguments = (0, size, size)
    return (f"psa_mask [2,{f},{f}] mask {size}", lambda: mt.psa_mask(x, 0, size), (x,),
            Call(_calls.psa_mask_forward, arguments, (x,), (y,)),
            Call(_calls.psa_mask_backward, arguments, (y,), (x,)))


def three_interpolate(c, n, m):
    f, i, w = torch.rand(16, c, m), torch.randint(0, m, (16, n, 3), dtype=torch.int32), torch.rand(16, n, 3)
    y = torch.rand(16, c, n)
    return (f"three_interpolate [16,{c},{m}] -> {n}", lambda: mt.three_interpolate(f, i, w), (f,),
            Call(_calls.three_interpolate_forward, (), (f, i, w), (y,)),
            Call(_calls.three_interpolate_backward, (), (y, i, w), (f,)))


def deform_roi_pool(h, w, c, count, scale):
    x, o = nhwc(2, c, h, w), torch.rand(count, 2, 7, 7) - 0.5
    corner = torch.rand(count, 2) * torch.tensor([w, h]) * 0.6 / scale
    rois = torch.cat([torch.randint(0, 2, (count, 1)).float(), corner, corner + 16 / scale * torch.rand(count, 2)], 1)
    y, pooling = nhwc(count, c, 7, 7), ((7, 7, scale, 2, 0.1),)
    return (f"deform_roi_pool [2,{h},{w},{c}] {count} rois",
            lambda: mt.deform_roi_pool(x, rois, o, (7, 7), scale, 2, 0.1), (x, o),
            Call(_calls.deform_roi_pool_forward, pooling, (x, rois, o), (y,)),
            Call(_calls.deform_roi_pool_backward, pooling, (y, x, rois, o), (x, o)))


def border_align(h, w, c4):
    x, k = nhwc(2, c4, h, w), h * w
    corner = torch.rand(2, k, 2) * torch.tensor([w, h]) * 0.5
    boxes = torch.cat([corner, corner + torch.rand(2, k, 2) * torch.tensor([w, h]) * 0.5], 2)
    y, argmax = nhwc(2, c4 // 4, k, 4), nhwc(2, c4 // 4, k, 4).to(torch.int32)
    return (f"border_align [2,{h},{w},{c4}]", lambda: mt.border_align(x, boxes, 10), (x,),
            Call(_calls.border_align_forward, (10,), (x, boxes), (y, argmax)),
            Call(_calls.border_align_backward, (10,), (y, boxes, argmax), (x,)))


CASES = [lambda: carafe(4, 4, 16), lambda: carafe(25, 38, 256), lambda: carafe(50, 76, 256),
         lambda: psa_mask(30, 59), lambda: psa_mask(60, 119),
         lambda: three_interpolate(256, 1024, 256), lambda: three_interpolate(128, 4096, 1024),
         lambda: deform_roi_pool(50, 76, 256, 11, 0.0625), lambda: deform_roi_pool(100, 152, 256, 200, 0.125),
         lambda: border_align(25, 38, 1024)]


def medians(functions, seconds, burst=12, warm=2):
    """Medians of several functions in microseconds. They take turns in bursts, so that drift hits all alike; the first
    calls of a burst, which find the other function's data in the caches, do not count."""
    times, end = [[] for _ in functions], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3 * (burst - warm):
        for function, own in zip(functions, times):
            for call in range(burst):
                start = time.perf_counter()
                function()
                if call >= warm:
                    own.append(time.perf_counter() - start)
    return [sorted(own)[len(own) // 2] * 1e6 for own in times]


def one_after_another(theirs, ours, seconds):
    """Median of ours, in microseconds, when theirs runs before every call."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        theirs()
        start = time.perf_counter()
        ours()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def against_c(seconds):
    titles = 2 * ("C", "C, fresh", "torch", "cost")
    print(f"{'us: forward, backward':44s}" + "".join(f"{t:>10s}" for t in titles))
    for make in CASES:
        name, through_torch, leaves, forward, backward = make()
        with torch.no_grad():
            ahead = medians([forward.into_the_same_memory, forward.into_fresh_memory, through_torch], seconds)
        for leaf in leaves:
            leaf.requires_grad_()
        output = through_torch()
        grad = torch.rand_like(output)
        back = medians([backward.into_the_same_memory, backward.into_fresh_memory,
                        lambda: torch.autograd.grad(output, leaves, grad, retain_graph=True)], seconds)
        columns = [f"{c:10.1f}{f:10.1f}{t:10.1f}{t / f - 1:+10.1%}" for c, f, t in (ahead, back)]
        print(f"{name:44s}" + "".join(columns), flush=True)


def interleaved(seconds):
    x, m = nhwc(2, 256, 25, 38), nhwc(2, 25, 50, 76)
    square, rows = torch.rand(160, 160), torch.rand(64, 1024)
    convolution, image = torch.nn.Conv2d(16, 16, 3, padding=1), torch.rand(1, 16, 24, 24)

    def ours():
        mt.carafe(x, m, 5, 1, 2)

    print(f"\n{'us per CARAFE call':44s} {'alone':>9s} {'between':>9s} {'cost':>7s}")
    with torch.no_grad():
        for name, theirs in (("matrix product", lambda: square @ square),
                             ("element-wise", lambda: torch.relu_(rows * 2)),
                             ("convolution", lambda: convolution(image))):
            alone, = medians([ours], seconds)
            between = one_after_another(theirs, ours, seconds)
            print(f"{name:44s} {alone:9.1f} {between:9.1f} {between / alone - 1:+7.1%}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    against_c(options.seconds)
    interleaved(options.seconds)
