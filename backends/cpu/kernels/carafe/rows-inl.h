// What a window sees of image tensors, as sums: the rows of input under it, and output pixels over a row of the map.
#if defined(MLUOPS_CPU_CARAFE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_ROWS_INL_H_
#else
#define MLUOPS_CPU_CARAFE_ROWS_INL_H_
#endif

#include "backends/cpu/kernels/carafe/geometry.h"
#include "backends/cpu/layout/image_panel-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/scatter/scatter.h"
#include "backends/cpu/simd/barrier.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// An image tensor of `h` x `w` pixels.
struct Map : layout::Elements {
  std::int64_t h, w;

  Map(std::int64_t height, std::int64_t width, std::int64_t count, mluOpTensorLayout_t layout)
      : Elements{height * width, count, layout == MLUOP_LAYOUT_NCHW}, h(height), w(width) {}
  /// Index of channel 0 of a pixel.
  std::int64_t at(std::int64_t n, std::int64_t row, std::int64_t column) const {
    return Elements::at(n, 0) + (row * w + column) * pixel();
  }
};

/// The output pixels, with so many channels.
inline Map output_map(const Shape& s, std::int64_t channels, mluOpTensorLayout_t layout) {
  return {s.ho, s.wo, channels, layout};
}
inline Map input_map(const Shape& s, mluOpTensorLayout_t layout) {
  return {s.h, s.w, s.c, layout};
}

template <class T>
const Moved<T>* moved(const T* p) {
  return reinterpret_cast<const Moved<T>*>(p);
}
template <class T>
Moved<T>* moved(T* p) {
  return reinterpret_cast<Moved<T>*>(p);
}

/// Rows of a tensor of T, [pixel, channel], as sums: where they are, for float and double in NHWC, else promoted and
/// transposed into a ring when they are needed. Those needed next are prefetched step by step meanwhile.
template <class T>
class SumRows {
 public:
  using A = Acc<T>;

  /// A ring of `ring` rows of at most `columns` pixels; `together` of them are needed at a time.
  SumRows(const Map& map, const T* tensor, std::int64_t columns, std::int64_t ring, std::int64_t together,
          Allocator& allocator)
      : map_(map),
        tensor_(tensor),
        size_(ring),
        together_(together),
        pitch_((in_place() ? map.w : columns) * map.channels),
        ring_(in_place() ? nullptr : allocator.allocate<A>(ring, pitch_)),
        stage_(map.planes && !kAddsInPlace<T> ? allocator.allocate<T>(pitch_) : nullptr) {}

  /// Elements from a row to the next, but from the last of the ring to the first.
  std::int64_t pitch() const { return pitch_; }

  /// Some columns of the rows of an image from `row` on.
  void begin(std::int64_t n, std::int64_t row, Range columns) {
    n_ = n;
    next_ = row;
    columns_ = columns;
  }
  /// Makes all rows before `end` ready; then follow so many steps.
  void reach(std::int64_t end, std::int64_t steps) {
    if (in_place()) next_ = end;
    while (next_ < end) make(next_++);
    ahead_ = next_behind(steps);
  }
  HWY_INLINE void step() { ahead_.step(); }

  /// Where column 0 of a row is, or would be.
  const A* row(std::int64_t row) const {
    if constexpr (kAddsInPlace<T>) {
      if (in_place()) return tensor_ + map_.at(n_, row, 0);
    }
    return ring_ + row % size_ * pitch_ - columns_.begin * map_.channels;
  }

 private:
  bool in_place() const { return kAddsInPlace<T> && !map_.planes; }

  void make(std::int64_t row) {
    const T* const from = tensor_ + map_.at(n_, row, columns_.begin);
    const std::int64_t channels = map_.channels, count = columns_.size();
    A* const to = ring_ + row % size_ * pitch_;
    if (!map_.planes) return load_row(from, to, count * channels);
    if constexpr (kAddsInPlace<T>) {
      transpose_panel(from, map_.pixels, channels, count, to, channels);
    } else {
      transpose_panel(moved(from), map_.pixels, channels, count, moved(stage_), channels);
      load_row(stage_, to, count * channels);
    }
  }

  PrefetchPlanes next_behind(std::int64_t steps) const {
    const std::int64_t rows = std::min(together_, map_.h - next_), channels = map_.channels, count = columns_.size();
    if (rows <= 0) return {};
    const T* const from = tensor_ + map_.at(n_, next_, columns_.begin);
    if (map_.planes) return {from, map_.pixels, channels, count, steps, map_.w, rows};
    return {from, channels, count, channels, steps, map_.w * channels, rows};
  }

  Map map_;
  const T* tensor_;
  std::int64_t size_, together_, pitch_;
  A* ring_;
  T* stage_;                       // a row of planes, transposed
  std::int64_t n_ = 0, next_ = 0;  // rows before next_ are ready
  Range columns_{};
  PrefetchPlanes ahead_;
};

/// The rows of input under a window that walks along a row of the map, and down a block.
template <class T>
class WindowRows {
 public:
  using A = Acc<T>;

  WindowRows(const Shape& s, mluOpTensorLayout_t layout, const T* input, std::int64_t columns, Allocator& allocator)
      : s_(s),
        rows_(input_map(s, layout), input, columns + 2 * radius(s), s.kernel, 1, allocator),
        under_(allocator.allocate<const A*>(s.kernel)) {}

  void begin(const Block& block) {
    windows_ = block.columns.size();
    rows_.begin(block.n, block.rows.widened(radius(s_), s_.h).begin, block.columns.widened(radius(s_), s_.w));
  }
  void advance(std::int64_t row) {
    const Range kh = taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - radius(s_);
    rows_.reach(first + kh.end, windows_);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) under_[k] = rows_.row(first + k);
  }
  void step() { rows_.step(); }

  /// rows()[kh] + offset(column) + kw * c is the pixel under tap (kh, kw) of the window at `column`.
  const A* const* rows() const { return under_; }
  std::int64_t offset(std::int64_t column) const { return (column - radius(s_)) * s_.c; }

 private:
  const Shape& s_;
  SumRows<T> rows_;
  const A** under_;
  std::int64_t windows_ = 0;
};

/// The output pixels over a row of the map, of a tensor with so many channels.
template <class T>
class PhaseRows {
 public:
  using A = Acc<T>;

  PhaseRows(const Shape& s, const Map& map, const T* tensor, std::int64_t columns, Allocator& allocator)
      : s_(s),
        window_(s.scale * map.channels),
        rows_(map, tensor, columns * s.scale, s.scale, s.scale, allocator),
        offsets_(s, rows_.pitch(), map.channels, allocator) {}

  void begin_row(std::int64_t n, std::int64_t row, Range columns) {
    rows_.begin(n, row * s_.scale, {columns.begin * s_.scale, columns.end * s_.scale});
    rows_.reach((row + 1) * s_.scale, columns.size());
    first_ = rows_.row(row * s_.scale);
  }
  /// With each window.
  void step() { rows_.step(); }
  /// Channels of a phase of the window at `column`.
  const A* of(std::int64_t column, std::int64_t phase) const { return first_ + column * window_ + offsets_[phase]; }

 private:
  const Shape& s_;
  std::int64_t window_;
  SumRows<T> rows_;
  PhaseOffsets offsets_;
  const A* first_ = nullptr;
};

/// The taps of one window and group that lie on the map, at least one, seen by S phases. Row is A or const A. Kept to
/// what the innermost loops need: they hold all of it in registers.
template <class Row, class A, int S>
struct Taps {
  Row* const* rows;  ///< under the tap rows
  Row* const* rows_end;
  std::int64_t offset;   ///< of the first tap in each row, group included
  std::int64_t stride;   ///< elements from one tap column to the next
  std::int64_t columns;  ///< taps per row
  std::int64_t skip;     ///< mask values between two rows of taps
  const A* mask[S];      ///< value of the first tap

  /// All but the masks; rows[kh] + offset is the pixel under tap (kh, 0).
  Taps(const Shape& s, Range kh, Range kw, Row* const* all_rows, std::int64_t offset_of_0)
      : rows(all_rows + kh.begin),
        rows_end(all_rows + kh.end),
        offset(offset_of_0 + kw.begin * s.c),
        stride(s.c),
        columns(kw.size()),
        skip(s.kernel - kw.size()) {}
};

/// f(first phase, integral constant number of phases) for runs of 4, 2 and 1 that cover all phases.
template <class F>
HWY_INLINE void for_phases(std::int64_t phases, F&& f) {
  std::int64_t phase = 0;
  for (; phase + 4 <= phases; phase += 4) f(phase, std::integral_constant<int, 4>{});
  if (phases - phase >= 2) {
    f(phase, std::integral_constant<int, 2>{});
    phase += 2;
  }
  if (phases - phase == 1) f(phase, std::integral_constant<int, 1>{});
}

/// Vectors of channels held in registers for each of up to four phases: AVX-512 has 32 registers, the others 16.
constexpr int kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

/// Tasks of all threads, each with scratch Task(allocator, arguments...), on all blocks. A block takes so many
/// multiply-adds.
template <class Tasks, class... Args>
void run_blocks(Context& context, const mluopsCall& call, const Blocks& blocks, double work, const Tasks& tasks,
                const Args&... args) {
  Loop(context, call, blocks.count(), cost::kMultiplyAdd * work)
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        auto task = tasks.of(slot, args...);
        for (std::int64_t item = begin; item < end; ++item) task.run(blocks.at(item));
        non_temporal_fence();
      });
}

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
