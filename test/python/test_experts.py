"""moe_dispatch against a composition of torch operators: a layer of two experts per sample, gradients, samples without a
row, compiled graphs, wrong arguments."""

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from mluops.torch._operator import HAS_LIBRARY_API  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

EXPERTS, CAPACITY = 3, 4


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def composed(gates, indices, locations, input, num_experts, capacity):
    """One row of a matrix of zeros and gates for each sample."""
    inside = (indices >= 0) & (indices < num_experts) & (locations >= 0) & (locations < capacity)
    rows = torch.where(inside, indices * capacity + locations, 0).long()
    return gates.new_zeros(num_experts * capacity, input.shape[1]).index_add(
        0, rows, torch.where(inside, gates, torch.zeros_like(gates))[:, None] * input)


def where(k):
    """Experts and places of seven samples, k-th choice: one sample has an expert out of range, one a place."""
    indices = torch.tensor([[0, 2, 0, 1, 3, 1, 0], [1, 0, 2, 2, -1, 0, 2]])[k]
    locations = torch.tensor([[0, 0, 1, 0, 0, 1, 9], [2, 2, 1, 2, 0, 3, 3]])[k]
    return indices, locations


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("integers", [torch.int32, torch.int64])
def test_it_is_the_composition(dtype, integers):
    gates, input = numbers(7, dtype=dtype), numbers(7, 5, seed=1, dtype=dtype)
    indices, locations = (each.to(integers) for each in where(0))
    found = mt.moe_dispatch(gates, indices, locations, input, EXPERTS, CAPACITY)
    wanted = composed(gates.double(), indices, locations, input.double(), EXPERTS, CAPACITY)
    assert found.dtype == dtype and found.shape == (EXPERTS * CAPACITY, 5)
    assert torch.equal(found, wanted.to(dtype))


def test_derivatives():
    gates, input = numbers(7).requires_grad_(), numbers(7, 2, seed=1).requires_grad_()

    def call(gates, input):
        return mt.moe_dispatch(gates, *where(0), input, EXPERTS, CAPACITY)

    assert gradcheck(call, (gates, input), check_forward_ad=HAS_LIBRARY_API)
    assert gradcheck(lambda x: call(gates.detach(), x), (input,)) and gradcheck(lambda g: call(g, input.detach()), (gates,))


def layer(dispatch, scores, input, experts):
    """Each sample to its two experts and back."""
    shares = scores.softmax(1)
    out = 0
    for k in range(2):
        indices, locations = where(k)
        gates = shares[torch.arange(7), indices.clamp(0, EXPERTS - 1)]
        rows = dispatch(gates, indices, locations, input, EXPERTS, CAPACITY)
        out = out + rows.view(EXPERTS, CAPACITY, -1) @ experts
    return out.tanh()


def test_a_layer_learns_as_the_composition_does():
    leaves = [each.requires_grad_() for each in (numbers(7, EXPERTS), numbers(7, 5, seed=1), numbers(EXPERTS, 5, 4, seed=2))]
    found, wanted = (layer(dispatch, *leaves) for dispatch in (mt.moe_dispatch, composed))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(*(torch.autograd.grad(out.square().sum(), leaves) for out in (found, wanted))):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_of_several_samples_of_a_row_the_last_counts():
    zeros = torch.zeros(3, dtype=torch.int64)
    found = mt.moe_dispatch(torch.ones(3), zeros, zeros, torch.tensor([[1.0], [2], [3]]), 1, 4)
    assert found.tolist() == [[3], [0], [0], [0]]


def test_indices_beyond_32_bits_have_no_row():
    found = mt.moe_dispatch(torch.ones(2), torch.tensor([2 ** 32, 0]), torch.tensor([0, -2 ** 40]), torch.ones(2, 3), 2, 2)
    assert not found.any()


def test_no_samples():
    empty = torch.zeros(0, dtype=torch.int32)
    found = mt.moe_dispatch(torch.ones(0), empty, empty, torch.ones(0, 3), 2, 2)
    assert found.shape == (4, 3) and not found.any()


@pytest.mark.skipif(not HAS_LIBRARY_API, reason="torch compiles no graphs of these operators")
def test_graphs():
    gates, input = numbers(7).requires_grad_(), numbers(7, 2, seed=1).requires_grad_()
    indices, locations = (each.int() for each in where(0))
    torch.library.opcheck(torch.ops.mluops.moe_dispatch, (gates, indices, locations, input, EXPERTS, CAPACITY))
    compiled = torch.compile(mt.moe_dispatch, fullgraph=True, backend="aot_eager")
    for call in (compiled, mt.moe_dispatch):
        found = torch.autograd.grad(call(gates, indices, locations, input, EXPERTS, CAPACITY).sum(), (gates, input))
        wanted = torch.autograd.grad(composed(gates, indices, locations, input, EXPERTS, CAPACITY).sum(), (gates, input))
        for ours, theirs in zip(found, wanted):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("change, text", [
    ({"gates": torch.ones(6)}, "wanted"), ({"locations": torch.zeros(6, dtype=torch.int32)}, "locations: wanted"),
    ({"capacity": 2}, "samples: wanted at most 6"), ({"capacity": -1}, "capacity: wanted at least 0, got -1"),
    ({"input": torch.ones(7)}, "input: wanted"), ({"num_experts": 2 ** 31}, "num_experts")])
def test_wrong_arguments(change, text):
    given = {"gates": torch.ones(7), "indices": where(0)[0], "locations": where(0)[1], "input": torch.ones(7, 2),
             "num_experts": EXPERTS, "capacity": CAPACITY, **change}
    with pytest.raises(mluops.BadParamError, match=text):
        mt.moe_dispatch(**given)


def test_wrong_types():
    zeros = torch.zeros(1, dtype=torch.int32)
    with pytest.raises(TypeError, match="indices"):
        mt.moe_dispatch(torch.ones(1), torch.zeros(1), zeros, torch.ones(1, 1), 1, 1)
    with pytest.raises(TypeError, match="capacity"):
        mt.moe_dispatch(torch.ones(1), zeros, zeros, torch.ones(1, 1), 1, 1.5)
