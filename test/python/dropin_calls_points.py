"""The rows of dropin_calls.py whose programs work on points and voxels."""

import torch
from dropin_calls import built, random, row, squares, uniform
from torch.nn import functional as F


def nearest(points, centers, count):
    """Distances and indices of each centre's nearest points."""
    found = squares(centers, points).topk(count, -1, largest=False)
    return found[0].sqrt(), found[1]


def in_ball(points, centers, radius, count):
    """The first points within a radius, filled up with the first of all; each ball has one."""
    inside = squares(centers, points) < radius ** 2
    order = (~inside).long().sort(stable=True, dim=-1)[1][..., :count]
    return torch.where(inside.gather(-1, order), order, order[..., :1])


# ---- points


@row("Pointnet2_PyTorch")
def pointnet2_pytorch(bring):
    ext, features, idx = bring("pointnet2_ops._ext"), random(2, 4, 20).float(), torch.randint(20, (2, 6, 3))
    yield ext.group_points(features, idx.int()), torch.stack([f[:, i] for f, i in zip(features, idx)])
    xyz = uniform(2, 40, 3).float()
    yield ext.ball_query(xyz[:, :9].contiguous(), xyz, 0.4, 5), in_ball(xyz, xyz[:, :9], 0.4, 5)


@row("VoteNet, GraspNet, 3DETR, Mask3D and their forks")
def votenet(bring):
    xyz = uniform(2, 40, 3).float()
    centers = xyz[:, :9].contiguous()
    far, idx = bring("pointnet2._ext").three_nn(centers, xyz)
    wanted, order = nearest(xyz, centers, 3)
    yield far, wanted.square()
    yield idx, order
    idx = torch.zeros(2, 3, 9).long()
    bring("knn_pytorch").knn_pytorch.knn(xyz.transpose(1, 2), centers.transpose(1, 2), idx)
    yield idx - 1, order.transpose(1, 2)  # counted from 1


@row("Point Transformer")
def point_transformer(bring):
    xyz, ends, idx, squared = uniform(30, 3).float(), torch.tensor([12, 30]).int(), torch.zeros(30, 4).int(), torch.zeros(30, 4)
    bring("pointops_cuda").knnquery_cuda(30, 4, xyz, xyz, ends, ends, idx, squared)
    parts = [nearest(xyz[a:b], xyz[a:b], 4) for a, b in ((0, 12), (12, 30))]
    yield idx, torch.cat([parts[0][1], parts[1][1] + 12])
    yield squared, torch.cat([part[0] for part in parts]).square()


@row("Pointcept, SPFormer, LitePT")
def pointcept(bring):
    xyz, ends = uniform(30, 3).float(), torch.tensor([30]).int()
    idx, far = bring("pointops").knn_query(4, xyz, ends)
    wanted, order = nearest(xyz, xyz, 4)
    yield idx, order
    yield far, wanted
    features, ends = random(12, 3).float(), torch.tensor([0, 5, 12]).int()
    wanted = torch.stack([features[:5].mean(0), features[5:].mean(0)])
    yield bring("pointgroup_ops").sec_mean(features, ends), wanted
    tokens, places = random(1, 5, 2, 6), torch.arange(15).reshape(1, 5, 3)  # one pair of numbers for each axis
    turns = torch.view_as_complex(tokens.unflatten(3, (3, 2))) * torch.polar(torch.ones(1), places.float())[:, :, None]
    bring("pointrope").pointrope(tokens, places, 100.0, 1.0)
    yield tokens.float(), torch.view_as_real(turns).flatten(3)


@row("Point-MAE, PoinTr, PointMLP and others")
def point_mae(bring):
    one, two = uniform(2, 20, 3).float(), uniform(2, 15, 3, seed=1).float()
    table = squares(one, two)
    first, second, idx, _ = bring("chamfer").forward(one, two)
    yield first, table.min(2)[0]
    yield second, table.min(1)[0]
    yield idx, table.min(2)[1]
    yield bring("knn_cuda").KNN(4, transpose_mode=True)(two, one)[1], nearest(two, one, 4)[1]
    yield bring("pointnet2_ops.pointnet2_utils").gather_operation(one.transpose(1, 2).contiguous(), idx.int()), torch.stack(
        [a.t()[:, i.long()] for a, i in zip(one, idx)])
    points = uniform(1, 9, 3) * 6 - 3.5
    axes = torch.arange(-4, 4).double()
    vertices = torch.stack(torch.meshgrid(axes, axes, axes, indexing="ij"), 3).reshape(-1, 3)
    yield bring("gridding").forward(-4, 3, -4, 3, -4, 3, points)[0], (
        1 - (points[:, :, None] - vertices).abs()).clamp(min=0).prod(3).sum(1)
    other, squared, at = one[:, torch.randperm(20)].contiguous(), torch.zeros(2, 20), torch.zeros(2, 20).int()
    scratch = [torch.zeros(0)] * 10
    bring("emd").forward(one, other, squared, at, *scratch, 0.002, 500)
    yield 1 + squared, torch.ones(2, 20)  # the same cloud in another order


@row("MSN, VRCNet")
def msn(bring):
    """Three points on a line; the last is far."""
    xyz, father, far, mean = torch.tensor([[[0.0, 0, 0], [1, 0, 0], [5, 0, 0]]]), torch.zeros(1, 3).int(), torch.zeros(1, 3), torch.zeros(1)
    bring("expansion_penalty").forward(xyz, 3, father, far, 1.5, torch.zeros(0), torch.zeros(0), mean)
    yield torch.cat([far, father.float(), mean[None]], 1), torch.tensor([[0.0, 0, 4, -1, -1, 1, 2.5]])
    picked = torch.zeros(1, 3).int()
    bring("MDS").minimum_density_sampling(xyz, 3, mean, picked)
    yield picked, torch.tensor([[0, 2, 1]])


@row("PointFlow")
def pointflow(bring):
    one, two = uniform(2, 20, 3).float(), uniform(2, 15, 3, seed=1).float()
    losses, table = bring("StructuralLossesBackend"), squares(one, two)
    first, at, second, back = losses.NNDistance(one, two)
    yield torch.cat([first, second], 1), torch.cat([table.min(2)[0], table.min(1)[0]], 1)
    yield torch.cat([at, back], 1), torch.cat([table.min(2)[1], table.min(1)[1]], 1)
    match, _ = losses.ApproxMatch(one, two)
    yield losses.MatchCost(one, two, match), (match.double() * table.sqrt().transpose(1, 2)).sum((1, 2))


@row("ChamferDistancePytorch")
def chamfer(bring):
    one, two = uniform(2, 20, 3).float(), uniform(2, 15, 3, seed=1).float()
    made = torch.zeros(2, 20), torch.zeros(2, 15), torch.zeros(2, 20).int(), torch.zeros(2, 15).int()
    bring("chamfer_3D").forward(one, two, *made)
    for axis in (0, 1):
        wanted, order = squares(one, two).min(2 - axis)
        yield made[axis], wanted
        yield made[2 + axis], order


@row("torch_scatter, torch_cluster")
def torch_scatter(bring):
    x, groups = random(12, 3), torch.arange(12) % 4
    yield bring("torch_scatter").scatter(x, groups, dim=0, reduce="sum"), torch.zeros(4, 3).double().index_add(0, groups, x)
    pairs = bring("torch_cluster").knn(x, x[:5], 3)
    yield pairs[1].reshape(5, 3).sort(1)[0], nearest(x, x[:5], 3)[1].sort(1)[0]


@row("PointGroup, SoftGroup and their descendants")
def pointgroup(bring):
    features, ends = random(12, 3).float(), torch.tensor([0, 5, 12]).int()
    wanted = torch.stack([features[:5].mean(0), features[5:].mean(0)])
    for module, name in (("PG_OP", "sec_mean"), ("softgroup.ops.ops", "global_avg_pool_fp"), ("HAIS_OP", "sec_mean")):
        made = torch.zeros(2, 3)
        getattr(bring(module), name)(features, ends, made, 2, 3)
        yield made, wanted


@row("PVCNN")
def pvcnn(bring):
    features, coords = random(2, 3, 20), torch.randint(0, 4, (2, 3, 20))
    index = (coords[:, 0] * 4 + coords[:, 1]) * 4 + coords[:, 2]
    sums = torch.stack([torch.zeros(3, 64).double().index_add(1, i, f) for i, f in zip(index, features)])
    counts = torch.stack([i.bincount(minlength=64) for i in index])
    made = built("_pvcnn_backend", "src/bindings.cpp", "src/voxelization/vox.cu").avg_voxelize_forward(features, coords.int(), 4)
    yield made[0], sums / counts.clamp(min=1)[:, None]
    yield made[1], index


# ---- boxes and cameras


@row("OpenPCDet and its forks")
def openpcdet(bring):
    """Boxes x, y, z, dx, dy, dz that are not turned; sides on a grid, since the extension takes corners a little outside too."""
    boxes = torch.cat([(uniform(20, 3) * 32).round() / 8, (uniform(20, 3, seed=1) * 12).round() / 4 + 0.5,
                       torch.zeros(20, 1).double()], 1).float()
    low, high = boxes[:, :3].double() - boxes[:, 3:6].double() / 2, boxes[:, :3].double() + boxes[:, 3:6].double() / 2
    made = torch.zeros(20, 20)
    bring("pcdet.ops.iou3d_nms.iou3d_nms_cuda").boxes_overlap_bev_gpu(boxes, boxes, made)
    shared = torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)
    yield made, shared[..., :2].clamp(min=0).prod(2)
    points, flags = (uniform(50, 3, seed=2).float() * 48).round() / 8 - 0.9375, torch.zeros(20, 50).int()
    bring("pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda").points_in_boxes_cpu(boxes, points, flags)
    yield flags, ((points > low[:, None]) & (points < high[:, None])).all(2).long()
    xyz, features = uniform(2, 40, 3).float(), random(2, 4, 40).float()
    idx, made = torch.zeros(2, 9, 5).int(), torch.zeros(2, 4, 9, 5)
    batch = bring("pcdet.ops.pointnet2.pointnet2_batch.pointnet2_batch_cuda")
    batch.ball_query_wrapper(2, 40, 9, 0.4, 5, xyz[:, :9].contiguous(), xyz, idx)
    yield idx, in_ball(xyz, xyz[:, :9], 0.4, 5)
    batch.group_points_wrapper(2, 4, 40, 9, 5, features, idx, made)
    yield made, torch.stack([f[:, i.long()] for f, i in zip(features, idx)])


@row("mmdet3d before 1.0, BEVFusion, PointRCNN")
def mmdet3d(bring):
    points, made = uniform(40, 4).float() * 4, torch.zeros(40, 3).int()
    bring("mmdet3d.ops.voxel.voxel_layer").dynamic_voxelize(points, made, [0.5, 0.5, 1], [0, 0, 0, 4, 4, 4], 3)
    yield made, (points[:, :3] / torch.tensor([0.5, 0.5, 1])).floor().long().flip(1)
    xyz, idx, squared = uniform(2, 40, 3).float(), torch.zeros(2, 9, 5).int(), torch.zeros(2, 9, 5)
    bring("mmdet3d.ops.knn.knn_ext").knn_wrapper(2, 40, 9, 5, xyz, xyz[:, :9].contiguous(), idx, squared)
    yield idx, nearest(xyz, xyz[:, :9], 5)[1]
    boxes, made = torch.tensor([[0.0, 0, 2, 2, 0], [1, 0, 3, 2, 0], [2, 1, 4, 2, 0]]), torch.zeros(3, 3)  # x1, y1, x2, y2, turn
    bring("iou3d_cuda").boxes_overlap_bev_gpu(boxes, boxes, made)
    yield made, torch.tensor([[4.0, 2, 0], [2, 4, 1], [0, 1, 2]])


@row("BEVDepth")
def bevdepth(bring):
    places, features = torch.randint(-1, 4, (2, 30, 3)).int(), random(2, 30, 4).float()
    made, memo = torch.zeros(2, 3, 3, 4), torch.full((2, 30, 3), -1).int()
    bring("ops.voxel_pooling.voxel_pooling_ext").voxel_pooling_forward_wrapper(2, 30, 4, 3, 3, 3, places, features, made, memo)
    inside = ((places >= 0) & (places < 3)).all(2)
    wanted = torch.zeros(2, 3, 3, 4).double()
    for image in (0, 1):
        at = places[image][inside[image]].long()
        wanted[image].index_put_((at[:, 1], at[:, 0]), features[image][inside[image]].double(), accumulate=True)
    yield made, wanted


# ---- sparse voxels


def voxels(channels=3, size=5, count=40):
    """Places of two samples (sample first) with features, the same in a cube, and filters [3, 3, 3, in, out]."""
    at = torch.randperm(2 * size ** 3, generator=torch.Generator().manual_seed(0))[:count]
    coords = torch.stack([at // size ** 3, at // size ** 2 % size, at // size % size, at % size], 1)
    features = random(count, channels).float()
    dense = torch.zeros(2, channels, size, size, size).double()
    dense[coords[:, 0], :, coords[:, 1], coords[:, 2], coords[:, 3]] = features.double()
    return coords.int(), features, dense, random(3, 3, 3, channels, 4, seed=1).float()


def convolved(coords, dense, weight):
    """A submanifold convolution by torch's, at the places of the input."""
    out = F.conv3d(dense, weight.double().permute(4, 3, 0, 1, 2), padding=1)
    return out[coords[:, 0].long(), :, coords[:, 1].long(), coords[:, 2].long(), coords[:, 3].long()]


@row("spconv 2")
def spconv_2(bring):
    spconv, (coords, features, dense, weight) = bring("spconv.pytorch"), voxels()
    net = spconv.SubMConv3d(3, 4, 3, bias=False)
    net.weight.data.copy_(weight.permute(4, 0, 1, 2, 3))
    yield net(spconv.SparseConvTensor(features, coords, [5, 5, 5], 2)).features, convolved(coords, dense, weight)


@row("spconv 1 (Cylinder3D), det3d")
def spconv_1(bring):
    spconv, (coords, features, dense, weight) = bring("spconv"), voxels()
    net = spconv.SubMConv3d(3, 4, 3, bias=False)
    net.weight.data.copy_(weight)
    yield net(spconv.SparseConvTensor(features, coords, [5, 5, 5], 2)).features, convolved(coords, dense, weight)


@row("MinkowskiEngine 0.5 (MinkUNet)")
def minkowski(bring):
    """The kernel's first axis changes fastest."""
    engine, (coords, features, dense, weight) = bring("MinkowskiEngine"), voxels()
    net = engine.MinkowskiConvolution(3, 4, kernel_size=3, dimension=3)
    net.kernel.data.copy_(weight.permute(2, 1, 0, 3, 4).reshape(27, 3, 4))
    made = net(engine.SparseTensor(features, coords))
    yield made.C, coords.long()
    yield made.F, convolved(coords, dense, weight)


@row("torchsparse 2.1 (SPVNAS)")
def torchsparse(bring):
    nn, (coords, features, dense, weight) = bring("torchsparse.nn"), voxels()
    net = nn.Conv3d(3, 4, 3)
    net.kernel.data.copy_(weight.permute(2, 1, 0, 3, 4).reshape(27, 3, 4))
    yield net(bring("torchsparse").SparseTensor(features, coords)).feats, convolved(coords, dense, weight)
