"""mluops.dropin: torchsparse's tensors, convolutions and functions of points and voxels, against plain loops in double."""

import importlib
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, opened  # noqa: E402


@pytest.fixture(autouse=True)
def torchsparse():
    with opened("torchsparse"):
        yield door("torchsparse")


def nn():
    return importlib.import_module("torchsparse.nn")


def cloud(torchsparse, channels=3, size=6, count=60, low=0, seed=0):
    torch.manual_seed(seed)
    coords = torch.cat([torch.randint(0, 2, (count, 1)), torch.randint(low, low + size, (count, 3))], 1).unique(dim=0).int()
    coords = coords[torch.randperm(len(coords))]
    return torchsparse.SparseTensor(torch.randn(len(coords), channels, dtype=torch.float64, requires_grad=True), coords)


def offsets(kernel, padding):
    axes = [range(-pad, size - pad) for size, pad in zip(kernel, padding)]
    if np.prod(kernel) % 2:
        return [(x, y, z) for z in axes[2] for y in axes[1] for x in axes[0]]
    return list(itertools.product(*axes))


def convolved(coords, feats, weight, kernel, stride, padding, outputs):
    """Sums over the kernel at given outputs."""
    at = {tuple(place): row for row, place in enumerate(coords.tolist())}
    rows = []
    for batch, *place in outputs.tolist():
        total = feats.new_zeros(weight.shape[2])
        for k, step in enumerate(offsets(kernel, padding)):
            row = at.get((batch, *(p * s + o for p, s, o in zip(place, stride, step))))
            if row is not None:
                total = total + feats[row] @ weight[k]
        rows.append(total)
    return torch.stack(rows)


def reached(coords, kernel, stride, padding):
    """A strided convolution's outputs, in increasing order."""
    if all(s in (1, k) for s, k in zip(stride, kernel)):
        return sorted({(b, *(p // s for p, s in zip(place, stride))) for b, *place in coords.tolist()})
    most = [(int(coords[:, 1 + a].max()) + 2 * padding[a] - kernel[a] + 1) // stride[a] for a in range(3)]
    found = set()
    for b, *place in coords.tolist():
        for step in offsets(kernel, padding):
            moved = [p - o for p, o in zip(place, step)]
            if all(m % s == 0 and 0 <= m // s <= last for m, s, last in zip(moved, stride, most)):
                found.add((b, *(m // s for m, s in zip(moved, stride))))
    return sorted(found)


def close(found, wanted, inputs):
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    grad = torch.randn_like(wanted)
    for ours, exact in zip(torch.autograd.grad(found, inputs, grad, retain_graph=True),
                           torch.autograd.grad(wanted, inputs, grad, retain_graph=True)):
        torch.testing.assert_close(ours, exact, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel, stride, padding, low", [
    ((3, 3, 3), (1, 1, 1), (1, 1, 1), -3), ((2, 2, 2), (2, 2, 2), (0, 0, 0), -3), ((3, 3, 3), (2, 2, 2), (1, 1, 1), 0),
    ((3, 3, 3), (2, 2, 2), (0, 0, 0), 0), ((3, 1, 3), (1, 1, 1), (1, 0, 1), 5), ((2, 2, 1), (2, 2, 1), (0, 0, 0), 0),
    ((3, 3, 3), (3, 3, 3), (0, 0, 0), 0), ((3, 3, 2), (2, 2, 1), (1, 1, 0), 0)])
def test_convolution(torchsparse, kernel, stride, padding, low):
    x = cloud(torchsparse, low=low)
    conv = nn().Conv3d(3, 4, kernel, stride, padding, bias=True).double()
    assert conv.kernel.shape == (int(np.prod(kernel)), 3, 4) and conv.padding == padding
    out = conv(x)
    outputs = x.coords if stride == (1, 1, 1) else torch.tensor(reached(x.coords, kernel, stride, padding)).int()
    assert torch.equal(out.coords, outputs) and out.coords.dtype == torch.int32 and out.stride == stride
    close(out.feats, convolved(x.coords, x.feats, conv.kernel, kernel, stride, padding, outputs) + conv.bias,
          (x.feats, conv.kernel, conv.bias))


def test_back_to_the_places_before(torchsparse):
    x = cloud(torchsparse)
    down, up = nn().Conv3d(3, 4, 2, 2).double(), nn().Conv3d(4, 5, 2, 2, transposed=True).double()
    coarse = down(x)
    out = up(coarse)
    assert torch.equal(out.coords, x.coords) and out.stride == (1, 1, 1)
    at = {tuple(place): row for row, place in enumerate(coarse.coords.tolist())}
    wanted = []
    for b, *place in x.coords.tolist():
        k = offsets((2, 2, 2), (0, 0, 0)).index(tuple(p % 2 for p in place))
        wanted.append(coarse.feats[at[(b, *(p // 2 for p in place))]] @ up.kernel[k])
    close(out.feats, torch.stack(wanted), (x.feats, down.kernel, up.kernel))
    with pytest.raises(ValueError, match="input: wanted a tensor behind a convolution"):
        up(cloud(torchsparse, channels=4, seed=1))


def test_one_place_shares_the_caches(torchsparse):
    x = cloud(torchsparse)
    conv = nn().Conv3d(3, 4, 1).double()
    out = conv(x)
    assert conv.kernel.shape == (3, 4) and out._caches is x._caches and out.coords is x.coords
    close(out.feats, x.feats @ conv.kernel, (x.feats, conv.kernel))
    both = torchsparse.cat([out, x])
    assert torch.equal(both.F, torch.cat([out.F, x.F], 1)) and torch.equal((x + x).F, 2 * x.F)
    with pytest.raises(ValueError, match="dilation"):
        nn().Conv3d(3, 4, 3, dilation=2).double()(x)


def test_modules_of_features(torchsparse):
    x = cloud(torchsparse, channels=4)
    for ours, theirs in ((nn().ReLU(), torch.relu), (nn().LeakyReLU(0.2), lambda f: torch.nn.functional.leaky_relu(f, 0.2)),
                         (nn().SiLU(), torch.nn.functional.silu), (nn().BatchNorm(4).double(),
                                                                   torch.nn.BatchNorm1d(4).double())):
        assert torch.equal(ours(x).F, theirs(x.F))
    groups = nn().GroupNorm(2, 4).double()
    for sample in (0, 1):
        own = x.C[:, 0] == sample
        torch.testing.assert_close(groups(x).F[own], torch.nn.functional.group_norm(x.F[own].t()[None], 2)[0].t())
        assert torch.equal(nn().GlobalAvgPool()(x)[sample], x.F[own].mean(0))
        assert torch.equal(nn().GlobalMaxPool()(x)[sample], x.F[own].amax(0))
    x.spatial_range = (2, 6, 6, 6)
    assert torch.equal(x.dense()[tuple(x.C.long().unbind(1))], x.F) and x.dense().shape == (2, 6, 6, 6, 4)


def test_points_and_voxels(torchsparse):
    functional = importlib.import_module("torchsparse.nn.functional")
    x = cloud(torchsparse)
    torch.manual_seed(3)
    points = torch.rand(25, 3, dtype=torch.float64) * 7 - 0.5
    table = importlib.import_module("torchsparse.backend").GPUHashTable(torch.zeros(8).long(), torch.zeros(8).int())
    table.insert_coords(x.coords[:, [1, 2, 3, 0]])
    cells = torch.cat([points.floor(), torch.zeros(25, 1)], 1).int()
    rows = table.lookup_coords(cells, torch.tensor([2, 2, 2]), torch.tensor([1, 1, 1]), 8) - 1
    assert torch.equal(table.lookup_coords(cells, torch.tensor([1, 1, 1]), torch.tensor([1, 1, 1]), 1)[:, 0] - 1, rows[:, 0])
    at = {tuple(place): row for row, place in enumerate(x.coords.tolist())}
    corners = list(itertools.product((0, 1), repeat=3))
    wanted = torch.tensor([[at.get((0, *(int(c) + s for c, s in zip(cell[:3], step))), -1) for step in corners]
                           for cell in cells.tolist()])
    assert torch.equal(rows.long(), wanted) and (rows >= 0).any()
    weights = functional.calc_ti_weights(points, rows)
    exact = torch.stack([torch.stack([(1 - (p - p.floor()) if s == 0 else p - p.floor())[a] for a, s in enumerate(step)]).prod()
                         for p in points for step in corners]).view(25, 8).masked_fill(rows < 0, 0)
    exact = exact / (exact.sum(1, keepdim=True) + 1e-8)
    torch.testing.assert_close(weights, exact)
    torch.testing.assert_close(functional.calc_ti_weights(points * 4, rows, 4), exact)
    found = functional.spdevoxelize(x.F, rows, weights)
    close(found, (x.F[rows.clamp(min=0).long()] * exact[..., None]).sum(1), (x.F,))
    voxel = torch.tensor([0, 2, -1, 2, 0, 0, 7]).int()
    counts = functional.spcount(voxel, torch.tensor(4))
    assert counts.tolist() == [3, 0, 2, 0] and counts.dtype == torch.int32
    feats = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    means = torch.stack([feats[[0, 4, 5]].mean(0), feats[0] * 0, feats[[1, 3]].mean(0), feats[0] * 0])
    close(functional.spvoxelize(feats, voxel, counts), means, (feats,))


def test_hashes(torchsparse):
    functional = importlib.import_module("torchsparse.nn.functional")
    coords = torch.tensor([[3, -4, 5, 0], [1, 2, 3, 1], [-1, 0, 0, 0]]).int()

    def fnv(place):
        found = 14695981039346656037
        for number in place:
            found = (found ^ (number & 0xFFFFFFFF)) * 1099511628211 % 2 ** 64
        return (found >> 60) ^ (found & 0x0FFFFFFFFFFFFFFF)

    assert functional.sphash(coords).tolist() == [fnv(place) for place in coords.tolist()]
    steps = torch.tensor([[0, 0, 0], [1, -1, 0]]).int()
    moved = functional.sphash(coords, steps)
    assert moved.tolist() == [[fnv([p + s for p, s in zip(place, (*step, 0))]) for place in coords.tolist()]
                              for step in steps.tolist()]
    references = functional.sphash(coords[[2, 0]])
    assert functional.sphashquery(moved, references).tolist() == [[1, -1, 0], [-1, -1, -1]]


def test_samples_to_a_batch(torchsparse):
    quantize = importlib.import_module("torchsparse.utils.quantize").sparse_quantize
    collate = importlib.import_module("torchsparse.utils.collate").sparse_collate_fn
    points = np.array([[0.2, 0.1, 0], [0.9, 0.3, 0.4], [-0.1, 0, 0], [0.3, 0.2, 0.1]])
    voxels, first, inverse = quantize(points, 0.5, return_index=True, return_inverse=True)
    assert voxels.tolist() == [[-1, 0, 0], [0, 0, 0], [1, 0, 0]] and first.tolist() == [2, 0, 1]
    assert inverse.tolist() == [1, 2, 0, 1] and voxels.dtype == np.int32 and np.array_equal(quantize(points, 0.5), voxels)
    tensors = [torchsparse.SparseTensor(points[first].astype(np.float32), voxels) for _ in range(2)]
    batch = collate([{"input": each, "name": "a", "label": inverse} for each in tensors])
    assert batch["input"].C.tolist() == [[sample, *voxel] for sample in (0, 1) for voxel in voxels.tolist()]
    assert batch["name"] == ["a", "a"] and batch["label"].shape == (2, 4) and batch["input"].C.dtype == torch.int32


def test_offsets_and_union(torchsparse):
    from_utils = importlib.import_module("torchsparse.nn.utils").get_kernel_offsets
    assert from_utils(2).tolist() == [list(each) for each in itertools.product((0, 1), repeat=3)]
    assert from_utils(3, 2).tolist() == [[2 * x, 2 * y, 2 * z] for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    a = torchsparse.SparseTensor(torch.tensor([[1.0], [2]]), torch.tensor([[0, 1, 1, 1], [0, 0, 0, 0]]).int())
    b = torchsparse.SparseTensor(torch.tensor([[4.0]]), torch.tensor([[0, 1, 1, 1]]).int())
    both = torchsparse.generative_add(b, a)
    assert both.F.tolist() == [[2], [5]] and both.C.tolist() == [[0, 0, 0, 0], [0, 1, 1, 1]]
