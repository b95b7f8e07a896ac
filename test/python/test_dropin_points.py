"""The extensions of Pointnet2_PyTorch and OpenPCDet on points that mluops.dropin stands for, called as their programs do;
against plain loops and compositions in double."""

import pytest

torch = pytest.importorskip("torch")

from mluops.dropin.module import pointnet2_ops_ext as _ext  # noqa: E402
from point_doors import cloud, door, doors, furthest, in_ball, near, squares  # noqa: E402,F401


# ---- one row a cloud: pointnet2_batch_cuda, pointnet2_ops._ext


@pytest.mark.parametrize("name", ["pointnet2_batch_cuda", "pointnet2_cuda"])
def test_batch_queries(name):
    module, xyz, centers = door(name), cloud(2, 60, 3), cloud(2, 7, 3, seed=1)
    idx = torch.zeros(2, 7, 5, dtype=torch.int32)
    assert module.ball_query_wrapper(2, 60, 7, 0.3, 5, centers, xyz, idx) == 1
    assert idx.tolist() == [in_ball(table, 0.3, 5) for table in squares(centers, xyz)]
    picked = torch.zeros(2, 9, dtype=torch.int32)
    module.farthest_point_sampling_wrapper(2, 60, 9, xyz, torch.full((2, 60), 1e10), picked)
    assert picked.tolist() == [furthest(each, 9) for each in xyz]
    dist2, idx3 = torch.zeros(2, 60, 3), torch.zeros(2, 60, 3, dtype=torch.int32)
    module.three_nn_wrapper(2, 60, 7, xyz, centers, dist2, idx3)
    wanted, order = squares(xyz, centers).topk(3, 2, largest=False)
    near(dist2, wanted)
    assert torch.equal(idx3.long(), order)


def test_batch_gathers():
    module, features = door("pointnet2_batch_cuda"), cloud(2, 4, 20)
    idx = torch.randint(20, (2, 6, 3), generator=torch.Generator().manual_seed(2)).int()
    grouped, grad = torch.empty(2, 4, 6, 3), cloud(2, 4, 6, 3, seed=3)
    module.group_points_wrapper(2, 4, 20, 6, 3, features, idx, grouped)
    wide = features.double().requires_grad_()
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    assert torch.equal(grouped.double(), wanted)
    grad_features = torch.zeros(2, 4, 20)
    module.group_points_grad_wrapper(2, 4, 20, 6, 3, grad, idx, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])
    gathered = torch.empty(2, 4, 6)
    module.gather_points_wrapper(2, 4, 20, 6, features, idx[:, :, 0].contiguous(), gathered)
    assert torch.equal(gathered, grouped[..., 0])
    module.gather_points_grad_wrapper(2, 4, 20, 6, grad[..., 0].contiguous(), idx[:, :, 0].contiguous(), grad_features)
    only_first = torch.zeros_like(grad)
    only_first[..., 0] = grad[..., 0]
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    near(grad_features, torch.autograd.grad(wanted, wide, only_first.double())[0])


def test_batch_interpolation():
    module, features, weight = door("pointnet2_batch_cuda"), cloud(2, 4, 20), cloud(2, 6, 3, seed=1)
    idx = torch.randint(20, (2, 6, 3), generator=torch.Generator().manual_seed(2)).int()
    out, grad, grad_features = torch.empty(2, 4, 6), cloud(2, 4, 6, seed=3), torch.zeros(2, 4, 20)
    module.three_interpolate_wrapper(2, 4, 20, 6, features, idx, weight, out)
    wide = features.double().requires_grad_()
    wanted = torch.stack([(f[:, i.long()] * w.double()).sum(2) for f, i, w in zip(wide, idx, weight)])
    near(out, wanted)
    module.three_interpolate_grad_wrapper(2, 4, 6, 20, grad, idx, weight, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])


def test_pointnet2_ops():
    """Its functions return what the wrappers of the others fill."""
    xyz, centers, features = cloud(2, 60, 3).add(0.1), cloud(2, 7, 3, seed=1), cloud(2, 4, 60)
    idx = _ext.ball_query(centers, xyz, 0.3, 5)
    assert idx.dtype == torch.int32
    assert idx.tolist() == [in_ball(table, 0.3, 5) for table in squares(centers, xyz)]
    assert _ext.furthest_point_sampling(xyz, 9).tolist() == [furthest(each, 9) for each in xyz]
    grouped = _ext.group_points(features, idx)
    wide = features.double().requires_grad_()
    wanted = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    assert torch.equal(grouped.double(), wanted)
    near(_ext.group_points_grad(grouped, idx, 60), torch.autograd.grad(wanted, wide, wanted)[0])
    assert torch.equal(_ext.gather_points(features, idx[..., 0].contiguous()), grouped[..., 0])
    assert _ext.gather_points_grad(grouped[..., 0].contiguous(), idx[..., 0].contiguous(), 60).shape == features.shape
    dist2, idx3 = _ext.three_nn(xyz, centers)
    assert torch.equal(idx3.long(), squares(xyz, centers).topk(3, 2, largest=False)[1])
    near(dist2, squares(xyz, centers).topk(3, 2, largest=False)[0])
    few = features[..., :7].contiguous()
    back = _ext.three_interpolate(few, idx3, dist2)
    assert back.shape == features.shape
    assert _ext.three_interpolate_grad(back, idx3, dist2, 7).shape == few.shape


def test_pointnet2_ops_never_picks_padding():
    """Points within a squared distance of 1e-3 of the origin, if not the first."""
    xyz = cloud(1, 40, 3).add(0.5)
    xyz[0, 10:20] = 0.01
    found = _ext.furthest_point_sampling(xyz, 30)[0].tolist()
    rest = [k for k in range(40) if not 10 <= k < 20]
    assert found == [rest[k] for k in furthest(xyz[0, rest], 30)]
    xyz[0, 0] = 0
    assert _ext.furthest_point_sampling(xyz, 2)[0].tolist() == [0, int(xyz[0].pow(2).sum(1).argmax())]


# ---- clouds one behind the other: pointnet2_stack_cuda


COUNTS, CENTERS = torch.tensor([30, 0, 25]).int(), torch.tensor([4, 2, 5]).int()


def parts(counts):
    ends = counts.cumsum(0).tolist()
    return [slice(first, last) for first, last in zip([0, *ends], ends)]


def test_stacked_ball_query():
    module, xyz, centers = door("pointnet2_stack_cuda"), cloud(55, 3), cloud(11, 3, seed=1)
    idx = torch.zeros(11, 6, dtype=torch.int32)
    assert module.ball_query_wrapper(3, 11, 0.25, 6, centers, CENTERS, xyz, COUNTS, idx) == 1
    wanted = [row for points, of in zip(parts(COUNTS), parts(CENTERS))
              for row in in_ball(squares(centers[of], xyz[points]), 0.25, 6, empty=-1)]
    assert idx.tolist() == [[-1] + [0] * 5 if row[0] == -1 else row for row in wanted]
    assert (idx[:, 0] == -1).any() and (idx[:, 0] > 0).any()
    # Point 0 in the ball is not an empty ball.
    at_point = torch.zeros(1, 2, dtype=torch.int32)
    module.ball_query_wrapper(1, 1, 0.01, 2, xyz[:1], torch.ones(1).int(), xyz, torch.tensor([55]), at_point)
    assert at_point.tolist() == [[0, 0]]


def test_stacked_groups():
    module, features = door("pointnet2_stack_cuda"), cloud(55, 4)
    counts = torch.tensor([30, 25]).int()
    idx = torch.randint(25, (9, 3), generator=torch.Generator().manual_seed(1)).int()
    of_each = torch.tensor([4, 5]).int()
    out, grad, grad_features = torch.empty(9, 4, 3), cloud(9, 4, 3, seed=2), torch.zeros(55, 4)
    module.group_points_wrapper(2, 9, 4, 3, features, counts, idx, of_each, out)
    wide = features.double().requires_grad_()
    rows = torch.cat([idx[:4], idx[4:] + 30]).long()
    wanted = wide[rows].transpose(1, 2)
    assert torch.equal(out.double(), wanted)
    module.group_points_grad_wrapper(2, 9, 4, 55, 3, grad, idx, of_each, counts, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, grad.double())[0])


def test_stacked_sampling():
    module, xyz, counts = door("pointnet2_stack_cuda"), cloud(55, 3), torch.tensor([30, 25]).int()
    out = torch.empty(11, dtype=torch.int32)
    module.stack_farthest_point_sampling_wrapper(xyz, torch.full((55,), 1e10), counts, out, torch.tensor([6, 5]).int())
    assert out.tolist() == furthest(xyz[:30], 6) + [30 + k for k in furthest(xyz[30:], 5)]


def test_stacked_interpolation():
    module, known, unknown = door("pointnet2_stack_cuda"), cloud(9, 3), cloud(12, 3, seed=1)
    dist2, idx = torch.zeros(12, 3), torch.zeros(12, 3, dtype=torch.int32)
    module.three_nn_wrapper(unknown, torch.tensor([7, 5]).int(), known, torch.tensor([5, 4]).int(), dist2, idx)
    tables = squares(unknown[:7], known[:5]), squares(unknown[7:], known[5:])
    near(dist2, torch.cat([table.topk(3, 1, largest=False)[0] for table in tables]))
    wanted = [table.topk(3, 1, largest=False)[1] + first for table, first in zip(tables, (0, 5))]
    assert torch.equal(idx.long(), torch.cat(wanted))
    features, weight, out = cloud(9, 4, seed=2), cloud(12, 3, seed=3), torch.zeros(12, 4)
    module.three_interpolate_wrapper(features, idx, weight, out)
    wide = features.double().requires_grad_()
    wanted = (wide[idx.long()] * weight.double()[..., None]).sum(1)
    near(out, wanted)
    grad_features = torch.zeros(9, 4)
    module.three_interpolate_grad_wrapper(out, idx, weight, grad_features)
    near(grad_features, torch.autograd.grad(wanted, wide, out.double())[0])


def test_voxel_query():
    """The first points in the ball, voxel by voxel, x fastest."""
    module, generator = door("pointnet2_stack_cuda"), torch.Generator().manual_seed(4)
    shape = 2, 4, 5, 6
    point_of = torch.full(shape, -1, dtype=torch.int32)
    places = torch.randperm(240, generator=generator)[:80]
    point_of.view(-1)[places] = torch.arange(80, dtype=torch.int32)
    z, y, x = (torch.div(places, 30, rounding_mode="floor") % 4, torch.div(places, 6, rounding_mode="floor") % 5,
               places % 6)
    xyz = torch.stack([x, y, z], 1).float() + torch.rand(80, 3, generator=generator) * 0.5
    coords = torch.stack([torch.randint(size, (20,), generator=generator) for size in shape], 1).int()
    centers = coords[:, [3, 2, 1]].float()
    centers[0] = 100  # far from what lies round its voxel
    idx = torch.zeros(20, 4, dtype=torch.int32)
    module.voxel_query_wrapper(20, 4, 5, 6, 4, 1.3, 1, 1, 2, centers, xyz, coords, point_of, idx)
    for row, (b, cz, cy, cx) in enumerate(coords.tolist()):
        found = []
        for dz in (-1, 0, 1):
            for dy in (-1, 0, 1):
                for dx in (-2, -1, 0, 1, 2):
                    at = cz + dz, cy + dy, cx + dx
                    if all(0 <= k < size for k, size in zip(at, shape[1:])) and point_of[(b, *at)] >= 0:
                        point = int(point_of[(b, *at)])
                        if (xyz[point].double() - centers[row].double()).pow(2).sum() <= 1.3 ** 2:
                            found.append(point)
        found = found[:4]
        assert idx[row].tolist() == (found + [found[0]] * (4 - len(found)) if found else [-1, 0, 0, 0])
    assert (idx[:, 0] == -1).any() and (idx[:, 0] >= 0).any()
