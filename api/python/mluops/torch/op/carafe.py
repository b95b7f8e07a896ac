"""CARAFE: content-aware upsampling."""

from torch import Tensor, nn
from torch.nn import functional as F

from ..._functions.carafe import CARAFE_BACKWARD as BACKWARD, CARAFE_FORWARD as FORWARD
from .._blocks import bad_param, described, floats, in_order_of, integer, renamed

__all__ = ["CARAFE", "CARAFENaive", "CARAFEPack", "carafe"]


def _odd_kernel_of_groups(c, kernel_size, group_size, **_):
    if kernel_size % 2 == 0:
        raise bad_param("kernel_size", "an odd number", kernel_size)
    if c % group_size != 0:
        raise bad_param("features", f"channels divisible by group_size {group_size}", c)


gradients = described("carafe_backward(grad, features, masks, kernel_size, group_size, scale_factor)", BACKWARD,
                      fixed={"dimNb": 4}, rule=_odd_kernel_of_groups)
forward = described("carafe(features, masks, kernel_size, group_size, scale_factor)", FORWARD, fixed={"dimNb": 4},
                    rule=_odd_kernel_of_groups, gradient=gradients, linear="features masks")


@renamed(input="features", mask="masks")
def carafe(features: Tensor, masks: Tensor, kernel_size: int, group_size: int, scale_factor: int) -> Tensor:
    """Content-aware upsampling: each output pixel is a K x K neighbourhood of the input, weighted by its own mask.

    Args:
        features: T [N, C, H, W]; C divisible by group_size.
        masks: T [N, group_size*K*K, s*H, s*W].
        kernel_size, group_size, scale_factor: K (odd), number of groups, s.
    Returns: T [N, C, s*H, s*W], differentiable in features and masks.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. NCHW and channels_last tensors are used where
    they lie; the result has the memory order of features.
    Source: Wang et al., "CARAFE", ICCV 2019.
    """
    x, m = floats(features=features, masks=masks)
    return forward(x, in_order_of(x, m), integer("kernel_size", kernel_size), integer("group_size", group_size),
                   integer("scale_factor", scale_factor))


class CARAFE(nn.Module):
    """mluops.torch.carafe with fixed sizes; forward(features [N,C,H,W], masks [N,G*K*K,s*H,s*W])."""

    def __init__(self, kernel_size: int, group_size: int, scale_factor: int) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.group_size = group_size
        self.scale_factor = scale_factor

    def forward(self, features: Tensor, masks: Tensor) -> Tensor:
        return carafe(features, masks, self.kernel_size, self.group_size, self.scale_factor)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, group_size={self.group_size}, scale_factor={self.scale_factor}"


class CARAFENaive(CARAFE):
    """CARAFE by its other name: the two differ in mmcv's CUDA kernels only."""


class CARAFEPack(nn.Module):
    """CARAFE with the layers that predict its masks: compressor, content encoder, softmax.

    Args:
        channels: channels of the input.
        scale_factor: upsampling factor s.
        up_kernel, up_group: kernel size and groups of CARAFE.
        encoder_kernel, encoder_dilation: of the content encoder.
        compressed_channels: output channels of the compressor.
    forward: [N, channels, H, W] -> [N, channels, s*H, s*W].
    """

    def __init__(self, channels: int, scale_factor: int, up_kernel: int = 5, up_group: int = 1,
                 encoder_kernel: int = 3, encoder_dilation: int = 1, compressed_channels: int = 64) -> None:
        super().__init__()
        self.channels = channels
        self.scale_factor = scale_factor
        self.up_kernel = up_kernel
        self.up_group = up_group
        self.encoder_kernel = encoder_kernel
        self.encoder_dilation = encoder_dilation
        self.compressed_channels = compressed_channels
        self.channel_compressor = nn.Conv2d(channels, compressed_channels, 1)
        self.content_encoder = nn.Conv2d(
            compressed_channels, up_kernel * up_kernel * up_group * scale_factor * scale_factor, encoder_kernel,
            padding=(encoder_kernel - 1) * encoder_dilation // 2, dilation=encoder_dilation)
        self.init_weights()

    def init_weights(self) -> None:
        nn.init.xavier_uniform_(self.channel_compressor.weight)
        nn.init.normal_(self.content_encoder.weight, std=0.001)
        for layer in (self.channel_compressor, self.content_encoder):
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def kernel_normalizer(self, mask: Tensor) -> Tensor:
        """Softmax over the K*K taps of every pixel and group."""
        mask = F.pixel_shuffle(mask, self.scale_factor)
        n, channels, h, w = mask.shape
        taps = self.up_kernel * self.up_kernel
        weights = mask.reshape(n, channels // taps, taps, h, w)
        return F.softmax(weights, dim=2, dtype=mask.dtype).reshape(n, channels, h, w)

    def feature_reassemble(self, x: Tensor, mask: Tensor) -> Tensor:
        return carafe(x, mask, self.up_kernel, self.up_group, self.scale_factor)

    def forward(self, x: Tensor) -> Tensor:
        mask = self.kernel_normalizer(self.content_encoder(self.channel_compressor(x)))
        return self.feature_reassemble(x, mask)
