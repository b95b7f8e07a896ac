#!/usr/bin/env python3
"""What the way through torch costs: against the bare C calls, and when torch's operators run in between.

Usage: measure.py [--seconds S] (each figure is the median of repeated calls; run it on a quiet machine)
"""

import argparse
import time

import torch

import mluops.torch as mt
from mluops import _calls
from mluops.torch import _kernels
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
        return tuple(fresh)


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


def bare_gradient(leaves, output, gradients):
    """torch.autograd.grad of an operator that only calls `gradients`: what torch's autograd and its allocator take for
    any gradient written in Python."""

    class Bare(torch.autograd.Function):

        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return output.detach()

        @staticmethod
        def backward(ctx, grad):
            return gradients(*ctx.saved_tensors)

    made, grad = Bare.apply(*leaves), torch.rand_like(output)
    return lambda: torch.autograd.grad(made, leaves, grad, retain_graph=True)


def row(name, same, fresh, in_autograd, through_torch):
    print(f"{name:46s}{same:10.1f}{fresh:10.1f}{in_autograd:10.1f}{through_torch:10.1f}"
          f"{through_torch / in_autograd - 1:+9.1%}{through_torch / fresh - 1:+9.1%}", flush=True)


def against_c(seconds):
    """C: the call into memory used before; fresh: into new tensors; autograd: that in a bare autograd.Function; torch:
    the operator. ours: torch over autograd, what this package adds; all: torch over fresh."""
    print(f"{'us':46s}" + "".join(f"{t:>10s}" for t in ("C", "fresh", "autograd", "torch", "ours", "all")))
    for make in CASES:
        name, through_torch, leaves, forward, backward = make()
        with torch.no_grad():
            same, fresh, torch_s = medians([forward.into_the_same_memory, forward.into_fresh_memory, through_torch],
                                           seconds)
        row(name, same, fresh, fresh, torch_s)
        for leaf in leaves:
            leaf.requires_grad_()
        output = through_torch()
        grad = torch.rand_like(output)
        row("    backward", *medians(
            [backward.into_the_same_memory, backward.into_fresh_memory,
             bare_gradient(leaves, output, lambda *saved: backward.into_fresh_memory()),
             lambda: torch.autograd.grad(output, leaves, grad, retain_graph=True)], seconds))


def fixed_costs(seconds):
    """The way of a call that computes next to nothing, layer by layer."""
    x, m, k = nhwc(1, 16, 2, 2), nhwc(1, 9, 4, 4), (3, 1, 2)
    y = nhwc(1, 16, 4, 4)
    forward, backward = Call(_calls.carafe_forward, k, (x, m), (y,)), Call(_calls.carafe_backward, k, (x, m, y), (x, m))
    leaves = [t.clone(memory_format=torch.preserve_format).requires_grad_() for t in (x, m)]
    output, operator = mt.carafe(*leaves, *k), torch.ops.mluops.carafe if hasattr(torch.ops.mluops, "carafe") else None
    rows = {
        "forward: C through ctypes": forward.into_the_same_memory,
        "forward: with new outputs": forward.into_fresh_memory,
        "forward: the package's kernel": lambda: _kernels.carafe(x, m, *k),
        "forward: mluops.torch.carafe": lambda: mt.carafe(x, m, *k),
        "forward: the same, with a graph": lambda: mt.carafe(*leaves, *k),
        "backward: C through ctypes": backward.into_the_same_memory,
        "backward: with new outputs": backward.into_fresh_memory,
        "backward: the package's kernel": lambda: _kernels.carafe_backward(y, x, m, *k),
        "backward: an operator that does nothing": bare_gradient(leaves, output, lambda *saved: saved),
        "backward: one that makes the C call": bare_gradient(leaves, output, lambda *_: backward.into_fresh_memory()),
        "backward: torch.autograd.grad": lambda: torch.autograd.grad(output, leaves, y, retain_graph=True),
    }
    if operator is not None:
        rows["forward: torch.ops.mluops.carafe"] = lambda: operator(x, m, *k)
        rows["forward: the same, with a graph "] = lambda: operator(*leaves, *k)
    print(f"\n{'us per call, CARAFE of 4 pixels':46s}")
    for name, time_us in zip(rows, medians(list(rows.values()), seconds, burst=200, warm=20)):
        print(f"{name:46s}{time_us:10.1f}", flush=True)


def turns(alone, theirs, seconds, calls=25):
    """Medians of a function in microseconds: alone, and when another runs before every call, in turns of some calls."""
    times, end = ([], []), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for before, own in zip((None, theirs), times):
            for call in range(calls):
                if before:
                    before()
                start = time.perf_counter()
                alone()
                if call >= 2:
                    own.append(time.perf_counter() - start)
    return [sorted(own)[len(own) // 2] * 1e6 for own in times]


def interleaved(seconds):
    """Ours alone and after an operator of torch, into the same memory (new memory for each result would measure where
    the allocator puts it); beside it an operator of torch in our place, on as much memory."""
    _, _, _, ours, _ = carafe(25, 38, 256)
    large, result = torch.rand_like(ours.outputs[0]), ours.outputs[0].clone()
    square, rows = torch.rand(160, 160), torch.rand(64, 1024)
    convolution, image = torch.nn.Conv2d(16, 16, 3, padding=1), torch.rand(1, 16, 24, 24)
    print(f"\n{'us per CARAFE call':34s}{'alone':>10s}{'between':>10s}{'cost':>9s}   torch.mul instead")
    with torch.no_grad():
        for name, theirs in (("matrix product", lambda: square @ square),
                             ("element-wise", lambda: torch.relu_(rows * 2)),
                             ("convolution", lambda: convolution(image))):
            alone, between = turns(ours.into_the_same_memory, theirs, seconds)
            mul, after = turns(lambda: torch.mul(large, 2, out=result), theirs, seconds)
            print(f"{name:34s}{alone:10.1f}{between:10.1f}{between / alone - 1:+9.1%}"
                  f"{mul:10.1f}{after:10.1f}{after / mul - 1:+9.1%}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", choices=["against_c", "fixed_costs", "interleaved"])
    options = parser.parse_args()
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    for part in (against_c, fixed_costs, interleaved):
        if options.only in (None, part.__name__):
            part(options.seconds)
