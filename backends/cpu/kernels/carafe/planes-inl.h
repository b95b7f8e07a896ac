// NCHW tensors under the NHWC kernels: a row at a time is turned into scratch that stays in the second cache, worked on
// there, and turned back.
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

/// Whether a row of the map is long enough to be turned in registers.
template <class T>
bool rows_fill_tiles(const Shape& s) {
  return s.w >= kPanelTile<Moved<T>>;
}

/// WindowRows over an NCHW input: a ring of rows, each turned and promoted when the first window needs it.
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
        turned_(kAddsInPlace<T> ? nullptr : allocator.allocate<T>(ring_row_)) {}

  void begin(const Block& block) {
    n_ = block.n;
    const std::int64_t r = radius(s_);
    columns_ = {std::max<std::int64_t>(0, block.columns.begin - r), std::min(s_.w, block.columns.end + r)};
    next_ = std::max<std::int64_t>(0, block.rows.begin - r);
  }

  void advance(std::int64_t row) {
    const Range kh = taps_into(s_, row, {0, s_.h});
    const std::int64_t first = row - radius(s_);
    for (; next_ < first + kh.end; ++next_) turn(next_);
    for (std::int64_t k = kh.begin; k < kh.end; ++k) rows_[k] = ring_row(first + k);
    own_ = next_ < s_.h ? PrefetchPlanes(row_of_planes(next_), s_.h * s_.w, s_.c, columns_.size(), columns_.size())
                        : PrefetchPlanes();
  }
  /// What else to request with the windows of the next row.
  void request(const PrefetchPlanes& other) { other_ = other; }
  void reach(std::int64_t) {
    own_.step();
    other_.step();
  }

  const A* const* rows() const { return rows_; }
  std::int64_t offset(std::int64_t column) const { return (column - radius(s_) - columns_.begin) * s_.c; }

 private:
  A* ring_row(std::int64_t row) const { return ring_ + row % s_.kernel * ring_row_; }
  const T* row_of_planes(std::int64_t row) const { return input_ + (n_ * s_.c * s_.h + row) * s_.w + columns_.begin; }

  void turn(std::int64_t row) {
    T* to = turned_;
    if constexpr (kAddsInPlace<T>) to = ring_row(row);
    transpose_panel(moved(row_of_planes(row)), s_.h * s_.w, s_.c, columns_.size(), moved(to), s_.c);
    if constexpr (!kAddsInPlace<T>) load_row(to, ring_row(row), columns_.size() * s_.c);
  }

  const Shape& s_;
  const T* input_;
  const A** rows_;
  std::int64_t ring_row_;
  A* ring_;
  T* turned_;                      // a row on its way
  std::int64_t n_ = 0, next_ = 0;  // rows before next_ are in the ring
  Range columns_{};
  PrefetchPlanes own_, other_;
};

/// The output pixels over some of the input pixels of an NCHW tensor [n, channels, s*h, s*w], in NHWC: those over a few
/// rows of input pixels, or over some columns of one row.
template <class T>
class OutputRows {
 public:
  OutputRows(const Shape& s, std::int64_t channels, std::int64_t rows, Allocator& allocator)
      : s_(s),
        channels_(channels),
        non_temporal_(leaves_caches(s.n * s.ho * s.wo * channels * static_cast<std::int64_t>(sizeof(T)))),
        pixels_(allocator.allocate<T>(rows, s.scale, s.wo, channels)) {}

  /// Where an NHWC tensor that has these, from an input pixel on, in their place would begin.
  T* origin(std::int64_t n, std::int64_t row, std::int64_t column = 0) const {
    return pixels_ - first_phase(s_, n, row, column) * channels_;
  }

  /// The output pixels over these columns of a row out of the tensor; held from the row's first column on.
  void read(const T* planes, std::int64_t n, std::int64_t row, Range columns) const {
    for_runs({n, {row, row + 1}, columns}, [&](std::int64_t plane, std::int64_t pixel, std::int64_t count) HWY_ATTR {
      T* const to = pixels_ + (pixel + columns.begin * s_.scale) * channels_;
      transpose_panel(moved(planes + plane), s_.ho * s_.wo, channels_, count, moved(to), channels_);
    });
  }
  /// Requests for the row that is read next, over so many windows.
  PrefetchPlanes ahead(const T* planes, std::int64_t n, std::int64_t row, std::int64_t windows) const {
    if (row >= s_.h) return {};
    const T* const first = planes + (n * channels_ * s_.ho + row * s_.scale) * s_.wo;
    return {first, s_.ho * s_.wo, channels_, s_.scale * s_.wo, windows};
  }
  /// Writes the pixels of a block, which scratch holds from its first one on, into the planes of the tensor.
  void write(T* planes, const Block& block) const {
    for_runs(block, [&](std::int64_t plane, std::int64_t pixel, std::int64_t count) HWY_ATTR {
      transpose_panel(non_temporal_, moved<const T>(pixels_ + pixel * channels_), channels_, count, channels_,
                      moved(planes + plane), s_.ho * s_.wo);
    });
  }

 private:
  /// f(offset in the first plane, pixel of those held, pixels) for pixels that follow each other: all rows of whole
  /// width at once.
  template <class F>
  HWY_INLINE void for_runs(const Block& block, F&& f) const {
    const std::int64_t plane = first_of_plane(block), rows = block.rows.size() * s_.scale;
    if (block.columns.size() == s_.w) return f(plane, 0, rows * s_.wo);
    for (std::int64_t r = 0; r < rows; ++r) f(plane + r * s_.wo, r * s_.wo, block.columns.size() * s_.scale);
  }

  std::int64_t first_of_plane(const Block& block) const {
    return (block.n * channels_ * s_.ho + block.rows.begin * s_.scale) * s_.wo + block.columns.begin * s_.scale;
  }

  const Shape& s_;
  std::int64_t channels_;
  bool non_temporal_;
  T* pixels_;
};

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
