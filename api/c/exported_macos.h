// Compiled ahead of each file of the C API on macOS, where everything else is hidden and no list of symbols is needed:
// what these headers declare is exported.
#pragma once

#pragma GCC visibility push(default)
#include "mlu_op.h"
#include "mlu_op_ext.h"
#include "mluops/capture.h"
#include "mluops/verbose.h"
#pragma GCC visibility pop
