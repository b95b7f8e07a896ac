// A run of output put together in registers from pieces and zeros, and written as whole cache lines.
#if defined(MLUOPS_CPU_PSAMASK_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_LINES_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_LINES_INL_H_
#endif

#include <cstring>
#include <utility>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// A run of output in bytes: `rows` pieces of `count`, amid zeros.
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
class LineWriter {
 public:
  explicit HWY_ATTR LineWriter(bool non_temporal) : non_temporal_(non_temporal) {}

  /// The run begins at `to`.
  void start(std::uint8_t* to) {
    begun_ = filled_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) & (kLine - 1));
    to_ = to - filled_;
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
      bytes = put_lines(bytes - kLine, []() HWY_ATTR { return zero_line(); });
      line = zero_line();
    }
    pending_ = line;
    filled_ = bytes;
  }

  /// Writes what there is of the last line.
  void finish() { store_part(pending_, begun_, filled_, to_); }

 private:
  using D = hn::ScalableTag<std::uint8_t>;
  static constexpr std::int64_t kLine = kCacheLineBytes;
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

  /// Bytes [begin, end) of a line to that at `to`.
  static void store_part(const Line& line, std::int64_t begin, std::int64_t end, std::uint8_t* to) {
    if constexpr (kVectors == 1 && HWY_TARGET <= HWY_AVX3) {
      const auto before = hn::FirstN(D(), static_cast<std::size_t>(begin));
      hn::BlendedStore(line.v[0], hn::AndNot(before, hn::FirstN(D(), static_cast<std::size_t>(end))), D(), to);
      return;
    }
    HWY_ALIGN std::uint8_t bytes[kLine];
    for_vectors([&](int v) HWY_ATTR { hn::Store(line.v[v], D(), bytes + v * kLanes<std::uint8_t>); });
    std::memcpy(to + begin, bytes + begin, static_cast<std::size_t>(end - begin));
  }

  /// Vector v of a line whose first filled_ bytes are ones.
  HWY_INLINE hn::Vec<D> filled_part(int v) const {
    return hn::LoadU(D(), kOnesThenZeros.data() + kLine - filled_ + v * kLanes<std::uint8_t>);
  }

  /// The whole lines of so many bytes; returns how many are left.
  template <class Next>
  HWY_INLINE std::int64_t put_lines(std::int64_t bytes, Next&& next) {
    std::uint8_t* to = to_;
    const bool non_temporal = non_temporal_;
    for (; bytes >= kLine; bytes -= kLine, to += kLine) {
      const Line line = next();
      for_vectors([&](int v) HWY_ATTR {
        std::uint8_t* const p = to + v * kLanes<std::uint8_t>;
        non_temporal ? hn::Stream(line.v[v], D(), p) : hn::Store(line.v[v], D(), p);
      });
    }
    to_ = to;
    return bytes;
  }

  HWY_INLINE void put_pending(const Line& line) {
    if (HWY_LIKELY(begun_ == 0)) {
      put_lines(kLine, [&]() HWY_ATTR { return line; });
    } else {
      store_part(line, begun_, kLine, to_);
      begun_ = 0;
      to_ += kLine;
    }
  }

  /// The piece, and what lies up to a line before and behind it, may be read.
  HWY_INLINE void append(const std::uint8_t* from, std::int64_t bytes) {
    from -= filled_;
    bytes += filled_;
    Line line = load_line(from);
    for_vectors([&](int v) HWY_ATTR { line.v[v] = hn::IfVecThenElse(filled_part(v), pending_.v[v], line.v[v]); });
    if (bytes >= kLine) {
      put_pending(line);
      from += kLine;
      bytes = put_lines(bytes - kLine, [&]() HWY_ATTR { return load_line(std::exchange(from, from + kLine)); });
      line = load_line(from);
    }
    pending_ = line;
    filled_ = bytes;
  }

  bool non_temporal_;
  Line pending_;
  std::int64_t filled_ = 0;     ///< bytes of it that count
  std::uint8_t* to_ = nullptr;  ///< its place
  std::int64_t begun_ = 0;      ///< bytes before the run on its first line, which are not written; 0 behind that line
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
