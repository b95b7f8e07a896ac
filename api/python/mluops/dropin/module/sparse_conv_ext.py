"""sparse_conv_ext of mmdet3d before 1.0, which is spconv 1's extension: pairs of places, and sums over them."""

from ...torch.filling.sparse_conv import (fused_indice_conv_forward, get_indice_pairs_2d_backward,
                                          get_indice_pairs_2d_forward, get_indice_pairs_3d_backward,
                                          get_indice_pairs_3d_forward, get_indice_pairs_4d_forward,
                                          indice_conv_backward, indice_conv_forward, indice_maxpool_backward,
                                          indice_maxpool_forward)

__all__ = ["fused_indice_conv_fp32", "fused_indice_conv_half", "get_indice_pairs_2d", "get_indice_pairs_3d",
           "get_indice_pairs_4d", "get_indice_pairs_grid_2d", "get_indice_pairs_grid_3d", "indice_conv_backward_fp32",
           "indice_conv_backward_half", "indice_conv_fp32", "indice_conv_half", "indice_maxpool_backward_fp32",
           "indice_maxpool_backward_half", "indice_maxpool_fp32", "indice_maxpool_half"]

PACKAGE = "mmdet3d"
NAMES = ("sparse_conv_ext", "*.sparse_conv_ext")

get_indice_pairs_2d, get_indice_pairs_3d = get_indice_pairs_2d_forward, get_indice_pairs_3d_forward
get_indice_pairs_4d = get_indice_pairs_4d_forward
get_indice_pairs_grid_2d, get_indice_pairs_grid_3d = get_indice_pairs_2d_backward, get_indice_pairs_3d_backward
indice_conv_fp32 = indice_conv_half = indice_conv_forward
indice_conv_backward_fp32 = indice_conv_backward_half = indice_conv_backward
fused_indice_conv_fp32 = fused_indice_conv_half = fused_indice_conv_forward
indice_maxpool_fp32 = indice_maxpool_half = indice_maxpool_forward
indice_maxpool_backward_fp32 = indice_maxpool_backward_half = indice_maxpool_backward
