"""deform_pool_cuda and deform_pool_ext of mmdet 1 and 2.0."""

from ...torch.filling.deform_psroi_pool import deform_psroi_pooling_backward, deform_psroi_pooling_forward

__all__ = ["deform_psroi_pooling_backward", "deform_psroi_pooling_cuda_backward", "deform_psroi_pooling_cuda_forward",
           "deform_psroi_pooling_forward"]

PACKAGE = "mmdet"
NAMES = tuple(f"{prefix}{name}" for name in ("deform_pool_cuda", "deform_pool_ext") for prefix in ("", "*."))

deform_psroi_pooling_cuda_forward = deform_psroi_pooling_forward
deform_psroi_pooling_cuda_backward = deform_psroi_pooling_backward
