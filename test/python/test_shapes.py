"""Many shapes in one process: calls made ready and descriptors are kept for some of them, and forgotten for others."""

import os

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops import _context  # noqa: E402
from mluops.torch._smallest import smallest_calls  # noqa: E402
from mluops.torch.op.diff_iou_rotated import sort_vertices  # noqa: E402
from mluops.torch.op.masked_conv2d import col2im, im2col  # noqa: E402

# More shapes than are kept: MLUOPS_TEST_SHAPES=2100 takes minutes; without it the test keeps fewer.
SHAPES = int(os.environ.get("MLUOPS_TEST_SHAPES", 0))


def places(n):
    return torch.stack([torch.zeros(n), *[torch.arange(n) % size for size in (3, 5, 7)]], 1).int()


def pairs(n):
    return mt.get_indice_pairs(places(n), 1, (3, 5, 7), 3, 2, 1)


def convolved(n):
    outputs, of_pairs, num = pairs(n)
    return mt.indice_conv(leaf(n, 2), leaf(3, 3, 3, 2, 3), of_pairs, num, len(outputs))


def pooled(n):
    outputs, of_pairs, num = pairs(n)
    return mt.indice_maxpool(leaf(n, 2), of_pairs, num, len(outputs))


def leaf(*shape):
    return torch.linspace(0.1, 0.9, torch.Size(shape).numel()).reshape(shape).requires_grad_()


def numbers(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def boxes(n, width):
    return leaf(n, width) + torch.arange(n)[:, None] % 3


def stacks(n):
    return torch.tensor([1, n]), torch.tensor([0, n])


ROI = [[0, 1.0, 1, 5, 5]]

# For each operator a call of size n.
CALLS = {
    "assign_score_withk": lambda n: mt.assign_score_withk(leaf(1, 2, 2, 2), leaf(1, n, 2, 3), leaf(1, n, 2, 3),
                                                          numbers(1, 2, 2) % n),
    "ball_query": lambda n: mt.ball_query(0, 0.3, 2, leaf(1, n, 3), leaf(1, 3, 3)),
    "bbox_overlaps": lambda n: mt.bbox_overlaps(boxes(n, 4).detach(), boxes(3, 4).detach()),
    "bezier_align": lambda n: mt.bezier_align(leaf(1, 2, 6, 5 + n), torch.tensor([[0.0] + [1, 2, 3, 4] * 4]), 2, 1.0, 2),
    "border_align": lambda n: mt.border_align(leaf(1, 4, n, 3), leaf(1, 3 * n, 4), 2),
    "box_iou_rotated": lambda n: mt.box_iou_rotated(boxes(n, 5), boxes(3, 5)),
    "boxes_overlap_bev": lambda n: mt.boxes_overlap_bev(boxes(n, 7), boxes(3, 7)),
    "box_iou_quadri": lambda n: mt.box_iou_quadri(boxes(n, 8), boxes(3, 8)),
    "carafe": lambda n: mt.carafe(leaf(1, 2, 2, n), leaf(1, 9, 4, 2 * n), 3, 1, 2),
    "chamfer_distance": lambda n: mt.chamfer_distance(leaf(1, n, 2), leaf(1, 3, 2)),
    "correlation": lambda n: mt.correlation(leaf(1, 2, 4, 3 + n), leaf(1, 2, 4, 3 + n), 3, 2, 1, 1),
    "convex_giou": lambda n: mt.convex_giou(leaf(n, 18), boxes(n, 8)),
    "convex_iou": lambda n: mt.convex_iou(leaf(n, 18), boxes(3, 8)),
    "deform_conv2d": lambda n: mt.deform_conv2d(leaf(1, 2, 3, 2 + n), leaf(1, 18, 3, 2 + n), leaf(3, 2, 3, 3), padding=1),
    "deform_roi_pool": lambda n: mt.deform_roi_pool(leaf(1, 2, 6, 5 + n), torch.tensor(ROI), leaf(1, 2, 2, 2), 2, 1.0, 2),
    "diff_iou_rotated_sort_vertices": lambda n: sort_vertices(leaf(1, n, 24, 2) - 0.5, numbers(1, n, 24) % 3 > 0,
                                                              numbers(1, n).int() % 9),
    "dynamic_scatter": lambda n: mt.dynamic_scatter(leaf(n, 2), numbers(n, 3) % 4, "mean"),
    "dynamic_voxelize": lambda n: mt.voxelization(leaf(n, 3), [0.3] * 3, [0, 0, 0, 1, 1, 1], -1),
    "generate_proposals": lambda n: mt.generate_proposals(
        leaf(1, 2, 3, n).detach(), leaf(1, 8, 3, n).detach(), torch.tensor([[40.0, 50]]), boxes(6 * n, 4).detach().reshape(
            3, n, 2, 4), torch.ones(3, n, 2, 4)),
    "furthest_point_sample": lambda n: mt.furthest_point_sample(leaf(1, n, 3), 2),
    "furthest_point_sample_with_dist": lambda n: mt.furthest_point_sample_with_dist(leaf(n, 2, 2), 2),
    "gather_points": lambda n: mt.gather_points(leaf(1, 2, n), numbers(1, 3) % n),
    "get_indice_pairs": pairs,
    "grouping_operation": lambda n: mt.grouping_operation(leaf(1, 2, n), numbers(1, 2, 2) % n),
    "indice_conv": convolved,
    "indice_maxpool": pooled,
    "knn": lambda n: mt.knn(2, leaf(1, n, 3)),
    "multi_scale_deformable_attn": lambda n: mt.multi_scale_deformable_attn(
        leaf(1, 2 * n, 1, 2), torch.tensor([[2, n]]), torch.tensor([0]), leaf(1, 2, 1, 1, 1, 2), leaf(1, 2, 1, 1, 1)),
    "masked_col2im": lambda n: col2im(leaf(2, n), numbers(n).int(), numbers(n).int(), n, 3),
    "masked_im2col": lambda n: im2col(leaf(1, 2, 4, 3), numbers(n).int(), numbers(n).int(), 2, 3, 1, 0),
    "min_area_polygons": lambda n: mt.min_area_polygons(leaf(n, 18)),
    "moe_dispatch": lambda n: mt.moe_dispatch(leaf(n), numbers(n) % 2, numbers(n) // 2, leaf(n, 3), 2, n),
    "mutual_information": lambda n: mt.mutual_information(leaf(2, 3, n + 1), leaf(2, 4, n)),
    "nms": lambda n: mt.nms(boxes(n, 4), leaf(n), 0.5),
    "nms3d": lambda n: mt.nms3d(boxes(n, 7), leaf(n), 0.1),
    "nms_rotated": lambda n: mt.nms_rotated(boxes(n, 5), leaf(n), 0.1),
    "nms_match": lambda n: mt.nms_match(boxes(n, 5), 0.5),
    "points_in_boxes_all": lambda n: mt.points_in_boxes_all(leaf(1, n, 3), boxes(2, 7)[None]),
    "points_in_boxes_part": lambda n: mt.points_in_boxes_part(leaf(1, n, 3), boxes(2, 7)[None]),
    "points_in_polygons": lambda n: mt.points_in_polygons(leaf(n, 2), boxes(3, 8)),
    "poly_nms": lambda n: mt.poly_nms(leaf(n, 9).detach(), 0.1),
    "ps_roi_pool": lambda n: mt.ps_roi_pool(leaf(1, 8, 6, 5 + n), torch.tensor(ROI), 2),
    "prior_box": lambda n: mt.prior_box(torch.ones(1, 1, 3, n), torch.ones(1, 1, 30, 40), [4.0]),
    "prroi_pool": lambda n: mt.prroi_pool(leaf(1, 2, 6, 5 + n), torch.tensor(ROI), 2),
    "psa_mask": lambda n: mt.psa_mask(leaf(n, 9, 2, 1), "collect", 3),
    "rotated_iou": lambda n: mt.diff_iou_rotated_2d(boxes(n, 5)[None], boxes(n, 5)[None] + 0.05),
    "roi_align": lambda n: mt.roi_align(leaf(1, 2, 6, 5 + n), torch.tensor(ROI), 2, 1.0, 2),
    "roi_align_rotated": lambda n: mt.roi_align_rotated(leaf(1, 2, 6, 5 + n), torch.tensor([[*ROI[0], 0.5]]), 2, 1.0, 2),
    "roi_crop": lambda n: mt.roi_crop(leaf(1, 2, 6, 5), leaf(n, 2, 3, 2).detach()),
    "roi_pool": lambda n: mt.roi_pool(leaf(1, 2, 6, 5 + n), torch.tensor(ROI), 2, 1.0),
    "roiaware_pool3d": lambda n: mt.RoIAwarePool3d(2, 4)(boxes(2, 7), leaf(n, 3), leaf(n, 2)),
    "roipoint_pool3d": lambda n: mt.RoIPointPool3d(2)(leaf(1, n, 3), leaf(1, n, 2), boxes(2, 7)[None]),
    "rotated_feature_align": lambda n: mt.rotated_feature_align(leaf(1, 2, 6, n), boxes(6 * n, 5).reshape(1, 6, n, 5)),
    "sigmoid_focal_loss": lambda n: mt.sigmoid_focal_loss(leaf(n, 2), numbers(n) % 3, reduction="none"),
    "soft_nms": lambda n: mt.soft_nms(boxes(n, 4), leaf(n)),
    "softmax_focal_loss": lambda n: mt.softmax_focal_loss(leaf(n, 2), numbers(n) % 2, reduction="none"),
    "stack_ball_query": lambda n: mt.ball_query(0, 0.3, 2, leaf(n + 1, 3), leaf(n, 3), *stacks(n)),
    "stack_group_points": lambda n: mt.grouping_operation(leaf(n + 1, 2), numbers(n, 2) % (n + 1), *stacks(n)),
    "stack_three_nn": lambda n: mt.three_nn(leaf(n, 3), leaf(n + 1, 3), *stacks(n)[::-1]),
    "three_interpolate": lambda n: mt.three_interpolate(leaf(1, 2, n), numbers(1, 2, 3) % n, leaf(1, 2, 3)),
    "three_nn": lambda n: mt.three_nn(leaf(1, 2, 3), leaf(1, n, 3)),
    "tin_shift": lambda n: mt.tin_shift(leaf(1, 3, 2, n), torch.tensor([[1, -1]])),
    "upfirdn2d": lambda n: mt.upfirdn2d(leaf(1, 2, 3, n), leaf(2, 2).detach(), 2, 1, 1),
    "voxel_pooling": lambda n: mt.voxel_pooling(numbers(1, n, 3), leaf(1, n, 2), (3, 3, 3)),
    "yolo_box": lambda n: mt.yolo_box(leaf(1, 12, 2, n).detach(), torch.tensor([[40, 50]]), [3, 4, 5, 6], 1, 0.1, 8),
    "voxelization": lambda n: mt.voxelization(leaf(n, 3), [0.3] * 3, [0, 0, 0, 1, 1, 1], 2, 9),
}


def leaves(tensor):
    """The leaves a result hangs on."""
    found, seen, open_ = {}, set(), [tensor.grad_fn]
    while open_:
        node = open_.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        open_ += [after for after, _ in node.next_functions]
    return list(found.values())


def results(call, n):
    """What a call of size n gives, gradients too."""
    outputs = call(n)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    for output in list(outputs):
        if output.requires_grad:
            of = leaves(output)
            assert of
            outputs += torch.autograd.grad(output.square().sum(), of, retain_graph=True, allow_unused=True)
    return [None if output is None else output.detach() for output in outputs]


def fresh(call, n):
    _context.torch_door.forget()
    return results(call, n)


def test_every_operator_has_a_call():
    public = {"dynamic_point_to_voxel": "dynamic_scatter", "group_points": "grouping_operation",
              "hard_voxelize": "voxelization"}
    assert CALLS.keys() == {public.get(name, name) for name in smallest_calls()}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_a_fresh_context(name, monkeypatch):
    sizes = list(range(1, 9)) * 2
    if SHAPES:
        sizes = list(range(1, SHAPES)) + [3, 700, SHAPES - 1]
    else:
        monkeypatch.setattr(_context, "_MOST_KEPT", 2)
    torch.use_deterministic_algorithms(True)  # bitwise equal
    try:
        found = [(n, results(CALLS[name], n)) for n in sizes]
        found = found[::13] + found[-3:] if SHAPES else found
        wanted = {n: fresh(CALLS[name], n) for n, _ in found}
    finally:
        torch.use_deterministic_algorithms(False)
    for n, ours in found:
        assert len(ours) == len(wanted[n])
        for a, b in zip(ours, wanted[n]):
            assert (a is None and b is None) or torch.equal(a, b), n


def test_pairs_of_many_frames():
    for n in range(1, 1500):
        at = torch.zeros(n, 4, dtype=torch.int32)
        at[:, 1] = torch.arange(n)
        outputs, _, num = mt.get_indice_pairs(at, 1, [1500, 1, 1], 3, 2, 1)
        assert len(outputs) == n // 2 + 1 and num.sum() > 0, n


def test_what_is_forgotten_is_freed_and_what_is_in_use_is_not(monkeypatch):
    monkeypatch.setattr(_context, "_MOST_KEPT", 4)
    destroyed = []
    monkeypatch.setattr(_context.Descriptor, "__del__", lambda desc, real=_context.Descriptor.__del__: (
        destroyed.append(desc.value), real(desc)))
    context = _context.Context()
    held = context.tensor_desc(_context.ARRAY, _context.FLOAT, (99,))
    for n in range(1, 40):
        context.tensor_desc(_context.ARRAY, _context.FLOAT, (n,))
    assert held.value not in destroyed and 39 - 2 * 4 <= len(destroyed) < 39
    address = held.value
    del held
    assert address in destroyed


def test_numpy_s_door(monkeypatch):
    np = pytest.importorskip("numpy")
    monkeypatch.setattr(_context, "_MOST_KEPT", 2)
    for n in list(range(1, 9)) * 2:
        x, m = np.ones((1, 2, n, 2), np.float32), np.full((1, 4, 2 * n, 9), 1 / 9, np.float32)
        assert mluops.carafe(x, m, 3, 1, 2).shape == (1, 4, 2 * n, 2)
        np.testing.assert_allclose(mluops.carafe(x, m, 3, 1, 2)[0, 0, 0], 2 * min(n, 2) / 9, rtol=1e-6)
