"""upfirdn2d_ext of BasicSR and GFPGAN, and what StyleGAN2, -ADA and 3 compile under that name."""

from ...torch.op.upfirdn2d import upfirdn2d as _ours

__all__ = ["upfirdn2d"]

PACKAGE = "stylegan2"
NAMES = ("upfirdn2d_ext", "*.upfirdn2d_ext")
BUILT = ("upfirdn2d",)


def _native(x, kernel, up_x, up_y, down_x, down_y, pad_x0, pad_x1, pad_y0, pad_y1, flip=False, gain=1.0):
    """Input [N, C, H, W]: the function that StyleGAN2 has for CPU tensors, and with flip and gain StyleGAN2-ADA's
    plugin."""
    return _ours(x, kernel, (up_x, up_y), (down_x, down_y), (pad_x0, pad_x1, pad_y0, pad_y1), flip, gain)


def upfirdn2d(input, kernel, *numbers):
    """Ten numbers of StyleGAN2 (input [N, H, W, C]: up, down, padding), with flip_filter and gain StyleGAN2-ADA's (input
    [N, C, H, W])."""
    if len(numbers) == 10:
        return _native(input, kernel, *numbers)
    return _native(input.permute(0, 3, 1, 2), kernel, *numbers).permute(0, 2, 3, 1).contiguous()


# For CPU tensors the programs' functions never ask the extension: their own compositions are replaced.
REPLACES = {("torch_utils.ops.upfirdn2d", "_upfirdn2d_ref"): _ours}
REPLACES.update({(f"{package}upfirdn2d", "upfirdn2d_native"): _native
                 for package in ("op.", "models.op.", "models.stylegan2.op.", "model.stylegan.op.", "stylegan2.op.",
                                 "basicsr.ops.upfirdn2d.")})
