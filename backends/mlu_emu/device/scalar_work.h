// What scalar code did, counted by code that a toolchain put into it.
#pragma once

#include <cstdint>

namespace mluops::emu {

struct ScalarWork {
  std::int64_t operations = 0;
  std::int64_t nram_loads = 0, nram_stores = 0;
  std::int64_t gdram_loads = 0, gdram_stores = 0;  // SRAM's, too
  std::int64_t gdram_bytes = 0;                    // of both

  ScalarWork& operator+=(const ScalarWork& more) {
    operations += more.operations;
    nram_loads += more.nram_loads, nram_stores += more.nram_stores;
    gdram_loads += more.gdram_loads, gdram_stores += more.gdram_stores, gdram_bytes += more.gdram_bytes;
    return *this;
  }
  bool none() const { return (operations | nram_loads | nram_stores | gdram_loads | gdram_stores) == 0; }
};

}  // namespace mluops::emu
