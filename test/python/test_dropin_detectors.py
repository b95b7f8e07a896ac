"""The extensions of older detectors and of flow networks, called as their programs do, against plain torch in float64."""

import importlib
import math
import sys
import types

import pytest

torch = pytest.importorskip("torch")
from dropin_doors import door, near, opened, package, random  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import compositions  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with opened("deform_conv", "maskrcnn_benchmark", "mmdet", "cpools", "adet", "maptr", "sparse4d"):
        yield


@pytest.fixture
def packages(monkeypatch):
    for name in ("maskrcnn_benchmark", "adet", "fork"):
        monkeypatch.setitem(sys.modules, name, package(name))


def boxes(n, size, seed=0):
    corner = torch.rand(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * size * 0.6
    side = torch.rand(n, 2, generator=torch.Generator().manual_seed(seed + 1), dtype=torch.float64) * size * 0.4 + 1
    return torch.cat([corner, corner + side], 1)


def rois(n, batch, size, seed=0):
    which = torch.randint(batch, (n, 1), generator=torch.Generator().manual_seed(seed + 2)).double()
    return torch.cat([which, boxes(n, size, seed)], 1)


# ---- suppression


def kept(b, scores, threshold, offset, labels=None):
    """Greedy, in increasing order of the indices."""
    left = scores.argsort(descending=True).tolist()
    keep = []
    while left:
        i = left.pop(0)
        keep.append(i)
        low, high = torch.maximum(b[i, :2], b[left][:, :2]), torch.minimum(b[i, 2:], b[left][:, 2:])
        shared = (high - low + offset).clamp(min=0).prod(1)
        area = (b[:, 2:] - b[:, :2] + offset).prod(1)
        iou = shared / (area[i] + area[left] - shared)
        left = [j for j, o in zip(left, iou.tolist()) if o <= threshold or labels is not None and labels[j] != labels[i]]
    return sorted(keep)


def test_suppression(packages):
    b, scores = boxes(60, 50), random(60, seed=5).sigmoid()
    labels = torch.arange(60) % 3
    c = door("maskrcnn_benchmark._C")
    assert c.nms(b, scores, 0.3).tolist() == kept(b, scores, 0.3, 1)
    assert c.ml_nms(b, scores, labels.double(), 0.3).tolist() == kept(b, scores, 0.3, 1, labels)
    dets = torch.cat([b, scores[:, None]], 1)
    for name in ("nms_cpu", "nms_cuda", "nms_ext"):
        assert door(name).nms(dets, 0.3).tolist() == kept(b, scores, 0.3, 1)
        assert door(name).nms(dets[:0], 0.3).tolist() == []


def test_suppression_of_mmdet_2(monkeypatch):
    module = types.ModuleType("mmdet")
    module.__version__ = "2.0.0"
    monkeypatch.setitem(sys.modules, "mmdet", module)
    b, scores = boxes(60, 12), random(60, seed=5).sigmoid()
    dets = torch.cat([b, scores[:, None]], 1)
    assert door("nms_ext").nms(dets, 0.3).tolist() == kept(b, scores, 0.3, 0) != kept(b, scores, 0.3, 1)


def test_softened_scores(packages):
    b, scores = boxes(20, 30), random(20, seed=5).sigmoid()
    left, order, s = list(range(20)), [], scores.clone()
    while left:
        i = max(left, key=lambda j: (s[j].item(), -j))
        left.remove(i)
        order.append(i)
        low, high = torch.maximum(b[i, :2], b[:, :2]), torch.minimum(b[i, 2:], b[:, 2:])
        shared = (high - low + 1).clamp(min=0).prod(1)
        area = (b[:, 2:] - b[:, :2] + 1).prod(1)
        weight = torch.exp(-(shared / (area[i] + area - shared)) ** 2 / 0.5)
        s[left] *= weight[left]
    indices, softened = door("maskrcnn_benchmark._C").soft_nms(b, scores, 0.3, 0.5)
    assert indices.tolist() == order
    near(softened, s[order], 1e-9)
    found = door("nms_ext").soft_nms(torch.cat([b, scores[:, None]], 1), 0.3, 2, 0.5, 0.0)
    assert found[:, 5].long().tolist() == order
    dets, inds = door("fork.soft_nms_cpu" if "fork" in sys.modules else "soft_nms_cpu").soft_nms_cpu(
        torch.cat([b, scores[:, None]], 1).numpy(), 0.3, method=2, sigma=0.5, min_score=0.0)
    assert inds.tolist() == order and dets.shape == (20, 5)


# ---- RoIs


def test_roi_align_of_maskrcnn_benchmark(packages):
    c, x, r = door("maskrcnn_benchmark._C"), random(2, 3, 12, 14).requires_grad_(), rois(5, 2, 40)
    wanted = compositions.roi_align(x, r, (3, 2), 0.25, 2, "avg", False)
    near(c.roi_align_forward(x.detach(), r, 0.25, 3, 2, 2), wanted)
    grad = random(*wanted.shape, seed=3)
    near(c.roi_align_backward(grad, r, 0.25, 3, 2, 2, 3, 12, 14, 2), torch.autograd.grad(wanted, x, grad)[0])


def test_roi_align_of_mmdet_1():
    """The last pixel counts, and small RoIs stay small."""
    module, x, r = door("roi_align_cuda"), random(2, 3, 12, 14).requires_grad_(), rois(5, 2, 40)
    r[0, 3:] = r[0, 1:3] + 1.5
    output = torch.zeros(5, 3, 3, 2, dtype=torch.float64)
    parts = []
    for image, x1, y1, x2, y2 in r.tolist():
        x1, y1, x2, y2 = (v * 0.25 for v in (x1, y1, x2 + 1, y2 + 1))
        ys = torch.tensor([y1 + (y2 - y1) / 3 * (i + (k + 0.5) / 2) for i in range(3) for k in range(2)])
        xs = torch.tensor([x1 + (x2 - x1) / 2 * (j + (k + 0.5) / 2) for j in range(2) for k in range(2)])
        y, x_ = torch.meshgrid(ys.double(), xs.double(), indexing="ij")
        at = compositions.bilinear(x[int(image)], y.flatten(), x_.flatten())
        parts.append(at.reshape(3, 3, 2, 2, 2).mean((2, 4)))
    wanted = torch.stack(parts)
    module.forward(x.detach(), r, 3, 2, 0.25, 2, output)
    near(output, wanted, 1e-6)
    grad, buffer = random(*wanted.shape, seed=3), torch.zeros_like(x)
    door("roi_align_ext").backward_v1(grad, r, 3, 2, 0.25, 2, buffer)
    near(buffer, torch.autograd.grad(wanted, x, grad)[0], 1e-6)
    near(door("roi_align_ext").forward_v2(x.detach(), r, 0.25, 3, 2, 2, True),
         compositions.roi_align(x, r, (3, 2), 0.25, 2, "avg", True))


def test_roi_pool_that_rounds(packages):
    c, x, r = door("maskrcnn_benchmark._C"), random(2, 3, 12, 14).requires_grad_(), rois(6, 2, 40)
    output, argmax = c.roi_pool_forward(x.detach(), r, 0.25, 3, 2)
    parts = []
    for image, *corners in r.tolist():
        x1, y1, x2, y2 = (int(math.floor(v * 0.25 + 0.5)) for v in corners)
        h, w = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        bins = []
        for i in range(3):
            for j in range(2):
                top, low = (min(max(y1 + v, 0), 12) for v in (math.floor(i * h / 3), math.ceil((i + 1) * h / 3)))
                left, right = (min(max(x1 + v, 0), 14) for v in (math.floor(j * w / 2), math.ceil((j + 1) * w / 2)))
                window = x[int(image), :, top:low, left:right].flatten(1)
                bins.append(window.max(1)[0] if window.shape[1] else x.new_zeros(3))
        parts.append(torch.stack(bins, 1).reshape(3, 3, 2))
    wanted = torch.stack(parts)
    near(output, wanted)
    grad = random(*wanted.shape, seed=3)
    near(c.roi_pool_backward(grad, x, r, argmax, 0.25, 3, 2, 2, 3, 12, 14), torch.autograd.grad(wanted, x, grad)[0])


def test_roi_pool_of_mmdet():
    x, r = random(2, 3, 12, 14), rois(6, 2, 40)
    output, argmax = torch.zeros(6, 3, 3, 2, dtype=torch.float64), torch.zeros(6, 3, 3, 2, dtype=torch.int32)
    assert door("roi_pool_cuda").forward(x, r, 3, 2, 0.25, output, argmax) == 1
    near(output, importlib.import_module("mluops.torch").roi_pool(x, r, (3, 2), 0.25))
    grad_input = torch.zeros_like(x)
    door("roi_pool_ext").backward(torch.ones_like(output), r, argmax, 0.25, grad_input)
    near(grad_input.sum(), (output != 0).sum().double())


def psroi(data, r, offset, scale, channels, groups, size, part, samples, std):
    """Deformable position-sensitive RoI pooling, one sample at a time."""
    out, counts = [], []
    height, width = data.shape[2:]
    classes = 1 if offset is None else offset.shape[1] // 2
    for n, (image, *corners) in enumerate(r.tolist()):
        x1, y1, x2, y2 = (math.floor(abs(v) + 0.5) * math.copysign(1, v) for v in corners)
        x1, y1, x2, y2 = x1 * scale - 0.5, y1 * scale - 0.5, (x2 + 1) * scale - 0.5, (y2 + 1) * scale - 0.5
        w, h = max(x2 - x1, 0.1), max(y2 - y1, 0.1)
        for c in range(channels):
            for i in range(size):
                for j in range(size):
                    dx = dy = 0.0
                    if offset is not None:
                        k, p, q = c // (channels // classes), i * part // size, j * part // size
                        dx, dy = offset[n, 2 * k, p, q] * std * w, offset[n, 2 * k + 1, p, q] * std * h
                    gi, gj = min(i * groups // size, groups - 1), min(j * groups // size, groups - 1)
                    plane = data[int(image), (c * groups + gi) * groups + gj][None]
                    values = []
                    for s in range(samples):
                        for t in range(samples):
                            y = torch.as_tensor(y1 + i * h / size + s * h / size / samples + dy, dtype=torch.float64)
                            x = torch.as_tensor(x1 + j * w / size + t * w / size / samples + dx, dtype=torch.float64)
                            if -0.5 < y < height - 0.5 and -0.5 < x < width - 0.5:
                                y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
                                values.append(compositions.bilinear(plane, y[None], x[None])[0, 0])
                    out.append(torch.stack(values).mean() if values else data.new_zeros(()))
                    counts.append(len(values))
    shape = len(r), channels, size, size
    return torch.stack(out).reshape(shape), torch.tensor(counts).double().reshape(shape)


@pytest.mark.parametrize("groups, classes", [(1, 1), (2, 2), (1, None)])
def test_deform_psroi_pooling(packages, groups, classes):
    data, r = random(2, 4 * groups ** 2, 9, 8).requires_grad_(), rois(3, 2, 30)
    r[0, 1:] = torch.tensor([-20.0, 4.0, 18.0, 60.0])
    offset = (random(3, 2 * (classes or 1), 3, 3, seed=4) * 3).requires_grad_()
    no_trans = classes is None
    numbers = 0.25, 4, groups, 3, 3, 2, 0.1
    wanted, counts = psroi(data, r, None if no_trans else offset, *numbers)
    grad = random(*wanted.shape, seed=5)
    expected = torch.autograd.grad(wanted, [data] + [offset] * (not no_trans), grad)
    for module in (door("maskrcnn_benchmark._C"), door("deform_pool_ext"), door("deform_pool_cuda")):
        prefix = "deform_psroi_pooling" + ("_cuda" if module.__name__ == "deform_pool_cuda" else "")
        output, count = torch.zeros_like(wanted), torch.zeros_like(wanted)
        getattr(module, f"{prefix}_forward")(data, r, offset, output, count, no_trans, *numbers)
        near(output, wanted)
        assert torch.equal(count, counts)
        buffers = torch.zeros_like(data), torch.ones_like(offset)
        getattr(module, f"{prefix}_backward")(grad, data, r, offset, count, *buffers, no_trans, *numbers)
        near(buffers[0], expected[0])
        near(buffers[1], torch.ones_like(offset) if no_trans else 1 + expected[1])


# ---- losses, masks, CARAFE


@pytest.mark.parametrize("first", [1, 0])
def test_sigmoid_focal_loss(packages, monkeypatch, first):
    """Targets count from 1 (0 is the background), those of mmdet 2 from 0 (the number of classes is)."""
    x = random(9, 4).requires_grad_()
    targets = torch.arange(9) % 5 + (first - 1)
    targets[3] = -1
    hot = F.one_hot((targets - first).clamp(min=0), 5)[:, :4].double() * ((targets >= first) & (targets < 4 + first))[:, None]
    p = x.sigmoid()
    wanted = -(hot * 0.25 * (1 - p) ** 2 * p.log() + (1 - hot) * 0.75 * p ** 2 * (1 - p).log()) * (targets >= 0)[:, None]
    grad = random(9, 4, seed=1)
    slope, = torch.autograd.grad(wanted, x, grad)
    if first == 1:
        c = door("maskrcnn_benchmark._C")
        near(c.sigmoid_focalloss_forward(x, targets.int(), 4, 2.0, 0.25), wanted)
        near(c.sigmoid_focalloss_backward(x, targets.int(), grad, 4, 2.0, 0.25), slope)
    else:
        module = types.ModuleType("mmdet")
        module.__version__ = "2.1.0"
        monkeypatch.setitem(sys.modules, "mmdet", module)
    for name in ("sigmoid_focal_loss_ext", "sigmoid_focal_loss_cuda"):
        near(door(name).forward(x, targets, 4, 2.0, 0.25), wanted)
        near(door(name).backward(x, targets, grad, 4, 2.0, 0.25), slope)


def test_masked_convolution():
    module, x = door("masked_conv2d_cuda"), random(1, 3, 6, 7)
    rows, columns = torch.tensor([0, 2, 5]), torch.tensor([1, 6, 3])
    col = torch.zeros(3 * 9, 3, dtype=torch.float64)
    module.masked_im2col_forward(x, rows, columns, 3, 3, 1, 1, col)
    unfolded = F.unfold(x, 3, padding=1)[0].reshape(3 * 9, 6, 7)
    near(col, unfolded[:, rows, columns])
    im = torch.zeros(1, 4, 6, 7, dtype=torch.float64)
    values = random(4, 3, seed=2)
    module.masked_col2im_forward(values, rows, columns, 6, 7, 4, im)
    near(im[0, :, rows, columns], values)


@pytest.mark.parametrize("naive", [False, True])
def test_carafe(naive):
    module = door("carafe_naive_ext" if naive else "carafe_ext")
    x, masks = random(2, 4, 5, 6).requires_grad_(), random(2, 18, 10, 12, seed=1).requires_grad_()
    wanted = compositions.carafe(x, masks, 3, 2, 2)
    output, kept_features = torch.zeros_like(wanted), torch.zeros_like(x)
    grad, buffers = random(*wanted.shape, seed=2), (torch.zeros_like(x), torch.zeros_like(masks))
    scratch = [torch.zeros(1)] * 4
    if naive:
        module.forward(x.detach(), masks.detach(), 3, 2, 2, output)
        module.backward(grad, x.detach(), masks.detach(), 3, 2, 2, *buffers)
    else:
        module.forward(x.detach(), kept_features, masks.detach(), scratch[0], 3, 2, 2, scratch[1], output)
        module.backward(grad, kept_features, masks.detach(), 3, 2, 2, *scratch, *buffers)
    near(output, wanted)
    for buffer, slope in zip(buffers, torch.autograd.grad(wanted, (x, masks), grad)):
        near(buffer, slope)


# ---- corner pools, rotated things


@pytest.mark.parametrize("place, axis, from_end", [("top", 2, True), ("bottom", 2, False), ("left", 3, True),
                                                   ("right", 3, False)])
def test_corner_pools(place, axis, from_end):
    x = (random(2, 3, 5, 6) * 2).round().requires_grad_()  # with equal elements
    size, parts = x.shape[axis], []
    for k in range(size):
        part = x.narrow(axis, k if from_end else 0, size - k if from_end else k + 1)
        parts.append(part.max(axis)[0])
    wanted = torch.stack(parts, axis)
    near(door(f"{place}_pool").forward(x.detach())[0], wanted)
    grad = random(*wanted.shape, seed=1)
    found = door("corner_pool_ext").__dict__[f"{place}_pool_backward"](x.detach(), grad)[0]
    slope = torch.zeros_like(x)  # to the first of equal elements on the way
    order = range(size - 1, -1, -1) if from_end else range(size)
    best, at = torch.full_like(x.select(axis, 0), -1e9), torch.zeros_like(x.select(axis, 0)).long()
    for k in order:
        here = x.detach().select(axis, k)
        better = here > best
        best, at = torch.where(better, here, best), torch.where(better, torch.full_like(at, k), at)
        slope.scatter_add_(axis, at.unsqueeze(axis), grad.select(axis, k).unsqueeze(axis))
    near(found, slope)


def test_orientations():
    module, directions = door("orn_cuda"), None
    x = random(2, 3 * 8, 1, 1).requires_grad_()
    directions, turned = module.rie_forward(x.detach(), 8)
    groups = x.reshape(2, 3, 8)
    wanted = torch.stack([torch.stack([groups[i, j].roll(-int(directions[i, j])) for j in range(3)]) for i in range(2)])
    assert directions.dtype == torch.uint8 and (wanted.argmax(2) == 0).all()
    near(turned, wanted.reshape(turned.shape))
    grad = random(*x.shape, seed=1)
    near(module.rie_backward(directions, grad, 8), torch.autograd.grad(wanted.reshape(grad.shape), x, grad)[0])
    weights, indices = random(4, 2, 2, 3, 3), (torch.stack([torch.randperm(18) for _ in range(5)], 1) + 1)
    out = module.arf_forward(weights, indices.reshape(2, 3, 3, 5).byte())
    assert out.shape == (20, 4, 3, 3)
    for r in range(5):
        near(out.reshape(4, 5, 2, 18)[:, r][..., indices[:, r] - 1], weights.reshape(4, 2, 18))
    grad = random(*out.shape, seed=3)
    back = module.arf_backward(indices.reshape(2, 3, 3, 5).byte(), grad)
    near(back.reshape(4, 2, 18), sum(grad.reshape(4, 5, 2, 18)[:, r][..., indices[:, r] - 1] for r in range(5)))


def test_rotated_boxes():
    ours = importlib.import_module("mluops.torch")
    b = torch.cat([random(30, 2) * 5, random(30, 2, seed=1).abs() * 4 + 1, random(30, 1, seed=2)], 1)
    scores, labels = random(30, seed=3), torch.arange(30) % 2
    near(door("box_iou_rotated_cuda").box_iou_rotated(b, b[:7]), ours.box_iou_rotated(b, b[:7]))
    assert torch.equal(door("nms_rotated_cuda").nms_rotated(b, scores, 0.2), ours.nms_rotated(b, scores, 0.2)[1])
    apart = b + labels[:, None] * torch.tensor([1000.0, 0, 0, 0, 0])
    assert torch.equal(door("ml_nms_rotated_cuda").ml_nms_rotated(b, scores, labels, 0.2),
                       ours.nms_rotated(apart, scores, 0.2)[1])


# ---- AdelaiDet, attention of MapTR and Sparse4D


def test_bezier_align(packages):
    ours, c = importlib.import_module("mluops.torch"), door("adet._C")
    x = random(2, 3, 12, 14).requires_grad_()
    r = torch.cat([torch.tensor([[0.0], [1.0]], dtype=torch.float64), random(2, 16, seed=1) * 10 + 25], 1)
    wanted = ours.bezier_align(x, r, (3, 4), 0.25, 2, True)
    near(c.bezier_align_forward(x.detach(), r, 0.25, 3, 4, 2, True), wanted)
    grad = random(*wanted.shape, seed=2)
    near(c.bezier_align_backward(grad, r, 0.25, 3, 4, 2, 3, 12, 14, 2, True), torch.autograd.grad(wanted, x, grad)[0])


@pytest.mark.parametrize("aligned", [True, False])
def test_def_roi_align(packages, aligned):
    c, x, r = door("adet._C"), random(2, 3, 12, 14).requires_grad_(), rois(4, 2, 40)
    r[0, 3:] = r[0, 1:3] + 1.0
    offset, std = random(4, 2, 3, 2, seed=4).requires_grad_(), 0.1
    parts, half = [], 0.5 if aligned else 0.0
    for n, (image, *corners) in enumerate(r.tolist()):
        x1, y1, x2, y2 = (v * 0.25 - half for v in corners)
        w, h = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        bins = []
        for i in range(3):
            for j in range(2):
                ys = torch.stack([y1 + (i + (k + 0.5) / 2) * h / 3 + offset[n, 1, i, j] * std * h for k in range(2)])
                xs = torch.stack([x1 + (j + (k + 0.5) / 2) * w / 2 + offset[n, 0, i, j] * std * w for k in range(2)])
                y, x_ = torch.broadcast_tensors(ys[:, None], xs)
                bins.append(compositions.bilinear(x[int(image)], y.flatten(), x_.flatten()).mean(1))
        parts.append(torch.stack(bins, 1).reshape(3, 3, 2))
    wanted = torch.stack(parts)
    near(c.def_roi_align_forward(x.detach(), r, offset.detach(), 0.25, 3, 2, 2, std, aligned), wanted)
    grad, buffer = random(*wanted.shape, seed=2), torch.zeros_like(offset)
    found = c.def_roi_align_backward(x.detach(), grad, r, offset.detach(), buffer, 0.25, 3, 2, 2, 3, 12, 14, 2, std, aligned)
    of_x, of_offset = torch.autograd.grad(wanted, (x, offset), grad)
    near(found, of_x)
    near(buffer, of_offset)


def test_geometric_kernel_attention():
    module = door("GeometricKernelAttention")
    shapes, starts = torch.tensor([[4, 5], [2, 3]]), torch.tensor([0, 20])
    value, weights = random(2, 26, 2, 3).requires_grad_(), random(2, 4, 2, 2, 3, seed=1).requires_grad_()
    places = torch.randint(-2, 7, (2, 4, 2, 2, 3, 2), generator=torch.Generator().manual_seed(0))
    rows = []
    for b in range(2):
        for q in range(4):
            for m in range(2):
                total = 0
                for level in range(2):
                    h, w = shapes[level].tolist()
                    for p in range(3):
                        x, y = places[b, q, m, level, p].tolist()
                        x, y = min(max(x, 0), w - 1), min(max(y, 0), h - 1)
                        total = total + value[b, int(starts[level]) + y * w + x, m] * weights[b, q, m, level, p]
                rows.append(total)
    wanted = torch.stack(rows).reshape(2, 4, 6)
    arguments = value.detach(), shapes, starts, places, weights.detach()
    near(module.geometric_kernel_attn_cuda_forward(*arguments, 64), wanted)
    grad = random(2, 4, 6, seed=2)
    found = module.geometric_kernel_attn_cuda_backward(*arguments, grad, 64)
    for slope, expected in zip(found, torch.autograd.grad(wanted, (value, weights), grad)):
        near(slope, expected)


def test_deformable_aggregation():
    module = door("deformable_aggregation_ext")
    shapes = torch.tensor([[[4, 5], [2, 3]], [[4, 5], [2, 3]], [[4, 5], [2, 3]]]).int()
    starts = torch.tensor([[0, 20], [26, 46], [52, 72]]).int()
    features = random(2, 78, 8).requires_grad_()
    places = (torch.rand(2, 4, 5, 3, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 1.4
              - 0.2).requires_grad_()
    weights = random(2, 4, 5, 3, 2, 2, seed=1).requires_grad_()
    rows = []
    for b in range(2):
        for a in range(4):
            total = torch.zeros(8, dtype=torch.float64)
            for p in range(5):
                for cam in range(3):
                    x, y = places[b, a, p, cam]
                    if not (0 < x < 1 and 0 < y < 1):
                        continue
                    for s in range(2):
                        h, w = shapes[cam, s].tolist()
                        start = int(starts[cam, s])
                        plane = features[b, start:start + h * w].t().reshape(8, h, w)
                        at = compositions.bilinear(F.pad(plane, (1, 1, 1, 1)), (y * h + 0.5)[None], (x * w + 0.5)[None])
                        total = total + at[:, 0] * weights[b, a, p, cam, s].repeat_interleave(4)
            rows.append(total)
    wanted = torch.stack(rows).reshape(2, 4, 8)
    arguments = features.detach(), shapes, starts, places.detach(), weights.detach()
    near(module.deformable_aggregation_forward(*arguments), wanted)
    grad = random(2, 4, 8, seed=2)
    buffers = [torch.zeros_like(each) for each in (features, places, weights)]
    module.deformable_aggregation_backward(*arguments, grad, *buffers)
    for buffer, expected in zip(buffers, torch.autograd.grad(wanted, (features, places, weights), grad)):
        near(buffer, expected)


# ---- buffers that do not fit


def test_a_buffer_that_does_not_fit(packages):
    b, scores = boxes(6, 50), random(6, seed=5)
    with pytest.raises(ValueError, match=r"output: wanted a buffer of shape \[6, 3, 3, 2\], got \[6, 3, 3, 3\]"):
        door("roi_align_cuda").forward(random(2, 3, 12, 14), rois(6, 2, 40), 3, 2, 0.25, 2, torch.zeros(6, 3, 3, 3))
    with pytest.raises(TypeError, match="argmax: wanted a buffer of int32 or int64, got torch.uint8"):
        door("roi_pool_cuda").forward(random(2, 3, 12, 14), rois(6, 2, 40), 3, 2, 0.25,
                                      torch.zeros(6, 3, 3, 2), torch.zeros(6, 3, 3, 2, dtype=torch.uint8))
    with pytest.raises(TypeError, match="output_count: wanted a buffer of floats, got torch.int32"):
        door("deform_pool_cuda").deform_psroi_pooling_cuda_forward(
            random(2, 4, 9, 8), rois(3, 2, 30), random(3, 2, 3, 3), torch.zeros(3, 4, 3, 3),
            torch.zeros(3, 4, 3, 3).int(), False, 0.25, 4, 1, 3, 3, 2, 0.1)
    assert len(b) == len(scores)


@pytest.mark.parametrize("name", ["maskrcnn_benchmark._C", "fork.deform_conv_ext"])
@pytest.mark.parametrize("size", [(5, 6), (9, 12), (5, 7), (10, 12)])
def test_modulated_offsets_larger_than_the_output(packages, name, size):
    """DyHead convolves the next level, of half the size, with this level's offsets: the extension reads their beginning."""
    module = door(name)
    x, weight, bias = random(2, 4, 5, 6), random(3, 4, 3, 3, seed=1), random(3, seed=2)
    offset, mask = random(2, 27, *size, seed=3).split((18, 9), 1)  # not contiguous, as DyHead's
    numbers, empty, grad = (3, 3, 1, 1, 1, 1, 1, 1, 1, 1, True), torch.empty(0), random(2, 3, 5, 6, seed=4)
    inputs = [each.clone().requires_grad_() for each in (x, offset, mask, weight, bias)]
    first = [each.flatten(1)[:, :each.shape[1] * 30].reshape(2, -1, 5, 6) for each in inputs[1:3]]
    wanted = compositions.deform_conv2d(inputs[0], first[0], inputs[3], 1, 1, mask=first[1], bias=inputs[4])
    wanted.backward(grad)
    made = torch.full((2, 3, 5, 6), math.nan, dtype=torch.float64)
    forward = next(f for f in ("modulated_deform_conv_forward", "modulated_deform_conv_cuda_forward") if hasattr(module, f))
    getattr(module, forward)(x, weight, bias, empty, offset, mask, made, empty, *numbers)
    torch.testing.assert_close(made, wanted.detach(), rtol=0, atol=1e-11)
    grads = [torch.zeros(each.shape, dtype=torch.float64) for each in (x, weight, bias, offset, mask)]
    getattr(module, forward.replace("forward", "backward"))(x, weight, bias, empty, offset, mask, empty, *grads, grad, *numbers)
    for got, each in zip(grads, (inputs[0], inputs[3], inputs[4], *inputs[1:3])):
        torch.testing.assert_close(got, each.grad, rtol=0, atol=1e-11)


def test_modulated_offsets_smaller_than_the_output(packages):
    module, ones = door("maskrcnn_benchmark._C"), torch.ones
    with pytest.raises(Exception, match="offset: wanted"):
        module.modulated_deform_conv_forward(ones(1, 1, 4, 4), ones(1, 1, 3, 3), ones(1), ones(0), ones(1, 18, 3, 4),
                                             ones(1, 9, 4, 4), ones(1, 1, 4, 4), ones(0), 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, False)
