"""torch.onnx.export of operators of point clouds and voxels to standard operators; plain onnxruntime runs them."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from onnx_sessions import Of, named, plain_session, results  # noqa: E402

for _package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(_package)


def grid_points(*shape, dtype):
    """Many distances are equal, and equal to the radii of the calls."""
    return (torch.randint(-8, 9, (*shape, 3)) / 10).to(dtype)


def odd_points(*shape, dtype):
    points = grid_points(*shape, dtype=dtype)
    points[0, 0], points[0, 3, 1], points[1, 4], points[1, 2, 2] = 0.5, float("nan"), float("inf"), 6e4
    return points


def learning(function, inputs, dimension=1, together=True):
    """A session of inputs with any size of a dimension: the same for all, or each its own."""
    named()
    sizes = tuple({dimension: torch.export.Dim("number" if together else f"number{i}", min=2)} for i, _ in enumerate(inputs))
    return plain_session(torch.onnx.export(Of(function), inputs, dynamo=True, verbose=False, dynamic_shapes=(sizes,)))


def check(session, function, *inputs):
    """Integers exactly; roots may differ in their last bit."""
    wanted = function(*inputs)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    found = results(session, inputs)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.shape == b.shape and a.dtype == b.dtype
        if b.is_floating_point():
            assert torch.allclose(a, b, rtol=1e-6, atol=1e-5, equal_nan=True)
        else:
            assert torch.equal(a, b)


SEARCHES = {"knn": lambda points, centers: mt.knn(5, points, centers),
            "three_nn": lambda points, centers: mt.three_nn(centers, points),
            "ball_query": lambda points, centers: mt.ball_query(0.1, 0.3, 6, points, centers),
            "empty balls": lambda points, centers: mt.ball_query(5.0, 6.0, 3, points, centers)}


@pytest.mark.parametrize("name, dtype", [*((name, torch.float32) for name in SEARCHES), ("three_nn", torch.float64),
                                         ("ball_query", torch.float64), ("ball_query", torch.float16)], ids=str)
def test_neighbours_are_exact(name, dtype):
    """Also of fewer points than neighbours, of equal distances, and where coordinates are not finite."""
    torch.manual_seed(0)
    call = SEARCHES[name]
    inputs = grid_points(2, 40, dtype=dtype), grid_points(2, 7, dtype=dtype)
    session = learning(call, inputs, together=False)
    check(session, call, *inputs)
    check(session, call, grid_points(2, 300, dtype=dtype), grid_points(2, 90, dtype=dtype))
    check(session, call, odd_points(2, 50, dtype=dtype), odd_points(2, 9, dtype=dtype))
    check(session, call, grid_points(2, 2, dtype=dtype), grid_points(2, 3, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_furthest_points_are_exact(dtype):
    """Of equally far points mmcv's, for any number of them; a Scan takes one after the other."""
    torch.manual_seed(0)

    def call(points):
        return mt.furthest_point_sample(points, 20)

    session = learning(call, (grid_points(2, 40, dtype=dtype),))
    for points in (grid_points(2, 40, dtype=dtype), odd_points(2, 50, dtype=dtype), grid_points(2, 3, dtype=dtype),
                   grid_points(2, 3000, dtype=dtype)):
        check(session, call, points)


def test_furthest_points_of_given_distances():
    torch.manual_seed(0)
    named()

    def call(distances):
        return mt.furthest_point_sample_with_dist(distances, 20)

    session = plain_session(torch.onnx.export(Of(call), (torch.rand(2, 40, 40),), dynamo=True, verbose=False))
    for distances in (torch.rand(2, 40, 40), torch.randint(-3, 4, (2, 40, 40)) / 2, torch.full((2, 40, 40), -2.0),
                      torch.full((2, 40, 40), float("nan"))):
        check(session, call, distances)


GATHERS = {"gather_points": (mt.gather_points, (6,)), "grouping_operation": (mt.grouping_operation, (6, 4))}


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("name", GATHERS)
def test_points_of_any_number_are_gathered(name, dtype):
    torch.manual_seed(0)
    named()
    call, shape = GATHERS[name]
    indices = torch.randint(-2, 12, (2, *shape), dtype=dtype)
    session = plain_session(torch.onnx.export(Of(call), (torch.randn(2, 5, 9), indices), dynamo=True, verbose=False))
    for _ in range(2):
        features = torch.randn(2, 5, 9)
        check(session, call, features, torch.randint(-2, 12, (2, *shape), dtype=dtype))
    features[0, 0, 0] = float("nan")  # is at index 0, where indices outside would be taken from
    check(session, call, features, torch.full((2, *shape), 9, dtype=dtype))


def test_a_set_abstraction_exports_whole():
    """PointNet++: sample, group, a small network, interpolate back."""
    torch.manual_seed(0)
    group, layer = mt.QueryAndGroup(0.6, 8, normalize_xyz=True), torch.nn.Conv2d(3 + 4, 16, 1)

    def call(xyz, features):
        centers = mt.gather_points(xyz.transpose(1, 2).contiguous(), mt.furthest_point_sample(xyz, 24)).transpose(1, 2)
        pooled = layer(group(xyz, centers, features.transpose(1, 2).contiguous())).relu().amax(3)
        distances, indices = mt.three_nn(xyz, centers)
        weights = 1 / (distances + 1e-3)
        return mt.three_interpolate(pooled, indices, weights / weights.sum(2, keepdim=True))

    with torch.no_grad():
        clouds = [(torch.rand(2, n, 3), torch.randn(2, n, 4)) for n in (100, 300)]
        session = learning(call, clouds[0])
        for cloud in clouds:
            check(session, call, *cloud)


# ---- voxels

SIZE, EXTENT = [0.5, 0.4, 1.0], [0.0, -2, -1, 4.2, 2, 1]


def cloud(n):
    points = (torch.randn(n, 5) * 20).round() / 10
    points[0, 0], points[1, 2] = float("nan"), float("inf")
    return points


@pytest.mark.parametrize("max_points, max_voxels", [(3, 20), (3, 300), (1, 1), (-1, -1)])
def test_voxels_are_exact(max_points, max_voxels):
    torch.manual_seed(0)

    def call(points):
        return mt.voxelization(points, SIZE, EXTENT, max_points, max_voxels)

    session = learning(call, (cloud(200),), 0)
    for n in (200, 7, 2000):
        check(session, call, cloud(n))


@pytest.mark.parametrize("reduce_type", ["sum", "mean", "max"])
def test_features_are_reduced_by_voxel(reduce_type):
    torch.manual_seed(0)

    def call(feats, coors):
        return mt.dynamic_scatter(feats, coors, reduce_type)

    def data(n, most=4):
        return torch.randn(n, 6), torch.randint(-1, most, (n, 3), dtype=torch.int32)

    session = learning(call, data(30), 0)
    outside = torch.randn(4, 6), torch.full((4, 3), -1, dtype=torch.int32)
    for inputs in (data(30), data(3), data(500), data(60, (1 << 31) - 1), outside):
        check(session, call, *inputs)


class Pillars(torch.nn.Module):
    """PointPillars: voxels, a network of each one's points, their maximum put on a map, convolutions."""

    def __init__(self):
        super().__init__()
        self.voxels = mt.Voxelization([0.5, 0.5, 4.0], [0.0, -4, -2, 8, 4, 2], 8, 400)
        self.points, self.norm = torch.nn.Linear(5, 16, bias=False), torch.nn.BatchNorm1d(16)
        self.head = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(32, 7, 1))

    def forward(self, points):
        voxels, coors, counts = self.voxels(points)
        torch._check(voxels.shape[0] > 0)  # or batch normalisation asks for it
        used = (torch.arange(8) < counts[:, None])[..., None]
        features = self.norm(self.points(voxels).flatten(0, 1)).relu().unflatten(0, (-1, 8)) * used
        canvas = torch.zeros(16, 16 * 16)
        canvas[:, (coors[:, 1] * 16 + coors[:, 2]).long()] = features.amax(1).t()
        return self.head(canvas.view(1, 16, 16, 16))


def test_pillars_export_whole():
    torch.manual_seed(0)
    net = Pillars().eval()
    with torch.no_grad():
        net.norm.running_mean.uniform_(-0.2, 0.2)
        clouds = [torch.rand(n, 5) * torch.tensor([9.0, 9, 5, 1, 1]) - torch.tensor([0.5, 4.5, 2.5, 0, 0]) for n in (900, 40, 3000)]
        session = learning(net, (clouds[0],), 0)
        for cloud in clouds:
            check(session, net, cloud)
