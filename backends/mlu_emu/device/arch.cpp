#include "backends/mlu_emu/device/arch.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kKiB = 1024;

Arch preset(const char* card, int number, std::int64_t nram, std::int64_t wram, std::int64_t sram, int clusters) {
  constexpr std::int64_t kReserve = 128;  // stack and spills of the compiler
  constexpr int kCoresPerCluster = 4;
  return {"mtp_" + std::to_string(number), number,   (nram - kReserve) * kKiB, wram * kKiB,
          (sram - kReserve) * kKiB,        clusters, kCoresPerCluster,         card};
}

// KiB of NRAM, WRAM and SRAM, clusters. docs/device_model.md says which numbers are documented and which assumed.
const Arch kPresets[] = {
    preset("mlu220", 220, 512, 512, 2048, 1),  preset("mlu270", 270, 512, 1024, 2048, 4),
    preset("mlu290", 290, 512, 512, 2048, 16), preset("mlu370-x8", 372, 768, 1024, 4096, 4),
    preset("mlu590", 592, 512, 512, 2048, 8),
};
// Further cards. The first of an architecture is what programs for it run on.
const Arch kCards[] = {
    preset("mlu370-x4", 372, 768, 1024, 4096, 8),
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

const Arch* find_card(std::string_view name) {
  for (const Arch& arch : kPresets) {
    if (name == arch.card) return &arch;
  }
  for (const Arch& card : kCards) {
    if (name == card.card) return &card;
  }
  return nullptr;
}

std::string known_cards() {
  std::string names;
  for (const Arch& arch : kPresets) names += (names.empty() ? "" : ", ") + arch.card;
  for (const Arch& card : kCards) names += ", " + card.card;
  return names;
}

const Arch& card_of_programs(int arch_number) {
  for (const Arch& card : kCards) {
    if (card.number == arch_number) return card;
  }
  const Arch* preset = find_arch("mtp_" + std::to_string(arch_number));
  return preset != nullptr ? *preset : *find_arch(kDefaultArch);
}

}  // namespace mluops::emu
