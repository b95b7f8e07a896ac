"""moe_dispatch: samples of a mixture of experts, times their gates, in the rows of their experts."""

from torch import Tensor

from ..._functions import moe_dispatch as f
from .._blocks import described, floats, index32, integer

__all__ = ["moe_dispatch"]

gate_gradient = described("moe_dispatch_backward_gate(indices, locations, input, grad, num_experts, capacity)",
                          f.MOE_DISPATCH_BACKWARD_GATE)
data_gradient = described("moe_dispatch_backward_data(gates, indices, locations, grad, num_experts, capacity)",
                          f.MOE_DISPATCH_BACKWARD_DATA)


# Rows that no sample has keep what they hold: zeros.
forward = described("moe_dispatch(gates, indices, locations, input, num_experts, capacity)", f.MOE_DISPATCH_FORWARD,
                    linear="gates input", gradient=(gate_gradient, data_gradient),
                    before=lambda dispatch, *_: dispatch.zero_())


def moe_dispatch(gates: Tensor, indices: Tensor, locations: Tensor, input: Tensor, num_experts: int,
                 capacity: int) -> Tensor:
    """Puts each sample, times its gate, in the row of its expert and place. A top-k gate adds up k calls.

    Args:
        gates: T [samples].
        indices: int32 or int64 [samples]: the expert of each sample.
        locations: int32 or int64 [samples]: the place of each sample among those of its expert. A sample has no row if
            its expert or its place is out of range.
        input: T [samples, hidden].
        num_experts, capacity: experts, and places of each.
    Returns: T [num_experts * capacity, hidden], 0 in rows without a sample; differentiable in gates and input. Samples
    are at most as many as rows. If several have one row, the last counts, and the gradients of all are that row's.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: Tutel's sparse dispatch.
    """
    gates, input = floats(gates=gates, input=input)
    num_experts, capacity = integer("num_experts", num_experts), integer("capacity", capacity)
    return forward(gates, index32("indices", indices, num_experts), index32("locations", locations, capacity), input,
                   num_experts, capacity)
