"""Whole detectors that torch.onnx.export writes and plain onnxruntime runs: of two stages, of levels, torchvision's."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from onnx_sessions import close, composed, named, plain_boxes, plain_session, results, session_of  # noqa: E402

for _package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(_package)


class TwoStages(torch.nn.Module):
    """What Faster R-CNN is made of: proposals by nms, roi_align, classes, nms of each class."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3, 2, 1))
        self.objectness, self.deltas = torch.nn.Conv2d(16, 3, 1), torch.nn.Conv2d(16, 12, 1)
        self.head = torch.nn.Linear(16 * 9, 4 + 16)
        sizes = torch.tensor([8.0, 16.0, 32.0])
        self.register_buffer("anchors", torch.stack([-sizes, -sizes, sizes, sizes], 1) / 2)

    @staticmethod
    def moved(boxes, deltas):
        centre, size = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
        centre, size = centre + deltas[..., :2] * size, size * deltas[..., 2:].clamp(-1, 1).exp()
        return torch.cat([centre - size / 2, centre + size / 2], -1)

    def forward(self, image):
        features = self.body(image)
        height, width = features.shape[2:]
        y, x = torch.meshgrid(torch.arange(height) * 4.0, torch.arange(width) * 4.0, indexing="ij")
        anchors = (torch.stack([x, y, x, y], 2)[:, :, None] + self.anchors).reshape(-1, 4)
        scores = self.objectness(features)[0].permute(1, 2, 0).flatten().sigmoid()
        boxes = self.moved(anchors, self.deltas(features)[0].permute(1, 2, 0).reshape(-1, 4))
        best, order = scores.topk(100)
        proposals = mt.nms(boxes[order], best, 0.7, max_num=40)[0][:, :4]
        pooled = mt.roi_align(features, torch.cat([torch.zeros_like(proposals[:, :1]), proposals], 1), 3, 0.25, 2)
        answers = self.head(pooled.flatten(1))
        classes = answers[:, :4].softmax(1)
        boxes = self.moved(proposals[:, None], answers[:, 4:].reshape(-1, 4, 4)).reshape(-1, 4)
        labels = torch.arange(4).expand(len(proposals), 4).reshape(-1)
        dets, kept = mt.batched_nms(boxes, classes.reshape(-1), labels, {"type": "nms", "iou_threshold": 0.5})
        return dets, labels[kept]


@pytest.mark.parametrize("standard", [False, True])
def test_a_detector_of_two_stages_exports_whole(standard):
    named()
    torch.manual_seed(0)
    net, images = TwoStages().eval(), (torch.randn(1, 3, 64, 80),)
    options = dict(custom_translation_table=composed().standard_nms()) if standard else {}
    program = torch.onnx.export(net, images, dynamo=True, verbose=False, **options)
    session = (plain_session if standard else lambda of: session_of(of.model_proto))(program)
    with torch.no_grad():
        for image in (images[0], torch.randn(1, 3, 64, 80)):
            found, wanted = results(session, (image,)), net(image)
            assert len(wanted[1]) > 20 and torch.equal(found[1], wanted[1]) and found[0].shape == wanted[0].shape
            apart = (found[0] - wanted[0]).abs()
            assert apart[:, 4].max() <= 1e-5 and apart[:, :4].max() <= 1e-5 * image.shape[3]


class Levels(torch.nn.Module):
    """Boxes that nms keeps, pooled from two maps and moved, as torchvision's detectors do it."""

    def __init__(self):
        super().__init__()
        from mluops.dropin.module import torchvision as door

        class Plain:
            def decode_single(self, codes, boxes):
                return codes + boxes.repeat(1, codes.shape[1] // 4)

        self.pool, self.coder = door._multiscale_roi_align, door._box_coder(Plain)()
        self.least = door._topk_min(lambda input, most, axis: min(most, input.shape[axis]))
        self.moves = torch.nn.Linear(4 * 9, 8)

    def forward(self, fine, coarse, boxes, scores):
        kept = mt.nms(boxes, scores, 0.5)[1]
        best = scores[kept].topk(self.least(kept, 12, 0))[1]
        proposals = [boxes[kept[best]]]
        pooled = self.pool([fine, coarse], proposals, (3, 3), 2, [1.0, 0.5], lambda boxes: (boxes[0][:, 2] > 16).long())
        return self.coder.decode(self.moves(pooled.flatten(1)), proposals)


def test_levels_of_a_detector_export():
    torch.manual_seed(0)
    named()
    net, maps = Levels().eval(), (torch.randn(1, 4, 32, 32), torch.randn(1, 4, 16, 16))
    program = torch.onnx.export(net, (*maps, plain_boxes(30), torch.rand(30)), dynamo=True, verbose=False,
                                custom_translation_table=composed().standard_nms())
    session = plain_session(program)
    with torch.no_grad():
        for boxes in (plain_boxes(30), plain_boxes(1).expand(30, 4).contiguous()):  # as many as wanted; one
            inputs = (*maps, boxes, torch.rand(30))
            found, wanted = results(session, inputs)[0], net(*inputs)
            assert wanted.shape[0] in (1, 12) and wanted.shape[1:] == (2, 4) and close([found], [wanted])


def torchvision_detectors():
    try:
        import torchvision.models.detection
    except (ImportError, RuntimeError) as error:  # the latter: compiled for another torch
        pytest.skip(f"torchvision: {error}")
    return torchvision.models.detection


@pytest.mark.parametrize("name", ["fasterrcnn_mobilenet_v3_large_320_fpn", "retinanet_resnet50_fpn"])
def test_detectors_of_torchvision_export_whole(name):
    """Detections in any order: a model of random weights gives many boxes nearly one score."""
    import mluops.dropin
    detection = torchvision_detectors()
    named()
    options = (dict(rpn_post_nms_top_n_test=50, box_score_thresh=0.01) if name.startswith("faster") else
               dict(score_thresh=0.0, topk_candidates=50))
    mluops.dropin.install("torchvision")
    try:
        torch.manual_seed(0)
        model = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=128, **options)

        class Whole(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model.eval()

            def forward(self, image):
                found = self.model([image])[0]
                return found["boxes"], found["scores"], found["labels"]

        net, image = Whole().eval(), torch.rand(3, 96, 128)
        with torch.no_grad():
            session = plain_session(torch.onnx.export(net, (image,), dynamo=True, verbose=False,
                                                      custom_translation_table=composed().standard_nms()))
            for image in (image, torch.rand(3, 96, 128)):
                found, wanted = results(session, (image,)), net(image)
                assert len(wanted[0]) > 20 and torch.allclose(found[1], wanted[1], atol=1e-5)
                rows, right = (torch.cat([boxes / 128, labels[:, None].float()], 1) for boxes, _, labels in (found, wanted))
                assert torch.cdist(rows, right, p=float("inf")).amin(1).max() <= 1e-5
    finally:
        mluops.dropin.uninstall()
