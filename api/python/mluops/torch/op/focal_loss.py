"""sigmoid_focal_loss and softmax_focal_loss: losses of dense detectors."""

from typing import Optional

import torch
from torch import Tensor, nn

from ..._function import ARRAY
from ..._functions import focal_loss as f
from .._blocks import bad_param, described, floats, int32, no_tangent, operator, run

__all__ = ["SigmoidFocalLoss", "SoftmaxFocalLoss", "sigmoid_focal_loss", "softmax_focal_loss"]

_MODES = {"prefer": 1, "reduction": 0}  # MLUOP_COMPUTATION_HIGH_PRECISION, MLUOP_LOSS_REDUCTION_NONE


# ---- sigmoid


def _gamma_of_a_loss(gamma, **_):
    if not gamma >= 0:
        raise bad_param("gamma", "at least 0", gamma)


# C computes the derivative of each loss.
sigmoid_gradient = described("sigmoid_focal_loss_backward(grad, input, target, weight, gamma, alpha)",
                             f.FOCAL_LOSS_SIGMOID_BACKWARD, more=ARRAY("grad_output", dims="n c"), fixed=_MODES,
                             rule=_gamma_of_a_loss, after=lambda grad_input, grad, *_: grad_input.mul_(grad))


def _sigmoid_jvp(inputs, output, tangents):
    """Each loss depends on its own logit."""
    no_tangent("sigmoid_focal_loss", "weight", tangents[2])
    return torch.zeros_like(output) if tangents[0] is None else sigmoid_gradient(tangents[0], *inputs)


sigmoid_forward = described("sigmoid_focal_loss(input, target, weight, gamma, alpha)", f.FOCAL_LOSS_SIGMOID_FORWARD,
                            fixed=_MODES, rule=_gamma_of_a_loss, gradient=sigmoid_gradient, jvp=_sigmoid_jvp)


# ---- softmax


def _softmax_fake(input, target, weight, gamma, alpha):
    sigmoid_forward.form.sizes((input, target, weight, gamma, alpha))
    return input.new_empty(input.shape[:1]), input.new_empty(input.shape)


def _probabilities(outputs, input, *_):
    _, softmax = outputs
    if input.dtype in (torch.float16, torch.bfloat16):
        softmax.copy_(torch.softmax(input, 1, dtype=torch.float32))
    else:
        torch.softmax(input, 1, out=softmax)


def _softmax_call(outputs, input, target, weight, gamma, alpha):
    output, softmax = outputs
    return run(f.FOCAL_LOSS_SOFTMAX_FORWARD, softmax, target, weight, alpha, gamma, output)


softmax_gradient = described("softmax_focal_loss_backward(grad, softmax, target, weight, gamma, alpha)",
                             f.FOCAL_LOSS_SOFTMAX_BACKWARD, more=ARRAY("grad_output", dims="n"), rule=_gamma_of_a_loss,
                             after=lambda grad_input, grad, *_: grad_input.mul_(grad[:, None]))


def _softmax_setup(ctx, inputs, output):
    _, target, weight, *ctx.numbers = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1], target, *(() if weight is None else (weight,)))


def _softmax_backward(ctx, grad, _):
    softmax, target, *weight = ctx.saved_tensors
    return (softmax_gradient(grad, softmax, target, *(weight or (None,)), *ctx.numbers), *(None,) * 4)


def _softmax_jvp(inputs, output, tangents):
    no_tangent("softmax_focal_loss", "weight", tangents[2])
    if tangents[0] is None:
        return torch.zeros_like(output[0]), None
    return (softmax_gradient(torch.ones_like(output[0]), output[1], *inputs[1:]) * tangents[0]).sum(1), None


softmax_forward = operator(
    "softmax_focal_loss(Tensor input, Tensor target, Tensor? weight, float gamma, float alpha) -> (Tensor, Tensor)",
    _softmax_fake, _softmax_call, setup=_softmax_setup, backward=_softmax_backward, jvp=_softmax_jvp,
    before=_probabilities)


# ---- public


def _arguments(input, target, weight):
    if weight is not None and weight.numel() == 0 and input.shape[-1] != 0:  # as mmcv says that there is none
        weight = None
    x, w = floats("weight", input=input, weight=weight)
    return x, int32("target", target), w


def _reduced(losses: Tensor, reduction: str, rows: int) -> Tensor:
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise bad_param("reduction", '"none", "mean" or "sum"', reduction)
    total = losses.sum(dtype=torch.promote_types(losses.dtype, torch.float32))
    return (total / rows if reduction == "mean" else total).to(losses.dtype)


def sigmoid_focal_loss(input: Tensor, target: Tensor, gamma: float = 2.0, alpha: float = 0.25,
                       weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Focal loss of C independent classes: with p the sigmoid of a logit, -alpha (1-p)^gamma log(p) for the target's
    class and -(1-alpha) p^gamma log(1-p) for every other.

    Args:
        input: T [N, C], logits.
        target: int32 or int64 [N]: a class. Without weight C (background) and negative numbers are no class; more than
            C, and with weight anything but a class, is refused.
        gamma: at least 0.
        alpha: weight of the target's class, 1 - alpha that of the others.
        weight: T [C], of a row's target; constant to gradients.
        reduction: "none", "sum", or "mean": the sum divided by N.
    Returns: T [N, C] with "none", else a number; differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted.
    Source: Lin et al., "Focal Loss for Dense Object Detection", ICCV 2017; mmcv's sigmoid_focal_loss.
    """
    if isinstance(target, Tensor) and target.is_floating_point():
        raise TypeError("target: wanted int32 or int64 numbers, one class a row (torchvision's sigmoid_focal_loss takes one number "
                        f"for each logit), got {target.dtype}")
    x, t, w = _arguments(input, target, weight)
    return _reduced(sigmoid_forward(x, t, w, float(gamma), float(alpha)), reduction, input.shape[0])


def softmax_focal_loss(input: Tensor, target: Tensor, gamma: float = 2.0, alpha: float = 0.25,
                       weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Focal loss of one class out of C: -alpha (1-p)^gamma log(p), p the softmax of the target's logit.

    Args:
        input: T [N, C], logits.
        target: int32 or int64 [N]: a class; a negative number: the row has no loss; C and more is refused.
        gamma: at least 0.
        alpha: multiplies every loss.
        weight: T [C], of a row's target; constant to gradients.
        reduction: "none", "sum", or "mean": the sum divided by N.
    Returns: T [N] with "none", else a number; differentiable in input.

    T: float16, bfloat16, float32, float64, mixed dtypes are promoted. Source: mmcv's softmax_focal_loss.
    """
    x, t, w = _arguments(input, target, weight)
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):  # probabilities near 0 and 1 are not in a 16-bit type
        x, w = x.float(), None if w is None else w.float()
    losses = softmax_forward(x, t, w, float(gamma), float(alpha))[0]
    return _reduced(losses, reduction, input.shape[0]).to(dtype)


class _FocalLoss(nn.Module):
    def __init__(self, gamma: float, alpha: float, weight: Optional[Tensor] = None, reduction: str = "mean") -> None:
        super().__init__()
        self.gamma = gamma
        self.alpha = alpha
        self.register_buffer("weight", weight)
        self.reduction = reduction

    def extra_repr(self) -> str:
        return f"gamma={self.gamma}, alpha={self.alpha}, reduction={self.reduction}"


class SigmoidFocalLoss(_FocalLoss):
    """mluops.torch.sigmoid_focal_loss with fixed numbers; forward(input [N,C], target [N])."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return sigmoid_focal_loss(input, target, self.gamma, self.alpha, self.weight, self.reduction)


class SoftmaxFocalLoss(_FocalLoss):
    """mluops.torch.softmax_focal_loss with fixed numbers; forward(input [N,C], target [N])."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return softmax_focal_loss(input, target, self.gamma, self.alpha, self.weight, self.reduction)


SMALLEST = {"softmax_focal_loss": lambda ones, zeros: softmax_focal_loss(ones(1, 2), zeros(1))}
