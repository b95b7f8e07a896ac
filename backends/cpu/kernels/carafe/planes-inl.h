// NCHW tensors under the NHWC kernel (forward): a few rows at a time are transposed into scratch that stays in the
// second cache, worked on there, and transposed back.
#if defined(MLUOPS_CPU_CARAFE_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_PLANES_INL_H_
#else
#define MLUOPS_CPU_CARAFE_PLANES_INL_H_
#endif

#include "backends/cpu/kernels/carafe/rows-inl.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

template <class T>
const Moved<T>* moved(const T* p) {
  return reinterpret_cast<const Moved<T>*>(p);
}
template <class T>
Moved<T>* moved(T* p) {
  return reinterpret_cast<Moved<T>*>(p);
}

/// WindowRows over an NCHW input: a ring of rows, each transposed and promoted when the first window needs it.
template <class T>
class PlaneRows {
 public:
  using A = Acc<T>;

  PlaneRows(const Shape& s, const T* input, std::int64_t columns, Allocator& allocator)
      : s_(s),
        input_(input),
        rows_(allocator.allocate<const A*>(s.kernel)),
        ring_row_((columns + 2 * radius(s)) * s.c),
        ring_(allocator.allocate<A>(s.kernel, ring_row_)),
        stage_(kAddsInPlace<T> ? nullptr : allocator.allocate<T>(ring_row_)) {}

  void begin(const Block& block) {
    n_ = block.n;
    const std::int64_t r = radius(s_);
    columns_ = {std::max<std::int64_t>(0, block.columns.begin - r), std::min(s_.w, block.columns.end + r)};
    next_ = std::max<std::int64_t>(0, block.rows.begin - r);
  }

  void advance(std::int64_t row) {
    const Range kh = taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - radius(s_);
    while (next_ < first + kh.end) {
      transpose(next_++);
      ahead_ = next_ == s_.h ? PrefetchPlanes()
                             : PrefetchPlanes(planes(next_), s_.h * s_.w, s_.c, columns_.size(), columns_.size());
    }
    for (std::int64_t k = kh.begin; k < kh.end; ++k) rows_[k] = ring_row(first + k);
  }
  /// What else to prefetch with the windows of the next row.
  void prefetch_too(const PrefetchPlanes& other) { other_ = other; }
  void reach(std::int64_t) {
    ahead_.step();
    other_.step();
  }

  const A* const* rows() const { return rows_; }
  std::int64_t offset(std::int64_t column) const { return (column - radius(s_) - columns_.begin) * s_.c; }

 private:
  A* ring_row(std::int64_t row) const { return ring_ + row % s_.kernel * ring_row_; }
  const T* planes(std::int64_t row) const { return input_ + (n_ * s_.c * s_.h + row) * s_.w + columns_.begin; }

  void transpose(std::int64_t row) {
    T* to = stage_;
    if constexpr (kAddsInPlace<T>) to = ring_row(row);
    transpose_panel(moved(planes(row)), s_.h * s_.w, s_.c, columns_.size(), moved(to), s_.c);
    if constexpr (!kAddsInPlace<T>) load_row(to, ring_row(row), columns_.size() * s_.c);
  }

  const Shape& s_;
  const T* input_;
  const A** rows_;
  std::int64_t ring_row_;
  A* ring_;
  T* stage_;                       // a row on its way
  std::int64_t n_ = 0, next_ = 0;  // rows before next_ are in the ring
  Range columns_{};
  PrefetchPlanes ahead_, other_;  // the next row, and of another tensor
};

/// The output pixels over a few input pixels of an NCHW tensor [n, channels, s*h, s*w], in NHWC: over some rows, or
/// over some columns of one row.
template <class T>
class OutputRows {
 public:
  OutputRows(const Shape& s, std::int64_t channels, std::int64_t rows, Allocator& allocator)
      : s_(s),
        channels_(channels),
        non_temporal_(leaves_caches(s.n * s.ho * s.wo * channels * static_cast<std::int64_t>(sizeof(T)))),
        pixels_(allocator.allocate<T>(rows, s.scale, s.wo, channels)) {}

  /// Where an NHWC tensor that has those over `block` in their place would begin.
  T* origin(const Block& block) const { return pixels_ - first_of(block) * channels_; }

  void read(const T* planes, const Block& block) const {
    for_runs(block, [&](std::int64_t plane, std::int64_t pixel, std::int64_t count) HWY_ATTR {
      transpose_panel(moved(planes + plane), s_.ho * s_.wo, channels_, count, moved(pixels_ + pixel * channels_),
                      channels_);
    });
  }
  /// Prefetches what is read for the next row of a block of one row.
  PrefetchPlanes ahead(const T* planes, const Block& block) const {
    if (block.rows.end >= s_.h) return {};
    const T* const next = planes + first_of_plane(block) + s_.scale * s_.wo;
    return {next, s_.ho * s_.wo, channels_, s_.scale * s_.wo, block.columns.size()};
  }
  void write(T* planes, const Block& block) const {
    for_runs(block, [&](std::int64_t plane, std::int64_t pixel, std::int64_t count) HWY_ATTR {
      transpose_panel(non_temporal_, moved<const T>(pixels_ + pixel * channels_), channels_, count, channels_,
                      moved(planes + plane), s_.ho * s_.wo);
    });
  }

 private:
  std::int64_t first_of(const Block& block) const {
    return first_phase(s_, block.n, block.rows.begin, block.columns.begin);
  }
  std::int64_t first_of_plane(const Block& block) const {
    return first_of(block) + block.n * (channels_ - 1) * s_.ho * s_.wo;
  }

  /// f(offset in the first plane, pixel of those held, pixels) for pixels that follow each other: all rows of whole
  /// width at once.
  template <class F>
  HWY_INLINE void for_runs(const Block& block, F&& f) const {
    const std::int64_t plane = first_of_plane(block), rows = block.rows.size() * s_.scale;
    if (block.columns.size() == s_.w) return f(plane, 0, rows * s_.wo);
    for (std::int64_t r = 0; r < rows; ++r) f(plane + r * s_.wo, r * s_.wo, block.columns.size() * s_.scale);
  }

  const Shape& s_;
  std::int64_t channels_;
  bool non_temporal_;
  T* pixels_;
};

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
