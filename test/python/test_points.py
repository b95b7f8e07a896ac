"""The point-cloud operators whose results are indices, and the modules built on them, against plain loops."""

import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def cloud(batch, count, seed=0, dtype=torch.float32):
    """Points on a coarse grid: sums of squares are exact in every dtype, and equal distances are frequent."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randint(-8, 9, (batch, count, 3), generator=generator) / 8).to(dtype)


def squares(a, b):
    return (a.double()[:, :, None] - b.double()[:, None]).square().sum(3)


def nearest(target, source):
    """The three least (distance, index) pairs of each row."""
    table = squares(target, source)
    return [[sorted((d.item(), m) for m, d in enumerate(row))[:3] for row in batch] for batch in table]


@every_dtype
def test_three_nn(dtype):
    target, source = cloud(2, 17, 1, dtype), cloud(2, 40, 2, dtype)
    distances, indices = mt.three_nn(target, source)
    wanted = nearest(target, source)
    assert indices.dtype == torch.int32 and distances.dtype == dtype
    assert indices.tolist() == [[[m for _, m in row] for row in batch] for batch in wanted]
    exact = torch.tensor([[[d for d, _ in row] for row in batch] for batch in wanted], dtype=torch.float64).sqrt()
    assert torch.allclose(distances.double(), exact, rtol=4 * torch.finfo(dtype).eps)


def test_three_nn_of_few_points():
    distances, indices = mt.three_nn(torch.zeros(1, 2, 3), torch.ones(1, 1, 3))
    assert indices.tolist() == [[[0, 0, 0]] * 2]
    assert torch.allclose(distances[..., 0], torch.tensor(3.0).sqrt()) and torch.isinf(distances[..., 1:]).all()
    distances, indices = mt.three_nn(torch.zeros(1, 2, 3), torch.ones(1, 0, 3))
    assert torch.isinf(distances).all() and not indices.any()
    assert mt.three_nn(torch.zeros(0, 2, 3), torch.ones(0, 4, 3))[0].shape == (0, 2, 3)


@every_dtype
def test_knn(dtype):
    xyz, centers = cloud(2, 60, 3, dtype), cloud(2, 11, 4, dtype)
    wanted = [[[n for _, n in sorted((d, n) for n, d in enumerate(row.tolist()))[:7]] for row in batch]
              for batch in squares(centers, xyz)]
    indices = mt.knn(7, xyz, centers)
    assert indices.dtype == torch.int32 and indices.transpose(1, 2).tolist() == wanted
    assert torch.equal(mt.knn(7, xyz.transpose(1, 2), centers.transpose(1, 2), True), indices)
    assert torch.equal(mt.knn(3, xyz), mt.knn(3, xyz, xyz))


def test_knn_s_edges():
    points = torch.rand(1, 3, 3)
    assert mt.knn(4, points)[:, 3].tolist() == [[0, 0, 0]]
    assert mt.knn(4, torch.rand(1, 0, 3), points).tolist() == [[[0] * 3] * 4]
    with pytest.raises(mluops.BadParamError, match="k: wanted at least 1, got 0"):
        mt.knn(0, points)
    with pytest.raises(TypeError, match="k: wanted an integer, got 2.0"):
        mt.knn(2.0, points)


def inside(points, boxes):
    """mmcv's rule in double, for boxes that points keep clear of: [B, M, N]."""
    shift = points.double()[:, :, None] - boxes.double()[:, None, :, :3]
    half, angle = boxes.double()[:, None, :, 3:6] / 2, -boxes.double()[:, None, :, 6]
    x = shift[..., 0] * angle.cos() - shift[..., 1] * angle.sin()
    y = shift[..., 0] * angle.sin() + shift[..., 1] * angle.cos()
    z = shift[..., 2] - half[..., 2]
    return ((x.abs() < half[..., 0]) & (y.abs() < half[..., 1]) & (z.abs() <= half[..., 2])).int()


@every_dtype
def test_points_in_boxes(dtype):
    points = cloud(2, 90, 10, dtype)
    boxes = torch.rand(2, 5, 7, generator=torch.Generator().manual_seed(11)).mul(2).sub(0.5).to(dtype)
    wanted = inside(points, boxes)
    assert wanted.any() and not wanted.all()
    assert torch.equal(mt.points_in_boxes_all(points, boxes), wanted)
    assert torch.equal(mt.points_in_boxes_cpu(points, boxes), wanted)
    first = torch.where(wanted.any(2), wanted.argmax(2), -1).int()
    assert torch.equal(mt.points_in_boxes_part(points, boxes), first)


def test_points_in_boxes_of_mmcv_s_tests():
    boxes = torch.tensor([[[0.0, 0.0, 0.0, 1.0, 20.0, 1.0, 0.523598]]])  # 30 degrees
    points = torch.tensor([[[4, 6.928, 0], [6.928, 4, 0], [4, -6.928, 0], [6.928, -4, 0],
                            [-4, 6.928, 0], [-6.928, 4, 0], [-4, -6.928, 0], [-6.928, -4, 0]]])
    assert mt.points_in_boxes_part(points, boxes).tolist() == [[-1, -1, 0, -1, 0, -1, -1, -1]]
    assert mt.points_in_boxes_cpu(points, boxes).tolist() == [[[0], [0], [1], [0], [1], [0], [0], [0]]]


def test_points_in_boxes_s_edges():
    assert mt.points_in_boxes_part(torch.rand(2, 3, 3), torch.rand(2, 0, 7)).tolist() == [[-1] * 3] * 2
    assert mt.points_in_boxes_all(torch.rand(2, 3, 3), torch.rand(2, 0, 7)).shape == (2, 3, 0)
    with pytest.raises(mluops.BadParamError, match="boxes: wanted dimension 2 to be 7"):
        mt.points_in_boxes_part(torch.rand(1, 3, 3), torch.rand(1, 2, 6))
    with pytest.raises(mluops.BadParamError, match="boxes: wanted dimension 0 to be 1"):
        mt.points_in_boxes_all(torch.rand(1, 3, 3), torch.rand(2, 2, 7))


@every_dtype
def test_roipoint_pool3d(dtype):
    points, features = cloud(2, 90, 12, dtype), torch.rand(2, 90, 4).to(dtype)
    boxes = torch.rand(2, 5, 7, generator=torch.Generator().manual_seed(13)).mul(2).sub(0.5).to(dtype)
    pooled, empty = mt.RoIPointPool3d(6)(points, features, boxes)
    assert pooled.shape == (2, 5, 6, 7) and pooled.dtype == dtype and empty.dtype == torch.int32
    everything, wanted = torch.cat([points, features], 2), inside(points, boxes)
    for b in range(2):
        for m in range(5):
            found = wanted[b, :, m].nonzero()[:6, 0].tolist()
            assert empty[b, m] == (not found)
            rows = [everything[b, found[s % len(found)]] if found else torch.zeros(7, dtype=dtype) for s in range(6)]
            assert torch.equal(pooled[b, m], torch.stack(rows))
    assert empty.any() and not empty.all()


def test_roipoint_pool3d_s_edges():
    pooled, empty = mt.roipoint_pool3d(torch.rand(1, 0, 3), torch.rand(1, 0, 2), torch.rand(1, 3, 7), 4)
    assert pooled.shape == (1, 3, 4, 5) and not pooled.any() and empty.tolist() == [[1, 1, 1]]
    with pytest.raises(mluops.BadParamError, match="num_sampled_points: wanted at least 1, got 0"):
        mt.roipoint_pool3d(torch.rand(1, 3, 3), torch.rand(1, 3, 2), torch.rand(1, 3, 7), 0)
    with pytest.raises(mluops.BadParamError, match="point_features: wanted dimension 1 to be 3"):
        mt.roipoint_pool3d(torch.rand(1, 3, 3), torch.rand(1, 4, 2), torch.rand(1, 3, 7), 2)


def ball(xyz, centers, low, high, count):
    table, found = squares(centers, xyz), []
    for batch in table:
        rows = []
        for row in batch:
            inside = [n for n, d in enumerate(row.tolist()) if d == 0 or low * low <= d < high * high][:count]
            rows.append((inside + [inside[0]] * (count - len(inside))) if inside else [0] * count)
        found.append(rows)
    return found


@every_dtype
@pytest.mark.parametrize("low, high", [(0.0, 0.5), (0.25, 0.75), (0.0, 0.0625)])
def test_ball_query(dtype, low, high):
    xyz, centers = cloud(2, 60, 3, dtype), cloud(2, 11, 4, dtype)
    indices = mt.ball_query(low, high, 7, xyz, centers)
    assert indices.dtype == torch.int32 and indices.tolist() == ball(xyz, centers, low, high, 7)


def test_ball_query_s_edges():
    points = torch.zeros(1, 3, 3)
    assert mt.ball_query(0, 1, 0, points, points).shape == (1, 3, 0)
    assert not mt.ball_query(0, 1, 4, torch.zeros(1, 0, 3), points).any()
    with pytest.raises(mluops.BadParamError, match="max_radius: wanted more than min_radius 1.0, got 0.5"):
        mt.ball_query(1, 0.5, 4, points, points)
    with pytest.raises(mluops.BadParamError, match="min_radius: wanted at least 0, got -1.0"):
        mt.ball_query(-1, 0.5, 4, points, points)


def furthest(table, count, batch):
    """table(b, k): distances of all points to point k. Meant for clouds without ties."""
    rows = []
    for b in range(batch):
        best, picked = None, [0]
        while len(picked) < count:
            distance = table(b, picked[-1])
            best = distance if best is None else torch.minimum(best, distance)
            picked.append(int(best.argmax()))
        rows.append(picked)
    return rows


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_furthest_point_sample(dtype):
    generator = torch.Generator().manual_seed(5)
    points = torch.rand(3, 90, 3, generator=generator, dtype=dtype)
    indices = mt.furthest_point_sample(points, 25)
    wide = points.double()
    assert indices.dtype == torch.int32
    assert indices.tolist() == furthest(lambda b, k: (wide[b] - wide[b, k]).square().sum(1), 25, 3)
    table = squares(points, points).to(dtype)
    assert mt.furthest_point_sample_with_dist(table, 25).tolist() == furthest(lambda b, k: table[b, k].double(), 25, 3)


def test_furthest_point_sample_s_edges():
    assert mt.furthest_point_sample(torch.rand(2, 5, 3), 0).shape == (2, 0)
    assert sorted(set(mt.furthest_point_sample(torch.rand(1, 3, 3), 6)[0].tolist())) == [0, 1, 2]
    with pytest.raises(mluops.BadParamError, match="points_xyz: wanted at least one point"):
        mt.furthest_point_sample(torch.zeros(1, 0, 3), 2)
    with pytest.raises(mluops.BadParamError, match="points_dist: wanted dimension 2 to be 4"):
        mt.furthest_point_sample_with_dist(torch.zeros(1, 4, 5), 2)
    with pytest.raises(TypeError, match="num_points: wanted an integer, got 2.0"):
        mt.furthest_point_sample(torch.rand(1, 3, 3), 2.0)


def calls():
    xyz, centers = cloud(2, 30, 6), cloud(2, 8, 7)
    return [("three_nn", (centers, xyz)), ("ball_query", (xyz, centers, 0.0, 0.5, 4)),
            ("knn", (xyz, centers, 4)), ("points_in_boxes_part", (xyz, torch.rand(2, 4, 7))),
            ("points_in_boxes_all", (xyz, torch.rand(2, 4, 7))), ("furthest_point_sample", (xyz, 5)), ("furthest_point_sample_with_dist", (squares(xyz, xyz).float(), 5))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


def test_results_are_constants_to_a_gradient():
    points = torch.rand(1, 9, 3, requires_grad=True)
    assert not mt.furthest_point_sample(points, 3).requires_grad
    assert not mt.ball_query(0, 1, 3, points, points).requires_grad
    assert not any(result.requires_grad for result in mt.three_nn(points, points))


def test_query_and_group():
    xyz, centers = cloud(2, 30, 8), cloud(2, 6, 9)
    features = torch.rand(2, 4, 30, requires_grad=True)
    grouped, coordinates, indices = mt.QueryAndGroup(0.75, 5, return_grouped_xyz=True, normalize_xyz=True,
                                                     return_grouped_idx=True)(xyz, centers, features)
    assert grouped.shape == (2, 7, 6, 5) and indices.tolist() == ball(xyz, centers, 0, 0.75, 5)
    for b, m, s in ((0, 0, 0), (1, 5, 4), (0, 3, 2)):
        n = indices[b, m, s]
        assert torch.equal(coordinates[b, :, m, s], xyz[b, n])
        assert torch.allclose(grouped[b, :3, m, s], (xyz[b, n] - centers[b, m]) / 0.75)
        assert torch.equal(grouped[b, 3:, m, s], features[b, :, n])
    grouped.sum().backward()
    assert features.grad.sum() == 2 * 4 * 6 * 5
    assert mt.QueryAndGroup(0.75, 5)(xyz, centers).shape == (2, 3, 6, 5)
    assert mt.QueryAndGroup(0.75, 5, use_xyz=False)(xyz, centers, features).shape == (2, 4, 6, 5)
    with pytest.raises(mluops.BadParamError, match="features: wanted a tensor where use_xyz is False"):
        mt.QueryAndGroup(0.75, 5, use_xyz=False)(xyz, centers)
    with pytest.raises(mluops.BadParamError, match="max_radius: wanted a number where normalize_xyz is True"):
        mt.QueryAndGroup(None, 5, normalize_xyz=True)


def test_query_and_group_by_knn():
    xyz, centers = cloud(2, 30, 8), cloud(2, 6, 9)
    grouped, indices = mt.QueryAndGroup(None, 5, return_grouped_idx=True)(xyz, centers, torch.rand(2, 4, 30))
    assert grouped.shape == (2, 7, 6, 5) and torch.equal(indices, mt.knn(5, xyz, centers).transpose(1, 2))


def test_group_all():
    xyz, features = cloud(2, 30), torch.rand(2, 4, 30)
    assert mt.GroupAll()(xyz, None).shape == (2, 3, 1, 30)
    assert torch.equal(mt.GroupAll()(xyz, None, features)[:, 3:, 0], features)
    assert torch.equal(mt.GroupAll(use_xyz=False)(xyz, None, features)[:, :, 0], features)


def test_uniform_samples_are_the_points_of_a_group():
    xyz, centers = cloud(2, 30, 8), cloud(2, 6, 9)
    plain = mt.QueryAndGroup(0.6, 12, return_grouped_idx=True)(xyz, centers)[1]
    torch.manual_seed(1)
    grouped, counts, indices = mt.QueryAndGroup(0.6, 12, uniform_sample=True, return_unique_cnt=True,
                                                return_grouped_idx=True)(xyz, centers)
    assert counts.shape == (2, 6) and grouped.shape == (2, 3, 6, 12)
    for row, drawn, count in zip(plain.flatten(0, 1), indices.flatten(0, 1), counts.flatten()):
        different = row.unique()
        assert count == len(different) and torch.equal(drawn[:len(different)], different)
        assert set(drawn.tolist()) == set(different.tolist())
    with pytest.raises(mluops.BadParamError, match="uniform_sample: wanted True where return_unique_cnt is True"):
        mt.QueryAndGroup(0.6, 12, return_unique_cnt=True)


def maps_of_levels():
    shapes = torch.tensor([[4, 6], [2, 3]])
    return shapes, torch.tensor([0, 24]), 30


def test_pixels_of_attention_are_those_of_the_maps():
    shapes, starts, pixels = maps_of_levels()
    value, locations, weights = torch.rand(1, pixels + 1, 2, 4), torch.rand(1, 5, 2, 2, 3, 2), torch.rand(1, 5, 2, 2, 3)
    with pytest.raises(mluops.BadParamError, match="value_spatial_shapes: wanted maps of 31 pixels in all.*got 30"):
        mt.multi_scale_deformable_attn(value, shapes, starts, locations, weights)


def test_attention_module_is_mmcvs():
    """mmcv's own module computes with torch's grid_sample on the CPU. A new process, for mmcv-lite imports its operators only
    while mluops.mmcv is installed."""
    pytest.importorskip("mmcv")
    program = """
        import itertools, torch, warnings
        import mluops.mmcv, mluops.torch as mt
        warnings.simplefilter("ignore")
        mluops.mmcv.install()
        from mmcv.ops import MultiScaleDeformableAttention
        mluops.mmcv.uninstall()
        shapes, starts, pixels = torch.tensor([[4, 6], [2, 3]]), torch.tensor([0, 24]), 30
        for corners, batch_first in itertools.product((2, 4), (False, True)):
            theirs, ours = (module(32, 4, 2, 3, batch_first=batch_first, dropout=0.0).double()
                            for module in (MultiScaleDeformableAttention, mt.MultiScaleDeformableAttention))
            torch.testing.assert_close(ours.sampling_offsets.bias, theirs.sampling_offsets.bias, rtol=1e-6, atol=1e-6)
            for parameter in theirs.parameters():
                torch.nn.init.normal_(parameter, std=0.2)
            ours.load_state_dict(theirs.state_dict())
            order = (lambda t: t) if batch_first else (lambda t: t.transpose(0, 1).contiguous())
            query, position = order(torch.rand(2, 7, 32).double()), order(torch.rand(2, 7, 32).double())
            arguments = dict(value=order(torch.rand(2, pixels, 32).double()), query_pos=position, spatial_shapes=shapes,
                             key_padding_mask=torch.rand(2, pixels) < 0.2, level_start_index=starts,
                             reference_points=torch.rand(2, 7, 2, corners).double())
            torch.testing.assert_close(ours(query, **arguments), theirs(query, **arguments), rtol=1e-9, atol=1e-9)
        print("as mmcv")
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)
    assert "as mmcv" in result.stdout, result.stdout + result.stderr
