#include "backends/cpu/runtime/isa.h"

#include <hwy/highway.h>
#include <algorithm>
#include <cctype>

namespace mluops::cpu {
namespace {

struct Level {
  const char* key;
  const char* name;
  std::int64_t targets;  // this level's bit and those of all lower levels
};

// In Highway's numbering a better target has a lower bit.
constexpr std::int64_t up_to(std::int64_t target) {
  return ~(target - 1);
}

constexpr Level kLevels[] = {
#if HWY_ARCH_ARM_A64
    {"neon", "NEON", up_to(HWY_STATIC_TARGET)},
#else
    {"avx512", "AVX512", up_to(HWY_AVX3)},      {"avx3", "AVX512", up_to(HWY_AVX3)},
    {"avx2", "AVX2", up_to(HWY_AVX2)},          {"sse4", "SSE4", up_to(HWY_SSE4)},
    {"sse2", "SSE2", up_to(HWY_STATIC_TARGET)},
#endif
};

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const char* level_name(std::int64_t usable) {
  for (const Level& level : kLevels) {
    const std::int64_t own = level.targets & -level.targets;
    if ((usable & own) != 0) return level.name;
  }
  return std::end(kLevels)[-1].name;
}

}  // namespace

std::optional<Isa> choose_isa(std::string_view cap) {
  const bool any = same_word(cap, "auto");
  const auto level =
      std::find_if(std::begin(kLevels), std::end(kLevels), [&](const Level& l) { return same_word(cap, l.key); });
  if (!any && level == std::end(kLevels)) return std::nullopt;
  const std::int64_t allowed = any ? ~std::int64_t{0} : level->targets;
  const std::int64_t here = hwy::SupportedTargets() & HWY_TARGETS;
  const std::int64_t usable = (here & allowed) != 0 ? here & allowed : here;  // a build may lack the lowest levels
  constexpr bool only_one = (HWY_TARGETS & (HWY_TARGETS - 1)) == 0;           // MLUOPS_LEVELS=avx2 or native: one row
  hwy::ChosenTarget chosen;
  chosen.Update(usable);
  return Isa{only_one ? 0 : chosen.GetIndex(), level_name(usable)};
}

}  // namespace mluops::cpu
