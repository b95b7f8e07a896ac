"""generate_proposals: RoIs of Faster R-CNN's first stage."""

from typing import Tuple

from torch import Tensor

from ..._functions.generate_proposals import GENERATE_PROPOSALS_V2 as FORWARD
from .._blocks import bad_param, described, expect, first, floats, integer, rank

__all__ = ["generate_proposals"]


# How many there are is in the data: the operator returns as many as there may be, and how many there are.
_forward = described("generate_proposals(scores, bbox_deltas, img_size, anchors, variances, pre_nms_top_n, "
                     "post_nms_top_n, nms_thresh, min_size, pixel_offset)", FORWARD, fixed={"eta": 1.0})


def generate_proposals(scores: Tensor, bbox_deltas: Tensor, img_size: Tensor, anchors: Tensor, variances: Tensor,
                       pre_nms_top_n: int = 6000, post_nms_top_n: int = 1000, nms_thresh: float = 0.5,
                       min_size: float = 0.1, eta: float = 1.0, pixel_offset: bool = False
                       ) -> Tuple[Tensor, Tensor, Tensor]:
    """Of the anchors of the best scores, moved by their deltas, clipped to the image and large enough, those whose IoU with
    every better one that is kept is not greater than a threshold.

    Args:
        scores: T [N, A, H, W].
        bbox_deltas: T [N, 4 A, H, W]: x, y, w, h of each anchor.
        img_size: T [N, 2]: height, width.
        anchors: T [H, W, A, 4]: x1, y1, x2, y2.
        variances: T [H, W, A, 4]: what deltas are multiplied by.
        pre_nms_top_n, post_nms_top_n: the most of an image that are looked at (<= 0: all), and that are kept.
        nms_thresh: > 0.
        min_size: the least side, not below 1.
        eta: 1; adaptive suppression is not done.
        pixel_offset: a side is 1 longer, and centres lie in the image.
    Returns: RoIs T [K, 4] and their scores T [K, 1] of all images, best first in each; how many each has, int32 [N]. An
    image without any has one of zeros. Not differentiable.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted; what is kept is decided in float64. K is read from
    the data (docs/python.md). Source: Paddle's generate_proposals; mluOpGenerateProposalsV2.
    """
    scores, deltas, sizes, anchors, variances = floats(scores=scores, bbox_deltas=bbox_deltas, img_size=img_size,
                                                       anchors=anchors, variances=variances)
    n, a, h, w = rank("scores", scores.shape, 4)
    expect("bbox_deltas", deltas.shape, (n, 4 * a, h, w), ("the batch of scores", "4 of each anchor", "", ""))
    expect("img_size", sizes.shape, (n, 2), ("the batch of scores", "height, width"))
    for name, tensor in (("anchors", anchors), ("variances", variances)):
        expect(name, tensor.shape, (h, w, a, 4), ("the height of scores", "its width", "its anchors", "of a box"))
    if not nms_thresh > 0:
        raise bad_param("nms_thresh", "> 0", nms_thresh)
    if eta != 1:
        raise bad_param("eta", "1, no adaptive suppression", eta)
    rois, probs, num, count = _forward(
        scores.permute(0, 2, 3, 1), deltas.permute(0, 2, 3, 1), sizes, anchors, variances,
        integer("pre_nms_top_n", pre_nms_top_n), integer("post_nms_top_n", post_nms_top_n), float(nms_thresh),
        float(min_size), bool(pixel_offset))
    return (*first(count, rois, probs), num)
