"""Deformable position-sensitive RoI pooling: bins of means of bilinear samples, moved by offsets of each class. A
composition of torch's operators; it keeps no more than the samples' places."""

import torch

from ..._errors import bad_param
from ..._shapes import expect, rank
from .._buffers import add_all, fill_all
from .._tensors import floats
from .pixels import bags, corners

_LEAST_SIDE = 0.1


def rounded(numbers):
    """Halves away from zero, as C does."""
    return torch.sign(numbers) * (numbers.abs() + 0.5).floor()


def _boxes(rois, spatial_scale):
    """Their corner and sides on the map, [R, 2] each, x first."""
    low = rounded(rois[:, 1:3]) * spatial_scale - 0.5
    high = (rounded(rois[:, 3:5]) + 1) * spatial_scale - 0.5
    return low, (high - low).clamp(min=_LEAST_SIDE)


def _places(rois, offset, spatial_scale, pooled, part, samples, trans_std):
    """The samples' y and x: T [R, classes, P, P, S, S] each. offset None: no classes and no moves."""
    low, side = _boxes(rois, spatial_scale)
    bins = torch.arange(pooled)
    start = low[:, None] + bins[:, None] * (side / pooled)[:, None]  # [R, P, 2]
    inner = torch.arange(samples)[:, None] * (side / pooled / samples)[:, None]  # [R, S, 2]
    x = start[:, None, None, :, None, None, 0] + inner[:, None, None, None, None, :, 0]
    y = start[:, None, :, None, None, None, 1] + inner[:, None, None, None, :, None, 1]
    if offset is not None:
        at = (bins * part) // pooled
        moves = offset.unflatten(1, (-1, 2))[..., at[:, None], at] * trans_std  # [R, classes, 2, P, P]
        x = x + (moves[:, :, 0] * side[:, 0, None, None, None])[..., None, None]
        y = y + (moves[:, :, 1] * side[:, 1, None, None, None])[..., None, None]
    return torch.broadcast_tensors(y, x)


def _weights(y, x, height, width):
    """Rows of a map and weights of each bin's samples, [..., 4 S S], and how many samples are inside."""
    inside = (y > -0.5) & (y < height - 0.5) & (x > -0.5) & (x < width - 0.5)
    index, weights = corners(y.clamp(0, height - 1), x.clamp(0, width - 1), height, width)
    count = inside.sum((-1, -2))
    weights = weights * (inside / count.clamp(min=1)[..., None, None])[..., None]
    return index.flatten(-3), weights.flatten(-3), count


def _check(input, rois, offset, out_channels, group_size, part_size):
    _, channels, _, _ = rank("input", input.shape, 4)
    expect("rois", rois.shape, (len(rois), 5), ("", "batch index, x1, y1, x2, y2"))
    if channels != out_channels * group_size ** 2:
        raise bad_param("input", f"{out_channels * group_size ** 2} channels, out_channels * group_size^2", channels)
    if offset is not None:
        rank("offset", offset.shape, 4)
        classes = offset.shape[1] // 2
        expect("offset", offset.shape, (len(rois), 2 * classes, part_size, part_size), ("that of rois", "2 a class",
                                                                                       "part_size", "part_size"))
        if classes < 1 or out_channels % classes:
            raise bad_param("offset", f"2 channels for each of some classes that divide {out_channels}", offset.shape[1])


def pooled(input, rois, offset, spatial_scale, out_channels, group_size, out_size, part_size, sample_per_part, trans_std):
    """T [R, out_channels, P, P], differentiable in input and offset, and the number of samples of each bin."""
    _check(input, rois, offset, out_channels, group_size, part_size)
    b, _, h, w = input.shape
    y, x = _places(rois, offset, spatial_scale, out_size, part_size, sample_per_part, trans_std)
    index, weights, count = _weights(y, x, h, w)
    classes, groups = y.shape[1], group_size ** 2
    at = (torch.arange(out_size) * group_size // out_size).clamp(max=group_size - 1)
    group = (at[:, None] * group_size + at)[None, None, :, :, None]
    image = rois[:, 0].long().reshape(-1, 1, 1, 1, 1)
    index = (image * groups + group) * (h * w) + index
    each = out_channels // classes
    table = input.reshape(b, classes, each, groups, h * w).permute(1, 0, 3, 4, 2)  # [classes, B, groups, HW, each]
    made = [bags(table[k].reshape(-1, each), index[:, k].flatten(0, 2), weights[:, k].flatten(0, 2))
            .reshape(len(rois), out_size, out_size, each) for k in range(classes)]
    counts = count.repeat_interleave(each, 1).to(input.dtype)
    return torch.cat(made, 3).permute(0, 3, 1, 2), counts


def _offset(offset, no_trans):
    return None if no_trans else offset


def deform_psroi_pooling_forward(data, rois, offset, output, output_count, no_trans, spatial_scale, out_channels,
                                 group_size, out_size, part_size, sample_per_part, trans_std):
    tensors = floats("offset", data=data, rois=rois, offset=_offset(offset, no_trans))
    fill_all(pooled(*(each if each is None else each.detach() for each in tensors), spatial_scale, out_channels,
                    group_size, out_size, part_size, sample_per_part, trans_std), output=output,
             output_count=output_count)


def deform_psroi_pooling_backward(grad_output, data, rois, offset, output_count, grad_input, grad_offset, no_trans,
                                  *numbers):
    """Gradients are added."""
    tensors = floats("offset", data=data, rois=rois, offset=_offset(offset, no_trans))
    data, rois, offset = (each if each is None else each.detach() for each in tensors)
    wanted = [data.requires_grad_()] + ([] if offset is None else [offset.requires_grad_()])
    with torch.enable_grad():
        out, _ = pooled(data, rois, offset, *numbers)
    found = torch.autograd.grad(out, wanted, grad_output.to(out.dtype))
    buffers = {"grad_input": grad_input} if offset is None else {"grad_input": grad_input, "grad_offset": grad_offset}
    add_all(found, **buffers)
