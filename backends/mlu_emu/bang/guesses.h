// What is known of a lane's result when an operand is undefined: the lane's function is tried on values the operand may
// hold. So 0 and anything is 0, and an infinity more than anything is beyond every bound: padding may be computed with.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/device/nram.h"

namespace mluops::emu::bang {

/// Values to try for one operand, as lane functions see them. Ordinary numbers first: they mostly settle it.
template <class W>
struct Guesses {
  static constexpr int kMost = 9;
  W values[kMost];
  int count = 0;

  void add(W value) { values[count++] = value; }
};

template <class T>
Guesses<Wide<T>> the_value(T value) {
  Guesses<Wide<T>> g;
  g.add(static_cast<Wide<T>>(value));
  return g;
}

/// `other`: of the other operand, which the lane may be equal to.
template <class W>
Guesses<W> anything(const Guesses<W>& other) {
  using Limits = std::numeric_limits<W>;
  Guesses<W> g;
  g.add(W(0)), g.add(W(1)), g.add(static_cast<W>(-1)), g.add(other.values[0]);
  g.add(Limits::max()), g.add(Limits::lowest());
  if constexpr (Limits::has_infinity) g.add(Limits::infinity()), g.add(-Limits::infinity()), g.add(Limits::quiet_NaN());
  return g;
}

/// The poison of a lane that holds +infinity or NaN.
template <class T>
bool is_infinite_poison(T lane) {
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    return std::memcmp(&lane, &kInfinitePoison, sizeof(T)) == 0;
  } else {
    return false;
  }
}

template <class T>
Guesses<Wide<T>> guesses_of(T lane, bool undefined, const Guesses<Wide<T>>& other) {
  if (!undefined) return the_value(lane);
  if (!is_infinite_poison(lane)) return anything(other);
  Guesses<Wide<T>> g;
  g.add(std::numeric_limits<Wide<T>>::infinity()), g.add(std::numeric_limits<Wide<T>>::quiet_NaN());
  return g;
}

/// The flag of a result, from what f gives for all pairs of guesses.
template <class W, class F>
std::uint8_t flag_of_result(const Guesses<W>& a, const Guesses<W>& b, F f) {
  using R = decltype(f(a.values[0], b.values[0]));
  const R first = f(a.values[0], b.values[0]);
  bool same = true, infinite = std::is_floating_point_v<R>;
  for (int i = 0; i < a.count * b.count; ++i) {
    const R result = f(a.values[i / b.count], b.values[i % b.count]);
    same = same && (result == first || (result != result && first != first));
    if constexpr (std::is_floating_point_v<R>) {
      infinite = infinite && (result != result || result == std::numeric_limits<R>::infinity());
    }
    if (!same && !infinite) return kUndefinedLane;
  }
  return same ? kDefinedLane : kInfiniteLane;
}

}  // namespace mluops::emu::bang
