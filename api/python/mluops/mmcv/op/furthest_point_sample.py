"""furthest_point_sample. mmcv's function makes its result on a CUDA device, so it is replaced as a whole."""

from ...torch._tensors import floats
from ...torch.filling.furthest_point_sample import (furthest_point_sampling_forward,
                                                    furthest_point_sampling_with_dist_forward)
from ...torch.op.furthest_point_sample import forward

ENTRY_POINTS = (furthest_point_sampling_forward, furthest_point_sampling_with_dist_forward)


def _function_forward(ctx, points_xyz, num_points):
    output = forward(*floats(points_xyz=points_xyz), num_points)
    ctx.mark_non_differentiable(output)
    return output


METHODS = {("mmcv.ops.furthest_point_sample", "FurthestPointSampling", "forward"): _function_forward}
