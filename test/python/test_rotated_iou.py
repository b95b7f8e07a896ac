"""IoU of rotated boxes: worked examples, shapely, and a composition of torch operators with its gradient."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from mluops.torch.op.diff_iou_rotated import shared_area  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
LIMITS = {torch.float64: 1e-12, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 2e-1}


# ---- the composition


class Rectangles:
    """Rectangles x, y, w, h, angle, [..., 5]; of a size below 0 its amount counts."""

    def __init__(self, box):
        box = box.double()
        self.center, self.half, angle = box[..., :2], box[..., 2:4].abs() / 2, box[..., 4]
        self.sign = box[..., 2:4].sign()
        along = torch.stack([angle.cos(), angle.sin()], -1)
        across = torch.stack([-along[..., 1], along[..., 0]], -1)
        self.axes = torch.stack([along, across], -2)  # [..., 2, 2], an axis in a row
        self.signs = box.new_tensor([[1, 1], [-1, 1], [-1, -1], [1, -1]])  # of the corners, counterclockwise
        self.corners = self.center.unsqueeze(-2) + (self.signs * self.half.unsqueeze(-2)) @ self.axes

    def frame(self, points):
        """Points [..., 4, 2] along the own axes, from the centre."""
        return (points - self.center.unsqueeze(-2)) @ self.axes.transpose(-1, -2)

    def gradient(self, of_corners):
        """That of x, y, w, h, angle, given that of the corners."""
        own = of_corners @ self.axes.transpose(-1, -2)
        sizes = (own * self.signs).sum(-2) / 2 * self.sign
        arms = self.corners - self.center.unsqueeze(-2)
        angle = (arms[..., 0] * of_corners[..., 1] - arms[..., 1] * of_corners[..., 0]).sum(-1, keepdim=True)
        return torch.cat([of_corners.sum(-2), sizes, angle], -1)


def moved_corners(first, second):
    """The derivative of the shared area by the corners of the first rectangle, [..., 4, 2]: the parts of its sides that
    are inside of the second one move the area's border. A side on one of the second counts half: that is the mean of
    both directions."""
    begin = second.frame(first.corners)
    limit = second.half.unsqueeze(-2)
    inside = torch.cat([limit - begin, limit + begin], -1)  # distances from the sides of the second
    after = inside.roll(-1, -2)
    size = (limit.abs() + begin.abs()).amax((-1, -2), keepdim=True)
    along = torch.max(inside.abs(), after.abs()) <= 64 * torch.finfo(torch.float64).eps * size
    crossing = inside / torch.where(inside == after, torch.ones_like(inside), inside - after)
    zero, one = torch.zeros_like(inside), torch.ones_like(inside)
    low = torch.where((inside < 0) & ~along, torch.where(after < 0, one, crossing), zero).amax(-1)
    high = torch.where((after < 0) & ~along, torch.where(inside < 0, zero, crossing), one).amin(-1)
    high = torch.max(low, high)
    share = 0.5 ** along.any(-1).double()
    side = first.corners.roll(-1, -2) - first.corners
    outwards = torch.stack([side[..., 1], -side[..., 0]], -1)
    to_end = share * (high ** 2 - low ** 2) / 2
    to_begin = share * (high - low) - to_end
    return outwards * to_begin.unsqueeze(-1) + (outwards * to_end.unsqueeze(-1)).roll(1, -2)


class Overlap(torch.autograd.Function):
    """The area that rectangles share, in double, out of box_iou_rotated."""

    @staticmethod
    def forward(ctx, box1, box2):
        ctx.save_for_backward(box1, box2)
        sizes = torch.stack([box1, box2])[..., 2:4].abs()
        flat = [torch.cat([box[..., :2], box[..., 2:4].abs(), box[..., 4:]], -1).reshape(-1, 5) for box in (box1, box2)]
        ratio = mt.box_iou_rotated(*flat, aligned=True).reshape(box1.shape[:-1])
        return ratio / (1 + ratio) * sizes.prod(-1).sum(0)

    @staticmethod
    def backward(ctx, grad):
        one, two = (Rectangles(box) for box in ctx.saved_tensors)
        return tuple(own.gradient(moved_corners(own, other)) * grad.unsqueeze(-1)
                     for own, other in ((one, two), (two, one)))


def composed(box1, box2):
    """diff_iou_rotated_2d or 3d, in double."""
    boxes = [box.double() for box in (box1, box2)]
    if boxes[0].shape[-1] == 5:
        boxes = [torch.cat([box[..., :2], torch.zeros_like(box[..., :1]), box[..., 2:4], torch.ones_like(box[..., :1]),
                            box[..., 4:]], -1) for box in boxes]
    tops, bottoms = ([box[..., 2] + sign * box[..., 5] * 0.5 for box in boxes] for sign in (1, -1))
    height = (torch.min(*tops) - torch.max(*bottoms)).clamp(min=0)
    flat = (torch.cat([box[..., :2], box[..., 3:5], box[..., 6:]], -1) for box in boxes)
    common = Overlap.apply(*flat) * height
    return common / (sum(box[..., 3:6].prod(-1) for box in boxes) - common)


@every_dtype
@pytest.mark.parametrize("numbers", [5, 7])
def test_against_the_composition(numbers, dtype):
    boxes = [box.requires_grad_() for box in random_boxes(numbers, dtype)]
    function = mt.diff_iou_rotated_2d if numbers == 5 else mt.diff_iou_rotated_3d
    found, wanted = function(*boxes), composed(*boxes)
    limit = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    assert found.dtype == dtype and torch.allclose(found.double(), wanted, rtol=0, atol=limit)
    grad = torch.rand(found.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    for ours, theirs in zip(torch.autograd.grad(found, boxes, grad), torch.autograd.grad(wanted, boxes, grad.double())):
        assert ours.dtype == dtype and (ours.double() - theirs.double()).abs().max() <= limit * theirs.abs().max()


# ---- examples


def random_boxes(numbers, dtype=torch.float32):
    generator = torch.Generator().manual_seed(numbers)
    return [torch.rand(2, 20, numbers, generator=generator).add(0.3).to(dtype) for _ in range(2)]


def test_iou_of_rectangles():
    known = torch.tensor([[[0, 0, 2, 2, 0.0], [0, 0, 1, 1, 0.5], [0, 0, 2, 2, 0.0], [5, 5, 1, 1, 0.3]]])
    other = torch.tensor([[[1, 1, 2, 2, 0.0], [0, 0, 1, 1, 0.5], [0, 0, 2, 2, torch.pi / 4], [0, 0, 1, 1, 0.1]]])
    octagon = 8 * (2 ** 0.5 - 1)
    wanted = torch.tensor([[1 / 7, 1, octagon / (8 - octagon), 0]])
    assert torch.allclose(mt.diff_iou_rotated_2d(known, other), wanted, atol=1e-5)
    boxes = [torch.cat([box[..., :2], box.new_zeros(1, 4, 1), box[..., 2:4], box.new_ones(1, 4, 1), box[..., 4:]], -1)
             for box in (known, other)]
    assert torch.allclose(mt.diff_iou_rotated_3d(*boxes), wanted, atol=1e-5)
    with pytest.raises(mluops.BadParamError, match="box2: wanted dimension 1 to be 4"):
        mt.diff_iou_rotated_2d(known, other[:, :3])


def on_each_other(dtype=torch.float64):
    """Pairs of rectangles whose sides lie on each other: the same, the same rotated, axis-aligned ones, one that touches,
    and one inside a corner; with what they share."""
    pi = torch.pi
    pairs = [((1, 2, 3, 2, 0.3), (1, 2, 3, 2, 0.3), 6), ((1, 2, 3, 2, 0.3), (1, 2, 3, 2, 0.3 + pi), 6),
             ((1, 2, 3, 2, 0.3), (1, 2, 2, 3, 0.3 + pi / 2), 6), ((0, 0, 2, 2, 0), (0, 0, 2, 4, 0), 4),
             ((0, 0, 2, 2, 0), (1, 0, 2, 2, pi), 2), ((0, 0, 2, 2, 0), (2, 0, 2, 2, 0), 0),
             ((0, 0, 4, 4, 0), (1, 1, 2, 2, 0), 4), ((0, 0, 2, 2, 0), (5, 0, 1, 1, 0), 0), ((0, 0, 0, 2, 0), (0, 0, 2, 2, 1), 0),
             ((0, 0, -2, 2, 0), (0.5, 0, 2, -2, 0), 3)]
    return [torch.tensor([[pair[i] for pair in pairs]], dtype=dtype) for i in range(2)], [pair[2] for pair in pairs]


@every_dtype
def test_rectangles_on_each_other(dtype):
    boxes, wanted = on_each_other(dtype)
    area = shared_area(*boxes)
    assert area.dtype == dtype and torch.allclose(area, torch.tensor([wanted], dtype=dtype), rtol=LIMITS[dtype], atol=0.05
                                                  if dtype in (torch.float16, torch.bfloat16) else 1e-5)
    assert torch.equal(mt.diff_iou_rotated_2d(boxes[0][:, 8:9], boxes[0][:, 8:9]), torch.zeros(1, 1, dtype=dtype))


def test_gradients_of_rectangles_on_each_other():
    """Where both directions differ, the mean: what central differences see."""
    boxes, _ = on_each_other()
    boxes = [box[:, :8].clone().requires_grad_() for box in boxes]  # the last two have a size at or below 0
    gradients = torch.autograd.grad(shared_area(*boxes).sum(), boxes)
    for i, gradient in enumerate(gradients):
        for k in range(5):
            step = torch.zeros(5, dtype=torch.float64)
            step[k] = 1e-5
            with torch.no_grad():
                high, low = (shared_area(*[box + sign * step * (j == i) for j, box in enumerate(boxes)]) for sign in (1, -1))
            slope = (high - low) / 2e-5
            assert gradient.isfinite().all() and torch.allclose(gradient[..., k], slope, atol=2e-5), (i, k)


def test_rectangles_against_shapely():
    geometry = pytest.importorskip("shapely.geometry", reason="shapely is not installed")
    generator = torch.Generator().manual_seed(9)
    for exact in (False, True):  # any, or axis-aligned on a grid
        boxes = torch.rand(2, 1000, 5, generator=generator, dtype=torch.float64).mul(4).add(0.1)
        if exact:
            boxes = boxes.ceil()
            boxes[..., 4] *= torch.pi / 2
        corners = [Rectangles(each).corners.tolist() for each in boxes]
        wanted = [geometry.Polygon(a).intersection(geometry.Polygon(b)).area for a, b in zip(*corners)]
        assert (shared_area(*boxes) - torch.tensor(wanted, dtype=torch.float64)).abs().max() < 1e-12


def test_gradient_of_boxes_iou3d():
    a = torch.rand(4, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64).add(0.3).requires_grad_()
    b = torch.rand(3, 7, generator=torch.Generator().manual_seed(4), dtype=torch.float64).add(0.3).requires_grad_()
    assert torch.equal(mt.boxes_iou3d(a, b), mt.boxes_iou3d(a.detach(), b.detach()))
    gradients = torch.autograd.grad(mt.boxes_iou3d(a, b).square().sum(), (a, b))

    def exact(a, b):  # the area of boxes_iou3d counts 0.01 beyond the sides
        pairs = [each.expand(4, 3, 7).reshape(1, 12, 7) for each in (a[:, None], b[None])]
        return mt.diff_iou_rotated_3d(*pairs).square().sum()

    for ours, theirs in zip(gradients, torch.autograd.grad(exact(a, b), (a, b))):
        assert ours[:, [0, 1, 3, 4, 6]].any(0).all() and torch.allclose(ours, theirs, atol=0.1)
    assert torch.autograd.gradcheck(lambda *boxes: shared_area(*boxes), [each[:3, :5] for each in (a, b)],
                                    check_forward_ad=_operator.HAS_LIBRARY_API)


def test_iou_of_mmcv(installed):
    """Where nothing lies on anything mmcv's own code is right too."""
    from mmcv.ops import diff_iou_rotated
    for name, numbers in (("diff_iou_rotated_2d", 5), ("diff_iou_rotated_3d", 7)):
        boxes = random_boxes(numbers)
        replaced = getattr(diff_iou_rotated, name)
        assert torch.equal(replaced(*boxes), getattr(mt, name)(*boxes))
        assert torch.allclose(replaced.original(*boxes), replaced(*boxes), atol=1e-5)


def test_not_finite_and_no_size():
    boxes = torch.tensor([[[float("nan"), 0, 2, 2, 0], [0, 0, float("inf"), 2, 0], [0, 0, 0, 0, 0]]]).requires_grad_()
    found = mt.diff_iou_rotated_2d(boxes, torch.tensor([[[0, 0, 2, 2, 0.0]] * 3]))
    assert torch.equal(found, torch.zeros(1, 3))
    assert torch.equal(torch.autograd.grad(found.sum(), boxes)[0], torch.zeros(1, 3, 5))


@pytest.mark.parametrize("function, numbers", [(mt.diff_iou_rotated_2d, 5), (mt.diff_iou_rotated_3d, 7)])
def test_gradcheck(function, numbers):
    boxes = [box[:, :6].requires_grad_() for box in random_boxes(numbers, torch.float64)]
    assert torch.autograd.gradcheck(function, boxes, check_forward_ad=_operator.HAS_LIBRARY_API)


def calls():
    vertices, mask = torch.rand(1, 5, 24, 2) - 0.5, torch.rand(1, 5, 24) > 0.7
    return [("diff_iou_rotated_sort_vertices", (vertices, mask, mask.sum(2).int())),
            ("rotated_iou", tuple(each.requires_grad_() for each in random_boxes(5))),
            ("rotated_iou_backward", (torch.rand(2, 20), *random_boxes(7)))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)
