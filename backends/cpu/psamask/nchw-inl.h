// PSAMask on NCHW tensors: x [n, h_mask*w_mask, h, w], y [n, h*w, h, w]. A pure move, as in NHWC.
//
// For one map row h and one mask row i, whose target row th = h + i - half_h lies on the map, the move is
//     y column th*w+tw (collect) or tw (distribute) of pixel w  =  x column j of pixel w,   tw = w + j - half_w:
// a matrix with a pixel in each lane, whose lane l moves l rows down (forward) or up (backward). Vectors keep their
// lanes, so log2(lanes) selects a vector do it (a skew); distribute transposes the result in registers as well.
// A task owns the planes of one target row (collect), of one map row (distribute) or of one mask row (backward): whole
// contiguous blocks of the output nobody else writes. Bound by reading the covered rows and writing the output once.
#if defined(MLUOPS_CPU_PSAMASK_NCHW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_NCHW_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_NCHW_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "backends/cpu/psamask/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/simd/transpose-inl.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Rows of elements, `stride` apart, each with one element per pixel of a map row.
template <class E>
struct Rows {
  E* data;
  std::int64_t count, stride;
};

/// Vectors of the element type: 128 bits of 16-bit elements, which is what they are transposed in.
template <class E>
using LaneTag = std::conditional_t<sizeof(E) == 2, hn::CappedTag<E, 8>, hn::ScalableTag<E>>;

template <class E>
constexpr std::int64_t kVectorLanes = static_cast<std::int64_t>(hn::MaxLanes(LaneTag<E>()));

template <class E>
HWY_INLINE void transpose_lanes([[maybe_unused]] hn::Vec<LaneTag<E>>* v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(E) == 2) {
    transpose_16bit(LaneTag<E>(), v);
  } else {
    using Float = std::conditional_t<sizeof(E) == 4, float, double>;
    const hn::ScalableTag<Float> df;
    hn::Vec<decltype(df)> f[kVectorLanes<E>];
    MLUOPS_UNROLL
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) f[i] = hn::BitCast(df, v[i]);
    transpose_square<Float>(f);
    MLUOPS_UNROLL
    for (std::int64_t i = 0; i < kVectorLanes<E>; ++i) v[i] = hn::BitCast(LaneTag<E>(), f[i]);
  }
#endif
}

/// Rows 0 .. rows - 1 of vectors go through: lane l of row r comes out as lane l of row r + l (kDown) or r - l. A lane
/// moves by the bits of its number, one select a bit; what it needs of earlier rows waits in registers. load(r) must
/// take any r >= 0 (kDown) or < rows, and store(r, v) gets some rows beyond the ends: both see to their bounds.
template <class E, bool kDown, class Load, class Store>
HWY_INLINE void skew(std::int64_t rows, const Load& load, const Store& store) {
  constexpr LaneTag<E> d;
  constexpr std::int64_t kN = kVectorLanes<E>, kPeriod = std::max<std::int64_t>(1, kN / 2);
  hn::Vec<LaneTag<E>> waiting[kN];  // rows that came `step` rows ago: step of them, from index `step` on
  MLUOPS_UNROLL
  for (std::int64_t i = 0; i < kN; ++i) waiting[i] = hn::Zero(d);
  const auto lanes = hn::Iota(d, 0);
  for (std::int64_t first = 0; first < rows; first += kPeriod) {
    MLUOPS_UNROLL
    for (std::int64_t k = 0; k < kPeriod; ++k) {
      const std::int64_t r = kDown ? first + k : rows - 1 - first - k;
      auto v = load(r);
      MLUOPS_UNROLL
      for (std::int64_t step = 1; step < kN; step *= 2) {
        auto& slot = waiting[step + k % step];
        const auto earlier = slot;
        slot = v;
        const auto bit = hn::Set(d, static_cast<E>(step));
        v = hn::IfThenElse(hn::Eq(hn::And(lanes, bit), bit), earlier, v);
      }
      store(r, v);
    }
  }
}

/// How a block of at most kVectorLanes pixels of a map row is read and written.
template <class E>
class Pixels {
 public:
  using Vector = hn::Vec<LaneTag<E>>;
  static constexpr std::int64_t kN = kVectorLanes<E>;

  explicit Pixels(std::int64_t lanes) : lanes_(lanes), mask_(hn::FirstN(d_, static_cast<std::size_t>(lanes))) {}

  /// Row `at` of `from`, zero where there is none; asks for what lies `next` elements further on.
  Vector load(const Rows<const E>& from, std::int64_t at, std::int64_t next) const {
    if (at < 0 || at >= from.count) return hn::Zero(d_);
    const E* const row = from.data + at * from.stride;
    hwy::Prefetch(row + next);
    return hn::MaskedLoad(mask_, d_, row);
  }

  void store(Vector v, const Rows<E>& to, std::int64_t at) const {
    if (at >= 0 && at < to.count) hn::BlendedStore(v, mask_, d_, to.data + at * to.stride);
  }

  /// Columns [0, columns) of `from`, which has a pixel in each row, become rows of `to`.
  void load_transposed(const Rows<const E>& from, std::int64_t columns, std::int64_t next, E* to) const {
    for (std::int64_t c = 0; c < columns; c += kN) {
      const auto inside = hn::FirstN(d_, static_cast<std::size_t>(std::min(kN, columns - c)));
      Vector v[kN];
      for (std::int64_t l = 0; l < kN; ++l) {
        const E* const row = from.data + std::min(l, lanes_ - 1) * from.stride + c;
        hwy::Prefetch(row + next);
        v[l] = hn::MaskedLoad(inside, d_, row);
      }
      transpose_lanes<E>(v);
      for (std::int64_t i = 0; i < kN; ++i) hn::Store(v[i], d_, to + (c + i) * kN);
    }
  }

  /// The first `columns` rows of `from` become columns of `to`, which has a pixel in each row.
  void store_transposed(const E* from, std::int64_t columns, const Rows<E>& to) const {
    for (std::int64_t c = 0; c < columns; c += kN) {
      const auto inside = hn::FirstN(d_, static_cast<std::size_t>(std::min(kN, columns - c)));
      Vector v[kN];
      for (std::int64_t i = 0; i < kN; ++i) v[i] = hn::Load(d_, from + (c + i) * kN);
      transpose_lanes<E>(v);
      for (std::int64_t l = 0; l < lanes_; ++l) hn::BlendedStore(v[l], inside, d_, to.data + l * to.stride + c);
    }
  }

 private:
  static constexpr LaneTag<E> d_{};
  std::int64_t lanes_;
  hn::Mask<LaneTag<E>> mask_;
};

/// One direction of one call. kForward: x to y, else y to x.
template <class E, bool kForward>
class Mover {
 public:
  using In = std::conditional_t<kForward, const E, E>;   // of x
  using Out = std::conditional_t<kForward, E, const E>;  // of y
  static constexpr std::int64_t kN = kVectorLanes<E>;

  Mover(const mluopsPsamaskShape& s, In* x, Out* y, E* buffer)
      : s_(s), win_(s), map_(s.h * s.w), x_(x), y_(y), buffer_(buffer) {}

  /// Elements of the buffer, in which distribute has a block of pixels with a row for each target column.
  static std::int64_t buffer_elements(const mluopsPsamaskShape& s) {
    return s.psa_type == 0 ? 0 : round_up(s.w, kN) * kN;
  }

  /// Tasks of the call: images times target rows, map rows or mask rows.
  static std::int64_t tasks(const mluopsPsamaskShape& s) { return s.n * (kForward ? s.h : s.h_mask); }

  void run(std::int64_t task) {
    const std::int64_t n = task / owned(), own = task % owned();
    for (std::int64_t other = 0; other < s_.h; ++other) {
      if constexpr (kForward) {
        const bool collect = s_.psa_type == 0;
        const std::int64_t h = collect ? other : own, th = collect ? own : other;
        move(n, h, th - h + win_.half_h, th);
      } else {
        move(n, other, own, other + own - win_.half_h);
      }
    }
  }

 private:
  std::int64_t owned() const { return kForward ? s_.h : s_.h_mask; }

  Rows<In> masks(std::int64_t n, std::int64_t h, std::int64_t i) const {
    return {x_ + ((n * s_.h_mask + i) * s_.w_mask * s_.h + h) * s_.w, s_.w_mask, map_};
  }
  /// Rows are target columns in collect, pixels in distribute.
  Rows<Out> maps(std::int64_t n, std::int64_t h, std::int64_t th) const {
    const std::int64_t plane = s_.psa_type == 0 ? th : h, line = s_.psa_type == 0 ? h : th;
    return {y_ + ((n * s_.h + plane) * s_.w * s_.h + line) * s_.w, s_.w, map_};
  }

  /// Mask row i of map row h, which lies on target row th; i or th may be outside.
  void move(std::int64_t n, std::int64_t h, std::int64_t i, std::int64_t th) {
    if constexpr (kForward) {
      if (i < 0 || i >= s_.h_mask) return zero(maps(n, h, th));
      forward(masks(n, h, i), maps(n, h, th));
    } else {
      if (th < 0 || th >= s_.h) return zero(masks(n, h, i));
      backward(maps(n, h, th), masks(n, h, i));
    }
  }

  void zero(const Rows<E>& rows) const {
    for (std::int64_t r = 0; r < rows.count; ++r) std::fill_n(rows.data + r * rows.stride, s_.w, E{0});
  }

  /// y row tw, lane w = x row tw - w + half_w, lane w.
  void forward(const Rows<const E>& x, const Rows<E>& y) const {
    const bool collect = s_.psa_type == 0;
    const std::int64_t next = collect ? s_.w - s_.w_mask * map_ : s_.w_mask * map_;
    for (std::int64_t w = 0; w < s_.w; w += kN) {
      const Pixels<E> pixels(std::min(kN, s_.w - w));
      const Rows<const E> from = {x.data + w, x.count, x.stride};
      const std::int64_t first = win_.half_w - w - (kN - 1);
      const auto load = [&](std::int64_t r) HWY_ATTR { return pixels.load(from, first + r, next); };
      if (collect) {
        const Rows<E> to = {y.data + w, y.count, y.stride};
        skew<E, true>(s_.w + kN - 1, load, [&](std::int64_t r, auto v) HWY_ATTR { pixels.store(v, to, r - (kN - 1)); });
      } else {
        skew<E, true>(s_.w + kN - 1, load, [&](std::int64_t r, auto v) HWY_ATTR { put(r - (kN - 1), v); });
        pixels.store_transposed(buffer_, s_.w, {y.data + w * y.stride, y.count, y.stride});
      }
    }
  }

  /// x row j, lane w = y row w + j - half_w, lane w.
  void backward(const Rows<const E>& y, const Rows<E>& x) const {
    const std::int64_t next = s_.w * map_ + s_.w;
    for (std::int64_t w = 0; w < s_.w; w += kN) {
      const Pixels<E> pixels(std::min(kN, s_.w - w));
      const Rows<E> to = {x.data + w, x.count, x.stride};
      const std::int64_t first = w - win_.half_w;
      const auto store = [&](std::int64_t r, auto v) HWY_ATTR { pixels.store(v, to, r); };
      if (s_.psa_type == 0) {
        const Rows<const E> from = {y.data + w, y.count, y.stride};
        skew<E, false>(
            s_.w_mask + kN - 1, [&](std::int64_t r) HWY_ATTR { return pixels.load(from, first + r, next); }, store);
      } else {
        pixels.load_transposed({y.data + w * y.stride, y.count, y.stride}, s_.w, next, buffer_);
        skew<E, false>(
            s_.w_mask + kN - 1, [&](std::int64_t r) HWY_ATTR { return get(first + r); }, store);
      }
    }
  }

  // Rows of the buffer; there are s_.w of them.
  void put(std::int64_t r, hn::Vec<LaneTag<E>> v) const {
    if (r >= 0 && r < s_.w) hn::Store(v, LaneTag<E>(), buffer_ + r * kN);
  }
  hn::Vec<LaneTag<E>> get(std::int64_t r) const {
    return r >= 0 && r < s_.w ? hn::Load(LaneTag<E>(), buffer_ + r * kN) : hn::Zero(LaneTag<E>());
  }

  const mluopsPsamaskShape& s_;
  Window win_;
  std::int64_t map_;
  In* x_;
  Out* y_;
  E* buffer_;
};

template <class E, bool kForward, class X, class Y>
mluOpStatus_t move_all(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, X* x, Y* y) {
  using Task = Mover<E, kForward>;
  const std::int64_t tasks = Task::tasks(s), output = s.n * s.h * s.w * (kForward ? s.h * s.w : s.h_mask * s.w_mask);
  const std::int64_t slot_bytes =
      round_up(Task::buffer_elements(s) * static_cast<std::int64_t>(sizeof(E)), Arena::kAlignment);
  const double bytes = static_cast<double>(output) * sizeof(E);
  const Loop loop(context, call, tasks, cost::kMoveByte * bytes / static_cast<double>(tasks));
  std::byte* const scratch = context.arena.reserve(slot_bytes * loop.slots());
  if (scratch == nullptr && slot_bytes > 0) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Task move(s, x, y, reinterpret_cast<E*>(scratch + slot * slot_bytes));
    for (std::int64_t task = begin; task < end; ++task) move.run(task);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class E>
mluOpStatus_t nchw_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  return move_all<E, true>(context, call, p.shape, static_cast<const E*>(p.x), static_cast<E*>(p.y));
}

template <class E>
mluOpStatus_t nchw_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  return move_all<E, false>(context, call, p.shape, static_cast<E*>(p.dx), static_cast<const E*>(p.dy));
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
