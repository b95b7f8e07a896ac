"""The operators of point clouds against what a user has without mluops: compositions of torch's operators, and the neighbour
searches of scipy and Open3D where they can be imported."""

import importlib.util
import math
import sys
from pathlib import Path

import torch

import mluops.torch as mt

sys.path.append(str(Path(__file__).resolve().parents[2] / "test/python"))
import compositions  # noqa: E402  tests compare with the same

GRID = (41, 1600, 1408)  # SECOND's, of cells of 5 x 5 x 10 centimetres


def squares(a, b):
    """[B, N, M] squared distances by a matrix product, as compositions have them."""
    return torch.cdist(a, b).square_()


def ball_composed(radius, count, points, centres):
    """PointNet++'s query_ball_point: numbers of points outside become N, the smallest numbers are taken."""
    n = points.shape[1]
    numbers = torch.arange(n).expand(*centres.shape[:2], n).clone()
    numbers[squares(centres, points) >= radius ** 2] = n
    numbers = numbers.topk(count, 2, largest=False, sorted=True)[0]
    first = numbers[:, :, :1]
    return torch.where(numbers == n, first, numbers) % n


def furthest(batch, n, count, squared_distances):
    """Point 0, then again and again the one furthest from those picked; squared_distances(picked) [batch, n]."""
    nearest = torch.full((batch, n), 1e10)
    last, picked = torch.zeros(batch, dtype=torch.long), []
    for _ in range(count):
        picked.append(last)
        nearest = torch.min(nearest, squared_distances(last))
        last = nearest.argmax(1)
    return torch.stack(picked, 1)


def furthest_composed(points, count):
    """PointNet++'s farthest_point_sample, from point 0."""
    batch = torch.arange(len(points))
    return furthest(*points.shape[:2], count, lambda last: (points - points[batch, last][:, None]).square().sum(2))


def furthest_by_distances(table, count):
    batch = torch.arange(len(table))
    return furthest(*table.shape[:2], count, lambda last: table[batch, last])


def nearest_composed(target, source):
    squared, index = squares(target, source).topk(3, 2, largest=False)
    return squared.sqrt(), index


def tree():
    """scipy's cKDTree, or None."""
    if importlib.util.find_spec("scipy") is None:
        return None
    from scipy.spatial import cKDTree
    return cKDTree


def nearest_by_tree(target, source, k):
    """Trees built for each cloud, as our call does."""
    found = [tree()(s.numpy()).query(t.numpy(), k, workers=torch.get_num_threads())[0] for t, s in zip(target, source)]
    return torch.stack([torch.from_numpy(each) for each in found])


def ball_by_tree(radius, count, points, centres):
    """The tree gives all points of each ball; as many as are asked for are kept."""
    result = torch.zeros(*centres.shape[:2], count, dtype=torch.long)
    for b, (p, c) in enumerate(zip(points, centres)):
        for i, found in enumerate(tree()(p.numpy()).query_ball_point(c.numpy(), radius, workers=1, return_sorted=True)):
            if found:
                found = torch.tensor(found[:count])
                result[b, i] = found[0]
                result[b, i, :len(found)] = found
    return result


def open3d_search(points):
    """Open3D's search over one cloud."""
    import open3d.core
    return open3d.core.nns.NearestNeighborSearch(open3d.core.Tensor.from_numpy(points.numpy()))


def nearest_by_open3d(target, source, k):
    """Squared distances; trees built for each cloud as our call does."""
    import open3d.core
    result = []
    for t, s in zip(target, source):
        search = open3d_search(s)
        search.knn_index()
        result.append(torch.from_numpy(search.knn_search(open3d.core.Tensor.from_numpy(t.numpy()), k)[1].numpy()))
    return torch.stack(result)


def ball_by_open3d(radius, count, points, centres):
    """The nearest ones of each ball."""
    import open3d.core
    result = []
    for p, c in zip(points, centres):
        search = open3d_search(p)
        search.hybrid_index(radius)
        found = search.hybrid_search(open3d.core.Tensor.from_numpy(c.numpy()), radius, count)[0]
        result.append(torch.from_numpy(found.numpy()))
    return torch.stack(result)


def by_libraries(scipy_call, open3d_call):
    return ({"scipy": scipy_call} if tree() else {}) | (
        {"Open3D": open3d_call} if importlib.util.find_spec("open3d") else {})


def search_cases():
    for n, m in ((1024, 1024), (4096, 4096), (16384, 4096)):
        points = torch.rand(16, n, 3)
        centres, radius = points[:, :m].contiguous(), 2 * (32 / n / 4.19) ** (1 / 3)
        size = f"B 16, N {n}, M {m}"
        yield (f"ball_query {size}, 32 of about 256", [],
               {"ours": lambda p=points, c=centres, r=radius: mt.ball_query(0, r, 32, p, c),
                "composed": lambda p=points, c=centres, r=radius: ball_composed(r, 32, p, c),
                **by_libraries(lambda p=points, c=centres, r=radius: ball_by_tree(r, 32, p, c),
                               lambda p=points, c=centres, r=radius: ball_by_open3d(r, 32, p, c))})
        yield (f"three_nn {size} (of M in N)", [],
               {"ours": lambda p=points, c=centres: mt.three_nn(c, p)[0],
                "composed": lambda p=points, c=centres: nearest_composed(c, p)[0],
                **by_libraries(lambda p=points, c=centres: nearest_by_tree(c, p, 3),
                               lambda p=points, c=centres: nearest_by_open3d(c, p, 3))})
        yield (f"knn {size}, k 32", [],
               {"ours": lambda p=points, c=centres: mt.knn(32, p, c),
                "composed": lambda p=points, c=centres: torch.cdist(c, p).topk(32, 2, largest=False)[1].transpose(1, 2),
                **by_libraries(lambda p=points, c=centres: nearest_by_tree(c, p, 32),
                               lambda p=points, c=centres: nearest_by_open3d(c, p, 32))})


def sample_cases():
    for n, count in ((1024, 512), (4096, 1024), (16384, 4096)):
        points = torch.rand(16, n, 3)
        yield (f"furthest_point_sample B 16, {count} of {n}", [],
               {"ours": lambda p=points, m=count: mt.furthest_point_sample(p, m),
                "composed": lambda p=points, m=count: furthest_composed(p, m)})
    table = torch.cdist(points[:4, :4096], points[:4, :4096]).square()
    yield ("furthest_point_sample_with_dist B 4, 512 of 4096", [],
           {"ours": lambda: mt.furthest_point_sample_with_dist(table, 512),
            "composed": lambda: furthest_by_distances(table, 512)})


def gather_cases():
    for c, n, m, k in ((64, 4096, 1024, 32), (128, 16384, 4096, 16)):
        features, index = torch.rand(4, c, n), torch.randint(0, n, (4, m, k)).int()
        yield (f"grouping_operation B 4, C {c}, N {n}, {m} groups of {k}", [features],
               {"ours": lambda f, i=index: mt.grouping_operation(f, i),
                "composed": lambda f, i=index: compositions.gather_points(f, i)})
    one = index[:, :, 0].contiguous()
    yield (f"gather_points B 4, C {c}, N {n}, M {m}", [features],
           {"ours": lambda f: mt.gather_points(f, one), "composed": lambda f: compositions.gather_points(f, one)})


def assembled(scores, points, centers, index):
    """sum over m of scores [B, P, K, M] times (points of the neighbours minus those of the centre) [B, P, K, M, O]."""
    batch = torch.arange(len(index))[:, None, None]
    moved = points[batch, index] - centers[batch[:, :, 0], index[:, :, 0]][:, :, None]
    return torch.einsum("bpkm,bpkmo->bopk", scores, moved)


def weight_bank_case():
    scores, points = torch.rand(2, 512, 16, 8), torch.rand(2, 1024, 8, 64)
    index = torch.randint(0, 1024, (2, 512, 16))
    yield ("assign_score_withk B 2, N 1024, 512 centres, K 16, M 8, O 64", [scores, points, torch.rand(2, 1024, 8, 64)],
           {"ours": lambda s, p, c: mt.assign_score_withk(s, p, c, index),
            "composed": lambda s, p, c: assembled(s, p, c, index)})


def roiaware_composed(rois, points, features, size):
    """Box by box: which voxel each point of it is in, then the maximum of each voxel."""
    result = features.new_zeros(len(rois), size ** 3, features.shape[1])
    for number, (x, y, z, dx, dy, dz, angle) in enumerate(rois.tolist()):
        c, s = math.cos(angle), math.sin(angle)
        moved = points - points.new_tensor([x, y, z])
        local = torch.stack([moved[:, 0] * c + moved[:, 1] * s, moved[:, 1] * c - moved[:, 0] * s, moved[:, 2]], 1)
        local += local.new_tensor([dx / 2, dy / 2, 0])
        cells = (local / (local.new_tensor([dx, dy, dz]) / size)).floor()
        found = ((cells >= 0) & (cells < size)).all(1).nonzero()[:, 0]
        cells = (cells[found] @ cells.new_tensor([size * size, size, 1])).long()
        places = cells[:, None].expand(-1, features.shape[1])
        pooled = torch.full_like(result[number], -math.inf)
        pooled = pooled.scatter_reduce(0, places, features[found], "amax")
        result[number] = pooled.masked_fill(pooled == -math.inf, 0)
    return result.view(len(rois), size, size, size, -1)


def roiaware_case():
    rois = torch.cat([torch.rand(128, 2) * 60, torch.zeros(128, 1), torch.tensor([[3.9, 1.6, 1.56]]).repeat(128, 1),
                      torch.rand(128, 1) * 6], 1)
    points, features = torch.rand(16384, 3) * torch.tensor([60.0, 60, 2]), torch.rand(16384, 32)
    yield ("roiaware_pool3d 128 RoIs, 16384 points, C 32, 14 a side, max", [features],
           {"ours": lambda f: mt.roiaware_pool3d(rois, points, f, 14, 128, "max"),
            "composed": lambda f: roiaware_composed(rois, points, f, 14)})


def ring(vertices, mask, count):
    """The marked corners in the order of their angles, then the first one."""
    angle = torch.atan2(vertices[..., 1], vertices[..., 0]).masked_fill(~mask, math.inf)
    order = angle.argsort(2)[..., :9]
    return torch.where(torch.arange(9) < count[..., None], order, order[..., :1])


def rotated_case():
    from mluops.torch.op import diff_iou_rotated as module
    angle = torch.rand(4, 2048, 24) * (2 * math.pi)
    moved = torch.stack([angle.cos(), angle.sin()], -1)
    mask = torch.rand(4, 2048, 24).argsort(-1) < 8  # the most corners of an overlap
    count = mask.sum(2).int()
    yield ("diff_iou_rotated_sort_vertices, 8192 pairs of boxes", [],
           {"ours": lambda: module.sort_vertices(moved, mask, count), "composed": lambda: ring(moved, mask, count)})


def sweep():
    """60000 voxels of a sweep of 64 rings, ground and walls, in the order of the scan."""
    up, around = torch.linspace(-24.8, 2, 64) * math.pi / 180, torch.linspace(-1.54, 1.54, 2048)
    up, around = torch.meshgrid(up, around, indexing="ij")
    walls = (10 + 50 * torch.rand(64)).repeat_interleave(32)
    far = torch.min(1.73 / (-up).clamp(min=1e-3).tan(), walls) + 0.02 * torch.randn(64, 2048)
    points = torch.stack([far * up.cos() * around.cos(), far * up.cos() * around.sin(), far * up.sin()], -1).view(-1, 3)
    cells = ((points - torch.tensor([0.0, -40, -3])) / torch.tensor([0.05, 0.05, 0.1])).floor().long().flip(1)
    cells = cells[((cells >= 0) & (cells < torch.tensor(GRID))).all(1)]
    keys, at = (cells @ torch.tensor([GRID[1] * GRID[2], GRID[2], 1])).unique(return_inverse=True)
    first = torch.full((len(keys),), len(cells)).scatter_reduce(0, at, torch.arange(len(cells)), "amin")
    cells = cells[first.sort()[0][:60000]]
    return torch.cat([torch.zeros(len(cells), 1, dtype=torch.long), cells], 1).int()


def convolution_composed(features, filters, pairs, numbers, rows):
    filters = filters.flatten(0, 2)
    result = features.new_zeros(rows, filters.shape[2])
    for k, number in enumerate(numbers.tolist()):
        if number > 0:
            inputs, outputs = pairs[k, :, :number]
            result.index_add_(0, outputs, features.index_select(0, inputs) @ filters[k])
    return result


def sparse_cases():
    voxels = sweep()
    for kind, stride, channels in (("subm 3x3x3", 1, ((4, 16), (16, 16), (32, 32), (64, 64))),
                                   ("3x3x3 stride 2", 2, ((16, 32),))):
        outputs, pairs, numbers = mt.get_indice_pairs(voxels, 1, GRID, 3, stride, 1, 1, 0, subm=stride == 1)
        rows, number = len(outputs), int(numbers.sum())
        for c, o in channels:
            convolution = mt.indice_subm_conv if stride == 1 else mt.indice_conv
            yield (f"indice_conv, {kind}, {number} pairs, {c} to {o} channels", [torch.randn(len(voxels), c),
                                                                                  torch.randn(3, 3, 3, c, o)],
                   {"ours": lambda x, w, f=convolution, p=pairs, n=numbers, m=rows: f(x, w, p, n, m),
                    "composed": lambda x, w, p=pairs, n=numbers, m=rows: convolution_composed(x, w, p, n, m)})


CASES = (search_cases, sample_cases, gather_cases, weight_bank_case, roiaware_case, rotated_case, sparse_cases)


def agree(name, functions, tensors):
    """What is compared computes the same. Indices may differ where distances are rounded otherwise; the libraries give
    other things."""
    with torch.no_grad():
        ours, theirs = (functions[who](*tensors).double() for who in ("ours", "composed"))
    if ours.shape == theirs.shape and tensors or name.startswith("three_nn"):
        assert torch.allclose(ours, theirs, rtol=1e-3, atol=2e-3), name
    elif not name.startswith("diff_iou"):
        assert (ours == theirs).double().mean() > 0.98, name
