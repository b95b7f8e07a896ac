"""Image extensions that mluops.dropin stands for: DCNv2's, detectron2's; torchvision.ops on request."""

import importlib
import math
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
from compositions import bilinear  # noqa: E402
import mluops  # noqa: E402
import mluops.dropin as dropin  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin.module import torchvision as tv  # noqa: E402


@pytest.fixture
def installed(request):
    with opened(*request.param):
        yield


doors = lambda *names: pytest.mark.parametrize("installed", [names], indirect=True, ids=names[:1])  # noqa: E731


def deformed(input, offset, mask, weight, bias, stride, padding, dilation, groups=1, deform_groups=1):
    """Deformable convolution by its definition, one tap of one output at a time."""
    out_channels, per_group, kernel_h, kernel_w = weight.shape
    batch, channels = input.shape[:2]
    out_h, out_w = offset.shape[2:]
    rows = []
    for b in range(batch):
        columns = []
        for channel in range(channels):
            g = channel // (channels // deform_groups)
            for tap in range(kernel_h * kernel_w):
                at = g * kernel_h * kernel_w + tap
                y = torch.arange(out_h)[:, None] * stride - padding + tap // kernel_w * dilation + offset[b, 2 * at]
                x = torch.arange(out_w)[None] * stride - padding + tap % kernel_w * dilation + offset[b, 2 * at + 1]
                padded = torch.nn.functional.pad(input[b, channel], (1, 1, 1, 1))  # outside is 0, also half a pixel
                inside = (y > -1) & (x > -1) & (y < input.shape[2]) & (x < input.shape[3])
                y, x = (y + 1).clamp(0, input.shape[2] + 1), (x + 1).clamp(0, input.shape[3] + 1)
                value = bilinear(padded[None], y.flatten(), x.flatten()).view(out_h, out_w)
                columns.append(value * inside * (1 if mask is None else mask[b, at]))
        of_group = torch.stack(columns).view(groups, -1, out_h * out_w)
        rows.append((weight.view(groups, out_channels // groups, -1) @ of_group).view(out_channels, out_h, out_w))
    result = torch.stack(rows)
    return result if bias is None else result + bias[:, None, None]


def convolution(dtype, stride, dilation, deform_groups):
    torch.manual_seed(2)
    size = (7 + 2 - dilation * 2 - 1) // stride + 1, (6 + 2 - dilation * 2 - 1) // stride + 1
    taps = 9 * deform_groups
    shapes = (2, 4, 7, 6), (2, 2 * taps, *size), (2, taps, *size), (3, 4, 3, 3), (3,)
    return [torch.randn(shape, dtype=torch.float64).to(dtype) for shape in shapes]


def near(found, wanted, limit):
    assert found.shape == wanted.shape
    assert (found.double() - wanted).abs().max() <= limit * max(1.0, wanted.abs().max().item())


@doors("DCNv2")
@pytest.mark.parametrize("dtype, limit", [(torch.float32, 2e-5), (torch.float64, 1e-12)], ids=str)
@pytest.mark.parametrize("stride, dilation, deform_groups", [(1, 1, 1), (2, 1, 2), (1, 2, 1)])
def test_dcn_v2(installed, dtype, limit, stride, dilation, deform_groups):
    """Both forms of the extension: results returned, and buffers filled."""
    module = importlib.import_module("_ext")
    x, offset, mask, weight, bias = inputs = convolution(dtype, stride, dilation, deform_groups)
    numbers = 3, 3, stride, stride, 1, 1, dilation, dilation, deform_groups
    found = module.dcn_v2_forward(x, weight, bias, offset, mask, *numbers)
    wide = [each.double().requires_grad_() for each in inputs]
    wanted = deformed(*wide, stride, 1, dilation, deform_groups=deform_groups)
    near(found, wanted, limit)
    grad = torch.randn(found.shape, dtype=torch.float64).to(dtype)
    theirs = torch.autograd.grad(wanted, wide, grad.double())
    for ours, other in zip(module.dcn_v2_backward(x, weight, bias, offset, mask, grad, *numbers), theirs):
        near(ours, other, limit)
    empty, output = x.new_empty(0), torch.empty_like(found)
    module.dcn_v2.dcn_v2_cuda_forward(x, weight, bias, empty, offset, mask, output, empty, *numbers)
    assert torch.equal(output, found)
    grads = [torch.zeros_like(each) for each in inputs]
    module.dcn_v2_cuda_backward(x, weight, bias, empty, offset, mask, empty, grads[0], grads[3], grads[4], grads[1],
                                grads[2], grad, *numbers)
    for ours, other in zip(grads, theirs):
        near(ours, other, limit)


@doors("DCNv2")
def test_dcn_v2_says_what_is_wrong(installed):
    x, offset, mask, weight, bias = convolution(torch.float32, 1, 1, 1)
    with pytest.raises(mluops.BadParamError, match="offset.*36.*18"):
        importlib.import_module("_ext").dcn_v2_forward(x, weight, bias, offset, mask, 3, 3, 1, 1, 1, 1, 1, 1, 2)
    with pytest.raises(AttributeError, match="dcn_v2_psroi_pooling_forward: no another_function"):
        importlib.import_module("_ext").another_function


@doors("DCNv2")
def test_a_function_object_of_an_old_torch(installed, tmp_path, monkeypatch):
    """CenterNet's: made with its numbers, then called; torch has no autograd functions of this form any longer."""
    place = tmp_path / "models" / "networks" / "DCNv2"
    place.mkdir(parents=True)
    for each in (place, place.parent, place.parent.parent):
        (each / "__init__.py").write_text("")
    (place / "dcn_v2.py").write_text("from ._ext import dcn_v2 as _backend\nclass DCNv2Function: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("models.networks.DCNv2.dcn_v2")
    x, offset, mask, weight, bias = convolution(torch.float64, 1, 1, 1)
    near(module.DCNv2Function(1, 1)(x, offset, mask, weight, bias), deformed(x, offset, mask, weight, bias, 1, 1, 1), 1e-12)
    dropin.uninstall()
    assert isinstance(module.DCNv2Function, type)
    for name in [name for name in sys.modules if name.split(".")[0] == "models"]:
        del sys.modules[name]


@pytest.fixture
def detectron2(tmp_path, monkeypatch):
    """A package of its name, whose layers refuse CPU tensors as detectron2's do."""
    place = tmp_path / "detectron2" / "layers"
    place.mkdir(parents=True)
    for each in (place, place.parent):
        (each / "__init__.py").write_text("")
    (place / "deform_conv.py").write_text("def deform_conv(*a): raise NotImplementedError\n"
                                          "modulated_deform_conv = deform_conv\nfrom detectron2 import _C\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "detectron2"]:
        del sys.modules[name]


@doors("detectron2")
def test_detectron2_deformable_convolutions(installed, detectron2):
    layers = importlib.import_module("detectron2.layers.deform_conv")
    x, offset, mask, weight, bias = convolution(torch.float64, 2, 1, 2)
    near(layers.deform_conv(x, offset, weight, 2, 1, 1, 1, 2), deformed(x, offset, None, weight, None, 2, 1, 1, 1, 2), 1e-12)
    near(layers.modulated_deform_conv(x, offset, mask, weight[:2, :2], None, (2, 2), 1, 1, 2, 2),
         deformed(x, offset, mask, weight[:2, :2].contiguous(), None, 2, 1, 1, 2, 2), 1e-12)


@doors("detectron2")
def test_detectron2_boxes(installed, detectron2):
    """Degrees, and counterclockwise where y points down."""
    module = importlib.import_module("detectron2._C")
    assert module.has_cuda() is False and module.get_cuda_version() and module.get_compiler_version()
    rod = torch.tensor([[0.0, 0.0, 4.0, 0.5, 45.0]])
    beside = torch.tensor([[1.2, -1.2, 0.6, 0.6, 0.0], [1.2, 1.2, 0.6, 0.6, 0.0], [0.0, 0.0, 4.0, 0.5, 45.0]])
    found = module.box_iou_rotated(rod, beside)
    assert found[0, 0] > 0.1 and found[0, 1] == 0 and abs(found[0, 2] - 1) < 1e-5
    boxes = torch.rand(30, 5) * torch.tensor([8.0, 8, 3, 3, 180]) + torch.tensor([0.0, 0, 0.5, 0.5, 0])
    iou, scores = module.box_iou_rotated(boxes, boxes), torch.rand(30)
    wanted = []
    for i in scores.argsort(descending=True).tolist():
        if all(iou[k, i] <= 0.3 for k in wanted):
            wanted.append(i)
    assert module.nms_rotated(boxes, scores, 0.3).tolist() == wanted
    if hasattr(torch.library, "Library"):
        assert torch.equal(torch.ops.detectron2.box_iou_rotated(boxes, boxes), iou)
        assert torch.ops.detectron2.nms_rotated(boxes, scores, 0.3).tolist() == wanted
    clockwise = boxes * torch.tensor([1, 1, 1, 1, -math.pi / 180])
    assert torch.allclose(iou, mt.box_iou_rotated(clockwise, clockwise), atol=1e-6)


@doors("detectron2")
def test_detectron2_rotated_rois(installed, detectron2):
    module = importlib.import_module("detectron2._C")
    x, rois = torch.rand(2, 3, 8, 9), torch.tensor([[1.0, 4, 3, 5.3, 3.1, 40.0], [0, 7, 7, 9.2, 2.3, -120.0]])
    radians = rois * torch.tensor([1, 1, 1, 1, 1, math.pi / 180])
    leaf = x.clone().requires_grad_()
    wanted = mt.roi_align_rotated(leaf, radians, (3, 2), 0.5, 2)
    assert torch.equal(module.roi_align_rotated_forward(x, rois, 0.5, 3, 2, 2), wanted)
    grad = torch.rand_like(wanted)
    wanted.backward(grad)
    assert torch.equal(module.roi_align_rotated_backward(grad, rois, 0.5, 3, 2, 2, 3, 8, 9, 2), leaf.grad)
    if hasattr(torch.library, "Library"):
        assert torch.equal(torch.ops.detectron2.roi_align_rotated_forward(x, rois, 0.5, 3, 2, 2), wanted)


def test_torchvision_deformable_convolution():
    """Numbers of groups are in the shapes; without a mask it is the first version."""
    x, offset, mask, weight, bias = convolution(torch.float64, 2, 1, 2)
    near(tv.deform_conv2d(x, offset, weight, bias, (2, 2), 1, 1, mask),
         deformed(x, offset, mask, weight, bias, 2, 1, 1, 1, 2), 1e-12)
    two = weight[:2, :2].contiguous()
    near(tv.deform_conv2d(x, offset, two, stride=2, padding=1), deformed(x, offset, None, two, None, 2, 1, 1, 2, 2), 1e-12)


def image():
    torch.manual_seed(4)
    boxes = torch.rand(12, 4) * 20
    boxes[:, 2:] += boxes[:, :2] + 2
    return torch.randn(2, 3, 30, 40), boxes


def test_torchvision_functions():
    """A list with the boxes of each image is what mluops.torch takes as one tensor."""
    x, boxes = image()
    rois = torch.cat([torch.tensor([[0.0]] * 5 + [[1.0]] * 7), boxes], 1)
    split = [boxes[:5], boxes[5:]]
    assert torch.equal(tv.roi_align(x, split, 4, 0.5), mt.roi_align(x, rois, 4, 0.5, -1, "avg", False))
    assert torch.equal(tv.roi_align(x, rois, (4, 5), 0.5, 2, True), mt.roi_align(x, rois, (4, 5), 0.5, 2, "avg", True))
    scores, classes = torch.rand(12), torch.arange(12) % 3
    kept = tv.batched_nms(boxes, scores, classes, 0.2)
    wanted = [torch.nonzero(classes == c)[:, 0][tv.nms(boxes[classes == c], scores[classes == c], 0.2)] for c in range(3)]
    wanted = torch.cat(wanted)
    assert kept.tolist() == wanted[scores[wanted].argsort(descending=True)].tolist()
    assert tv.batched_nms(boxes[:0], scores[:0], classes[:0], 0.2).tolist() == []


def test_torchvision_only_on_request(monkeypatch):
    """Its functions stay unless it is named, and come back."""
    ops, place = types.ModuleType("torchvision.ops"), types.ModuleType("torchvision.ops.boxes")
    ops.nms = place.nms = own = lambda boxes, scores, threshold: "theirs"
    for name, module in (("torchvision", types.ModuleType("torchvision")), ("torchvision.ops", ops),
                         ("torchvision.ops.boxes", place)):
        monkeypatch.setitem(sys.modules, name, module)
    _, boxes = image()
    scores = torch.rand(12)
    dropin.install("pcdet")
    assert ops.nms is own
    dropin.install("torchvision")
    assert ops.nms(boxes, scores, 0.5).tolist() == tv.nms(boxes, scores, 0.5).tolist()
    assert place.nms(boxes.to("meta"), scores.to("meta"), 0.5) == "theirs"
    dropin.uninstall()
    assert ops.nms is own and place.nms is own


def test_real_torchvision():
    """Where it is installed, its own results."""
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    x, boxes = image()
    rois, scores = [boxes[:5], boxes[5:]], torch.rand(12)
    ops = torchvision.ops
    deformed_x, offset, mask, _, _ = convolution(torch.float32, 1, 1, 2)
    layer = ops.DeformConv2d(4, 6, 3, padding=1, groups=2)
    calls = (lambda: ops.roi_align(x, rois, 4, 0.5), lambda: ops.nms(boxes, scores, 0.3),
             lambda: ops.batched_nms(boxes, scores, torch.arange(12) % 3, 0.3),
             lambda: ops.RoIAlign(3, 0.5, 2, True)(x, rois), lambda: layer(deformed_x, offset, mask),
             lambda: ops.PSRoIPool(2, 0.5)(x.repeat(1, 4, 1, 1), rois), lambda: ops.ps_roi_pool(x, rois, 1))
    theirs = [call() for call in calls]
    dropin.install("torchvision")
    ours = [call() for call in calls]
    dropin.uninstall()
    assert all(torch.allclose(a.float(), b.float(), atol=1e-5) for a, b in zip(ours, theirs))


def test_scripts_of_real_torchvision():
    """A script has the module's own code: what is replaced is what Python calls."""
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    x, boxes = image()
    rois = torch.cat([torch.tensor([[0.0]] * 5 + [[1.0]] * 7), boxes], 1)
    layers = torchvision.ops.RoIAlign(3, 0.5, 2, True), torchvision.ops.RoIPool(3, 0.5), torchvision.ops.PSRoIPool(1, 0.5)
    wanted = [layer(x, rois) for layer in layers]
    dropin.install("torchvision")
    try:
        got = [torch.jit.script(layer)(x, rois) for layer in layers]
    finally:
        dropin.uninstall()
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(got, wanted))
