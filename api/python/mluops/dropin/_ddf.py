"""Decoupled dynamic filters (ddfnet): weights of a window are a channel's times a pixel's, or their sum."""

from ..torch._buffers import adding, fill, write
from ..torch._tensors import floats
from . import _windows


class Ddf:
    """The extension's two functions. Features T [B, C, H, W], of channels T [B, C, k, k], of pixels T [B, k * k, h, w]."""

    def __init__(self, combine, shares):
        """combine(channel, pixel): the weights; shares(channel, pixel): by what a weight's gradient is multiplied for those."""
        self._combine, self._shares = combine, shares

    def _prepare(self, kernel_size, dilation, stride, **tensors):
        features, channel, pixel = floats(**{name: each.detach() for name, each in tensors.items()})
        middle = (kernel_size - 1) // 2 * dilation
        window = _windows.Window((kernel_size,) * 2, (stride,) * 2, (middle,) * 2, (dilation,) * 2)
        channel = channel.flatten(2)

        def of_tap(k):
            return channel[:, :, k, None, None], pixel[:, k, None]

        return features, pixel, window, of_tap

    def forward(self, features, channel_filter, spatial_filter, kernel_size, dilation, stride, output):
        x, pixel, window, of_tap = self._prepare(kernel_size, dilation, stride, features=features,
                                                 channel_filter=channel_filter, spatial_filter=spatial_filter)
        fill("output", output, _windows.sums(_windows.padded(x, window), lambda k: self._combine(*of_tap(k)), window,
                                             pixel.shape[2:]))
        return 1

    def backward(self, grad_output, features, channel_filter, spatial_filter, kernel_size, dilation, stride, rgrad_output,
                 rgrad_input, rgrad_spatial_filter, grad_input, grad_channel_filter, grad_spatial_filter):
        """Added to the last three; those before are room for the CUDA kernels."""
        x, pixel, window, of_tap = self._prepare(kernel_size, dilation, stride, features=features,
                                                 channel_filter=channel_filter, spatial_filter=spatial_filter)
        grad = grad_output.to(x.dtype)
        of_channel, of_pixel = x.new_empty(*x.shape[:2], kernel_size ** 2), x.new_empty(pixel.shape)
        for k, values in enumerate(_windows.to_weights(grad, _windows.padded(x, window), window)):
            by_pixel, by_channel = self._shares(*of_tap(k))
            of_channel[:, :, k], of_pixel[:, k] = (values * by_pixel).sum((2, 3)), (values * by_channel).sum(1)
        of_x = _windows.to_image(grad, lambda k: self._combine(*of_tap(k)), window, _windows.padded_size(x, window))
        write(adding("grad_input", grad_input, _windows.inside(of_x, window)),
              adding("grad_channel_filter", grad_channel_filter, of_channel.view(grad_channel_filter.shape)),
              adding("grad_spatial_filter", grad_spatial_filter, of_pixel))
        return 1
