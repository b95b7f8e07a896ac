"""sigmoid_focal_loss and softmax_focal_loss. mmcv's function rounds the softmax of halves to halves and takes its logarithm:
of a probability below 6e-8 that is the logarithm of 0. With mluops the function computes in float."""

import importlib

import torch

from ...torch.filling.focal_loss import (sigmoid_focal_loss_backward, sigmoid_focal_loss_forward,
                                         softmax_focal_loss_backward, softmax_focal_loss_forward)

ENTRY_POINTS = (sigmoid_focal_loss_forward, sigmoid_focal_loss_backward, softmax_focal_loss_forward,
                softmax_focal_loss_backward)


def _softmax_function_forward(ctx, input, *others, **more):
    own = importlib.import_module("mmcv.ops.focal_loss").SoftmaxFocalLossFunction.forward.original
    wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
    return own(ctx, wide, *others, **more).to(input.dtype)


METHODS = {("mmcv.ops.focal_loss", "SoftmaxFocalLossFunction", "forward"): _softmax_function_forward}
