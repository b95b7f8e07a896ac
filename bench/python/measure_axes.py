"""Operators of points and RoIs along two axes that no network case shows: how many RoIs, and how many channels, in both
layouts. `measure.py --only axes` prints the tables; `--case` takes a part of an operator's name.

RoIs go over a map of 200 x 336 pixels with 256 channels, channels over one of 50 x 84 with 256 RoIs; then crops of an
image and masked pixels. Least times of calls that take turns, in milliseconds; `times` is NCHW over channels_last."""

import math

import torch

import mluops.torch as mt
from measure_detection import gradients, torchvision_ops

ROIS, CHANNELS = (1, 4, 16, 100, 1000), (1, 3, 8, 15, 16, 17, 33, 64, 65, 129, 256, 1024)
SCALE, BINS = 0.25, 7


class Boxes:
    """RoIs on a map, in every operator's form; sides of 8 to 128 pixels of the map."""

    def __init__(self, count, h, w):
        random = torch.Generator().manual_seed(7)
        unit = torch.rand(count, 5, generator=random)
        limit = torch.tensor([w, h]) / 2
        half = (4 * 16 ** unit[:, 2:4]).minimum(limit)
        centre = half + unit[:, :2] * (torch.tensor([w, h]) - 2 * half)
        corners, image = torch.cat([centre - half, centre + half], 1) / SCALE, torch.zeros(count, 1)
        self.count, self.upright = count, torch.cat([image, corners], 1)
        self.rotated = torch.cat([image, centre / SCALE, 2 * half / SCALE, unit[:, 4:] * math.pi], 1)
        x1, y1, x2, y2 = corners.unbind(1)
        across = [x1 + (x2 - x1) * i / 3 for i in range(4)]
        upper = torch.stack([n for x in across for n in (x, y1)], 1)
        lower = torch.stack([n for x in across[::-1] for n in (x, y2)], 1)
        self.curves = torch.cat([image, upper, lower], 1)
        steps = torch.linspace(0, 1, BINS)
        y = (y1[:, None] + (y2 - y1)[:, None] * steps) * SCALE / (h - 1) * 2 - 1
        x = (x1[:, None] + (x2 - x1)[:, None] * steps) * SCALE / (w - 1) * 2 - 1
        self.grid = torch.stack([y[:, :, None].expand(-1, -1, BINS), x[:, None].expand(-1, BINS, -1)], 3).contiguous()
        self.offset = torch.rand(count, 2, BINS, BINS, generator=random) - 0.5


def operators(tv):
    """name: (ours(map, boxes), a peer of the same kind of work or None, channels of the map for c of the output)"""
    def both(name):
        return getattr(tv, name) if tv else None

    align, pool, position = both("roi_align"), both("roi_pool"), both("ps_roi_pool")
    square = (BINS, BINS)
    return {
        "border_align": (lambda x, b: mt.border_align(x, b.upright[None, :, 1:] * SCALE, 10), None, 4),
        "roi_crop": (lambda x, b: mt.roi_crop(x, b.grid), lambda x, b: torch.nn.functional.grid_sample(
            x, b.grid.flip(3).reshape(1, -1, BINS, 2), align_corners=True), 1),
        "roi_align_rotated": (lambda x, b: mt.roi_align_rotated(x, b.rotated, square, SCALE, 2), None, 1),
        "riroi_align_rotated": (lambda x, b: mt.riroi_align_rotated(x, b.rotated, square, SCALE, 2, 8), None, 8),
        "bezier_align": (lambda x, b: mt.bezier_align(x, b.curves, square, SCALE, 2), None, 1),
        "prroi_pool": (lambda x, b: mt.prroi_pool(x, b.upright, square, SCALE), None, 1),
        "roi_align": (lambda x, b: mt.roi_align(x, b.upright, square, SCALE, 2, "avg", True),
                      align and (lambda x, b: align(x, b.upright, BINS, SCALE, 2, True)), 1),
        "roi_align max": (lambda x, b: mt.roi_align(x, b.upright, square, SCALE, 2, "max", True), None, 1),
        "deform_roi_pool": (lambda x, b: mt.deform_roi_pool(x, b.upright, b.offset, square, SCALE, 2), None, 1),
        "roi_pool": (lambda x, b: mt.roi_pool(x, b.upright, square, SCALE),
                     pool and (lambda x, b: pool(x, b.upright, BINS, SCALE)), 1),
        "ps_roi_pool": (lambda x, b: mt.ps_roi_pool(x, b.upright, square, SCALE),
                        position and (lambda x, b: position(x, b.upright, BINS, SCALE)), BINS * BINS),
    }


def gradient(function, x):
    return gradients(function, [x])


def forward(function, x):
    def call():
        with torch.no_grad():
            return function(x)
    return call


def line(name, axis, x, ours, theirs, seconds, least, directions=(("forward", forward), ("backward", gradient))):
    last = x.contiguous(memory_format=torch.channels_last)
    for direction, make in directions:
        calls = [make(ours, x), make(ours, last)] + ([make(theirs, x)] if theirs else [])
        nchw, nhwc, *peer = least(calls, seconds)
        cells = [f"{t:.3f}" for t in (nchw, nhwc, *peer)] + [""] * (1 - len(peer))
        print(f"| {name} | {direction} | {axis} | {' | '.join(cells)} | {nchw / nhwc:.2f} |", flush=True)


def head(axis):
    print(f"\n| operator | | {axis} | NCHW | channels_last | peer | times |\n|---|---|---|---|---|---|---|")


def axes(seconds, only, least):
    chosen = {name: found for name, found in operators(torchvision_ops()).items() if only in name}
    head("RoIs")
    for name, (ours, theirs, group) in chosen.items():
        c, h, w = (490, 50, 84) if name == "ps_roi_pool" else (256, 200, 336)
        x = torch.rand(1, c, h, w)
        for count in ROIS:
            boxes = Boxes(count, h, w)
            line(name, count, x, lambda x: ours(x, boxes), theirs and (lambda x: theirs(x, boxes)), seconds, least)
    head("channels")
    boxes = Boxes(256, 50, 84)
    for name, (ours, theirs, group) in chosen.items():
        for c in CHANNELS:
            x = torch.rand(1, c if name != "border_align" and group == 1 else c * group, 50, 84)
            if x.numel() < 1 << 23:
                line(name, c, x, lambda x: ours(x, boxes), theirs and (lambda x: theirs(x, boxes)), seconds, least)
    head("crops, and masked pixels")
    for size in (64, 128, 224) if "roi_align" in chosen else ():
        boxes, align = Boxes(1, 200, 333), torchvision_ops()
        line("roi_align of [1,3,800,1333]", f"1 x {size}^2", torch.rand(1, 3, 800, 1333),
             lambda x: mt.roi_align(x, boxes.upright, size, 1.0, 2, "avg", True),
             align and (lambda x: align.roi_align(x, boxes.upright, size, 1.0, 2, True)), seconds, least)
    weight, bias = torch.rand(64, 256, 3, 3), torch.rand(64)
    for count in (10, 1000) if only in "masked_conv2d" else ():
        mask = torch.zeros(1, 200, 336)
        mask.view(-1)[torch.randperm(200 * 336, generator=torch.Generator().manual_seed(7))[:count]] = 1
        line("masked_conv2d", count, torch.rand(1, 256, 200, 336), lambda x: mt.masked_conv2d(x, mask, weight, bias, 1),
             None, seconds, least)
    rfa = torch.rand(1, 50, 84, 5) * torch.tensor([400, 672, 64, 64, 1.0])
    for c in (3, 16, 256) if only in "rotated_feature_align" else ():
        line("rotated_feature_align", f"{c} channels", torch.rand(1, c, 50, 84),
             lambda x: mt.rotated_feature_align(x, rfa, 1 / 8, 5), None, seconds, least)
