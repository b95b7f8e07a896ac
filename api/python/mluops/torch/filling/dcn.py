"""Deformable convolution, v1 and v2."""

from typing import Sequence

from torch import Tensor

from .._buffers import add, fill, fill_all
from .._tensors import floats
from ..op.dcn import data_gradient, forward, weight_gradient


def deform_conv_forward(input, weight, offset, output, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH,
                        group, deformable_group, im2col_step):
    x, o, w = floats(input=input, offset=offset, weight=weight)
    fill("output", output, forward(x, o, None, w, None, dH, dW, padH, padW, dilationH, dilationW, group,
                                   deformable_group))


def deform_conv_backward_input(input, offset, gradOutput, gradInput, gradOffset, weight, columns, kW, kH, dW, dH, padW,
                               padH, dilationW, dilationH, group, deformable_group, im2col_step):
    g, x, o, w = floats(gradOutput=gradOutput, input=input, offset=offset, weight=weight)
    grads = data_gradient(g, x, o, None, w, dH, dW, padH, padW, dilationH, dilationW, group, deformable_group)
    fill_all(grads, gradInput=gradInput, gradOffset=gradOffset)


def deform_conv_backward_parameters(input, offset, gradOutput, gradWeight, columns, ones, kW, kH, dW, dH, padW, padH,
                                    dilationW, dilationH, group, deformable_group, scale, im2col_step):
    g, x, o = floats(gradOutput=gradOutput, input=input, offset=offset)
    grad, _ = weight_gradient(g, x, o, None, kH, kW, dH, dW, padH, padW, dilationH, dilationW, group,
                              deformable_group)
    add("gradWeight", gradWeight, grad * scale)


def _read(map: Tensor, height: int, width: int) -> Tensor:
    """[N, C, H, W] -> [N, C, height, width], the first elements of each image. The modulated functions of the extensions
    do not compare the sizes of offset and mask with the output's, and DyHead passes them larger."""
    if map.dim() != 4 or map[:1, :1].numel() < height * width or height < 1 or width < 1:
        return map
    n, channels = map.shape[:2]
    return map.flatten(1)[:, :channels * height * width].reshape(n, channels, height, width)


def _beginning_of(buffer: Tensor, map: Tensor, grad: Tensor) -> Tensor:
    """What a gradient's buffer holds afterwards: the rest of a larger one stays."""
    if grad.shape == map.shape or buffer.shape != map.shape:
        return grad
    whole = buffer.detach().flatten(1).clone()
    whole[:, :grad[0].numel()] = grad.flatten(1)
    return whole.reshape(buffer.shape)


def _size(input: Tensor, kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int],
          dilation: Sequence[int]) -> Sequence[int]:
    """The height and width of the output."""
    return [(size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(input.shape[2:], kernel, stride, pad, dilation)]


def modulated_deform_conv_forward(input, weight, bias, ones, offset, mask, output, columns, kernel_h, kernel_w,
                                  stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, group, deformable_group,
                                  with_bias):
    x, w, o, m = floats(input=input, weight=weight, offset=offset, mask=mask)
    size = _size(x, (kernel_h, kernel_w), (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w))
    o, m = _read(o, *size), _read(m, *size)
    found = forward(x, o, m, w, bias.to(x.dtype) if with_bias else None, stride_h, stride_w, pad_h, pad_w, dilation_h,
                    dilation_w, group, deformable_group)
    fill("output", output, found)


def modulated_deform_conv_backward(input, weight, bias, ones, offset, mask, columns, grad_input, grad_weight, grad_bias,
                                   grad_offset, grad_mask, grad_output, kernel_h, kernel_w, stride_h, stride_w, pad_h,
                                   pad_w, dilation_h, dilation_w, group, deformable_group, with_bias):
    g, x, w, o, m = floats(grad_output=grad_output, input=input, weight=weight, offset=offset, mask=mask)
    numbers = stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, group, deformable_group
    o, m = _read(o, *g.shape[2:]), _read(m, *g.shape[2:])
    of_input, of_offset, of_mask = data_gradient(g, x, o, m, w, *numbers)
    grads = of_input, _beginning_of(grad_offset, offset, of_offset), _beginning_of(grad_mask, mask, of_mask)
    of_weight, of_bias = weight_gradient(g, x, o, m, kernel_h, kernel_w, *numbers)
    buffers = dict(grad_input=grad_input, grad_offset=grad_offset, grad_mask=grad_mask, grad_weight=grad_weight)
    if with_bias:
        buffers["grad_bias"] = grad_bias
    fill_all((*grads, of_weight, of_bias)[:len(buffers)], **buffers)
