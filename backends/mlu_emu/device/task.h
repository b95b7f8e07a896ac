// Who a running task is.
#pragma once

namespace mluops::emu {

inline constexpr int kMemoryCoreId = 0x80;

/// The built-in variables of a kernel; x runs fastest in taskId.
struct TaskBuiltins {
  int taskId, taskIdX, taskIdY, taskIdZ;
  int taskDim, taskDimX, taskDimY, taskDimZ;
  int coreId, coreDim;        // core within its cluster; cores per cluster
  int clusterId, clusterDim;  // 0 and 0 in a BLOCK launch
  int arch;                   // 220, 270, 290, 372, 592
  bool memory_core;           // serves the cluster's SRAM, has no NRAM
};

}  // namespace mluops::emu
