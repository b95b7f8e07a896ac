"""gather_points and grouping_operation: features of chosen points, and of the points of groups."""

from torch import Tensor

from ..._arguments import at_least
from ..._function import ARRAY, CFunction
from ..._shapes import expect, rank
from .._operator import operator
from .._tensors import floats, int32, run

__all__ = ["gather_points", "grouping_operation"]


def _operators(name: str, c_name: str, index_rank: int):
    """The operator and its gradient; indices are [B, M] (index_rank 2) or [B, P, S] (3)."""
    c_forward = CFunction(f"mluOpExt{c_name}", ARRAY("features", "points"), ARRAY("indices", "idx"), ARRAY("output"))
    c_backward = CFunction(f"mluOpExt{c_name}Backward", ARRAY("grad_output"), ARRAY("indices", "idx"),
                           ARRAY("grad_features", "grad_points"))

    def fake(features, indices):
        b, channels, _ = rank("features", features.shape, 3)
        rank("indices", indices.shape, index_rank)
        expect("indices", indices.shape, (b, *indices.shape[1:]), ("the batch of features", "", ""))
        return features.new_empty((b, channels, *indices.shape[1:]))

    def gradient_fake(grad, indices, points):
        rank("grad_output", grad.shape, index_rank + 1)
        expect("grad_output", grad.shape, (indices.shape[0], grad.shape[1], *indices.shape[1:]),
               ("the batch of indices", "", *("that of indices",) * (index_rank - 1)))
        at_least(0, points=points)
        return grad.new_empty((grad.shape[0], grad.shape[1], points))

    gradient = operator(f"{name}_backward(Tensor grad, Tensor indices, SymInt points) -> Tensor", gradient_fake,
                        lambda grad_features, grad, indices, points: run(c_backward, grad, indices, grad_features))

    def setup(ctx, inputs, output):
        features, indices = inputs
        ctx.points = features.shape[2]
        ctx.save_for_backward(indices)

    def backward(ctx, grad):
        return gradient(grad, *ctx.saved_tensors, ctx.points), None

    def jvp(inputs, output, tangents):
        return forward(tangents[0], inputs[1])

    forward = operator(f"{name}(Tensor features, Tensor indices) -> Tensor", fake,
                       lambda output, features, indices: run(c_forward, features, indices, output),
                       setup=setup, backward=backward, jvp=jvp)
    return forward, gradient


gather, gather_gradient = _operators("gather_points", "GatherPoints", 2)
group, group_gradient = _operators("group_points", "GroupPoints", 3)


def gather_points(features: Tensor, indices: Tensor) -> Tensor:
    """Takes the features of M of N points.

    Args:
        features: T [B, C, N].
        indices: int32 or int64 [B, M]; one outside [0, N-1] gives zeros.
    Returns: T [B, C, M], differentiable in features.

    T: float16, bfloat16, float32, float64. Source: Qi et al., "PointNet++", 2017; mmcv's gather_points.
    """
    return gather(*floats(features=features), int32("indices", indices))


def grouping_operation(features: Tensor, indices: Tensor) -> Tensor:
    """Takes the features of the points of each group.

    Args:
        features: T [B, C, N].
        indices: int32 or int64 [B, P, S], S points of P groups (ball_query gives them); one outside [0, N-1] gives
            zeros.
    Returns: T [B, C, P, S], differentiable in features.

    T: float16, bfloat16, float32, float64. Source: Qi et al., "PointNet++", 2017; mmcv's grouping_operation.
    """
    return group(*floats(features=features), int32("indices", indices))


# For each operator its smallest call, given makers of ones and of int32 zeros: what `python -m mluops` tries.
SMALLEST = {"gather_points": lambda ones, zeros: gather_points(ones(1, 1, 1), zeros(1, 1)),
            "grouping_operation": lambda ones, zeros: grouping_operation(ones(1, 1, 1), zeros(1, 1, 1))}
