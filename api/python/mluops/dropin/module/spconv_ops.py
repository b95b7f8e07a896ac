"""spconv.pytorch.ops, and spconv.ops of spconv 1: pairs of places, and sums over them."""

from ...torch.op.sparse_conv import (get_conv_output_size, get_deconv_output_size, indice_conv, indice_inverse_conv,
                                     indice_maxpool, indice_subm_conv)
from ...torch.op.sparse_conv import get_indice_pairs as _pairs
from .._spconv import ConvAlgo

__all__ = ["ConvAlgo", "get_conv_output_size", "get_deconv_output_size", "get_indice_pairs", "indice_conv",
           "indice_inverse_conv", "indice_maxpool", "indice_subm_conv"]

PACKAGE = "spconv"
NAMES = ("spconv.pytorch.ops", "spconv.ops", "spconv.functional")
OF_OUR_PACKAGE = True


def get_indice_pairs(indices, batch_size, spatial_shape, *arguments, **named):
    """Places, pairs and their numbers; spconv 2 gives the algorithm, which is without effect, before the kernel's size."""
    named.pop("algo", None)
    if arguments and isinstance(arguments[0], ConvAlgo):
        arguments = arguments[1:]
    return _pairs(indices, batch_size, spatial_shape, *arguments, **named)
