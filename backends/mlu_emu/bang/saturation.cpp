#include "backends/mlu_emu/bang/saturation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Builtins of the 200 series whose entries in the guide refer to the tables, and the other builtins of their families.
constexpr std::string_view kOperations[] = {"add", "sub", "mul",    "reduce_sum", "square",  "conv",     "matmul",
                                            "mlp", "div", "cycle_", "sumpool",    "avgpool", "histogram"};
constexpr std::string_view kLargerOrSmaller[] = {"maxequal", "minequal", "cycle_maxequal", "cycle_minequal"};
// Their entries do not refer to a table. Published results of a card show that these saturate.
constexpr std::string_view kFunctions[] = {"active_", "taylor"};

template <class Parts>
bool begins_with_one(std::string_view name, const Parts& parts) {
  return std::any_of(std::begin(parts), std::end(parts), [=](std::string_view part) { return begins(name, part); });
}

/// "reduce_add" of __bang_discrete_atomic_reduce_add.
NonFinite of_atomic(std::string_view operation) {
  if (has(operation, "add")) return NonFinite::kSaturates;
  return has(operation, "max") || has(operation, "min") ? NonFinite::kNanSaturates : NonFinite::kStays;
}

}  // namespace

NonFinite non_finite_of(std::string_view builtin) {
  constexpr std::string_view kPrefix = "__bang_", kAtomic = "atomic_";
  if (has(builtin, "2half") || has(builtin, "2float")) return NonFinite::kSaturates;
  if (!begins(builtin, kPrefix)) return NonFinite::kStays;
  builtin.remove_prefix(kPrefix.size());
  if (const std::size_t at = builtin.find(kAtomic); at != std::string_view::npos) {
    return of_atomic(builtin.substr(at + kAtomic.size()));
  }
  if (begins_with_one(builtin, kLargerOrSmaller)) return NonFinite::kNanSaturates;
  const bool computes = begins_with_one(builtin, kOperations) || begins_with_one(builtin, kFunctions);
  return computes ? NonFinite::kSaturates : NonFinite::kStays;
}

bool saturates_here() {
  if (!Core::runs_here()) return false;
  const LaunchState& launch = Core::current().launch();
  return launch.source != nullptr && launch.settings.arch.saturates();
}

void saturate(half* p, std::int64_t n, NonFinite rule) {
  constexpr unsigned kInfinity = 0x7c00, kLargest = 0x7bff, kSign = 0x8000;
  if (rule == NonFinite::kStays) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const unsigned bits = p[i].bits, magnitude = bits & ~kSign;
    const bool beyond = rule == NonFinite::kSaturates ? magnitude >= kInfinity : magnitude > kInfinity;
    if (beyond) p[i] = half::from_bits(static_cast<std::uint16_t>((bits & kSign) | kLargest));
  }
}

void saturate(float* p, std::int64_t n, NonFinite rule) {
  if (rule == NonFinite::kStays) return;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool beyond = std::isnan(p[i]) || (rule == NonFinite::kSaturates && std::isinf(p[i]));
    if (beyond) p[i] = std::copysign(std::numeric_limits<float>::max(), p[i]);
  }
}

}  // namespace mluops::emu::bang
