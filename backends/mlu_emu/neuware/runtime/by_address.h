// Which kernels can be launched by their address.
#pragma once

namespace neuware {

struct Unit;

/// Those of a file that is unloaded can no longer.
void forget_kernels(const Unit& unit);

}  // namespace neuware
