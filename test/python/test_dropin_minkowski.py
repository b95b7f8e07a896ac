"""MinkowskiEngine's modules that mluops.dropin stands for, against sums over the places of a kernel in double."""

import importlib
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, opened  # noqa: E402


@pytest.fixture(autouse=True)
def ME():
    with opened("MinkowskiEngine"):
        yield door("MinkowskiEngine")


def sparse(ME, channels=3, count=70, reach=4, axes=3, stride=1):
    """Places of two samples, some negative, in no order."""
    generator = torch.Generator().manual_seed(count)
    all_ = list(itertools.product(range(2), *[range(-reach, reach)] * axes))
    chosen = torch.randperm(len(all_), generator=generator)[:count].tolist()
    places = torch.tensor([all_[i] for i in chosen]) * torch.tensor([1] + [stride] * axes)
    return ME.SparseTensor(torch.randn(count, channels, generator=generator).requires_grad_(), places.int(),
                           tensor_stride=stride)


def steps(size, axes, width):
    """The kernel's places, the first axis fastest; even kernels begin at the output's own."""
    low = -(size // 2) if size % 2 else 0
    return [tuple(width * (low + i) for i in each[::-1]) for each in itertools.product(range(size), repeat=axes)]


def summed(features, places, outputs, weight, all_steps):
    """out[o] = sum over k of weight[k] applied to the input at o + steps[k], in double."""
    row = {tuple(each): i for i, each in enumerate(places.tolist())}
    made = []
    for batch, *place in outputs.tolist():
        total = torch.zeros(weight.shape[-1], dtype=torch.float64)
        for k, step in enumerate(all_steps):
            i = row.get((batch, *(p + s for p, s in zip(place, step))))
            if i is not None:
                total = total + features[i] @ weight[k]
        made.append(total)
    return torch.stack(made)


def near(found, wanted, tolerance=1e-5):
    torch.testing.assert_close(found.double(), wanted, rtol=tolerance, atol=tolerance)


def same_gradients(found, wanted, ours, theirs):
    weights = torch.rand(found.shape)
    for mine, other in zip(torch.autograd.grad((found * weights).sum(), ours, retain_graph=True),
                           torch.autograd.grad((wanted * weights.double()).sum(), theirs, retain_graph=True)):
        near(mine, other, 1e-4)


@pytest.mark.parametrize("size, stride, dilation", [(3, 1, 1), (5, 1, 1), (3, 1, 2), (2, 2, 1), (3, 2, 1), (1, 2, 1), (2, 1, 1),
                                                    (1, 1, 1)])
@pytest.mark.parametrize("tensor_stride", [1, 2])
def test_convolution(ME, size, stride, dilation, tensor_stride):
    x = sparse(ME, stride=tensor_stride)
    net = ME.MinkowskiConvolution(3, 4, kernel_size=size, stride=stride, dilation=dilation, bias=True, dimension=3)
    assert net.kernel.shape == ((3, 4) if size == stride == 1 else (size ** 3, 3, 4)) and net.bias.shape == (1, 4)
    y = net(x)
    wide = tensor_stride * stride
    assert {tuple(each) for each in y.C.tolist()} == {(b, *(c // wide * wide for c in place)) for b, *place in x.C.tolist()}
    assert y.tensor_stride == [wide] * 3 and (stride > 1 or torch.equal(y.C, x.C))
    features, weight = x.F.detach().double().requires_grad_(), net.kernel.detach().double().requires_grad_()
    wanted = summed(features, x.C, y.C, weight.reshape(-1, 3, 4), steps(size, 3, tensor_stride * dilation)) + net.bias.double()
    near(y.F, wanted)
    same_gradients(y.F, wanted, [x.F, net.kernel], [features, weight])


@pytest.mark.parametrize("axes", [2, 4])
def test_axes(ME, axes):
    x = sparse(ME, count=12, reach=2, axes=axes)
    net = ME.MinkowskiConvolution(3, 2, kernel_size=3, dimension=axes)
    near(net(x).F, summed(x.F.double(), x.C, x.C, net.kernel.double(), steps(3, axes, 1)))


@pytest.mark.parametrize("size", [2, 3])
def test_transposed_convolution_goes_back_to_known_places(ME, size):
    x = sparse(ME)
    down = ME.MinkowskiConvolution(3, 4, kernel_size=2, stride=2, dimension=3)(x)
    up = ME.MinkowskiConvolutionTranspose(4, 2, kernel_size=size, stride=2, dimension=3)
    y = up(down)
    assert y.coordinate_map_key == x.coordinate_map_key and y.tensor_stride == [1] * 3
    features, weight = down.F.detach().double().requires_grad_(), up.kernel.detach().double().requires_grad_()
    back = [tuple(-i for i in each) for each in steps(size, 3, 1)]
    wanted = summed(features, down.C, x.C, weight, back)
    near(y.F, wanted)
    same_gradients(y.F, wanted, [up.kernel], [weight])
    assert ME.cat(x, y).F.shape == (len(x), 5)


def test_generative_transposed_convolution_reaches_all(ME):
    x = sparse(ME, count=6, stride=2)
    net = ME.MinkowskiGenerativeConvolutionTranspose(3, 2, kernel_size=2, stride=2, dimension=3)
    y = net(x)
    assert {tuple(each) for each in y.C.tolist()} == {
        (b, *(c + s for c, s in zip(place, step))) for b, *place in x.C.tolist() for step in steps(2, 3, 1)}
    near(y.F, summed(x.F.double(), x.C, y.C, net.kernel.double(), [tuple(-i for i in each) for each in steps(2, 3, 1)]))


@pytest.mark.parametrize("kind", ["Max", "Avg", "Sum"])
@pytest.mark.parametrize("size, stride", [(2, 2), (3, 1), (3, 2)])
def test_pooling(ME, kind, size, stride):
    x = sparse(ME)
    y = getattr(ME, f"Minkowski{kind}Pooling")(kernel_size=size, stride=stride, dimension=3)(x)
    row = {tuple(each): i for i, each in enumerate(x.C.tolist())}
    for i, (batch, *place) in enumerate(y.C.tolist()):
        met = [row.get((batch, *(p + s for p, s in zip(place, step)))) for step in steps(size, 3, 1)]
        met = x.F[[each for each in met if each is not None]].double()
        wanted = {"Max": lambda: met.amax(0), "Avg": lambda: met.mean(0), "Sum": lambda: met.sum(0)}[kind]() if len(met) else \
            torch.zeros(3).double()
        near(y.F[i], wanted)
    assert torch.autograd.grad(y.F.sum(), x.F)[0].isfinite().all()


def test_samples_as_a_whole(ME):
    x = sparse(ME)
    own = [x.F[x.C[:, 0] == sample] for sample in (0, 1)]
    for kind, wanted in (("Max", [each.amax(0) for each in own]), ("Avg", [each.mean(0) for each in own])):
        pooled = getattr(ME, f"MinkowskiGlobal{kind}Pooling")()(x)
        torch.testing.assert_close(pooled.F, torch.stack(wanted))
        assert pooled.C.tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]
    along = pooled.F[x.C[:, 0].long()]
    torch.testing.assert_close(ME.MinkowskiBroadcastMultiplication()(x, pooled).F, x.F * along)
    torch.testing.assert_close(ME.MinkowskiBroadcastConcatenation()(x, pooled).F, torch.cat([x.F, along], 1))
    normal = ME.MinkowskiInstanceNorm(3)(x)
    for sample in (0, 1):
        near(normal.features_at(sample).mean(0), torch.zeros(3).double(), 1e-5)
        near(normal.features_at(sample).var(0, unbiased=False), torch.ones(3).double(), 1e-5)


def test_tensors_at_other_places(ME):
    x = sparse(ME)
    other = ME.SparseTensor(torch.randn(5, 3), torch.cat([x.C[:2], torch.tensor([[1, 9, 9, 9], [0, -9, 0, 0], [0, 8, 8, 8]]).int()]),
                            coordinate_manager=x.coordinate_manager)
    for made in (x + other, ME.MinkowskiUnion()(x, other)):
        assert len(made) == len(x) + 3
        torch.testing.assert_close(made.F[:2], x.F[:2] + other.F[:2])
        assert torch.equal(made.F[2:70], x.F[2:]) and torch.equal(made.F[70:], other.F[2:])
    torch.testing.assert_close((x * x - x).F, x.F * x.F - x.F)
    kept = ME.MinkowskiPruning()(x, x.F[:, 0] > 0)
    assert torch.equal(kept.C, x.C[x.F[:, 0] > 0]) and kept.coordinate_map_key != x.coordinate_map_key
    with pytest.raises(ValueError, match="other: wanted a tensor of the same coordinate_manager"):
        x + sparse(ME)
    with pytest.raises(ValueError, match=r"sparse_tensors\[1\]: wanted the coordinates of the first"):
        ME.cat(x, kept)
    with pytest.raises(ValueError, match="features: wanted 4 rows, as many as coordinates, got 3"):
        ME.SparseTensor(torch.ones(3, 1), torch.zeros(4, 4))


def test_several_points_at_one_place(ME):
    coordinates = torch.tensor([[0, 1.2, 1.9], [0, -0.1, 0], [0, 1.7, 1], [1, 1, 1]])
    features, modes = torch.tensor([[1.0], [2], [4], [8]]), ME.SparseTensorQuantizationMode
    for mode, wanted in ((modes.RANDOM_SUBSAMPLE, [1, 2, 8]), (modes.UNWEIGHTED_AVERAGE, [2.5, 2, 8]),
                         (modes.UNWEIGHTED_SUM, [5, 2, 8]), (modes.MAX_POOL, [4, 2, 8])):
        x = ME.SparseTensor(features, coordinates, quantization_mode=mode)
        assert x.F[:, 0].tolist() == wanted and x.C.tolist() == [[0, 1, 1], [0, -1, 0], [1, 1, 1]]
        assert x.inverse_mapping.tolist() == [0, 1, 0, 2]
    field = ME.TensorField(features, coordinates)
    assert field.sparse().slice(field).F[:, 0].tolist() == [2.5, 2, 2.5, 8]
    dense, low, stride = x.dense()
    assert dense.shape == (2, 1, 3, 2) and low.tolist() == [[-1, 0]] and dense[0, 0, 2, 1] == 4 and dense.sum() == 14


def test_interpolation(ME):
    x = sparse(ME, stride=2)
    points = torch.cat([x.C[:9].float(), x.C[:9] + torch.tensor([0, 0.5, 1.5, 1])])
    found = ME.MinkowskiInterpolation()(x, points)
    torch.testing.assert_close(found[:9], x.F[:9])
    row = {tuple(each): i for i, each in enumerate(x.C.tolist())}
    for i, (batch, *place) in enumerate(x.C[:9].tolist()):
        wanted = torch.zeros(3)
        for corner in itertools.product(range(2), repeat=3):
            at = row.get((batch, *(p + 2 * c for p, c in zip(place, corner))))
            weight = np.prod([s if c else 1 - s for c, s in zip(corner, (0.25, 0.75, 0.5))])
            wanted += 0 if at is None else weight * x.F[at]
        torch.testing.assert_close(found[9 + i], wanted)


def test_modules_of_features(ME):
    x = sparse(ME)
    functional = importlib.import_module("MinkowskiEngine.MinkowskiFunctional")
    assert isinstance(ME.MinkowskiConvolution(3, 2, kernel_size=3, dimension=3), ME.MinkowskiModuleBase)
    assert torch.equal(ME.MinkowskiReLU(inplace=False)(x).F, functional.relu(x).F)
    near(ME.MinkowskiBatchNorm(3)(x).F.mean(0), torch.zeros(3).double())
    net = ME.MinkowskiLinear(3, 2)
    assert torch.equal(net(x).F, net.linear(x.F)) and net(ME.TensorField(x.F, x.C.float())).F.shape == (70, 2)
    cross = ME.KernelGenerator(3, region_type=ME.RegionType.HYPER_CROSS, dimension=3)
    net = ME.MinkowskiConvolution(3, 2, kernel_generator=cross, dimension=3)
    plus = [(0, 0, 0)] + [tuple(step if a == b else 0 for b in range(3)) for a in range(3) for step in (1, -1)]
    near(net(x).F, summed(x.F.double(), x.C, x.C, net.kernel.double(), plus))
    with pytest.raises(ValueError, match="dimension: wanted the number of axes"):
        ME.MinkowskiConvolution(3, 2, kernel_size=3)


def test_one_manager_for_all(ME):
    ME.set_sparse_tensor_operation_mode(ME.SparseTensorOperationMode.SHARE_COORDINATE_MANAGER)
    try:
        one, two = sparse(ME, count=20), sparse(ME, count=30)
        assert one.coordinate_manager is two.coordinate_manager is ME.global_coordinate_manager()
        places = {tuple(each) for x in (one, two) for each in x.C.tolist()}
        assert {tuple(each) for each in (one + two).C.tolist()} == places
        ME.clear_global_coordinate_manager()
        assert sparse(ME).coordinate_manager is not one.coordinate_manager
    finally:
        ME.set_sparse_tensor_operation_mode(ME.SparseTensorOperationMode.SEPARATE_COORDINATE_MANAGER)
    x = ME.SparseTensor(torch.ones(1, 1), torch.zeros(1, 4), minkowski_algorithm=ME.MinkowskiAlgorithm.SPEED_OPTIMIZED)
    assert x.coordinate_manager is not sparse(ME).coordinate_manager


def test_utils(ME):
    points = np.array([[0.1, 0.2], [0.4, 0.1], [1.5, -0.2], [0.3, 0.3]])
    coordinates, features, labels, index, inverse = ME.utils.sparse_quantize(
        points, np.arange(4)[:, None], np.array([1, 1, 2, 3]), return_index=True, return_inverse=True)
    assert coordinates.tolist() == [[0, 0], [1, -1]] and features.tolist() == [[0], [2]] and labels.tolist() == [-100, 2]
    assert index.tolist() == [0, 2] and inverse.tolist() == [0, 0, 1, 0]
    assert ME.utils.sparse_quantize(points, quantization_size=0.25).tolist() == [[0, 0], [1, 0], [6, -1], [1, 1]]
    batch = ME.utils.SparseCollation()([(coordinates, torch.ones(2, 1), torch.tensor([1, 2]))] * 2)
    assert batch[0].tolist() == [[0, 0, 0], [0, 1, -1], [1, 0, 0], [1, 1, -1]] and len(batch[1]) == len(batch[2]) == 4
    kernel = torch.empty(27, 64, 32)
    ME.utils.kaiming_normal_(kernel, mode="fan_out", nonlinearity="relu")
    assert abs(float(kernel.std()) - (2 / (27 * 32)) ** 0.5) < 1e-3


def test_a_residual_unet(ME):
    """The structure of MinkUNet: down by 2, back through known places, residual blocks and skip connections."""
    blocks = importlib.import_module("MinkowskiEngine.modules.resnet_block")
    x = sparse(ME, channels=4, count=90)
    down = ME.MinkowskiConvolution(4, 8, kernel_size=2, stride=2, dimension=3)
    past = torch.nn.Sequential(ME.MinkowskiConvolution(8, 16, kernel_size=1, dimension=3), ME.MinkowskiBatchNorm(16))
    block = blocks.BasicBlock(8, 16, downsample=past, dimension=3)
    thin = blocks.Bottleneck(16, 4, dimension=3)
    up = ME.MinkowskiConvolutionTranspose(16, 6, kernel_size=2, stride=2, dimension=3)
    made = ME.cat(up(thin(block(down(x)))), x)
    assert made.coordinate_map_key == x.coordinate_map_key and made.F.shape == (90, 10)
    assert sorted(block.state_dict())[:3] == ["conv1.kernel", "conv2.kernel", "downsample.0.kernel"]
    made.F.square().sum().backward()
    for net in (down, block, thin, up):
        assert all(each.grad is not None and each.grad.isfinite().all() for each in net.parameters())
