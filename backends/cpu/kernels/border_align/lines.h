// How border_align backward cuts lines of pixels into work, and what it keeps for each.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/border_align/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/partition.h"
#include "backends/cpu/scatter/buckets.h"
#include "common/shape.h"

namespace mluops::cpu::border_align {

/// Channels that are summed side by side, for all borders of a group.
constexpr int kBlock = 16;
/// Borders of a line that are gone through together, one block of channels after the other, at most; and their bytes of
/// grad_output and argmax, which wait in the second cache.
constexpr std::int64_t kGroup = 512;
inline std::int64_t group_bytes() {
  return second_cache(8);
}
/// Borders whose additions are prepared ahead, and whose elements come into the first cache ahead. A store of a whole
/// vector is not forwarded to loads of its lanes; some dozen additions later it has reached the cache.
constexpr int kPrepared = 4, kPrefetchTerms = 2 * kPrepared;

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
    return first + part_begin(prefix_ns_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(each_ + 1)),
                              part, per_plane_);
  }

 private:
  static constexpr int kPerThread = 4;

  std::span<const double> prefix_ns_;
  std::int64_t each_, planes_, per_plane_;
};

/// How the sums of a line are cut: `chunk` channels together in the second cache, kBlock of them in the first.
template <class A>
struct ChannelChunks {
  static constexpr std::int64_t kLine = 32;

  std::int64_t chunk;

  /// Multiples of kLine, and about the same for all.
  explicit ChannelChunks(const Shape& s) {
    const std::int64_t fitting = second_cache(24) / (pitch(Lines(s).each) * static_cast<std::int64_t>(sizeof(A)));
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

template <class T, class A = Acc<T>>
LineBorder<A> place_border(const Shape& s, const void* boxes, std::int64_t row, std::int64_t lines, std::int64_t at,
                           std::int64_t later) {
  const auto border = read_border<T>(s, boxes, row);
  AxisSample<A> line{};
  sample_axis(border.fixed, lines, line);
  return {border.start, border.stride, {line.low_weight, line.high_weight}, at, later};
}

/// Prefetches elements of kBlock channels: of a border that is added soon, and of the next group. group[i] is added
/// now. Inlined, as prefetch_bytes is and for the same reason.
template <class T, class A>
HWY_INLINE void prefetch_terms(const T* grad_output, const std::int32_t* argmax, const LineBorder<A>* group,
                               std::int64_t i) {
  const std::int64_t soon = group[i + kPrefetchTerms].at, later = group[i].later;
  __builtin_prefetch(grad_output + soon, 0, 3);
  __builtin_prefetch(argmax + soon, 0, 3);
  __builtin_prefetch(grad_output + later, 0, 2);
  __builtin_prefetch(argmax + later, 0, 2);
}

/// What kBlock channels of a border add: to the pixel of their point and to the one behind it, not yet weighted by
/// line, and where in the sums.
template <class A>
struct ScatterTerms {
  alignas(64) A here[kBlock], behind[kBlock];
  alignas(64) std::uint32_t place[kBlock];
};

/// Per thread, except lines.
template <class A>
struct BackwardArrays {
  A* sums;
  LineBorder<A>* group;
  Buckets lines;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : sums(allocator.allocate<A>(call.threads, ChannelChunks<A>(s).sums(s))),
        group(allocator.allocate<LineBorder<A>>(call.threads, (kGroup + kPrefetchTerms))),
        lines(allocator, call, s.n * s.k * 4, Lines(s).count(s)) {}
};

}  // namespace mluops::cpu::border_align
