// Rows of PSAMask's frames, moved by transposes.
//
// What planes have of a row of the map are rows of its pixels' frames, transposed. In them a cell of the frames that
// are written lies one cell further from each pixel to the next: a column of a matrix whose rows are by one element
// longer or shorter.
#if defined(MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_ROW_MOVES_INL_H_
#endif

#include <algorithm>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A matrix whose rows lie `stride` elements apart.
template <class E>
struct Rows {
  E* data;
  std::int64_t stride;

  E* operator[](std::int64_t row) const { return data + row * stride; }
};

/// Moves what frames have in one row of their cells, for the pixels of one row of the map. `from` and `to` are matrices
/// with a row for each plane or each pixel; `to` has some of them. Cells that come from none are zeroed where they are
/// planes and stay as they are where pixels are rows.
template <class E>
class RowMoves {
 public:
  /// Pixels that are moved together: a cache line of a plane.
  static constexpr std::int64_t kPixels = kCacheLineBytes / static_cast<std::int64_t>(sizeof(E));

  /// Elements of a row of scratch: cells, with zeros before and behind.
  static std::int64_t pitch(const Move& move) { return move.columns.from + 2 * kPixels; }

  /// Scratch: [kPixels, pitch].
  RowMoves(const Move& move, E* scratch)
      : axis_(move.columns),
        from_planes_(move.from_planes),
        to_planes_(move.to_planes),
        frames_{scratch + kPixels, pitch(move)} {
    std::fill_n(scratch, kPixels * pitch(move), E{0});
  }

  /// To planes or pixels `parts`. ahead.step() is called about once per kPixels planes of as many pixels.
  void run(const Rows<const E>& from, Range parts, const Rows<E>& to, PrefetchPlanes& ahead) const {
    const Range pixels = to_planes_ ? Range{0, axis_.pixels} : parts;
    for_blocks(pixels, [&](Range some) HWY_ATTR {
      to_planes_ ? to_planes(from, some, parts, to, ahead) : to_rows(from, some, pixels.begin, to, ahead);
    });
  }

  /// Few elements, without a call.
  static HWY_INLINE void copy(const E* from, std::int64_t count, E* to) {
    constexpr hn::ScalableTag<E> d;
    if (count < kLanes<E>) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
      return;
    }
    for (std::int64_t next = 0; next < count; next += kLanes<E>) {
      const std::int64_t i = std::min(next, count - kLanes<E>);
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    }
  }

 private:
  /// f(Range) for blocks of kPixels that cover a range; where it has as many, the last begins early.
  template <class F>
  static HWY_INLINE void for_blocks(Range all, F&& f) {
    for (std::int64_t next = all.begin; next < all.end; next += kPixels) {
      const std::int64_t first = std::max(all.begin, std::min(next, all.end - kPixels));
      f(Range{first, std::min(all.end, first + kPixels)});
    }
  }

  /// Some pixels of planes `cells`.
  void to_planes(const Rows<const E>& from, Range some, Range cells, const Rows<E>& to, PrefetchPlanes& ahead) const {
    const std::int64_t first = axis_.offset(some.begin), last = axis_.offset(some.end - 1);
    const std::int64_t low = std::min(first, last), high = std::max(first, last);
    const Range wanted = {cells.begin + low, cells.end + high}, read = clamped(wanted, {0, axis_.from});
    const bool in_place = !from_planes_ && read.size() == wanted.size();
    if (!in_place) fill(from, some, read, ahead);
    const Rows<const E> frames =
        in_place ? Rows<const E>{from[some.begin], from.stride} : Rows<const E>{frames_.data, frames_.stride};
    const Range moved = clamped({read.begin - high, read.end - low}, cells);
    zero(to, {0, moved.begin - cells.begin}, some);
    for_blocks(moved, [&](Range block) HWY_ATTR {
      ahead.step();
      transpose(frames.data + first + block.begin, frames.stride + axis_.step, some.size(), block.size(),
                to[block.begin - cells.begin] + some.begin, to.stride);
    });
    zero(to, {moved.end - cells.begin, cells.size()}, some);
  }

  /// Some pixels to rows, of which `to` has those from `pixel` on.
  void to_rows(const Rows<const E>& from, Range some, std::int64_t pixel, const Rows<E>& to,
               PrefetchPlanes& ahead) const {
    fill(from, some, axis_.read(some.begin, some.end - 1), ahead);
    for (std::int64_t w = some.begin; w < some.end; ++w) {
      const Range moved = axis_.moved(w);
      copy(frames_[w - some.begin] + moved.begin + axis_.offset(w), moved.size(), to[w - pixel] + moved.begin);
    }
  }

  /// Cells of some pixels, to scratch.
  void fill(const Rows<const E>& from, Range some, Range cells, PrefetchPlanes& ahead) const {
    if (!from_planes_) {
      for (std::int64_t w = some.begin; w < some.end; ++w) {
        copy(from[w] + cells.begin, cells.size(), frames_[w - some.begin] + cells.begin);
      }
      return;
    }
    for_blocks(cells, [&](Range block) HWY_ATTR {
      ahead.step();
      transpose(from[block.begin] + some.begin, from.stride, block.size(), some.size(), frames_.data + block.begin,
                frames_.stride);
    });
  }

  static HWY_INLINE void transpose(const E* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
                                   E* to, std::int64_t to_stride) {
    transpose_panel(reinterpret_cast<const Moved<E>*>(from), from_stride, rows, columns,
                    reinterpret_cast<Moved<E>*>(to), to_stride);
  }

  static void zero(const Rows<E>& to, Range planes, Range pixels) {
    for (std::int64_t p = planes.begin; p < planes.end; ++p) std::fill_n(to[p] + pixels.begin, pixels.size(), E{0});
  }

  const Axis axis_;
  const bool from_planes_, to_planes_;
  const Rows<E> frames_;
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
