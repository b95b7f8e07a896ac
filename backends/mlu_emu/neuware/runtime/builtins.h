// The plain integers a kernel reads: taskId and its like.
#pragma once

#include "backends/mlu_emu/device/task.h"

namespace neuware {

void set_builtins(const mluops::emu::TaskBuiltins& task);

}  // namespace neuware
