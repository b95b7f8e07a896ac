"""Results whose size is in the data, in compiled and exported graphs, which learn it when they run."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(getattr(torch, "compiler", None), "is_exporting"),
                                reason="this torch breaks graphs where a size is in the data")
GRID = (5, 7, 3)


def random(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def boxes(seed):
    corners = random(30, 4, seed=seed)
    return torch.cat([corners[:, :2], corners[:, :2] + corners[:, 2:]], 1), random(30, seed=seed + 1)


def boxes3d(seed):
    return random(20, 7, seed=seed), random(20, seed=seed + 1)


def places(seed, count=40):
    number = torch.randperm(105, generator=torch.Generator().manual_seed(seed))[:count]
    return torch.stack([number * 0, number // 21, number // 3 % 7, number % 3], 1).int()


def convolved(at, features, weight):
    outputs, pairs, num = mt.get_indice_pairs(at, 1, GRID, 3, 2, 1)
    return mt.indice_conv(features, weight, pairs, num, outputs.shape[0]) * 2


torch.manual_seed(0)
NET = mt.SparseSequential(mt.SparseConv3d(3, 4, 2), torch.nn.ReLU(), mt.SubMConv3d(4, 4, 3), mt.SparseConv3d(4, 5, 2),
                          mt.SparseMaxPool3d(1))


def network(at, features):
    return NET(mt.SparseConvTensor(features, at, GRID, 1)).features


def cloud(seed):
    return random(50, 3, seed=seed)


# name: function, inputs of a seed
CASES = {
    "nms": (lambda b, s: mt.nms(b, s, 0.5)[0] * 2, boxes),
    "soft_nms": (lambda b, s: mt.soft_nms(b, s, 0.2, min_score=0.4)[0] + 1, boxes),
    "nms3d": (lambda b, s: b[mt.nms3d(b, s, 0.1)], boxes3d),
    "voxelization": (lambda p: mt.voxelization(p, [0.3] * 3, [0, 0, 0, 1, 1, 1], 3, 40)[0].sum(1),
                     lambda seed: (cloud(seed),)),
    "dynamic_scatter": (lambda f, c: mt.dynamic_scatter(f, c, "mean")[0] * 2,
                        lambda seed: (cloud(seed).requires_grad_(), (cloud(seed + 1) * 3).long())),
    "sparse convolution": (convolved, lambda seed: (places(seed), random(40, 3).requires_grad_(),
                                                    random(3, 3, 3, 3, 4).requires_grad_())),
    "sparse network": (network, lambda seed: (places(seed, 2), random(2, 3).requires_grad_())),
}


@pytest.mark.parametrize("name", CASES)
def test_compile_fullgraph(name):
    function, inputs = CASES[name]
    compiled, sizes = torch.compile(function, fullgraph=True, backend="aot_eager"), set()
    for seed in range(4):
        tensors = inputs(seed)
        wanted, found = function(*tensors), compiled(*tensors)
        sizes.add(len(wanted))
        assert torch.equal(found, wanted)
        leaves = [tensor for tensor in tensors if tensor.requires_grad]
        if leaves:
            for ours, theirs in zip(*(torch.autograd.grad(each.square().sum(), leaves) for each in (found, wanted))):
                assert ours.any() and torch.allclose(ours, theirs)
    assert len(sizes) > 1


@pytest.mark.parametrize("name", [name for name in CASES if name != "sparse network"])
def test_export(name):
    function, inputs = CASES[name]

    class Module(torch.nn.Module):

        def forward(self, *tensors):
            return function(*tensors)

    program = torch.export.export(Module(), tuple(tensor.detach() for tensor in inputs(0))).module()
    for seed in (0, 1):
        tensors = [tensor.detach() for tensor in inputs(seed)]
        assert torch.equal(program(*tensors), function(*tensors))


def test_inductor(monkeypatch):
    monkeypatch.delenv("CI", raising=False)  # with it torch refuses operators that its exporter to ONNX can decompose
    compiled = torch.compile(CASES["nms"][0], fullgraph=True)
    assert torch.equal(compiled(*boxes(3)), CASES["nms"][0](*boxes(3)))
