// Machines and checks every plan test uses.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backends/mlu_emu/plan/plan.h"

namespace mluops::emu::plan {

/// The presets (220, 270, 290, 372, 592), 592 as the guide has it, odd and tiny invented ones.
inline std::vector<Machine> machines() {
  return {{393216, 1, 4, 220}, {393216, 4, 4, 270}, {393216, 16, 4, 290}, {655360, 4, 4, 372},
          {393216, 8, 4, 592}, {327680, 8, 4, 592}, {393216, 7, 4, 592},  {655360, 1, 4, 372},
          {65536, 3, 3, 372},  {36864, 3, 3, 372},  {65536, 1, 1, 220},   {131072, 2, 5, 592}};
}

/// Regions follow one another without a hole or overlap and end within the machine's NRAM.
inline void expect_partition_fits(const Plan& plan, const Machine& machine) {
  std::int64_t at = 0;
  for (const Region& region : plan.nram.regions()) {
    EXPECT_EQ(region.offset, at) << region.name;
    EXPECT_GE(region.bytes, 0) << region.name;
    at = region.end();
  }
  EXPECT_EQ(at, plan.nram.bytes());
  EXPECT_LE(at, machine.nram_bytes);
}

}  // namespace mluops::emu::plan
