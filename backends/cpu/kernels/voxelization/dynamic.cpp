// Dynamic voxelization: the place of each point in a grid.
//
// points [N,F], coors [N,3]. An item is a point and owns its row of coors.
#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/voxelization/places.h"

MLUOPS_CPU_DECLARE(dynamic_voxelize, mluopsDynamicVoxelizeProblem)

namespace mluops::cpu {

mluOpStatus_t operators::dynamic_voxelize(Context& context, const mluopsCall& call,
                                          const mluopsDynamicVoxelizeProblem& p) {
  return voxelization::find_places(context, call, {p.shape, p.points, p.voxel_size, p.coors_range, p.coors});
}

}  // namespace mluops::cpu
