// Upfirdn2d: which pixels an output's filter meets along an axis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "common/shape.h"
#include "mluops/problem/upfirdn2d.h"

namespace mluops::cpu::upfirdn2d {

using Shape = mluopsUpfirdn2dShape;

/// Quotients of a number of any sign by a positive one, rounded down and up.
inline std::int64_t divided_down(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -ceil_div(-a, b);
}
inline std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return -divided_down(-a, b);
}

/// Pixels [first, end); the first lies under element `tap` of the filter, each later one `up` elements further.
struct Reach {
  std::int64_t first, end, tap;
};

/// Rows or columns. Element 0 of the filter for output o lies `place` behind pixel 0, pixels `up` apart.
struct Axis {
  std::int64_t size, out, filter, up, down, pad;

  std::int64_t place(std::int64_t o) const { return o * down - pad; }
  Reach reach(std::int64_t o) const {
    const std::int64_t at = place(o), first = std::max<std::int64_t>(0, divided_up(at, up));
    const std::int64_t end = std::min(size, divided_down(at + filter - 1, up) + 1);
    return {first, std::max(first, end), first * up - at};
  }
  /// Most pixels that a reach has.
  std::int64_t most() const { return std::min(size, (filter - 1) / up + 1); }
};

inline Axis rows_of(const Shape& s) {
  return {s.h, s.out_h, s.fh, s.up_y, s.down_y, s.pad_y0};
}
inline Axis columns_of(const Shape& s) {
  return {s.w, s.out_w, s.fw, s.up_x, s.down_x, s.pad_x0};
}

/// Outputs phase, phase + phases, ... of a row: all meet the same elements of the filter, `tap` the first of `taps`,
/// each output pixels `step` behind those of the one before. `first` is the first one's, on the image or not: pixel
/// `place` of run `run` (see Phases).
struct Phase {
  std::int64_t outputs, tap, taps, first, run, place;
};

/// How the outputs of a row fall into phases, and the pixels, on the image or not, that these meet: [origin, origin +
/// pixels). Each phase reads every `step`th of them, so pixels lie in `step` runs, the next pixel in the next run.
struct Phases {
  Axis x;
  std::int64_t step, whole, count, origin, pixels, run;  ///< run: pixels of one

  explicit Phases(const Axis& columns) : x(columns) {
    const std::int64_t common = std::gcd(x.up, x.down);
    step = x.down / common, whole = x.up / common, count = std::min(whole, x.out);
    std::int64_t end = 0;
    origin = 0;
    for (std::int64_t q = 0; q < count; ++q) {
      const Phase phase = on_row(q);
      const std::int64_t last = phase.first + step * (phase.outputs - 1) + phase.taps;
      origin = q == 0 ? phase.first : std::min(origin, phase.first);
      end = q == 0 ? last : std::max(end, last);
    }
    pixels = std::max<std::int64_t>(1, end - origin);
    run = ceil_div(pixels, step);
  }

  Phase of(std::int64_t q) const {
    Phase phase = on_row(q);
    phase.run = (phase.first - origin) % step, phase.place = (phase.first - origin) / step;
    return phase;
  }

 private:
  Phase on_row(std::int64_t q) const {
    const std::int64_t at = x.place(q), first = divided_up(at, x.up), tap = first * x.up - at;
    return {ceil_div(x.out - q, whole), tap, tap < x.filter ? (x.filter - 1 - tap) / x.up + 1 : 0, first, 0, 0};
  }
};

}  // namespace mluops::cpu::upfirdn2d
