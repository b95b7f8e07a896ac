"""torch.onnx.export of what boxes are kept: any number of them, plain and turned, of classes; run by onnxruntime."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from onnx_sessions import (  # noqa: E402
    close, composed, learning_sizes, node, nodes_of, plain_boxes, plain_session, reasons, results,
    session_of, turned_boxes)


def test_sizes_that_are_learnt_when_the_graph_runs():
    """Boxes and scores of any number, of which nms keeps any number."""
    class Keep(torch.nn.Module):
        def forward(self, boxes, scores):
            dets, kept = mt.nms(boxes, scores, 0.4, score_threshold=0.1)
            return dets * 2, kept

    def data(n):
        corner = torch.rand(n, 2) * 10
        return torch.cat([corner, corner + 4], 1), torch.rand(n)

    torch.manual_seed(0)
    program = learning_sizes(Keep(), data(20))
    assert "mluops::nms" in nodes_of(program)
    session = session_of(program.model_proto)
    for n in (20, 3, 200):
        inputs = data(n)
        for found, wanted in zip(results(session, inputs), Keep()(*inputs)):
            assert torch.equal(found, wanted)


def test_turned_boxes_that_are_kept():
    """Any number of any number, as mluops.torch.onnx exports them."""
    class Keep(torch.nn.Module):
        def forward(self, boxes, scores):
            return mt.nms_rotated(boxes, scores, 0.3)

    torch.manual_seed(0)
    program = learning_sizes(Keep(), (turned_boxes(20), torch.rand(20)))
    assert "mluops::nms_rotated" in nodes_of(program)
    session = session_of(program.model_proto)
    for n in (20, 3, 200):
        inputs = turned_boxes(n), torch.rand(n)
        for found, wanted in zip(results(session, inputs), Keep()(*inputs)):
            assert torch.equal(found, wanted)


@pytest.mark.parametrize("kind", ["nms", "nms_rotated"])
def test_boxes_of_groups_that_are_kept(kind):
    """Any labels, boxes that are not finite."""
    class Keep(torch.nn.Module):
        def forward(self, boxes, scores, labels):
            return mt.batched_nms(boxes, scores, labels, {"type": kind, "iou_threshold": 0.3})[1]

    def data(n, odd=False):
        boxes = turned_boxes(n)
        if kind == "nms":
            boxes = torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:4]], 1)
        if odd:
            boxes[n // 2, 0] = float("inf")
        return boxes, torch.randint(0, 9, (n,)) / 9, torch.randint(-3, 3, (n,)) * (1 << 60)

    torch.manual_seed(0)
    program = learning_sizes(Keep(), data(20))
    session = session_of(program.model_proto)
    for n, odd in ((20, False), (3, False), (200, True)):
        inputs = data(n, odd)
        assert torch.equal(results(session, inputs)[0], Keep()(*inputs))


class Soft(torch.nn.Module):
    def __init__(self, **config):
        super().__init__()
        self.config = config

    def forward(self, boxes, scores, labels=None):
        if labels is not None:
            return mt.batched_nms(boxes, scores, labels, {"type": "soft_nms", **self.config})
        return mt.soft_nms(boxes, scores, **self.config)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("config", [dict(method="naive", offset=1), dict(iou_threshold=0.1, min_score=0.2),
                                    dict(method="gaussian", sigma=0.3)], ids=lambda config: config.get("method", "linear"))
def test_boxes_whose_scores_fall(config, labels):
    def data(n):
        return (plain_boxes(n), torch.rand(n)) + ((torch.randint(-3, 3, (n,)) * (1 << 60),) if labels else ())

    torch.manual_seed(0)
    module = Soft(**config)
    program = learning_sizes(module, data(20))
    assert "mluops::soft_nms" in nodes_of(program)
    session = session_of(program.model_proto)
    for n in (20, 3, 200):
        inputs = data(n)
        found, wanted = results(session, inputs), module(*inputs)
        assert 0 < len(wanted[1]) and torch.equal(found[1], wanted[1]) and close(found, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_soft_nms_as_mmcv_writes_it(dtype):
    torch.manual_seed(0)
    boxes, scores = plain_boxes(60).to(dtype), torch.rand(60).to(dtype)
    kind = {torch.float32: "FLOAT", torch.float64: "DOUBLE", torch.float16: "FLOAT16"}[dtype]
    session = node("SoftNonMaxSuppression", dict(b=kind, s=kind), ("d", "i"), "mmcv", (kind, "INT64"),
                   iou_threshold=0.3, sigma=0.25, min_score=0.125, method=2, offset=1)
    wanted = mt.soft_nms(boxes, scores, 0.3, 0.25, 0.125, "gaussian", 1)
    found = results(session, (boxes, scores))
    assert 5 < len(wanted[1]) < 60 and all(torch.equal(a, b) for a, b in zip(found, wanted))
    dets, indices = results(session, (boxes[:0], scores[:0]))
    assert dets.shape == (0, 5) and indices.shape == (0,)
    with pytest.raises(Exception, match="mluOpExtSoftNms.*method"):
        results(node("SoftNonMaxSuppression", dict(b=kind, s=kind), ("d", "i"), "mmcv", (kind, "INT64"), method=3),
                (boxes, scores))


def test_naive_groups_that_would_see_each_other_are_refused():
    with pytest.raises(Exception) as raised:
        learning_sizes(Soft(method="naive", iou_threshold=0.0), (plain_boxes(9), torch.rand(9), torch.arange(9)))
    assert "iou_threshold <= 0 has no ONNX form" in reasons(raised.value)


@pytest.mark.parametrize("config", [dict(), dict(offset=1), dict(score_threshold=0.3), dict(max_num=4)], ids=str)
def test_nms_as_a_standard_operator(config):
    class Keep(torch.nn.Module):
        def forward(self, boxes, scores):
            return mt.nms(boxes, scores, 0.4, **config)

    torch.manual_seed(0)
    table = composed().standard_nms()
    session = plain_session(learning_sizes(Keep(), (plain_boxes(20), torch.rand(20)), custom_translation_table=table))
    for n in (20, 3, 200):
        inputs = plain_boxes(n), (torch.rand(n) * 8).round() / 8  # equal scores: the lowest index is first
        found, wanted = results(session, inputs), Keep()(*inputs)
        assert torch.equal(found[1], wanted[1]) and torch.equal(found[0], wanted[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_turned_boxes_of_images_and_classes(dtype):
    """mmdeploy's node: rows of image, class and box."""
    torch.manual_seed(0)
    boxes, scores = turned_boxes(2, 30).to(dtype), torch.rand(2, 3, 30).to(dtype)
    kind = {torch.float32: "FLOAT", torch.float64: "DOUBLE", torch.float16: "FLOAT16"}[dtype]
    session = node("NMSRotated", dict(b=kind, s=kind), kinds=("INT64",), iou_threshold=0.3, score_threshold=0.4)
    rows = []
    for image in range(2):
        for label in range(3):
            kept = mt.nms_rotated(boxes[image], scores[image, label], 0.3)[1]
            rows += [(image, label, int(box)) for box in kept if float(scores[image, label, box]) > 0.4]
    assert 20 < len(rows) < 180
    assert results(session, (boxes, scores))[0].tolist() == [list(row) for row in rows]
    assert results(session, (boxes[:, :0], scores[:, :, :0]))[0].shape == (0, 3)
    with pytest.raises(Exception, match=r"scores: wanted \[2, classes, 30\].*got \[2, 3, 29\]"):
        results(session, (boxes, scores[:, :, :29]))


def test_no_boxes_of_any_number_of_classes():
    session = node("NMSRotated", dict(b="FLOAT", s="FLOAT"), kinds=("INT64",), iou_threshold=0.3)
    for classes in (0, 1, 10 ** 12):
        assert results(session, (torch.zeros(2, 0, 5), torch.zeros(2, classes, 0)))[0].shape == (0, 3)
