"""nn.Module classes with mmcv's names, arguments and parameter names: checkpoints fit."""

from typing import Optional

from torch import Tensor, nn
from torch.nn import functional as F

from .._arguments import Size, pair, psa_type_number
from ._functions import border_align, carafe, deform_roi_pool, psa_mask


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
    """The same as CARAFE: the two names differ in mmcv's CUDA kernels only."""


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


class PSAMask(nn.Module):
    """mluops.torch.psa_mask; psa_type "collect" or "distribute". forward: [N, hm*wm, H, W] -> [N, H*W, H, W]."""

    def __init__(self, psa_type: str, mask_size: Size) -> None:
        super().__init__()
        self.psa_type = psa_type
        self.psa_type_enum = psa_type_number(psa_type)
        self.mask_size = mask_size

    def forward(self, input: Tensor) -> Tensor:
        return psa_mask(input, self.psa_type_enum, self.mask_size)

    def extra_repr(self) -> str:
        return f"psa_type={self.psa_type}, mask_size={self.mask_size}"


class DeformRoIPool(nn.Module):
    """mluops.torch.deform_roi_pool; forward(input [B,C,H,W], rois [R,5], offset [R,2,PH,PW] or None)."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = 0,
                 gamma: float = 0.1) -> None:
        super().__init__()
        self.output_size = pair(output_size)
        self.spatial_scale = float(spatial_scale)
        self.sampling_ratio = int(sampling_ratio)
        self.gamma = float(gamma)

    def forward(self, input: Tensor, rois: Tensor, offset: Optional[Tensor] = None) -> Tensor:
        return deform_roi_pool(input, rois, offset, self.output_size, self.spatial_scale, self.sampling_ratio,
                               self.gamma)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
                f"sampling_ratio={self.sampling_ratio}, gamma={self.gamma}")


def _zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class DeformRoIPoolPack(DeformRoIPool):
    """DeformRoIPool with the layers that predict its offsets; forward(input [B,output_channels,H,W], rois [R,5])."""

    def __init__(self, output_size: Size, output_channels: int, deform_fc_channels: int = 1024,
                 spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> None:
        super().__init__(output_size, spatial_scale, sampling_ratio, gamma)
        self.output_channels = output_channels
        self.deform_fc_channels = deform_fc_channels
        bins = self.output_size[0] * self.output_size[1]
        self.offset_fc = nn.Sequential(
            nn.Linear(bins * output_channels, deform_fc_channels), nn.ReLU(inplace=True),
            nn.Linear(deform_fc_channels, deform_fc_channels), nn.ReLU(inplace=True),
            _zeroed(nn.Linear(deform_fc_channels, bins * 2)))

    def _rigid(self, input: Tensor, rois: Tensor) -> Tensor:
        """Pooled without offsets, one row per RoI, in NCHW order as the linear layers expect."""
        if input.shape[1] != self.output_channels:
            raise ValueError(f"input: wanted {self.output_channels} channels, got {input.shape[1]}")
        return super().forward(input, rois).flatten(1)

    def _deformed(self, input: Tensor, rois: Tensor, rigid: Tensor) -> Tensor:
        offset = self.offset_fc(rigid).view(rois.shape[0], 2, *self.output_size)
        return super().forward(input, rois, offset)

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:  # type: ignore[override]
        return self._deformed(input, rois, self._rigid(input, rois))


class ModulatedDeformRoIPoolPack(DeformRoIPoolPack):
    """DeformRoIPoolPack whose bins are also scaled by a predicted mask in (0, 1)."""

    def __init__(self, output_size: Size, output_channels: int, deform_fc_channels: int = 1024,
                 spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1) -> None:
        super().__init__(output_size, output_channels, deform_fc_channels, spatial_scale, sampling_ratio, gamma)
        bins = self.output_size[0] * self.output_size[1]
        self.mask_fc = nn.Sequential(
            nn.Linear(bins * output_channels, deform_fc_channels), nn.ReLU(inplace=True),
            _zeroed(nn.Linear(deform_fc_channels, bins)), nn.Sigmoid())

    def forward(self, input: Tensor, rois: Tensor) -> Tensor:  # type: ignore[override]
        rigid = self._rigid(input, rois)
        mask = self.mask_fc(rigid).view(rois.shape[0], 1, *self.output_size)
        return self._deformed(input, rois, rigid) * mask


class BorderAlign(nn.Module):
    """mluops.torch.border_align; forward(input [N,4*C,H,W], boxes [N,K,4]) -> [N,C,K,4]."""

    def __init__(self, pool_size: int) -> None:
        super().__init__()
        self.pool_size = pool_size

    def forward(self, input: Tensor, boxes: Tensor) -> Tensor:
        return border_align(input, boxes, self.pool_size)

    def extra_repr(self) -> str:
        return f"pool_size={self.pool_size}"
