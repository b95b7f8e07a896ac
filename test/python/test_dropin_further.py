"""Extensions of SphereFormer, MSN, PointFlow, LitePT, RVRT and SparseBEV, called as their programs do, against loops and plain
torch in double."""

import itertools

import pytest

torch = pytest.importorskip("torch")
from dropin_doors import door, near, opened, random, uniform  # noqa: E402
from torch.nn import functional as F  # noqa: E402



@pytest.fixture(autouse=True)
def doors():
    with opened("sptr", "emd", "pointops", "rvrt", "sparsebev"):
        yield


# ---- attention in windows


SIZES, HEADS, WIDTH, PLACES = [3, 1, 4], 2, 3, 5


@pytest.fixture
def windows():
    """The pairs as the extension makes them: counts, and the places of pairs."""
    counts = torch.tensor(SIZES).int()
    ends = torch.cat([torch.zeros(1), counts.cumsum(0)]).int()
    squares = torch.cat([torch.zeros(1), (counts ** 2).cumsum(0)]).int()
    n, m = int(ends[-1]), int(squares[-1])
    made = [torch.zeros(n).int(), torch.zeros(n).int(), torch.zeros(m).int(), torch.zeros(m).int()]
    door("sptr_cuda").precompute_all_cuda(n, len(counts), max(SIZES), counts, ends, squares, *made)
    return made


def test_pairs_of_windows(windows):
    first, second, start = [], [], 0
    begins, also = [], []
    for size in SIZES:
        base = len(first)
        for a, b in itertools.product(range(size), range(size)):
            first.append(start + a)
            second.append(start + b)
        begins += [base + size * t for t in range(size)]
        also += [base + t for t in range(size)]
        start += size
    assert [each.tolist() for each in windows] == [begins, also, first, second]


def voxels(windows):
    n, m = len(windows[0]), len(windows[2])
    q, k, v = (random(n, HEADS, WIDTH, seed=s).requires_grad_() for s in (1, 2, 3))
    tables = [random(PLACES, 3, HEADS, WIDTH, seed=s).requires_grad_() for s in (4, 5, 6)]
    rel = torch.randint(0, PLACES, (m, 3), generator=torch.Generator().manual_seed(7))
    ends = torch.cat([windows[0], torch.tensor([m]).int()])
    return n, m, q, k, v, tables, rel, ends, random(m, HEADS, seed=8).requires_grad_()


def of_table(table, rel):
    return sum(table[rel[:, axis], axis] for axis in range(3))


def turned(x):
    """[N, H, D] -> [H, D, N], as the programs give it."""
    return x.detach().permute(1, 2, 0).contiguous()


def table_turned(table):
    return table.detach().permute(2, 3, 1, 0).contiguous()


def same(buffers, wanted, inputs, grad):
    for buffer, expected in zip(buffers, torch.autograd.grad(wanted, inputs, grad, retain_graph=True)):
        near(buffer, expected)


def test_products_of_pairs(windows):
    n, m, q, k, _, (tq, tk, _), rel, ends, _ = voxels(windows)
    ext, i, j = door("sptr_cuda"), windows[2].long(), windows[3].long()
    product, places = (q[i] * k[j]).sum(2), (q[i] * of_table(tq, rel) + k[j] * of_table(tk, rel)).sum(2)
    output = torch.zeros(HEADS, m, dtype=torch.float64)
    ext.attention_step1_forward_cuda(n, n, m, HEADS, WIDTH, 4, turned(q), turned(k), windows[2], windows[3], output)
    near(output, product.t())
    grad, buffers = random(m, HEADS, seed=9), [torch.full_like(q, 7), torch.full_like(k, 7)]
    ext.attention_step1_backward_cuda(n, m, HEADS, WIDTH, 4, grad, windows[2], ends, windows[3], windows[1], q, k, *buffers)
    same(buffers, product, (q, k), grad)
    given = (turned(q), windows[2], ends, turned(k), windows[3], table_turned(tq), table_turned(tk), rel.t().int().contiguous())
    for name, wanted in (("dot_prod_with_idx", places), ("dot_prod_with_idx_all", product + places)):
        getattr(ext, f"{name}_forward_cuda")(n, m, HEADS, WIDTH, 4, PLACES, *given, output)
        near(output, wanted.t())
    buffers = [torch.zeros_like(each) for each in (q, k, tq, tk)]
    ext.dot_prod_with_idx_backward_cuda(n, m, HEADS, WIDTH, 4, PLACES, grad, q, ends, k, windows[1], windows[3], tq, tk, rel.int(),
                                        *buffers)
    same(buffers, places, (q, k, tq, tk), grad)


def test_sums_over_pairs(windows):
    n, m, _, _, v, (_, _, tv), rel, ends, attn = voxels(windows)
    ext, i, j, output = door("sptr_cuda"), windows[2].long(), windows[3].long(), torch.zeros(8, HEADS, WIDTH, dtype=torch.float64)

    def summed(values):
        return torch.zeros(n, HEADS, WIDTH, dtype=torch.float64).index_add(0, i, attn[..., None] * values)

    sizes, grad = (n, m, HEADS, WIDTH), random(n, HEADS, WIDTH, seed=9)
    ext.attention_step2_forward_cuda(*sizes, 4, attn, v, ends, windows[3], output)
    near(output, summed(v[j]))
    buffers = [torch.full_like(attn, 7), torch.full_like(v, 7)]
    pairs = windows[2], ends, windows[3], windows[1]
    ext.attention_step2_backward_cuda(*sizes, 4, grad, *pairs, attn, turned(v), *buffers)
    same(buffers, summed(v[j]), (attn, v), grad)
    ext.attention_step2_with_rel_pos_value_forward_cuda(*sizes, 4, attn, v, ends, windows[3], tv, rel.int(), output)
    wanted = summed(v[j] + of_table(tv, rel))
    near(output, wanted)
    buffers.append(torch.zeros_like(tv))
    ext.attention_step2_with_rel_pos_value_backward_cuda(*sizes, PLACES, 4, grad, *pairs, attn, turned(v), table_turned(tv),
                                                         rel.t().int().contiguous(), *buffers)
    same(buffers, wanted, (attn, v, tv), grad)


# ---- completion of point clouds


def test_structural_losses():
    ext, one, two = door("StructuralLossesBackend"), \
        uniform(2, 6, 3).requires_grad_(), uniform(2, 5, 3, seed=1).requires_grad_()
    match, _ = ext.ApproxMatch(one, two)
    near(match, door("emd_cuda").approxmatch_forward(one, two))
    distance = (one[:, None] - two[:, :, None]).square().sum(3).sqrt()
    cost = (match * distance).sum((1, 2))
    near(ext.MatchCost(one, two, match), cost)
    same(ext.MatchCostGrad(one, two, match), cost.sum(), (one, two), None)
    first, at, second, back = ext.NNDistance(one, two)
    table = (one[:, :, None] - two[:, None]).square().sum(3)
    for found, index, axis in ((first, at, 2), (second, back, 1)):
        near(found, table.min(axis)[0])
        assert torch.equal(index.long(), table.min(axis)[1]) and index.dtype == torch.int32
    weights = random(2, 6, seed=2), random(2, 5, seed=3)
    wanted = (table.min(2)[0] * weights[0]).sum() + (table.min(1)[0] * weights[1]).sum()
    same(ext.NNDistanceGrad(one, two, at, back, *weights), wanted, (one, two), None)


@pytest.mark.parametrize("coarse", [4, 8192])
def test_minimum_density(coarse, monkeypatch):
    from mluops.dropin.module import mds
    monkeypatch.setattr(mds, "_COARSE", coarse)
    points, length = uniform(2, 20, 3), torch.tensor([0.2, 0.3], dtype=torch.float64)
    output, wanted = torch.zeros(2, 23).int(), []
    door("MDS").minimum_density_sampling(points, 23, length, output)
    for cloud, size in zip(points.tolist(), length.tolist()):
        density, found = [0.0] * 20, [0]
        density[0] = 1e9
        for _ in range(22):
            last = cloud[found[-1]]
            for k, point in enumerate(cloud):
                square = sum((a - b) ** 2 for a, b in zip(point, last))
                density[k] += float(torch.tensor(-square / (5 * size ** 2)).double().exp()) * (1 if k < coarse else 2)
            best = min(density)
            found.append(density.index(best) if best < 1e9 else 0)
            density[found[-1]] = 1e9
        wanted.append(found)
    assert output.tolist() == wanted
    gathered = door("MDS").gather_points(points.transpose(1, 2).float().contiguous(), output)
    assert gathered.shape == (2, 3, 23)


def long_edges(cloud, alpha):
    """Kruskal's tree, its leaves taken off all at once, round after round; of the last two points the higher number."""
    edges = sorted((float((a - b).norm()), i, j) for (i, a), (j, b) in itertools.combinations(list(enumerate(cloud)), 2))
    group, kept = list(range(len(cloud))), []
    for length, i, j in edges:
        if group[i] != group[j]:
            kept.append((length, i, j))
            group = [group[i] if each == group[j] else each for each in group]
    mean = sum(edge[0] for edge in kept) / len(kept)
    penalty, other = [0.0] * len(cloud), [-1] * len(cloud)
    while kept:
        ends = [point for edge in kept for point in edge[1:]]
        leaves, rest = {point for point in ends if ends.count(point) == 1}, []
        for length, i, j in kept:
            outer = max({i, j} & leaves, default=None)
            if outer is None:
                rest.append((length, i, j))
            elif length > mean * alpha:
                penalty[outer], other[outer] = length, i + j - outer
        kept = rest
    return penalty, other, mean


@pytest.mark.parametrize("size", [2, 7, 12])
def test_expansion_penalty(size):
    ext, xyz = door("expansion_penalty"), random(2, 2 * size, 3)
    father, dist, mean = torch.zeros(2, 2 * size).int(), torch.ones(2, 2 * size).double(), torch.zeros(2).double()
    scratch = torch.zeros(2, 1).int(), torch.zeros(2, 1)
    assert ext.forward(xyz, size, father, dist, 1.1, *scratch, mean) == 1
    for b in (0, 1):
        runs = [long_edges(xyz[b, k:k + size], 1.1) for k in (0, size)]
        near(dist[b], torch.tensor(runs[0][0] + runs[1][0], dtype=torch.float64))
        assert father[b].tolist() == runs[0][1] + [at + size if at >= 0 else -1 for at in runs[1][1]]
        near(mean[b], torch.tensor(runs[0][2] + runs[1][2], dtype=torch.float64))
    assert size == 2 or (dist > 0).any()
    grad, buffer = random(2, 2 * size, seed=1), torch.zeros_like(xyz)
    ext.backward(xyz, buffer, grad, father)
    for b, k in itertools.product((0, 1), range(2 * size)):
        at = int(father[b, k])
        near(buffer[b, k], 2 * grad[b, k] * (xyz[b, k] - xyz[b, at]) if at >= 0 else torch.zeros(3))
    with pytest.raises(ValueError, match=f"primitive_size: wanted at least 2, and a divisor of {2 * size} points, got 5"):
        ext.forward(xyz, 5, father, dist, 1.1, *scratch, mean)


def test_points_at_one_place_end():
    father, dist, mean = torch.zeros(1, 8).int(), torch.ones(1, 8), torch.zeros(1)
    for xyz in (torch.zeros(1, 8, 3), torch.full((1, 8, 3), float("nan"))):
        door("expansion_penalty").forward(xyz, 8, father, dist, 1.5, torch.zeros(0), torch.zeros(0), mean)
        assert father.tolist() == [[-1] * 8]


# ---- places, frames, views


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_rotary_places(dtype):
    tokens, positions = random(2, 2, 4, 12).to(dtype), torch.randint(0, 9, (2, 4, 3))  # [B, H, N, D]
    wanted = tokens.double().clone()
    for axis, pair in itertools.product(range(3), range(2)):
        angle = positions[..., axis].double() * 1.5 / 100.0 ** (pair / 2)
        u, v = tokens[..., 4 * axis + pair].double(), tokens[..., 4 * axis + 2 + pair].double()
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        wanted[..., 4 * axis + pair], wanted[..., 4 * axis + 2 + pair] = u * cos - v * sin, v * cos + u * sin
    made, tolerance = tokens.clone(), {torch.float16: 3e-3, torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    door("pointrope").pointrope(made.transpose(1, 2), positions, 100.0, 1.5)  # a view, as the program's
    near(made, wanted, tolerance)
    door("pointrope").pointrope(made.transpose(1, 2), positions, 100.0, -1.5)
    near(made, tokens, 2 * tolerance)
    with pytest.raises(ValueError, match="tokens: wanted 4 axes, the last a multiple of 6"):
        door("pointrope").pointrope(torch.zeros(1, 2, 3, 8), positions, 100.0, 1.0)


def sampled(plane, y, x):
    """Bilinear samples of C x H x W, zeros outside."""
    height, width = plane.shape[1:]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    return F.grid_sample(plane[None], grid[None, None], align_corners=False)[0, :, 0]


def test_attention_to_frames(monkeypatch):
    """Pixel by pixel: two images of two frames, 2 heads, 2 groups over keys and values."""
    from torch.utils import cpp_extension
    monkeypatch.setattr(cpp_extension, "CUDA_HOME", None)
    ext = cpp_extension.load("deform_attn", ["deform_attn_ext.cpp", "deform_attn_cuda_kernel.cu"])
    clip, heads, groups, c, h, w, taps = 2, 2, 2, 4, 3, 4, 9
    q, kv = random(4, 1, c, h, w).requires_grad_(), random(2, clip, 2 * c, h, w, seed=1).requires_grad_()
    offset = random(4, clip * groups * taps * 2, h, w, seed=2).requires_grad_()
    rows = []
    for b, y, x in itertools.product(range(4), range(h), range(w)):
        keys = []
        for n in range(clip):
            frame = kv[b // clip, (n + b) % clip]
            moves = offset[b].reshape(clip, groups, taps, 2, h, w)[n, :, :, :, y, x]
            ys = torch.tensor([y - 1 + t // 3 for t in range(taps)]) + moves[:, :, 0]
            xs = torch.tensor([x - 1 + t % 3 for t in range(taps)]) + moves[:, :, 1]
            keys.append(torch.cat([sampled(frame[g * c:(g + 1) * c], ys[g], xs[g]) for g in range(groups)]))  # [2 C, taps]
        keys = torch.cat(keys, 1)
        out = []
        for head in range(heads):
            part = slice(2 * head, 2 * head + 2)
            weight = (q[b, 0, part, y, x] @ keys[part] * 2 ** -0.5).softmax(0)
            out.append(keys[c:][part] @ weight)
        rows.append(torch.cat(out))
    wanted = torch.stack(rows).reshape(4, h, w, c).permute(0, 3, 1, 2)[:, None]
    numbers, empty = (3, 3, 1, 1, 1, 1, 1, 1, heads, groups, clip), torch.empty(0)
    output = torch.zeros_like(q)
    ext.deform_attn_forward(q, kv, offset, output, empty, empty, empty, *numbers)
    near(output, wanted)
    grad, buffers = random(*q.shape, seed=3), [torch.zeros_like(each) for each in (q, kv, offset)]
    ext.deform_attn_backward(q, kv, offset, *[empty] * 5, *buffers, grad, *numbers)
    same(buffers, wanted, (q, kv, offset), grad)
    with pytest.raises(ValueError, match="kv: wanted 2 x 2 frames for 4 images, got \\[1, 2, 8, 3, 4\\]"):
        ext.deform_attn_forward(q, kv[:1], offset, output, empty, empty, empty, *numbers)


@pytest.mark.parametrize("levels", [4, 5])
def test_samples_of_views(levels):
    ext, name = door("_msmv_sampling_cuda"), f"_ms_deform_attn_cuda_c{'23456'[:levels]}"
    maps = [random(2, 3, 6 - k, 7 - k, 4, seed=k).requires_grad_() for k in range(levels)]
    places = uniform(2, 5, 6, 3, seed=7) * 1.4 - 0.2
    places[..., 2] = torch.randint(0, 3, (2, 5, 6)) / 2
    places[0, 0, 0, :2] = torch.tensor([1.0, 0.0])
    places, weights = places.requires_grad_(), random(2, 5, 6, levels, seed=8).requires_grad_()
    wanted = []
    for b, q, p in itertools.product(range(2), range(5), range(6)):
        view = round(float(places[b, q, p, 2]) * 2)
        grid = 2 * places[b, q, p, :2] - 1
        wanted.append(sum(F.grid_sample(each[b, view].permute(2, 0, 1)[None], grid[None, None, None], align_corners=True).flatten()
                          * weights[b, q, p, k] for k, each in enumerate(maps)))
    wanted = torch.stack(wanted).reshape(2, 5, 6, 4).transpose(2, 3)
    near(getattr(ext, f"{name}_forward")(*maps, places, weights), wanted)
    grad = random(2, 5, 4, 6, seed=9)
    found = getattr(ext, f"{name}_backward")(grad, *maps, places, weights)
    same(found, wanted, (*maps, places, weights), grad)
    nowhere = places.detach().clone()
    nowhere[0, 0, 0], nowhere[0, 0, 1, 2], nowhere[0, 0, 2, 0] = float("nan"), 3.0, float("inf")
    assert (getattr(ext, f"{name}_forward")(*maps, nowhere, weights)[0, 0, :, :3] == 0).all()
    with pytest.raises(ValueError, match=f"scale_weights: wanted \\[2, 5, 6, {levels}\\], got"):
        getattr(ext, f"{name}_forward")(*maps, places, weights[..., :-1])
