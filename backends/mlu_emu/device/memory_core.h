// What texts and checks say of a memory core and of the cores beside it.
#pragma once

#include <cstdint>
#include <string>

#include "backends/mlu_emu/device/task.h"

namespace mluops::emu {

/// A core of the cluster at hand, by its coreId.
inline std::string name_in_cluster(int core_id) {
  return core_id == kMemoryCoreId ? "the memory core" : "core " + std::to_string(core_id);
}

/// No block has such an element. A memory core comes to it with a number from NRAM that nobody filled: it has no NRAM.
inline bool is_no_index(std::int64_t index) {
  constexpr std::int64_t kBeyondAnyBlock = std::int64_t{1} << 30;
  return index >= kBeyondAnyBlock || index <= -kBeyondAnyBlock;
}

}  // namespace mluops::emu
