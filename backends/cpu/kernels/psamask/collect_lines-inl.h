// PSAMask collect, output put together in registers.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_LINES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_LINES_INL_H_
#endif

#include "backends/cpu/kernels/psamask/moves-inl.h"
#include "backends/cpu/kernels/psamask/windows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
/// A pixel's row of output in bytes: `rows` pieces of `count` from the input, amid zeros.
struct Pieces {
  std::int64_t rows, count, stride;
  std::int64_t before, between, behind;  ///< zeros
  const std::uint8_t* from;
  std::int64_t ahead;       ///< rows from one that is copied to one that is prefetched
  std::int64_t prefetched;  ///< bytes prefetched with each: the gap behind it too if that is no longer than the piece

  Pieces() = default;
  Pieces(const Collect& work, std::int64_t pixel, const Move& move)
      : rows(move.rows.size()),
        count(move.columns.size()),
        stride(work.from.width),
        before(move.rows.begin * work.to.width + move.columns.begin),
        between(work.to.width - count),
        behind(work.to.size() - before - rows * count - (rows - 1) * between),
        from(work.in.begin + pixel * work.from.size() + move.from),
        ahead(std::min(rows, 1024 / count + 1)),
        prefetched(stride <= 2 * count ? stride : count) {}
};

/// Pixels of one direction, by one task: neighbours row by row in turn, so that as many streams of memory are under
/// way. A pixel is written from its first whole cache line on; the writer of the one before takes what lies before
/// that. move(pixel) is what each moves, in bytes.
template <bool kNonTemporal, class MoveOf>
class CollectByLines {
 public:
  CollectByLines(const Collect& work, const MoveOf& move)
      : work_(work), move_(move), together_(pixels_together(work.to.size())) {}

  void run(std::int64_t first, std::int64_t last) {
    last_ = last;
    for (std::int64_t k = 0; k < together_; ++k) next_[k] = pieces(first + k);
    writers_[0].start(output(first), output(first));
    for (; first < last; first += together_) write_pixels(first, std::min(together_, last - first));
    writers_[0].finish();
  }

 private:
  using Writer = LineWriter<kNonTemporal>;

  std::uint8_t* output(std::int64_t pixel) const { return work_.out + pixel * work_.to.size(); }

  /// The pieces of a pixel; of the task's last, if it has no such pixel.
  Pieces pieces(std::int64_t pixel) const {
    pixel = std::min(pixel, last_ - 1);
    return Pieces(work_, pixel, move_(pixel));
  }

  /// The first of n pixels goes on where writers_[0] is, which then is at the end of the last.
  void write_pixels(std::int64_t first, std::int64_t n) {
    std::uint8_t heads[kPixelsTogether][Writer::kLine];
    std::int64_t rows = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t pixel = first + k;
      pieces_[k] = next_[k];
      next_[k] = pieces(pixel + together_);
      rows = std::max(rows, pieces_[k].rows);
      if (k > 0) writers_[k].start(output(pixel), heads[k]);
      writers_[k].zeros(pieces_[k].before);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < n; ++k) {
        if (r < pieces_[k].rows) write_row(r, pieces_[k], next_[k].from, writers_[k]);
      }
    }
    for (std::int64_t k = 1; k < n; ++k) {
      writers_[k - 1].copy_alone(heads[k], -reinterpret_cast<std::intptr_t>(output(first + k)) & (Writer::kLine - 1));
    }
    writers_[0] = writers_[n - 1];
  }

  /// Row r, while the one a KiB of input on is prefetched: of these pixels, or of those that come later. Without the
  /// gaps the prefetchers lose the stream.
  HWY_INLINE void write_row(std::int64_t r, const Pieces& p, const std::uint8_t* later, Writer& writer) {
    const std::int64_t ahead = r + p.ahead;
    prefetch_row(ahead < p.rows ? p.from + ahead * p.stride : later + (ahead - p.rows) * p.stride, p.prefetched);
    writer.copy(p.from + r * p.stride, p.count, work_.in);
    const std::int64_t zeros = r + 1 < p.rows ? p.between : p.behind;
    if (zeros > 0) writer.zeros(zeros);
  }

  const Collect& work_;
  const MoveOf& move_;
  std::int64_t together_, last_ = 0;
  Pieces pieces_[kPixelsTogether], next_[kPixelsTogether];
  Writer writers_[kPixelsTogether];
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
