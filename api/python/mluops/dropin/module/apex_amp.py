"""apex.amp without mixed precision: tensors keep their dtype and losses are not scaled."""

import contextlib

__all__ = ["disable_casts", "float_function", "half_function", "init", "initialize", "load_state_dict", "master_params",
           "promote_function", "register_float_function", "register_half_function", "register_promote_function",
           "scale_loss", "state_dict"]

PACKAGE = "apex"
NAMES = ("apex.amp",)
UNLESS_FALLBACK = True


def initialize(models, optimizers=None, *args, **kwargs):
    """Returns models and optimizers unchanged."""
    return models if optimizers is None else (models, optimizers)


@contextlib.contextmanager
def scale_loss(loss, optimizers, *args, **kwargs):
    yield loss


@contextlib.contextmanager
def disable_casts():
    yield


def master_params(optimizer):
    for group in optimizer.param_groups:
        yield from group["params"]


def state_dict(destination=None):
    """The state of a loss scaler whose scale is 1."""
    destination = {} if destination is None else destination
    destination["loss_scaler0"] = {"loss_scale": 1.0, "unskipped": 0}
    return destination


def load_state_dict(state_dict):
    return None


def float_function(fn):
    return fn


half_function = promote_function = float_function


def register_float_function(module, name):
    return None


register_half_function = register_promote_function = register_float_function


class _Handle:
    """The handle that init() returns."""

    scale_loss = staticmethod(scale_loss)

    def wrap_optimizer(self, optimizer, num_loss=1):
        return optimizer

    def is_active(self):
        return False


def init(*args, **kwargs):
    return _Handle()
