"""indice_key: a module that uses the pairs of another gives what it gives without a key, or refuses."""

import itertools
import random

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin import _spconv, _spconv_pool  # noqa: E402

DOORS = pytest.mark.parametrize("door", [mt, _spconv], ids=["mluops.torch", "spconv"])
GRID = [6, 7, 8]


def cloud(door, channels=4, places=60, grid=GRID):
    cells = torch.randperm(2 * grid[0] * grid[1] * grid[2])[:places]
    at = torch.stack([cells // (grid[0] * grid[1] * grid[2]), cells // (grid[1] * grid[2]) % grid[0],
                      cells // grid[2] % grid[1], cells % grid[2]], 1).int()
    return door.SparseConvTensor(torch.randn(places, channels), at, list(grid), 2)


def without_key(module, x):
    """The module on a tensor that knows nothing."""
    return module(type(x)(x.features, x.indices, x.spatial_shape, x.batch_size))


def same(one, other):
    assert torch.equal(one.indices, other.indices) and list(one.spatial_shape) == list(other.spatial_shape)
    torch.testing.assert_close(one.features, other.features)


@DOORS
def test_branches_off_one_tensor_do_not_know_each_other(door):
    torch.manual_seed(0)
    x = cloud(door)
    for arguments in ([dict(kernel_size=(1, 3, 3)), dict(kernel_size=(3, 1, 3))],
                      [dict(kernel_size=3, dilation=1), dict(kernel_size=3, dilation=2)]):
        branches = [door.SubMConv3d(4, 4, bias=False, indice_key="a", **each) for each in arguments]
        for branch in branches + branches:  # a loop that takes times runs them twice
            same(branch(x), without_key(branch, x))
    assert x.indice_dict == {}


@DOORS
def test_a_network_twice_on_one_tensor(door):
    torch.manual_seed(1)
    x = cloud(door)
    network = door.SparseSequential(door.SubMConv3d(4, 4, 3, indice_key="a"), door.SparseConv3d(4, 6, 3, 2, 1, indice_key="b"),
                                    door.SparseInverseConv3d(6, 4, 3, indice_key="b"))
    once = network(x)
    same(network(x), once)
    assert set(once.indice_dict) == {"a", "b"}


KERNELS = [3, (1, 3, 3), (3, 1, 3), (3, 3, 1), (1, 1, 3)]


def random_module(door, rng, key):
    kind = rng.choice(["subm", "subm", "strided", "transposed", "inverse"])
    kernel = rng.choice(KERNELS)
    dilation = rng.choice([1, 1, 2])
    if kind == "subm":
        return door.SubMConv3d(4, 4, kernel, dilation=dilation, bias=False, indice_key=key)
    if kind == "inverse":
        return door.SparseInverseConv3d(4, 4, kernel, indice_key=key, bias=False)
    stride = rng.choice([1, 2])
    padding = rng.choice([0, 1, 2])
    made = door.SparseConv3d if kind == "strided" else door.SparseConvTranspose3d
    return made(4, 4, kernel, stride, padding, dilation=1 if stride > 1 else dilation, bias=False, indice_key=key)


@DOORS
def test_chains_of_one_key_are_those_without_a_key_or_refused(door):
    """Of every two modules, whichever they are: the second finds its own pairs, or the first's where they are its own."""
    torch.manual_seed(2)
    rng = random.Random(2)
    outcomes = {"used": 0, "refused": 0}
    for _ in range(300):
        x = cloud(door, places=rng.choice([1, 20, 60]))
        modules = [random_module(door, rng, "k") for _ in range(rng.choice([2, 3]))]
        for module in modules:
            inverse = module.inverse
            try:
                y = module(x)
            except mluops.BadParamError:
                outcomes["refused"] += 1
                break
            if inverse:
                source = x.indice_dict["k"]
                assert torch.equal(y.indices, source.inputs) and torch.equal(x.indices, source.outputs)
                filters = module.filters().detach().double().flatten(0, -3)
                wanted = torch.zeros(len(y.indices), 4, dtype=torch.float64)
                for tap, count in enumerate(source.num.tolist()):
                    at, to = source.pairs[tap, :, :count].long()
                    wanted.index_add_(0, at, x.features.detach().double()[to] @ filters[tap])
                torch.testing.assert_close(y.features.double(), wanted, rtol=1e-4, atol=1e-5)
            else:
                outcomes["used"] += "k" in x.indice_dict
                same(y, without_key(module, x))
            x = y
    assert outcomes["used"] > 5 and outcomes["refused"] > 50


@DOORS
def test_what_decides_the_pairs_is_compared(door):
    torch.manual_seed(3)
    x = cloud(door)
    first = door.SubMConv3d(4, 4, (1, 3, 3), indice_key="a")(x)
    for arguments, text in ((dict(kernel_size=(3, 1, 3)), r"kernel_size: wanted \[1, 3, 3\], that of the other convolution"),
                            (dict(kernel_size=(1, 3, 3), dilation=2), r"dilation: wanted \[1, 1, 1\]"),
                            (dict(kernel_size=3), "kernel_size: wanted")):
        with pytest.raises(mluops.BadParamError, match=text + ".* with indice_key 'a', got"):
            door.SubMConv3d(4, 4, indice_key="a", **arguments)(first)
    elsewhere = first.moved(first.features, first.indices.flip(0), GRID)
    larger = first.moved(first.features, first.indices, [6, 7, 9])
    for other, text in ((elsewhere, "indices: wanted the 60 places"), (larger, r"spatial_shape: wanted \[6, 7, 8\]")):
        with pytest.raises(mluops.BadParamError, match=text):
            door.SubMConv3d(4, 4, (1, 3, 3), indice_key="a")(other)
    copied = first.moved(first.features, first.indices.clone(), GRID)
    again = door.SubMConv3d(4, 4, (1, 3, 3), indice_key="a")
    same(again(copied), without_key(again, copied))


@DOORS
def test_as_many_places_behind_a_strided_layer_are_other_places(door):
    """A filter of one tap moves every place."""
    torch.manual_seed(4)
    x = cloud(door, places=30)
    x = door.SubMConv3d(4, 4, 3, indice_key="a")(x)
    moved = door.SparseConv3d(4, 4, (1, 1, 2), 1, (0, 0, 0))(x)
    moved = moved.moved(torch.randn(len(moved.indices), 4), moved.indices, GRID)
    fewer = moved.moved(moved.features[:30], moved.indices[:30], GRID)
    for other in (moved, fewer):
        with pytest.raises(mluops.BadParamError, match="indices: wanted the 30 places"):
            door.SubMConv3d(4, 4, 3, indice_key="a")(other)


@DOORS
def test_back_through_another_convolution_is_refused(door):
    torch.manual_seed(5)
    x = cloud(door)
    down = door.SparseConv3d(4, 4, 3, 2, 1, indice_key="a")(x)
    with pytest.raises(mluops.BadParamError, match=r"kernel_size: wanted \[3, 3, 3\]"):
        door.SparseInverseConv3d(4, 4, (3, 9, 1), indice_key="a")(down)
    further = door.SparseConv3d(4, 4, 3, 2, 1, indice_key="b")(down)
    with pytest.raises(mluops.BadParamError, match="spatial_shape: wanted"):
        door.SparseInverseConv3d(4, 4, 3, indice_key="a")(further)
    with pytest.raises(mluops.BadParamError, match="indices: wanted"):
        door.SparseInverseConv3d(4, 4, 3, indice_key="a")(down.moved(down.features, down.indices.flip(0), down.spatial_shape))


def test_pooling_shares_no_key():
    torch.manual_seed(6)
    for kind, back in itertools.product((_spconv_pool.SparseMaxPool3d, _spconv_pool.SparseAvgPool3d), (2, 3)):
        x = cloud(_spconv)
        pool = kind(2, 2, indice_key="p")
        pooled = pool(x)
        same(pool(x), pooled)
        assert x.indice_dict == {} and set(pooled.indice_dict) == {"p"}
        up = _spconv.SparseInverseConv3d(4, 4, back, indice_key="p")
        if back == 2:
            assert torch.equal(up(pooled).indices, x.indices)
        else:
            with pytest.raises(mluops.BadParamError, match=r"kernel_size: wanted \[2, 2, 2\]"):
                up(pooled)
        with pytest.raises(mluops.BadParamError, match="indice_key: wanted one that nothing before has"):
            pool(pooled)
        with pytest.raises(mluops.BadParamError, match="indice_key"):
            _spconv.SubMConv3d(4, 4, 2, indice_key="p")(pooled)


def test_spconv_goes_back_through_strided_convolutions_alone():
    torch.manual_seed(7)
    first = _spconv.SubMConv3d(4, 4, 3, indice_key="a")(cloud(_spconv))
    with pytest.raises(mluops.BadParamError, match="indice_key: wanted a convolution that is not submanifold"):
        _spconv.SparseInverseConv3d(4, 4, 3, indice_key="a")(first)


def through_pairs(features, places, kernel, filters):
    """Of a filter about each place: the sum over its taps that meet a place, tap i by filters[i]."""
    numbers = {tuple(place): number for number, place in enumerate(places.tolist())}
    rows = []
    for batch, *place in places.tolist():
        row = torch.zeros(filters.shape[-1], dtype=torch.float64)
        for i, tap in enumerate(itertools.product(*map(range, kernel))):
            other = numbers.get((batch, *(p + t - size // 2 for p, t, size in zip(place, tap, kernel))))
            if other is not None:
                row = row + features[other] @ filters[i]
        rows.append(row)
    return torch.stack(rows)


def test_mmcv_takes_the_pairs_of_the_first_for_all_of_a_key(installed):
    """Cylinder3D of mmdet3d gives (1, 3, 3), (3, 1, 3) and (3, 3, 3) one key; its checkpoints hold what mmcv computes."""
    import mmcv.ops
    torch.manual_seed(8)
    x = cloud(mmcv.ops, places=150)
    wanted = x.features.double().requires_grad_()
    modules, filters = [], []
    for kernel in ((1, 3, 3), (3, 1, 3), (3, 3, 3)):
        modules.append(mmcv.ops.SubMConv3d(4, 4, kernel, padding=1, bias=False, indice_key="c"))
        filters.append(modules[-1].weight.detach().double().flatten(0, -3).requires_grad_())
        x = modules[-1](x)
        wanted = through_pairs(wanted, x.indices, (1, 3, 3), filters[-1])
    torch.testing.assert_close(x.features.double(), wanted, rtol=1e-5, atol=1e-5)
    x.features.square().sum().backward()
    wanted.square().sum().backward()
    for module, own in zip(modules, filters):
        torch.testing.assert_close(module.weight.grad.double().flatten(0, -3), own.grad, rtol=1e-4, atol=1e-4)
    assert modules[2].weight.grad.flatten(0, -3)[9:].abs().max() == 0
