"""Operators on voxels, against plain loops and torch's own unique."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
RANGE, SIZE = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0], [0.25, 0.25, 0.5]


def random_points(count, features, dtype=torch.float32):
    """Coordinates are multiples of 1/16, a little beyond the range."""
    generator = torch.Generator().manual_seed(count)
    points = torch.randint(-18, 19, (count, features), generator=generator) / 16
    return points.to(dtype)


def random_voxels(count, side=4, negative=True):
    generator = torch.Generator().manual_seed(count)
    return torch.randint(-1 if negative else 0, side, (count, 3), generator=generator, dtype=torch.int32)


def places(points):
    """[N, 3] in the order z, y, x; -1 outside."""
    low, size = torch.tensor(RANGE[:3], dtype=torch.float64), torch.tensor(SIZE, dtype=torch.float64)
    found = ((points[:, :3].double() - low) / size).floor()
    ends = torch.tensor([8, 8, 4], dtype=torch.float64)
    inside = ((found >= 0) & (found < ends)).all(1, keepdim=True)
    return torch.where(inside, found.flip(1), torch.full_like(found, -1)).int()


@every_dtype
def test_dynamic_voxelize(dtype):
    points = random_points(300, 5, dtype)
    found = mt.voxelization(points, SIZE, RANGE, -1)
    assert found.dtype == torch.int32 and torch.equal(found, places(points))
    assert (found == -1).any() and torch.equal(mt.voxelization(points, SIZE, RANGE, 5, -1), found)


@every_dtype
def test_hard_voxelize(dtype):
    points = random_points(300, 5, dtype)
    voxels, coors, counts = mt.Voxelization(SIZE, RANGE, 3, (40, 50)).train()(points)
    known = {}
    for point, place in zip(points, places(points).tolist()):
        if place[0] >= 0 and (tuple(place) in known or len(known) < 40):
            known.setdefault(tuple(place), []).append(point)
    assert voxels.dtype == dtype and coors.dtype == counts.dtype == torch.int32
    assert coors.tolist() == [list(place) for place in known]
    for voxel, count, members in zip(voxels, counts.tolist(), known.values()):
        assert count == min(3, len(members)) and torch.equal(voxel[:count], torch.stack(members[:3]))
        assert not voxel[count:].any()


def test_voxelization_s_edges():
    points = torch.rand(4, 3)
    voxels, coors, counts = mt.voxelization(points, SIZE, RANGE, 0, 3)
    assert voxels.shape == (0, 0, 3) and coors.shape == (0, 3) and counts.shape == (0,)
    voxels, coors, counts = mt.voxelization(torch.rand(0, 4), SIZE, RANGE, 2, 3)
    assert voxels.shape == (0, 2, 4)
    assert mt.voxelization(torch.full((2, 3), float("nan")), SIZE, RANGE, -1).tolist() == [[-1] * 3] * 2
    with pytest.raises(mluops.BadParamError, match="voxel_size: wanted dimension 0 to be 3"):
        mt.voxelization(points, [1.0, 1.0], RANGE)
    with pytest.raises(mluops.BadParamError, match="dimension 1 of points: wanted at least 3, got 2"):
        mt.voxelization(torch.rand(4, 2), SIZE, RANGE)
    with pytest.raises(mluops.BadParamError, match="max_points: wanted at least 0, got -2"):
        mt.voxelization(points, SIZE, RANGE, -2)


def reduce_by_voxel(feats, coors, reduce_type):
    """torch's composition, differentiable."""
    kept = (coors >= 0).all(1)
    voxels, of_points = coors[kept].unique(dim=0, return_inverse=True)
    rows = [feats[kept][of_points == v] for v in range(len(voxels))]
    how = {"sum": lambda r: r.sum(0), "mean": lambda r: r.mean(0), "max": lambda r: r.max(0).values}[reduce_type]
    return torch.stack([how(r) for r in rows]), voxels


@every_dtype
@pytest.mark.parametrize("reduce_type", ["sum", "mean", "max"])
def test_dynamic_scatter(dtype, reduce_type):
    generator = torch.Generator().manual_seed(3)
    feats = torch.randperm(90 * 4, generator=generator).reshape(90, 4).div(512).to(dtype).requires_grad_()
    coors = random_voxels(90)
    wide = feats.detach().double().requires_grad_()
    output, voxels = mt.dynamic_scatter(feats, coors, reduce_type)
    wanted, wanted_voxels = reduce_by_voxel(wide, coors, reduce_type)
    limit = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    assert voxels.dtype == coors.dtype and torch.equal(voxels, wanted_voxels)
    assert output.dtype == dtype and torch.allclose(output.double(), wanted, rtol=limit, atol=limit)
    grad = torch.rand(wanted.shape, generator=generator).to(dtype)
    output.backward(grad)
    if reduce_type == "max" and dtype in (torch.float16, torch.bfloat16):
        return  # numbers that became equal: torch shares the gradient in its own way
    wanted.backward(grad.double())
    assert torch.allclose(feats.grad.double(), wide.grad, rtol=limit, atol=limit)


def test_dynamic_scatter_of_equal_maxima_and_of_nothing():
    feats = torch.ones(3, 2, requires_grad=True)
    output, _ = mt.dynamic_scatter(feats, torch.zeros(3, 3, dtype=torch.int64))
    output.sum().backward()
    assert feats.grad.tolist() == [[1, 1], [0, 0], [0, 0]]
    output, voxels = mt.dynamic_scatter(torch.rand(3, 2), torch.full((3, 3), -1))
    assert output.shape == (0, 2) and voxels.shape == (0, 3)
    output, voxels = mt.dynamic_scatter(torch.rand(0, 2), torch.zeros(0, 3, dtype=torch.int32))
    assert output.shape == (0, 2) and voxels.shape == (0, 3)
    with pytest.raises(mluops.BadParamError, match=r'reduce_type: wanted "sum" \(0\), "mean" \(1\) or "max" \(2\), got .min.'):
        mt.dynamic_scatter(feats, torch.zeros(3, 3, dtype=torch.int32), "min")
    with pytest.raises(mluops.BadParamError, match="coors: wanted dimension 1 to be 3"):
        mt.dynamic_scatter(feats, torch.zeros(3, 4, dtype=torch.int32))


def test_dynamic_scatter_module_of_clouds():
    feats, coors = torch.rand(60, 3), random_voxels(60, negative=False)
    clouds = torch.arange(60).div(30, rounding_mode="floor").int()
    module = mt.DynamicScatter(SIZE, RANGE, True)
    output, voxels = module(feats, torch.cat([clouds[:, None], coors], 1))
    first, places_of_first = module(feats[:30], coors[:30])
    assert torch.equal(output[:len(first)], first) and torch.equal(voxels[:len(first), 1:], places_of_first)
    assert voxels[:, 0].tolist() == sorted(voxels[:, 0].tolist()) and voxels.shape[1] == 4


def test_gradcheck():
    feats = torch.randperm(36).reshape(12, 3).double().requires_grad_()
    for reduce_type in ("sum", "mean", "max"):
        assert torch.autograd.gradcheck(lambda f: mt.dynamic_scatter(f, random_voxels(12, 2), reduce_type)[0], feats)


def calls():
    points, size, ends = random_points(40, 4), torch.tensor(SIZE), torch.tensor(RANGE)
    return [("dynamic_voxelize", (points, size, ends)), ("hard_voxelize", (points, size, ends, 3, 9)),
            ("dynamic_point_to_voxel", (points.requires_grad_(), random_voxels(40), 1))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)
