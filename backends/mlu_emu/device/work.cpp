#include "backends/mlu_emu/device/work.h"

#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include "common/per_thread.h"

namespace mluops::emu {
namespace {

bool names(std::string_view word, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (word.find(part) != std::string_view::npos) return true;
  }
  return false;
}

Work classify(std::string_view word) {
  if (names(word, {"2half", "2float", "2int", "2uint", "2bfloat", "2tf32"})) return Work::kConvert;
  if (names(word, {"pool"})) return Work::kPool;
  if (names(word, {"transpose", "rotate", "mirror", "reshape", "_pad"})) return Work::kRearrange;
  if (names(word, {"active_", "recip", "sqrt", "_log", "_exp", "_pow", "_sin", "_cos", "_tan", "_div"})) {
    return Work::kElementary;
  }
  // Extremes of a whole array, not of two lanes.
  if (names(word, {"_reduce", "_sum", "_argm"}) || word == "__bang_max" || word == "__bang_min") return Work::kReduce;
  return Work::kPlain;
}

}  // namespace

Work work_of(const char* word) {
  auto& known = of_this_thread<std::unordered_map<const void*, Work>>();  // words name themselves by literals
  const auto [entry, fresh] = known.try_emplace(word, Work::kPlain);
  if (fresh) entry->second = classify(word);
  return entry->second;
}

double cost_of(Work work, const Rates& rates) {
  switch (work) {
    case Work::kElementary:
      return rates.elementary_cost;
    case Work::kConvert:
      return rates.convert_cost;
    case Work::kRearrange:
      return rates.rearrange_cost;
    case Work::kPool:
      return rates.pool_cost;
    case Work::kReduce:
      return rates.reduce_cost;
    default:
      return 1;
  }
}

}  // namespace mluops::emu
