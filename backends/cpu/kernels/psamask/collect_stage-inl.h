// PSAMask collect by way of a buffer: where pieces are short, or vectors too.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_STAGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_STAGE_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_STAGE_INL_H_
#endif

#include "backends/cpu/kernels/psamask/moves-inl.h"
#include "backends/cpu/kernels/psamask/windows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
/// A window of `rows` rows of `count` bytes, to be copied.
struct WindowCopy {
  const std::uint8_t* from;
  std::uint8_t* to;
  std::int64_t rows, count;
};

/// The first kBytes and the last, which may overlap.
template <std::size_t kBytes>
HWY_INLINE void copy_ends(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  std::uint8_t first[kBytes], last[kBytes];
  std::memcpy(first, from, kBytes);
  std::memcpy(last, from + count - kBytes, kBytes);
  std::memcpy(to, first, kBytes);
  std::memcpy(to + count - kBytes, last, kBytes);
}

/// Copies pieces, of which most are so short that calling memcpy takes longer than what it does.
HWY_INLINE void copy_short(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  if (count < 8 || count > 64) return copy(from, to, count);
  if (count >= 32) return copy_ends<32>(from, to, count);
  if (count >= 16) return copy_ends<16>(from, to, count);
  copy_ends<8>(from, to, count);
}

/// Row by row in turn: as many streams of memory are under way as there are windows. The windows that follow these,
/// about `ahead` bytes on, are prefetched meanwhile.
HWY_INLINE void copy_windows(const WindowCopy* windows, std::int64_t n, std::int64_t from_stride,
                             std::int64_t to_stride, std::int64_t ahead) {
  constexpr std::int64_t kShift = kPixelsStaged * 8;  // a pixel on, the window starts an element earlier
  std::int64_t rows = 0;
  for (std::int64_t k = 0; k < n; ++k) rows = std::max(rows, windows[k].rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < n; ++k) {
      const WindowCopy& window = windows[k];
      if (r >= window.rows) continue;
      const std::uint8_t* const from = window.from + r * from_stride;
      prefetch_row(from + ahead - kShift, window.count + kShift);
      copy_short(from, window.to + r * to_stride, window.count);
    }
  }
}

/// Pixels of one direction, by one task. For non-temporal stores, what lies between the zeros of a pixel is put
/// together in a buffer first; `buffer` is null where output is written in place.
class CollectByStage {
 public:
  /// What a pixel takes of the buffer: its rows between zeros, made whole cache lines.
  static std::int64_t buffer_bytes(const Collect& work) {
    const std::int64_t rows = std::min(work.from.rows, work.to.rows);
    return whole(work) ? work.to.size() : rows * work.to.width + 128;
  }

  CollectByStage(const Collect& work, std::uint8_t* buffer) : work_(work), buffer_(buffer) {}

  /// Pixels [first, last), as many as the buffer takes; move(pixel) is what each moves, in bytes.
  template <class MoveOf>
  void run(std::int64_t first, std::int64_t last, const MoveOf& move) {
    constexpr std::int64_t kTogether = kPixelsStaged;
    done_ = work_.out + first * work_.to.size();
    waiting_ = {done_, buffer_, 0};
    for (; first < last; first += kTogether) {
      WindowCopy windows[kTogether];
      Body bodies[kTogether];
      const std::int64_t n = std::min(kTogether, last - first);
      std::uint8_t* free = waiting_.at + waiting_.size;
      for (std::int64_t k = 0; k < n; ++k) {
        bodies[k] = begin_pixel(first + k, move(first + k), free, windows[k]);
        if (buffer_ != nullptr) free += bodies[k].size;
      }
      copy_windows(windows, n, work_.from.width, work_.to.width, kTogether * work_.from.size());
      for (std::int64_t k = 0; k < n && buffer_ != nullptr; ++k) add(bodies[k]);
    }
    if (buffer_ != nullptr) flush();
    write_zeros(done_, work_.out + last * work_.to.size() - done_);
  }

 private:
  /// Rows of output between zeros.
  struct Body {
    std::uint8_t *target, *at;
    std::int64_t size;
  };

  /// Zeros up to the pixel's body, and where that is to be put together.
  Body begin_pixel(std::int64_t pixel, const Move& move, std::uint8_t* free, WindowCopy& window) {
    const CollectSide& to = work_.to;
    std::uint8_t* const row = work_.out + pixel * to.size();
    std::uint8_t *const target = row + move.rows.begin * to.width, *const end = row + move.rows.end * to.width;
    std::uint8_t *first = target, *last = end;
    if (buffer_ != nullptr) {
      first = std::max(done_, whole(work_) ? row : line_of(target));
      last = std::min(row + to.size(), whole(work_) ? row + to.size() : line_of(end + kLine - 1));
    }
    write_zeros(done_, first - done_);
    done_ = last;
    const Body body{first, buffer_ != nullptr ? free : first, last - first};
    if (move.columns.size() < to.width || body.size > end - target) zero(body.at, body.size);
    window = {work_.in.begin + pixel * work_.from.size() + move.from, body.at + (target - first) + move.columns.begin,
              move.rows.size(), move.columns.size()};
    return body;
  }

  /// Whether a pixel is put together with its zeros.
  static bool whole(const Collect& work) { return work.to.size() <= kWholeRowBytes; }

  void write_zeros(std::uint8_t* to, std::int64_t count) const { zero_bytes(buffer_ != nullptr, to, count); }

  /// Bodies without zeros between them leave together, so that few cache lines are written in parts.
  void add(const Body& body) {
    if (body.target == waiting_.target + waiting_.size) {
      waiting_.size += body.size;
    } else {
      flush();
      waiting_ = body;
    }
  }

  void flush() const { copy_non_temporal(waiting_.at, waiting_.target, waiting_.size); }

  /// First element of a cache line.
  static std::uint8_t* line_of(std::uint8_t* p) { return p - (reinterpret_cast<std::uintptr_t>(p) & 63); }

  static constexpr std::int64_t kLine = 64;

  const Collect& work_;
  std::uint8_t* const buffer_;
  std::uint8_t* done_ = nullptr;  ///< where the output that is not written yet begins
  Body waiting_{};
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
