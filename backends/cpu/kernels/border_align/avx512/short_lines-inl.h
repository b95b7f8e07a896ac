// Lines of few pixels (border_align backward): with AVX-512, their sums stay in registers while all borders go by.
//
// For each pixel of a line a border has a vector of weights, one for each of its points, which argmax permutes: the
// weights with which a block of channels goes to this pixel, 0 where their points are elsewhere. Nothing is scattered,
// stored or transposed: a permutation and two multiply-adds for each pixel, one for each of the two lines. Sums of the
// next line stay in memory between the lines.
#if defined(MLUOPS_CPU_BORDER_ALIGN_AVX512_SHORT_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_AVX512_SHORT_LINES_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_AVX512_SHORT_LINES_INL_H_
#endif

#include "backends/cpu/kernels/border_align/lines.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The points of a border, one in each lane: where they lie along a line, kept on it, and which are on the map.
struct PointsOnLine {
  using D = hn::ScalableTag<float>;

  hn::Vec<D> at;
  hn::Mask<D> inside;

  /// `points` of them, a vector at most, on a line of `length` pixels.
  HWY_INLINE PointsOnLine(const LineBorder<float>& border, std::size_t points, std::int64_t length) {
    const D d;
    const auto end = hn::Set(d, static_cast<float>(length));
    const auto x = hn::Add(hn::Mul(hn::Iota(d, 0), hn::Set(d, border.stride)), hn::Set(d, border.start));
    const auto on_map = hn::And(hn::Ge(x, hn::Set(d, -1.0f)), hn::Le(x, end));
    inside = hn::And(on_map, hn::FirstN(d, points));
    at = hn::Min(hn::Max(x, hn::Zero(d)), hn::Sub(end, hn::Set(d, 1.0f)));
  }
};

/// Whether the machine has vectors for it.
template <class T>
inline constexpr bool kShortLines = (HWY_TARGET <= HWY_AVX3) && sizeof(Acc<T>) == 4;

/// Where the pixels of a line go: at[i * pitch], as many as there are, or nowhere.
template <class T>
struct LineOutput {
  T* at;
  std::int64_t pitch, pixels;
  bool non_temporal;
};

/// What is known of the sums of two lines before some borders, and whether these were the last.
struct LineState {
  bool first_is_zero, next_is_zero, complete;
};

template <class T>
class ShortLines {
  using D = hn::ScalableTag<float>;
  using DU = hn::RebindToUnsigned<D>;
  using V = hn::Vec<D>;

 public:
  static constexpr std::int64_t kBorders = 24;  ///< of a group, whose weights stay in the first cache
  static constexpr int kPixels = 10;            ///< at most; twice as many sums fit the registers

  static bool fits(const Shape& s, std::int64_t length) {
    return length <= kPixels && s.pool_size < kLanes<float> && s.c % kBlock == 0;
  }

  /// Borders of one line, and kPrefetchTerms more behind them that are only prefetched.
  ShortLines(const Shape& s, const LineBorder<float>* group, std::int64_t count, std::int64_t length)
      : group_(group), count_(count), pixels_(length), points_(static_cast<std::uint32_t>(s.pool_size) + 1) {
    for (std::int64_t i = 0; i < count; ++i) weigh(group[i], weights_[i]);
  }

  /// Adds kBlock channels of all borders. Sums: [2, kPixels, kBlock].
  HWY_NOINLINE void add(const T* grad_output, const std::int32_t* argmax, LineState state, float* sums,
                        const LineOutput<T>& out) const {
    if (pixels_ <= 4) return add_pixels<4>(grad_output, argmax, state, sums, out);
    if (pixels_ <= 7) return add_pixels<7>(grad_output, argmax, state, sums, out);
    add_pixels<kPixels>(grad_output, argmax, state, sums, out);
  }

 private:
  struct alignas(64) Weights {
    float low[kLanes<float>];  // pixel before the point, -2 for none
    float of[kPixels][kLanes<float>];
  };

  HWY_INLINE void weigh(const LineBorder<float>& border, Weights& to) const {
    const D d;
    const PointsOnLine points(border, points_, pixels_);
    const auto whole = hn::Floor(points.at), behind = hn::Sub(points.at, whole),
               here = hn::Sub(hn::Set(d, 1.0f), behind);
    const auto low = hn::IfThenElse(points.inside, whole, hn::Set(d, -2.0f));
    hn::Store(low, d, to.low);
    auto after = hn::Eq(low, hn::Set(d, -1.0f));  // nowhere
    for (std::int64_t i = 0; i < kPixels; ++i) {
      const auto at = hn::Eq(low, hn::Set(d, static_cast<float>(i)));
      hn::Store(hn::IfThenElse(at, here, hn::IfThenElseZero(after, behind)), d, to.of[i]);
      after = at;
    }
  }

  template <int kCount>
  HWY_INLINE void add_pixels(const T* grad_output, const std::int32_t* argmax, LineState state, float* sums,
                             const LineOutput<T>& out) const {
    if (!sum<kCount, false>(grad_output, argmax, state, sums, out)) {
      sum<kCount, true>(grad_output, argmax, state, sums, out);
    }
  }

  /// Infinity times weight 0 is a NaN where nothing should be added. False, and nothing written, if some sum is one;
  /// kSafe keeps what is not finite from where it does not belong and changes no other bit.
  template <int kCount, bool kSafe>
  HWY_INLINE bool sum(const T* HWY_RESTRICT grad_output, const std::int32_t* HWY_RESTRICT argmax, LineState state,
                      float* HWY_RESTRICT sums, const LineOutput<T>& out) const {
    const D d;
    const DU du;
    V here[kCount], next[kCount];
    float* const next_sums = sums + kPixels * kBlock;
    load_sums<kCount>(state.first_is_zero, sums, here);
    load_sums<kCount>(state.next_is_zero, next_sums, next);
    const auto points = hn::Set(du, points_);
    for (std::int64_t i = 0; i < count_; ++i) {
      prefetch_terms(grad_output, argmax, group_, i);
      const Weights& weights = weights_[i];
      const auto point = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(argmax + group_[i].at));
      const auto names_point = hn::RebindMask(d, hn::Lt(point, points));
      const auto lane = hn::IndicesFromVec(d, hn::And(point, hn::Set(du, kLanes<float> - 1)));
      const auto gradient = hn::IfThenElseZero(names_point, load(d, grad_output + group_[i].at));
      const auto to_here = hn::Mul(gradient, hn::Set(d, group_[i].weights[0]));
      const auto to_next = hn::Mul(gradient, hn::Set(d, group_[i].weights[1]));
      const auto finite = hn::IsFinite(gradient);
      const auto low = hn::TableLookupLanes(hn::Load(d, weights.low), lane);
      MLUOPS_UNROLL
      for (int j = 0; j < kCount; ++j) {
        const auto weight = hn::TableLookupLanes(hn::Load(d, weights.of[j]), lane);
        if constexpr (kSafe) {
          const auto above = hn::Sub(hn::Set(d, static_cast<float>(j)), low);
          const auto touched = hn::Or(hn::Eq(above, hn::Zero(d)), hn::Eq(above, hn::Set(d, 1.0f)));
          const auto adds = hn::Or(finite, touched);
          here[j] = hn::MulAdd(weight, hn::IfThenElseZero(adds, to_here), here[j]);
          next[j] = hn::MulAdd(weight, hn::IfThenElseZero(adds, to_next), next[j]);
        } else {
          here[j] = hn::MulAdd(weight, to_here, here[j]);
          next[j] = hn::MulAdd(weight, to_next, next[j]);
        }
      }
    }
    if constexpr (!kSafe) {
      if (some_nan<kCount>(here, next)) return false;
    }
    if (state.complete) {
      write<kCount>(here, out);
      store_sums<kCount>(next, sums);
    } else {
      store_sums<kCount>(here, sums);
      store_sums<kCount>(next, next_sums);
    }
    return true;
  }

  template <int kCount>
  HWY_INLINE static bool some_nan(const V* here, const V* next) {
    const D d;
    auto all = hn::Add(here[0], next[0]);
    MLUOPS_UNROLL
    for (int j = 1; j < kCount; ++j) all = hn::Add(all, hn::Add(here[j], next[j]));
    return !hn::AllFalse(d, hn::IsNaN(all));
  }

  template <int kCount>
  HWY_INLINE static void load_sums(bool zero, const float* from, V* sums) {
    const D d;
    if (zero) {
      MLUOPS_UNROLL
      for (int j = 0; j < kCount; ++j) sums[j] = hn::Zero(d);
    } else {
      MLUOPS_UNROLL
      for (int j = 0; j < kCount; ++j) sums[j] = hn::Load(d, from + j * kBlock);
    }
  }

  template <int kCount>
  HWY_INLINE static void store_sums(const V* sums, float* to) {
    MLUOPS_UNROLL
    for (int j = 0; j < kCount; ++j) hn::Store(sums[j], D(), to + j * kBlock);
  }

  template <int kCount>
  HWY_INLINE static void write(const V* sums, const LineOutput<T>& out) {
    if (out.at == nullptr) return;
    T* to = out.at;
    MLUOPS_UNROLL
    for (int j = 0; j < kCount; ++j, to += out.pitch) {
      if (j >= out.pixels) break;
      out.non_temporal ? store<true>(sums[j], D(), to) : store<false>(sums[j], D(), to);
    }
  }

  const LineBorder<float>* const group_;
  const std::int64_t count_, pixels_;
  const std::uint32_t points_;
  Weights weights_[kBorders];
};

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
