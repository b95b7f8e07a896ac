// The machines that can be emulated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mluops::emu {

/// Sizes are per core (NRAM, WRAM) and per cluster (SRAM), usable by a kernel: less the 128 KiB the compiler keeps.
struct Arch {
  std::string name;
  int number = 0;  // 372 for mtp_372
  std::int64_t nram_bytes = 0;
  std::int64_t wram_bytes = 0;  // nothing is kept of WRAM
  std::int64_t sram_bytes = 0;
  int clusters = 0;
  int cores_per_cluster = 0;
  std::string card = {};  // "mlu370-x4"; of several cards with one architecture, the documented one

  int cores() const { return clusters * cores_per_cluster; }
  /// Addresses and lengths the vector unit takes are multiples of this many bytes.
  std::int64_t vector_alignment() const { return number < 300 ? 128 : 1; }
  /// Equal parts of WRAM, one behind the other, each of which gets as many bytes of a plain copy.
  std::int64_t wram_lanes() const { return number < 300 ? 64 : 16; }
  /// Results that do not fit become the largest finite number, not infinity (5.2).
  bool saturates() const { return number < 300; }
  /// A multiply-add rounds once from the 300 series on.
  bool fused_multiply_add() const { return number >= 300; }
};

/// The preset of that name; nullptr when there is none.
const Arch* find_arch(std::string_view name);
/// "mtp_220, mtp_270, ..."
std::string known_archs();

/// The architecture of that card, with as many clusters as it has; nullptr when there is none.
const Arch* find_card(std::string_view name);
/// "mlu220, mlu270, ..."
std::string known_cards();
/// The card programs compiled for an architecture run on unless they say otherwise.
const Arch& card_of_programs(int arch_number);

/// mtp_372: the one preset whose NRAM size and number of clusters are both documented.
inline constexpr std::string_view kDefaultArch = "mtp_372";

}  // namespace mluops::emu
