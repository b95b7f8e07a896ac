"""Sparse convolution and pooling against torch's dense ones."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMITS = {torch.float64: 1e-12, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 2e-1}


def random_places(count, shape, batch=2):
    """Different places, [count, 1 + axes], in no order."""
    sizes = (batch, *shape)
    generator = torch.Generator().manual_seed(count)
    number = torch.randperm(int(torch.tensor(sizes).prod()), generator=generator)[:count]
    columns = []
    for size in reversed(sizes):
        columns.append(number % size)
        number = torch.div(number, size, rounding_mode="floor")
    return torch.stack(columns[::-1], 1).int()


def dense_of(features, places, shape, batch=2):
    full = features.new_zeros(batch, *shape, features.shape[1])
    return full.index_put(tuple(places.long().unbind(1)), features).movedim(-1, 1)


def at(dense, places):
    return dense.movedim(1, -1)[tuple(places.long().unbind(1))]


def dense_convolution(x, weight, kind, stride, padding, dilation=1):
    axes = x.dim() - 2
    name = f"conv{'_transpose' if kind == 'transpose' else ''}{axes}d"
    order = (axes, axes + 1) if kind == "transpose" else (axes + 1, axes)
    weight = weight.permute(*order, *range(axes))
    if kind == "subm":
        stride, padding = 1, [size // 2 * dilation for size in weight.shape[2:]]
    return getattr(torch.nn.functional, name)(x, weight, stride=stride, padding=padding, dilation=dilation)


CONVOLUTIONS = [("subm", (5, 6, 7), 3, 1, 0), ("conv", (5, 6, 7), 3, 2, 1), ("conv", (5, 6, 7), 2, 3, 0),
                ("conv", (9, 8), 3, 1, 1), ("transpose", (3, 4, 5), 3, 2, 1), ("subm", (9, 8), 5, 1, 0),
                ("subm", (5, 6, 7), 3, 1, 0, 2), ("subm", (9, 8), 5, 1, 0, 3), ("conv", (9, 8), 3, 1, 2, 2),
                ("transpose", (4, 5), 3, 1, 1, 2), ("transpose", (3, 4, 5), 2, 1, 0, 3)]


@every_dtype
@pytest.mark.parametrize("kind, shape, k, stride, padding, dilation", [(*each, 1)[:6] for each in CONVOLUTIONS])
def test_convolution(kind, shape, k, stride, padding, dilation, dtype):
    generator = torch.Generator().manual_seed(1)
    places = random_places(30, shape)
    features = torch.randn(30, 5, generator=generator).to(dtype).requires_grad_()
    weight = torch.randn(*[k] * len(shape), 5, 7, generator=generator).to(dtype).requires_grad_()
    outputs, pairs, num = mt.get_indice_pairs(places, 2, shape, k, stride, padding, dilation, subm=kind == "subm",
                                              transpose=kind == "transpose")
    assert pairs.dtype == num.dtype == torch.int32 and pairs.is_contiguous()
    found = mt.indice_conv(features, weight, pairs, num, len(outputs))
    wide = [each.detach().double().requires_grad_() for each in (features, weight)]
    dense = dense_convolution(dense_of(wide[0], places, shape), wide[1], kind, stride, padding, dilation)
    wanted = at(dense, outputs)
    assert found.dtype == dtype and (found.double() - wanted).abs().max() <= LIMITS[dtype] * 3
    met = dense_convolution(dense_of(torch.ones(30, 1), places, shape), torch.ones(*[k] * len(shape), 1, 1), kind,
                            stride, padding, dilation)[:, 0]
    if kind != "subm":  # every place that something meets is an output, once and in order
        assert torch.equal(outputs.long(), (met > 0.5).nonzero())
    grad = torch.randn(found.shape, generator=generator).to(dtype)
    for ours, theirs in zip(torch.autograd.grad(found, (features, weight), grad),
                            torch.autograd.grad(wanted, wide, grad.double())):
        assert ours.dtype == dtype and (ours.double() - theirs).abs().max() <= LIMITS[dtype] * 3


@every_dtype
def test_inverse_convolution(dtype):
    """The inverse of a convolution is the transposed dense one, at the first one's inputs."""
    generator = torch.Generator().manual_seed(2)
    places = random_places(60, (6, 7, 8))
    outputs, pairs, num = mt.get_indice_pairs(places, 2, (6, 7, 8), 3, 2, 1)
    features = torch.randn(len(outputs), 4, generator=generator).to(dtype).requires_grad_()
    weight = torch.randn(3, 3, 3, 4, 6, generator=generator).to(dtype).requires_grad_()
    found = mt.indice_inverse_conv(features, weight, pairs, num, 60)
    wide = [each.detach().double().requires_grad_() for each in (features, weight)]
    small = dense_of(wide[0], outputs, (3, 4, 4))
    dense = torch.nn.functional.conv_transpose3d(small, wide[1].permute(3, 4, 0, 1, 2), stride=2, padding=1,
                                                 output_padding=(1, 0, 1))
    wanted = at(dense, places)
    assert (found.double() - wanted).abs().max() <= LIMITS[dtype] * 3
    grad = torch.randn(found.shape, generator=generator).to(dtype)
    for ours, theirs in zip(torch.autograd.grad(found, (features, weight), grad),
                            torch.autograd.grad(wanted, wide, grad.double())):
        assert (ours.double() - theirs).abs().max() <= LIMITS[dtype] * 3


@every_dtype
def test_max_pool(dtype):
    places = random_places(60, (6, 7, 8))
    # Different numbers in each channel, none 0: which input gets the gradient is not a matter of taste.
    features = torch.stack([torch.randperm(60) for _ in range(4)], 1).sub(20.5).div(32).to(dtype).requires_grad_()
    outputs, pairs, num = mt.get_indice_pairs(places, 2, (6, 7, 8), 2, 2)
    found = mt.indice_maxpool(features, pairs, num, len(outputs))
    wide = features.detach().double().requires_grad_()
    absent = dense_of(torch.ones(60, 1), places, (6, 7, 8)) == 0
    dense = dense_of(wide, places, (6, 7, 8)).masked_fill(absent, -float("inf"))
    wanted = at(torch.nn.functional.max_pool3d(dense, 2), outputs)
    assert (wanted < 0).any() and (wanted > 0).any()
    assert found.dtype == dtype and torch.equal(found.double(), wanted)
    grad = torch.rand(wanted.shape).to(dtype)
    found.backward(grad)
    wanted.backward(grad.double())
    assert torch.equal(features.grad.double(), wide.grad)


def test_edges():
    with pytest.raises(mluops.BadParamError, match="a batch and 2 to 4 coordinates"):
        mt.get_indice_pairs(torch.zeros(3, 2, dtype=torch.int32), 1, (4,))
    with pytest.raises(mluops.BadParamError, match="stride or dilation of an axis to be 1"):
        mt.get_indice_pairs(torch.zeros(3, 4, dtype=torch.int32), 1, (4, 4, 4), 3, 2, 1, 2)
    with pytest.raises(mluops.BadParamError, match="filters: wanted 3 input channels"):
        mt.indice_conv(torch.rand(2, 3), torch.rand(1, 1, 1, 4, 4), torch.zeros(1, 2, 2, dtype=torch.int32),
                       torch.zeros(1, dtype=torch.int32), 1)
    with pytest.raises(mluops.BadParamError, match=r"indice_num\[0\]: wanted >= 0 and <= 2, got 3"):
        mt.indice_conv(torch.rand(2, 3), torch.rand(1, 1, 1, 3, 4), torch.zeros(1, 2, 2, dtype=torch.int32),
                       torch.full((1,), 3, dtype=torch.int32), 1)
    none = torch.zeros(0, 4, dtype=torch.int64)
    outputs, pairs, num = mt.get_indice_pairs(none, 1, (4, 4, 4), 3, 2, 1)
    assert outputs.shape == (0, 4) and pairs.shape == (27, 2, 0) and num.tolist() == [0] * 27
    assert mt.indice_conv(torch.rand(0, 3), torch.rand(3, 3, 3, 3, 4), pairs, num, 0).shape == (0, 4)
    outside = torch.tensor([[0, 9, 0, 0], [5, 0, 0, 0]], dtype=torch.int32)
    for places in (outside, torch.tensor([[0, 4, 0, 0], [0, -1, 0, 0], [0, 2**40, 0, 0], [-1, 0, 0, 0], [1, 0, 0, 0]])):
        _, pairs, num = mt.get_indice_pairs(places, 1, (4, 4, 4), 3, dilation=3, subm=True)
        assert (pairs == -1).all() and not num.any()
    outputs, pairs, num = mt.get_indice_pairs(outside, 1, (4, 4, 4), 3, 2, 1)
    assert outputs.shape == (0, 4) and (pairs == -1).all() and not num.any()


def test_filters_of_one_place():
    """With a stride and a padding, back again, and where outputs are inputs."""
    places, features = random_places(40, (6, 7)), torch.rand(40, 3)
    x = mt.SparseConvTensor(features, places, (6, 7), 2)
    dense = dense_of(features, places, (6, 7))
    for arguments in ((1,), (1, 2), (1, 2, 1), (1, 1, 1)):
        conv = mt.SparseConv2d(3, 4, *arguments, bias=False, indice_key=str(arguments))
        y = conv(x)
        wanted = dense_convolution(dense, conv.weight, "conv", *(*arguments[1:], 1, 0)[:1], (*arguments[2:], 0)[0])
        assert list(wanted.shape[2:]) == y.spatial_shape or wanted.shape[2:] == tuple(y.spatial_shape)
        assert torch.allclose(y.dense(), wanted, atol=1e-6)
    back = mt.SparseInverseConv2d(4, 3, 1, indice_key="(1, 2)", bias=False)
    down = mt.SparseConv2d(3, 4, 1, 2, bias=False, indice_key="(1, 2)")(x)
    again = back(down)
    assert torch.equal(again.indices, places)
    assert torch.allclose(again.features[(places[:, 1:] % 2 == 1).any(1)], torch.zeros(()))
    up = mt.SparseConvTranspose2d(3, 4, 1, 2, bias=False)
    assert torch.allclose(up(x).dense(), dense_convolution(dense, up.weight, "transpose", 2, 0), atol=1e-6)
    assert mt.SubMConv2d(3, 4, 1, 2)(x).indices is places


def test_what_is_no_sparse_tensor():
    for module in (mt.SubMConv3d(3, 4, 3), mt.SparseConv3d(3, 4, 1), mt.SparseMaxPool3d(2), mt.ToDense()):
        with pytest.raises(TypeError, match=rf"{type(module).__name__}: wanted a SparseConvTensor, got a tensor \(2, 3\)"):
            module(torch.rand(2, 3))
        with pytest.raises(TypeError, match="wanted a SparseConvTensor, got NoneType"):
            module(None)
    flat = mt.SparseConvTensor(torch.rand(4, 3), random_places(4, (5, 6)), (5, 6), 2)
    with pytest.raises(mluops.BadParamError, match=r"SubMConv3d: x: wanted 3 axes in spatial_shape and a batch before "
                                                   r"them in indices, got \(\[5, 6\], \(4, 3\)\)"):
        mt.SubMConv3d(3, 4, 3)(flat)


def network(ops):
    nn = torch.nn
    return ops.SparseSequential(
        ops.SubMConv3d(4, 8, 3, indice_key="a"), nn.ReLU(), ops.SparseConv3d(8, 12, 3, 2, padding=1, indice_key="b"),
        nn.BatchNorm1d(12), ops.SubMConv3d(12, 12, (1, 1, 1)), ops.SparseInverseConv3d(12, 8, 3, indice_key="b"),
        ops.SparseConvTranspose3d(8, 8, 2, 2), nn.ReLU(), ops.SparseMaxPool3d(2, 2))  # the pool of mmcv starts at 0


def run_network(ops, net):
    places = random_places(90, (5, 6, 7))
    features = torch.rand(90, 4, generator=torch.Generator().manual_seed(5)).requires_grad_()
    dense = net(ops.SparseConvTensor(features, places, (5, 6, 7), 2)).dense()
    return [dense, *torch.autograd.grad(dense.square().sum(), [features, *net.parameters()])]


def test_modules_are_mmcv_s(installed):
    import mmcv.ops
    ours, theirs = network(mt), network(mmcv.ops)
    ours.load_state_dict(theirs.state_dict())
    for a, b in zip(run_network(mt, ours), run_network(mmcv.ops, theirs)):
        assert torch.allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_network_trains():
    torch.manual_seed(0)
    net = mt.SparseSequential(network(mt), mt.ToDense())
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    losses = []
    for _ in range(15):
        dense = net(mt.SparseConvTensor(torch.rand(90, 4), random_places(90, (5, 6, 7)), (5, 6, 7), 2))
        loss = (dense - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]


def test_gradcheck():
    places = random_places(20, (3, 4, 5))
    outputs, pairs, num = mt.get_indice_pairs(places, 2, (3, 4, 5), 3, 2, 1)
    tensors = [torch.rand(20, 3).double().requires_grad_(), torch.rand(3, 3, 3, 3, 2).double().requires_grad_()]
    assert torch.autograd.gradcheck(lambda f, w: mt.indice_conv(f, w, pairs, num, len(outputs)), tensors)
    features = torch.randperm(60).reshape(20, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda f: mt.indice_maxpool(f, pairs, num, len(outputs)), features)


def calls():
    places = random_places(20, (3, 4, 5))
    lists = [1] * 3, [2] * 3, [1] * 3, [3, 4, 5], [3] * 3, [2, 2, 3]
    outputs, pairs, num = mt.get_indice_pairs(places, 2, (3, 4, 5), 3, 2, 1)
    features, weight = torch.rand(20, 3).requires_grad_(), torch.rand(3, 3, 3, 3, 2).requires_grad_()
    return [("get_indice_pairs", (places, 2, *lists, False, False)),
            ("indice_conv", (features, weight, pairs, num, len(outputs), False)),
            ("indice_maxpool", (features, pairs, num, len(outputs)))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)
