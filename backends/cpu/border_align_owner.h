// The owner of lines of pixels (border_align backward): sums what borders give to them and writes grad_input.
#if defined(MLUOPS_CPU_BORDER_ALIGN_OWNER_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_OWNER_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_OWNER_H_
#endif

#include "backends/cpu/border_align_lines.h"
#include "backends/cpu/border_align_point_blocks.h"
#include "backends/cpu/border_align_short_lines.h"
#include "backends/cpu/simd.h"
#include "backends/cpu/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
using border_align::Additions;
using border_align::BackwardArrays;
using border_align::kAhead;
using border_align::kBlock;
using border_align::kFetch;
using border_align::LineBorder;
using border_align::Lines;
using border_align::Place;
using border_align::read_border;
using border_align::Shape;
using border_align::SumsCut;

#if HWY_TARGET == HWY_SCALAR
/// Finds what borders of one kind of line add.
template <class T>
class Preparer {
  using A = Acc<T>;

 public:
  Preparer(const Shape& s, std::int64_t length, std::int64_t pitch)
      : points_(static_cast<std::uint32_t>(s.pool_size) + 1),
        pitch_(static_cast<std::uint32_t>(pitch)),
        length_(static_cast<std::int32_t>(length)) {}

  /// No branch and no call: what a compiler can make vectors of.
  void operator()(const LineBorder<A>& border, const T* HWY_RESTRICT grad_output,
                  const std::int32_t* HWY_RESTRICT argmax, Additions<A>& to) const {
    A gradient[kBlock];
    widen(grad_output, kBlock, gradient);
    const A end = static_cast<A>(length_), last = static_cast<A>(length_ - 1);
    for (int i = 0; i < kBlock; ++i) {
      const A x = border.start + border.stride * static_cast<A>(argmax[i]), on_map = x > 0 ? x : 0;
      const A on_line = on_map < last ? on_map : last;
      const auto whole = static_cast<std::int32_t>(on_line), pixel = whole < length_ ? whole : length_ - 1;
      const bool inside = (x >= -1) & (x <= end) & (static_cast<std::uint32_t>(argmax[i]) < points_);
      to.place[i] = static_cast<std::uint32_t>(i) * pitch_ + 2 * static_cast<std::uint32_t>(inside ? pixel : length_);
      const A behind = on_line - static_cast<A>(whole);
      to.here[i] = gradient[i] * (1 - behind);
      to.behind[i] = gradient[i] * behind;
    }
  }

 private:
  /// By itself it becomes vectors, inlined it does not.
  HWY_NOINLINE static void widen(const T* HWY_RESTRICT row, std::int64_t n, A* HWY_RESTRICT out) {
    load_row(row, out, n);
  }

  std::uint32_t points_, pitch_;
  std::int32_t length_;
};
#else
/// Finds what borders of one kind of line add.
template <class T>
class Preparer {
  using A = Acc<T>;
  using D = hn::ScalableTag<A>;
  using DI = hn::Rebind<std::int32_t, D>;
  using DU = hn::Rebind<std::uint32_t, D>;

 public:
  Preparer(const Shape& s, std::int64_t length, std::int64_t pitch)
      : points_(hn::Set(DU(), static_cast<std::uint32_t>(s.pool_size) + 1)),
        pixels_(hn::Set(DI(), static_cast<std::int32_t>(length))),
        last_pixel_(hn::Set(DI(), static_cast<std::int32_t>(length - 1))),
        pitch_(hn::Set(DU(), static_cast<std::uint32_t>(pitch))),
        points_as_float_(hn::Set(D(), static_cast<A>(s.pool_size + 1))),
        end_(hn::Set(D(), static_cast<A>(length))),
        last_(hn::Set(D(), static_cast<A>(length - 1))) {}

  HWY_INLINE void operator()(const LineBorder<A>& border, const T* HWY_RESTRICT grad_output,
                             const std::int32_t* HWY_RESTRICT argmax, Additions<A>& to) const {
    const D d;
    const DU du;
    MLUOPS_UNROLL
    for (int i = 0; i < kBlock; i += kLanes<A>) {
      const auto index = hn::LoadU(DI(), argmax + i);
      const auto x = hn::Add(hn::Mul(as_float(index), hn::Set(d, border.stride)), hn::Set(d, border.start));
      const auto on_map = hn::And(hn::Ge(x, hn::Set(d, A{-1})), hn::Le(x, end_));
      const auto inside = hn::And(on_map, names_point(index));
      const auto on_line = hn::Min(hn::Max(x, hn::Zero(d)), last_);
      const auto low = hn::Floor(on_line), behind = hn::Sub(on_line, low);
      const auto channel = hn::Mul(hn::Iota(du, static_cast<std::uint32_t>(i)), pitch_);
      const auto pixel = hn::BitCast(du, pixels(low, inside));
      hn::Store(hn::Add(channel, hn::Add(pixel, pixel)), du, to.place + i);
      const auto g = load(d, grad_output + i);
      hn::Store(hn::Mul(g, hn::Sub(hn::Set(d, A{1}), behind)), d, to.here + i);
      hn::Store(hn::Mul(g, behind), d, to.behind + i);
    }
  }

 private:
  HWY_INLINE hn::Vec<D> as_float(hn::Vec<DI> index) const {
    if constexpr (sizeof(A) == 8) {
      return hn::PromoteTo(D(), index);
    } else {
      return hn::ConvertTo(D(), index);
    }
  }

  HWY_INLINE hn::Mask<D> names_point(hn::Vec<DI> index) const {
    const D d;
    if constexpr (sizeof(A) == 8) {
      const auto i = hn::PromoteTo(d, index);
      return hn::And(hn::Ge(i, hn::Zero(d)), hn::Lt(i, points_as_float_));
    } else {
      return hn::RebindMask(d, hn::Lt(hn::BitCast(DU(), index), points_));
    }
  }

  /// Of what is not inside, the one behind the line.
  HWY_INLINE hn::Vec<DI> pixels(hn::Vec<D> low, hn::Mask<D> inside) const {
    const DI di;
    if constexpr (sizeof(A) == 8) {
      return hn::DemoteTo(di, hn::IfThenElse(inside, low, end_));
    } else {
#if HWY_TARGET <= HWY_AVX3
      const hn::Vec<DI> pixel{_mm512_cvttps_epi32(low.raw)};  // without a look at what does not fit
#else
      const auto pixel = hn::ConvertTo(di, low);
#endif
      return hn::IfThenElse(hn::RebindMask(di, inside), hn::Min(pixel, last_pixel_), pixels_);
    }
  }

  hn::Vec<DU> points_;
  hn::Vec<DI> pixels_, last_pixel_;
  hn::Vec<DU> pitch_;
  hn::Vec<D> points_as_float_, end_, last_;
};
#endif

/// The first n channels of a block.
template <class A>
HWY_INLINE void add_some(const Additions<A>& additions, const A* weights, std::int64_t n, A* HWY_RESTRICT sums) {
  const hn::CappedTag<A, 2> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto here = hn::Set(d, additions.here[i]), behind = hn::Set(d, additions.behind[i]);
    A* const sum = sums + additions.place[i];
    for (int j = 0; j < 2; j += lanes) {
      const auto weight = hn::LoadU(d, weights + j);
      hn::StoreU(hn::MulAdd(weight, here, hn::LoadU(d, sum + j)), d, sum + j);
      hn::StoreU(hn::MulAdd(weight, behind, hn::LoadU(d, sum + 2 + j)), d, sum + 2 + j);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// All channels of a block.
HWY_INLINE void add_all(const Additions<float>& additions, const float* weights, float* HWY_RESTRICT sums) {
  const hn::ScalableTag<float> d;
  MLUOPS_UNROLL
  for (int i = 0; i < kBlock; i += kLanes<float>) {
    add_vector(d, hn::Load(d, additions.here + i), hn::Load(d, additions.behind + i), weights, additions.place + i,
               sums);
  }
}
#endif

/// The first of each pair for kLanes pixels, which the second one replaces.
template <class A>
HWY_INLINE hn::Vec<hn::ScalableTag<A>> take_first(A* pairs) {
  const hn::ScalableTag<A> d;
#if HWY_TARGET == HWY_SCALAR
  const auto first = hn::Load(d, pairs);
  pairs[0] = std::exchange(pairs[1], A{0});
  return first;
#else
  const auto lower = hn::LoadU(d, pairs), upper = hn::LoadU(d, pairs + kLanes<A>);
  const auto second = [&](hn::Vec<hn::ScalableTag<A>> v) HWY_ATTR {
    if constexpr (sizeof(A) == 8) {
      return hn::InterleaveUpper(d, v, hn::Zero(d));
    } else {
      const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> pair;
      return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(pair, v)));
    }
  };
  hn::StoreU(second(lower), d, pairs);
  hn::StoreU(second(upper), d, pairs + kLanes<A>);
  return hn::ConcatEven(d, upper, lower);
#endif
}

/// Some lines of the borders of all images, and all that is added to them.
template <class T>
class LineOwner {
  using A = Acc<T>;
  static constexpr std::int64_t kCacheLine = 64 / sizeof(T);
  static constexpr std::int64_t kBoxesAhead = 16;
  /// Channels of a line that leave together.
  static constexpr std::int64_t kTurn = std::max<std::int64_t>(kCacheLine, kBlock);

 public:
  LineOwner(const mluopsBorderAlignBackwardProblem& p, const BackwardArrays<A>& arrays, int slot, bool past_caches)
      : p_(p),
        s_(p.shape),
        sorted_(arrays.lines),
        cut_(p.shape),
        sums_(arrays.sums + slot * cut_.sums(s_)),
        group_(arrays.group + slot * (border_align::kGroup + kFetch)),
        past_caches_(past_caches) {}

  /// Lines [begin, end). The line before is summed again, for what it gives to the first one.
  void run(std::int64_t begin, std::int64_t end) {
    for (first_ = 0; first_ < s_.c; first_ += cut_.chunk) {
      channels_ = std::min(cut_.chunk, s_.c - first_);
      carried_ = false;
      if (begin % Lines(s_).each != 0 && !sorted_[begin - 1].empty()) own(begin - 1, false);
      for (std::int64_t line = begin; line < end; ++line) own(line, true);
    }
  }

 private:
  /// Whether a group of borders is the first of its line, and the last.
  struct Turn {
    bool first, last;
  };

  void own(std::int64_t index, bool write) {
    const std::int64_t each = Lines(s_).each, line = index % each, which = index / each;
    const BorderAxes axes(s_, which % 2 == 0);
    if (line >= axes.lines) return;
    T* const image = static_cast<T*>(p_.grad_input) + which / 4 * s_.h * s_.w * 4 * s_.c;
    T* const out = write ? image + which % 4 * s_.c + first_ + line * axes.line_pitch : nullptr;
    const auto rows = sorted_[index];
    if (rows.empty() && !carried_) {
      if (write) write_zeros(axes, out);
      return;
    }
    if (!carried_ && !is_short(axes)) {
      std::fill_n(sums_, round_up(channels_, kTurn) * SumsCut<A>::pitch(axes.length), A{0});
    }
    add_rows(rows, axes, out);
    carried_ = !rows.empty() && line + 1 < axes.lines;
  }

  /// Adds what the borders of a line give to it and writes it.
  void add_rows(std::span<const std::int64_t> rows, const BorderAxes& axes, T* out) {
    const auto all = static_cast<std::int64_t>(rows.size());
    const std::int64_t row_bytes = channels_ * static_cast<std::int64_t>(sizeof(T) + 4);
    std::int64_t most = std::clamp(border_align::kGroupBytes / row_bytes, std::int64_t{1}, border_align::kGroup);
    if (is_short(axes)) most = ShortLines<T>::kBorders;
    const std::int64_t groups = std::max(ceil_div(all, most), std::int64_t{1});
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t begin = all * i / groups, end = all * (i + 1) / groups;
      const Turn turn = {i == 0, i + 1 == groups};
      place_borders(rows.data() + begin, end - begin, axes);
      if constexpr (kShortLines<T>) {
        if (is_short(axes)) {
          add_to_short_line(end - begin, axes, turn, out);
          continue;
        }
      }
      add_group(end - begin, axes, turn, out);
    }
  }

  bool is_short(const BorderAxes& axes) const { return kShortLines<T> && ShortLines<T>::take(s_, axes.length); }

  /// As add_group. Where halves go past the caches, a cache line of them is complete only after two blocks.
  void add_to_short_line(std::int64_t count, const BorderAxes& axes, Turn which, T* out) {
    const ShortLines<T> line(s_, group_, count, axes.length);
    const LineState state = {which.first && !carried_, which.first, which.last};
    const bool staged = past_caches_ && sizeof(T) < sizeof(A);
    alignas(64) T stage[ShortLines<T>::kPixels * kTurn];
    for (std::int64_t c = 0; c < channels_; c += kBlock) {
      T* const to = out == nullptr ? nullptr : staged ? stage + c % kTurn : out + c;
      const LineOutput<T> output = {to, staged ? kTurn : axes.pixel_pitch, axes.length, past_caches_ && !staged};
      line.add(static_cast<const T*>(p_.grad_output) + c, p_.argmax + c, state,
               sums_ + c * SumsCut<A>::pitch(axes.length), output);
      if (!staged || to == nullptr || !which.last || (c + kBlock) % kTurn != 0) continue;
      for (std::int64_t i = 0; i < axes.length; ++i) {
        stream_lines<64>(stage + i * kTurn, out + c + kBlock - kTurn + i * axes.pixel_pitch);
      }
    }
  }

  /// While a group is summed, the rows of the next one come into the second cache.
  void add_group(std::int64_t count, const BorderAxes& axes, Turn which, T* out) {
    const std::int64_t pitch = SumsCut<A>::pitch(axes.length);
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(A) == 4) {
      if (s_.c % kTurn == 0 && PointBlocks<T>::take(s_, axes.length)) return add_points(count, axes, which, out);
    }
#endif
    const Preparer<T> prepare(s_, axes.length, pitch);
    for (std::int64_t turn = 0; turn < channels_; turn += kTurn) {
      const std::int64_t n = std::min(kTurn, channels_ - turn);
      for (std::int64_t c = turn; c < turn + n && count > 0; c += kBlock) {
        if (turn + n - c >= kBlock) {
          add_block<true>(prepare, count, c, kBlock, sums_ + c * pitch);
        } else {
          add_block<false>(prepare, count, c, turn + n - c, sums_ + c * pitch);
        }
      }
      if (which.last) take_line(axes, turn, n, out);
    }
  }

#if HWY_TARGET <= HWY_AVX3
  /// As add_group, where all blocks are whole.
  void add_points(std::int64_t count, const BorderAxes& axes, Turn which, T* out) {
    const std::int64_t pitch = SumsCut<A>::pitch(axes.length);
    const PointBlocks<T> blocks(s_, group_, count, axes.length);
    for (std::int64_t c = 0; c < channels_; c += kBlock) {
      if (count > 0) blocks.add(static_cast<const T*>(p_.grad_output) + c, p_.argmax + c, pitch, sums_ + c * pitch);
      if (which.last && (c + kBlock) % kTurn == 0) take_line(axes, c + kBlock - kTurn, kTurn, out);
    }
  }
#endif

  /// Fills in the group, with its last border again behind it.
  void place_borders(const std::int64_t* rows, std::int64_t count, const BorderAxes& axes) {
    const auto all = sorted_.all();
    const std::int64_t left = all.data() + all.size() - rows;
    const auto row = [&](std::int64_t i) { return rows[std::min(i, left - 1)]; };
    for (std::int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(static_cast<const T*>(p_.boxes) + row(i + kBoxesAhead) / 4 * 4);
      const auto border = read_border<T>(s_, p_.boxes, rows[i]);
      AxisSample<A> line{};
      sample_axis(border.fixed, axes.lines, line);
      group_[i] = {
          border.start, border.stride, {line.low_weight, line.high_weight}, element(rows[i]), element(row(count + i))};
    }
    if (count > 0) std::fill_n(group_ + count, kFetch, group_[count - 1]);
  }

  std::int64_t element(std::int64_t row) const {
    return row * s_.c + first_;
  }

  /// n channels from c on, of all borders of the group. Where a block is not whole, it reads on into the next row.
  template <bool kWhole>
  HWY_NOINLINE void add_block(const Preparer<T>& preparer, std::int64_t count, std::int64_t c, std::int64_t n,
                              A* HWY_RESTRICT sums) {
    constexpr int kRing = 2 * kAhead;
    const Preparer<T> prepare = preparer;  // a copy: nobody else writes to it
    const LineBorder<A>* const group = group_;
    const T* const gradient = static_cast<const T*>(p_.grad_output) + c;
    const std::int32_t* const index = p_.argmax + c;
    const std::int64_t end = s_.n * s_.k * 4 * s_.c - c - kBlock;
    Additions<A> ring[kRing];
    const auto fill = [&](std::int64_t i) HWY_ATTR {
      const std::int64_t at = group[i].at;
      if (kWhole || at <= end) {
        prepare(group[i], gradient + at, index + at, ring[i % kRing]);
      } else {
        prepare_last(prepare, group[i], gradient + at, index + at, n, ring[i % kRing]);
      }
    };
    for (int i = 0; i < kAhead; ++i) fill(i);
    for (std::int64_t i = 0; i < count; ++i) {
      border_align::ask(gradient, index, group, i);
      fill(i + kAhead);
      add(ring[i % kRing], group[i].weights, kWhole ? kBlock : n, sums);
    }
  }

  /// The first n channels of additions count; the others go to sums that nobody reads.
  HWY_INLINE static void add(const Additions<A>& additions, const A* weights, std::int64_t n, A* HWY_RESTRICT sums) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(A) == 4) {
      if (n > kBlock / 4) return add_all(additions, weights, sums);
    }
#endif
    add_some(additions, weights, n, sums);
  }

  /// For the last rows there are, behind which nothing may be read.
  HWY_NOINLINE static void prepare_last(const Preparer<T>& prepare, const LineBorder<A>& border, const T* grad_output,
                                        const std::int32_t* argmax, std::int64_t n, Additions<A>& to) {
    T gradient[kBlock] = {};
    std::int32_t index[kBlock] = {};
    std::copy_n(grad_output, n, gradient);
    std::copy_n(argmax, n, index);
    prepare(border, gradient, index, to);
  }

  /// Writes n channels from c on of a line that is complete, unless out is nullptr, and goes on to the next one.
  void take_line(const BorderAxes& axes, std::int64_t first, std::int64_t n, T* out) {
    constexpr std::int64_t lanes = kLanes<A>;
    const std::int64_t tiled = n / lanes * lanes, pitch = SumsCut<A>::pitch(axes.length);
    A* const sums = sums_ + first * pitch;
    if (out != nullptr) out += first;
    for (std::int64_t i = 0; i < axes.length; i += lanes) {
      const std::int64_t pixels = std::min(lanes, axes.length - i);
      T* const to = out == nullptr ? nullptr : out + i * axes.pixel_pitch;
      A* const pairs = sums + i * 2;
      std::int64_t c = 0;
      if (out != nullptr && past_caches_) {
        for (; c < tiled; c += kCacheLine) take_cache_lines(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to + c);
      }
      for (; c < tiled; c += lanes) {
        take_tile(pairs + c * pitch, pitch, pixels, axes.pixel_pitch, to == nullptr ? nullptr : to + c);
      }
    }
    for (std::int64_t c = tiled; c < n; ++c) {
      for (std::int64_t i = 0; i < axes.length; ++i) {
        A* const pair = sums + c * pitch + i * 2;
        if (out != nullptr) out[i * axes.pixel_pitch + c] = from_acc<T>(pair[0]);
        pair[0] = std::exchange(pair[1], A{0});
      }
    }
  }

  /// kLanes channels of as many pixels, or fewer that are written.
  template <bool kPastCaches = false>
  HWY_INLINE void take_tile(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch, T* out) {
    const hn::ScalableTag<A> d;
    hn::Vec<decltype(d)> v[kLanes<A>];
    MLUOPS_UNROLL
    for (int c = 0; c < kLanes<A>; ++c) v[c] = take_first(pairs + c * pitch);
    if (out == nullptr) return;
    transpose_square<A>(v);
    MLUOPS_UNROLL
    for (int i = 0; i < kLanes<A>; ++i) {
      if (i >= pixels) break;
      if constexpr (kPastCaches) {
        stream(v[i], d, out + i * pixel_pitch);
      } else {
        store(v[i], d, out + i * pixel_pitch);
      }
    }
  }

  /// As take_tile, but as many channels as fill a cache line, which is written past the caches.
  HWY_INLINE void take_cache_lines(A* pairs, std::int64_t pitch, std::int64_t pixels, std::int64_t pixel_pitch,
                                   T* out) {
    if constexpr (std::is_same_v<T, A> && kLanes<A> == kCacheLine) {
      return take_tile<true>(pairs, pitch, pixels, pixel_pitch, out);
    }
    alignas(64) T lines[kLanes<A> * kCacheLine];
    for (std::int64_t c = 0; c < kCacheLine; c += kLanes<A>) {
      take_tile(pairs + c * pitch, pitch, kLanes<A>, kCacheLine, lines + c);
    }
    for (std::int64_t i = 0; i < pixels; ++i) stream_lines<64>(lines + i * kCacheLine, out + i * pixel_pitch);
  }

  void write_zeros(const BorderAxes& axes, T* out) const {
    const std::int64_t bytes = channels_ * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < axes.length; ++i, out += axes.pixel_pitch) {
      if (past_caches_) {
        stream_zero(out, bytes);
      } else {
        std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(bytes));
      }
    }
  }

  const mluopsBorderAlignBackwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  const SumsCut<A> cut_;
  A* const sums_;
  LineBorder<A>* const group_;
  const bool past_caches_;

  std::int64_t first_ = 0, channels_ = 0;  // of the chunk
  bool carried_ = false;                   // whether the sums hold something for the line that comes
};

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
