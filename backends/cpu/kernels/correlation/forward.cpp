// Correlation forward: products of pixels summed over channels, then over windows where there are any.
//
// input1, input2 [N,H,W,C], output [N,P,P,Ho,Wo]. An item is a row of the second image: it owns the outputs of the rows
// of the first that displacements lead to it. Both images are packed (rows-inl.h) one image after the other. Pixels are
// vectors: a register tile is some rows of the first image by some displacements, so each vector of the second is
// loaded once for all rows, each of the first once for all displacements: compute-bound, channels x tile multiply-adds
// on rows + displacements loads. Windows, strides and padding sum products, those of some displacements of an image at
// a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/correlation/forward.cpp"
#include <hwy/foreach_target.h>

#include <cstdlib>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/correlation/rows-inl.h"
#include "backends/cpu/simd/barrier.h"
#include "mluops/problem/correlation.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::correlation::HWY_NAMESPACE {
namespace {

using ForwardProblem = mluopsCorrelationForwardProblem;

/// A register tile: 27 sums of 32 registers, 12 of 16.
constexpr int kFirstRows = HWY_TARGET <= HWY_AVX3 ? 3 : 2, kWide = HWY_TARGET <= HWY_AVX3 ? 9 : 6;

/// Displacements down whose products are kept at a time, to be summed over windows: whole register tiles, about what
/// the second-level cache holds.
template <class A>
std::int64_t rows_together(const Shape& s) {
  const std::int64_t tile = size_product(kFirstRows, across(s).count(), size_product(s.h, s.w), sizeof(A));
  const std::int64_t tiles = std::max<std::int64_t>(1, second_cache(64) / tile);
  return std::min(tiles * kFirstRows, down(s).count());
}

template <class A>
struct ForwardArrays {
  PackedRows first_rows, second_rows;
  A *first, *second, *products;
  std::int64_t sums_pitch;  ///< of a thread's sums
  A* sums;

  ForwardArrays(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : first_rows(PackedRows::of(s, 0, TypeTag<A>{})),
        second_rows(PackedRows::of(s, across(s).reach * across(s).step, TypeTag<A>{})),
        first(allocator.allocate<A>(s.h, s.c, first_rows.pitch)),
        second(allocator.allocate<A>(s.h, s.c, second_rows.pitch)),
        products(is_plain(s) ? nullptr
                             : allocator.allocate<A>(rows_together<A>(s), across(s).count(), size_product(s.h, s.w))),
        sums_pitch(kFirstRows * kWide * first_rows.pitch),
        sums(allocator.allocate<A>(call.threads, kFirstRows, kWide, first_rows.pitch)) {}
};

/// Products of an image's pixels, [count, P, H, W]: those of `count` displacements down, from `first` on.
template <class A>
class Products {
 public:
  Products(const Shape& s, const ForwardArrays<A>& arrays, std::int64_t first, std::int64_t count)
      : s_(s), down_(down(s)), across_(across(s)), arrays_(arrays), first_(first), count_(count) {}

  /// Writes the products whose second pixel is in row y2, and the zeros of the first image's row of that number.
  template <class Out>
  void row(std::int64_t y2, A* sums, Out* output) const {
    clear_row(y2, output);
    Out* outputs[kFirstRows] = {};
    const A* rows[kFirstRows] = {};
    std::int64_t count = 0;
    const auto multiply_rows = [&]() HWY_ATTR {
      if (count == 0) return;
      for (; count < kFirstRows; ++count) rows[count] = rows[0], outputs[count] = nullptr;
      multiply(rows, outputs, y2, sums);
      count = 0;
    };
    const std::int64_t end = std::min(first_ + count_ - down_.most, down_.reach + 1);
    for (std::int64_t k = std::max(first_ - down_.most, -down_.reach); k < end; ++k) {
      const std::int64_t y = y2 - k * down_.step;
      if (!down_.on_image(y)) continue;
      rows[count] = arrays_.first_rows.row(arrays_.first, s_, y);
      outputs[count++] = output + at(k + down_.most, 0, y);
      if (count == kFirstRows) multiply_rows();
    }
    multiply_rows();
  }

 private:
  std::int64_t at(std::int64_t p, std::int64_t q, std::int64_t y) const {
    return (((p - first_) * across_.count() + q) * s_.h + y) * s_.w;
  }

  /// What lies off the second image in row y.
  template <class Out>
  void clear_row(std::int64_t y, Out* output) const {
    for (std::int64_t p = first_; p < first_ + count_; ++p) {
      const bool on_image = down_.on_image(y + (p - down_.most) * down_.step);
      for (std::int64_t q = 0; q < across_.count(); ++q) {
        if (!on_image || std::abs(q - across_.most) > across_.reach) std::fill_n(output + at(p, q, y), s_.w, Out{});
      }
    }
  }

  /// Whole rows of some displacements at a time, since each row goes to another plane of the output.
  template <class Out>
  void multiply(const A* const (&rows)[kFirstRows], Out* const (&outputs)[kFirstRows], std::int64_t y2, A* sums) const {
    const A* const second = arrays_.second_rows.row(arrays_.second, s_, y2);
    const std::int64_t pitch = arrays_.first_rows.pitch;
    for_even_blocks<kWide>(2 * across_.reach + 1, [&](std::int64_t first, auto wide) HWY_ATTR {
      constexpr int kCount = decltype(wide)::value;
      multiply<kCount>(rows, second + first * across_.step, sums);
      for (std::int64_t r = 0; r < kFirstRows && outputs[r] != nullptr; ++r) {
        for (std::int64_t i = 0; i < kCount; ++i) {
          const std::int64_t k = first + i - across_.reach;
          keep(sums + (r * kCount + i) * pitch, k * across_.step, outputs[r] + (k + across_.most) * s_.h * s_.w);
        }
      }
    });
  }

  /// A row of kCount displacements; `second` is where the first of them leads.
  template <int kCount>
  void multiply(const A* const (&rows)[kFirstRows], const A* second, A* HWY_RESTRICT to) const {
    const hn::ScalableTag<A> d;
    const std::int64_t step = across_.step, pitch = arrays_.first_rows.pitch;
    for (std::int64_t x = 0; x < s_.w; x += kLanes<A>) {
      hn::Vec<decltype(d)> sums[kFirstRows][kCount];
      MLUOPS_UNROLL
      for (int r = 0; r < kFirstRows; ++r) {
        MLUOPS_UNROLL
        for (int i = 0; i < kCount; ++i) sums[r][i] = hn::Zero(d);
      }
      const A* pixels = second + x;
      for (std::int64_t c = 0; c < s_.c; ++c, pixels += arrays_.second_rows.pitch) {
        hn::Vec<decltype(d)> first[kFirstRows];
        MLUOPS_UNROLL
        for (int r = 0; r < kFirstRows; ++r) first[r] = hn::LoadU(d, rows[r] + c * pitch + x);
        MLUOPS_UNROLL
        for (int i = 0; i < kCount; ++i) {
          const auto other = vector_barrier(hn::LoadU(d, pixels + i * step));
          MLUOPS_UNROLL
          for (int r = 0; r < kFirstRows; ++r) sums[r][i] = hn::MulAdd(first[r], other, sums[r][i]);
        }
      }
      MLUOPS_UNROLL
      for (int r = 0; r < kFirstRows; ++r) {
        MLUOPS_UNROLL
        for (int i = 0; i < kCount; ++i) hn::Store(sums[r][i], d, to + (r * kCount + i) * pitch + x);
      }
    }
  }

  /// A row of sums to one of outputs; 0 where x + shift is off the image.
  template <class Out>
  HWY_INLINE void keep(const A* sums, std::int64_t shift, Out* row) const {
    const auto [first, end] = across_.inside(0, s_.w, shift);
    std::fill(row, row + first, Out{});
    store_row(sums + first, row + first, end - first);
    std::fill(row + end, row + s_.w, Out{});
  }

  const Shape& s_;
  const Displacements down_, across_;
  const ForwardArrays<A>& arrays_;
  const std::int64_t first_, count_;
};

/// Sums over windows of products: output [Ho, Wo] of a plane [H, W]. Taps off the image are not looked at.
template <class T>
class WindowSums {
 public:
  using A = Acc<T>;

  explicit WindowSums(const Shape& s) : down_(windows_down(s)), across_(windows_across(s)) {}

  void operator()(const A* products, T* output) const {
    HWY_ALIGN A sums[kMost];
    for (std::int64_t y = 0; y < down_.outputs; ++y) {
      const auto [first, end] = down_.taps_of(y);
      for (std::int64_t x0 = 0; x0 < across_.outputs; x0 += kMost) {
        const std::int64_t x1 = std::min(x0 + kMost, across_.outputs);
        std::fill_n(sums, x1 - x0, A(0));
        for (std::int64_t i = first; i < end; ++i) {
          add_row(products + (y * down_.stride - down_.pad + i * down_.dilation) * across_.size, x0, x1, sums);
        }
        store_row(sums, output + y * across_.outputs + x0, x1 - x0);
      }
    }
  }

 private:
  static constexpr std::int64_t kMost = 256;

  /// Outputs [x0, x1) of a row of products: tap by tap, or output by output where most taps are on few of them.
  void add_row(const A* row, std::int64_t x0, std::int64_t x1, A* sums) const {
    const auto [first, end] = across_.taps_near(0, across_.size);
    if (end - first > across_.outputs * ceil_div(across_.size, across_.dilation)) return add_outputs(row, x0, x1, sums);
    for (std::int64_t j = first; j < end; ++j) {
      const auto outputs = across_.outputs_of(j, 0, across_.size);
      const std::int64_t offset = j * across_.dilation - across_.pad, last = std::min(outputs.end, x1);
      for (std::int64_t x = std::max(outputs.first, x0); x < last; ++x) {
        sums[x - x0] += row[x * across_.stride + offset];
      }
    }
  }
  void add_outputs(const A* row, std::int64_t x0, std::int64_t x1, A* sums) const {
    for (std::int64_t x = x0; x < x1; ++x) {
      const auto [first, end] = across_.taps_of(x);
      for (std::int64_t j = first; j < end; ++j) {
        sums[x - x0] += row[x * across_.stride - across_.pad + j * across_.dilation];
      }
    }
  }

  const Windows down_, across_;
};

template <class Out, class A>
void multiply_rows(const Context& context, const mluopsCall& call, const Shape& s, const ForwardArrays<A>& arrays,
                   std::int64_t first, std::int64_t count, Out* to) {
  const Products<A> products(s, arrays, first, count);
  const double pairs = static_cast<double>(count * across(s).count()) * static_cast<double>(s.w);
  Loop(context, call, s.h, pairs * (cost::kElement + cost::kMultiplyAdd * static_cast<double>(s.c)))
      .run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
        for (std::int64_t y = begin; y < end; ++y) products.row(y, arrays.sums + slot * arrays.sums_pitch, to);
      });
}

/// What the windows sum: the products of some displacements down at a time, then their windows.
template <class T>
void sum_windows(const Context& context, const mluopsCall& call, const Shape& s, const ForwardArrays<Acc<T>>& arrays,
                 T* output) {
  const WindowSums<T> sums(s);
  const std::int64_t across_count = across(s).count(), outputs = s.out_h * s.out_w;
  const double taps = static_cast<double>(most_taps(windows_down(s)) * most_taps(windows_across(s)));
  const double plane_ns = cost::kElement * taps * static_cast<double>(outputs);
  const std::int64_t together = rows_together<Acc<T>>(s);
  for (std::int64_t first = 0; first < down(s).count(); first += together) {
    const std::int64_t count = std::min(together, down(s).count() - first), planes = count * across_count;
    multiply_rows(context, call, s, arrays, first, count, arrays.products);
    T* const to = output + first * across_count * outputs;
    Loop(context, call, planes, plane_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) sums(arrays.products + i * s.h * s.w, to + i * outputs);
    });
  }
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const bool nchw = p.layout == MLUOP_LAYOUT_NCHW;
  const auto arrays = allocate<ForwardArrays<A>>(context.arena, call, s);
  if (!arrays) return no_memory(call);
  const std::int64_t outputs = down(s).count() * across(s).count() * s.out_h * s.out_w;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int64_t image = n * s.h * s.w * s.c;
    pack_rows(context, call, s, nchw, static_cast<const T*>(p.input1) + image, arrays->first_rows, arrays->first);
    pack_rows(context, call, s, nchw, static_cast<const T*>(p.input2) + image, arrays->second_rows, arrays->second);
    T* const output = static_cast<T*>(p.output) + n * outputs;
    if (is_plain(s)) {
      multiply_rows(context, call, s, *arrays, 0, down(s).count(), output);
    } else {
      sum_windows(context, call, s, *arrays, output);
    }
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::correlation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(correlation_forward, correlation, forward, mluopsCorrelationForwardProblem, with_element)
