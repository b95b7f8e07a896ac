"""spconv 2's modules that mluops.dropin stands for: against torch's dense convolutions in double, in spconv's weight layout."""

import importlib

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, opened  # noqa: E402
import mluops  # noqa: E402
from test_sparse import at, dense_of, random_places  # noqa: E402

SHAPE = 6, 7, 8


@pytest.fixture(autouse=True)
def spconv():
    with opened("spconv"):
        yield door("spconv.pytorch")


def sparse(spconv, channels=4, count=80, shape=SHAPE, dtype=torch.float32):
    places = random_places(count, shape)
    features = torch.randn(count, channels, generator=torch.Generator().manual_seed(count), dtype=dtype)
    return spconv.SparseConvTensor(features.requires_grad_(), places, list(shape), 2)


def dense(x):
    return dense_of(x.features.double(), x.indices, x.spatial_shape)


def as_dense(weight, net):
    """(C_out, k, k, k, C_in) -> torch's (C_out, C_in, k, k, k); spconv reads the weight of a convolution of one tap and no
    stride as (C_in, C_out), although its shape is (C_out, 1, 1, 1, C_in)."""
    if weight[0, ..., 0].numel() == 1 and (net.subm or set(net.stride) == {1}):
        return weight.reshape(net.in_channels, net.out_channels).t().reshape(net.out_channels, -1, *net.kernel_size)
    return weight.movedim(-1, 1)


def dense_weight(net):
    return as_dense(net.weight.detach().double().requires_grad_(), net)


def near(found, wanted, limit=1e-5):
    assert (found.double() - wanted).abs().max() <= limit * max(1.0, wanted.abs().max().item())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind, arguments", [
    ("SubMConv3d", (3,)), ("SubMConv3d", (1,)), ("SubMConv3d", (3, 1, 1, 2)), ("SubMConv3d", ((3, 1, 5),)),
    ("SparseConv3d", (3, 2, 1)), ("SparseConv3d", ((3, 1, 1), (2, 1, 1))), ("SparseConv3d", (2, 2)),
    ("SparseConv3d", (1,)), ("SparseConv3d", (1, 2)), ("SparseConvTranspose3d", (3, 2, 1))], ids=str)
def test_convolution(spconv, kind, arguments, dtype):
    x = sparse(spconv, dtype=dtype)
    net = getattr(spconv, kind)(4, 5, *arguments).to(dtype)
    assert net.weight.shape == (5, *net.kernel_size, 4)
    found = net(x)
    own = net.weight.detach().double().requires_grad_()
    weight, wide = as_dense(own, net), x.features.detach().double().requires_grad_()
    call = torch.nn.functional.conv3d
    numbers = {"stride": net.stride, "padding": net.padding, "dilation": net.dilation}
    if kind == "SubMConv3d":
        numbers.update(stride=1, padding=[k // 2 * d for k, d in zip(net.kernel_size, net.dilation)])
    full = dense_of(wide, x.indices, SHAPE)
    if kind == "SparseConvTranspose3d":
        out = torch.nn.functional.conv_transpose3d(full, weight.transpose(0, 1), stride=2, padding=1)
    else:
        out = call(full, weight, **numbers)
    assert found.features.dtype == dtype and tuple(found.spatial_shape) == tuple(out.shape[2:])
    wanted = at(out, found.indices) + net.bias.detach().double()
    near(found.features, wanted)
    reached = torch.nn.functional.conv3d if kind != "SparseConvTranspose3d" else None
    if reached:  # nothing lies where the tensor has no place, but for submanifold convolutions
        missed = out - dense_of(wanted - net.bias.detach().double(), found.indices, found.spatial_shape)
        assert kind == "SubMConv3d" or missed.abs().max() < 1e-6
    grad = torch.randn(found.features.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    ours = torch.autograd.grad(found.features, (x.features, net.weight), grad)
    theirs = torch.autograd.grad(wanted, (wide, own), grad.double())
    near(ours[0], theirs[0])
    near(ours[1], theirs[1])


def test_two_axes(spconv):
    x = sparse(spconv, count=40, shape=(9, 8))
    net = spconv.SubMConv2d(4, 3, 5, bias=False)
    out = torch.nn.functional.conv2d(dense(x), dense_weight(net), padding=2)
    near(net(x).features, at(out, x.indices))
    near(net(x).dense(), dense_of(at(out, x.indices), x.indices, (9, 8)))


def test_inverse_convolution(spconv):
    """Back to the places of the convolution with its key."""
    x = sparse(spconv)
    down, up = spconv.SparseConv3d(4, 6, 3, 2, 1, indice_key="down"), spconv.SparseInverseConv3d(6, 3, 3, "down")
    small = down(x)
    found = up(small)
    assert torch.equal(found.indices, x.indices) and list(found.spatial_shape) == list(SHAPE)
    full = torch.nn.functional.conv_transpose3d(dense(small), dense_weight(up).transpose(0, 1), stride=2, padding=1,
                                                output_padding=(1, 0, 1))
    near(found.features, at(full, x.indices) + up.bias.detach().double())


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_max_pool(spconv, shift):
    """The greatest of what is there, also where all of it is negative."""
    x = sparse(spconv)
    features = (x.features.detach() + shift).requires_grad_()
    found = spconv.SparseMaxPool3d(2)(x.replace_feature(features))
    wide = features.detach().double().requires_grad_()
    low = wide.detach().min() - 1
    pooled = torch.nn.functional.max_pool3d(dense_of(wide - low, x.indices, SHAPE), 2) + low
    wanted = at(pooled, found.indices)
    assert torch.equal(found.features.double(), wanted) or shift == 0.0
    near(found.features, wanted)
    grad = torch.rand(wanted.shape)
    near(torch.autograd.grad(found.features, features, grad)[0], torch.autograd.grad(wanted, wide, grad.double())[0])


def test_average_and_global_pools(spconv):
    x = sparse(spconv)
    found = spconv.SparseAvgPool3d(2)(x)
    counts = torch.nn.functional.avg_pool3d(dense_of(torch.ones(80, 1), x.indices, SHAPE), 2).double()
    wanted = torch.nn.functional.avg_pool3d(dense(x), 2) / counts.clamp(min=1e-9)
    near(found.features, at(wanted, found.indices))
    for name, reduce in (("SparseGlobalMaxPool", torch.Tensor.amax), ("SparseGlobalAvgPool", torch.Tensor.mean)):
        rows = [reduce(x.features[x.indices[:, 0] == batch], 0) for batch in range(2)]
        assert torch.equal(getattr(spconv, name)()(x), torch.stack(rows))


def test_means_of_half_are_sums_of_float(spconv):
    """3000 ones in a window: sums of half would stop at 2048."""
    places = torch.stack([torch.zeros(3000), torch.arange(3000) // 60, torch.arange(3000) % 60], 1).int()
    x = spconv.SparseConvTensor(torch.ones(3000, 2).half(), places, [60, 60], 1)
    found = spconv.SparseAvgPool2d(60)(x).features
    assert found.dtype == torch.half and torch.equal(found, torch.ones_like(found))


@pytest.mark.parametrize("make", [lambda spconv: spconv.SubMConv3d(4, 4, 3), lambda spconv: spconv.SparseMaxPool3d(2),
                                  lambda spconv: spconv.SparseAvgPool3d(2)])
def test_other_inputs_are_refused(spconv, make):
    with pytest.raises(TypeError, match="wanted a SparseConvTensor, got a tensor"):
        make(spconv)(torch.ones(3, 4))
    with pytest.raises(mluops.BadParamError, match="3 axes"):
        make(spconv)(sparse(spconv, shape=(6, 7)))


def test_pairs_are_kept_under_their_key(spconv):
    x = sparse(spconv)
    first, second = (spconv.SubMConv3d(4, 4, 3, indice_key="a", algo=spconv.ConvAlgo.Native) for _ in range(2))
    y = second(first(x))
    assert set(y.indice_dict) == {"a"}
    wanted = second(first(sparse(spconv)))
    assert torch.equal(y.features, wanted.features)
    with pytest.raises(mluops.BadParamError, match="kernel_size"):
        spconv.SubMConv3d(4, 4, (3, 3, 1), indice_key="a")(y)
    with pytest.raises(mluops.BadParamError, match="indice_key"):
        spconv.SparseConv3d(4, 4, 3, indice_key="a")(y)
    with pytest.raises(mluops.BadParamError, match="indice_key"):
        spconv.SparseInverseConv3d(4, 4, 3, indice_key="b")(y)


def test_the_tensor(spconv):
    x = sparse(spconv)
    twice = x.replace_feature(x.features * 2)
    assert twice is not x and torch.equal(twice.features, x.features * 2) and twice.indice_dict is x.indice_dict
    assert torch.equal((x + twice).features, x.features * 3) and torch.equal(x.minus().features, -x.features)
    assert torch.equal((x + x.features).features, twice.features) and x.is_quantized is False
    some = x.select_by_index(torch.arange(5))
    assert len(some.indices) == 5 and torch.equal(some.features, x.features[:5])
    full = x.dense()
    assert torch.equal(full.double(), dense(x)) and torch.equal(x.dense(False), full.movedim(1, -1))
    again = spconv.SparseConvTensor.from_dense(x.dense(False).detach())
    assert torch.equal(again.dense(), full) and again.batch_size == 2 and again.indices.dtype == torch.int32
    copy = x.shadow_copy()
    assert copy.features is x.features and copy is not x and "SparseConvTensor" in repr(x)
    other = sparse(spconv, count=50)
    assert torch.allclose(importlib.import_module("spconv.pytorch.functional").sparse_add(x, other).dense(),
                          full + other.dense(), atol=1e-6)


def test_containers(spconv):
    x = sparse(spconv)
    net = spconv.SparseSequential(torch.nn.ReLU(), spconv.SparseBatchNorm(4), conv=spconv.SubMConv3d(4, 4, 3))
    before = x.features.clone()
    y = net(x)
    assert torch.equal(x.features, before)  # a residual branch still has them
    assert len(net) == 3 and isinstance(net[0], torch.nn.ReLU) and list(net.state_dict())[0] == "1.weight"
    assert torch.allclose(y.features, net[2](x.replace_feature(net[1](x.features.relu()))).features)
    empty = x.select_by_index(torch.zeros(0, dtype=torch.long))
    assert net(empty).features.shape == (0, 4)
    both = spconv.ConcatTable().add(spconv.SparseIdentity()).add(spconv.SparseReLU())(x)
    assert torch.equal(spconv.AddTable()(both).features, x.features + x.features.relu())
    assert torch.equal(spconv.JoinTable()(both).features, torch.cat([x.features, x.features.relu()], 1))
    assert torch.equal(spconv.AddTableMisaligned()(both).dense(), spconv.AddTable()(both).dense())
    assert torch.equal(spconv.ToDense()(x), x.dense()) and spconv.RemoveGrid()(x).grid is None
    assert spconv.modules.is_spconv_module(net[1]) and not spconv.modules.is_spconv_module(net[0])
    counted = spconv.SparseConv3d(4, 4, 3, record_voxel_count=True)
    assert int(counted(x) and counted.get_max_num_voxels()) == len(counted(x).indices)
    assert "max_num_voxels_during_training" in counted.state_dict() and net[2].get_max_num_voxels() is None


def block(spconv, channels, key):
    return spconv.SparseSequential(spconv.SubMConv3d(channels, channels, 3, bias=False, indice_key=key),
                                   torch.nn.BatchNorm1d(channels), torch.nn.ReLU())


class SmallUNet(torch.nn.Module):
    """The structure of a SparseUNet: residual blocks, down with a key, up by its inverse, skip connections."""

    def __init__(self, spconv):
        super().__init__()
        self.first = spconv.SubMConv3d(4, 8, 3, padding=1, bias=False, indice_key="subm0")
        self.enter, self.inner, self.leave = (block(spconv, 8, "subm0"), block(spconv, 16, "subm1"),
                                              block(spconv, 16, "subm0"))
        self.down = spconv.SparseConv3d(8, 16, 2, 2, bias=False, indice_key="down0")
        self.up = spconv.SparseInverseConv3d(16, 8, 2, indice_key="down0", bias=False)
        self.head = spconv.SubMConv3d(16, 3, 1)

    def forward(self, x):
        x = self.first(x)
        skip = self.enter(x) + x
        low = self.down(skip)
        low = low.replace_feature(self.inner(low).features + low.features)
        up = self.up(low)
        both = up.replace_feature(torch.cat([skip.features, up.features], 1))
        return self.head(self.leave(both)).features


class DenseUNet(torch.nn.Module):
    """SmallUNet by torch's dense convolutions in double, values kept at the places that a sparse tensor has."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def conv(self, module, x, places, **numbers):
        return at(torch.nn.functional.conv3d(x, as_dense(module.weight, module), module.bias, **numbers), places)

    def subm(self, module, features, places, shape):
        return self.conv(module, dense_of(features, places, shape), places, padding=[k // 2 for k in module.kernel_size])

    def run_block(self, module, features, places, shape):
        return module[2](module[1](self.subm(module[0], features, places, shape)))

    def forward(self, features, places, small_places):
        net, small = self.net, [size // 2 for size in SHAPE]
        x = self.subm(net.first, features, places, SHAPE)
        skip = self.run_block(net.enter, x, places, SHAPE) + x
        low = self.conv(net.down, dense_of(skip, places, SHAPE), small_places, stride=2)
        low = self.run_block(net.inner, low, small_places, small) + low
        padding = [size - 2 * half for size, half in zip(SHAPE, small)]
        weight = net.up.weight.movedim(-1, 0).movedim(1, 1)
        up = torch.nn.functional.conv_transpose3d(dense_of(low, small_places, small), weight, stride=2,
                                                  output_padding=padding)
        both = torch.cat([skip, at(up, places)], 1)
        return self.subm(net.head, self.run_block(net.leave, both, places, SHAPE), places, SHAPE)


def test_a_sparse_unet(spconv):
    """Output and every gradient, against the dense network in double."""
    import copy
    torch.manual_seed(0)
    net, x = SmallUNet(spconv), sparse(spconv)
    wide = DenseUNet(copy.deepcopy(net).double())
    found = net(x)
    small = net.down(net.first(sparse(spconv))).indices
    features = x.features.detach().double().requires_grad_()
    wanted = wide(features, x.indices, small)
    near(found, wanted, 1e-4)
    weights = torch.rand(found.shape)
    ours = torch.autograd.grad((found * weights).sum(), [x.features, *net.parameters()])
    theirs = torch.autograd.grad((wanted * weights.double()).sum(), [features, *wide.net.parameters()])
    for mine, other in zip(ours, theirs):
        near(mine, other, 1e-4)


def test_voxels_of_a_grid_of_any_size(spconv):
    """The room it takes grows with the points, not with the grid."""
    maker = importlib.import_module("spconv.pytorch.utils").PointToVoxel([1e-3] * 3, [-1000.0] * 3 + [1000.0] * 3, 3, 50, 8)
    points = torch.tensor([[0.0, 0, 0], [999, -999, 5], [0, 0, 0], [2000, 0, 0]])
    voxels, places, counts, of_each = maker.generate_voxel_with_id(points)
    assert (of_each.tolist(), counts.tolist(), len(places)) == ([0, 1, 0, -1], [2, 1], 2)
    assert maker.generate_voxel_with_id(points[:0])[3].tolist() == []
    assert maker.generate_voxel_with_id(points[3:])[3].tolist() == [-1]


def test_global_pooling_of_an_empty_cloud_is_0(spconv):
    features = torch.tensor([[-1.0, 2], [-3, 4]], requires_grad=True)
    x = spconv.SparseConvTensor(features, torch.tensor([[0, 0, 0, 0], [0, 1, 1, 1]]).int(), [2, 2, 2], 3)
    for pool, wanted in ((spconv.SparseGlobalMaxPool(), [-1.0, 4]), (spconv.SparseGlobalAvgPool(), [-2.0, 3])):
        found = pool(x)
        assert found.tolist() == [wanted, [0, 0], [0, 0]]
        assert torch.autograd.grad(found.sum(), features)[0].isfinite().all()


def test_voxels(spconv):
    utils = importlib.import_module("spconv.utils")
    generator = torch.Generator().manual_seed(3)
    points = torch.rand(200, 5, generator=generator) * 4 - 0.5
    size, reach = [1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 3.0, 3.0, 2.0]
    maker = importlib.import_module("spconv.pytorch.utils").PointToVoxel(size, reach, 5, 50, 8)
    voxels, places, counts, of_each = maker.generate_voxel_with_id(points)
    cells = (points[:, :3] / torch.tensor(size)).floor().long()
    inside = ((cells >= 0) & (cells < torch.tensor([3, 3, 1]))).all(1)
    assert torch.equal(of_each >= 0, inside)
    assert torch.equal(places[of_each[inside]].long(), cells[inside].flip(1))
    for voxel in range(len(voxels)):
        members = points[of_each == voxel][:8]
        assert counts[voxel] == len(members) and torch.equal(voxels[voxel, :len(members)], members)
        assert (voxels[voxel, len(members):] == 0).all()
    filled = maker(points, empty_mean=True)[0]
    assert torch.allclose(filled.mean(1), voxels.sum(1) / counts[:, None], atol=1e-5)
    arrays = utils.VoxelGenerator(size, reach, 8, 50).generate(points.numpy())
    assert all((mine == theirs.numpy()).all() for mine, theirs in zip(arrays, (voxels, places, counts)))
    arrays = utils.Point2VoxelCPU3d(size, reach, 5, 50, 8).point_to_voxel(points.numpy())
    assert torch.equal(arrays[0], voxels)


@pytest.mark.parametrize("kernel", [(3, 1, 3), (3, 3, 3)])
def test_spconv_1_gives_a_key_s_pairs_to_any_kernel(spconv, kernel):
    """Cylinder3D's keys have several kernels, and weights trained with spconv 1 took the first one's pairs: also behind
    another tensor that came from the same one."""
    old = importlib.import_module("spconv")
    x = sparse(old)
    first = old.SubMConv3d(4, 5, (1, 3, 3), bias=False, indice_key="a")
    second = old.SubMConv3d(4, 3, kernel, indice_key="a")
    beside = first(x)
    with pytest.warns(UserWarning, match="indice_key 'a' has the pairs of a kernel .1, 3, 3."):
        found = second(x).features
    alone = old.SubMConv3d(4, 3, (1, 3, 3))
    alone.weight.data = second.weight.detach().flatten(0, 2)[:9].reshape(1, 3, 3, 4, 3)
    alone.bias.data = second.bias.detach()
    assert torch.equal(found, alone(sparse(old)).features)
    grad = torch.autograd.grad(found.sum(), second.weight)[0].flatten(0, 2)
    near(grad[:9], torch.autograd.grad(alone(sparse(old)).features.sum(), alone.weight)[0].flatten(0, 2), 1e-5)
    assert not grad[9:].any() and beside.indice_dict is x.indice_dict
    with pytest.raises(ValueError, match="kernel_size"):
        old.SubMConv3d(4, 3, (1, 1, 3), indice_key="a")(x)
