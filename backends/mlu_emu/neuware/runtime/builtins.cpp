#include "backends/mlu_emu/neuware/runtime/builtins.h"

__thread int taskId, taskIdX, taskIdY, taskIdZ;
__thread int taskDim, taskDimX, taskDimY, taskDimZ;
__thread int coreId, coreDim, clusterId, clusterDim;

namespace neuware {

void set_builtins(const mluops::emu::TaskBuiltins& task) {
  taskId = task.taskId, taskIdX = task.taskIdX, taskIdY = task.taskIdY, taskIdZ = task.taskIdZ;
  taskDim = task.taskDim, taskDimX = task.taskDimX, taskDimY = task.taskDimY, taskDimZ = task.taskDimZ;
  coreId = task.coreId, coreDim = task.coreDim, clusterId = task.clusterId, clusterDim = task.clusterDim;
}

}  // namespace neuware
