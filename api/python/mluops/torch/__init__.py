"""The operators on PyTorch CPU tensors: functions, and modules with mmcv's names and arguments.

Works with every torch: torch.library operators (torch.ops.mluops.*) from 2.4 on, autograd functions before. Thread
count and determinism are torch's own (torch.set_num_threads, torch.use_deterministic_algorithms).
"""

from ._functions import border_align, carafe, deform_roi_pool, psa_mask, three_interpolate
from .modules import (CARAFE, BorderAlign, CARAFENaive, CARAFEPack, DeformRoIPool, DeformRoIPoolPack,
                      ModulatedDeformRoIPoolPack, PSAMask)

__all__ = [
    "CARAFE", "BorderAlign", "CARAFENaive", "CARAFEPack", "DeformRoIPool", "DeformRoIPoolPack",
    "ModulatedDeformRoIPoolPack", "PSAMask", "border_align", "carafe", "deform_roi_pool", "psa_mask",
    "three_interpolate",
]
