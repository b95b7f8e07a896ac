"""Stacked clouds against the same operators on each sample."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
POINTS, CENTERS = [40, 0, 300, 1], [7, 3, 90, 0]


def counts(numbers, dtype=torch.int32):
    return torch.tensor(numbers, dtype=dtype)


def clouds(seed=0, dtype=torch.float32):
    """Points on a coarse grid, and centres, some of which are points, some in no ball."""
    generator = torch.Generator().manual_seed(seed)
    points, centers = (torch.randint(-8, 9, (sum(numbers), 3), generator=generator) / 8 for numbers in (POINTS, CENTERS))
    centers[::5] += 9
    return points.to(dtype), centers.to(dtype)


def stacked_balls(low, high, size, points, centers):
    """-1 in front of zeros where a ball is empty."""
    rows = []
    for own, around in zip(points.split(POINTS), centers.split(CENTERS)):
        found = mt.ball_query(low, high, size, own[None], around[None])[0]
        distances = (around.double()[:, None] - own.double()).square().sum(2)
        empty = ~((distances == 0) | ((distances >= low ** 2) & (distances < high ** 2))).any(1)
        found[empty, 0] = -1
        rows.append(found)
    return torch.cat(rows)


@every_dtype
@pytest.mark.parametrize("low, high", [(0, 0.4), (0.25, 0.75), (0, 100)])
def test_ball_query(low, high, dtype):
    points, centers = clouds(1, dtype)
    found = mt.ball_query(low, high, 6, points, centers, counts(POINTS), counts(CENTERS, torch.int64))
    wanted = stacked_balls(low, high, 6, points, centers)
    assert found.dtype == torch.int32 and torch.equal(found, wanted)
    assert (found[:, 0] == -1).any() and found[:, 1].any()


def test_ball_query_of_numbers_that_are_none():
    points, centers = clouds()
    points[::7] = float("nan")
    points[1::7, 1] = float("inf")
    centers[::11, 2] = float("nan")
    found = mt.ball_query(0, 0.5, 6, points, centers, counts(POINTS), counts(CENTERS))
    finite = torch.where(points.isfinite(), points, torch.full_like(points, 1e6))
    assert torch.equal(found, stacked_balls(0, 0.5, 6, finite, centers))


@every_dtype
def test_three_nn(dtype):
    points, centers = clouds(2, dtype)
    distances, indices = mt.three_nn(centers, points, counts(CENTERS), counts(POINTS))
    start, row = 0, 0
    for own, around in zip(points.split(POINTS), centers.split(CENTERS)):
        far, nearest = mt.three_nn(around[None], own[None])
        rows = slice(row, row + len(around))
        assert torch.equal(distances[rows], far[0]) and torch.equal(indices[rows], nearest[0] + start)
        start, row = start + len(own), row + len(around)
    assert row == len(distances)


@every_dtype
def test_grouping(dtype):
    generator = torch.Generator().manual_seed(3)
    features = torch.randn(sum(POINTS), 5, generator=generator).to(dtype).requires_grad_()
    indices = torch.randint(-1, 50, (sum(CENTERS), 4), generator=generator).int()
    found = mt.grouping_operation(features, indices, counts(POINTS), counts(CENTERS))
    assert found.shape == (sum(CENTERS), 5, 4) and found.dtype == dtype
    of_samples = []
    for own, groups in zip(features.double().split(POINTS), indices.split(CENTERS)):
        inside = (groups >= 0) & (groups < len(own))
        rows = torch.cat([own, own.new_zeros(1, 5)])[torch.where(inside, groups, len(own)).long()]
        of_samples.append(rows.transpose(1, 2))
    wanted = torch.cat(of_samples)
    assert torch.equal(found.double(), wanted) and not found[7:10].any()
    grad = torch.randn(found.shape, generator=generator).to(dtype)
    ours, theirs = (torch.autograd.grad(each, features, g)[0] for each, g in ((found, grad), (wanted, grad.double())))
    # each gradient is a sum of float32 (float64), rounded once
    assert ours.dtype == dtype
    assert torch.allclose(ours.double(), theirs.double(), rtol=2 * torch.finfo(dtype).eps, atol=1e-6)


def test_a_gradient_that_is_no_number_stays_where_it_belongs():
    features = torch.rand(6, 2, requires_grad=True)
    indices = counts([[0, 3], [1, -1]])
    found = mt.grouping_operation(features, indices, counts([3, 3]), counts([1, 1]))
    grad = torch.ones(2, 2, 2)
    grad[0, :, 1] = grad[1, :, 1] = float("nan")  # those of the indices outside
    assert torch.autograd.grad(found, features, grad)[0].sum(1).tolist() == [2, 0, 0, 0, 2, 0]


def test_a_gradient_in_many_blocks(monkeypatch):
    from mluops.torch.op import gather_points
    features = torch.rand(6, 2, dtype=torch.float64, requires_grad=True)
    indices = torch.randint(-1, 4, (30, 3), dtype=torch.int32)

    def gradient():
        found = mt.grouping_operation(features, indices, counts([3, 3]), counts([10, 20]))
        return torch.autograd.grad(found.square().sum(), features)[0]

    wanted = gradient()
    monkeypatch.setattr(gather_points, "_BLOCK", 10)
    assert torch.equal(gradient(), wanted)


@every_dtype
def test_three_interpolate(dtype):
    generator = torch.Generator().manual_seed(4)
    features = torch.randn(9, 5, generator=generator).to(dtype).requires_grad_()
    indices = torch.randint(-1, 10, (30, 3), generator=generator)
    weight = torch.rand(30, 3, generator=generator).to(dtype).requires_grad_()
    found = mt.three_interpolate(features, indices, weight)
    wanted = mt.three_interpolate(features.t()[None], indices[None], weight[None])[0].t()
    assert found.shape == (30, 5) and torch.equal(found, wanted)
    for ours, theirs in zip(*(torch.autograd.grad(each.square().sum(), (features, weight)) for each in (found, wanted))):
        assert ours.any() and torch.equal(ours, theirs)


def test_derivatives():
    features = torch.rand(6, 2, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(4, 3, dtype=torch.float64, requires_grad=True)
    where = counts([[0, 2], [1, 1], [2, -1], [0, 0]]), counts([3, 3]), counts([1, 3])
    assert torch.autograd.gradcheck(lambda f: mt.grouping_operation(f, *where), features,
                                    check_forward_ad=_operator.HAS_LIBRARY_API)
    assert torch.autograd.gradcheck(lambda f, w: mt.three_interpolate(f, counts([[0, 1, 5]] * 4), w), (features, weight),
                                    check_forward_ad=_operator.HAS_LIBRARY_API)


def test_edges():
    points, centers = torch.rand(3, 3), torch.rand(2, 3)
    for wrong in ([2, 2], [4, -1], [3]):
        with pytest.raises(mluops.BadParamError, match="xyz_batch_cnt: wanted"):
            mt.ball_query(0, 1, 4, points, centers, counts(wrong), counts([1, 1]))
    with pytest.raises(mluops.BadParamError, match=r"features_batch_cnt: wanted counts of at least 0 that add up to 3, "
                                                   r"got \[1, 1\]"):
        mt.grouping_operation(points, counts([[0], [0]]), counts([1, 1]), counts([1, 1]))
    with pytest.raises(mluops.BadParamError, match="target_batch_cnt: wanted counts"):
        mt.three_nn(points, centers, counts([1, 1]), counts([1, 1]))
    with pytest.raises(mluops.BadParamError, match="xyz: wanted 2 dimensions"):
        mt.ball_query(0, 1, 4, points[None], centers, counts([3]), counts([2]))
    with pytest.raises(TypeError, match="source_batch_cnt: wanted a torch.Tensor"):
        mt.three_nn(points, centers, counts([3]))
    with pytest.raises(TypeError, match="xyz_batch_cnt: wanted int32 or int64"):
        mt.ball_query(0, 1, 4, points, centers, counts([3], torch.float32), counts([2]))
    with pytest.raises(mluops.BadParamError, match="weight: wanted 2 dimensions"):
        mt.three_interpolate(points, counts([[0, 1, 2]]), torch.rand(1, 1, 3))
    none = torch.zeros(0, 3)
    assert mt.ball_query(0, 1, 4, none, centers, counts([0]), counts([2])).tolist() == [[-1, 0, 0, 0]] * 2
    assert mt.ball_query(0, 1, 4, points, none, counts([3]), counts([0])).shape == (0, 4)
    assert mt.ball_query(0, 1, 0, points, centers, counts([3]), counts([2])).shape == (2, 0)
    assert torch.isinf(mt.three_nn(centers, none, counts([2]), counts([0]))[0]).all()
    assert mt.three_interpolate(none, counts([[0, 1, 2]]), torch.rand(1, 3)).tolist() == [[0, 0, 0]]
    assert not mt.grouping_operation(none, counts([[0]]), counts([0]), counts([1])).any()


def calls():
    points, centers = clouds(5)
    both = counts(POINTS), counts(CENTERS)
    indices = counts([[0, 1]]).expand(sum(CENTERS), 2).contiguous()
    features = torch.rand(sum(POINTS), 2)
    return [("stack_ball_query", (points, centers, *both, 0.0, 0.5, 4)), ("stack_three_nn", (centers, points, *both[::-1])),
            ("stack_group_points", (features.requires_grad_(), indices, *both)),
            ("stack_group_points_backward", (torch.rand(sum(CENTERS), 2, 2), torch.rand(sum(POINTS), 2), indices, *both))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
def test_compile():
    points, centers = clouds(6)
    both = counts(POINTS), counts(CENTERS)
    features = torch.rand(sum(POINTS), 2, requires_grad=True)

    def module(points, centers, features):
        grouped = mt.grouping_operation(features, mt.ball_query(0, 0.5, 4, points, centers, *both), *both)
        _, indices = mt.three_nn(centers, points, *both[::-1])
        return grouped.sum(2) + mt.three_interpolate(features, indices, torch.ones(len(centers), 3) / 3)

    wanted, compiled = module(points, centers, features), torch.compile(module, fullgraph=True, backend="aot_eager")
    found = compiled(points, centers, features)
    assert torch.equal(found, wanted)
    for ours, theirs in zip(*(torch.autograd.grad(each.square().sum(), features) for each in (found, wanted))):
        assert torch.allclose(ours, theirs)
