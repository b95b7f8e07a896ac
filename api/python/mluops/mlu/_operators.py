"""Operators of aten that torch leaves to the device or has no CPU kernel for, so that the CPU fallback of all others does
not reach them: convolutions, the cells of LSTM and GRU."""

from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor

_library = torch.library.Library("aten", "IMPL")  # kept: the registrations live as long as it does


def _cpu(value: Any) -> Any:
    return value.cpu() if isinstance(value, Tensor) else value


def _to(device: torch.device, values: Any) -> Any:
    if isinstance(values, Tensor):
        return values.to(device)
    return tuple(_to(device, value) if value is not None else None for value in values)


def _convolution(input: Tensor, *rest: Any) -> Tensor:
    return _to(input.device, torch.ops.aten.convolution(input.cpu(), *map(_cpu, rest)))


def _convolution_backward(grad: Tensor, input: Tensor, weight: Tensor, stride: List[int], padding: List[int],
                          dilation: List[int], transposed: bool, output_padding: List[int], groups: int,
                          mask: List[bool]) -> Tuple[Optional[Tensor], ...]:
    sizes = [weight.shape[1] * groups if transposed else weight.shape[0]]
    made = torch.ops.aten.convolution_backward(grad.cpu(), input.cpu(), weight.cpu(), sizes, stride, padding, dilation,
                                               transposed, output_padding, groups, mask)
    return _to(grad.device, made)


def _sum_of_gates(a: Tensor, b: Tensor, *biases: Optional[Tensor]) -> Tensor:
    total = a + b
    for bias in biases:
        total = total if bias is None else total + bias
    return total


def _lstm_cell(input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, input_bias: Optional[Tensor] = None,
               hidden_bias: Optional[Tensor] = None) -> Tuple[Tensor, Tensor, Tensor]:
    """New hidden and cell state, and the gates behind their functions for the backward pass."""
    gates = _sum_of_gates(*map(_cpu, (input_gates, hidden_gates, input_bias, hidden_bias)))
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx.cpu() + i * g
    return _to(cx.device, (o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)))


def _lstm_cell_backward(grad_hy: Optional[Tensor], grad_cy: Optional[Tensor], cx: Tensor, cy: Tensor, workspace: Tensor,
                        has_bias: bool) -> Tuple[Optional[Tensor], ...]:
    device = workspace.device
    cx, cy = cx.cpu(), cy.cpu()
    i, f, g, o = workspace.cpu().chunk(4, 1)
    hy = torch.zeros_like(cy) if grad_hy is None else grad_hy.cpu()
    c = torch.zeros_like(cy) if grad_cy is None else grad_cy.cpu()
    tanh = cy.tanh()
    c = c + hy * o * (1 - tanh * tanh)
    gates = torch.cat([c * g * i * (1 - i), c * cx * f * (1 - f), c * i * (1 - g * g), hy * tanh * o * (1 - o)], 1)
    return _to(device, (gates, c * f, gates.sum(0) if has_bias else None))


def _gru_cell(input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, input_bias: Optional[Tensor] = None,
              hidden_bias: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """New hidden state, and for the backward pass r, z, n, hx and the hidden part of n."""
    of_input = _cpu(input_gates) + (0 if input_bias is None else _cpu(input_bias))
    of_hidden = _cpu(hidden_gates) + (0 if hidden_bias is None else _cpu(hidden_bias))
    (ir, iz, inn), (hr, hz, hn) = of_input.chunk(3, 1), of_hidden.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (inn + r * hn).tanh()
    hx = hx.cpu()
    return _to(hidden_gates.device, ((hx - n) * z + n, torch.cat([r, z, n, hx, hn], 1)))


def _gru_cell_backward(grad: Tensor, workspace: Tensor, has_bias: bool) -> Tuple[Optional[Tensor], ...]:
    r, z, n, hx, hn = workspace.cpu().chunk(5, 1)
    hy = grad.cpu()
    of_n = hy * (1 - z) * (1 - n * n)
    of_z = hy * (hx - n) * z * (1 - z)
    of_r = of_n * hn * r * (1 - r)
    of_input, of_hidden = torch.cat([of_r, of_z, of_n], 1), torch.cat([of_r, of_z, of_n * r], 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return _to(grad.device, (of_input, of_hidden, hy * z, *biases))


def register() -> None:
    for name, function in {"convolution_overrideable": _convolution,
                           "convolution_backward_overrideable": _convolution_backward,
                           "_thnn_fused_lstm_cell": _lstm_cell,
                           "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
                           "_thnn_fused_gru_cell": _gru_cell,
                           "_thnn_fused_gru_cell_backward": _gru_cell_backward}.items():
        _library.impl(name, function, "PrivateUse1")
