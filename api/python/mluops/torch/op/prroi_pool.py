"""prroi_pool: integrals of a map over the bins of RoIs; PrRoIPool, the module."""

import torch
from torch import Tensor, nn

from ..._functions.prroi_pool import PRROI_POOL_BACKWARD as BACKWARD, PRROI_POOL_FORWARD as FORWARD
from .._blocks import Rois, Size, at_least, described, floats, linear_tangent, pair, rois_of

__all__ = ["PrRoIPool", "prroi_pool"]


# A result that is not asked for is empty.
gradients = described(
    "prroi_pool_backward(grad, input, rois, spatial_scale, bool of_input, bool of_rois)", BACKWARD,
    rule=lambda pooled_h, pooled_w, **_: at_least(1, output_size=min(pooled_h, pooled_w)),
    absent={"grad_input": lambda of_input, **_: not of_input, "grad_rois": lambda of_rois, **_: not of_rois})


def _ends(corners, down, across):
    """[R, 4], x1, y1, x2, y2 -> those of each bin, [R, down, across, 4]; linear."""
    x1, y1, x2, y2 = corners[:, None, None].unbind(-1)
    rows = torch.arange(down + 1, dtype=corners.dtype, device=corners.device)[:, None] / down
    columns = torch.arange(across + 1, dtype=corners.dtype, device=corners.device) / across
    y, x = y1 + (y2 - y1) * rows, x1 + (x2 - x1) * columns
    return torch.stack(torch.broadcast_tensors(x[..., :-1], y[:, :-1], x[..., 1:], y[:, 1:]), -1)


def _along_rois(input, rois, tangent, down, across, scale):
    """The gradients of a RoI of one bin, on an image of one channel, are the derivatives of that bin's mean."""
    wide = torch.promote_types(input.dtype, torch.float32)  # half cannot count the images
    batch, channels, height, width = input.shape
    each = torch.arange(channels, dtype=wide, device=rois.device) + rois[:, :1].to(wide).trunc() * channels
    images = each[:, :, None, None, None].expand(-1, -1, down, across, 1)
    corners = _ends(rois[:, 1:].to(wide), down, across)[:, None].expand(-1, channels, -1, -1, -1)
    one = torch.cat([images, corners], -1).reshape(-1, 5)
    planes = input.to(wide).reshape(batch * channels, 1, height, width)
    slopes = gradients(planes.new_ones(one.shape[0], 1, 1, 1), planes, one, scale, False, True)[1][:, 1:]
    steps = _ends(tangent[:, 1:].to(wide), down, across)[:, None]
    return (slopes.reshape(-1, channels, down, across, 4) * steps).sum(-1).to(input.dtype)


def _jvp(inputs, output, tangents):
    """Means are linear in input."""
    along = torch.zeros_like(output) + linear_tangent(forward, inputs, tangents, (0,))
    return along if tangents[1] is None else along + _along_rois(*inputs[:2], tangents[1], *inputs[2:])


forward = described("prroi_pool(input, rois, pooled_height, pooled_width, spatial_scale)", FORWARD,
                    least={"pooled_h": 1, "pooled_w": 1}, gradient=gradients, jvp=_jvp)


def prroi_pool(input: Tensor, rois: Rois, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Means of the bilinear surface through the pixels of a map, 0 outside of it, over the bins of RoIs: integrals, no
    samples.

    Args:
        input: T [N, C, H, W].
        rois: T [R, 5]; batch index, x1, y1, x2, y2. A batch index outside [0, N-1] is refused.
        output_size: bins down and across.
        spatial_scale: RoIs are scaled by it.
    Returns: T [R, C, *output_size]; 0 for a RoI without area or finite corners. Differentiable once, in both.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; weights are found in double. NCHW and
    channels_last tensors are used where they lie; the result has the memory order of input.
    Source: Jiang et al., "Acquisition of Localization Confidence", ECCV 2018; mmcv's prroi_pool.
    """
    x, r = floats(input=input, rois=rois_of(input, rois))
    return forward(x, r, *pair("output_size", output_size, 1), float(spatial_scale))


class PrRoIPool(nn.Module):
    """prroi_pool as a module: forward(features, rois)."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = pair("output_size", output_size), float(spatial_scale)

    def forward(self, features: Tensor, rois: Rois) -> Tensor:
        return prroi_pool(features, rois, self.output_size, self.spatial_scale)
