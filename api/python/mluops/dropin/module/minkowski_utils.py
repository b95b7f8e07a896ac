"""MinkowskiEngine.utils."""

from .._minkowski_utils import (SparseCollation, batch_sparse_collate, batched_coordinates, kaiming_normal_, sparse_collate,
                                sparse_quantize)

__all__ = ["SparseCollation", "batch_sparse_collate", "batched_coordinates", "kaiming_normal_", "sparse_collate",
           "sparse_quantize"]

PACKAGE = "MinkowskiEngine"
NAMES = ("MinkowskiEngine.utils",)
OF_OUR_PACKAGE = True
