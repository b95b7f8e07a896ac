/* Voxelization: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_VOXELIZATION_H_
#define MLUOPS_OP_VOXELIZATION_H_

#include <stdbool.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Bytes of device memory that mluOpVoxelization wants: six INT32 for each point.
 *
 *  The arguments are those of the call. BAD_PARAM: size is NULL, and what BAD_PARAM is there. max_points or max_voxels
 * 0: SUCCESS, nothing written. */
mluOpStatus_t MLUOP_WIN_API mluOpGetVoxelizationWorkspaceSize(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const mluOpTensorDescriptor_t voxel_size_desc,
    const mluOpTensorDescriptor_t coors_range_desc, const int32_t max_points, const int32_t max_voxels,
    const int32_t NDim, const bool deterministic, const mluOpTensorDescriptor_t voxels_desc,
    const mluOpTensorDescriptor_t coors_desc, const mluOpTensorDescriptor_t num_points_per_voxel_desc,
    const mluOpTensorDescriptor_t voxel_num_desc, size_t* size);

/** Sorts points into the voxels of a grid (hard voxelization).
 *
 *    place of a point on axis a = x, y, z: floor((p[a] - range[a]) / size[a]), each operation rounded to float (double
 *      for DOUBLE). It is in the grid where 0 <= place < round((range[3 + a] - range[a]) / size[a]) on all axes, and
 *      place < 2^31.
 *    The voxels are the places that points of the grid have, in the order of their first points; the first max_voxels
 * of them count, V in number, and of each the first max_points points: voxels[v,i,:]            = point i of voxel v
 *    coors[v,:]               = its place, in the order z, y, x
 *    num_points_per_voxel[v]  = how many it has
 *    voxel_num[0]             = V
 *    Everything else of voxels, coors and num_points_per_voxel: zeros.
 *
 *  @param points                T [N, F], F >= 3: x, y, z and other features.
 *  @param voxel_size            T [3].
 *  @param coors_range           T [6]: least x, y, z, greatest x, y, z.
 *  @param max_points            >= 0.
 *  @param max_voxels            >= 0.
 *  @param NDim                  3.
 *  @param deterministic         true.
 *  @param workspace             workspace_size bytes; may be NULL when workspace_size is 0. The cpu backend leaves it
 *                               alone.
 *  @param workspace_size        As mluOpGetVoxelizationWorkspaceSize says, or less.
 *  @param voxels                T [max_voxels, max_points, F]; overwritten.
 *  @param coors                 INT32 [max_voxels, 3]; overwritten.
 *  @param num_points_per_voxel  INT32 [max_voxels]; overwritten.
 *  @param voxel_num             INT32 [1]; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. Any layout. points empty: BAD_PARAM. max_points or max_voxels 0:
 *  SUCCESS, nothing written. Strided tensors: NOT_SUPPORTED. Cost: N look-ups and max_voxels*max_points*F copies.
 *  Source: mmcv's hard_voxelize. */
mluOpStatus_t MLUOP_WIN_API mluOpVoxelization(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
    const mluOpTensorDescriptor_t voxel_size_desc, const void* voxel_size,
    const mluOpTensorDescriptor_t coors_range_desc, const void* coors_range, const int32_t max_points,
    const int32_t max_voxels, const int32_t NDim, const bool deterministic, void* workspace, size_t workspace_size,
    const mluOpTensorDescriptor_t voxels_desc, void* voxels, const mluOpTensorDescriptor_t coors_desc, void* coors,
    const mluOpTensorDescriptor_t num_points_per_voxel_desc, void* num_points_per_voxel,
    const mluOpTensorDescriptor_t voxel_num_desc, void* voxel_num);

/** The place of each point in a grid (dynamic voxelization).
 *
 *    coors[n,:] = the place of point n, as mluOpVoxelization has it, in the order z, y, x; -1 three times where it is
 * not in the grid
 *
 *  @param points       T [N, F], F >= 3.
 *  @param voxel_size   T [3].
 *  @param coors_range  T [6].
 *  @param coors        INT32 [N, 3]; overwritten.
 *  T: FLOAT; EXTENDED also HALF, DOUBLE and BFLOAT16. Any layout. points empty: BAD_PARAM. Strided tensors:
 *  NOT_SUPPORTED. Cost: 9*N flops. Source: mmcv's dynamic_voxelize. */
mluOpStatus_t MLUOP_WIN_API mluOpExtDynamicVoxelize(mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc,
                                                    const void* points, const mluOpTensorDescriptor_t voxel_size_desc,
                                                    const void* voxel_size,
                                                    const mluOpTensorDescriptor_t coors_range_desc,
                                                    const void* coors_range, const mluOpTensorDescriptor_t coors_desc,
                                                    void* coors);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_VOXELIZATION_H_ */
