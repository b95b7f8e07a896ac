#include "backends/mlu_emu/device/arch.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kKiB = 1024;

Arch preset(int number, std::int64_t nram, std::int64_t wram, std::int64_t sram, int clusters) {
  constexpr std::int64_t kReserve = 128;  // stack and spills of the compiler
  constexpr int kCoresPerCluster = 4;
  return {"mtp_" + std::to_string(number), number,   (nram - kReserve) * kKiB, wram * kKiB,
          (sram - kReserve) * kKiB,        clusters, kCoresPerCluster};
}

// KiB of NRAM, WRAM and SRAM, clusters. docs/device_model.md says which numbers are documented and which assumed.
const Arch kPresets[] = {
    preset(220, 512, 512, 2048, 1),  preset(270, 512, 1024, 2048, 4), preset(290, 512, 512, 2048, 16),
    preset(372, 768, 1024, 4096, 4), preset(592, 512, 512, 2048, 8),
};

}  // namespace

const Arch* find_arch(std::string_view name) {
  for (const Arch& arch : kPresets) {
    if (name == arch.name) return &arch;
  }
  return nullptr;
}

std::string known_archs() {
  std::string names;
  for (const Arch& arch : kPresets) names += (names.empty() ? "" : ", ") + arch.name;
  return names;
}

}  // namespace mluops::emu
