/* VoxelPooling: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_VOXEL_POOLING_H_
#define MLUOPS_OP_VOXEL_POOLING_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Adds the features of points to the cells of a map that they lie over (scatter-add).
 *
 *  @param batch_size       B >= 1.
 *  @param num_points       N >= 1, of an image.
 *  @param num_channels     C >= 1.
 *  @param num_voxel_x      X >= 1.
 *  @param num_voxel_y      Y >= 1.
 *  @param num_voxel_z      Z >= 1.
 *  @param geom_xyz         INT32 [B, N, 3], ARRAY: the voxel x, y, z of each point. A point outside [0,X-1], [0,Y-1],
 *                          [0,Z-1] adds to nothing.
 *  @param input_features   T [B, N, C], ARRAY.
 *  @param output_features  T [B, Y, X, C], ARRAY: the sums over all z; overwritten.
 *  @param pos_memo         INT32 [B, N, 3], ARRAY: the image, y and x each point was added to, -1 where to none;
 *                          overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16, summed in FLOAT where narrower. Points of a cell are added in their
 *  order: the same bits for every number of threads. Strided tensors: NOT_SUPPORTED. Cost: each feature is read once.
 *  Source: Li et al., "BEVDepth", AAAI 2023; docs/op/voxel_pooling.md. */
mluOpStatus_t MLUOP_WIN_API mluOpVoxelPoolingForward(
    mluOpHandle_t handle, const int batch_size, const int num_points, const int num_channels, const int num_voxel_x,
    const int num_voxel_y, const int num_voxel_z, const mluOpTensorDescriptor_t geom_xyz_desc, const void* geom_xyz,
    const mluOpTensorDescriptor_t input_features_desc, const void* input_features,
    const mluOpTensorDescriptor_t output_features_desc, void* output_features,
    const mluOpTensorDescriptor_t pos_memo_desc, void* pos_memo);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_VOXEL_POOLING_H_ */
