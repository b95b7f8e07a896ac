"""knn_cuda, chamfer, pointnet2_ops.pointnet2_utils, mmdet3d's older extensions and deform_conv_ext, called as programs do;
against compositions in double."""

import importlib

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.dropin.module import (deform_conv_ext, group_points_ext, iou3d_cuda, mmdet3d_ops_ext,  # noqa: E402
                                  voxel_layer)
from point_doors import cloud, furthest, in_ball, near, squares  # noqa: E402


@pytest.fixture(autouse=True)
def installed():
    with opened("knn_cuda", "chamfer", "pointnet2_ops"):
        yield


@pytest.mark.parametrize("dim", [3, 5])
def test_knn_cuda(dim):
    module, ref, query = importlib.import_module("knn_cuda"), cloud(2, 50, dim), cloud(2, 9, dim, seed=1)
    wanted, order = squares(query, ref).topk(4, 2, largest=False)
    distances, indices = module.KNN(k=4, transpose_mode=True)(ref, query)
    near(distances, wanted.sqrt())
    assert torch.equal(indices, order) and indices.dtype == torch.int64
    for found, want in zip(module.KNN(4)(ref.transpose(1, 2), query.transpose(1, 2)), (distances, indices)):
        assert torch.equal(found, want.transpose(1, 2))
    assert torch.equal(module.knn(ref[0].t(), query[0].t(), 4)[1], indices[0].t())
    filled = torch.empty(2, 4, 9, dtype=torch.int64)
    importlib.import_module("knn_pytorch").knn_pytorch.knn(ref.transpose(1, 2), query.transpose(1, 2), filled)
    assert torch.equal(filled - 1, indices.transpose(1, 2))
    with pytest.raises(ValueError, match="k: wanted at most 50"):
        module.KNN(51)(ref.transpose(1, 2), query.transpose(1, 2))


@pytest.mark.parametrize("dim", [2, 3])
def test_chamfer(dim):
    a, b = (cloud(2, n, dim, seed=n).double().requires_grad_() for n in (20, 15))
    table = squares(a, b)
    wanted = table.min(2), table.min(1)
    weights = cloud(2, 20).double(), cloud(2, 15).double()
    gradients = torch.autograd.grad(sum((w * each.values).sum() for w, each in zip(weights, wanted)), (a, b))
    own, other = a.detach().float(), b.detach().float()
    found = importlib.import_module("chamfer").forward(own, other)
    for k in (0, 1):
        near(found[k], wanted[k].values.detach())
        assert torch.equal(found[2 + k].long(), wanted[k].indices)
    grads = [each.float() for each in weights]
    for each, want in zip(importlib.import_module("chamfer").backward(own, other, *found[2:], *grads), gradients):
        near(each, want)
    module = importlib.import_module(f"chamfer_{dim}D")
    buffers = torch.zeros(2, 20), torch.zeros(2, 15), torch.zeros(2, 20).int(), torch.zeros(2, 15).int()
    assert module.forward(own, other, *buffers) == 1
    assert all(torch.equal(each, want) for each, want in zip(buffers, found))
    sums = torch.ones_like(own), torch.ones_like(other)
    module.backward(own, other, *sums, *grads, *buffers[2:])
    for each, want in zip(sums, gradients):
        near(each - 1, want)


def test_pointnet2_utils():
    from pointnet2_ops import pointnet2_utils as utils
    xyz, centers = cloud(2, 40, 3) + 1, cloud(2, 6, 3, seed=1) + 1
    features = cloud(2, 5, 40, seed=2).double().requires_grad_()
    assert utils.furthest_point_sample(xyz, 7).tolist() == [furthest(each, 7) for each in xyz]
    idx = utils.ball_query(0.4, 3, xyz, centers)
    assert idx.tolist() == [in_ball(table, 0.4, 3) for table in squares(centers, xyz)]
    wanted = torch.stack([each[:, i.long()] for each, i in zip(features, idx)])
    found = utils.QueryAndGroup(0.4, 3)(xyz.double(), centers.double(), features)
    near(found[:, 3:], wanted)
    near(found[:, :3], torch.stack([each[i.long()] for each, i in zip(xyz, idx)]).permute(0, 3, 1, 2) - centers.transpose(
        1, 2)[..., None])
    assert torch.equal(utils.QueryAndGroup(0.4, 3, use_xyz=False)(xyz.double(), centers.double(), features), found[:, 3:])
    near(torch.autograd.grad(found.sum(), features)[0], torch.autograd.grad(wanted.sum(), features)[0])
    assert utils.GroupAll()(xyz, None, features.float()).shape == (2, 8, 1, 40)
    with pytest.raises(ModuleNotFoundError, match="no pointnet2_ops.pointnet2_modules"):
        importlib.import_module("pointnet2_ops.pointnet2_modules")


def test_iou3d_cuda():
    corner = cloud(30, 2) * 20
    boxes = torch.cat([corner, corner + cloud(30, 2, seed=1) * 8 + 0.5, cloud(30, 1, seed=2) * 6], 1)
    middle, sides = (boxes[:, :2] + boxes[:, 2:4]) / 2, boxes[:, 2:4] - boxes[:, :2]
    rotated = torch.cat([middle, sides, -boxes[:, 4:]], 1).double()
    wanted, found = mt.box_iou_rotated(rotated, rotated), torch.empty(30, 30)
    assert iou3d_cuda.boxes_iou_bev_gpu(boxes, boxes, found) == 1
    near(found, wanted, 3e-4)  # the operator's margin of corners in boxes
    area, overlap = sides.prod(1).double(), torch.empty(30, 30)
    iou3d_cuda.boxes_overlap_bev_gpu(boxes, boxes, overlap)
    near(overlap, wanted * (area[:, None] + area) / (1 + wanted), 3e-4)
    upright = mt.bbox_overlaps(boxes[:, :4].double(), boxes[:, :4].double())
    for function, table in ((iou3d_cuda.nms_gpu, wanted), (iou3d_cuda.nms_normal_gpu, upright)):
        keep, kept = torch.zeros(30, dtype=torch.int64), []
        for i in range(30):
            if all(table[i, j] <= 0.1 for j in kept):
                kept.append(i)
        count = function(boxes, keep, 0.1, 0)
        assert keep[:count].tolist() == kept and 1 < count < 30


def test_extensions_of_mmdet3d():
    xyz, centers = cloud(2, 40, 3), cloud(2, 6, 3, seed=1)
    idx = torch.zeros(2, 6, 4, dtype=torch.int32)
    mmdet3d_ops_ext.ball_query_wrapper(2, 40, 6, 0, 0.4, 4, centers, xyz, idx)
    assert idx.tolist() == [in_ball(table, 0.4, 4) for table in squares(centers, xyz)]
    picked = torch.zeros(2, 7, dtype=torch.int32)
    mmdet3d_ops_ext.furthest_point_sampling_wrapper(2, 40, 7, xyz, torch.full((2, 40), 1e10), picked)
    assert picked.tolist() == [furthest(each, 7) for each in xyz]
    mmdet3d_ops_ext.furthest_point_sampling_with_dist_wrapper(2, 40, 7, squares(xyz, xyz).float(), torch.full((2, 40), 1e10), picked)
    assert picked.tolist() == [furthest(each, 7) for each in xyz]
    near_idx, dist2 = torch.zeros(2, 6, 5, dtype=torch.int32), torch.zeros(2, 6, 5)
    mmdet3d_ops_ext.knn_wrapper(2, 40, 6, 5, xyz, centers, near_idx, dist2)
    wanted, order = squares(centers, xyz).topk(5, 2, largest=False)
    near(dist2, wanted)
    assert torch.equal(near_idx.long(), order)
    features, grouped = cloud(2, 3, 40, seed=3), torch.empty(2, 3, 6, 4)
    group_points_ext.forward(2, 3, 40, 6, 4, features, idx, grouped)
    assert torch.equal(grouped, torch.stack([each[:, i.long()] for each, i in zip(features, idx)]))


def test_voxel_layer():
    points, size, reach = cloud(60, 4) * 4, [1.0, 2.0, 4.0], [0.0, 0, 0, 4, 4, 4]
    voxels, places, counts = torch.zeros(9, 5, 4), torch.zeros(9, 3, dtype=torch.int32), torch.zeros(9, dtype=torch.int32)
    count = voxel_layer.hard_voxelize(points, voxels, places, counts, size, reach, 5, 9, 3, True)
    wanted = mt.voxelization(points, size, reach, 5, 9)
    assert count == len(wanted[0]) == 8
    for found, want in zip((voxels, places, counts), wanted):
        assert torch.equal(found[:count], want)
    cells = torch.zeros(60, 3, dtype=torch.int32)
    voxel_layer.dynamic_voxelize(points, cells, size, reach, 3)
    assert torch.equal(cells, mt.voxelization(points, size, reach, -1))


def test_deform_conv_ext():
    x, offset, weight = cloud(1, 4, 6, 7), cloud(1, 18, 6, 7, seed=1) - 0.5, cloud(5, 4, 3, 3, seed=2)
    output, empty = torch.empty(1, 5, 6, 7), torch.empty(0)
    deform_conv_ext.deform_conv_forward_cuda(x, weight, offset, output, empty, empty, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)
    near(output, mt.deform_conv2d(x.double(), offset.double(), weight.double(), 1, 1))
    mask, bias = cloud(1, 9, 6, 7, seed=3), cloud(5, seed=4)
    deform_conv_ext.modulated_deform_conv_forward(x, weight, bias, empty, offset, mask, output, empty, 3, 3, 1, 1, 1, 1, 1, 1, 1,
                                                  1, True)
    wanted = mt.modulated_deform_conv2d(x.double(), offset.double(), mask.double(), weight.double(), bias.double(), 1, 1)
    near(output, wanted)
    replaced = deform_conv_ext.REPLACES["basicsr.ops.dcn.deform_conv", "modulated_deform_conv"]
    near(replaced(x, offset, mask, weight, bias, 1, 1), wanted)
    assert torch.equal(deform_conv_ext.REPLACES["mmdet.ops.dcn.deform_conv", "deform_conv"](x, offset, weight, 1, 1),
                       mt.deform_conv2d(x, offset, weight, 1, 1))
