"""The nn.Module classes of mluops.torch, with mmcv's names, arguments and parameter names: checkpoints fit."""

from torch.nn import Module

from .. import torch as _torch

__all__ = [name for name in _torch.__all__
           if isinstance(getattr(_torch, name), type) and issubclass(getattr(_torch, name), Module)]
globals().update((name, getattr(_torch, name)) for name in __all__)
