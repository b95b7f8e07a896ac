"""Each operator through mmcv's own functions and modules, after install(), beside ours."""

import importlib
import sys
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("mmcv", reason="mmcv-lite is not installed")
pytest.importorskip("mmengine", reason="mmengine is not installed")

sys.path.append(str(Path(__file__).parent / "models"))

import mluops  # noqa: E402
import mluops.mmcv  # noqa: E402
import mluops.torch as mt  # noqa: E402
import standins  # noqa: E402

pytestmark = pytest.mark.usefixtures("installed")


def test_points_through_mmcv():
    """mmcv's functions give what ours do; furthest_point_sample, which allocates on a CUDA device, too."""
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(3)
    xyz, centers = torch.rand(2, 50, 3), torch.rand(2, 9, 3)
    assert torch.equal(ops.furthest_point_sample(xyz, 12), mt.furthest_point_sample(xyz, 12))
    table = torch.cdist(xyz, xyz).square()
    assert torch.equal(ops.furthest_point_sample_with_dist(table, 12), mt.furthest_point_sample_with_dist(table, 12))
    assert torch.equal(ops.ball_query(0.1, 0.4, 6, xyz, centers), mt.ball_query(0.1, 0.4, 6, xyz, centers))
    for theirs, ours in zip(ops.three_nn(centers, xyz), mt.three_nn(centers, xyz)):
        assert torch.equal(theirs, ours)
    assert torch.equal(ops.knn(5, xyz, centers), mt.knn(5, xyz, centers))
    assert torch.equal(ops.knn(5, xyz.transpose(1, 2), centers.transpose(1, 2), True), mt.knn(5, xyz, centers))
    features = torch.rand(2, 4, 50)
    nearest = ops.QueryAndGroup(None, 6)(xyz, centers, features)
    assert torch.equal(nearest, mt.QueryAndGroup(None, 6)(xyz, centers, features))
    grouped = ops.QueryAndGroup(0.4, 6, normalize_xyz=True)(xyz, centers, features)
    assert torch.equal(grouped, mt.QueryAndGroup(0.4, 6, normalize_xyz=True)(xyz, centers, features))
    assert torch.equal(ops.GroupAll()(xyz, None, features), mt.GroupAll()(xyz, None, features))
    points, samples = torch.rand(50, 3), torch.tensor([20, 30], dtype=torch.int32)
    parts = torch.tensor([4, 5], dtype=torch.int32)
    indices = ops.ball_query(0, 0.3, 4, points, centers[0], samples, parts)
    assert torch.equal(indices, mt.ball_query(0, 0.3, 4, points, centers[0], samples, parts))
    both_gradients(ops.grouping_operation, mt.grouping_operation, [points], indices, samples, parts)
    assert ops.PointsSampler([8], ["D-FPS"])(xyz, features).shape == (2, 8)
    assert ops.PointsSampler([8], ["FS"])(xyz, features).shape == (2, 16)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_softmax_focal_loss_of_probabilities_that_halves_do_not_have(dtype, weighted):
    """The probability of target 1 beside a logit of 20 is 2e-9: 0 in half, with a loss of 21.8 instead of 5."""
    ops = importlib.import_module("mmcv.ops")
    rows = torch.tensor([[20.0, 0, 0], [-20, 20, 0], [60, -60, 0], [0, 0, 0], [11, 0, 0]], dtype=dtype)
    target, weight = torch.tensor([1, 0, 0, 2, 1]), torch.tensor([0.5, 2, 1], dtype=dtype) if weighted else None
    for reduction in ("none", "mean", "sum"):
        logits, wide = rows.clone().requires_grad_(), rows.double().requires_grad_()
        got = ops.softmax_focal_loss(logits, target, 2.0, 0.25, weight, reduction)
        wanted = mt.softmax_focal_loss(wide, target, 2.0, 0.25, None if weight is None else weight.double(), reduction)
        near = dict(rtol=2 * torch.finfo(dtype).eps, atol=1e-6, check_dtype=False)
        torch.testing.assert_close(got.double(), wanted, **near)
        assert got.dtype == dtype
        if reduction == "none":
            assert abs(float(got[0].detach()) / (10 if weighted else 5) - 1) < 1e-3
            continue  # mmcv's gradient of this takes as many rows as classes
        grad, = torch.autograd.grad(got, logits)
        torch.testing.assert_close(grad.double(), torch.autograd.grad(wanted, wide)[0], **near)
        assert grad.dtype == dtype


def test_points_in_boxes_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(6)
    points, boxes = torch.rand(2, 60, 3), torch.rand(2, 4, 7)
    for name in ("points_in_boxes_part", "points_in_boxes_all", "points_in_boxes_cpu"):
        theirs = getattr(ops, name)(points, boxes)
        assert torch.equal(theirs, getattr(mt, name)(points, boxes)) and theirs.dtype == torch.int32
    features = torch.rand(2, 60, 5)
    pairs = zip(ops.RoIPointPool3d(7)(points, features, boxes), mt.RoIPointPool3d(7)(points, features, boxes))
    assert all(torch.equal(theirs, ours) for theirs, ours in pairs)


def test_voxels_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(7)
    points, limits = torch.rand(200, 4), ([0.25, 0.25, 0.5], [0, 0, 0, 1, 1, 1])
    pairs = zip(ops.voxelization(points, *limits, 5, 30), mt.voxelization(points, *limits, 5, 30))
    assert all(torch.equal(theirs, ours) for theirs, ours in pairs)
    coors = ops.voxelization(points, *limits, -1)
    assert torch.equal(coors, mt.voxelization(points, *limits, -1))
    for reduce_type in ("sum", "mean", "max"):
        leaves = [points.clone().requires_grad_() for _ in range(2)]
        outputs = [scatter(leaf, coors, reduce_type)
                   for scatter, leaf in zip((ops.dynamic_scatter, mt.dynamic_scatter), leaves)]
        for theirs, ours in zip(*outputs):
            assert torch.equal(theirs, ours)
        for output, _ in outputs:
            output.square().sum().backward()
        assert torch.equal(leaves[0].grad, leaves[1].grad)


def test_boxes3d_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(8)
    a, b, scores = torch.rand(30, 7) * 3, torch.rand(20, 7) * 3, torch.rand(30)
    assert torch.equal(ops.boxes_overlap_bev(a, b), mt.boxes_overlap_bev(a, b))
    # mmcv composes it of boxes_overlap_bev, whose areas have OpenPCDet's margins; ours is exact (test_wide_sums.py).
    torch.testing.assert_close(ops.boxes_iou3d(a, b), mt.boxes_iou3d(a, b), rtol=0, atol=1e-3)
    assert torch.equal(ops.nms3d(a, scores, 0.2), mt.nms3d(a, scores, 0.2))
    assert torch.equal(ops.nms3d_normal(a, scores, 0.2), mt.nms3d_normal(a, scores, 0.2))


def turned_boxes(count, dtype, spread=10.0):
    at, size, angle = torch.rand(count, 2) * spread, torch.rand(count, 2) * 4 + 0.5, torch.rand(count, 1) * 6 - 3
    return torch.cat([at, size, angle], 1).to(dtype)


@pytest.mark.parametrize("dtype, limit", [(torch.float64, 1e-12), (torch.float32, 2e-5)], ids=str)
def test_turned_boxes_through_mmcv(dtype, limit):
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(12)
    a, b = turned_boxes(40, dtype), turned_boxes(30, dtype)
    for mode, clockwise in (("iou", False), ("iou", True), ("iof", True)):
        wanted = standins.box_iou_rotated(a.double(), b.double(), mode, clockwise=clockwise)
        assert (wanted > 0).sum() > 50
        assert (ops.box_iou_rotated(a, b, mode, clockwise=clockwise).double() - wanted).abs().max() < limit
        paired = ops.box_iou_rotated(a[:30], b, mode, aligned=True, clockwise=clockwise)
        assert paired.shape == (30,) and (paired.double() - wanted[:30].diagonal()).abs().max() < limit
    assert (ops.box_iou_rotated(a, a).diagonal() - 1).abs().max() < limit
    square = torch.tensor([[3.0, 4, 2, 2, 0]], dtype=dtype)
    eighth = torch.tensor([[3.0, 4, 2, 2, 0.7853981633974483]], dtype=dtype)
    assert abs(ops.box_iou_rotated(square, eighth).item() - 0.5 ** 0.5) < limit
    assert ops.box_iou_rotated(a[:0], b).shape == (0, 30) and ops.box_iou_rotated(a[:0], b[:0], aligned=True).shape == (0,)


def test_boxes_of_no_size_and_nan_share_nothing_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    boxes = torch.tensor([[0.0, 0, 0, 0, 0], [0, 0, 2, 2, 0], [float("nan"), 0, 2, 2, 0]])
    wanted = torch.tensor([[0.0, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert torch.allclose(ops.box_iou_rotated(boxes, boxes), wanted, atol=1e-6)


@pytest.mark.parametrize("threshold", [0.1, 0.4])
def test_nms_of_turned_boxes_through_mmcv(threshold):
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(13)
    boxes, scores, labels = turned_boxes(80, torch.float32), torch.rand(80), torch.arange(80) % 3
    dets, kept = ops.nms_rotated(boxes, scores, threshold)
    _, wanted = standins.nms_rotated(boxes.double(), scores.double(), threshold)
    assert kept.tolist() == wanted.tolist() and 10 < len(kept) < 80
    assert torch.equal(dets, torch.cat([boxes[kept], scores[kept, None]], 1))
    assert ops.nms_rotated(boxes, scores, threshold, labels)[1].tolist() == kept.tolist()  # mmcv's code ignores labels
    dets, of_labels = mt.nms_rotated(boxes, scores, threshold, labels)
    each = [(labels == i).nonzero()[:, 0] for i in range(3)]
    wanted = torch.cat([at[standins.nms_rotated(boxes[at].double(), scores[at].double(), threshold)[1]] for at in each])
    assert of_labels.tolist() == wanted[scores[wanted].argsort(descending=True)].tolist() != kept.tolist()
    assert torch.equal(dets, torch.cat([boxes[of_labels], scores[of_labels, None]], 1))
    for clockwise in (True, False):
        for theirs, ours in zip(ops.nms_rotated(boxes, scores, threshold, clockwise=clockwise),
                                mt.nms_rotated(boxes, scores, threshold, clockwise=clockwise)):
            assert torch.equal(theirs, ours)


def test_edges_of_turned_boxes():
    boxes, scores = turned_boxes(4, torch.float16), torch.rand(4)
    assert mt.nms_rotated(boxes[:0], scores[:0], 0.1)[0].shape == (0, 6)
    assert mt.nms_rotated(boxes[:0], scores[:0], 0.1, scores[:0])[1].shape == (0,)
    assert mt.nms_rotated(boxes, scores, 0.1)[0].dtype == torch.float32
    assert mt.box_iou_rotated(boxes, boxes).dtype == torch.float16
    assert torch.equal(mt.box_iou_rotated(boxes, boxes.flip(0), "iof", True),
                       mt.box_iou_rotated(boxes, boxes.flip(0), "iof").diagonal())
    for call, text in ((lambda: mt.box_iou_rotated(boxes, boxes, "giou"), 'mode: wanted "iou"'),
                       (lambda: mt.box_iou_rotated(boxes, boxes[:, :4]), "bboxes2: wanted dimension 1 to be 5"),
                       (lambda: mt.box_iou_rotated(boxes, boxes[:2], aligned=True), "bboxes2: wanted dimension 0 to be 4"),
                       (lambda: mt.nms_rotated(boxes, scores[:2], 0.1), "scores: wanted dimension 0 to be 4"),
                       (lambda: mt.nms_rotated(boxes, scores, 0.1, scores[:2]), "labels: wanted dimension 0 to be 4"),
                       (lambda: mt.nms_rotated(boxes, scores, float("nan")), "iou_threshold: wanted a number")):
        with pytest.raises(mluops.BadParamError, match=text):
            call()


def test_mmcv_s_own_functions_stay_within_reach():
    module = importlib.import_module("mmcv.ops.multi_scale_deform_attn")
    torch.manual_seed(14)
    value, weights = torch.rand(2, 26, 3, 4), torch.rand(2, 7, 3, 2, 2)
    arguments = value, torch.tensor([[4, 5], [2, 3]]), torch.rand(2, 7, 3, 2, 2, 2), weights
    replaced = module.multi_scale_deformable_attn_pytorch
    assert replaced.original.__module__ == module.__name__ and replaced.__module__.startswith("mluops.")
    assert torch.allclose(replaced(*arguments), replaced.original(*arguments), atol=1e-6)


def both_gradients(theirs, ours, tensors, *others):
    """The two functions give the same results and gradients."""
    leaves = [[t.clone().requires_grad_() for t in tensors] for _ in range(2)]
    outputs = [f(*leaf, *others) for f, leaf in zip((theirs, ours), leaves)]
    outputs = [o if isinstance(o, tuple) else (o,) for o in outputs]
    assert all(torch.equal(x, y) for x, y in zip(*outputs))
    for output in outputs:
        sum(o.square().sum() for o in output if o.is_floating_point()).backward()
    assert all(torch.equal(x.grad, y.grad) for x, y in zip(*leaves))


def test_gradients_of_operators_on_points_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(9)
    both_gradients(ops.chamfer_distance, mt.chamfer_distance, [torch.rand(2, 9, 2), torch.rand(2, 7, 2)])
    rows = [torch.rand(2, 4, 6, 3), torch.rand(2, 9, 3, 5), torch.rand(2, 9, 3, 5)]
    rois, pts = torch.rand(3, 7) + 0.5, torch.rand(60, 3)
    for mode in ("max", "avg"):
        both_gradients(lambda f: ops.RoIAwarePool3d(3, 5, mode)(rois, pts, f),
                       lambda f: mt.RoIAwarePool3d(3, 5, mode)(rois, pts, f), [torch.rand(60, 4)])
    both_gradients(ops.assign_score_withk, mt.assign_score_withk, rows, torch.randint(0, 9, (2, 4, 6)), "avg")


def test_nms_through_mmcv():
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(4)
    corner = torch.rand(50, 2) * 20
    boxes, scores = torch.cat([corner, corner + 2 + torch.rand(50, 2) * 9], 1), torch.rand(50)
    for theirs, ours in zip(ops.nms(boxes, scores, 0.3, max_num=9), mt.nms(boxes, scores, 0.3, max_num=9)):
        assert torch.equal(theirs, ours)
    for method in ("naive", "linear", "gaussian"):
        pairs = zip(ops.soft_nms(boxes, scores, method=method), mt.soft_nms(boxes, scores, method=method))
        assert all(torch.equal(theirs, ours) for theirs, ours in pairs)
    dets = torch.cat([boxes, scores[:, None]], 1)
    for theirs, ours in zip(ops.nms_match(dets, 0.4), mt.nms_match(dets, 0.4)):
        assert torch.equal(theirs, ours)
    dets, kept = ops.batched_nms(boxes, scores, torch.arange(50) % 3, dict(type="nms", iou_threshold=0.3))
    assert len(dets) == len(kept) > 3
    x, rois = torch.rand(1, 2, 9, 9), torch.tensor([[0, 1.0, 1, 7, 6]])
    got = ops.RoIAlign(3, 1.0, 2, pool_mode="max")(x, rois)
    assert torch.equal(got, mt.roi_align(x, rois, 3, 1.0, 2, "max"))


def test_deformable_attention_through_mmcv():
    """mmcv's module on the CPU runs ours instead of its composition, with the same values."""
    module = importlib.import_module("mmcv.ops.multi_scale_deform_attn")
    torch.manual_seed(5)
    attention = module.MultiScaleDeformableAttention(16, num_heads=2, num_levels=2, num_points=3, batch_first=True)
    torch.nn.init.normal_(attention.sampling_offsets.weight, std=0.5)
    shapes, starts = torch.tensor([[5, 6], [3, 3]]), torch.tensor([0, 30])
    query, value = torch.randn(2, 9, 16, requires_grad=True), torch.randn(2, 39, 16, requires_grad=True)
    given = dict(value=value, reference_points=torch.rand(2, 9, 2, 2), spatial_shapes=shapes,
                 level_start_index=starts)
    attention.eval()
    ours = attention(query, **given)
    grads = torch.autograd.grad(ours.square().sum(), [query, value, *attention.parameters()])
    mluops.mmcv.uninstall()
    try:
        composed = attention(query, **given)
        wanted = torch.autograd.grad(composed.square().sum(), [query, value, *attention.parameters()])
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mluops.mmcv.install()
    assert torch.allclose(ours, composed, atol=1e-5) and not torch.equal(ours, composed)
    for got, want in zip(grads, wanted):
        assert torch.allclose(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name, loss, wanted_grad", [
    ("SigmoidFocalLoss", 1.10251057, [[0.28808805, 0.11185755, -0.09602935], [0.11185755, -0.00657264, 0.40376765]]),
    ("SoftmaxFocalLoss", 0.34956908, [[0.10165970, 0.03739851, -0.13905823], [0.01227554, -0.10298023, 0.09070466]])])
def test_focal_losses_of_the_tests_of_mmcv(name, loss, wanted_grad):
    """The inputs and outputs of mmcv's own test, through its module and ours."""
    for modules in (importlib.import_module("mmcv.ops"), mt):
        x = torch.tensor([[1.0, 0, -1], [0, 1, 2]], requires_grad=True)
        got = getattr(modules, name)(2.0, 0.25)(x, torch.tensor([2, 1]))
        got.backward()
        assert abs(got.item() - loss) < 1e-5 and torch.allclose(x.grad, torch.tensor(wanted_grad), atol=1e-5)
