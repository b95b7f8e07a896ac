"""Deformable convolution beside what all operators are tested for: the figures of mmcv's tests, state dicts, the order
of torchvision's arguments, texts of errors."""

import importlib

import pytest

torch = pytest.importorskip("torch")

import compositions  # noqa: E402
import mluops  # noqa: E402
import mluops.mmcv  # noqa: E402
import mluops.torch as mt  # noqa: E402

V1_OFFSET_WEIGHT = [[0.1, 0.4, 0.6, 0.1], [0.3, 0.2, 0.1, 0.3], [0.5, 0.5, 0.2, 0.8], [0.8, 0.3, 0.9, 0.1],
                    [0.3, 0.1, 0.2, 0.5], [0.3, 0.7, 0.5, 0.3], [0.6, 0.2, 0.5, 0.3], [0.4, 0.1, 0.8, 0.4]]
V1_WEIGHT_GRAD = [[1.44, 2.88, 0, 1.44], [-0.72, -1.44, 0, -0.72], [0] * 4, [0] * 4, [-0.1, -0.2, 0, -0.1],
                  [-0.08, -0.16, 0, -0.08], [-0.54, -1.08, 0, -0.54], [-0.54, -1.08, 0, -0.54]]
V2_WEIGHT_GRAD = [[-7, -4, 0, 0], [-9, 7.5, -6, 5], [-4, -7, 0, 0], [-7.5, -9, -5, -6], [-7, -4, -7, -4],
                  [-6, 5, -9, 7.5], [-4, -7, -4, -7], [-5, -6, -7.5, -9], [10.5, 6, 7, 4], [6, 10.5, 4, 7],
                  [7, 4, 10.5, 6], [4, 7, 6, 10.5]]


def near(got, wanted, tolerance=1e-3):
    wanted = torch.as_tensor(wanted, dtype=torch.float64).reshape(got.shape)
    assert (got.double() - wanted).abs().max() <= tolerance * max(1.0, wanted.abs().max().item())


def packs():
    yield mt
    if importlib.util.find_spec("mmcv") is not None:
        yield importlib.import_module("mmcv.ops")


@pytest.fixture
def every_pack():
    """Ours, and mmcv's served by ours where mmcv is."""
    if importlib.util.find_spec("mmcv") is None:
        yield [mt]
        return
    with pytest.warns(UserWarning):
        mluops.mmcv.install()
    yield list(packs())
    mluops.mmcv.uninstall()


def test_v1_of_mmcv_s_tests(every_pack):
    for ops in every_pack:
        pack = ops.DeformConv2dPack(1, 1, 2, im2col_step=2)
        pack.conv_offset.weight.data = torch.tensor(V1_OFFSET_WEIGHT).reshape(8, 1, 2, 2)
        pack.conv_offset.bias.data = torch.tensor([0.7, 0.1, 0.8, 0.5, 0.6, 0.5, 0.4, 0.7])
        pack.weight.data = torch.tensor([[[[0.4, 0.2], [0.1, 0.9]]]])
        x = torch.tensor([[[[1.0, 2, 3], [0, 1, 2], [3, 5, 2]]]]).repeat(10, 1, 1, 1).requires_grad_()
        out = pack(x)
        out.sum().backward()
        near(out.detach()[0], [1.65, 0, 0, 0])
        near(x.grad[9], [-0.666, 0.204, 0, 0.030, -0.416, 0.012, 0, 0.252, 0.129])
        near(pack.conv_offset.weight.grad / 10, V1_WEIGHT_GRAD)
        near(pack.conv_offset.bias.grad / 10, [1.44, -0.72, 0, 0, -0.1, -0.08, -0.54, -0.54])
        near(pack.weight.grad / 10, [3.62, 0, 0.4, 0.18])


def test_v2_of_mmcv_s_tests(every_pack):
    for ops in every_pack:
        pack = ops.ModulatedDeformConv2dPack(1, 1, 2, padding=1, bias=False)
        pack.weight.data.fill_(1)
        x = torch.tensor([[[[1.0, 2, 3]] * 3]]).requires_grad_()
        out = pack(x)
        out.sum().backward()
        near(out.detach(), [0.5, 1.5, 2.5, 1.5, 1, 3, 5, 3, 1, 3, 5, 3, 0.5, 1.5, 2.5, 1.5])
        near(x.grad, [2.0] * 9)
        near(pack.weight.grad, [9.0] * 4)
        near(pack.conv_offset.weight.grad, V2_WEIGHT_GRAD)
        near(pack.conv_offset.bias.grad, [-3, -1.5] * 4 + [4.5] * 4)


def test_state_dicts_are_mmcv_s(every_pack):
    for name in ("DeformConv2dPack", "ModulatedDeformConv2dPack"):
        layers = [getattr(ops, name)(4, 6, 3, padding=1, groups=2, deform_groups=2) for ops in every_pack]
        torch.nn.init.normal_(layers[0].conv_offset.weight, std=0.1)
        for layer in layers[1:]:
            layer.load_state_dict(layers[0].state_dict())
            layers[0].load_state_dict(layer.state_dict())
        x = torch.rand(2, 4, 5, 6)
        results = [layer(x).detach() for layer in layers]
        assert all(torch.equal(result, results[0]) for result in results)


def test_an_input_smaller_than_the_filter():
    layer = mt.DeformConv2d(2, 3, 5, padding=2)
    x, offset = torch.rand(1, 2, 3, 7), torch.rand(1, 50, 3, 7)
    padded = torch.nn.functional.pad(x, (0, 0, 0, 2))
    wanted = compositions.deform_conv2d(padded.double(), torch.nn.functional.pad(offset, (0, 0, 0, 2)).double(),
                                        layer.weight.double(), 1, 2)[:, :, :3]
    near(layer(x, offset).detach(), wanted.detach(), 1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_the_order_of_torchvision(masked):
    torch.manual_seed(4)
    x, w, b = torch.randn(2, 4, 6, 5), torch.randn(6, 2, 3, 3), torch.randn(6)
    offset, mask = torch.randn(2, 36, 3, 3), torch.rand(2, 18, 3, 3) if masked else None
    got = mt.torchvision_deform_conv2d(x, offset, w, b, (2, 2), (1, 1), (1, 1), mask)
    wide = [None if t is None else t.double() for t in (x, offset, w, mask, b)]
    wanted = compositions.deform_conv2d(*wide[:3], 2, 1, 1, 2, 2, mask=wide[3], bias=wide[4])
    near(got, wanted, 1e-5)
    near(mt.torchvision_deform_conv2d(x, offset, w, stride=2, padding=1, mask=mask),
         wanted - b.double()[:, None, None], 1e-5)


def test_gradients_are_the_same_bits_for_every_number_of_threads():
    torch.manual_seed(5)
    leaves = [torch.randn(2, 70, 11, 9), torch.randn(2, 18, 11, 9), torch.rand(2, 9, 11, 9), torch.randn(20, 70, 3, 3),
              torch.randn(20)]
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            each = [leaf.clone().requires_grad_() for leaf in leaves]
            out = mt.modulated_deform_conv2d(*each, 1, 1)
            out.square().sum().backward()
            found.append([out.detach(), *(leaf.grad for leaf in each)])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other))


def test_empty_batches():
    x = torch.zeros(0, 2, 5, 5, requires_grad=True)
    w = torch.rand(3, 2, 3, 3, requires_grad=True)
    out = mt.deform_conv2d(x, torch.zeros(0, 18, 3, 3), w)
    assert out.shape == (0, 3, 3, 3)
    out.sum().backward()
    assert x.grad.shape == x.shape and torch.equal(w.grad, torch.zeros_like(w))


def test_refusals():
    x, offset, w = torch.zeros(1, 4, 5, 5), torch.zeros(1, 18, 3, 3), torch.zeros(2, 4, 3, 3)
    for call, text in (
            (lambda: mt.deform_conv2d(x, offset[:, :17], w), "offset: wanted dimension 1 to be 18"),
            (lambda: mt.deform_conv2d(x, offset, w, padding=1), "offset: wanted dimension 2 to be 5"),
            (lambda: mt.deform_conv2d(x, offset, w[:, :3]), "weight: wanted dimension 1 to be 4"),
            (lambda: mt.deform_conv2d(x, offset, w, groups=3), "groups: wanted a divisor of 4"),
            (lambda: mt.deform_conv2d(x, offset, w, deform_groups=3), "deform_groups: wanted a divisor of 4"),
            (lambda: mt.deform_conv2d(x, offset, w, dilation=3), "weight: wanted a height that fits"),
            (lambda: mt.deform_conv2d(x, offset, w, stride=0), "stride: wanted"),
            (lambda: mt.deform_conv2d(x, offset, w, bias=True), "bias: wanted False"),
            (lambda: mt.modulated_deform_conv2d(x, offset, offset[:, :8], w), "mask: wanted dimension 1 to be 9"),
            (lambda: mt.modulated_deform_conv2d(x, offset, offset[:, :9], w, torch.zeros(3)),
             "bias: wanted dimension 0"),
            (lambda: mt.torchvision_deform_conv2d(x, offset[:, :17], w), "offset: wanted a multiple"),
            (lambda: mt.DeformConv2d(3, 4, 3, groups=2), "in_channels: wanted a multiple of groups")):
        with pytest.raises(mluops.BadParamError) as error:
            call()
        assert text in str(error.value)
