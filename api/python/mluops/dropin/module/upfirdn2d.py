"""upfirdn2d_ext of BasicSR and GFPGAN, and what StyleGAN2, -ADA and 3 compile under that name."""

from ...torch.filling import upfirdn2d as _ours

__all__ = ["upfirdn2d"]

PACKAGE = "stylegan2"
NAMES = ("upfirdn2d_ext", "*.upfirdn2d_ext")
BUILT = ("upfirdn2d",)


def upfirdn2d(input, kernel, *numbers):
    """Ten numbers of StyleGAN2 (input [N, H, W, C]: up, down, padding), with flip_filter and gain StyleGAN2-ADA's (input
    [N, C, H, W])."""
    if len(numbers) == 10:
        return _ours.upfirdn2d(input, kernel, *numbers)
    return _ours.upfirdn2d(input.permute(0, 3, 1, 2), kernel, *numbers).permute(0, 2, 3, 1).contiguous()


def _reference(x, f, up=1, down=1, padding=0, flip_filter=False, gain=1):
    """The function that StyleGAN2-ADA and 3 have for CPU tensors."""
    up_x, up_y = up if isinstance(up, (list, tuple)) else (up, up)
    down_x, down_y = down if isinstance(down, (list, tuple)) else (down, down)
    pads = [padding] * 4 if isinstance(padding, int) else list(padding)
    pads = [pads[0], pads[0], pads[1], pads[1]] if len(pads) == 2 else pads
    if f is None:
        f = x.new_ones(1, 1)
    return _ours.upfirdn2d(x, f.to(x.dtype), up_x, up_y, down_x, down_y, *pads, flip_filter, gain)


# For CPU tensors the programs' functions never ask the extension: their own compositions are replaced.
REPLACES = {("torch_utils.ops.upfirdn2d", "_upfirdn2d_ref"): _reference}
REPLACES.update({(f"{package}upfirdn2d", "upfirdn2d_native"): _ours.upfirdn2d
                 for package in ("op.", "models.op.", "models.stylegan2.op.", "model.stylegan.op.", "stylegan2.op.",
                                 "basicsr.ops.upfirdn2d.")})
