"""Sparse convolution and its maximum pooling, in 2, 3 and 4 dimensions."""

from ...torch.filling.sparse_conv import (fused_indice_conv_forward, get_indice_pairs_2d_backward,
                                          get_indice_pairs_2d_forward, get_indice_pairs_3d_backward,
                                          get_indice_pairs_3d_forward, get_indice_pairs_4d_forward,
                                          indice_conv_backward, indice_conv_forward, indice_maxpool_backward,
                                          indice_maxpool_forward)

ENTRY_POINTS = (get_indice_pairs_2d_forward, get_indice_pairs_3d_forward, get_indice_pairs_4d_forward,
                get_indice_pairs_2d_backward, get_indice_pairs_3d_backward, indice_conv_forward, indice_conv_backward,
                fused_indice_conv_forward, indice_maxpool_forward, indice_maxpool_backward)
