// Correlation backward: both images' gradients gathered over displacements.
//
// grad_output [N,P,P,Ho,Wo], input1, input2, grad_input1, grad_input2 [N,H,W,C]. Each pair of pixels has one gradient,
// which is summed where it is needed where there are windows; grad_input1 at a pixel is the sum over
// displacements of it times the second image's pixel; grad_input2 likewise with displacements turned round. An item is
// two rows, a step of displacements apart, of one gradient, which it owns: they share the pixels they meet. A register
// tile is two rows by some channels, pixels are vectors: compute-bound, 2 x channels multiply-adds on 2 + channels
// loads. The pairs' gradients of a tile of pixels lie together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/correlation/backward.cpp"
#include <hwy/foreach_target.h>

#include <cstdlib>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/correlation/rows-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "mluops/problem/correlation.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::correlation::HWY_NAMESPACE {
namespace {

using BackwardProblem = mluopsCorrelationBackwardProblem;

constexpr int kPairRows = 2, kMostChannels = HWY_TARGET <= HWY_AVX3 ? 8 : 6;

/// Vectors of pixels whose pairs are collected at once, since each row comes from another plane.
constexpr std::int64_t kPairVectors = 8;

/// A thread's scratch.
template <class A>
struct GradientScratch {
  std::int64_t each;  ///< pairs of a vector of pixels
  A *pairs, *sums;    ///< [kPairVectors, displacements of either row, displacements across, kPairRows, kLanes];
                      ///< [kPairRows, c, kLanes]
  A* row;             ///< [w], gradients of pairs out of windows

  GradientScratch(Allocator& allocator, const Shape& s)
      : each((2 * down(s).reach + kPairRows) * (2 * across(s).reach + 1) * kPairRows * kLanes<A>),
        pairs(allocator.allocate<A>(std::min(kPairVectors, ceil_div(s.w, kLanes<A>)), each)),
        sums(allocator.allocate<A>(kPairRows, s.c, kLanes<A>)),
        row(allocator.allocate<A>(is_plain(s) ? 0 : s.w)) {}
};

template <class A>
struct BackwardArrays {
  PackedRows rows;
  A* images[2];
  SlotScratch<GradientScratch<A>> scratch;

  BackwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : rows(PackedRows::of(s, across(s).reach * across(s).step, TypeTag<A>{})),
        images{allocator.allocate<A>(s.h, s.c, rows.pitch), allocator.allocate<A>(s.h, s.c, rows.pitch)},
        scratch(allocator, call.threads, s) {}
};

/// Gradients of pairs of pixels [H, W] by a displacement each: those of the outputs, or sums of these over the windows
/// they are in. of(plane, y, begin, end, row) is row y, of which pixels [begin, end) are there; `row` has room for it.
template <class T>
struct PlainPairs {
  using Element = T;
  const Shape& s;
  const T* grad_output;

  const T* of(std::int64_t plane, std::int64_t y, std::int64_t, std::int64_t, Acc<T>*) const {
    return grad_output + (plane * s.h + y) * s.w;
  }
};

template <class T>
class WindowPairs {
 public:
  using Element = Acc<T>;

  WindowPairs(const Shape& s, const T* grad_output)
      : down_(windows_down(s)), across_(windows_across(s)), grad_output_(grad_output) {}

  const Acc<T>* of(std::int64_t plane, std::int64_t y, std::int64_t begin, std::int64_t end, Acc<T>* row) const {
    std::fill(row + begin, row + end, Acc<T>(0));
    const auto [first, last] = down_.outputs_on(y);
    for (std::int64_t o = first; o < last; ++o) {
      if (down_.tap_on(o, y) < 0) continue;
      add_row(grad_output_ + (plane * down_.outputs + o) * across_.outputs, begin, end, row);
    }
    return row;
  }

 private:
  /// A row of outputs, tap by tap, or pixel by pixel where most taps are on few of them.
  void add_row(const T* from, std::int64_t begin, std::int64_t end, Acc<T>* row) const {
    const auto [first, last] = across_.taps_near(begin, end);
    if (last - first > across_.outputs * (end - begin)) return add_pixels(from, begin, end, row);
    for (std::int64_t j = first; j < last; ++j) {
      const auto outputs = across_.outputs_of(j, begin, end);
      const std::int64_t offset = j * across_.dilation - across_.pad;
      for (std::int64_t x = outputs.first; x < outputs.end; ++x) row[x * across_.stride + offset] += to_acc(from[x]);
    }
  }
  /// In the order of the taps: the last output first.
  void add_pixels(const T* from, std::int64_t begin, std::int64_t end, Acc<T>* row) const {
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
      const auto outputs = across_.outputs_on(pixel);
      for (std::int64_t x = outputs.end; x-- > outputs.first;) {
        if (across_.tap_on(x, pixel) >= 0) row[pixel] += to_acc(from[x]);
      }
    }
  }

  const Windows down_, across_;
  const T* grad_output_;
};

/// The gradient of one image.
template <class A>
class Gradient {
 public:
  /// of_second: of the second image, whose displacements are those of the first turned round.
  Gradient(const Shape& s, const PackedRows& rows, const A* other, bool of_second)
      : s_(s), down_(down(s)), across_(across(s)), rows_(rows), other_(other), of_second_(of_second) {}

  /// How many times kPairRows rows there are.
  static std::int64_t items(const Shape& s) {
    return std::min<std::int64_t>(s.h, s.dilation_patch_h) *
           ceil_div(s.h, kPairRows * std::int64_t{s.dilation_patch_h});
  }

  template <class Pairs, class T>
  void item(std::int64_t i, bool nchw, const Pairs& gradients, const GradientScratch<A>& scratch, T* gradient) const {
    const std::int64_t apart = std::min(s_.h, down_.step);
    const std::int64_t y = i / apart * kPairRows * down_.step + i % apart;
    for (std::int64_t x = 0; y < s_.h && x < s_.w; x += kPairVectors * kLanes<A>) {
      const std::int64_t end = std::min(x + kPairVectors * kLanes<A>, s_.w);
      collect_pairs(gradients, y, x, end, scratch);
      const A* pairs = scratch.pairs;
      for (std::int64_t from = x; from < end; from += kLanes<A>, pairs += scratch.each) {
        add_rows(y, from, pairs, scratch.sums);
        for (std::int64_t r = 0; r < kPairRows && y + r * down_.step < s_.h; ++r) {
          unpack_pixels(s_, nchw, scratch.sums + r * s_.c * kLanes<A>, y + r * down_.step, from,
                        std::min<std::int64_t>(kLanes<A>, end - from), gradient);
        }
      }
    }
  }

 private:
  /// Pairs of displacement k of row y, -reach to reach + 1, which for the second row is k - 1.
  const A* pairs_of(const A* pairs, std::int64_t k) const {
    return pairs + (k + down_.reach) * (2 * across_.reach + 1) * kPairRows * kLanes<A>;
  }

  /// The pairs' gradients of pixels [x, end) of row y and the row a step below; 0 off the other image.
  template <class Pairs>
  void collect_pairs(const Pairs& gradients, std::int64_t y, std::int64_t x, std::int64_t end,
                     const GradientScratch<A>& scratch) const {
    A* to = scratch.pairs;
    for (std::int64_t k = -down_.reach; k <= down_.reach + 1; ++k) {
      for (std::int64_t l = -across_.reach; l <= across_.reach; ++l) {
        for (std::int64_t r = 0; r < kPairRows; ++r, to += kLanes<A>) {
          const std::int64_t own = y + r * down_.step, other = own + (k - r) * down_.step;
          const bool some = std::abs(k - r) <= down_.reach && down_.on_image(own) && down_.on_image(other);
          const auto* const row = some ? row_of(gradients, own, k - r, l, x, end, scratch.row) : nullptr;
          collect(row, x, end, l * across_.step, to, scratch.each);
        }
      }
    }
  }

  /// The gradients of row y displaced by k and l; that of pixel x at x, or at x + l steps of the second image.
  template <class Pairs>
  const typename Pairs::Element* row_of(const Pairs& gradients, std::int64_t y, std::int64_t k, std::int64_t l,
                                        std::int64_t x, std::int64_t end, A* room) const {
    const std::int64_t shift = l * across_.step;
    auto [first, last] = across_.inside(x, end, shift);
    if (of_second_) y += k * down_.step, k = -k, l = -l, first += shift, last += shift;
    return gradients.of((k + down_.most) * across_.count() + l + across_.most, y, first, last, room);
  }

  /// A vector of pixels every `each` places.
  template <class G>
  HWY_INLINE void collect(const G* row, std::int64_t x, std::int64_t end, std::int64_t shift, A* to,
                          std::int64_t each) const {
    const hn::ScalableTag<A> d;
    for (; x < end; x += kLanes<A>, to += each) {
      const std::int64_t most = std::min<std::int64_t>(x + kLanes<A>, end);
      const auto [first, last] = across_.inside(x, most, shift);
      const std::int64_t from = of_second_ ? first + shift : first;
      if (row != nullptr && last - first == kLanes<A>) {
        hn::Store(load(d, row + from), d, to);
        continue;
      }
      hn::Store(hn::Zero(d), d, to);
      if (row != nullptr && first < last) load_row(row + from, to + first - x, last - first);
    }
  }

  /// The sums of a vector of pixels of row y and the row a step below.
  void add_rows(std::int64_t y, std::int64_t x, const A* pairs, A* sums) const {
    std::fill_n(sums, kPairRows * s_.c * kLanes<A>, A(0));
    // The first displacement is the first row's alone, the last the last row's.
    add<1>(y, x, -down_.reach, -down_.reach + 1, 0, pairs, sums);
    add<kPairRows>(y, x, -down_.reach + 1, down_.reach + 1, 0, pairs, sums);
    add<1>(y, x, down_.reach + 1, down_.reach + 2, 1, pairs, sums);
  }

  /// Adds displacements [begin, end) of row y to the sums of kCount rows from `row` on.
  template <int kCount>
  void add(std::int64_t y, std::int64_t x, std::int64_t begin, std::int64_t end, std::int64_t row, const A* pairs,
           A* sums) const {
    while (begin < end && y + begin * down_.step < 0) ++begin;
    while (begin < end && y + (end - 1) * down_.step >= s_.h) --end;
    if (begin >= end) return;
    for_even_blocks<kMostChannels>(s_.c, [&](std::int64_t c, auto channels) HWY_ATTR {
      add_channels<kCount, decltype(channels)::value>(y, x, c, begin, end, row, pairs, sums);
    });
  }

  template <int kCount, int kWide>
  HWY_INLINE void add_channels(std::int64_t y, std::int64_t x, std::int64_t c, std::int64_t begin, std::int64_t end,
                               std::int64_t row, const A* pairs, A* to) const {
    const hn::ScalableTag<A> d;
    hn::Vec<decltype(d)> sums[kCount][kWide];
    A* const kept = to + (row * s_.c + c) * kLanes<A>;
    MLUOPS_UNROLL
    for (int r = 0; r < kCount; ++r) {
      MLUOPS_UNROLL
      for (int i = 0; i < kWide; ++i) sums[r][i] = hn::Load(d, kept + (r * s_.c + i) * kLanes<A>);
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const A* pair = pairs_of(pairs, k) + row * kLanes<A>;
      const A* pixels = rows_.row(other_, s_, y + k * down_.step) + c * rows_.pitch + x;
      for (std::int64_t l = -across_.reach; l <= across_.reach; ++l) {
        hn::Vec<decltype(d)> factors[kCount];
        MLUOPS_UNROLL
        for (int r = 0; r < kCount; ++r) factors[r] = hn::Load(d, pair + r * kLanes<A>);
        MLUOPS_UNROLL
        for (int i = 0; i < kWide; ++i) {
          const auto pixel = vector_barrier(hn::LoadU(d, pixels + i * rows_.pitch));
          MLUOPS_UNROLL
          for (int r = 0; r < kCount; ++r) sums[r][i] = hn::MulAdd(factors[r], pixel, sums[r][i]);
        }
        pair += kPairRows * kLanes<A>;
        pixels += across_.step;
      }
    }
    MLUOPS_UNROLL
    for (int r = 0; r < kCount; ++r) {
      MLUOPS_UNROLL
      for (int i = 0; i < kWide; ++i) hn::Store(sums[r][i], d, kept + (r * s_.c + i) * kLanes<A>);
    }
  }

  const Shape& s_;
  const Displacements down_, across_;
  const PackedRows& rows_;
  const A* const other_;
  const bool of_second_;
};

/// Both gradients of an image.
template <class Pairs, class T>
void add_gradients(const Context& context, const mluopsCall& call, const Shape& s, bool nchw,
                   const BackwardArrays<Acc<T>>& arrays, const Pairs& pairs, T* const (&gradients)[2]) {
  using Own = Gradient<Acc<T>>;
  const Own both[2] = {{s, arrays.rows, arrays.images[1], false}, {s, arrays.rows, arrays.images[0], true}};
  const std::int64_t items = Own::items(s);
  const double pairs_of_row = static_cast<double>(down(s).count() * across(s).count()) * static_cast<double>(s.w);
  const double taps = static_cast<double>(most_taps(windows_down(s)) * most_taps(windows_across(s)));
  const double row_ns = pairs_of_row * (cost::kElement * (1 + taps) + cost::kMultiplyAdd * static_cast<double>(s.c));
  Loop(context, call, 2 * items, kPairRows * row_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const GradientScratch<Acc<T>> scratch = arrays.scratch.of(slot, s);
    for (std::int64_t i = begin; i < end; ++i)
      both[i / items].item(i % items, nchw, pairs, scratch, gradients[i / items]);
  });
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const bool nchw = p.layout == MLUOP_LAYOUT_NCHW;
  const auto arrays = allocate<BackwardArrays<A>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  const std::int64_t planes = down(s).count() * across(s).count(), outputs = s.out_h * s.out_w;
  const T* const images[2] = {static_cast<const T*>(p.input1), static_cast<const T*>(p.input2)};
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int64_t image = n * s.h * s.w * s.c;
    for (int i : {0, 1}) pack_rows(context, call, s, nchw, images[i] + image, arrays->rows, arrays->images[i]);
    T* const gradients[2] = {static_cast<T*>(p.grad_input1) + image, static_cast<T*>(p.grad_input2) + image};
    const T* const grad_output = static_cast<const T*>(p.grad_output) + n * planes * outputs;
    if (is_plain(s)) {
      add_gradients(context, call, s, nchw, *arrays, PlainPairs<T>{s, grad_output}, gradients);
    } else {
      add_gradients(context, call, s, nchw, *arrays, WindowPairs<T>(s, grad_output), gradients);
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::correlation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(correlation_backward, correlation, backward, mluopsCorrelationBackwardProblem, with_element)
