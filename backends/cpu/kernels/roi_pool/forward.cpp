// RoiPooling forward: the greatest pixel of each bin, and which it is.
//
// input [B,H,W,C], output and argmax [R,PH,PW,C]. An item is a row of bins of a RoI and owns it. The channels of a
// pixel are vectors; the greatest values so far and their pixels stay in registers while the pixels of a bin go by. A
// comparison for each pixel read: bound by the caches the map lies in.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_pool/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_pool/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_pool::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRoiPoolForwardProblem;

/// Of pixel numbers, as wide as the sums: beside float int32, beside double a double, which holds them exactly.
template <class D>
using NumberTag = std::conditional_t<sizeof(hn::TFromD<D>) == 4, hn::RebindToSigned<D>, D>;

template <class D>
HWY_INLINE void store_numbers(hn::Vec<NumberTag<D>> v, D, std::int32_t* to) {
  const hn::Rebind<std::int32_t, D> d32;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    hn::StoreU(v, d32, to);
  } else {
    hn::StoreU(hn::DemoteTo(d32, v), d32, to);
  }
}

/// One bin that has pixels: kWide vectors of channels from `image`, `output` and `argmax` on.
template <int kWide, class T, class D>
HWY_INLINE void pool(D d, const Shape& s, const Pixels& rows, const Pixels& cols, const T* image, T* output,
                     std::int32_t* argmax) {
  const NumberTag<D> dn;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> best[kWide];
  hn::Vec<NumberTag<D>> pixel[kWide];
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) {
    best[v] = hn::Set(d, static_cast<hn::TFromD<D>>(std::numeric_limits<float>::lowest()));
    pixel[v] = hn::Set(dn, -1);
  }
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (std::int64_t x = cols.first; x < cols.end; ++x) {
      const std::int64_t at = y * s.w + x;
      const auto here = hn::Set(dn, static_cast<hn::TFromD<NumberTag<D>>>(at));
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) {
        const auto value = load(d, image + at * s.c + v * lanes);
        const auto greater = hn::Gt(value, best[v]);
        best[v] = hn::IfThenElse(greater, value, best[v]);
        pixel[v] = hn::IfThenElse(hn::RebindMask(dn, greater), here, pixel[v]);
      }
    }
  }
  MLUOPS_UNROLL
  for (int v = 0; v < kWide; ++v) {
    store(best[v], d, output + v * lanes);
    if (argmax != nullptr) store_numbers(pixel[v], d, argmax + v * lanes);
  }
}

/// The bins of a row.
template <class T>
void pool_row(const ForwardProblem& p, std::int64_t roi_index, std::int64_t row) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Roi<A> roi(static_cast<const T*>(p.rois) + 5 * roi_index, s);
  const T* const image = static_cast<const T*>(p.input) + roi.image * s.h * s.w * s.c;
  const Pixels rows = roi.rows(row);
  for (std::int64_t col = 0; col < s.pooled_w; ++col) {
    const Pixels cols = roi.x.of(col);
    const std::int64_t bin = ((roi_index * s.pooled_h + row) * s.pooled_w + col) * s.c;
    T* const output = static_cast<T*>(p.output) + bin;
    std::int32_t* const argmax = p.argmax == nullptr ? nullptr : p.argmax + bin;
    if (rows.empty() || cols.empty()) {
      std::fill_n(output, s.c, T{});
      if (argmax != nullptr) std::fill_n(argmax, s.c, -1);
      continue;
    }
    for_wide<A, 4>(s.c, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      pool<decltype(vectors)::value>(d, s, rows, cols, image + c, output + c, argmax == nullptr ? nullptr : argmax + c);
    });
  }
}

template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  const Shape& s = p.shape;
  constexpr double kUsualPixels = 16;
  const double row_ns = kUsualPixels * cost::kPool * static_cast<double>(s.pooled_w * s.c);
  Loop(context, call, s.rois * s.pooled_h, row_ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) pool_row<T>(p, item / s.pooled_h, item % s.pooled_h);
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  static constexpr Path<ForwardProblem> kPaths[] = {{"rows", always<ForwardProblem>, by_rows<T>}};
  return run_path(context, call, p, kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsRoiPoolForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_pool::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(roi_pool_forward, roi_pool, forward, mluopsRoiPoolForwardProblem)

}  // namespace mluops::cpu
#endif
