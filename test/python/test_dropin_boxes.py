"""OpenPCDet's and mmdet3d's extensions on boxes and voxels that mluops.dropin stands for, called as their programs do;
against plain loops and compositions in double."""

import math

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from point_doors import cloud, door, doors, near  # noqa: E402,F401


# ---- boxes: iou3d_nms_cuda, roiaware_pool3d_cuda, roipoint_pool3d_cuda


def boxes(count, seed=0):
    found = cloud(count, 7, seed=seed).mul(4).add(0.5)
    found[:, 6] *= 0.7
    return found


def test_overlaps():
    module, a, b = door("pcdet.ops.iou3d_nms.iou3d_nms_cuda".rpartition(".")[2]), boxes(70), boxes(70, seed=1)
    area, pairs = torch.zeros(70, 70), torch.zeros(70, 1)
    assert module.boxes_overlap_bev_gpu(a, b, area) == 1
    near(area, mt.boxes_overlap_bev(a.double(), b.double()), 1e-4)
    for name in ("boxes_aligned_overlap_bev_gpu", "paired_boxes_overlap_bev_gpu"):
        getattr(module, name)(a, b, pairs)
        assert torch.equal(pairs[:, 0], area.diagonal())
    iou = torch.zeros(70, 70)
    module.boxes_iou_bev_gpu(a, b, iou)
    of_each = a[:, 3] * a[:, 4], b[:, 3] * b[:, 4]
    near(iou, area / (of_each[0][:, None] + of_each[1] - area))
    module.boxes_iou_bev_cpu(a, a, iou)
    near(iou.diagonal(), torch.ones(70), 1e-4)
    module.boxes_aligned_iou_bev_cpu(a, b, pairs)
    near(pairs[:, 0], (area / (of_each[0][:, None] + of_each[1] - area)).diagonal())
    module.boxes_aligned_overlap_bev_gpu(a[:0], b[:0], pairs[:0])


def test_overlap_of_a_known_square():
    a = torch.tensor([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0]])
    b = torch.tensor([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, math.pi / 4]])
    area = torch.zeros(1, 1)
    door("iou3d_nms_cuda").boxes_aligned_overlap_bev_gpu(a, b, area)
    near(area, torch.tensor([[8 * (math.sqrt(2) - 1)]]), 1e-4)


@pytest.mark.parametrize("name", ["nms_gpu", "nms_normal_gpu"])
def test_nms(name):
    module, found = door("iou3d_nms_cuda"), boxes(40)
    keep = torch.full((40,), -7)
    count = getattr(module, name)(found, keep, 0.2)
    straight = found.clone()
    if name == "nms_normal_gpu":
        straight[:, 6] = 0
    iou = torch.zeros(40, 40)
    module.boxes_iou_bev_gpu(straight, straight, iou)
    wanted = []
    for i in range(40):
        if all(iou[k, i] <= 0.2 for k in wanted):
            wanted.append(i)
    assert keep[:count].tolist() == wanted and 1 < count < 40
    assert (keep[count:] == -7).all()


def inside(points, found, margin):
    """[N, M] of boxes round their centre."""
    shift = points.double()[None] - found.double()[:, None, :3]
    cosine, sine = found.double()[:, 6].cos()[:, None], found.double()[:, 6].sin()[:, None]
    x, y = shift[..., 0] * cosine + shift[..., 1] * sine, shift[..., 1] * cosine - shift[..., 0] * sine
    half = found.double()[:, None, 3:6] / 2
    return (x.abs() < half[..., 0] + margin) & (y.abs() < half[..., 1] + margin) & (shift[..., 2].abs() <= half[..., 2])


def test_points_in_boxes():
    """Boxes round their centre: OpenPCDet's, not mmcv's."""
    module, found, points = door("roiaware_pool3d_cuda"), boxes(9), cloud(300, 3, seed=2).mul(5)
    flags = torch.zeros(9, 300, dtype=torch.int32)
    module.points_in_boxes_cpu(found, points, flags)
    assert torch.equal(flags.bool(), inside(points, found, 1e-2)) and flags.any()
    first = torch.full((1, 300), -1, dtype=torch.int32)
    module.points_in_boxes_gpu(found[None], points[None], first)
    members = inside(points, found, 1e-5)
    wanted = torch.where(members.any(0), members.double().argmax(0), torch.full((300,), -1))
    assert torch.equal(first[0].long(), wanted)


@pytest.mark.parametrize("method, reduce", [(0, "amax"), (1, "mean")])
def test_roiaware_pool(method, reduce):
    module, found, points, features = (door("roiaware_pool3d_cuda"), boxes(5), cloud(400, 3, seed=2).mul(5),
                                       cloud(400, 3, seed=3))
    pooled, argmax = torch.zeros(5, 1, 1, 1, 3), torch.zeros(5, 1, 1, 1, 3, dtype=torch.int32)
    members = torch.zeros(5, 1, 1, 1, 200, dtype=torch.int32)
    assert module.forward(found, points, features, argmax, members, pooled, method) == 1
    within = inside(points, found, 0)
    assert members[:, 0, 0, 0, 0].tolist() == within.sum(1).tolist()
    wide = features.double().requires_grad_()
    rows = [getattr(wide[row], reduce)(0) if row.any() else wide[0] * 0 for row in within]
    wanted = torch.stack(rows).view(5, 1, 1, 1, 3)
    near(pooled, wanted)
    grad_in = torch.zeros(400, 3)
    module.backward(members, argmax, pooled, grad_in, method)
    near(grad_in, torch.autograd.grad(wanted, wide, pooled.double())[0])


def test_roipoint_pool():
    module, found, points, features = (door("roipoint_pool3d_cuda"), boxes(5), cloud(400, 3, seed=2).mul(5),
                                       cloud(400, 2, seed=3))
    pooled, empty = torch.zeros(1, 5, 64, 5), torch.zeros(1, 5, dtype=torch.int32)
    module.forward(points[None], found[None], features[None], pooled, empty)
    for box, within in enumerate(inside(points, found, 1e-5)):
        rows = within.nonzero()[:, 0].tolist()
        assert bool(empty[0, box]) == (not rows)
        wanted = torch.cat([points, features], 1)[[rows[k % len(rows)] for k in range(64)] if rows else []]
        assert torch.equal(pooled[0, box], wanted if rows else torch.zeros(64, 5))


# ---- bev_pool_ext, ingroup_inds_cuda


def test_bev_pool():
    module, x = door("bev_pool_ext"), cloud(50, 4)
    geom = torch.stack([torch.randint(size, (50,), generator=torch.Generator().manual_seed(size))
                        for size in (5, 6, 3, 2)], 1).int()
    out = module.bev_pool_forward(x, geom, torch.zeros(0), torch.zeros(0), 2, 3, 5, 6)
    wanted = torch.zeros(2, 3, 5, 6, 4, dtype=torch.float64)
    for row, (h, w, d, b) in zip(x.double(), geom.tolist()):
        wanted[b, d, h, w] += row
    near(out, wanted)
    back = module.bev_pool_backward(out, geom, torch.zeros(0), torch.zeros(0), 2, 3, 5, 6)
    assert torch.equal(back, torch.stack([out[b, d, h, w] for h, w, d, b in geom.tolist()]))


def test_numbers_within_a_group():
    groups, numbers = torch.tensor([3, 1, 3, 3, 0, 1]), torch.full((6,), -1)
    door("ingroup_inds_cuda").forward(groups, numbers)
    assert numbers.tolist() == [0, 0, 1, 2, 0, 1]
