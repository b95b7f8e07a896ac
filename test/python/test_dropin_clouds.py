"""The extensions of Point Transformer and Pointcept on clouds that lie one behind the other, called as their programs do;
against plain loops and compositions in double."""

import importlib
import sys

import pytest

torch = pytest.importorskip("torch")

import mluops.dropin as dropin  # noqa: E402
from point_doors import cloud, door, doors, furthest, near, squares  # noqa: E402,F401


# ---- pointops_cuda, pointops._C, pointops


OFFSET, NEW_OFFSET = torch.tensor([30, 33, 55]).int(), torch.tensor([6, 8, 15]).int()


def clouds():
    ends, new_ends = [0, *OFFSET.tolist()], [0, *NEW_OFFSET.tolist()]
    return [(slice(*new_ends[i:i + 2]), slice(*ends[i:i + 2])) for i in range(3)]


@pytest.mark.parametrize("missing", ["first", "none"])
def test_nearest_in_clouds(missing):
    """The middle cloud has fewer points than are asked for."""
    xyz, centers = cloud(55, 3), cloud(15, 3, seed=1)
    idx, dist2 = torch.zeros(15, 5, dtype=torch.int32), torch.zeros(15, 5)
    if missing == "first":
        door("pointops_cuda").knnquery_cuda(15, 5, xyz, centers, OFFSET, NEW_OFFSET, idx, dist2)
    else:
        found, distance = door("pointops").knn_query(5, xyz, OFFSET, centers, NEW_OFFSET)
        idx, dist2 = found, distance ** 2
    for rows, points in clouds():
        count = min(5, points.stop - points.start)
        wanted, order = squares(centers[rows], xyz[points]).topk(count, 1, largest=False)
        near(dist2[rows, :count], wanted)
        assert torch.equal(idx[rows, :count].long(), order + points.start)
        if count < 5:
            assert (idx[rows, count:] == (points.start if missing == "first" else -1)).all()
            near(dist2[rows, count:], torch.full((2, 2), 1e10))


def test_sampling_of_clouds():
    xyz, wanted = cloud(55, 3), []
    for rows, points in clouds():
        wanted += [k + points.start for k in furthest(xyz[points], rows.stop - rows.start)]
    assert door("pointops").farthest_point_sampling(xyz, OFFSET, NEW_OFFSET).tolist() == wanted
    idx = torch.zeros(15, dtype=torch.int32)
    door("pointops_cuda").furthestsampling_cuda(3, 30, xyz, OFFSET, NEW_OFFSET, torch.full((55,), 1e10), idx)
    assert idx.tolist() == wanted


def test_balls_in_clouds():
    xyz, centers = cloud(55, 3), cloud(15, 3, seed=1)
    idx, distance = door("pointops").ball_query(8, 0.4, 0.1, xyz, OFFSET, centers, NEW_OFFSET)
    drawn, _ = door("pointops").random_ball_query(8, 0.4, 0.1, xyz, OFFSET, centers, NEW_OFFSET)
    for rows, points in clouds():
        table = squares(centers[rows], xyz[points])
        for row, line in zip(range(rows.start, rows.stop), table):
            ball = [k + points.start for k in line.argsort().tolist() if line[k] <= 1e-5 or 0.01 <= line[k] < 0.16]
            step = max(1.0, len(ball) / 8)
            wanted = [ball[int(step * k)] for k in range(min(8, len(ball)))]
            assert idx[row].tolist() == wanted + [-1] * (8 - len(wanted))
            near(distance[row, :len(wanted)], table[row - rows.start, [k - points.start for k in wanted]].sqrt(), 1e-4)
            some = [k for k in drawn[row].tolist() if k >= 0]
            assert set(some) <= set(ball) and len(set(some)) == min(8, len(ball)) == len(some)


# name, sizes of the arguments that count, makers of inputs; the forward's output; the composition; which are differentiable
def gathers():
    generator = torch.Generator().manual_seed(6)
    n, s, c, w = 12, 3, 6, 2
    idx = torch.randint(n, (n, s), generator=generator).int()
    a, b, position, weight = cloud(n, c), cloud(n, c, seed=1), cloud(n, s, c, seed=2), cloud(n, s, w, seed=3)
    pairs = torch.randint(n, (2, 20), generator=generator).int()
    q, k, v = (cloud(n, 2, c, seed=seed) for seed in (4, 5, 6))
    of_channel, of_pair = cloud(c, seed=7), cloud(20, 2, seed=8)
    i, target, refer = idx.long(), pairs[0].long(), pairs[1].long()
    whole = cloud(n, s, seed=9)
    return {
        "grouping": ((n, s, c), (a,), (idx,), (n, s, c), lambda a: a[i]),
        "subtraction": ((n, s, c), (a, b), (idx,), (n, s, c), lambda a, b: a[:, None] - b[i]),
        "interpolation": ((n, c, s), (a,), (idx, whole), (n, c), lambda a: (a[i] * whole.double()[..., None]).sum(1)),
        "aggregation": ((n, s, c, w), (a, position, weight), (idx,), (n, c), lambda a, p, x: (
            (a[i] + p).view(n, s, c // w, w) * x[:, :, None]).sum(1).view(n, c)),
        "attention_relation_step": ((20, 2, c), (q, k, of_channel), tuple(pairs), (20, 2), lambda q, k, x: (
            q[target] * k[refer] * x).sum(2)),
        "attention_fusion_step": ((20, 2, c), (of_pair, v), tuple(pairs), (n, 2, c), lambda x, v: torch.zeros_like(
            v).index_add(0, target, x[..., None] * v[refer])),
    }


# Where a backward function takes what: sizes, inputs, constants, gradient of the output, gradients of the inputs.
def arguments_backward(name, sizes, inputs, constants, grad, grads):
    if name in ("grouping", "interpolation"):
        return (*sizes, grad, *constants, *grads)
    if name == "subtraction":
        return (*sizes, *constants, grad, *grads)
    if name == "aggregation":
        return (*sizes, *inputs, *constants, grad, *grads)
    return (*sizes, *(each for pair in zip(inputs, grads) for each in pair), *constants, grad)


@pytest.mark.parametrize("name", ["grouping", "subtraction", "interpolation", "aggregation", "attention_relation_step",
                                  "attention_fusion_step"])
@pytest.mark.parametrize("module", ["pointops_c", "pointops_cuda"])
def test_gathers_of_clouds(module, name):
    if module == "pointops_cuda" and name.startswith("attention"):
        pytest.skip("pointops_cuda has no attention")
    found = importlib.import_module(f"mluops.dropin.module.{module}")
    sizes, inputs, constants, shape, composition = gathers()[name]
    wide = [each.double().requires_grad_() for each in inputs]
    wanted, out = composition(*wide), torch.zeros(shape)
    getattr(found, f"{name}_forward_cuda")(*sizes, *inputs, *constants, out)
    near(out, wanted)
    grad, grads = cloud(*shape, seed=20), [torch.zeros_like(each) for each in inputs]
    getattr(found, f"{name}_backward_cuda")(*arguments_backward(name, sizes, inputs, constants, grad, grads))
    for ours, theirs in zip(grads, torch.autograd.grad(wanted, wide, grad.double())):
        near(ours, theirs)


def test_pointops_functions_differentiate():
    """The package's own functions, by torch's autograd."""
    pointops, data = door("pointops"), gathers()
    for name in ("subtraction", "aggregation", "attention_relation_step", "attention_fusion_step"):
        _, inputs, constants, _, composition = data[name]
        wide = [each.double().requires_grad_() for each in inputs]
        own = [each.double().requires_grad_() for each in inputs]
        wanted, found = composition(*wide), getattr(pointops, name)(*own, *constants)
        assert torch.allclose(found, wanted)
        for ours, theirs in zip(torch.autograd.grad(found.sum(), own), torch.autograd.grad(wanted.sum(), wide)):
            assert torch.allclose(ours, theirs)


def test_pointops_groups():
    pointops, xyz, centers, feat = door("pointops"), cloud(55, 3), cloud(15, 3, seed=1), cloud(55, 4, seed=2)
    grouped, idx = pointops.knn_query_and_group(feat, xyz, OFFSET, centers, NEW_OFFSET, nsample=5, with_xyz=True)
    wanted = torch.cat([xyz[idx.long()] - centers[:, None], feat[idx.long()]], -1).masked_fill((idx < 0)[..., None], 0)
    assert torch.equal(grouped, wanted) and (idx < 0).any()
    plain, idx = pointops.query_and_group(3, xyz, centers, feat, None, OFFSET, NEW_OFFSET)
    assert torch.equal(plain, torch.cat([xyz[idx.long()] - centers[:, None], feat[idx.long()]], -1))
    dilated = pointops.query_and_group(3, xyz, centers, feat, None, OFFSET, NEW_OFFSET, dilation=1, with_feat=False)
    wide, _ = pointops.knn_query(5, xyz, OFFSET, centers, NEW_OFFSET)
    assert torch.equal(dilated[:6], wide[:6, ::2]) and torch.equal(dilated[6:8], wide[6:8, :3])
    near(pointops.interpolation(xyz, xyz, feat, OFFSET, OFFSET, k=3), feat, 1e-4)  # a point is nearest to itself
    batch = pointops.offset2batch(OFFSET)
    assert batch.tolist() == [0] * 30 + [1] * 3 + [2] * 22
    assert pointops.batch2offset(batch).tolist() == OFFSET.tolist()


def test_a_program_s_own_autograd_function():
    """A module of the structure these programs have, trained by one step, equals its composition."""
    batch = door("pointnet2_batch_cuda")

    class Grouping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, features, idx):
            b, count, nsample = idx.shape
            out = torch.empty(b, features.shape[1], count, nsample)
            batch.group_points_wrapper(b, features.shape[1], features.shape[2], count, nsample, features, idx, out)
            ctx.kept = idx, features.shape[2]
            return out

        @staticmethod
        def backward(ctx, grad):
            idx, n = ctx.kept
            grad_features = torch.zeros(grad.shape[0], grad.shape[1], n)
            batch.group_points_grad_wrapper(*grad.shape[:2], n, *idx.shape[1:], grad.contiguous(), idx, grad_features)
            return grad_features, None

    torch.manual_seed(0)
    xyz, net = cloud(2, 60, 3), torch.nn.Conv2d(4, 5, 1)
    features = cloud(2, 4, 60, seed=1).requires_grad_()
    idx = torch.zeros(2, 9, 5, dtype=torch.int32)
    batch.ball_query_wrapper(2, 60, 9, 0.4, 5, xyz[:, :9].contiguous(), xyz, idx)
    loss = net(Grouping.apply(features, idx)).relu().amax(3).square().sum()
    grads = torch.autograd.grad(loss, (features, net.weight))
    wide, double = features.detach().double().requires_grad_(), net.double()
    grouped = torch.stack([f[:, i.long()] for f, i in zip(wide, idx)])
    wanted = double(grouped).relu().amax(3).square().sum()
    near(loss, wanted)
    for ours, theirs in zip(grads, torch.autograd.grad(wanted, (wide, double.weight))):
        near(ours, theirs)


def test_modules_are_gone_afterwards():
    door("pointops_cuda")
    dropin.uninstall()
    assert "pointops_cuda" not in sys.modules
