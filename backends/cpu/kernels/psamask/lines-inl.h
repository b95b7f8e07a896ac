// A run of output put together in registers from pieces of input and zeros, and written as whole cache lines.
#if defined(MLUOPS_CPU_PSAMASK_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_LINES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_LINES_INL_H_
#endif

#include <cstring>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A run of output in bytes: `rows` pieces of `count` from the input, amid zeros.
struct Pieces {
  std::int64_t rows, count, stride;
  std::int64_t before, between, behind;  ///< zeros
  const std::uint8_t* from;

  /// Rows and columns of a matrix of `height` x `width`; columns and widths in bytes.
  static Pieces of(Range rows, Range columns, std::int64_t height, std::int64_t width, const std::uint8_t* from,
                   std::int64_t stride) {
    if (rows.size() <= 0) return {0, 0, 0, height * width, 0, 0, from};
    const std::int64_t between = width - columns.size(), before = rows.begin * width + columns.begin;
    const std::int64_t behind = (height - rows.end) * width + width - columns.end;
    return {rows.size(), columns.size(), stride, before, between, behind, from};
  }
  /// Rows that follow each other on both sides are one.
  Pieces joined() const {
    if (between > 0 || stride != count || rows == 0) return *this;
    return {1, rows * count, rows * count, before, 0, behind, from};
  }
};

/// Bytes that pieces may come from; what is loaded around a piece stays within.
struct Readable {
  const std::uint8_t *begin, *end;
};

/// Appends pieces to a run of output. The line that is not full yet is held in registers, so that a piece costs hardly
/// more than the lines it fills.
template <bool kNonTemporal>
class LineWriter {
 public:
  static constexpr std::int64_t kLine = 64;

  HWY_ATTR LineWriter() {}  // the implicit one would not have this namespace's target

  /// The run begins at `to`. What it has of a line it shares with what lies before is written to `head`, kLine bytes
  /// at most.
  void start(std::uint8_t* to, std::uint8_t* head) {
    begun_ = filled_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) & (kLine - 1));
    to_ = to - filled_;
    head_ = filled_ > 0 ? head : nullptr;
    pending_ = zero_line();
  }

  HWY_INLINE void copy(const std::uint8_t* from, std::int64_t bytes, const Readable& readable) {
    // Loads begin up to a line before the piece and end up to a line behind it.
    if (HWY_LIKELY(from - readable.begin >= kLine && readable.end - from >= bytes + kLine)) {
      append(from, bytes);
    } else {
      copy_alone(from, bytes);
    }
  }

  /// Appends a piece around which nothing may be read.
  HWY_NOINLINE void copy_alone(const std::uint8_t* from, std::int64_t bytes) {
    std::uint8_t padded[3 * kLine] = {};
    for (std::int64_t i = 0; i < bytes; i += kLine) {
      const std::int64_t part = std::min(kLine, bytes - i);
      std::memcpy(padded + kLine, from + i, static_cast<std::size_t>(part));
      append(padded + kLine, part);
    }
  }

  HWY_INLINE void zeros(std::int64_t bytes) {
    Line line = pending_;
    for_vectors([&](int v) HWY_ATTR { line.v[v] = hn::And(filled_part(v), line.v[v]); });
    bytes += filled_;
    if (bytes >= kLine) {
      put_pending(line);
      for (bytes -= kLine; bytes >= kLine; bytes -= kLine) put(zero_line());
      line = zero_line();
    }
    pending_ = line;
    filled_ = bytes;
  }

  void add(const Pieces& p, const Readable& readable) {
    if (p.before > 0) zeros(p.before);
    for (std::int64_t r = 0; r < p.rows; ++r) {
      copy(p.from + r * p.stride, p.count, readable);
      const std::int64_t gap = r + 1 < p.rows ? p.between : p.behind;
      if (gap > 0) zeros(gap);
    }
  }

  /// Writes what there is of the last line.
  void finish() {
    const std::int64_t begin = head_ != nullptr ? begun_ : 0;
    store_part(pending_, begin, filled_, (head_ != nullptr ? head_ - begun_ : to_) + begin);
    to_ += filled_;
  }

 private:
  using D = hn::ScalableTag<std::uint8_t>;
  static constexpr int kVectors = static_cast<int>(kLine) / kLanes<std::uint8_t>;
  struct Line {
    hn::Vec<D> v[kVectors];
  };

  template <class F>
  static HWY_INLINE void for_vectors(F&& f) {
    MLUOPS_UNROLL
    for (int v = 0; v < kVectors; ++v) f(v);
  }

  static HWY_INLINE Line load_line(const std::uint8_t* from) {
    Line line;
    for_vectors([&](int v) HWY_ATTR { line.v[v] = hn::LoadU(D(), from + v * kLanes<std::uint8_t>); });
    return line;
  }

  static HWY_INLINE Line zero_line() {
    Line line;
    for_vectors([&](int v) HWY_ATTR { line.v[v] = hn::Zero(D()); });
    return line;
  }

  /// Bytes [begin, end) of a line.
  static void store_part(const Line& line, std::int64_t begin, std::int64_t end, std::uint8_t* to) {
    HWY_ALIGN std::uint8_t bytes[kLine];
    for_vectors([&](int v) HWY_ATTR { hn::Store(line.v[v], D(), bytes + v * kLanes<std::uint8_t>); });
    std::memcpy(to, bytes + begin, static_cast<std::size_t>(end - begin));
  }

  /// Vector v of a line whose first filled_ bytes are ones.
  HWY_INLINE hn::Vec<D> filled_part(int v) const {
    return hn::LoadU(D(), kOnesThenZeros.data() + kLine - filled_ + v * kLanes<std::uint8_t>);
  }

  HWY_INLINE void put(const Line& line) {
    for_vectors([&](int v) HWY_ATTR {
      std::uint8_t* const to = to_ + v * kLanes<std::uint8_t>;
      kNonTemporal ? hn::Stream(line.v[v], D(), to) : hn::Store(line.v[v], D(), to);
    });
    to_ += kLine;
  }

  HWY_INLINE void put_pending(const Line& line) {
    if (HWY_LIKELY(head_ == nullptr)) return put(line);
    store_part(line, begun_, kLine, head_);
    head_ = nullptr;
    to_ += kLine;
  }

  /// The piece, and what lies up to a line before and behind it, may be read.
  HWY_INLINE void append(const std::uint8_t* from, std::int64_t bytes) {
    from -= filled_;
    bytes += filled_;
    Line line = load_line(from);
    for_vectors([&](int v) HWY_ATTR { line.v[v] = hn::IfVecThenElse(filled_part(v), pending_.v[v], line.v[v]); });
    if (bytes >= kLine) {
      put_pending(line);
      for (bytes -= kLine, from += kLine; bytes >= kLine; bytes -= kLine, from += kLine) put(load_line(from));
      line = load_line(from);
    }
    pending_ = line;
    filled_ = bytes;
  }

  Line pending_;
  std::int64_t filled_ = 0;       ///< bytes of it that count
  std::uint8_t* to_ = nullptr;    ///< its place
  std::int64_t begun_ = 0;        ///< of the first line, what is not of this run
  std::uint8_t* head_ = nullptr;  ///< where the rest of that line goes; null once it is written
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
