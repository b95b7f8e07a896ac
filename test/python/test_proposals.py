"""generate_proposals, yolo_box and prior_box against plain torch in double."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMIT = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(34)


def close(found, wanted, dtype):
    assert found.dtype == dtype and found.shape == wanted.shape
    return ((found.double() - wanted).abs() <= LIMIT[dtype] * (1 + wanted.abs())).all()


def plain_proposals(scores, deltas, size, anchors, variances, pre, post, thresh, least, offset):
    """Of one image: scores [A, H, W], deltas [4 A, H, W]."""
    a, h, w = scores.shape
    order = scores.permute(1, 2, 0).flatten().sort(descending=True, stable=True)[1][:pre or None]
    moved = deltas.reshape(a, 4, h, w).permute(2, 3, 0, 1).reshape(-1, 4)[order] * variances.reshape(-1, 4)[order]
    box = anchors.reshape(-1, 4)[order]
    sides = box[:, 2:] - box[:, :2] + offset
    centre = box[:, :2] + sides / 2 + moved[:, :2] * sides
    sides = sides * moved[:, 2:].clamp(max=torch.log(torch.tensor(62.5, dtype=torch.float64))).exp()
    most = (size.flip(0) - offset).repeat(2)
    box = torch.cat([centre - sides / 2, centre + sides / 2 - offset], 1).minimum(most).clamp(min=0)
    sides = box[:, 2:] - box[:, :2] + offset
    counts = (sides >= max(least, 1)).all(1) & ((box[:, :2] + sides / 2 <= size.flip(0)).all(1) | (offset == 0))
    kept = []
    for i in counts.nonzero()[:, 0].tolist():
        better = box[kept]
        shared = (better[:, 2:].minimum(box[i, 2:]) - better[:, :2].maximum(box[i, :2]) + offset).clamp(min=0).prod(1)
        if (shared / (sides[kept].prod(1) + sides[i].prod() - shared) <= thresh).all():
            kept.append(i)
    kept = kept[:post]
    if not kept:
        return box.new_zeros(1, 4), box.new_zeros(1, 1)
    return box[kept], scores.permute(1, 2, 0).flatten()[order][kept][:, None]


@every_dtype
@pytest.mark.parametrize("offset, least, pre", [(False, 0.1, 6000), (True, 20.0, 60)])
def test_generate_proposals(offset, least, pre, dtype):
    at = (torch.rand(5, 7, 3, 2) * 90).to(dtype)
    anchors = torch.cat([at, at + (torch.rand(5, 7, 3, 2) * 40).to(dtype)], 3)
    sizes = torch.tensor([[100.0, 80], [60, 100], [0, 0]], dtype=dtype)  # nothing fits into the last
    tensors = [torch.rand(3, 3, 5, 7).to(dtype), (torch.rand(3, 12, 5, 7) - 0.5).to(dtype), sizes, anchors,
               torch.full((5, 7, 3, 4), 0.5, dtype=dtype)]
    rois, probs, num = mt.generate_proposals(*tensors, pre, 20, 0.4, least, pixel_offset=offset)
    scores, deltas, sizes, anchors, variances = (each.double() for each in tensors)
    wanted = [plain_proposals(*each, anchors, variances, pre, 20, 0.4, least, int(offset))
              for each in zip(scores, deltas, sizes)]
    assert num.tolist() == [len(each) for each, _ in wanted] and num[2] == 1 and 1 < num[0] <= 20
    assert close(rois, torch.cat([each for each, _ in wanted]), dtype)
    assert torch.equal(probs.double(), torch.cat([each for _, each in wanted]))
    none = mt.generate_proposals(*(each[:0] for each in tensors[:3]), *tensors[3:])
    assert [tuple(each.shape) for each in none] == [(0, 4), (0, 1), (0,)]


def plain_yolo(x, sizes, anchors, classes, least, down, clip, scale, aware, factor):
    n, _, h, w = x.shape
    s = len(anchors) // 2
    iou, x = (x[:, :s], x[:, s:]) if aware else (None, x)
    x = x.reshape(n, s, 5 + classes, h, w)
    confidence = x[:, :, 4].sigmoid()
    if aware:
        confidence = confidence ** (1 - factor) * iou.sigmoid() ** factor
    cells, pair = torch.tensor([w, h]), torch.tensor(anchors).reshape(1, s, 2, 1, 1)
    size = sizes.flip(1).reshape(n, 1, 2, 1, 1).double()
    place = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(h), indexing="xy"))
    cells = cells.reshape(2, 1, 1)
    centre = (place + x[:, :, :2].sigmoid() * scale - 0.5 * (scale - 1)) * size / cells
    sides = x[:, :, 2:4].exp() * pair * size / (down * cells)
    low, high = centre - sides / 2, centre + sides / 2
    if clip:
        low, high = low.clamp(min=0), high.minimum(size - 1)
    counts = (confidence >= least)[:, :, None]
    boxes = (torch.cat([low, high], 2) * counts).flatten(3).transpose(2, 3).reshape(n, -1, 4)
    scores = (confidence[:, :, None] * x[:, :, 5:].sigmoid() * counts).flatten(3).transpose(2, 3)
    return boxes, scores.reshape(n, -1, classes)


@every_dtype
@pytest.mark.parametrize("clip, scale, aware", [(True, 1.0, False), (False, 1.2, True)])
def test_yolo_box(clip, scale, aware, dtype):
    x, anchors = torch.randn(2, 2 * (11 if aware else 10), 6, 7).to(dtype), [9, 5, 14, 40]
    x[:, [1] if aware else [4]] += 0.7
    sizes = torch.tensor([[320, 200], [50, 333]])
    wanted = plain_yolo(x.double(), sizes, anchors, 5, 0.47, 16, clip, scale, aware, 0.4)
    found = mt.yolo_box(x, sizes, anchors, 5, 0.47, 16, clip, scale, aware, 0.4)
    assert all(close(*each, dtype) for each in zip(found, wanted))
    assert 0 < (wanted[1] == 0).sum() < wanted[1].numel()


@every_dtype
def test_prior_box(dtype):
    image, features = torch.empty(1, 3, 60, 90), torch.empty(1, 8, 2, 3, dtype=dtype)
    boxes, variances = mt.prior_box(features, image.to(dtype), [20.0, 30], [45.0, 80], [2.0, 1], (0.1, 0.1, 0.2, 0.2), True)
    assert boxes.shape == variances.shape == (2, 3, 8, 4)
    wanted = [(s * r ** 0.5, s / r ** 0.5) for s in (20, 30) for r in (1, 2, 0.5)]
    wanted[3:3] = [((20 * 45) ** 0.5,) * 2]
    wanted.append(((30 * 80) ** 0.5,) * 2)
    sides = torch.tensor(wanted, dtype=torch.float64) / torch.tensor([90.0, 60])
    centres = torch.tensor([[[(2 * j + 1) / 6, (2 * i + 1) / 4] for j in range(3)] for i in range(2)], dtype=torch.float64)
    centres = centres[:, :, None]
    assert close(boxes, torch.cat([centres - sides / 2, centres + sides / 2], 3), dtype)
    assert torch.equal(variances, torch.tensor([0.1, 0.1, 0.2, 0.2], dtype=dtype).expand(2, 3, 8, 4))
    clipped, _ = mt.prior_box(features, image.to(dtype), [80.0], clip=True, steps=(10.0, 20.0), offset=0.0)
    assert close(clipped[1, 2, 0], torch.tensor([0, 0, 60 / 90, 1], dtype=torch.float64), dtype)
    ordered, _ = mt.prior_box(features, image.to(dtype), [20.0], [45.0], [2.0], min_max_aspect_ratios_order=True)
    assert torch.equal(ordered[:, :, :2], boxes[:, :, [0, 3]]) and torch.equal(ordered[:, :, 2], boxes[:, :, 1])


def heads():
    anchors = torch.rand(3, 4, 2, 4)
    return [("generate_proposals", (torch.rand(1, 3, 4, 2), torch.rand(1, 3, 4, 8), torch.tensor([[9.0, 9]]), anchors, anchors,
                                    9, 5, 0.5, 0.0, False)),
            ("yolo_box", (torch.rand(1, 12, 3, 4), torch.tensor([[9, 8]], dtype=torch.int32),
                          torch.tensor([3, 4, 5, 6], dtype=torch.int32), 1, 0.1, 8, True, 1.0, False, 0.5)),
            ("prior_box", (torch.ones(9), 2, 3, 0, 2, 3, 9, 9, 1.0, 1.0, 0.5, False,
                           False))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", heads(), ids=[name for name, _ in heads()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


x, five = torch.ones(1, 10, 2, 3), torch.ones(1, 2, 2, 3)
REFUSED = {
    "eta: wanted 1": lambda: mt.generate_proposals(five, torch.ones(1, 8, 2, 3), torch.ones(1, 2), *[torch.ones(
        2, 3, 2, 4)] * 2, eta=0.9),
    "nms_thresh: wanted > 0": lambda: mt.generate_proposals(five, torch.ones(1, 8, 2, 3), torch.ones(1, 2), *[torch.ones(
        2, 3, 2, 4)] * 2, nms_thresh=0),
    "bbox_deltas: wanted dimension 1 to be 8": lambda: mt.generate_proposals(five, five, *[five] * 3),
    "anchors: wanted dimension 2 to be 2": lambda: mt.generate_proposals(five, torch.ones(1, 8, 2, 3), torch.ones(1, 2),
                                                                          torch.ones(2, 3, 3, 4), five),
    "post_nms_top_n: wanted at least 1": lambda: mt.generate_proposals(five, torch.ones(1, 8, 2, 3), torch.ones(1, 2), *[torch.ones(
        2, 3, 2, 4)] * 2, post_nms_top_n=0),
    "x: wanted dimension 1 to be 12": lambda: mt.yolo_box(x, torch.ones(1, 2).long(), [1, 2, 3, 4], 1, 0.1, 8),
    "anchors: wanted pairs": lambda: mt.yolo_box(x, torch.ones(1, 2).long(), [1, 2, 3], 1, 0.1, 8),
    "iou_aware_factor: wanted a number": lambda: mt.yolo_box(x, torch.ones(1, 2).long(), [1, 2], 5, 0.1, 8, iou_aware=True,
                                                             iou_aware_factor=2.0),
    "class_num: wanted at least 1": lambda: mt.yolo_box(x, torch.ones(1, 2).long(), [1, 2], 0, 0.1, 8),
    "max_sizes: wanted as many": lambda: mt.prior_box(x, x, [1.0], [2.0, 3.0]),
    "min_sizes: wanted a size": lambda: mt.prior_box(x, x, []),
    "variance: wanted four numbers": lambda: mt.prior_box(x, x, [1.0], variance=(1.0,)),
    "steps: wanted two numbers": lambda: mt.prior_box(x, x, [1.0], steps=(1.0, -1.0)),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(mluops.BadParamError, match=text):
        REFUSED[text]()
