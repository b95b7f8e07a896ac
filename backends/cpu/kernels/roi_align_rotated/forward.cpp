// RoiAlignRotated forward: a bin of the output is the mean of bilinear samples of the input.
//
// input [B,H,W,C], rois [R,6], output [R,PH,PW,C]. An item is a row of bins of a RoI and owns it. The samples of a bin
// are found some at a time, for all channels; the sums of some vectors of channels stay in registers while they go by:
// 8 flops on 4 loads a sample and channel, bound by the caches the map lies in. NCHW goes through transposes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/roi_align_rotated/forward.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/roi_align_rotated/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace {

using ForwardProblem = mluopsRoiAlignRotatedForwardProblem;

/// The sum of a bin: samples collected, then added to all channels.
template <class T>
class BinSum {
 public:
  using A = Acc<T>;

  BinSum(const T* image, std::int64_t channels, A* sums) : image_(image), channels_(channels), sums_(sums) {}

  void begin(double scale) {
    scale_ = scale;
    count_ = 0;
    std::fill_n(sums_, channels_, A{0});
  }
  void add(const FourPixels& sample) {
    for (std::size_t k = 0; k < 4; ++k) {
      pixels_[count_] = image_ + sample.pixel[k] * channels_;
      weights_[count_++] = static_cast<A>(sample.weight[k] * scale_);
    }
    if (count_ == kMost) flush();
  }
  void store_to(T* output) {
    flush();
    store_row(sums_, output, channels_);
  }

 private:
  static constexpr std::size_t kMost = 128;

  void flush() {
    for_wide<A, 4>(channels_, [&](auto d, auto vectors, std::int64_t c) HWY_ATTR {
      constexpr int kWide = decltype(vectors)::value;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
      hn::Vec<decltype(d)> sum[kWide];
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) sum[v] = hn::LoadU(d, sums_ + c + v * lanes);
      for (std::size_t i = 0; i < count_; ++i) {
        const auto weight = hn::Set(d, weights_[i]);
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) sum[v] = hn::MulAdd(weight, load(d, pixels_[i] + c + v * lanes), sum[v]);
      }
      MLUOPS_UNROLL
      for (int v = 0; v < kWide; ++v) hn::StoreU(sum[v], d, sums_ + c + v * lanes);
    });
    count_ = 0;
  }

  const T* image_;
  std::int64_t channels_;
  A* sums_;
  double scale_ = 0;
  std::size_t count_ = 0;
  const T* pixels_[kMost];
  A weights_[kMost];
};

template <class T>
mluOpStatus_t by_rows(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  constexpr double kUsualSamples = 4;
  const double row_ns = kUsualSamples * static_cast<double>(s.pooled_w * s.c) * cost::kElement;
  const Loop loop(context, call, s.rois * s.pooled_h, row_ns);
  A* const sums = context.arena.reserve_array<A>(loop.slots(), s.c);
  if (sums == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t item = begin; item < end; ++item) {
      const auto roi = RotatedRoi::read<T>(p, item / s.pooled_h);
      BinSum<T> sum(static_cast<const T*>(p.input) + roi.image * s.h * s.w * s.c, s.c, sums + slot * s.c);
      for (std::int64_t column = 0; column < s.pooled_w; ++column) {
        sum.begin(roi.inverse_count);
        roi.for_each_sample(item % s.pooled_h, column, [&](const FourPixels& sample) { sum.add(sample); });
        sum.store_to(static_cast<T*>(p.output) + (item * s.pooled_w + column) * s.c);
      }
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const ForwardProblem& p) {
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  static constexpr Path<ForwardProblem> kPaths[] = {{"rows", always<ForwardProblem>, by_rows<T>}};
  static constexpr Path<ForwardProblem> kNchwPaths[] = {
      layout::kTransposed<operators::roi_align_rotated_forward, ForwardProblem>};
  return run_path(context, call, p, p.layout == MLUOP_LAYOUT_NCHW ? kNchwPaths : kPaths);
}

MLUOPS_CPU_KERNEL(forward, mluopsRoiAlignRotatedForwardProblem, with_element)

}  // namespace
}  // namespace mluops::cpu::roi_align_rotated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
MLUOPS_CPU_ENTRY(roi_align_rotated_forward, roi_align_rotated, forward, mluopsRoiAlignRotatedForwardProblem)
#endif
