// PSAMask from rows to rows: of each pixel a window of its row of input amid zeros.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_INL_H_
#endif

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/lines-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/prefetch.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// What moves between two tensors of rows, in bytes. Elements of any type: they are only moved.
class Collect {
 public:
  Collect(const Move& move, std::int64_t element)
      : move_(move),
        from_width_(move.columns.from * element),
        to_width_(move.columns.to * element),
        element_(element),
        readable_{in(0), in(pixels())} {}

  std::int64_t pixels() const { return move_.images * move_.rows.pixels * move_.columns.pixels; }
  std::int64_t input_bytes() const { return move_.rows.from * from_width_; }  ///< of a pixel
  std::int64_t output_bytes() const { return move_.rows.to * to_width_; }
  /// Of a piece, at most.
  std::int64_t most_bytes() const { return std::min(from_width_, to_width_); }
  /// Whether pieces have no gaps between them in the input.
  bool side_by_side() const { return from_width_ <= to_width_; }
  const Readable& readable() const { return readable_; }

  std::uint8_t* out(std::int64_t pixel) const { return static_cast<std::uint8_t*>(move_.to) + pixel * output_bytes(); }
  Pieces pieces(std::int64_t pixel) const {
    const std::int64_t w = pixel % move_.columns.pixels, h = pixel / move_.columns.pixels % move_.rows.pixels;
    const Range rows = move_.rows.moved(h), columns = move_.columns.moved(w);
    const std::int64_t from =
        (rows.begin + move_.rows.offset(h)) * from_width_ + (columns.begin + move_.columns.offset(w)) * element_;
    return Pieces::of(rows, {columns.begin * element_, columns.end * element_}, move_.rows.to, to_width_,
                      in(pixel) + from, from_width_);
  }

 private:
  const std::uint8_t* in(std::int64_t pixel) const {
    return static_cast<const std::uint8_t*>(move_.from) + pixel * input_bytes();
  }

  const Move& move_;
  const std::int64_t from_width_, to_width_, element_;
  const Readable readable_;
};

/// Pixels that are moved side by side.
constexpr std::int64_t kPixelsTogether = 8;

/// Pixels of one task: neighbours row by row in turn, so that as many streams of memory are under way. A pixel is
/// written from its first whole cache line on; the writer of the one before takes what lies before that.
template <bool kNonTemporal>
class CollectByLines {
 public:
  /// One after the other where they are so short that cache lines shared by two would be many.
  explicit CollectByLines(const Collect& work)
      : work_(work), together_(work.output_bytes() < 1024 ? 1 : kPixelsTogether) {}

  void run(std::int64_t first, std::int64_t last) {
    last_ = last;
    for (std::int64_t k = 0; k < together_; ++k) next_[k] = pieces(first + k);
    writers_[0].start(work_.out(first), work_.out(first));
    for (; first < last; first += together_) write_pixels(first, std::min(together_, last - first));
    writers_[0].finish();
  }

 private:
  using Writer = LineWriter<kNonTemporal>;

  /// The pieces of a pixel; of the task's last, if it has no such pixel.
  Pieces pieces(std::int64_t pixel) const { return work_.pieces(std::min(pixel, last_ - 1)); }

  /// The first of n pixels goes on where writers_[0] is, which then is at the end of the last.
  void write_pixels(std::int64_t first, std::int64_t n) {
    std::uint8_t heads[kPixelsTogether][Writer::kLine];
    std::int64_t rows = 0, ahead[kPixelsTogether];
    for (std::int64_t k = 0; k < n; ++k) {
      pieces_[k] = next_[k];
      ahead[k] = std::min(pieces_[k].rows, 1024 / pieces_[k].count + 1);
      next_[k] = pieces(first + k + together_);
      rows = std::max(rows, pieces_[k].rows);
      if (k > 0) writers_[k].start(work_.out(first + k), heads[k]);
      writers_[k].zeros(pieces_[k].before);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = 0; k < n; ++k) {
        if (r < pieces_[k].rows) write_row(r, r + ahead[k], pieces_[k], next_[k].from, writers_[k]);
      }
    }
    for (std::int64_t k = 1; k < n; ++k) {
      const auto at = reinterpret_cast<std::intptr_t>(work_.out(first + k));
      writers_[k - 1].copy_alone(heads[k], -at & (Writer::kLine - 1));
    }
    writers_[0] = writers_[n - 1];
  }

  /// Row r, while the one a KiB of input on is prefetched: of these pixels, or of those that come later. Gaps no longer
  /// than a piece are prefetched with it: without them the prefetchers lose the stream.
  HWY_INLINE void write_row(std::int64_t r, std::int64_t ahead, const Pieces& p, const std::uint8_t* later,
                            Writer& writer) {
    const std::uint8_t* const soon = ahead < p.rows ? p.from + ahead * p.stride : later + (ahead - p.rows) * p.stride;
    prefetch_bytes<2>(soon, (p.stride <= 2 * p.count ? p.stride : p.count) + 63);
    writer.copy(p.from + r * p.stride, p.count, work_.readable());
    const std::int64_t zeros = r + 1 < p.rows ? p.between : p.behind;
    if (zeros > 0) writer.zeros(zeros);
  }

  const Collect& work_;
  const std::int64_t together_;
  std::int64_t last_ = 0;
  Pieces pieces_[kPixelsTogether], next_[kPixelsTogether];
  Writer writers_[kPixelsTogether];
};

/// Whether to put pieces together in registers: the lines around them are read as well, which costs where pieces are
/// short and apart.
template <class E>
Fit collects_by_lines(const Context&, const mluopsCall&, const Move& move) {
  constexpr std::int64_t kLong = 64;
  const Collect work(move, sizeof(E));
  return fit(HWY_TARGET != HWY_SCALAR, work.most_bytes() >= kLong || (work.side_by_side() && leaves_caches<E>(move)));
}

/// Blocks of neighbouring pixels: a task owns what it writes.
template <class F>
void for_pixels(Context& context, const mluopsCall& call, const Collect& work, F&& f) {
  constexpr std::int64_t kBytes = std::int64_t{16} << 10;
  const std::int64_t block = std::max(kPixelsTogether, kBytes / work.output_bytes());
  const Loop loop(context, call, ceil_div(work.pixels(), block),
                  cost::kMoveByte * static_cast<double>(block * work.output_bytes()));
  loop.run([&](std::int64_t begin, std::int64_t end, int)
               HWY_ATTR { f(begin * block, std::min(work.pixels(), end * block)); });
}

inline mluOpStatus_t collect_by_lines(Context& context, const mluopsCall& call, const Collect& work,
                                      bool non_temporal) {
  for_pixels(context, call, work, [&](std::int64_t first, std::int64_t last) HWY_ATTR {
    if (non_temporal) {
      CollectByLines<true>(work).run(first, last);
      non_temporal_fence();
    } else {
      CollectByLines<false>(work).run(first, last);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// The first kBytes and the last, which may overlap.
template <std::size_t kBytes>
HWY_INLINE void copy_ends(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  std::uint8_t first[kBytes], last[kBytes];
  std::memcpy(first, from, kBytes);
  std::memcpy(last, from + count - kBytes, kBytes);
  std::memcpy(to, first, kBytes);
  std::memcpy(to + count - kBytes, last, kBytes);
}

/// Copies a piece, most of which are so short that calling memcpy takes longer than what it does.
HWY_INLINE void copy_piece(const std::uint8_t* from, std::uint8_t* to, std::int64_t count) {
  if (count < 8 || count > 64) {
    std::memcpy(to, from, static_cast<std::size_t>(count));
  } else if (count >= 32) {
    copy_ends<32>(from, to, count);
  } else if (count >= 16) {
    copy_ends<16>(from, to, count);
  } else {
    copy_ends<8>(from, to, count);
  }
}

/// One pixel in place. What lies `ahead` bytes on is prefetched.
HWY_INLINE void collect_in_place(const Pieces& p, std::uint8_t* to, std::int64_t ahead, bool non_temporal) {
  const std::int64_t row = p.count + p.between, body = p.rows * row - p.between;
  zero_bytes(non_temporal, to, p.before);
  to += p.before;
  if (p.between > 0) zero_bytes(false, to, body);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const std::uint8_t* const from = p.from + r * p.stride;
    prefetch_bytes<2>(from + ahead, p.count + 63);
    copy_piece(from, to + r * row, p.count);
  }
  zero_bytes(non_temporal, to + body, p.behind);
}

inline mluOpStatus_t collect_plainly(Context& context, const mluopsCall& call, const Collect& work, bool non_temporal) {
  constexpr std::int64_t kAhead = 4;  // pixels
  for_pixels(context, call, work, [&](std::int64_t first, std::int64_t last) HWY_ATTR {
    for (std::int64_t pixel = first; pixel < last; ++pixel) {
      collect_in_place(work.pieces(pixel), work.out(pixel), kAhead * work.input_bytes(), non_temporal);
    }
    if (non_temporal) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
