"""torch_scatter and torch_cluster against plain torch in double."""

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import door, near, opened, random, uniform  # noqa: E402
from point_doors import furthest, squares  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with opened("torch_scatter", "torch_cluster"):
        yield


REDUCE = {"sum": lambda x: x.sum(0), "mean": lambda x: x.mean(0), "max": lambda x: x.max(0)[0], "min": lambda x: x.min(0)[0],
          "mul": lambda x: x.prod(0)}


@pytest.mark.parametrize("reduce", sorted(REDUCE))
def test_scatter(reduce):
    s = door("torch_scatter")
    src, index = random(12, 3).requires_grad_(), torch.tensor([0, 4, 1, 1, 0, 4, 4, 2, 0, 1, 2, 4])
    wanted = torch.stack([REDUCE[reduce](src[index == k]) if (index == k).any() else
                          src.new_full((3,), float(reduce == "mul")) for k in range(6)])
    made = s.scatter(src, index, 0, dim_size=6, reduce=reduce)
    near(made, wanted)
    grad = random(6, 3, seed=1)
    near(torch.autograd.grad(made, src, grad)[0], torch.autograd.grad(wanted, src, grad)[0])
    near(s.scatter(src.t(), index.expand(3, 12), -1, reduce=reduce), wanted[:5].t())
    if reduce != "mul":
        order = index.sort()[1]
        ends = torch.tensor([0, *torch.bincount(index, minlength=6).cumsum(0).tolist()])
        near(s.segment_csr(src[order], ends, reduce=reduce), wanted)
        near(s.segment_coo(src[order], index[order], dim_size=6, reduce=reduce), wanted)
    out = torch.ones(6, 3, dtype=torch.float64)
    s.scatter(src.detach(), index, 0, out=out, reduce="sum")
    near(out, 1 + torch.zeros(6, 3, dtype=torch.float64).index_add(0, index, src.detach()))
    with pytest.raises(ValueError, match="reduce: wanted one of sum, add, mul, mean, min, max, got 'median'"):
        s.scatter(src, index, 0, reduce="median")


def test_places_of_the_greatest():
    s, src, index = door("torch_scatter"), torch.tensor([1.0, 3, 3, 2, -1]), torch.tensor([0, 1, 1, 0, 3])
    made, at = s.scatter_max(src, index, dim_size=5)
    assert made.tolist() == [2, 3, 0, -1, 0] and at.tolist() == [3, 1, 5, 4, 5]  # of equal ones the first
    assert s.segment_max_csr(src, torch.tensor([0, 3, 3, 5]))[1].tolist() == [1, 5, 3]
    assert s.gather_csr(torch.tensor([7, 8]), torch.tensor([0, 1, 3])).tolist() == [7, 8, 8]


def test_softmax_of_groups():
    s, src, index = door("torch_scatter"), random(8).requires_grad_(), torch.tensor([0, 1, 0, 2, 2, 0, 1, 0])
    for name, torchs in (("scatter_softmax", torch.softmax), ("scatter_log_softmax", torch.log_softmax)):
        made, wanted = getattr(s, name)(src, index), torch.zeros(8, dtype=torch.float64)
        for k in range(3):
            wanted = wanted.index_put(((index == k).nonzero()[:, 0],), torchs(src[index == k], 0))
        near(made, wanted)
        near(torch.autograd.grad(made, src, random(8, seed=1))[0], torch.autograd.grad(wanted, src, random(8, seed=1))[0])
    near(s.scatter_logsumexp(src, index), torch.stack([src[index == k].logsumexp(0) for k in range(3)]))
    near(s.scatter_std(src, index), torch.stack([src[index == k].std() for k in range(3)]))


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_neighbours_of_clouds(dim):
    c, x, y = door("torch_cluster"), uniform(20, dim), uniform(7, dim, seed=1)
    batch_x, batch_y = torch.tensor([0] * 12 + [1] * 8), torch.tensor([0] * 3 + [1] * 4)
    table = squares(y, x).masked_fill(batch_y[:, None] != batch_x, float("inf"))
    rows, columns = c.knn(x, y, 4, batch_x, batch_y)
    assert torch.equal(rows, torch.arange(7).repeat_interleave(4))
    assert torch.equal(columns.reshape(7, 4), table.topk(4, 1, largest=False)[1])
    rows, columns = c.radius(x, y, 0.5, batch_x, batch_y, max_num_neighbors=3)
    wanted = [(i, j) for i in range(7) for j in [j for j in range(20) if table[i, j] < 0.25][:3]]
    assert list(zip(rows.tolist(), columns.tolist())) == wanted
    assert torch.equal(c.nearest(y, x, batch_y, batch_x), table.argmin(1))
    graph = c.knn_graph(x, 2, batch_x)
    assert graph.shape == (2, 40) and (graph[0] != graph[1]).all() and torch.equal(batch_x[graph[0]], batch_x[graph[1]])
    ball = c.radius_graph(x, 0.4, batch_x)
    same = (squares(x, x) < 0.16) & (batch_x[:, None] == batch_x) & ~torch.eye(20, dtype=torch.bool)
    assert ball.shape[1] == int(same.sum())
    picked = c.fps(x, batch_x, 0.25, random_start=False)
    assert picked.tolist() == furthest(x[:12], 3) + [12 + k for k in furthest(x[12:], 2)]
    assert len(c.grid_cluster(x, torch.full((dim,), 0.3).double()).unique()) > 1


def test_a_cloud_without_points():
    c = door("torch_cluster")
    assert c.knn(torch.zeros(0, 3), torch.zeros(2, 3), 3).shape == (2, 0)
    assert c.radius(torch.zeros(0, 3), torch.zeros(2, 3), 1.0).shape == (2, 0)
    s = door("torch_scatter")
    assert s.scatter_sum(torch.zeros(0, 3), torch.zeros(0).long(), 0, dim_size=2).tolist() == [[0, 0, 0]] * 2
    assert s.scatter_max(torch.zeros(0), torch.zeros(0).long(), dim_size=2)[0].tolist() == [0, 0]
