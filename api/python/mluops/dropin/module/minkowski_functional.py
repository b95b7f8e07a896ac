"""MinkowskiEngine.MinkowskiFunctional: torch's functions of a sparse tensor's features."""

import functools

from torch.nn import functional

PACKAGE = "MinkowskiEngine"
NAMES = ("MinkowskiEngine.MinkowskiFunctional",)
OF_OUR_PACKAGE = True

_OF_FEATURES = ("celu", "dropout", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
                "linear", "log_softmax", "logsigmoid", "normalize", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu",
                "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold")
_OF_TARGETS = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "kl_div", "l1_loss", "mse_loss",
               "nll_loss", "smooth_l1_loss")
__all__ = [*_OF_FEATURES, *_OF_TARGETS]


def _of_features(function):
    @functools.wraps(function)
    def call(input, *args, **kwargs):
        return input.like(function(input.F, *args, **kwargs))

    return call


def _of_targets(function):
    @functools.wraps(function)
    def call(input, target, *args, **kwargs):
        return function(input.F, target, *args, **kwargs)

    return call


globals().update({name: _of_features(getattr(functional, name)) for name in _OF_FEATURES})
globals().update({name: _of_targets(getattr(functional, name)) for name in _OF_TARGETS})
