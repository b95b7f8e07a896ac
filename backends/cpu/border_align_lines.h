// How border_align backward cuts lines of pixels into work, and what it keeps for each.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/border_align.h"
#include "backends/cpu/buckets.h"
#include "backends/cpu/scratch.h"
#include "common/shape.h"

namespace mluops::cpu::border_align {

/// Cost in nanoseconds of one channel of a border, and of writing a sum.
constexpr double kElementNs = 1.0, kWriteNs = 0.1;
/// grad_input larger than this is written past the caches: what is in them is needed more.
constexpr std::int64_t kStreamFrom = std::int64_t{128} << 10;
/// Channels that are summed side by side, for all borders of a group.
constexpr int kBlock = 16;
/// Borders of a line that are gone through together, one block of channels after the other, at most; and their bytes of
/// grad_output and argmax, which wait in the second cache.
constexpr std::int64_t kGroup = 512, kGroupBytes = 128 << 10;
/// Borders whose additions are prepared ahead, and whose elements come into the first cache ahead. A store of a whole
/// vector is not forwarded to loads of its lanes; some dozen additions later it has reached the cache.
constexpr int kAhead = 4, kFetch = 2 * kAhead;

/// The lines cut into runs for one thread each. A run sums the line before it once more, so there are few: some for
/// each thread, and no more where there are enough images.
class Runs {
 public:
  Runs(const Shape& s, const mluopsCall& call, std::span<const double> prefix_ns)
      : prefix_ns_(prefix_ns), each_(Lines(s).each), planes_(s.n * 4) {
    per_plane_ = std::min(each_, ceil_div(std::int64_t{kPerThread} * call.threads, planes_));
  }
  std::int64_t count() const { return planes_ * per_plane_; }
  /// First line of a run; those of an image's border cost about the same.
  std::int64_t begin(std::int64_t run) const {
    const std::int64_t first = run / per_plane_ * each_, part = run % per_plane_;
    if (part == 0) return first;
    const double* const ns = prefix_ns_.data() + first;
    const double share = ns[0] + (ns[each_] - ns[0]) * static_cast<double>(part) / static_cast<double>(per_plane_);
    return first + (std::lower_bound(ns, ns + each_, share) - ns);
  }

 private:
  static constexpr int kPerThread = 4;

  std::span<const double> prefix_ns_;
  std::int64_t each_, planes_, per_plane_;
};

/// How the sums of a line are cut: `chunk` channels together in the second cache, kBlock of them in the first.
template <class A>
struct SumsCut {
  static constexpr std::int64_t kSecondCache = 384 << 10, kLine = 32;

  std::int64_t chunk;

  /// Multiples of kLine, and about the same for all.
  explicit SumsCut(const Shape& s) {
    const std::int64_t fitting = kSecondCache / (pitch(Lines(s).each) * static_cast<std::int64_t>(sizeof(A)));
    const std::int64_t most = std::max(fitting / kLine, std::int64_t{1}) * kLine, cuts = ceil_div(s.c, most);
    chunk = round_up(ceil_div(s.c, cuts), kLine);
  }
  /// Sums of a channel, two for each pixel. The last ones are no pixels: what a point on the last pixel gives to the
  /// one behind it goes to the first of them, and what belongs to no pixel goes there too.
  static std::int64_t pitch(std::int64_t length) { return 2 * round_up(length + 2, 16); }
  std::int64_t sums(const Shape& s) const { return chunk * pitch(Lines(s).each); }
};

/// A border of a group: where its points lie along the line, and how much of what they give goes to this line and to
/// the next.
template <class A>
struct LineBorder {
  A start, stride;
  A weights[2];
  std::int64_t at, later;  ///< elements of grad_output and argmax: its own, and some that the next group will want
};

/// Asks for elements of kBlock channels: of a border that is added soon, and of the next group. group[i] is added now.
/// Inlined, as prefetch_bytes is and for the same reason.
template <class T, class A>
HWY_INLINE void ask(const T* grad_output, const std::int32_t* argmax, const LineBorder<A>* group, std::int64_t i) {
  const std::int64_t soon = group[i + kFetch].at, later = group[i].later;
  __builtin_prefetch(grad_output + soon, 0, 3);
  __builtin_prefetch(argmax + soon, 0, 3);
  __builtin_prefetch(grad_output + later, 0, 2);
  __builtin_prefetch(argmax + later, 0, 2);
}

/// What kBlock channels of a border add: to the pixel of their point and to the one behind it, not yet weighted by
/// line, and where in the sums.
template <class A>
struct Additions {
  alignas(64) A here[kBlock], behind[kBlock];
  alignas(64) std::uint32_t place[kBlock];
};

/// Per thread, except lines.
template <class A>
struct BackwardArrays {
  A* sums;
  LineBorder<A>* group;
  Buckets lines;

  BackwardArrays(Carver& carver, const mluopsCall& call, const Shape& s)
      : sums(carver.take<A>(call.threads * SumsCut<A>(s).sums(s))),
        group(carver.take<LineBorder<A>>(call.threads * (kGroup + kFetch))),
        lines(carver, call, s.n * s.k * 4, Lines(s).count(s)) {}
};

}  // namespace mluops::cpu::border_align
