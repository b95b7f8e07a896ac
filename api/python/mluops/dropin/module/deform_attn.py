"""deform_attn, which RVRT compiles at import: attention of each pixel to bilinear samples of several frames."""

import torch
from torch.nn import functional

from ..._errors import bad_param
from ...torch._buffers import adding, fill, filling, write
from ...torch._tensors import floats

__all__ = ["deform_attn_backward", "deform_attn_forward"]

PACKAGE = "rvrt"
BUILT = ("deform_attn", "deform_attn_ext")


def _samples(frames, offset, kernel, stride, pad, dilation, groups):
    """Frames T [L, 2 C, H, W] and moves T [L, G * K * 2, H * W], y before x, to T [L, 2 C, K, H * W]."""
    count, channels, height, width = frames.shape
    taps = kernel[0] * kernel[1]
    moves = offset.reshape(count, groups, taps, 2, height, width)
    axes = (torch.arange(size, dtype=frames.dtype) * step - edge for size, step, edge in zip((height, width), stride, pad))
    y, x = torch.meshgrid(*axes, indexing="ij")
    tap = torch.arange(taps)
    down, across = (each.to(frames.dtype)[:, None, None] * step for each, step in
                    zip((torch.div(tap, kernel[1], rounding_mode="floor"), tap % kernel[1]), dilation))
    y, x = moves[:, :, :, 0] + y + down, moves[:, :, :, 1] + x + across
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1).reshape(count * groups, taps, height * width, 2)
    maps = frames.reshape(count * groups, channels // groups, height, width)
    return functional.grid_sample(maps, grid, align_corners=False).reshape(count, channels, taps, height * width)


def _attended(q, frames, offset, kernel, stride, pad, dilation, heads, groups):
    """One image: q T [C, H * W], keys and values are the halves of frames. T [C, H * W]."""
    samples = _samples(frames, offset, kernel, stride, pad, dilation, groups)
    count, _, taps, pixels = samples.shape
    keys, values = samples.reshape(count, 2, heads, -1, taps, pixels).unbind(1)
    scores = (q.reshape(heads, -1, 1, pixels) * keys).sum(2) * keys.shape[2] ** -0.5
    weights = scores.transpose(0, 1).flatten(1, 2).softmax(1).reshape(heads, count, 1, taps, pixels)
    return (values * weights.transpose(0, 1)).sum((0, 3)).reshape(-1, pixels)


def _image(q, kv, offset, numbers):
    """One image's attention: q T [C, H * W], kv T [clip, 2 C, H, W] from the image's own frame on, offset T [clip, G * K * 2, H * W]."""
    kernel, stride, pad, dilation = (tuple(numbers[k:k + 2]) for k in range(0, 8, 2))
    return _attended(q, kv, offset, kernel, stride, pad, dilation, *numbers[8:10])


def _each_image(q, kv, offset, clip):
    """What _image takes for each image; frames go round."""
    if kv.dim() != 5 or kv.shape[:2] != (-(-len(q) // clip), clip):
        raise bad_param("kv", f"{-(-len(q) // clip)} x {clip} frames for {len(q)} images", list(kv.shape))
    pixels = kv.shape[3] * kv.shape[4]
    moves = offset.reshape(len(q), clip, -1, pixels)
    for b in range(len(q)):
        yield q[b].reshape(-1, pixels), kv[b // clip].roll(-(b % clip), 0), moves[b]


def deform_attn_forward(q, kv, offset, output, columns, attns, mask_ones, *numbers):
    """q T [B, 1, C, H, W], kv T [B / clip, clip, 2 C, H, W], offset T [B, clip * G * K * 2, H, W]; numbers: kernel, stride, padding and
    dilation, two each, heads, groups G and clip. Fills output; columns, attns and mask_ones are scratch."""
    tensors = floats(q=q.detach(), kv=kv.detach(), offset=offset.detach())
    made = [_image(*given, numbers) for given in _each_image(*tensors, numbers[10])]
    fill("output", output, torch.stack(made).reshape(q.shape))


def deform_attn_backward(q, kv, offset, columns, attns, mask_ones, grad_attns, grad_mask_ones, grad_q, grad_kv, grad_offset,
                         grad_output, *numbers):
    """Fills grad_q and grad_offset, adds to grad_kv."""
    tensors, clip = floats(q=q.detach(), kv=kv.detach(), offset=offset.detach()), numbers[10]
    of_q, of_kv, of_offset = (torch.zeros_like(each) for each in tensors)
    for b, given in enumerate(_each_image(*tensors, clip)):
        leaves = [each.detach().requires_grad_() for each in given]
        with torch.enable_grad():
            made = _image(*leaves, numbers)
        found = torch.autograd.grad(made, leaves, grad_output[b].to(made.dtype).reshape(made.shape))
        of_q[b] = found[0].reshape(of_q[b].shape)
        of_kv[b // clip] += found[1].roll(b % clip, 0)
        of_offset[b] = found[2].reshape(of_offset[b].shape)
    write(filling("grad_q", grad_q, of_q), filling("grad_offset", grad_offset, of_offset), adding("grad_kv", grad_kv, of_kv))
