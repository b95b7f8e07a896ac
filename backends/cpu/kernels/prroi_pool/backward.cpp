// PrRoIPool backward. grad_input: a bin's gradient goes to its pixels by their weights (sampling/channel_sums-inl.h
// says who owns what). grad_rois: the weights' derivatives by a RoI's four ends, times the products of its gradients
// with the pixels, summed over channels.
//
// grad_output [R,PH,PW,C], input and grad_input [B,H,W,C], rois and grad_rois [R,5]. For grad_input one addition a
// pixel of a bin and channel, bound by the caches the sums lie in. For grad_rois an item is a RoI; a product of pixel
// and gradient is added over channels first, 2 flops on a load, then weighted.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/prroi_pool/backward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/prroi_pool/rois-inl.h"
#include "backends/cpu/sampling/sampled_rois.h"
#include "backends/cpu/simd/panel-inl.h"
#include "mluops/problem/prroi_pool.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::prroi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using BackwardProblem = mluopsPrRoiPoolBackwardProblem;

// ---- grad_input ------------------------------------------------------------------------------

/// Bins are rectangles of pixels.
template <class T>
class PooledRois final : public SampledRois {
 public:
  explicit PooledRois(const BackwardProblem& p)
      : SampledRois({p.shape.rois, p.shape.pooled_h, p.shape.pooled_w, 3}), p_(p) {}

  PlacedRoi place(std::int64_t r) const override { return Roi::read<T>(p_, r).place(r); }
  double most_pixels(std::int64_t r) const override {
    const Roi roi = Roi::read<T>(p_, r);
    return static_cast<double>(roi.y.pixels(bins_.rows)) * static_cast<double>(roi.x.pixels(bins_.columns));
  }
  /// Each pixel of a bin is added once, so the order of the bin's pixels does not matter.
  void find(std::int64_t r, BinPixels& to) const override {
    const Roi roi = Roi::read<T>(p_, r);
    if (roi.empty()) return;
    std::int64_t bin = r * bins();
    for (std::int64_t row = 0; row < bins_.rows; ++row, bin += bins_.columns) {
      each_part(roi.y, row, [&](const Part& lines) {
        for (std::int64_t column = 0; column < bins_.columns; ++column) {
          each_part(roi.x, column, [&](const Part& columns) {
            to.take_rectangle({bin + column, lines.first * p_.shape.w + columns.first, p_.shape.w, lines.count,
                               columns.count, lines.shares, columns.shares});
          });
        }
      });
    }
  }

 private:
  /// Some pixels of a bin along an axis, and their shares.
  struct Part {
    static constexpr std::int64_t kMost = BinRectangle::kMostColumns, kTogether = 8;  // shares found as a vector
    std::int64_t first, count;
    double shares[kMost];
  };

  template <class Visit>
  static void each_part(const Axis& axis, std::int64_t bin, const Visit& visit) {
    Part part;
    const std::int64_t end = axis.end(bin);
    for (part.first = axis.first(bin); part.first < end; part.first += Part::kMost) {
      part.count = std::min(Part::kMost, end - part.first);
      for (std::int64_t i = 0; i < part.count; i += Part::kTogether) {
        for (std::int64_t k = i; k < i + Part::kTogether; ++k) part.shares[k] = axis.share(bin, part.first + k).value;
      }
      visit(part);
    }
  }

  const BackwardProblem& p_;
};

template <class T>
mluOpStatus_t add_bins(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const PooledRois<T> rois(p);
  return add_samples(context, call, {{s.dtype, s.batch, s.h, s.w, s.c}, p.layout, p.grad_output, p.grad_input, rois});
}

// ---- grad_rois -------------------------------------------------------------------------------

/// By the RoI's ends.
struct Slopes {
  double x1, y1, x2, y2;
};

/// Adds the part of kWide vectors of a bin's channels from c on; `grad` is at the first of them.
template <int kWide, class D, class T, class Bin, class A = hn::TFromD<D>>
HWY_INLINE void add_slopes(D d, std::int64_t w, const layout::PixelRows<T>& map, std::int64_t c, const Bin& rows,
                           const Bin& columns, const A* grad, Slopes& to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> own[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) own[v] = hn::LoadU(d, grad + v * lanes);
  const auto product = [&](std::int64_t at) HWY_ATTR {
    const T* const pixel = map.at(at) + c;
    auto sum = hn::Mul(own[0], load(d, pixel));
    MLUOPS_UNROLL
    for (int v = 1; v < kWide; ++v) sum = hn::MulAdd(own[v], load(d, pixel + v * lanes), sum);
    return sum;
  };
  for (std::int64_t y = 0; y < rows.count; ++y) {
    const std::int64_t first = (rows.first + y) * w + columns.first;
    A value = 0, low = 0, high = 0;
    const auto add = [&](std::int64_t x, A sum) {
      value += columns.value[x] * sum;
      low += columns.low[x] * sum;
      high += columns.high[x] * sum;
    };
    std::int64_t x = 0;
    for (; x + 4 <= columns.count; x += 4) {
      const std::int64_t at = first + x;
      HWY_ALIGN A sums[4];
      sum_4_vectors(d, product(at), product(at + 1), product(at + 2), product(at + 3), sums);
      for (int k = 0; k < 4; ++k) add(x + k, sums[k]);
    }
    for (; x < columns.count; ++x) add(x, hn::GetLane(hn::SumOfLanes(d, product(first + x))));
    to.x1 += static_cast<double>(rows.value[y] * low);
    to.x2 += static_cast<double>(rows.value[y] * high);
    to.y1 += static_cast<double>(rows.low[y] * value);
    to.y2 += static_cast<double>(rows.high[y] * value);
  }
}

/// A RoI's gradients as rows of channels, promoted: where they lie, or in scratch.
template <class T>
const Acc<T>* grad_rows(const BackwardProblem& p, std::int64_t r, const Scratch<Acc<T>, true>& scratch) {
  const Shape& s = p.shape;
  const std::int64_t bins = s.pooled_h * s.pooled_w;
  const T* const grad = static_cast<const T*>(p.grad_output) + r * bins * s.c;
  const bool planes = p.layout == MLUOP_LAYOUT_NCHW && bins > 1;
  const Acc<T>* given;
  if constexpr (std::is_same_v<T, Acc<T>>) {
    given = grad;
  } else {
    load_row(grad, scratch.planes, bins * s.c);
    given = scratch.planes;
  }
  if (!planes) return given;
  transpose_panel(given, bins, s.c, bins, scratch.rows, s.c);
  return scratch.rows;
}

template <class T>
Slopes slopes_of_roi(const Shape& s, const layout::PixelRows<T>& map, const Scratch<Acc<T>, true>& scratch,
                     const Acc<T>* grad) {
  Slopes slopes{};
  for (std::int64_t bin = 0; bin < s.pooled_h * s.pooled_w; ++bin, grad += s.c) {
    const auto &rows = scratch.y.of(bin / s.pooled_w), &columns = scratch.x.of(bin % s.pooled_w);
    for_wide<Acc<T>, 4>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      add_slopes<decltype(vectors)::value>(d, s.w, map, c, rows, columns, grad + c, slopes);
    });
  }
  return slopes;
}

template <class T>
using SlopesLoop = RoiLoop<T, true, BackwardProblem>;

template <class T>
void differentiate_rois(SlopesLoop<T>& loop, const BackwardProblem& p) {
  loop.run([&](const Scratch<Acc<T>, true>& scratch, std::int64_t r, const layout::PixelRows<T>* map) HWY_ATTR {
    Slopes slopes{};
    if (map != nullptr) slopes = slopes_of_roi<T>(p.shape, *map, scratch, grad_rows<T>(p, r, scratch));
    const Acc<T> found[] = {0, static_cast<Acc<T>>(slopes.x1), static_cast<Acc<T>>(slopes.y1),
                            static_cast<Acc<T>>(slopes.x2), static_cast<Acc<T>>(slopes.y2)};
    store_row(found, static_cast<T*>(p.grad_rois) + 5 * r, 5);
  });
}

// ---- both ------------------------------------------------------------------------------------

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  std::optional<SlopesLoop<T>> slopes;
  if (p.grad_rois != nullptr) slopes.emplace(context, call, p);
  if (slopes && !slopes->has_room()) return no_memory(call);
  if (p.grad_input != nullptr) {
    const mluOpStatus_t status = add_bins<T>(context, call, p);
    if (status != MLUOP_STATUS_SUCCESS) return status;
  }
  if (slopes) differentiate_rois<T>(*slopes, p);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::prroi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(prroi_pool_backward, prroi_pool, backward, mluopsPrRoiPoolBackwardProblem, with_element)
