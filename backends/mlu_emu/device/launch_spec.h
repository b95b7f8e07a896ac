// A kernel launch as its host side describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/tensor.h"

namespace mluops::emu {

/// A named part of NRAM, for fault texts and maps.
struct NramRegion {
  std::string name;
  std::int64_t offset, bytes;
  const char* file = nullptr;  // where it is declared, if that is known
  int line = 0;
};

/// "x+4 (NRAM offset 4, declared at file:line)", `place` being where the offset lies.
std::string described(const NramRegion& region, std::int64_t offset, const std::string& place);

struct LaunchSpec {
  std::string kernel;
  int clusters = 0;  // that start together: 1, 2, 4, 8, 16 for UNION1 to UNION16; 0: BLOCK
  std::int64_t x = 1, y = 1, z = 1;
  std::vector<NramRegion> nram;
  std::vector<Tensor> tensors;

  std::int64_t tasks() const { return x * y * z; }
};

}  // namespace mluops::emu
