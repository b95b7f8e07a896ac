// Kernels that host code may launch by their address.
#pragma once

#include <cstddef>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// A kernel's parameters open at `open`: what stands behind its body makes it known to the runtime. With `entry`, as
/// older sources write kernels, by its name as a function of C, too.
void know_by_address(Source& source, std::size_t open, bool entry);

}  // namespace cncc
