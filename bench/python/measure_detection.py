"""The operators of detectors against what a user has without mluops: compositions of torch's operators, mmcv's own code for the
CPU (the composition of deformable attention is mmcv's), and torchvision where it can be imported."""

import importlib.util

import torch
from torch.nn import functional as F

import mluops.torch as mt

# The levels of an image of 800 x 1333 at strides 8 to 64 (deformable DETR) and 4 to 32 (RoIs of an FPN).
LEVELS = [(100, 167), (50, 84), (25, 42), (13, 21)]
PYRAMID = [(200, 334), (100, 167), (50, 84), (25, 42)]
ANCHORS = 9 * (sum(h * w for h, w in LEVELS) + 7 * 11)


def torchvision_ops():
    """None if it is missing or was built for another torch."""
    if importlib.util.find_spec("torchvision") is None:
        return None
    try:
        import torchvision
        torchvision.ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5)
        return torchvision.ops
    except (ImportError, OSError, RuntimeError, AttributeError):
        return None


def sigmoid_composed(x, target):
    """mmdet's py_sigmoid_focal_loss."""
    hot = F.one_hot(target, x.shape[1] + 1)[:, :-1].to(x.dtype)
    p = x.sigmoid()
    pt = (1 - p) * hot + p * (1 - hot)
    focal = (0.25 * hot + 0.75 * (1 - hot)) * pt.pow(2.0)
    return (F.binary_cross_entropy_with_logits(x, hot, reduction="none") * focal).sum()


def softmax_composed(x, target):
    logs = F.log_softmax(x, 1).gather(1, target[:, None])[:, 0]
    return (-0.25 * (1 - logs.exp()) ** 2.0 * logs).sum()


def attention_composed(value, shapes, locations, weights):
    """mmcv's multi_scale_deformable_attn_pytorch."""
    b, _, m, d = value.shape
    q, levels, points = locations.shape[1], *locations.shape[3:5]
    maps = value.split([h * w for h, w in shapes], dim=1)
    grids, samples = 2 * locations - 1, []
    for level, (h, w) in enumerate(shapes):
        image = maps[level].flatten(2).transpose(1, 2).reshape(b * m, d, h, w)
        grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
        samples.append(F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
    weights = weights.transpose(1, 2).reshape(b * m, 1, q, levels * points)
    return (torch.stack(samples, dim=-2).flatten(-2) * weights).sum(-1).view(b, m * d, q).transpose(1, 2).contiguous()


def roi_pool_composed(x, rois, scale):
    pooled = []
    for batch, x1, y1, x2, y2 in (rois * torch.tensor([1.0, scale, scale, scale, scale])).tolist():
        crop = x[int(batch), :, int(y1):int(y2) + 1, int(x1):int(x2) + 1]
        pooled.append(F.adaptive_max_pool2d(crop, 7))
    return torch.stack(pooled)


def roi_align_composed(x, rois, scale):
    """Two by two samples a bin by grid_sample, then their mean; of the RoIs of one image."""
    h, w = x.shape[2:]
    low, high = rois[:, 1:3] * scale - 0.5, rois[:, 3:5] * scale - 0.5
    steps = (torch.arange(14) + 0.5) / 14
    at = low[:, None] + (high - low)[:, None] * steps[:, None]  # [R, 14, 2]
    grid = torch.stack([((at[..., 0] + 0.5) * 2 / w - 1)[:, None].expand(-1, 14, -1),
                        ((at[..., 1] + 0.5) * 2 / h - 1)[:, :, None].expand(-1, -1, 14)], -1)
    samples = F.grid_sample(x, grid.reshape(1, -1, 14, 2), padding_mode="border", align_corners=False)
    return F.avg_pool2d(samples[0].reshape(x.shape[1], -1, 14, 14).transpose(0, 1), 2)


def nms_composed(boxes, scores, threshold):
    """The best box against all that are left, one after the other."""
    order, kept = scores.sort(0, descending=True)[1], []
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    while len(order) > 0:
        best, order = order[0], order[1:]
        kept.append(best)
        shared = (torch.min(boxes[best, 2:], boxes[order, 2:]) - torch.max(boxes[best, :2], boxes[order, :2]))
        shared = shared.clamp(min=0).prod(1)
        order = order[shared / (areas[best] + areas[order] - shared) <= threshold]
    return torch.stack(kept)


def focal_cases():
    x, target = torch.randn(ANCHORS, 80), torch.randint(0, 80, (ANCHORS,))
    yield (f"sigmoid_focal_loss [{ANCHORS},80]", [x],
           {"ours": lambda v: mt.sigmoid_focal_loss(v, target, 2.0, 0.25, reduction="sum"),
            "composed": lambda v: sigmoid_composed(v, target)})
    yield (f"softmax_focal_loss [{ANCHORS},80]", [x],
           {"ours": lambda v: mt.softmax_focal_loss(v, target, 2.0, 0.25, reduction="sum"),
            "composed": lambda v: softmax_composed(v, target)})


def attention_case():
    pixels = sum(h * w for h, w in LEVELS)
    value, at = torch.rand(1, pixels, 8, 32), torch.rand(1, pixels, 8, 4, 4, 2)
    # Samples lie within some pixels of their query, as those of an encoder.
    own = torch.cat([torch.stack([(torch.arange(h * w) % w + 0.5) / w, (torch.arange(h * w) // w + 0.5) / h], 1)
                     for h, w in LEVELS])
    sizes = torch.tensor([[w, h] for h, w in LEVELS]).float()
    at = own[None, :, None, None, None] + (at - 0.5) * 8 / sizes[:, None]
    weights = torch.rand(1, pixels, 8, 4, 4).flatten(3).softmax(3).view(1, pixels, 8, 4, 4)
    shapes = torch.tensor(LEVELS, dtype=torch.int32)
    sizes = shapes.prod(1)
    starts = (sizes.cumsum(0) - sizes).int()
    yield (f"ms_deform_attn, {pixels} queries, 8 heads of 32, 4 levels, 4 points", [value, at, weights],
           {"ours": lambda v, a, w: mt.multi_scale_deformable_attn(v, shapes, starts, a, w),
            "composed": lambda v, a, w: attention_composed(v, LEVELS, a, w)})


def proposals(count):
    """Boxes of an image of 800 x 1333, with sizes from 16 pixels to half of it."""
    size = 16 * 2 ** (torch.rand(count, 2) * 5)
    corner = torch.rand(count, 2) * (torch.tensor([1333.0, 800.0]) - size).clamp(min=1)
    return torch.cat([corner, (corner + size).min(torch.tensor([1332.0, 799.0]))], 1)


def roi_cases(vision):
    boxes = proposals(1000)
    rois = torch.cat([torch.zeros(1000, 1), boxes], 1)
    level = ((boxes[:, 2:] - boxes[:, :2]).prod(1).sqrt() / 56).log2().floor().clamp(0, 3)
    each = [rois[level == i] for i in range(4)]
    maps = [torch.rand(1, 256, h, w) for h, w in PYRAMID]

    def on_levels(function):
        return lambda *maps: torch.cat([function(x, r, 0.25 / 2 ** i) for i, (x, r) in enumerate(zip(maps, each))])

    def theirs(function):
        return {"torchvision": on_levels(function)} if vision else {}

    yield ("roi_align, 1000 RoIs on 4 levels, 7 x 7, 4 samples", maps,
           {"ours": on_levels(lambda x, r, s: mt.roi_align(x, r, 7, s, 2, "avg", True)),
            "composed": on_levels(roi_align_composed),
            **theirs(lambda x, r, s: vision.roi_align(x, r, 7, s, 2, True))})
    yield ("the same, as many samples as pixels", maps,
           {"ours": on_levels(lambda x, r, s: mt.roi_align(x, r, 7, s, 0, "avg", True)),
            **theirs(lambda x, r, s: vision.roi_align(x, r, 7, s, -1, True))})
    yield ("roi_pool, 1000 RoIs on 4 levels, 7 x 7", maps,
           {"ours": on_levels(lambda x, r, s: mt.roi_pool(x, r, 7, s)), "composed": on_levels(roi_pool_composed),
            **theirs(lambda x, r, s: vision.roi_pool(x, r, 7, s))})


def dcn_cases(vision):
    """Modulated, 3 x 3: the last three stages of a ResNet-50."""
    for channels, h, w in ((128, 100, 168), (256, 50, 84), (512, 25, 42)) if vision else ():
        tensors = [torch.randn(1, channels, h, w), torch.randn(1, 18, h, w), torch.rand(1, 9, h, w),
                   torch.randn(channels, channels, 3, 3) / (3 * channels ** 0.5)]
        yield (f"deform_conv2d, {channels} channels, {h} x {w}", tensors,
               {"ours": lambda x, offset, mask, weight: mt.modulated_deform_conv2d(x, offset, mask, weight, None, 1, 1),
                "torchvision": lambda x, offset, mask, weight: vision.deform_conv2d(x, offset, weight, padding=1,
                                                                                    mask=mask)})


def nms_cases(vision):
    boxes, scores = proposals(20000), torch.randperm(20000) / 20000  # no two alike
    for threshold in (0.5, 0.7):
        yield (f"nms, 20000 boxes, threshold {threshold}", [],
               {"ours": lambda t=threshold: mt.nms(boxes, scores, t)[1],
                "composed": lambda t=threshold: nms_composed(boxes, scores, t),
                **({"torchvision": lambda t=threshold: vision.nms(boxes, scores, t)} if vision else {})})


def gradients(function, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    output = function(*leaves)
    grad = torch.rand_like(output)
    return lambda: torch.autograd.grad(output, leaves, grad, retain_graph=True)


def agree(name, functions, tensors):
    """What is compared computes the same, but for roi_pool: mmcv does not round the RoIs, others do."""
    if name.startswith("roi_pool"):
        return
    with torch.no_grad():
        results = {who: function(*tensors) for who, function in functions.items()}
    for who, result in results.items():
        assert torch.allclose(result.double(), results["ours"].double(), rtol=1e-3, atol=1e-3), (name, who)


def detection(seconds, only, medians):
    vision = torchvision_ops()
    table((focal_cases, attention_case, lambda: roi_cases(vision), lambda: dcn_cases(vision), lambda: nms_cases(vision)),
          ("torchvision",), agree, seconds, only, medians)


def table(groups, libraries, agree, seconds, only, medians):
    """Milliseconds, ours beside theirs in turns."""
    columns = ("ours", "composed", *libraries)
    ratios = [f"{who} / ours" for who in columns[1:]]
    print(f"\n| ms | {' | '.join([*columns, *ratios])} |\n|{'---|' * (2 * len(columns))}", flush=True)
    for cases in groups:
        for name, tensors, functions in cases():
            if only not in name:
                continue
            agree(name, functions, tensors)
            for way in ("forward", "backward") if tensors else ("",):
                calls = {who: gradients(f, tensors) if way == "backward" else lambda f=f: f(*tensors)
                         for who, f in functions.items()}
                with torch.set_grad_enabled(way == "backward"):
                    times = dict(zip(calls, medians(list(calls.values()), seconds, burst=3)))
                cells = [f"{times[who] / 1e3:.2f}" if who in times else "" for who in columns]
                cells += [f"{times[who] / times['ours']:.1f}" if who in times else "" for who in columns[1:]]
                print(f"| {name} {way} | {' | '.join(cells)} |", flush=True)
