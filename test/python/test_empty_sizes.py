"""Tensors without elements: every operator has a result for them, or says which argument it refuses."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from test_shapes import CALLS  # noqa: E402


def gradients_of(outputs, tensors):
    leaves = [t for t in tensors if t is not None and t.requires_grad]
    for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
        if leaves and output.requires_grad:
            for gradient, leaf in zip(torch.autograd.grad(output.sum(), leaves, allow_unused=True), leaves):
                assert gradient is None or gradient.shape == leaf.shape


def refused(call):
    """Whether a call is refused in words of ours; any other error fails the test."""
    try:
        call()
    except (mluops.MluOpError, TypeError) as error:
        assert any(word in str(error) for word in ("wanted", "MLUOP_STATUS"))
        return True
    return False


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_every_size_0(case):
    """Of each tensor each size by itself, and one size in all tensors that share it."""
    tensors = case.inputs(torch.float32, requires_grad=True)
    sizes = {size for t in tensors if t is not None for size in t.shape}
    for i, t in enumerate(tensors):
        for axis in range(0 if t is None else t.dim()):
            shape = [*t.shape[:axis], 0, *t.shape[axis + 1:]]
            empty = t.detach().new_zeros(shape).requires_grad_(t.requires_grad)
            given = [empty if k == i else other for k, other in enumerate(tensors)]
            refused(lambda given=given: gradients_of(case.run(given), given))
    for size, every in itertools.product(sizes, (True, False)):
        given = []
        for t in tensors:
            shape = [] if t is None else [0 if n == size and (every or axis == 0) else n for axis, n in enumerate(t.shape)]
            given.append(None if t is None else t.detach().new_zeros(shape).requires_grad_(t.requires_grad))
        refused(lambda given=given: gradients_of(case.run(given), given))


@pytest.mark.parametrize("name", CALLS)
def test_no_point_and_no_box(name):
    assert not refused(lambda: CALLS[name](1))
    try:
        refused(lambda: CALLS[name](0))
    except (ZeroDivisionError, RuntimeError) as error:
        if "ZeroDivisionError" not in repr(error):  # of the test's own arguments
            raise


def grown(*shape):
    return torch.zeros(shape).requires_grad_()


def test_results_of_no_elements():
    for batch, points, channels in itertools.product((0, 2), (0, 3), (0, 4)):
        features = grown(batch, points, channels)
        pooled = mt.voxel_pooling(torch.zeros(batch, points, 3).int(), features, (5, 6, 7))
        assert pooled.shape == (batch, channels, 6, 5)
        gradients_of(pooled, [features])
        cameras = grown(batch, 2, points, channels)
        assert mt.voxel_pooling(torch.zeros(batch, 2, points, 3).int(), cameras, (5, 6, 7)).shape == pooled.shape
    features, weights = grown(2, 3, 0), grown(2, 5, 3)
    found = mt.three_interpolate(features, torch.zeros(2, 5, 3).int(), weights)
    assert not found.any() and not any(each.any() for each in torch.autograd.grad(found.sum(), (features, weights)))
    for channels, rois in itertools.product((0, 8), (0, 3)):
        image = grown(1, channels, 4, 4)
        pooled = mt.riroi_align_rotated(image, torch.zeros(rois, 6), 2, 1.0)
        assert pooled.shape == (rois, channels, 2, 2)
        gradients_of(pooled, [image])
    for width, boxes in itertools.product((0, 3, 5), (0, 3)):
        with pytest.raises(mluops.BadParamError, match=r"boxes: wanted dimension 1 to be 4 \(x1, y1, x2, y2\), got"):
            mt.batched_nms(torch.zeros(boxes, width), torch.zeros(boxes), torch.zeros(boxes), {"iou_threshold": 0.5})


def test_batched_nms_of_mmcv(installed):
    import mmcv.ops
    for kind, width in (("nms", 4), ("soft_nms", 4), ("nms_rotated", 5)):
        none = torch.zeros(0, width), torch.zeros(0), torch.zeros(0, dtype=torch.int64)
        dets, indices = mmcv.ops.batched_nms(*none, {"type": kind, "iou_threshold": 0.5})
        assert dets.shape == (0, width + 1) and indices.shape == (0,)
    torch.manual_seed(0)
    low = torch.rand(200, 2) * 100
    boxes, scores = torch.cat([low, low + torch.rand(200, 2) * 40], 1), torch.rand(200)
    for groups in (torch.randint(0, 4, (200,)), torch.randint(0, 4, (200,)) * 10 ** 9):
        for kind in ("nms", "soft_nms"):
            config = {"type": kind, "iou_threshold": 0.4}
            found, at = mmcv.ops.batched_nms(boxes, scores, groups, config)
            wanted, same = mmcv.ops.batched_nms.original(boxes, scores, groups % 7, config)
            assert torch.equal(at, same) and torch.allclose(found, wanted)
