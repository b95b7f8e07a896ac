"""mutual_information against the recursion in torch operators: sequences of several lengths, derivatives, lattices without
symbols or frames, long sequences, compiled graphs, wrong arguments."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch._operator import HAS_LIBRARY_API  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

BOUNDARY = torch.tensor([[0, 0, 3, 5], [1, 2, 3, 4], [2, 1, 2, 1]])


def lattice(batch=3, symbols=3, frames=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.rand(shape, generator=generator, dtype=torch.float64) - 2).requires_grad_()
            for shape in ((batch, symbols, frames + 1), (batch, symbols + 1, frames))]


def composed(px, py, boundary=None):
    """One entry after the other."""
    batch, symbols, frames = len(px), px.shape[1], py.shape[2]
    results = []
    for b, (s0, t0, s1, t1) in enumerate([[0, 0, symbols, frames]] * batch if boundary is None else boundary.tolist()):
        p = {(s0, t0): px.new_zeros(())}
        for s in range(s0, s1 + 1):
            for t in range(t0, t1 + 1):
                terms = ([p[s - 1, t] + px[b, s - 1, t]] if s > s0 else []) + ([p[s, t - 1] + py[b, s, t - 1]] if t > t0 else [])
                if terms:
                    p[s, t] = torch.stack(terms).logsumexp(0)
        results.append(p[s1, t1])
    return torch.stack(results)


@pytest.mark.parametrize("boundary", [None, BOUNDARY, BOUNDARY.int()])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-13), (torch.float32, 1e-6), (torch.float16, 1e-3),
                                              (torch.bfloat16, 8e-3)])
def test_it_is_the_recursion(dtype, tolerance, boundary):
    px, py = (each.detach().to(dtype) for each in lattice())
    found = mt.mutual_information(px, py, boundary)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), composed(px.double(), py.double(), boundary), rtol=tolerance, atol=1e-30)


@pytest.mark.parametrize("boundary", [None, BOUNDARY])
def test_derivatives(boundary):
    leaves = lattice()
    assert gradcheck(lambda px, py: mt.mutual_information(px, py, boundary), leaves, check_forward_ad=HAS_LIBRARY_API)
    found, wanted = (torch.autograd.grad(call(*leaves, boundary).square().sum(), leaves)
                     for call in (mt.mutual_information, composed))
    for ours, theirs in zip(found, wanted):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    px, py = leaves
    ours, = torch.autograd.grad(mt.mutual_information(px.detach(), py, boundary).sum(), py)
    assert ours.shape == py.shape


@pytest.mark.parametrize("symbols, frames", [(0, 4), (4, 0), (0, 0)])
def test_no_symbols_or_no_frames(symbols, frames):
    px, py = lattice(2, symbols, frames)
    found = mt.mutual_information(px, py)
    torch.testing.assert_close(found, px[:, :, 0].sum(1) + py[:, 0].sum(1))
    for leaf, grad in zip((px, py), torch.autograd.grad(found.sum(), (px, py), allow_unused=True)):
        assert leaf.numel() == 0 or torch.equal(grad, torch.ones_like(leaf))


def test_no_sequences():
    assert mt.mutual_information(torch.ones(0, 2, 4), torch.ones(0, 3, 3)).shape == (0,)


def test_a_symbol_that_cannot_be_said():
    px, py = lattice(1, 2, 3)
    px = px.detach().index_fill(2, torch.tensor([0, 1, 2]), -float("inf")).requires_grad_()
    found = mt.mutual_information(px, py)
    torch.testing.assert_close(found, composed(px, py))
    grads = torch.autograd.grad(found.sum(), (px, py))
    assert all(grad.isfinite().all() for grad in grads) and not grads[0][:, :, :3].any()


def test_long_sequences_keep_their_digits():
    """Equal terms: binomial(S + T, S) paths, each with the same probability."""
    symbols, frames = 100, 2000
    found = mt.mutual_information(torch.full((1, symbols, frames + 1), -1.5), torch.full((1, symbols + 1, frames), -0.25))
    n = torch.tensor([symbols + frames, symbols, frames], dtype=torch.float64) + 1
    paths = n.lgamma()[0] - n.lgamma()[1] - n.lgamma()[2]
    torch.testing.assert_close(found.double()[0], paths - 1.5 * symbols - 0.25 * frames, rtol=3e-7, atol=0)


@pytest.mark.skipif(not HAS_LIBRARY_API, reason="torch compiles no graphs of these operators")
def test_graphs():
    leaves = lattice()
    torch.library.opcheck(torch.ops.mluops.mutual_information, (*leaves, BOUNDARY))
    compiled = torch.compile(mt.mutual_information, fullgraph=True, backend="aot_eager")
    found, wanted = (torch.autograd.grad(call(*leaves, BOUNDARY).sum(), leaves) for call in (compiled, composed))
    for ours, theirs in zip(found, wanted):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("change, text", [
    ({"py": torch.ones(2, 4, 5)}, "px: wanted dimension 2 to be 6"), ({"py": torch.ones(2, 3, 4)}, "py: wanted dimension 1 to be 4"),
    ({"py": torch.ones(3, 4, 4)}, "py: wanted dimension 0 to be 2"),
    ({"boundary": torch.zeros(2, 3, dtype=torch.int64)}, "boundary: wanted"),
    ({"boundary": torch.tensor([[0, 0, 4, 4], [0, 0, 3, 4]])}, "opt_boundary"),
    ({"boundary": torch.tensor([[2, 0, 1, 4], [0, 0, 3, 4]])}, "opt_boundary"), ({"px": torch.ones(3, 5)}, "px: wanted")])
def test_wrong_arguments(change, text):
    given = {"px": torch.ones(2, 3, 5), "py": torch.ones(2, 4, 4), **change}
    with pytest.raises(mluops.BadParamError, match=text):
        mt.mutual_information(**given)


def test_wrong_types():
    with pytest.raises(TypeError, match="boundary"):
        mt.mutual_information(torch.ones(1, 1, 2), torch.ones(1, 2, 1), torch.zeros(1, 4))
    with pytest.raises(TypeError, match="px"):
        mt.mutual_information(torch.ones(1, 1, 2).int(), torch.ones(1, 2, 1))
