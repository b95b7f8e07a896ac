// Dynamic voxelization: the place of each point in a grid.
//
// points [N,F], coors [N,3]. An item is a point and owns its row of coors. Three divisions a point: bound by them, and
// by memory where F is large.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/grid.h"
#include "mluops/problem/voxelization.h"

MLUOPS_CPU_DECLARE(dynamic_voxelize, mluopsDynamicVoxelizeProblem)

namespace mluops::cpu {

mluOpStatus_t operators::dynamic_voxelize(Context& context, const mluopsCall& call,
                                          const mluopsDynamicVoxelizeProblem& p) {
  return with_element(call, p.shape.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    voxelization::find_places<T>(context, call, p.shape, p.points, p.voxel_size, p.coors_range, p.coors);
    return MLUOP_STATUS_SUCCESS;
  });
}

}  // namespace mluops::cpu
