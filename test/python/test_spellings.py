"""Calls as torchvision and mmcv write them: the same result, or an error that names the function meant."""

import inspect

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402

torch.manual_seed(3)
IMAGES = torch.rand(2, 8, 12, 14)
BOXES = [torch.tensor([[1.5, 1, 9, 7.5]]), torch.tensor([[3.0, 2.5, 12, 10], [0, 0, 5, 5]])]
ROIS = torch.tensor([[0, 1.5, 1, 9, 7.5], [1, 3, 2.5, 12, 10], [1, 0, 0, 5, 5]])
ROTATED = [torch.tensor([[5.0, 5, 4, 3, 0.5]]), torch.tensor([[6.0, 5, 4, 5, 1.5]])]
CURVES = [torch.rand(1, 16) * 10, torch.rand(2, 16) * 10]


def numbered(lists):
    return torch.cat([torch.cat([torch.full((len(each), 1), float(i)), each], 1) for i, each in enumerate(lists)])


OF_ROIS = {
    "roi_align": (lambda x, r: mt.roi_align(x, r, (2, 3), 0.5, 2), BOXES),
    "RoIAlign": (lambda x, r: mt.RoIAlign((2, 3), 0.5, 2)(x, r), BOXES),
    "roi_pool": (lambda x, r: mt.roi_pool(x, r, 2, 0.5), BOXES),
    "ps_roi_pool": (lambda x, r: mt.ps_roi_pool(x, r, 2, 0.5), BOXES),
    "prroi_pool": (lambda x, r: mt.prroi_pool(x, r, 2, 0.5), BOXES),
    "deform_roi_pool": (lambda x, r: mt.deform_roi_pool(x, r, None, 2, 0.5), BOXES),
    "DeformRoIPoolPack": (lambda x, r: mt.DeformRoIPoolPack(2, 8, 4)(x, r), BOXES),
    "roi_align_rotated": (lambda x, r: mt.roi_align_rotated(x, r, 2, 0.5, 2), ROTATED),
    "riroi_align_rotated": (lambda x, r: mt.riroi_align_rotated(x, r, 2, 0.5, 2, 4), ROTATED),
    "bezier_align": (lambda x, r: mt.bezier_align(x, r, 2, 0.5, 2), CURVES),
}
every_roi_operator = pytest.mark.parametrize("name", OF_ROIS)


@every_roi_operator
def test_a_list_of_each_image_s_boxes(name):
    call, lists = OF_ROIS[name]
    results = []
    for rois in (numbered(lists), lists, tuple(lists), lists[:1] + [lists[1][:0], ], lists[:1], []):
        torch.manual_seed(0)
        results.append(call(IMAGES, rois))
    assert torch.equal(results[1], results[0]) and torch.equal(results[2], results[0])
    assert torch.equal(results[4], results[3])
    torch.testing.assert_close(results[3], results[0][:1])  # fewer RoIs may take another path
    assert results[5].shape == (0, *results[0].shape[1:])


@every_roi_operator
def test_a_list_of_something_else(name):
    call, lists = OF_ROIS[name]
    argument = "beziers" if name == "bezier_align" else "rois"
    with pytest.raises(mluops.BadParamError, match=f"{argument}: wanted a list of at most 2 tensors, .* got 3"):
        call(IMAGES, [*lists, lists[0]])
    with pytest.raises(mluops.BadParamError, match=rf"{argument}\[1\]: wanted dimension 1 to be {lists[0].shape[1]}"):
        call(IMAGES, [lists[0], numbered(lists[:1])])
    with pytest.raises(TypeError, match=rf"{argument}\[0\]: wanted a torch.Tensor, got list"):
        call(IMAGES, [[1.0, 2.0, 3.0, 4.0]])


def test_gradients_reach_the_boxes_of_a_list():
    images, boxes = IMAGES.clone().requires_grad_(), [each.clone().requires_grad_() for each in BOXES]
    mt.prroi_pool(images, boxes, 2).sum().backward()
    rois = ROIS.clone().requires_grad_()
    mt.prroi_pool(IMAGES, rois, 2).sum().backward()
    assert torch.equal(torch.cat([each.grad for each in boxes]), rois.grad[:, 1:]) and images.grad.any()


def test_roi_align_takes_torchvision_s_sixth_argument():
    for aligned in (False, True):
        wanted = mt.roi_align(IMAGES, ROIS, 2, 0.5, 2, "avg", aligned)
        assert torch.equal(mt.roi_align(IMAGES, BOXES, 2, 0.5, 2, aligned), wanted)
        assert torch.equal(mt.RoIAlign(2, 0.5, 2, aligned)(IMAGES, BOXES), wanted)


def test_batched_nms_takes_torchvision_s_threshold():
    boxes = torch.tensor([[0.0, 0, 4, 4], [0, 0, 4, 4.5], [0, 0, 4, 4.2], [9, 9, 12, 12]])
    scores, groups = torch.tensor([0.5, 0.9, 0.7, 0.6]), torch.tensor([0, 0, 1, 0])
    keep = mt.batched_nms(boxes, scores, groups, 0.5)
    assert keep.dtype == torch.int64 and keep.tolist() == [1, 2, 3]
    assert torch.equal(mt.batched_nms(boxes, scores, idxs=groups, iou_threshold=0.5), keep)
    assert torch.equal(mt.batched_nms(boxes, scores, groups, 0), keep)
    assert mt.batched_nms(boxes, scores, groups, 1.0).tolist() == [1, 2, 3, 0]
    with pytest.raises(TypeError, match="nms_cfg: wanted a dict, None, or .*torchvision.*, got 'nms'"):
        mt.batched_nms(boxes, scores, groups, "nms")
    with pytest.raises(TypeError, match="nms_cfg: wanted a dict, None, or .*, got True"):
        mt.batched_nms(boxes, scores, groups, True)
    dets, indices = mt.batched_nms(boxes, scores, groups, {"type": "nms", "iou_thr": 0.5})  # mmcv's name of before
    assert torch.equal(indices, keep) and torch.equal(dets[:, 4], scores[keep])


def test_deform_conv2d_takes_torchvision_s_order():
    x, weight, bias = torch.rand(1, 2, 6, 7), torch.rand(4, 2, 3, 3), torch.rand(4)
    offset, mask = torch.rand(1, 18, 6, 7), torch.rand(1, 9, 6, 7)
    plain, masked = (mt.torchvision_deform_conv2d(x, offset, weight, bias, 1, 1, 1, each) for each in (None, mask))
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias, 1, 1), plain)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias, padding=1), plain)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias=bias, padding=(1, 1)), plain)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias, (1, 1), (1, 1), (1, 1), mask), masked)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias, padding=1, mask=mask), masked)
    without = mt.deform_conv2d(x, offset, weight, padding=1)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, None, 1, 1), without)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, bias=None, padding=1), without)
    assert torch.equal(mt.deform_conv2d(x, offset, weight, 1, 1, 1, 1, 1, False, 32), without)  # mmcv's
    with pytest.raises(mluops.BadParamError, match="modulated_deform_conv2d"):
        mt.deform_conv2d(x, offset, weight, bias=True)
    assert list(inspect.signature(mt.deform_conv2d).parameters)[3] == "stride"


def test_multi_scale_deformable_attn_takes_mmcv_s_step():
    shapes, starts = torch.tensor([[2, 3], [1, 2]]), torch.tensor([0, 6])
    inputs = torch.rand(1, 8, 2, 4), shapes, starts, torch.rand(1, 5, 2, 2, 3, 2), torch.rand(1, 5, 2, 2, 3)
    wanted = mt.multi_scale_deformable_attn(*inputs)
    assert torch.equal(mt.multi_scale_deformable_attn(*inputs, 64), wanted)
    assert torch.equal(mt.multi_scale_deformable_attn(*inputs, im2col_step=1), wanted)


def test_mmcv_s_names_of_before():
    boxes, scores = torch.tensor([[0.0, 0, 4, 4], [0, 0, 4, 4.5]]), torch.tensor([0.5, 0.9])
    assert mt.nms(boxes, scores, iou_thr=0.5)[1].tolist() == [1]
    assert mt.soft_nms(boxes, scores, iou_thr=0.5)[1].tolist() == mt.soft_nms(boxes, scores, 0.5)[1].tolist()
    wanted = mt.RoIAlign(2, 0.5, 3)(IMAGES, ROIS)
    assert torch.equal(mt.RoIAlign(out_size=2, spatial_scale=0.5, sample_num=3)(IMAGES, ROIS), wanted)


def test_torchvision_s_focal_loss_has_other_targets():
    logits = torch.rand(3, 4)
    with pytest.raises(TypeError, match="target: wanted int32 or int64 .*one class a row.*torchvision.*, got torch.float32"):
        mt.sigmoid_focal_loss(logits, torch.zeros(3, 4), 0.25, 2)


@pytest.mark.parametrize("wrong", [[[2, 3], [2, 2]], [[2, 3], [1, 1]]])
def test_deformable_attention_of_maps_with_other_pixels(wrong):
    def inputs(queries=5):
        return (torch.rand(1, 8, 2, 4), torch.tensor(wrong), torch.tensor([0, 6]), torch.rand(1, queries, 2, 2, 3, 2),
                torch.rand(1, queries, 2, 2, 3))

    text = "value_spatial_shapes: wanted maps of 8 pixels in all, the pixels of value, got"
    with pytest.raises(mluops.BadParamError, match=text):
        mt.multi_scale_deformable_attn(*inputs())
    good = list(inputs())
    good[1] = torch.tensor([[2, 3], [1, 2]])
    mt.multi_scale_deformable_attn(*good)  # a plan of this call does not make the next one right
    with pytest.raises(mluops.BadParamError, match=text):
        mt.multi_scale_deformable_attn(*inputs())
    if hasattr(torch, "compile"):
        compiled = torch.compile(mt.multi_scale_deformable_attn, backend="eager")
        assert torch.equal(compiled(*good), mt.multi_scale_deformable_attn(*good))
        with pytest.raises(mluops.BadParamError, match=text):
            compiled(*inputs())


def test_knn_of_more_than_there_are_is_filled_with_zeros():
    points = torch.rand(1, 3, 3)
    found = mt.knn(5, points)
    assert found.shape == (1, 5, 3) and found[:, 3:].eq(0).all() and found[:, 0].tolist() == [[0, 1, 2]]
