"""One call through every row of docs/dropin.md's table of packages, with the names by which the program's own package imports
them. Each function below takes `bring`, which imports a module, and gives pairs: what ours made, and plain torch's in double.

ELSEWHERE has the rows that need a process or a package of their own, and the file of their tests."""

import itertools

import compositions
import torch
from torch.nn import functional as F

CALLS = {}
ELSEWHERE = {
    "torch_mlu": "test_torch_mlu.py",
    "torchvision": "test_dropin_images.py",
    "KITTI's evaluation, second.pytorch": "test_dropin_kernels.py",
    "softmax-splatting, pytorch-pwc, pytorch-liteflownet": "test_dropin_kernels.py",
    "mmcv 1.x and 2.x, mmdet, mmrotate, mmdet3d": "test_mmcv.py",
}


def row(program):
    def keep(call):
        CALLS[program] = call
        return call
    return keep


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def squares(a, b):
    """Squared distances between the points of two clouds."""
    return (a.double().unsqueeze(-2) - b.double().unsqueeze(-3)).square().sum(-1)


def built(name, *sources):
    """An extension that the program compiles when it is imported."""
    from torch.utils.cpp_extension import load
    return load(name=name, sources=list(sources))


# ---- attention


def attention():
    """Values, sizes and starts of two levels, places and weights."""
    weights = uniform(2, 5, 2, 2, 3, seed=2)
    shapes, starts = torch.tensor([[6, 4], [3, 2]]), torch.tensor([0, 24])
    return random(2, 30, 2, 8), shapes, starts, uniform(2, 5, 2, 2, 3, 2, seed=1), weights / weights.sum((3, 4), keepdim=True)


@row("Deformable-DETR, DINO, Mask2Former and others with `models/ops`")
def deformable_detr(bring):
    given = attention()
    yield bring("MultiScaleDeformableAttention").ms_deform_attn_forward(*given, 64), compositions.multi_scale_deformable_attn(*given)


@row("GroundingDINO")
def grounding_dino(bring):
    given = attention()
    yield bring("groundingdino._C").ms_deform_attn_forward(*given, 64), compositions.multi_scale_deformable_attn(*given)


@row("DCNv4")
def dcnv4(bring):
    """Places and the weights before their softmax in one tensor."""
    value, shapes, starts, places, weights = attention()
    both = torch.cat([uniform(2, 5, 2, 2 * 8 * 2, seed=3), random(2, 5, 2, 2 * 8, seed=4)], -1)
    places, weights = both[..., :32].unflatten(-1, (2, 8, 2)), both[..., 32:].softmax(-1).unflatten(-1, (2, 8))
    made = bring("DCNv4.ext").flash_deform_attn_forward(value, shapes, starts, both, 64, 8, 8, 512)
    yield made, compositions.multi_scale_deformable_attn(value, shapes, starts, places, weights)


@row("MapTR, Sparse4D")
def maptr(bring):
    value, shapes, starts, _, weights = attention()
    pixels = torch.stack([torch.stack([torch.randint(0, int(size), (2, 5, 2, 3)) for size in (w, h)], -1)
                          for h, w in shapes], 3)  # x, y of whole pixels
    at = starts[:, None] + pixels[..., 1] * shapes[:, 1:] + pixels[..., 0]
    picked = value.transpose(1, 2)[:, None].expand(-1, 5, -1, -1, -1).gather(
        3, at.flatten(3)[..., None].expand(-1, -1, -1, -1, 8))
    wanted = (picked * weights.flatten(3)[..., None]).sum(3).flatten(2)
    yield bring("GeometricKernelAttention").geometric_kernel_attn_cuda_forward(value, shapes, starts, pixels, weights, 64), wanted
    features, sides = random(1, 26, 4), torch.tensor([[[4, 5]], [[3, 2]]]).int()  # two cameras of one level
    inside, shares = uniform(1, 3, 6, 2, 2, seed=1) * 0.98 + 0.01, random(1, 3, 6, 2, 1, 2, seed=2)
    wanted = 0
    for camera, (start, h, w) in enumerate(((0, 4, 5), (20, 3, 2))):
        plane = features[:, start:start + h * w].transpose(1, 2).reshape(1, 4, h, w)
        at = F.grid_sample(plane, 2 * inside[:, :, :, camera] - 1, align_corners=False)
        wanted = wanted + torch.einsum("bcap,bapc->bac", at, shares[:, :, :, camera, 0].repeat_interleave(2, -1))
    aggregation = bring("projects.mmdet3d_plugin.ops.deformable_aggregation_ext")
    starts = torch.tensor([[0], [20]]).int()
    yield aggregation.deformable_aggregation_forward(features, sides, starts, inside, shares), wanted


@row("Stratified Transformer, PointWeb, PAConv")
def stratified(bring):
    q, k, i, j = random(6, 2, 3), random(6, 2, 3, seed=1), torch.randint(0, 6, (20,)).sort()[0], torch.randint(0, 6, (20,))
    made = torch.zeros(20, 2, dtype=torch.float64)
    bring("pointops2_cuda").attention_step1_forward_cuda(6, 20, 2, 6, q, k, i.int(), j.int(), made)
    yield made, (q[i] * k[j]).sum(2)
    xyz, idx = uniform(2, 30, 3).float(), torch.zeros(2, 7, 5).int()
    bring("pointops_cuda").knnquery_cuda(2, 30, 7, 5, xyz, xyz[:, :7].contiguous(), idx, torch.zeros(2, 7, 5))
    yield idx, squares(xyz[:, :7], xyz).topk(5, 2, largest=False)[1]


@row("SphereFormer")
def sphereformer(bring):
    """Heads, then numbers, then voxels."""
    q, k, i, j = random(2, 3, 6), random(2, 3, 6, seed=1), torch.randint(0, 6, (20,)).sort()[0], torch.randint(0, 6, (20,))
    made = torch.zeros(2, 20, dtype=torch.float64)
    bring("sptr_cuda").attention_step1_forward_cuda(6, 6, 20, 2, 3, 4, q, k, i.int(), j.int(), made)
    yield made, (q[..., i] * k[..., j]).sum(1)


@row("RVRT")
def rvrt(bring):
    """Without moves, attention to the 3 x 3 pixels around of two frames; zeros outside."""
    q, kv = random(2, 1, 4, 5, 6), random(1, 2, 8, 5, 6, seed=1)
    made, empty, moves = torch.zeros_like(q), torch.empty(0), torch.zeros(2, 2 * 18, 5, 6, dtype=torch.float64)
    module = built("deform_attn", "deform_attn_ext.cpp", "deform_attn_cuda_kernel.cu")
    module.deform_attn_forward(q, kv, moves, made, empty, empty, empty, 3, 3, 1, 1, 1, 1, 1, 1, 2, 1, 2)
    near = F.unfold(kv[0], 3, padding=1).reshape(2, 2, 2, 2, 9, 30)  # frames, keys and values, heads, numbers, pixels
    scores = torch.einsum("bhdp,fhdkp->bhfkp", q.reshape(2, 2, 2, 30), near[:, 0]) * 2 ** -0.5
    weights = scores.flatten(2, 3).softmax(2).reshape(scores.shape)
    yield made, torch.einsum("bhfkp,fhdkp->bhdp", weights, near[:, 1]).reshape(q.shape)


@row("SparseBEV")
def sparsebev(bring):
    maps = [random(1, 3, 6, 5, 4, seed=k) for k in range(4)]
    places, weights = uniform(1, 5, 2, 3, seed=4), random(1, 5, 2, 4, seed=5)
    places[..., 2] = torch.arange(10).reshape(1, 5, 2) % 3 / 2  # of three views
    wanted = 0
    for k, each in enumerate(maps):
        at = F.grid_sample(each.permute(0, 4, 1, 2, 3), 2 * places[:, :, :, None] - 1, align_corners=True)[..., 0]
        wanted = wanted + at.transpose(1, 2) * weights[..., k][:, :, None]
    yield bring("models.csrc._msmv_sampling_cuda")._ms_deform_attn_cuda_c2345_forward(*maps, places, weights), wanted


# ---- images


def convolution(deform_groups=1):
    """An image, moves, factors, filters and biases."""
    taps = 9 * deform_groups
    return random(2, 4, 6, 7), random(2, 2 * taps, 6, 7, seed=1), random(2, taps, 6, 7, seed=2), random(3, 4, 3, 3, seed=3), \
        random(3, seed=4)


def rois(count=5, size=40):
    corner = uniform(count, 2, seed=7) * size * 0.6
    return torch.cat([torch.arange(count)[:, None].double() % 2, corner, corner + uniform(count, 2, seed=8) * size * 0.4 + 1], 1)


@row("DCNv2 (FairMOT, YOLACT++), and CenterNet's copy")
def dcn_v2(bring):
    x, offset, mask, weight, bias = convolution()
    wanted = compositions.deform_conv2d(x, offset, weight, 1, 1, mask=mask, bias=bias)
    yield bring("_ext").dcn_v2_forward(x, weight, bias, offset, mask, 3, 3, 1, 1, 1, 1, 1, 1, 1), wanted
    yield bring("dcn_v2").dcn_v2_conv(x, offset, mask, weight, bias, (1, 1), (1, 1), (1, 1), 1), wanted


@row("mmdet 1 and 2.0, det3d (CenterPoint), BasicSR, EDVR")
def mmdet(bring):
    x, offset, mask, weight, bias = convolution()
    made, empty = torch.zeros(2, 3, 6, 7, dtype=torch.float64), torch.empty(0)
    bring("mmdet.ops.dcn.deform_conv_cuda").deform_conv_forward_cuda(x, weight, offset, made, empty, empty, 3, 3, 1, 1, 1, 1, 1,
                                                                     1, 1, 1, 2)
    yield made, compositions.deform_conv2d(x, offset, weight, 1, 1)
    made = torch.zeros_like(made)
    bring("basicsr.ops.dcn.deform_conv_ext").modulated_deform_conv_forward(x, weight, bias, empty, offset, mask, made, empty, 3, 3,
                                                                           1, 1, 1, 1, 1, 1, 1, 1, True)
    yield made, compositions.deform_conv2d(x, offset, weight, 1, 1, mask=mask, bias=bias)
    logits, targets = random(9, 4), torch.arange(9) % 5  # from 1; 0 is the background
    wanted = compositions.sigmoid_focal_loss(logits, targets - 1, None, 2.0, 0.25)
    yield bring("mmdet.ops.sigmoid_focal_loss.sigmoid_focal_loss_cuda").forward(logits, targets.int(), 4, 2.0, 0.25), wanted


@row("InternImage")
def internimage(bring):
    """Points go down the kernel's columns, x before y."""
    x, moves, weights = random(2, 6, 7, 4), random(2, 6, 7, 2, 9, 2, seed=1), random(2, 6, 7, 2, 9, seed=2)
    order = torch.arange(9).reshape(3, 3).t().flatten()
    offset = moves[:, :, :, :, order].flip(5).permute(0, 3, 4, 5, 1, 2).flatten(1, 3)
    mask = weights[:, :, :, :, order].permute(0, 3, 4, 1, 2).flatten(1, 2)
    alone = torch.ones(4, 1, 3, 3, dtype=torch.float64)
    wanted = compositions.deform_conv2d(x.permute(0, 3, 1, 2), offset, alone, 1, 1, 1, 4, 2, mask).permute(0, 2, 3, 1)
    yield bring("DCNv3").dcnv3_forward(x, moves.flatten(3), weights.flatten(3), 3, 3, 1, 1, 1, 1, 1, 1, 2, 2, 1.0, 64), wanted


@row("detectron2")
def detectron2(bring):
    """Angles in degrees, counterclockwise; y points down."""
    x, r = random(2, 3, 12, 14), torch.cat([rois()[:, :3], uniform(5, 2, seed=1) * 20 + 4, random(5, 1, seed=2) * 40], 1)
    radians = torch.cat([r[:, :5], r[:, 5:] * torch.pi / 180], 1)
    wanted = compositions.roi_align_rotated(x, radians, (3, 2), 0.25, 2)
    yield bring("detectron2._C").roi_align_rotated_forward(x, r, 0.25, 3, 2, 2), wanted
    if hasattr(torch.library, "Library"):
        yield torch.ops.detectron2.roi_align_rotated_forward(x, r, 0.25, 3, 2, 2), wanted


def overlaps(a, b, more=0.0):
    """IoUs of boxes x1, y1, x2, y2."""
    shared = (torch.minimum(a[:, None, 2:], b[:, 2:]) - torch.maximum(a[:, None, :2], b[:, :2]) + more).clamp(min=0).prod(2)
    area_a, area_b = ((each[:, 2:] - each[:, :2] + more).prod(1) for each in (a, b))
    return shared / (area_a[:, None] + area_b - shared)


def kept(boxes, scores, threshold, more=0.0):
    """Indices of the boxes that stay, best score first."""
    table, found = overlaps(boxes, boxes, more), []
    for i in scores.argsort(descending=True).tolist():
        if all(table[k, i] <= threshold for k in found):
            found.append(i)
    return torch.tensor(found)


@row("maskrcnn-benchmark, GLIP, scene graphs, FCOS, faster-rcnn.pytorch")
def maskrcnn_benchmark(bring):
    x, r, scores = random(2, 3, 12, 14), rois(30), random(30, seed=5)
    yield bring("maskrcnn_benchmark._C").roi_align_forward(x, r, 0.25, 3, 2, 2), compositions.roi_align(
        x, r, (3, 2), 0.25, 2, "avg", False)
    for name in ("fcos_core._C", "model._C"):
        yield bring(name).nms(r[:, 1:], scores, 0.3), kept(r[:, 1:], scores, 0.3, 1.0).sort()[0]


@row("AdelaiDet, DeepSolo")
def adelaidet(bring):
    x, r, given = random(2, 3, 12, 14), rois(), attention()
    made = bring("adet._C").def_roi_align_forward(x, r, torch.zeros(5, 2, 3, 2, dtype=torch.float64), 0.25, 3, 2, 2, 0.1, True)
    yield made, compositions.roi_align(x, r, (3, 2), 0.25, 2)
    yield bring("adet._C").ms_deform_attn_forward(*given, 64), compositions.multi_scale_deformable_attn(*given)
    x1, y1, x2, y2 = r[:, 1:].unbind(1)  # curves along a box's upper side, and back along its lower side
    third = torch.arange(4).double() / 3
    across = x1[:, None] + (x2 - x1)[:, None] * third
    top, bottom = (torch.stack([xs, y[:, None].expand(-1, 4)], 2) for xs, y in ((across, y1), (across.flip(1), y2)))
    curves = torch.cat([r[:, :1], top.flatten(1), bottom.flatten(1)], 1)
    half = torch.stack([x2 - x1, y2 - y1] * 2, 1) / torch.tensor([4.0, 6.0, 4.0, 6.0])  # a bin's middle is on the curve
    made = bring("adet._C").bezier_align_forward(x, curves, 0.25, 3, 2, 1, True)
    yield made, compositions.roi_align(x, torch.cat([r[:, :1], r[:, 1:] - half], 1), (3, 2), 0.25, 1)


def along_the_axes():
    """Boxes x1, y1, x2, y2, and the same as x, y, w, h, angle, some turned by a quarter."""
    r, quarter = rois(30)[:, 1:], torch.arange(30) % 2 == 1
    size = r[:, 2:] - r[:, :2]
    turned = torch.where(quarter[:, None], size.flip(1), size)
    return r, torch.cat([(r[:, :2] + r[:, 2:]) / 2, turned, quarter[:, None] * torch.pi / 2], 1)


def slopes_by(operator, x, grad):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(operator(x), x, grad)[0]


@row("AerialDetection, ReDet, R3Det")
def aerial_detection(bring):
    (r, boxes), scores, ops = along_the_axes(), random(30, seed=5), "mmdet.ops"
    x, angles = random(2, 4, 12, 14), uniform(5, 1, seed=7) * 2 * torch.pi
    turned = torch.cat([rois(5)[:, :1], uniform(5, 2, seed=8) * 40, uniform(5, 2, seed=9) * 20 + 8, angles], 1)
    extension = bring(f"{ops}.roi_align_rotated.roi_align_rotated_cuda")

    def aligned(x):
        return compositions.roi_align_rotated(x, turned, (3, 2), 0.25, 2, aligned=False, clockwise=True)

    out, into, grad = torch.zeros(5, 4, 3, 2).double(), torch.zeros_like(x), random(5, 4, 3, 2, seed=3)
    extension.forward(x, turned, 3, 2, 0.25, 2, out)
    extension.backward(grad, turned, 3, 2, 0.25, 2, into)
    yield out.clone(), aligned(x)
    yield into, slopes_by(aligned, x, grad)

    def oriented(x):
        """Of two orientations, each the part of a step nearer to the other."""
        found, steps = aligned(x).unflatten(1, (2, 2)), angles[:, :, None, None, None] * 2 / (2 * torch.pi)
        share, odd = steps - steps.floor(), (steps.floor() % 2).bool()
        found = torch.where(odd, found.flip(2), found)
        return (found * (1 - share) + found.flip(2) * share).flatten(1, 2)

    extension, into = bring(f"{ops}.riroi_align.riroi_align_cuda"), torch.zeros_like(x)
    extension.forward(x, turned, 3, 2, 0.25, 2, 2, out)
    extension.backward(grad, turned, 3, 2, 0.25, 2, 2, into)
    yield out, oriented(x)
    yield into, slopes_by(oriented, x, grad)
    x1, y1, x2, y2 = r.unbind(1)
    quads, stay = torch.stack([x1, y1, x2, y1, x2, y2, x1, y2], 1), kept(r, scores, 0.3).sort()[0]
    yield bring(f"{ops}.poly_nms.poly_nms_cuda").poly_nms(torch.cat([quads, scores[:, None]], 1), 0.3), stay
    yield bring(f"{ops}.nms.rnms_ext").rnms(torch.cat([boxes, scores[:, None]], 1), 0.3), stay
    yield bring(f"{ops}.polygon_geo.polygon_geo_cpu").polygon_iou(quads, quads[:9]), overlaps(r, r[:9])
    geometry, table, areas = bring(f"{ops}.rbbox_geo.rbbox_geo_cuda"), overlaps(r, r), boxes[:, 2] * boxes[:, 3]
    shares = table * (areas[:, None] + areas) / (1 + table) / areas[:, None]
    yield geometry.mat_iou_iof(boxes.float(), boxes[:9].float(), True), shares[:, :9]
    yield geometry.vec_iou_iof(boxes.float(), boxes[:1].float(), False), table[:, 0]
    places = torch.cat([uniform(2, 12, 14, 2, seed=4) * 50, torch.ones(2, 12, 14, 3).double()], 3)
    extension, out, into = bring(f"{ops}.fr.feature_refine_cuda"), torch.zeros_like(x), torch.zeros_like(x)

    def refined(x):
        y, x_ = (places[..., axis].clamp(0, 4 * (size - 1)) / 4 for axis, size in ((0, 12), (1, 14)))
        found = F.grid_sample(x, torch.stack([2 * x_ / 13 - 1, 2 * y / 11 - 1], 3), align_corners=True)
        inside = (places[..., 0] / 4 <= 12) & (places[..., 1] / 4 <= 14)
        return x + found * inside[:, None]

    extension.forward(x, places, 0.25, 1, out)
    yield out, refined(x)
    extension.backward(random(2, 4, 12, 14, seed=6), places, 0.25, 1, into)
    yield into, slopes_by(refined, x, random(2, 4, 12, 14, seed=6))


@row("S2ANet and its descendants, YOLOv5-OBB, Rotated_IoU")
def s2anet(bring):
    (r, boxes), scores = along_the_axes(), random(30, seed=5)
    yield bring("mmdet.ops.box_iou_rotated.box_iou_rotated_cuda").box_iou_rotated(boxes.float(), boxes.float()), overlaps(r, r)
    yield bring("utils.nms_rotated.nms_rotated_ext").nms_rotated(boxes, scores, 0.3), kept(r, scores, 0.3)
    weights, indices = random(4, 2, 1, 3, 3), torch.arange(1, 10).roll(4).reshape(1, 3, 3, 1).byte()
    yield bring("mmdet.ops.orn.orn_cuda").arf_forward(weights, indices)[..., :].flatten(2)[..., indices.flatten().long() - 1], \
        weights.flatten(2)


@row("CornerNet")
def cornernet(bring):
    x = random(2, 3, 6, 7)
    yield bring("top_pool").forward(x)[0], x.flip(2).cummax(2)[0].flip(2)
    yield bring("right_pool").forward(x)[0], x.cummax(3)[0]


@row("StyleGAN2, BasicSR, GFPGAN")
def stylegan2(bring):
    x, bias, blur = random(2, 5, 8, 7), random(5, seed=1), random(4, 4, seed=2)
    wanted = F.leaky_relu(x + bias[:, None, None], 0.2) * 2 ** 0.5
    fused = built("fused", "fused_bias_act.cpp", "fused_bias_act_kernel.cu")
    for module in (fused, bring("basicsr.ops.fused_act.fused_act_ext")):
        yield module.fused_bias_act(x, bias, x.new_empty(0), 3, 0, 0.2, 2 ** 0.5), wanted
    wide = F.pad(F.interpolate(x, scale_factor=2) * torch.tensor([1.0, 0]).repeat(8)[:, None] * torch.tensor([1.0, 0]).repeat(7),
                 (2, 1, 2, 1))
    wanted = F.conv2d(wide.flatten(0, 1)[:, None], blur.flip(0, 1)[None, None]).reshape(2, 5, 16, 14)
    module = built("upfirdn2d", "upfirdn2d.cpp", "upfirdn2d_kernel.cu")
    yield module.upfirdn2d(x.permute(0, 2, 3, 1), blur, 2, 2, 1, 1, 2, 1, 2, 1).permute(0, 3, 1, 2), wanted


@row("PreciseRoIPooling (ATOM, DiMP)")
def precise_roi_pooling(bring):
    x, r = random(2, 3, 12, 14), rois()
    module = built("_prroi_pooling", "src/prroi_pooling_gpu.c", "src/prroi_pooling_gpu_impl.cu")
    yield module.prroi_pooling_forward_cuda(x, r, 3, 2, 0.25), compositions.prroi_pool(x, r, (3, 2), 0.25)


# ---- flow


def moved(image, reach):
    """An image's neighbours within reach in each direction, y first: [N, P * P, C, H, W]; zeros outside."""
    h, w = image.shape[2:]
    wide, steps = F.pad(image, (reach,) * 4), range(2 * reach + 1)
    return torch.stack([wide[:, :, y:y + h, x:x + w] for y, x in itertools.product(steps, steps)], 1)


@row("FlowNet2, PWC-Net")
def flownet2(bring):
    one, two, made = random(2, 3, 6, 7), random(2, 3, 6, 7, seed=1), torch.empty(0, dtype=torch.float64)
    bring("correlation_cuda").forward(one, two, made.clone(), made.clone(), made, 2, 1, 2, 1, 1, 1)
    yield made, (one[:, None] * moved(two, 2)).mean(2)
    made = torch.zeros(2, 1, 6, 7, dtype=torch.float64)
    bring("channelnorm_cuda").forward(one, made, 2)
    yield made, one.norm(dim=1, keepdim=True)
    flow, made = random(2, 2, 6, 7, seed=2), torch.zeros_like(one)
    bring("resample2d_cuda").forward(one, flow, made, 1, True)
    x, y = torch.arange(7) + flow[:, 0], torch.arange(6)[:, None] + flow[:, 1]
    inside = (x >= 0) & (x <= 6) & (y >= 0) & (y <= 5)
    grid = torch.stack((2 * x / 6 - 1, 2 * y / 5 - 1), 3)
    yield made * inside[:, None], F.grid_sample(one, grid, align_corners=True) * inside[:, None]


@row("RAFT-Stereo and its descendants")
def raft_stereo(bring):
    volume, at, grad = random(2, 4, 5, 9), uniform(2, 1, 4, 5, seed=1) * 16 - 4, random(2, 7, 4, 5, seed=2)
    at[:, :, 0] = at[:, :, 0].round()

    def samples(volume):
        places = at[:, 0, ..., None] + torch.arange(-3, 4)
        grid = torch.stack([places / 4 - 1, torch.zeros_like(places)], 4).reshape(40, 1, 7, 2)
        found = F.grid_sample(volume.reshape(40, 1, 1, 9), grid, align_corners=True)
        return found.reshape(2, 4, 5, 7).permute(0, 3, 1, 2)

    extension = bring("corr_sampler")
    yield extension.forward(volume, at, 3)[0], samples(volume)
    yield extension.backward(volume, at, grad, 3)[0], slopes_by(samples, volume, grad)


@row("Pytorch-Correlation-extension")
def correlation(bring):
    one, two = random(2, 3, 6, 7), random(2, 3, 6, 7, seed=1)
    made = bring("spatial_correlation_sampler").spatial_correlation_sample(one, two, 1, 5)
    yield made.flatten(1, 2), (one[:, None] * moved(two, 2)).sum(2)


@row("RAFT and its descendants")
def raft(bring):
    """Products with the bilinear samples round each place; x changes first."""
    one, two, at = random(1, 4, 5, 6), random(1, 7, 8, 6, seed=1), uniform(1, 1, 4, 5, 2, seed=2) * 6
    steps = torch.arange(-2, 3)
    places = at[:, 0, :, :, None] + torch.stack(torch.meshgrid(steps, steps, indexing="ij"), 2).reshape(25, 2)
    grid = (2 * places + 1) / torch.tensor([8.0, 7.0]) - 1
    samples = F.grid_sample(two.permute(0, 3, 1, 2), grid.flatten(1, 2), align_corners=False).reshape(1, 6, 4, 5, 25)
    made, = bring("alt_cuda_corr").forward(one, two, at, 2)
    yield made[:, 0], torch.einsum("bhwc,bchwk->bkhw", one, samples)
