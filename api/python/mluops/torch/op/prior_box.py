"""prior_box: the boxes of SSD."""

from typing import Optional, Sequence, Tuple

import torch
from torch import Tensor

from ..._functions.prior_box import PRIOR_BOX as FORWARD
from .._blocks import bad_param, floats, no_derivative, no_tangents, operator, rank, run

__all__ = ["prior_box"]


def _fake(numbers, sizes, ratios, squares, height, width, *others):
    shape = height, width, sizes * ratios + squares, 4
    return numbers.new_empty(shape), numbers.new_empty(shape)


def _call(outputs, numbers, sizes, ratios, squares, height, width, im_height, im_width, step_h, step_w, *others):
    steps = step_h or im_height / height, step_w or im_width / width
    return run(FORWARD, *numbers.split([sizes, ratios, 4, squares]), height, width, im_height, im_width, *steps, *others,
               *outputs)


# One tensor of all lists: an operator with an empty one is not asked.


_forward = operator(
    "prior_box(Tensor numbers, int sizes, int ratios, int squares, int height, int width,"
    " int im_height, int im_width, float step_h, float step_w, float offset, bool clip, bool min_max_aspect_ratios_order)"
    " -> (Tensor, Tensor)", _fake, _call, setup=no_derivative, jvp=no_tangents)


def prior_box(input: Tensor, image: Tensor, min_sizes: Sequence[float], max_sizes: Optional[Sequence[float]] = None,
              aspect_ratios: Sequence[float] = (1.0,), variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
              flip: bool = False, clip: bool = False, steps: Sequence[float] = (0.0, 0.0), offset: float = 0.5,
              min_max_aspect_ratios_order: bool = False) -> Tuple[Tensor, Tensor]:
    """The boxes of SSD at every pixel of a map, in the coordinates of the image.

    Args:
        input: T [N, C, H, W], of which the sizes count.
        image: T [N, C, H_image, W_image], likewise.
        min_sizes: sides of squares.
        max_sizes: as many; a square with the side sqrt(min max) for each. None: none.
        aspect_ratios: a box of the area of each min_size; 1 is one of them without being named.
        variance: four numbers, given back for every box.
        flip: each ratio r but 1 also as 1 / r.
        clip: coordinates are clamped to [0, 1].
        steps: pixels of the image from one centre to the next, along the width and the height; 0: those of the image by
            those of the map.
        offset: of the first centre, in steps.
        min_max_aspect_ratios_order: squares of min_sizes and max_sizes come before the other ratios.
    Returns: boxes and variances, T [H, W, P, 4].

    T: the dtype of input: float16, bfloat16, float32, float64; boxes are computed in float64.
    Source: Liu et al., "SSD", ECCV 2016; Paddle's prior_box; mluOpPriorBox.
    """
    like, picture = floats(input=input, image=image)
    height, width = rank("input", like.shape, 4)[2:]
    of_image = rank("image", picture.shape, 4)[2:]
    if max_sizes and len(max_sizes) != len(min_sizes):
        raise bad_param("max_sizes", f"as many as min_sizes, {len(min_sizes)}, or none", len(max_sizes))
    if not len(min_sizes) or len(variance) != 4:
        raise bad_param(*("variance", "four numbers", len(variance)) if len(min_sizes) else ("min_sizes", "a size", "none"))
    if min(of_image) < 1:
        raise bad_param("image", "a size of at least 1", tuple(of_image))
    across, down = map(float, steps)
    if not (across >= 0 and down >= 0):
        raise bad_param("steps", "two numbers >= 0", tuple(steps))
    ratios = [1.0]
    for ratio in map(float, aspect_ratios):
        for each in (ratio, 1 / ratio)[:1 + bool(flip)]:
            if all(abs(each - other) >= 1e-6 for other in ratios):
                ratios.append(each)
    largest = max_sizes or ()
    numbers = torch.tensor([*min_sizes, *ratios, *variance, *largest], dtype=input.dtype, device=input.device)
    return _forward(numbers, len(min_sizes), len(ratios), len(largest), height, width, *of_image, down, across, float(offset), bool(clip),
                    bool(min_max_aspect_ratios_order))


SMALLEST = {"prior_box": lambda ones, zeros: prior_box(ones(1, 1, 1, 1), ones(1, 1, 8, 8), [4.0])}
