"""More rows of docs/dropin.md's table of packages: see dropin_calls.py."""

import numpy as np
import torch
from dropin_calls import ELSEWHERE, built, random, row, squares, uniform
from torch.nn import functional as F

import compositions

ELSEWHERE["involution, SAN, CoTNet, sepconv"] = "test_dropin_windows_of_pixels.py"


def windows(x, k, padding=0):
    """[N, C, k * k, h, w]."""
    h, w = (size + 2 * padding - k + 1 for size in x.shape[2:])
    return F.unfold(x, k, padding=padding).view(*x.shape[:2], k * k, h, w)


@row("STFAN, ddfnet")
def own_filters(bring):
    x, kernel = random(2, 3, 8, 9), random(2, 27, 6, 7, seed=1)
    made = torch.empty(2, 3, 6, 7, dtype=torch.float64)
    bring("kernelconv2d_cuda").forward(x, kernel, 3, made)
    yield made, (windows(x, 3) * kernel.unflatten(1, (3, 9))).sum(2)
    channel, pixel = random(2, 3, 3, 3, seed=2), random(2, 9, 8, 9, seed=3)
    weights = {"mul": channel.reshape(2, 3, 9, 1, 1) * pixel[:, None], "add": channel.reshape(2, 3, 9, 1, 1) + pixel[:, None]}
    for name in ("mul", "mul_faster", "add", "add_faster"):
        made = torch.empty_like(x)
        bring(f"ddf.ddf_{name}_ext").forward(x, channel, pixel, 3, 1, 1, made)
        yield made, (windows(x, 3, 1) * weights[name[:3]]).sum(2)


def attention_over_lists():
    """Queries and keys of two samples, and for each query five keys of its sample or none."""
    queries, keys = torch.tensor([3, 4], dtype=torch.int32), torch.tensor([6, 8], dtype=torch.int32)
    sample = torch.arange(2).repeat_interleave(queries.long())
    pairs = (uniform(7, 5, seed=4) * 7).long() - 1
    pairs = torch.minimum(pairs, keys[sample][:, None] - 1)
    index = (pairs + torch.tensor([0, 6])[sample][:, None]).clamp(min=0)
    return queries, keys, sample.int(), pairs.int(), index, (pairs >= 0)[..., None]


@row("MTR, EQNet")
def mtr(bring):
    queries, keys, sample, pairs, index, is_key = attention_over_lists()
    q, k, v = random(7, 2, 4).requires_grad_(), random(14, 2, 4, seed=1).requires_grad_(), random(7, 5, 2, seed=2).requires_grad_()
    sizes, ext = (2, 7, 5, 14, 2, 4, queries, keys, sample, pairs), bring("mtr.ops.attention.attention_cuda")
    for ending in ("", "_v2"):
        for name, inputs, wanted in (("weight", (q, k), (q[:, None] * k[index]).sum(3) * is_key),
                                     ("value", (v, k), ((v * is_key)[..., None] * k[index]).sum(1))):
            made, grad = torch.zeros_like(wanted), random(*wanted.shape, seed=3)
            getattr(ext, f"attention_{name}_computation_wrapper{ending}")(*sizes, *inputs, made)
            yield made, wanted.detach()
            found = [torch.zeros_like(each) for each in inputs]
            getattr(ext, f"attention_{name}_computation_grad_wrapper{ending}")(
                *sizes, *(each.detach() for each in inputs), grad, *found)
            yield from zip(found, torch.autograd.grad(wanted, inputs, grad))
    points, others, offsets = uniform(9, 3), uniform(13, 3, seed=1), torch.tensor([0, 5, 13], dtype=torch.int32)
    of_point = torch.tensor([0, 1, 0, 1, 1, 0, 0, 1, 1], dtype=torch.int32)
    found = torch.empty(9, 6, dtype=torch.int32)
    for name in ("knn_batch", "knn_batch_mlogk"):
        getattr(bring("mtr.ops.knn.knn_cuda"), name)(points, others, of_point, offsets, found, 9, 13, 6)
        for each in range(2):
            mine = others[offsets[each]:offsets[each + 1]]
            nearest = squares(points[of_point == each], mine).sort(1)[1][:, :6]
            yield found[of_point == each], F.pad(nearest, (0, 6 - nearest.shape[1]), value=-1)


def kept_of(dets, limit):
    """Greedily, the last pixel included, in numpy."""
    low, high = dets[:, None, :2], dets[:, None, 2:4]
    sides = np.clip(np.minimum(high, dets[None, :, 2:4]) - np.maximum(low, dets[None, :, :2]) + 1, 0, None)
    shared, area = sides.prod(2), (dets[:, 2:4] - dets[:, :2] + 1).prod(1)
    iou, kept = shared / (area[:, None] + area - shared), []
    for i in dets[:, 4].argsort()[::-1]:
        if all(iou[i, j] <= limit for j in kept):
            kept.append(i)
    return torch.tensor(kept)


@row("HRNet and others with py-faster-rcnn's `nms`")
def py_faster_rcnn(bring):
    corners = uniform(60, 2).numpy() * 40
    dets = np.concatenate([corners, corners + 5 + uniform(60, 2, seed=1).numpy() * 20, uniform(60, 1, seed=2).numpy()],
                          1).astype(np.float32)
    wanted = kept_of(dets.astype(np.float64), 0.4)
    yield torch.tensor(bring("lib.nms.gpu_nms").gpu_nms(dets, 0.4, 0)), wanted
    yield torch.tensor(bring("lib.nms.cpu_nms").cpu_nms(dets, 0.4)), wanted
    apart = np.array([[0, 0, 9, 9, 0.9], [0, 5, 9, 14, 0.8], [40, 40, 49, 49, 0.7]], np.float32)
    kept = bring("lib.nms.cpu_nms").cpu_soft_nms(apart, Nt=0.3, method=1)
    yield torch.tensor(apart[kept][:, 4]), torch.tensor([0.9, 0.7, 0.8 * (1 - 1 / 3)], dtype=torch.float64)


@row("CFA, OrientedRepPoints")
def point_sets(bring):
    """Squares: hulls of nine points, against squares moved by a quarter."""
    grid = torch.stack(torch.meshgrid(torch.arange(3.0), torch.arange(3.0), indexing="ij"), 2).reshape(1, 9, 2) * 2
    sets = (grid + torch.tensor([[0.0, 0], [10, 0]])[:, None]).flatten(1).double()
    corners = torch.tensor([[0.0, 0], [4, 0], [4, 4], [0, 4]]).double()
    polygons = (corners + torch.tensor([[1.0, 0], [10, 2]])[:, None]).flatten(1)
    ious = torch.tensor([[12 / 20, 0], [0, 8 / 24]], dtype=torch.float64)
    yield bring("mmdet.ops.iou.convex_iou_cuda").convex_iou(sets, polygons).view(2, 2), ious
    # hulls of both have nothing that is in neither: the generalized IoU is the IoU
    yield bring("mmdet.ops.iou.convex_giou_cuda").convex_giou(sets, polygons).view(2, 19)[:, 18], ious.diagonal()
    for name in ("minareabbox.minareabbox_cuda", "minarearect.minarearect"):
        made = bring(f"mmdet.ops.{name}").minareabbox(sets).view(2, 4, 2)
        yield made.amin(1), sets.view(2, 9, 2).amin(1)
        yield made.amax(1), sets.view(2, 9, 2).amax(1)
    dets = torch.tensor([[10.0, 10, 6, 4, 0.3, 0.7], [10, 10, 6, 4, 0.3, 0.9], [40, 40, 6, 4, 1, 0.5]])
    yield bring("mmdet.ops.nms.rnms_cuda").rnms(dets, 0.5), torch.tensor([1, 2])
    a, b = random(2, 5, 2), random(2, 7, 2, seed=1)
    made = [torch.zeros(2, 5, dtype=torch.float64), torch.zeros(2, 7, dtype=torch.float64)]
    bring("mmdet.ops.chamfer_2d.chamfer_2d").forward(a, b, *made, torch.zeros(2, 5).int(), torch.zeros(2, 7).int())
    yield from zip(made, (squares(a, b).amin(2), squares(a, b).amin(1)))


@row("semseg (PSANet)")
def semseg(bring):
    x, made = random(2, 9, 4, 5), torch.empty(2, 20, 4, 5, dtype=torch.float64)
    bring("psamask_gpu")
    built("psamask_cpu", "operator.cpp", "psamask.cpp").psamask_forward(0, x, made, 2, 4, 5, 3, 3, 1, 1)
    yield made, compositions.psa_mask(x, 0, (3, 3))


@row("SE-SSD")
def se_ssd(bring):
    """A RoI of whole pixels by its first corner; turned by a quarter, it goes up from there."""
    x = random(1, 2, 12, 12)
    flat, turned = torch.tensor([[0, 3.0, 4, 6, 4, 0], [0, 3, 9, 6, 4, torch.pi / 2]], dtype=torch.float64).split(1)
    ext = bring("RotateRoIAlign_cuda")

    def samples(x, ys, xs):
        places = (2 * (each.double() + 0.5) / 12 - 1 for each in (ys, xs))
        grid = torch.stack(torch.meshgrid(*places, indexing="ij")[::-1], 2)
        return F.grid_sample(x, grid[None], align_corners=False)

    along, across = 3 + torch.arange(6) + 0.5, 4 + torch.arange(4) + 0.5
    yield ext.forward(x, flat, 1.0, 4, 6, 1), samples(x, across, along)
    up, right = 9 - torch.arange(6) - 0.5, 3 + torch.arange(4) + 0.5
    yield ext.forward(x, turned, 1.0, 4, 6, 1), samples(x, up, right).transpose(2, 3)
    grad = random(1, 2, 4, 6, seed=1)
    wide = x.clone().requires_grad_()
    yield (ext.backward(grad, flat, 1.0, 4, 6, 1, 2, 12, 12, 1),
           torch.autograd.grad(samples(wide, across, along), wide, grad)[0])
    weight, made = random(1, 9, 12, 12, seed=2), torch.zeros_like(x)
    bring("align_feature_cuda").forward(x, weight, 3, 3, made)
    yield made, (windows(x, 3, 1) * weight[:, None]).sum(2)
