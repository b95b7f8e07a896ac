"""Sizes that a graph learns when it runs: each integer argument of the public functions, in torch.compile and torch.export."""

import re

import pytest

torch = pytest.importorskip("torch")

pytest.importorskip("torch._dynamo.testing", reason="this torch compiles no graphs")

import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

if not _operator.HAS_LIBRARY_API or not hasattr(torch.export, "Dim") or not hasattr(torch.export.Dim, "DYNAMIC"):
    pytest.skip("this torch has no symbolic sizes of operators", allow_module_level=True)

SIZES = 3, 5, 2, 6  # the first makes the graph


def rand(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(len(shape)))


def boxes(*numbers):
    return torch.tensor([[0, 1.5, 1, 9, 7.5, *numbers], [1, 3, 2.5, 12, 10, *numbers]])


def cloud(points):
    return rand(2, points, 3) * 4


def stack(*counts):
    return torch.tensor(counts, dtype=torch.int32)


def detections():
    corners = rand(20, 2) * 8
    return torch.cat([corners, corners + 3], 1), torch.arange(20.0).flip(0)


class Sparse(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mt.SubMConv2d(3, 2, 3)

    def forward(self, n, features):
        return self.net(mt.SparseConvTensor(features, CELLS, (n + 2, n + 3), n)).dense()


CELLS = torch.tensor([[0, 1, 1], [1, 0, 1]], dtype=torch.int32)
ANCHORS = rand(4, 5, 3, 4) * 5 + torch.tensor([0, 0, 9, 9])


LOW, HIGH = (0.0, 0.0, 0.0), (4.0, 4.0, 4.0)
IMAGE = (2, 4, 14, 16)

# name: what is called with a size and tensors, and those tensors, which may depend on the size
ROWS = {
    "ball_query": (lambda n, p, c: mt.ball_query(0, 2, n, p, c), lambda n: (cloud(9), cloud(6))),
    "ball_query stacked": (lambda n, p, c: mt.ball_query(0, 2, n, p, c, stack(5, 4), stack(2, 4)),
                           lambda n: (cloud(9)[0], cloud(6)[0])),
    "QueryAndGroup": (lambda n, p, c: mt.QueryAndGroup(2, n)(p, c), lambda n: (cloud(9), cloud(6))),
    "bezier_align": (lambda n, x, b: mt.bezier_align(x, b, (n, n + 1), 1.0, 2),
                     lambda n: (rand(*IMAGE), torch.cat([torch.zeros(2, 1), rand(2, 16) * 12], 1))),
    "border_align": (lambda n, x, b: mt.border_align(x, b, n), lambda n: (rand(1, 8, 6, 7), boxes()[None, :, 1:])),
    "carafe": (lambda n, x, m: mt.carafe(x, m, 3, 1, n), lambda n: (rand(1, 4, 3, 4), rand(1, 9, 3 * n, 4 * n))),
    "correlation": (lambda n, a, b: mt.correlation(a, b, 1, n, 1, n), lambda n: (rand(*IMAGE), rand(*IMAGE))),
    "correlation window": (lambda n, a, b: mt.correlation(a, b, n, 1, n, 2), lambda n: (rand(*IMAGE), rand(*IMAGE))),
    "deform_conv2d": (lambda n, x, o, w: mt.deform_conv2d(x, o, w, padding=n),
                      lambda n: (rand(1, 2, 6, 7), rand(1, 18, 4 + 2 * n, 5 + 2 * n), rand(4, 2, 3, 3))),
    "deform_roi_pool": (lambda n, x, r: mt.deform_roi_pool(x, r, None, (n, n + 1), 1.0, 2), lambda n: (rand(*IMAGE), boxes())),
    "furthest_point_sample": (lambda n, p: mt.furthest_point_sample(p, n), lambda n: (cloud(9),)),
    "furthest_point_sample_with_dist": (lambda n, d: mt.furthest_point_sample_with_dist(d, n), lambda n: (rand(2, 9, 9),)),
    "generate_proposals": (lambda n, s, d: mt.generate_proposals(s, d, torch.full((1, 2), 30.0), ANCHORS, torch.ones(4, 5, 3, 4), 30, n)[0],
                           lambda n: (rand(1, 3, 4, 5), rand(1, 12, 4, 5))),
    "knn": (lambda n, p, c: mt.knn(n, p, c), lambda n: (cloud(9), cloud(6))),
    "masked_conv2d": (lambda n, x, w, b: mt.masked_conv2d(x, torch.ones(1, 6, 7), w, b, n),
                      lambda n: (rand(1, 2, 6, 7), rand(4, 2, 3, 3), rand(4))),
    "nms": (lambda n, b, s: mt.nms(b, s, 0.5, max_num=n)[0], lambda n: detections()),
    "batched_nms": (lambda n, b, s: mt.batched_nms(b, s, torch.arange(20) % 3, {"iou_threshold": 0.5, "max_num": n})[0],
                    lambda n: detections()),
    "prior_box": (lambda n, x, i: mt.prior_box(x, i, [4.0, 6.0])[0], lambda n: (rand(1, 1, n, n + 1), rand(1, 3, 8 * n, 9 * n))),
    "prroi_pool": (lambda n, x, r: mt.prroi_pool(x, r, (n, n + 1), 1.0), lambda n: (rand(*IMAGE), boxes())),
    "ps_roi_pool": (lambda n, x, r: mt.ps_roi_pool(x, r, n, 1.0), lambda n: (rand(2, 2 * n * n, 14, 16), boxes())),
    "psa_mask": (lambda n, x: mt.psa_mask(x, "collect", (n, n + 1)), lambda n: (rand(2, n * (n + 1), 4, 3),)),
    "riroi_align_rotated": (lambda n, x, r: mt.riroi_align_rotated(x, r, (n, n + 1), 1.0, 2, 4), lambda n: (rand(*IMAGE), boxes(0.5))),
    "roi_align": (lambda n, x, r: mt.roi_align(x, r, (n, n + 1), 1.0, 2), lambda n: (rand(*IMAGE), boxes())),
    "roi_align max": (lambda n, x, r: mt.roi_align(x, r, (n, n + 1), 1.0, 2, "max"), lambda n: (rand(*IMAGE), boxes())),
    "roi_align samples": (lambda n, x, r: mt.roi_align(x, r, 2, 1.0, n), lambda n: (rand(*IMAGE), boxes())),
    "RoIAlign": (lambda n, x, r: mt.RoIAlign((n, n + 1), 1.0, 2)(x, r), lambda n: (rand(*IMAGE), boxes())),
    "roi_align_rotated": (lambda n, x, r: mt.roi_align_rotated(x, r, (n, n + 1), 1.0, n), lambda n: (rand(*IMAGE), boxes(0.5))),
    "roi_crop": (lambda n, x, g: mt.roi_crop(x, g), lambda n: (rand(2, 3, 6, 7), rand(4, n, n + 1, 2))),
    "roi_pool": (lambda n, x, r: mt.roi_pool(x, r, (n, n + 1), 1.0), lambda n: (rand(*IMAGE), boxes())),
    "roiaware_pool3d": (lambda n, p, f: mt.roiaware_pool3d(torch.tensor([[2.0, 2, 0, 4, 4, 4, 0]]), p, f, (n, n + 1, 2), 2 * n),
                        lambda n: (cloud(9)[0], rand(9, 4))),
    "roipoint_pool3d": (lambda n, p, f: mt.roipoint_pool3d(p, f, torch.tensor([2.0, 2, 0, 4, 4, 4, 0]).expand(2, 1, 7).contiguous(), n)[0],
                        lambda n: (cloud(9), rand(2, 9, 4))),
    "sparse convolution": (Sparse(), lambda n: (rand(2, 3),)),
    "voxel_pooling": (lambda n, g, f: mt.voxel_pooling(g, f, (n, n + 1, 1)),
                      lambda n: (torch.arange(54, dtype=torch.int32).view(2, 9, 3) % 3, rand(2, 9, 4))),
    "voxelization points": (lambda n, p: mt.voxelization(p, (1, 1, 1), (*LOW, *HIGH), n, 30)[0], lambda n: (cloud(40)[0],)),
    "voxelization voxels": (lambda n, p: mt.voxelization(p, (1, 1, 1), (*LOW, *HIGH), 4, n)[0], lambda n: (cloud(40)[0],)),
    "yolo_box": (lambda n, x: mt.yolo_box(x, torch.full((1, 2), 64), [8, 8, 9, 5], n, 0.1, 8)[1], lambda n: (rand(1, 2 * (5 + n), 3, 4),)),
}
every_row = pytest.mark.parametrize("name", ROWS)


class Program(torch.nn.Module):
    """The size is the length of a tensor, as a pooled height may be that of a feature map."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, ruler, tensors):
        return self.call(ruler.shape[0], *tensors)


def inputs(name, size, leaves=False):
    return torch.zeros(size), tuple(t.requires_grad_(leaves and t.is_floating_point()) for t in ROWS[name][1](size))


def test_no_operator_fixes_an_integer():
    schemas = [str(schema) for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("mluops::")]
    assert len(schemas) > 80
    assert not [schema for schema in schemas if re.search(r"\bint\b", schema)]


@every_row
def test_a_graph_serves_several_sizes(name):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    program = Program(ROWS[name][0])
    with torch.fx.experimental._config.patch(use_duck_shape=False):
        compiled = torch.compile(program, fullgraph=True, dynamic=True, backend=counter)
        for size in SIZES:
            (ruler, plain), (_, traced) = inputs(name, size, True), inputs(name, size, True)
            wanted, got = program(ruler, plain), compiled(ruler, traced)
            assert got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-6), size
            if wanted.requires_grad:
                for graph_of, result in ((plain, wanted), (traced, got)):
                    (result * torch.arange(result.numel()).view(result.shape)).sum().backward()
                for own, other in zip(plain, traced):
                    assert own.grad is None or torch.allclose(own.grad, other.grad, rtol=1e-4, atol=1e-5), size
    assert counter.frame_count <= 2, counter.frame_count  # torch makes some graphs twice, but none for each size


@every_row
@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_serves_every_size(name, strict):
    program = Program(ROWS[name][0])
    arguments, other = inputs(name, SIZES[0]), inputs(name, SIZES[1])
    dynamic = {"ruler": {0: torch.export.Dim.DYNAMIC}, "tensors": tuple(
        {i: torch.export.Dim.DYNAMIC for i, (a, b) in enumerate(zip(one.shape, another.shape)) if a != b}
        for one, another in zip(arguments[1], other[1]))}
    exported = torch.export.export(program, arguments, dynamic_shapes=dynamic, strict=strict).module()
    for size in SIZES:
        ruler, tensors = inputs(name, size)
        wanted = program(ruler, tensors)
        got = exported(ruler, tensors)
        assert got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-6), size
