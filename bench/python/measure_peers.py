#!/usr/bin/env python3
"""mluops.torch beside what a user has today, in the user's layout (NCHW), through torch, with one and with two threads.

`measure.py --only peers` prints the table. Each number of threads has a process of its own, which may use as many CPUs:
that is what libraries without such a setting go by. torchvision, mmcv, scipy, Open3D and spconv are compared where they
can be imported; torch's own operators stand for what has no library.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time

import torch

import measure_detection as detection
import measure_points as clouds
TOGETHER = 1, 2  # threads
LIBRARIES = "torchvision", "mmcv", "scipy", "Open3D", "spconv", "torch"


def ps_roi_pool_case(vision):
    """torchvision rounds otherwise; what stands in its place does as it does."""
    from mluops.dropin.module.torchvision import ps_roi_pool
    maps, boxes = torch.rand(1, 490, 38, 64), detection.proposals(300)
    rois = torch.cat([torch.zeros(300, 1), boxes * 0.75], 1)
    if vision:
        yield ("ps_roi_pool, 10 classes of 7 x 7, 300 RoIs on 38 x 64", [maps],
               {"ours": lambda x: ps_roi_pool(x, rois, 7, 0.0625),
                "torchvision": lambda x: vision.ps_roi_pool(x, rois, 7, 0.0625)})


def attention_case():
    """The composition is mmcv's function, where it can be imported."""
    if importlib.util.find_spec("mmcv"):
        import mluops.mmcv
        mluops.mmcv.install()  # mmcv-lite's operators can be imported behind it only
        import mmcv.ops.multi_scale_deform_attn as module
        mluops.mmcv.uninstall()
        composed = module.multi_scale_deformable_attn_pytorch
        shapes = torch.tensor(detection.LEVELS)
        for name, tensors, functions in detection.attention_case():
            yield name, tensors, {"ours": functions["ours"], "mmcv": lambda v, a, w: composed(v, shapes, a, w)}


def in_order(x):
    """The features of a sparse tensor, in the order of their places: no two modules have to agree about it."""
    places = x.indices.long()
    keys = places @ torch.tensor([1 << 48, 1 << 32, 1 << 16, 1])
    return x.features[keys.argsort()]


def spconv_cases():
    if importlib.util.find_spec("spconv") is None:
        return
    import spconv.pytorch as theirs
    from mluops.dropin import _spconv as ours
    voxels = clouds.sweep()[:40000].contiguous()
    for kind, arguments in (("SubMConv3d", (32, 32, 3)), ("SubMConv3d", (64, 64, 3)), ("SparseConv3d", (32, 64, 3, 2, 1))):
        nets = [getattr(package, kind)(*arguments, bias=False) for package in (ours, theirs)]
        nets[1].load_state_dict(nets[0].state_dict())
        calls = [lambda x, net=net, package=package: net(
            package.SparseConvTensor(x, voxels, list(clouds.GRID), 1)) for net, package in zip(nets, (ours, theirs))]
        features = torch.randn(len(voxels), arguments[0])  # without gradients: those of spconv want CUDA
        yield (f"{kind}{arguments}, {len(voxels)} voxels, pairs found anew", [],
               {"ours": lambda x=features, call=calls[0]: call(x).features,
                "spconv": lambda x=features, call=calls[1]: call(x).features,
                "same": lambda x=features, a=calls[0], b=calls[1]: (in_order(a(x)), in_order(b(x)))})


def groups(vision):
    """(cases, the beginning of the names that are taken)"""
    return ((lambda: detection.roi_cases(vision), "roi_"), (lambda: detection.dcn_cases(vision), ""),
            (lambda: detection.nms_cases(vision), "nms, 20000 boxes, threshold 0.7"), (lambda: ps_roi_pool_case(vision), ""),
            (attention_case, ""), (spconv_cases, ""), (clouds.search_cases, "knn B 16, N 4096"),
            (clouds.search_cases, "ball_query B 16, N 1024"),
            (clouds.sample_cases, "furthest_point_sample B 16, 512 of 1024"))


def agree(name, functions, tensors, who):
    """Where both give the same thing; RoIs are not rounded here, and libraries of clouds give distances."""
    if "roi_pool, 1000" in name or who in ("scipy", "Open3D"):
        return
    if "same" in functions:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # with more, results of spconv's CPU code differ from call to call
        ours, theirs = functions["same"](*tensors)
        torch.set_num_threads(threads)
    else:
        ours, theirs = (functions[each](*tensors).double() for each in ("ours", who))
    if tensors or who == "spconv":
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-3), (name, who)
    else:
        assert (ours == theirs).double().mean() > 0.98, (name, who)


def least(functions, seconds):
    """The least times of functions that take turns."""
    times, end = [[] for _ in functions], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3:
        for function, own in zip(functions, times):
            start = time.perf_counter()
            function()
            own.append(time.perf_counter() - start)
    return [min(own) * 1e3 for own in times]


def rows(seconds, only):
    """[name, library, way, ours, theirs], milliseconds."""
    for cases, taken in groups(detection.torchvision_ops()):
        for name, tensors, functions in cases():
            if not name.startswith(taken) or only not in name:
                continue
            if "composed" in functions and not {*functions} & {*LIBRARIES} or taken.startswith("knn"):
                functions["torch"] = functions["composed"]
            for who in (each for each in LIBRARIES if each in functions):
                with torch.no_grad():
                    agree(name, functions, tensors, who)
                for way in ("forward", "backward") if tensors else ("forward",):
                    pair = [detection.gradients(functions[f], tensors) if way == "backward" else
                            lambda f=f: functions[f](*tensors) for f in ("ours", who)]
                    with torch.set_grad_enabled(way == "backward"):
                        yield name, who, way, *least(pair, seconds)


def short(time_ms):
    return f"{time_ms:.2f}" if time_ms < 10 else f"{time_ms:.1f}" if time_ms < 100 else f"{time_ms:.0f}"


def table(seconds, only):
    """Ours, theirs and how many times ours theirs is. Each process prints its rows as JSON."""
    cpus, found = sorted(os.sched_getaffinity(0)), {}
    for threads in TOGETHER:
        made = subprocess.run([sys.executable, __file__, str(threads), str(seconds), only], stdout=subprocess.PIPE, check=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, cpus[:threads]))
        for name, who, way, ours, theirs in json.loads(made.stdout.splitlines()[-1]):
            cell = f"{short(ours)}, {short(theirs)}: {theirs / ours:.1f}"
            found.setdefault((name, who), {})[way, threads] = cell
    columns = [(way, threads) for threads in TOGETHER for way in ("forward", "backward")]
    head = [f"{way}, {threads} thread{'s' * (threads > 1)}" for way, threads in columns]
    print(f"\n| ms | beside | {' | '.join(head)} |\n|---|---|{'---|' * len(head)}")
    for (name, who), cells in found.items():
        print(f"| {name} | {who} | {' | '.join(cells.get(column, '') for column in columns)} |", flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    print(json.dumps(list(rows(float(sys.argv[2]), sys.argv[3]))))
