"""ps_roi_pool, voxel_pooling, roi_crop, poly_nms and masked_conv2d's two movements, against plain torch in double."""

import importlib
import math
import warnings

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.dropin as dropin  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin.module import torchvision as tv  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from mluops.torch.op.masked_conv2d import col2im, im2col  # noqa: E402
from mluops.torch.op.voxel_pooling import forward as pool_voxels  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_order = pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last], ids=["nchw", "channels_last"])
LIMIT = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(33)


def double(*shape):
    return torch.rand(*shape, dtype=torch.float64)


def close(found, wanted, dtype):
    assert found.dtype == dtype and found.shape == wanted.shape
    return ((found.double() - wanted).abs() <= LIMIT[dtype] * (1 + wanted.abs())).all()


def check_with_gradient(function, plain, x, dtype, order=torch.contiguous_format):
    """Values and gradients of function(x), in a dtype and a memory order, are those of plain in double."""
    own = x.to(dtype).contiguous(memory_format=order).requires_grad_()
    wide = own.detach().double().requires_grad_()
    found, wanted = function(own), plain(wide)
    assert close(found, wanted, dtype)
    weights = double(*found.shape).sub(0.5).to(dtype)
    found.backward(weights)
    wanted.backward(weights.double())
    assert close(own.grad, wide.grad, dtype)


# ---- ps_roi_pool


def rounded(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def pooled(input, rois, bins, bounds):
    """Means over the pixels that bounds(low, high, i, bins, size) gives, begin and end."""
    rows = []
    for image, x1, y1, x2, y2 in rois.tolist():
        for i in range(bins[0]):
            for j in range(bins[1]):
                (top, bottom), (left, right) = bounds(y1, y2, i, bins[0], input.shape[2]), bounds(x1, x2, j, bins[1], input.shape[3])
                own = input[int(image), i * bins[1] + j::bins[0] * bins[1], top:bottom, left:right]
                rows.append(own.mean((1, 2)) if own.numel() else own.sum((1, 2)))
    return torch.stack(rows).view(len(rois), *bins, -1).permute(0, 3, 1, 2)


def ours(scale):
    def bounds(low, high, i, bins, size):
        start = rounded(low) * scale
        step = max((rounded(high) + 1) * scale - start, 0.1) / bins
        return max(math.floor(i * step + start), 0), max(min(math.ceil((i + 1) * step + start), size), 0)
    return bounds


def torchvision_s(scale):
    def bounds(low, high, i, bins, size):
        start, end = int(rounded(low * scale)), int(rounded(high * scale))
        step = max(end - start, 1) / bins
        on_map = lambda at: min(max(at + start, 0), size - 1)  # noqa: E731
        return on_map(math.floor(i * step)), on_map(math.ceil((i + 1) * step))
    return bounds


ROIS = [[0.0, 1, 2, 20, 17], [1, 3.5, -2.5, 9, 30], [0, -40, -40, -30, -30], [1, 8, 8, 3, 2], [1, 0, 0, 1, 1], [0, 12, 6, 60, 50]]


@every_dtype
@every_order
@pytest.mark.parametrize("bins, channels", [((3, 3), 5), ((2, 2), 16), ((2, 4), 3)])
def test_ps_roi_pool(bins, channels, order, dtype):
    rois = torch.tensor(ROIS)
    x = double(2, channels * bins[0] * bins[1], 9, 11)
    check_with_gradient(lambda x: mt.ps_roi_pool(x, rois.to(dtype), bins, 0.5), lambda x: pooled(x, rois, bins, ours(0.5)), x,
                        dtype, order)
    assert mt.PSRoIPool(bins, 0.5)(x, rois).dtype == torch.float64


def test_ps_roi_pool_s_edges():
    x = double(1, 8, 5, 6).requires_grad_()
    none = mt.ps_roi_pool(x, torch.zeros(0, 5), 2)
    assert none.shape == (0, 2, 2, 2)
    none.sum().backward()
    assert not x.grad.any()
    for text, call in {
            "input: wanted channels that are a multiple of 3": lambda: mt.ps_roi_pool(x, torch.zeros(1, 5), 3),
            "rois: wanted batch index": lambda: mt.ps_roi_pool(x, torch.ones(1, 5), 2),
            "spatial_scale: wanted > 0": lambda: mt.ps_roi_pool(x, torch.zeros(1, 5), 2, 0.0),
            "rois: wanted dimension 1": lambda: mt.ps_roi_pool(x, torch.zeros(1, 4), 2)}.items():
        with pytest.raises(mluops.BadParamError, match=text):
            call()


@pytest.mark.parametrize("scale", [1.0, 1 / 4])
def test_torchvision_s_ps_roi_pool(scale):
    low = double(60, 2) * 60 - 20
    boxes = torch.cat([low, low + double(60, 2) * 50 - 4], 1)
    x = double(2, 5 * 9, 13, 17)
    rois = torch.cat([torch.randint(0, 2, (60, 1)), boxes], 1)
    check_with_gradient(lambda x: tv.ps_roi_pool(x, rois, 3, scale), lambda x: pooled(x, rois, (3, 3), torchvision_s(scale)), x,
                        torch.float64)
    listed = [boxes[:4], boxes[4:9]]
    at = torch.cat([torch.zeros(4, 1), torch.ones(5, 1)]).double()
    assert torch.equal(tv.ps_roi_pool(x, listed, (3, 3), scale), tv.ps_roi_pool(x, torch.cat([at, boxes[:9]], 1), 3, scale))


# ---- voxel_pooling


def pooled_voxels(voxels, features, sizes):
    x, y, z = voxels.long().unbind(-1)
    inside = (x >= 0) & (x < sizes[0]) & (y >= 0) & (y < sizes[1]) & (z >= 0) & (z < sizes[2])
    image = torch.arange(len(voxels))[:, None].expand_as(x)
    cells = ((image * sizes[1] + y) * sizes[0] + x)[inside]
    rows = features.new_zeros(len(voxels) * sizes[1] * sizes[0], features.shape[-1])
    return rows.index_add(0, cells, features[inside]).view(len(voxels), sizes[1], sizes[0], -1).permute(0, 3, 1, 2)


@every_dtype
@pytest.mark.parametrize("integers", [torch.int32, torch.int64], ids=str)
def test_voxel_pooling(integers, dtype):
    sizes = 5, 4, 2
    voxels = torch.stack([torch.randint(-1, size + 1, (2, 60)) for size in sizes], -1).to(integers)
    if integers == torch.int64:
        voxels[0, 0] = 1 << 40
    check_with_gradient(lambda x: mt.voxel_pooling(voxels, x, sizes), lambda x: pooled_voxels(voxels, x, sizes),
                        double(2, 60, 19) - 0.5, dtype)


def test_voxel_pooling_of_cameras_and_of_nothing():
    voxels, features = torch.randint(0, 3, (2, 3, 4, 5, 3)), double(2, 3, 4, 5, 7)
    flat = mt.voxel_pooling(voxels.view(2, 60, 3), features.view(2, 60, 7), (3, 3, 3))
    assert torch.equal(mt.voxel_pooling(voxels, features, torch.tensor([3, 3, 3])), flat)
    sums, memo = pool_voxels(torch.zeros(1, 0, 3, dtype=torch.int32), double(1, 0, 4), 2, 3, 1)
    assert not sums.any() and sums.shape == (1, 3, 2, 4) and memo.shape == (1, 0, 3)
    for text, call in {"voxel_num: wanted": lambda: mt.voxel_pooling(voxels, features, (3, 3)),
                       "geom_xyz: wanted the points": lambda: mt.voxel_pooling(voxels[:, :2], features, (3, 3, 3)),
                       "voxel_num: wanted at least 1": lambda: mt.voxel_pooling(voxels, features, (3, 0, 3))}.items():
        with pytest.raises(mluops.BadParamError, match=text):
            call()


def test_bevdepth_s_extension():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("bevdepth")
    try:
        extension = importlib.import_module("voxel_pooling_ext")
    finally:
        dropin.uninstall()
    voxels, features = torch.randint(-1, 4, (2, 30, 3)).int(), torch.rand(2, 30, 6)
    out, memo = torch.zeros(2, 3, 4, 6), torch.full((2, 30, 3), -1, dtype=torch.int32)
    extension.voxel_pooling_forward_wrapper(2, 30, 6, 4, 3, 2, voxels, features, out, memo)
    assert torch.allclose(out.permute(0, 3, 1, 2), pooled_voxels(voxels, features, (4, 3, 2)), atol=1e-6)
    x, y, z = voxels.unbind(-1)
    inside = (x >= 0) & (y >= 0) & (y < 3) & (z >= 0) & (z < 2)
    image = torch.arange(2, dtype=torch.int32)[:, None].expand_as(x)
    assert torch.equal(memo, torch.where(inside[..., None], torch.stack([image, y, x], -1), torch.full_like(voxels, -1)))


# ---- roi_crop


@every_dtype
@every_order
def test_roi_crop_is_grid_sample(order, dtype):
    x, grid = double(2, 19, 6, 5) - 0.5, (double(6, 3, 4, 2) * 2.6 - 1.3).to(dtype)

    def plain(x):
        return torch.nn.functional.grid_sample(x.repeat_interleave(3, 0), grid.double().flip(-1), align_corners=True)

    check_with_gradient(lambda x: mt.roi_crop(x, grid), plain, x, dtype, order)


def test_roi_crop_s_edges():
    x, grid = double(2, 3, 4, 5), torch.zeros(4, 2, 2, 2, dtype=torch.float64)
    grid[0, 0, 0] = math.nan
    grid[0, 0, 1, 1] = math.inf
    assert not mt.roi_crop(x, grid)[0, :, 0].any()
    with pytest.raises(mluops.BadParamError, match="grid: wanted a multiple of the 2 images"):
        mt.roi_crop(x, grid[:3])
    with pytest.raises(mluops.BadParamError, match="grid: wanted dimension 3"):
        mt.roi_crop(x, grid[..., :1])


# ---- masked_im2col and masked_col2im


@every_dtype
def test_columns_are_those_of_unfold(dtype):
    x = double(1, 5, 7, 6).to(dtype)
    rows, columns = (at.int() for at in (torch.arange(7).repeat_interleave(6), torch.arange(6).repeat(7)))
    unfolded = torch.nn.functional.unfold(x.double(), (3, 5), padding=(1, 2))[0]
    assert torch.equal(im2col(x, rows, columns, 3, 5, 1, 2).double(), unfolded)
    assert torch.equal(col2im(x[0].flatten(1), rows, columns, 7, 6), x)
    some = torch.randperm(42)[:11]
    image = torch.zeros_like(x)
    image[0].flatten(1)[:, some] = x[0].flatten(1)[:, some]
    assert torch.equal(col2im(x[0].flatten(1)[:, some], rows[some], columns[some], 7, 6), image)


def test_gradients_of_columns():
    rows, columns = torch.tensor([0, 3, 2, 9]).int(), torch.tensor([4, 0, -1, 2]).int()
    image = double(1, 2, 4, 5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: im2col(x, rows, columns, 3, 2, 1, 0), [image])
    assert torch.autograd.gradcheck(lambda x: col2im(x, rows, columns, 4, 5), [double(2, 4).requires_grad_()])


# ---- poly_nms


@every_dtype
def test_poly_nms(dtype):
    """Squares of whole numbers, either way round, against their bounding boxes."""
    low = torch.randint(0, 12, (80, 2)).double()
    high = low + torch.randint(1, 5, (80, 2))
    x1, y1, x2, y2 = *low.unbind(1), *high.unbind(1)
    corners = torch.stack([x1, y1, x2, y1, x2, y2, x1, y2], 1)
    back = corners.view(-1, 4, 2).flip(1).reshape(-1, 8)
    dets = torch.cat([torch.where(torch.rand(80, 1) < 0.5, corners, back), torch.randperm(80)[:, None] / 128], 1)
    sides = (torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)).clamp(min=0)
    areas = (high - low).prod(1)
    ious = sides.prod(2) / (areas[:, None] + areas - sides.prod(2))
    kept = []
    for i in dets[:, 8].argsort(descending=True).tolist():
        if not (ious[i, kept] > 0.3).any():
            kept.append(i)
    assert 10 < len(kept) < 70
    assert mt.poly_nms(dets.to(dtype), 0.3).tolist() == sorted(kept)
    assert mt.poly_nms(dets[:0].to(dtype), 0.3).tolist() == []
    with pytest.raises(mluops.BadParamError, match="iou_threshold: wanted a number"):
        mt.poly_nms(dets, math.nan)
    with pytest.raises(mluops.BadParamError, match="dets: wanted dimension 1"):
        mt.poly_nms(dets[:, :8], 0.3)


# ---- all of them


def calls():
    rois, grid = torch.tensor(ROIS), torch.rand(4, 2, 3, 2)
    at = torch.tensor([0, 3, 1], dtype=torch.int32)
    voxels = torch.randint(0, 2, (2, 9, 3), dtype=torch.int32)
    return [("ps_roi_pool", (torch.rand(2, 12, 5, 6).requires_grad_(), rois, 2, 3, 0.5)),
            ("ps_roi_pool_backward", (torch.rand(6, 2, 2, 3), rois, 2, 5, 6, 0.5)),
            ("voxel_pooling", (voxels, torch.rand(2, 9, 4).requires_grad_(), 2, 3, 2)),
            ("roi_crop", (torch.rand(2, 3, 5, 6).requires_grad_(), grid)),
            ("roi_crop_backward", (torch.rand(4, 3, 2, 3), grid, 2, 5, 6)),
            ("poly_nms", (torch.rand(9, 9), 0.2)),
            ("masked_im2col", (torch.rand(1, 2, 4, 5).requires_grad_(), at, at, 3, 2, 1, 0)),
            ("masked_col2im", (torch.rand(2, 3).requires_grad_(), at, at, 4, 5))]


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
@pytest.mark.parametrize("name, arguments", calls(), ids=[name for name, _ in calls()])
def test_opcheck(name, arguments):
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="without it, forward mode wants tangents of indices")
def test_forward_mode():
    """The tangent along a direction has the product with any weights that the gradient has with the direction."""
    from torch.autograd import forward_ad
    rois, grid = torch.tensor(ROIS).double(), double(4, 2, 3, 2)
    at, voxels = torch.tensor([0, 3, 1], dtype=torch.int32), torch.randint(0, 2, (2, 9, 3))
    for function, shape in ((lambda x: mt.ps_roi_pool(x, rois, (2, 3), 0.5), (2, 12, 5, 6)),
                            (lambda x: mt.voxel_pooling(voxels, x, (2, 3, 2)), (2, 9, 4)),
                            (lambda x: mt.roi_crop(x, grid), (2, 3, 5, 6)),
                            (lambda x: im2col(x, at, at, 3, 2, 1, 0), (1, 2, 4, 5)),
                            (lambda x: col2im(x, at, at, 4, 5), (2, 3))):
        x, along = double(*shape).requires_grad_(), double(*shape)
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(x, along))).tangent
        result = function(x)
        weights = double(*result.shape)
        (result * weights).sum().backward()
        assert torch.allclose((tangent * weights).sum(), (x.grad * along).sum())
