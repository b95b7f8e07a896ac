#!/usr/bin/env python3
"""The operators as one composes them from stock PyTorch, timed on the CPU.

Says "ready", then answers each line "operator<TAB>the case with every parameter" (key=value ...) of standard input with a
line: the median of a call in milliseconds, or "-" for an operator that is not composed here. Data are random; what is
compared is time, not values.
Exit status 3: torch cannot be imported.
"""
import argparse
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"peers.py: {error}", file=sys.stderr)
    sys.exit(3)


def numbers(case, *names):
    return [int(case[name]) for name in names]


def carafe(case):
    n, h, w, c, k, g, s = numbers(case, *"nhwckgs")
    r = (k - 1) // 2

    def run(x, weights):
        # One shifted copy of the map per tap, stretched to the output by broadcasting over the s x s subpixels.
        padded = F.pad(x, (r, r, r, r)).view(n, g, c // g, h + 2 * r, w + 2 * r)
        taps = weights.view(n, g, k, k, h, s, w, s)
        total = x.new_zeros(n, g, c // g, h, s, w, s)
        for i in range(k):
            for j in range(k):
                tap = padded[..., i:i + h, j:j + w].unsqueeze(-2).unsqueeze(-1)
                total = total + tap.transpose(-3, -2).reshape(n, g, c // g, h, 1, w, 1) * taps[:, :, None, i, j]
        return total.view(n, c, h * s, w * s)

    return run, [torch.randn(n, c, h, w), torch.rand(n, g * k * k, h * s, w * s)]


def psamask(case):
    n, h, w, mask, distribute = numbers(case, "n", "h", "w", "hm", "type")
    half = (mask - 1) // 2
    rows = torch.arange(h)[None, :] - torch.arange(h)[:, None] + half  # [position, target]
    cols = torch.arange(w)[None, :] - torch.arange(w)[:, None] + half
    inside = ((rows >= 0) & (rows < mask))[:, None, :, None] & ((cols >= 0) & (cols < mask))[None, :, None, :]
    cell = rows.clamp(0, mask - 1)[:, None, :, None] * mask + cols.clamp(0, mask - 1)[None, :, None, :]
    cell, inside = cell.reshape(1, h * w, h * w), inside.reshape(1, h * w, h * w)

    def run(x):
        y = x.gather(2, cell.expand(n, -1, -1)).masked_fill(~inside, 0)
        return y.transpose(1, 2).contiguous() if distribute else y

    return run, [torch.randn(n, h * w, mask * mask)]


def three_interpolate(case):
    b, c, n, m = numbers(case, *"bcnm")
    index = torch.randint(0, m, (b, 1, 3 * n)).expand(-1, c, -1)
    weights = torch.rand(b, 1, n, 3)

    def run(features):
        return (features.gather(2, index).view(b, c, n, 3) * weights).sum(3)

    return run, [torch.randn(b, c, m)]


def normalized(v, size):
    return v * (2 / max(size - 1, 1)) - 1


def border_align(case):
    n, h, w, c, k, pool = numbers(case, *"nhwckp")
    size = torch.tensor([w, h], dtype=torch.float32)
    first, second = torch.rand(n, k, 2) * size * 0.5, (0.5 + torch.rand(n, k, 2) * 0.5) * size - 1
    step = torch.arange(pool + 1) / pool
    dx, dy = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    walks = [(first, second - first, dx), (first, second - first, dy), (second, first - second, dx),
             (second, first - second, dy)]
    points = torch.stack([p[:, :, None] + (d * axis)[:, :, None] * step[:, None] for p, d, axis in walks], 1)
    grid = torch.stack([normalized(points[..., 0], w), normalized(points[..., 1], h)], -1).view(n * 4, k, pool + 1, 2)

    def run(x):
        return F.grid_sample(x.view(n * 4, c, h, w), grid, align_corners=True).amax(-1)

    return run, [torch.randn(n, 4 * c, h, w)]


def deform_roi_pool(case):
    b, h, w, c, rois, pooled, samples, shifted = numbers(case, *"bhwcr", "ph", "ratio", "offset")
    gamma = float(case["gamma"])
    batch = torch.randint(0, b, (rois,))
    start = torch.rand(rois, 2) * torch.tensor([w, h]) * 0.6
    extent = 1 + torch.rand(rois, 2) * torch.tensor([w, h]) * 0.35
    steps = (torch.arange(pooled)[:, None] + (torch.arange(samples) + 0.5) / samples) / pooled
    x = (start[:, 0, None, None] + extent[:, 0, None, None] * steps)[:, None, :, None, :]
    y = (start[:, 1, None, None] + extent[:, 1, None, None] * steps)[:, :, None, :, None]
    members = [(i, (batch == i).nonzero().flatten()) for i in range(b)]

    def run(feature, offset=None):
        shape = (rois, pooled, pooled, samples, samples)
        xs, ys = x.expand(shape), y.expand(shape)
        if offset is not None:
            shift = gamma * extent[:, :, None, None] * offset
            xs, ys = xs + shift[:, 0, :, :, None, None], ys + shift[:, 1, :, :, None, None]
        grid = torch.stack([normalized(xs, w), normalized(ys, h)], -1)
        pools = []
        for i, own in members:
            points = grid[own].reshape(1, -1, samples * samples, 2)
            values = F.grid_sample(feature[i:i + 1], points, padding_mode="border", align_corners=True)
            pools.append(values.mean(-1).view(c, len(own), pooled, pooled))
        return torch.cat(pools, 1)

    leaves = [torch.randn(b, c, h, w)]
    if shifted:
        leaves.append(torch.rand(rois, 2, pooled, pooled) * 2 - 1)
    return run, leaves


COMPOSITIONS = {f.__name__: f for f in (carafe, psamask, three_interpolate, border_align, deform_roi_pool)}


def median_ms(call, seconds):
    begin = time.perf_counter()
    call()
    first = time.perf_counter() - begin
    if first > seconds:  # so long a call does not notice that it was the first
        return first * 1e3
    times, begin = [], time.perf_counter()
    while len(times) < 2 or (time.perf_counter() - begin < seconds and len(times) < 1000):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def measure(operator, case, seconds):
    name, direction = operator.rsplit("_", 1)
    run, leaves = COMPOSITIONS[name](case)
    if direction == "forward":
        with torch.no_grad():
            return median_ms(lambda: run(*leaves), seconds)
    leaves = [leaf.requires_grad_() for leaf in leaves]
    out = run(*leaves)
    grad = torch.randn_like(out)
    return median_ms(lambda: torch.autograd.grad(out, leaves, grad, retain_graph=True), seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="of calls per line")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    print("ready", flush=True)
    for line in sys.stdin:
        operator, case = line.rstrip("\n").split("\t")
        if operator.rsplit("_", 1)[0] in COMPOSITIONS:
            parameters = dict(pair.split("=") for pair in case.split())
            print(f"{measure(operator, parameters, args.seconds):.6g}", flush=True)
        else:
            print("-", flush=True)


if __name__ == "__main__":
    main()
