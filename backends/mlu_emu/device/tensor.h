// A tensor argument of a launch: the only GDRAM its tasks may touch.
#pragma once

#include <cstdint>

namespace mluops::emu {

enum class Access { kRead, kWrite, kReadWrite };

struct Tensor {
  const char* name;  // of a literal: outlives the launch
  char* data;
  std::int64_t bytes;
  Access access;
  bool fresh = false;  // filled with poison when it was allocated, and not overwritten as a whole since

  bool present() const { return data != nullptr && bytes > 0; }
};

}  // namespace mluops::emu
