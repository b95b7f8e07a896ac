"""What torch's operators compute, through mmcv's own functions after install(), beside ours."""

import importlib
import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("mmcv", reason="mmcv-lite is not installed")
pytest.importorskip("mmengine", reason="mmengine is not installed")

import mluops.mmcv  # noqa: E402
import mluops.torch as mt  # noqa: E402

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture
def ops():
    torch.manual_seed(26)
    return importlib.import_module("mmcv.ops")


def both(theirs, ours, leaf, *others):
    """The same results and gradients of the leaf."""
    leaves = [leaf.clone().requires_grad_() for _ in range(2)]
    results = [each(x, *others) for each, x in zip((theirs, ours), leaves)]
    assert torch.allclose(*results, atol=1e-6) and results[0].any()
    weights = torch.rand_like(results[0])
    for result in results:
        (result * weights).sum().backward()
    assert torch.allclose(leaves[0].grad, leaves[1].grad, atol=1e-6) and leaves[0].grad.any()


def test_boxes_and_points(ops):
    at = torch.rand(20, 2) * 5
    boxes = torch.cat([at, at + torch.rand(20, 2) * 3], 1)
    assert torch.equal(ops.bbox_overlaps(boxes, boxes[:9], "iof", offset=1),
                       mt.bbox_overlaps(boxes, boxes[:9], "iof", offset=1))
    assert torch.equal(ops.bbox_overlaps(boxes, boxes.flip(0), aligned=True),
                       mt.bbox_overlaps(boxes, boxes.flip(0), aligned=True))
    quads = torch.rand(6, 8) * 5
    assert torch.equal(ops.points_in_polygons(at, quads), mt.points_in_polygons(at, quads))


def test_tin_shift_of_mmcv(ops):
    """mmcv's gradient goes the way of its features; ours goes back."""
    x, shift = torch.rand(2, 4, 8, 2, requires_grad=True), torch.tensor([[1, 0, 1, -2], [-2, 1, -1, 1]], dtype=torch.int32)
    found = ops.tin_shift(x, shift)
    assert torch.equal(found, mt.tin_shift(x, shift))
    grad = torch.rand_like(found)
    found.backward(grad)
    assert torch.equal(x.grad, mt.tin_shift(grad, shift))
    assert torch.equal(torch.autograd.grad(mt.tin_shift(x, shift), x, grad)[0], mt.tin_shift(grad, -shift))


def test_filters_and_correlation(ops):
    x, mask = torch.rand(1, 3, 6, 5), torch.rand(1, 6, 5) > 0.5
    layer = ops.MaskedConv2d(3, 4, 3, 1, 1)
    assert torch.allclose(layer(x, mask.float()), mt.masked_conv2d(x, mask, layer.weight, layer.bias, 1), atol=1e-6)
    assert torch.allclose(layer(x, mask.float()), layer(x) * mask, atol=1e-5)
    indices = torch.stack([torch.randperm(18) + 1 for _ in range(4)], 1).reshape(2, 3, 3, 4).int()
    both(ops.active_rotated_filter, mt.active_rotated_filter, torch.rand(2, 3, 2, 3, 3), indices)
    other = torch.rand(1, 3, 6, 5)
    both(ops.Correlation(3, 2, 2, 1, 1, 2), mt.Correlation(3, 2, 2, 1, 1, 2), x, other)
    both(lambda b, a: ops.Correlation(3, 2)(a, b), lambda b, a: mt.Correlation(3, 2)(a, b), x, other)


def train(rank, world, folder, mode):
    """A step of mmcv's SyncBatchNorm in one of several processes."""
    import warnings
    warnings.simplefilter("ignore")
    mluops.mmcv.install()
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet{mode}", rank=rank, world_size=world)
    torch.manual_seed(5)
    x, weights = torch.rand(2 * world, 3, 4, 5), torch.rand(2 * world, 3, 4, 5)
    part = slice(2 * rank, 2 * rank + 2)
    layer = importlib.import_module("mmcv.ops").SyncBatchNorm(3, stats_mode=mode)
    layer.weight.data.copy_(torch.tensor([0.5, 1, 2]))
    leaf = x[part].clone().requires_grad_()
    found = layer(leaf)
    (found * weights[part]).sum().backward()
    whole, same = x.clone().requires_grad_(), torch.nn.BatchNorm2d(3)
    same.weight.data.copy_(layer.weight.data)
    wanted = same(whole)
    (wanted * weights).sum().backward()
    pairs = [(found, wanted[part]), (leaf.grad, whole.grad[part]), (layer.weight.grad, same.weight.grad / world),
             (layer.running_mean, same.running_mean), (layer.running_var, same.running_var)]
    assert all(torch.allclose(*pair, atol=1e-5) for pair in pairs), [(a - b).abs().max() for a, b in pairs]
    dist.destroy_process_group()


@pytest.mark.parametrize("world, mode", [(1, "default"), (2, "N")])
def test_sync_batch_norm_over_gloo(tmp_path, world, mode):
    """The statistics are those of all processes together."""
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    if world == 1:
        train(0, 1, tmp_path, mode)
        return
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.multiprocessing.spawn(train, (world, str(tmp_path), mode), world)


def test_turned_rois(ops):
    x = torch.rand(2, 8, 8, 9)
    rois = torch.tensor([[1.0, 4, 3, 5.3, 3.1, 0.7], [0, 7, 7, 9.2, 2.3, -2.1]])
    for module, ours, settings in (("RoIAlignRotated", mt.RoIAlignRotated, ((3, 2), 0.75, 0, True, True)),
                                   ("RiRoIAlignRotated", mt.RiRoIAlignRotated, ((3, 2), 0.75, 2, 4, True))):
        both(getattr(ops, module)(*settings), ours(*settings), x, rois)
    beziers = torch.cat([torch.ones(2, 1), torch.rand(2, 16) * 8], 1)
    both(ops.BezierAlign((3, 2), 0.8, 2, True), mt.BezierAlign((3, 2), 0.8, 2, True), x, beziers)
    both(ops.PrRoIPool((3, 2), 0.75), mt.PrRoIPool((3, 2), 0.75), x, rois[:, :5])
    both(lambda r: ops.prroi_pool(x, r, (3, 2), 0.75), lambda r: mt.prroi_pool(x, r, (3, 2), 0.75), rois[:, :5])
    boxes = torch.rand(2, 8, 9, 5) * 40
    both(ops.rotated_feature_align, mt.rotated_feature_align, x, boxes, 0.125, 5)


def test_polygons(ops):
    quads, sets, scores = torch.rand(9, 8) * 5, torch.rand(9, 18) * 5, torch.rand(9)
    quads[:, 2:] = quads[:, :2].repeat(1, 3) + torch.tensor([3.0, 0, 3, 2, 0, 2])  # rectangles
    assert torch.equal(ops.box_iou_quadri(quads, quads[:4], "iof"), mt.box_iou_quadri(quads, quads[:4], "iof"))
    for theirs, ours in zip(ops.nms_quadri(quads, scores, 0.2, torch.arange(9.0)), mt.nms_quadri(quads, scores, 0.2)):
        assert torch.equal(theirs, ours)
    assert torch.equal(ops.convex_iou(sets, quads), mt.convex_iou(sets, quads))
    for theirs, ours in zip(ops.convex_giou(sets, quads), mt.convex_giou(sets, quads)):
        assert torch.equal(theirs, ours)
    assert torch.equal(ops.min_area_polygons(sets), mt.min_area_polygons(sets))
