#!/usr/bin/env python3
"""What the way through torch costs: against the bare C calls, in both layouts, and when torch's operators run in
between.

Usage: measure.py [--seconds S] [--only PART] [--case TEXT] [--threads N] [--cpu-time]
Each figure is the median of repeated calls that take turns with those of its line; run it on a quiet machine, or on a
busy one with `--threads 1 --cpu-time`, which counts only what the calls run. `layouts` needs mmcv-lite for the column
of install(), `detection` torchvision for its, `points` scipy and Open3D. `small` are calls of eight boxes. `peers`,
which only runs when it is asked for, is the table of docs/performance.md: least times, with one and two threads.
`axes`, likewise: few and many RoIs, few and many channels; `corners`: sizes and types that networks seldom have.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from pathlib import Path

import torch

import measure_axes
import measure_corners
import measure_detection
import measure_peers
import measure_points
import measure_small
import mluops.torch as mt
from mluops._functions import border_align as border_align_c
from mluops._functions import carafe as carafe_c
from mluops._functions import deform_roi_pool as deform_roi_pool_c
from mluops._functions import psamask as psamask_c
from mluops._functions import three_interpolate as three_interpolate_c
from mluops.torch._tensors import context, reference
from mluops.torch.op import carafe as carafe_operator


def nhwc(*shape):
    return torch.rand(shape).contiguous(memory_format=torch.channels_last)


class New:
    """An output of a call, of the form of a tensor."""

    def __init__(self, like):
        self.like = like


class Call:
    """A call of the C API on prepared arguments, in the order of the C function; outputs are New."""

    def __init__(self, function, *values):
        self.function, self.values = function, values
        self.kept = [torch.empty_like(v.like) if isinstance(v, New) else v for v in values]
        self.prepared = [self.argument(i, v) for i, v in enumerate(self.kept)]
        self.outputs = [v for v, given in zip(self.kept, values) if isinstance(given, New)]

    def argument(self, place, value):
        return reference(value, self.function.parts[place].layout) if isinstance(value, torch.Tensor) else value

    def into_the_same_memory(self):
        self.function(context(), *self.prepared)

    def into_fresh_memory(self):
        """Acts as an operator of a framework: returns new tensors."""
        arguments, fresh = list(self.prepared), []
        for i, value in enumerate(self.values):
            if isinstance(value, New):
                fresh.append(torch.empty_like(value.like))
                arguments[i] = self.argument(i, fresh[-1])
        self.function(context(), *arguments)
        return tuple(fresh)


def carafe(h, w, c):
    x, m, k = nhwc(2, c, h, w), nhwc(2, 25, 2 * h, 2 * w), (5, 1, 2)
    y, desc = nhwc(2, c, 2 * h, 2 * w), (4, *k)
    return (f"carafe k5 s2 [2,{h},{w},{c}]", lambda: mt.carafe(x, m, *k), (x, m),
            Call(carafe_c.CARAFE_FORWARD, desc, x, m, New(y)), Call(carafe_c.CARAFE_BACKWARD, desc, x, m, y, New(x), New(m)))


def psa_mask(f, size):
    x, y = nhwc(2, size * size, f, f), nhwc(2, f * f, f, f)
    return (f"psa_mask [2,{f},{f}] mask {size}", lambda: mt.psa_mask(x, 0, size), (x,),
            Call(psamask_c.PSAMASK_FORWARD, 0, x, size, size, New(y)), Call(psamask_c.PSAMASK_BACKWARD, 0, y, size, size, New(x)))


def three_interpolate(c, n, m):
    f, i, w = torch.rand(16, c, m), torch.randint(0, m, (16, n, 3), dtype=torch.int32), torch.rand(16, n, 3)
    y = torch.rand(16, c, n)
    return (f"three_interpolate [16,{c},{m}] -> {n}", lambda: mt.three_interpolate(f, i, w), (f,),
            Call(three_interpolate_c.THREE_INTERPOLATE_FORWARD, f, i, w, New(y)), Call(three_interpolate_c.THREE_INTERPOLATE_BACKWARD, y, i, w, New(f)))


def rois_and_offsets(h, w, count, scale):
    corner = torch.rand(count, 2) * torch.tensor([w, h]) * 0.6 / scale
    rois = torch.cat([torch.randint(0, 2, (count, 1)).float(), corner, corner + 16 / scale * torch.rand(count, 2)], 1)
    return rois, torch.rand(count, 2, 7, 7) - 0.5


def deform_roi_pool(h, w, c, count, scale):
    x, (rois, o) = nhwc(2, c, h, w), rois_and_offsets(h, w, count, scale)
    y, pooling = nhwc(count, c, 7, 7), (7, 7, scale, 2, 0.1)
    return (f"deform_roi_pool [2,{h},{w},{c}] {count} rois",
            lambda: mt.deform_roi_pool(x, rois, o, (7, 7), scale, 2, 0.1), (x, o),
            Call(deform_roi_pool_c.DEFORM_ROI_POOL_FORWARD, x, rois, o, *pooling, New(y)),
            Call(deform_roi_pool_c.DEFORM_ROI_POOL_BACKWARD, y, x, rois, o, *pooling, New(x), New(o)))


def boxes_on(h, w):
    corner = torch.rand(2, h * w, 2) * torch.tensor([w, h]) * 0.5
    return torch.cat([corner, corner + torch.rand(2, h * w, 2) * torch.tensor([w, h]) * 0.5], 2)


def border_align(h, w, c4):
    x, k, boxes = nhwc(2, c4, h, w), h * w, boxes_on(h, w)
    y, argmax = nhwc(2, c4 // 4, k, 4), nhwc(2, c4 // 4, k, 4).to(torch.int32)
    return (f"border_align [2,{h},{w},{c4}]", lambda: mt.border_align(x, boxes, 10), (x,),
            Call(border_align_c.BORDER_ALIGN_FORWARD, x, boxes, 10, New(y), New(argmax)),
            Call(border_align_c.BORDER_ALIGN_BACKWARD, y, boxes, argmax, 10, New(x)))


CASES = [lambda: carafe(4, 4, 16), lambda: carafe(25, 38, 256), lambda: carafe(50, 76, 256),
         lambda: psa_mask(30, 59), lambda: psa_mask(60, 119),
         lambda: three_interpolate(256, 1024, 256), lambda: three_interpolate(128, 4096, 1024),
         lambda: deform_roi_pool(50, 76, 256, 11, 0.0625), lambda: deform_roi_pool(100, 152, 256, 200, 0.125),
         lambda: border_align(25, 38, 1024)]


def least(function, seconds, together=20):
    """The least of the means of some consecutive calls, in microseconds."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = clock()
        for _ in range(together):
            function()
        best = min(best, (clock() - start) / together)
    return best * 1e6


def least_in_turns(functions, seconds):
    """The least time of each of some functions that take turns, in milliseconds."""
    best, end = [float("inf")] * len(functions), time.perf_counter() + seconds
    rounds = 0
    while time.perf_counter() < end or rounds < 4:
        for i, function in enumerate(functions):
            start = clock()
            function()
            best[i] = min(best[i], clock() - start)
        rounds += 1
    return [time_s * 1e3 for time_s in best]


SLOW = 0.03  # seconds: nothing of what was in the caches is left
clock = time.perf_counter


def medians(functions, seconds, burst=12, warm=2):
    """Medians of several functions in microseconds. They take turns in bursts, so that drift hits all alike; the first
    calls of a burst, which find the other function's data in the caches, do not count. A slow call is a burst."""
    times, end = [[] for _ in functions], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3 * (burst - warm):
        for function, own in zip(functions, times):
            for call in range(burst):
                start = clock()
                function()
                took = clock() - start
                if call >= warm or took > SLOW:
                    own.append(took)
                if took > SLOW:
                    break
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


class Layouts:
    """An operator with its images in both layouts. `ours` and `theirs`, mmcv's function after install(), take the same
    tensors; `composed` takes its own, as large, in NCHW."""

    def __init__(self, name, ours, theirs, tensors, images, composition, parameters):
        self.name, self.ours, self.theirs = name, ours, theirs
        self.nchw = [t if t is None else t.contiguous() for t in tensors]
        self.last = [t.contiguous(memory_format=torch.channels_last) if i in images else t
                     for i, t in enumerate(self.nchw)]
        self.composed = peers().COMPOSITIONS[composition]({key: str(value) for key, value in parameters.items()})

    def calls(self, leaves, backward):
        """channels_last, NCHW, through install(), composed."""
        composition, own = self.composed
        given = [(self.ours, self.last, leaves), (self.ours, self.nchw, leaves), (self.theirs, self.nchw, leaves),
                 (composition, own, range(len(own)))]
        return [None if function is None else call_of(function, tensors, own_leaves, backward)
                for function, tensors, own_leaves in given]


def call_of(function, tensors, leaves, backward):
    if not backward:
        return lambda: function(*tensors)
    tensors = [t if t is None else t.detach().requires_grad_(i in leaves) for i, t in enumerate(tensors)]
    wanted = [tensors[i] for i in leaves]
    output = function(*tensors)
    grad = torch.rand_like(output)
    return lambda: torch.autograd.grad(output, wanted, grad, retain_graph=True)


def peers():
    """bench/python/peers.py: the operators as one composes them from torch's."""
    path = Path(__file__).parent / "peers.py"
    spec = importlib.util.spec_from_file_location("peers", path)
    module = sys.modules.setdefault("peers", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def mmcv_ops():
    """mmcv.ops after install(); None without mmcv."""
    if importlib.util.find_spec("mmcv") is None:
        return None
    import mluops.mmcv
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mluops.mmcv.install()
    return importlib.import_module("mmcv.ops")


def layout_cases(ops):
    def theirs(make):
        return None if ops is None else make(ops)

    for h, w, c in ((25, 38, 256), (50, 76, 256), (100, 152, 256)):
        yield lambda h=h, w=w, c=c: Layouts(
            f"carafe k5 s2 [2,{c},{h},{w}]", lambda x, m: mt.carafe(x, m, 5, 1, 2),
            theirs(lambda o: lambda x, m: o.carafe(x, m, 5, 1, 2)),
            [torch.rand(2, c, h, w), torch.rand(2, 25, 2 * h, 2 * w)], (0, 1), "carafe",
            {"n": 2, "h": h, "w": w, "c": c, "k": 5, "g": 1, "s": 2})
    for f, size in ((30, 59), (60, 119)):
        for kind in (0, 1):
            yield lambda f=f, size=size, kind=kind: Layouts(
                f"psa_mask {('collect', 'distribute')[kind]} {size} of [2,{size * size},{f},{f}]",
                lambda x: mt.psa_mask(x, kind, size),
                theirs(lambda o: o.PSAMask(("collect", "distribute")[kind], (size, size))),
                [torch.rand(2, size * size, f, f)], (0,), "psamask",
                {"n": 2, "h": f, "w": f, "hm": size, "type": kind})
    for h, w, c, count, scale in ((50, 76, 256, 11, 0.0625), (100, 152, 256, 200, 0.125)):
        yield lambda h=h, w=w, c=c, count=count, scale=scale: Layouts(
            f"deform_roi_pool [2,{c},{h},{w}] {count} rois",
            lambda x, r, o: mt.deform_roi_pool(x, r, o, (7, 7), scale, 2, 0.1),
            theirs(lambda p: lambda x, r, o: p.deform_roi_pool(x, r, o, (7, 7), scale, 2, 0.1)),
            [torch.rand(2, c, h, w), *rois_and_offsets(h, w, count, scale)], (0,), "deform_roi_pool",
            {"b": 2, "h": h, "w": w, "c": c, "r": count, "ph": 7, "ratio": 2, "offset": 1, "gamma": 0.1})
    for h, w, c in ((25, 38, 256), (50, 76, 128)):
        yield lambda h=h, w=w, c=c: Layouts(
            f"border_align [2,{4 * c},{h},{w}]", lambda x, b: mt.border_align(x, b, 10),
            theirs(lambda o: lambda x, b: o.border_align(x, b, 10)),
            [torch.rand(2, 4 * c, h, w), boxes_on(h, w)], (0,), "border_align",
            {"n": 2, "h": h, "w": w, "c": c, "k": h * w, "p": 10})


def layouts(seconds, only=""):
    """Forward and backward on channels_last and NCHW tensors, through mmcv's function after install() in NCHW, and as a
    composition of torch's operators in NCHW; the four take turns. Ratios: NCHW over channels_last, install over NCHW,
    composition over NCHW."""
    titles = ("channels_last", "NCHW", "install()", "composed", "NCHW/last", "install/NCHW", "composed/NCHW")
    print(f"\n| us | {' | '.join(titles)} |\n|---|{'---|' * len(titles)}", flush=True)
    for make in layout_cases(mmcv_ops()):
        case = make()
        if only not in case.name:
            continue
        leaves = [i for i in range(len(case.nchw)) if i != 1 or case.name.startswith("carafe")]
        for backward in (False, True):
            calls = case.calls(leaves, backward)
            with torch.set_grad_enabled(backward):
                times = iter(medians([call for call in calls if call], seconds, burst=5))
            last, nchw, theirs, composed = [next(times) if call else float("nan") for call in calls]
            cells = [f"{t:.0f}" if t >= 100 else f"{t:.1f}" for t in (last, nchw, theirs, composed)]
            cells += [f"{nchw / last:.2f}", f"{theirs / nchw:.2f}", f"{composed / nchw:.1f}"]
            print(f"| {'backward' if backward else case.name} | {' | '.join(cells)} |", flush=True)


def fixed_costs(seconds):
    """The way of a call that computes next to nothing, layer by layer."""
    x, m, k = nhwc(1, 16, 2, 2), nhwc(1, 9, 4, 4), (3, 1, 2)
    y = nhwc(1, 16, 4, 4)
    desc = (4, *k)
    forward = Call(carafe_c.CARAFE_FORWARD, desc, x, m, New(y))
    backward = Call(carafe_c.CARAFE_BACKWARD, desc, x, m, y, New(x), New(m))
    leaves = [t.clone(memory_format=torch.preserve_format).requires_grad_() for t in (x, m)]
    output, operator = mt.carafe(*leaves, *k), torch.ops.mluops.carafe if hasattr(torch.ops.mluops, "carafe") else None
    rows = {
        "forward: C through ctypes": forward.into_the_same_memory,
        "forward: with new outputs": forward.into_fresh_memory,
        "forward: the package's operator": lambda: carafe_operator.forward(x, m, *k),
        "forward: mluops.torch.carafe": lambda: mt.carafe(x, m, *k),
        "forward: the same, with a graph": lambda: mt.carafe(*leaves, *k),
        "backward: C through ctypes": backward.into_the_same_memory,
        "backward: with new outputs": backward.into_fresh_memory,
        "backward: the package's operator": lambda: carafe_operator.gradients(y, x, m, *k),
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
    parser.add_argument("--seconds", type=float, default=1.0, help="of calls for each line of a table")
    parser.add_argument("--only", choices=["against_c", "layouts", "fixed_costs", "interleaved", "detection", "points",
                                           "small", "peers", "axes", "corners"])
    parser.add_argument("--case", default="", help="part of the name of a case of `layouts`, `detection`, `points`, "
                        "`small`, `peers`, `axes` or `corners`")
    parser.add_argument("--threads", type=int, default=0, help="torch's number of threads")
    parser.add_argument("--cpu-time", action="store_true", help="of the process, in the place of the time that passes")
    options = parser.parse_args()
    if options.cpu_time:
        clock = time.process_time
    torch.manual_seed(0)
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads{', CPU time' if options.cpu_time else ''}")
    for part in (against_c, layouts, fixed_costs, interleaved):
        if options.only in (None, part.__name__):
            part(options.seconds, *([options.case] if part is layouts else []))
    if options.only in (None, "detection"):
        measure_detection.detection(options.seconds, options.case, medians)
    if options.only in (None, "points"):
        measure_detection.table(measure_points.CASES, ("scipy", "Open3D"), measure_points.agree, options.seconds,
                                options.case, medians)
    if options.only in (None, "small"):
        measure_small.small(options.seconds, options.case, least)
    if options.only == "axes":
        measure_axes.axes(options.seconds, options.case, least_in_turns)
    if options.only == "corners":
        measure_corners.corners(options.seconds, options.case, least_in_turns)
    if options.only == "peers":
        measure_peers.table(options.seconds, options.case)
