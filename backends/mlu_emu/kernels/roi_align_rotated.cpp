// RoiAlignRotated as device code. input [batch,h,w,c], rois [rois,6], output [rois,ph,pw,c].
//
// A task owns the bins taskId, taskId + taskDim, ... Forward: the four pixels of the next sample are loaded while those
// of this one are computed with. Backward: grad_output of the next bin is loaded while that of this one is added
// atomically to the pixels of its samples. Samples are placed in float, values are in T. Two operations per element
// read: bound by memory.
#include <algorithm>
#include <cmath>
#include <string>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/bilinear.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/kernels/pipeline.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/roi_align_rotated.h"
#include "common/shape.h"
#include "mluops/problem/roi_align_rotated.h"

namespace mluops::emu {
namespace {

using Shape = mluopsRoiAlignRotatedShape;
constexpr std::int64_t kNumbers = 6;  // of a RoI
constexpr int kNeighbours = 4;

/// One side of a RoI: its bins and the samples in each, as distances from the centre.
struct Side {
  float size, bin;
  std::int64_t grid = 0;

  Side(const Shape& s, float length, std::int64_t bins)
      : size(s.aligned != 0 ? length : std::fmax(length, 1.0f)), bin(size / static_cast<float>(bins)) {
    if (!std::isfinite(size)) return;
    grid = s.sample_ratio > 0 ? s.sample_ratio : std::max(to_int32(std::ceil(bin)), 0);
  }
  float at(std::int64_t index, std::int64_t sample) const {
    return size / -2.0f + static_cast<float>(index) * bin +
           (static_cast<float>(sample) + 0.5f) * bin / static_cast<float>(grid);
  }
};

struct Roi {
  std::int64_t batch;
  float x, y, angle;
  Side height, width;

  /// `numbers` is a row of rois: batch, x, y, width, height, rotation.
  template <class T>
  Roi(const Shape& s, const T* numbers)
      : batch(to_int32(numbers[0])),
        x(static_cast<float>(numbers[1]) * s.spatial_scale - (s.aligned != 0 ? 0.5f : 0.0f)),
        y(static_cast<float>(numbers[2]) * s.spatial_scale - (s.aligned != 0 ? 0.5f : 0.0f)),
        angle(s.clockwise != 0 ? -static_cast<float>(numbers[5]) : static_cast<float>(numbers[5])),
        height(s, static_cast<float>(numbers[4]) * s.spatial_scale, s.pooled_h),
        width(s, static_cast<float>(numbers[3]) * s.spatial_scale, s.pooled_w) {}
};

/// The samples of one bin that lie on the map, one after the other.
class Samples {
 public:
  Samples(const Shape& s, const Roi& roi, std::int64_t bin)
      : shape_(s),
        roi_(roi),
        row_(bin / s.pooled_w % s.pooled_h),
        column_(bin % s.pooled_w),
        cos_(__cn_scalar_cos_f32(roi.angle)),
        sin_(__cn_scalar_sin_f32(roi.angle)) {}

  std::int64_t count() const { return roi_.height.grid * roi_.width.grid; }
  void restart() { next_ = 0; }
  bool next(Sample<float>& sample) {
    while (next_ < count()) {
      const float down = roi_.height.at(row_, next_ / roi_.width.grid);
      const float across = roi_.width.at(column_, next_ % roi_.width.grid);
      ++next_;
      const float y = down * cos_ - across * sin_ + roi_.y, x = down * sin_ + across * cos_ + roi_.x;
      if (std::isnan(y) || std::isnan(x)) continue;
      sample = {sample_axis(y, shape_.h), sample_axis(x, shape_.w)};
      if (!sample.outside()) return true;
    }
    return false;
  }
  /// First element of a neighbour's pixel.
  std::int64_t pixel(const Sample<float>& sample, int i) const {
    return ((roi_.batch * shape_.h + sample.neighbour_y(i)) * shape_.w + sample.neighbour_x(i)) * shape_.c;
  }

 private:
  const Shape& shape_;
  Roi roi_;
  std::int64_t row_, column_, next_ = 0;
  float cos_, sin_;
};

template <class T>
class Kernel {
 public:
  Kernel(const Shape& shape, const void* rois, const plan::RoiAlignRotatedPlan& plan, char* nram)
      : shape_(shape), plan_(plan), rois_(static_cast<const T*>(rois)), nram_(nram) {}

  void forward(const T* input, T* output) const {
    for (std::int64_t bin = taskId; bin < plan_.bins; bin += taskDim) {
      Samples samples = load_samples(bin);
      for (std::int64_t i = 0; i < plan_.segments(); ++i) {
        forward_segment(samples, plan_.segment(i), input, output + bin * shape_.c);
      }
    }
  }

  /// Items are the segments of the task's bins.
  void backward(const T* grad_output, T* grad_input) const {
    std::int64_t item = 0;
    const auto bin_of = [&](std::int64_t i) { return taskId + i / plan_.segments() * taskDim; };
    const auto segment_of = [&](std::int64_t i) { return plan_.segment(i % plan_.segments()); };
    run_ahead<std::int64_t>(
        [&](std::int64_t& next) {
          next = item++;
          return bin_of(next) < plan_.bins;
        },
        [&](std::int64_t i, int side) {
          const plan::Share channels = segment_of(i);
          __memcpy_async(buffer(side), grad_output + bin_of(i) * shape_.c + channels.begin,
                         bytes_of<T>(channels.size()), GDRAM2NRAM);
        },
        [&](std::int64_t i, int side) { scatter(bin_of(i), segment_of(i), buffer(side), grad_input); });
  }

 private:
  T* buffer(int side) const { return reinterpret_cast<T*>(nram_ + plan_.buffer[side]); }
  T* row(int side, int i) const { return buffer(side) + i * plan_.deal; }

  Samples load_samples(std::int64_t bin) const {
    T* numbers = reinterpret_cast<T*>(nram_ + plan_.roi);
    const std::int64_t roi = bin / (shape_.pooled_h * shape_.pooled_w);
    __memcpy(numbers, rois_ + roi * kNumbers, bytes_of<T>(kNumbers), GDRAM2NRAM);
    return Samples(shape_, Roi(shape_, numbers), bin);
  }
  static T reciprocal(const Samples& samples) {
    return T(1.0f / static_cast<float>(std::max<std::int64_t>(samples.count(), 1)));
  }

  void forward_segment(Samples& samples, plan::Share channels, const T* input, T* output) const {
    const std::int64_t n = round_up(channels.size(), plan_.lanes);
    T* sum = reinterpret_cast<T*>(nram_ + plan_.output);
    __bang_write_value(sum, n, T(0.0f));
    samples.restart();
    run_ahead<Sample<float>>([&](Sample<float>& sample) { return samples.next(sample); },
                             [&](const Sample<float>& sample, int side) {
                               for (int i = 0; i < kNeighbours; ++i) {
                                 __memcpy_async(row(side, i), input + samples.pixel(sample, i) + channels.begin,
                                                bytes_of<T>(channels.size()), GDRAM2NRAM);
                               }
                             },
                             [&](const Sample<float>& sample, int side) { interpolate(sum, sample, side, n); });
    __bang_mul_scalar(sum, sum, reciprocal(samples), n);
    __memcpy(output + channels.begin, sum, bytes_of<T>(channels.size()), NRAM2GDRAM);
  }

  /// sum += ((w1 v1 + w2 v2) + w3 v3) + w4 v4.
  void interpolate(T* sum, const Sample<float>& sample, int side, std::int64_t n) const {
    for (int i = 0; i < kNeighbours; ++i) {
      __bang_mul_scalar(row(side, i), row(side, i), T(sample.weight(i)), n);
      if (i > 0) __bang_add(row(side, 0), row(side, 0), row(side, i), n);
    }
    __bang_add(sum, sum, row(side, 0), n);
  }

  /// Adds the gradients of a bin to the pixels of its samples.
  void scatter(std::int64_t bin, plan::Share channels, T* gradient, T* grad_input) const {
    Samples samples = load_samples(bin);
    T* part = gradient + plan_.deal;
    const std::int64_t n = round_up(channels.size(), plan_.lanes);
    __bang_mul_scalar(gradient, gradient, reciprocal(samples), n);
    Sample<float> sample;
    while (samples.next(sample)) {
      for (int i = 0; i < kNeighbours; ++i) {
        __bang_mul_scalar(part, gradient, T(sample.weight(i)), n);
        __bang_atomic_reduce_add(grad_input + samples.pixel(sample, i) + channels.begin, part, channels.size());
      }
    }
  }

  const Shape& shape_;
  const plan::RoiAlignRotatedPlan& plan_;
  const T* rois_;
  char* nram_;
};

/// Looks at the RoIs before anything is written: the reason why their grids are too large, or an empty text.
template <class T>
std::string refuse_grids(const Shape& s, const void* rois) {
  std::int64_t samples = 0;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const Roi roi(s, static_cast<const T*>(rois) + r * kNumbers);
    std::string reason = plan::count_samples(s.pooled_h * s.pooled_w, roi.height.grid, roi.width.grid, samples);
    if (!reason.empty()) return "roi " + std::to_string(r) + ": " + reason;
  }
  return {};
}

struct Sizes {
  std::int64_t map, rois, bins;

  explicit Sizes(const Shape& s) {
    const std::int64_t element = plan::element_bytes(s.dtype);
    map = s.batch * s.h * s.w * s.c * element;
    rois = s.rois * kNumbers * element;
    bins = s.rois * s.pooled_h * s.pooled_w * s.c * element;
  }
};

template <class T>
mluOpStatus_t run_forward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedForwardProblem& p) {
  const auto plan = plan::plan_roi_align_rotated(p.shape, plan::Direction::kForward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const std::string refusal = refuse_grids<T>(p.shape, p.rois);
  if (!refusal.empty()) return not_supported(call, refusal);
  const Sizes bytes(p.shape);
  return launch(
      context, call, "roi_align_rotated_forward", plan,
      {reads("features", p.input, bytes.map), reads("rois", p.rois, bytes.rois),
       writes("output", p.output, bytes.bins)},
      [&](char* nram) {
        Kernel<T>(p.shape, p.rois, plan, nram).forward(static_cast<const T*>(p.input), static_cast<T*>(p.output));
      });
}

template <class T>
mluOpStatus_t run_backward(Context& context, const mluopsCall& call, const mluopsRoiAlignRotatedBackwardProblem& p) {
  const auto plan = plan::plan_roi_align_rotated(p.shape, plan::Direction::kBackward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const std::string refusal = refuse_grids<T>(p.shape, p.rois);
  if (!refusal.empty()) return not_supported(call, refusal);
  const Sizes bytes(p.shape);
  fill_zero(context, "bottom_grad", p.grad_input, bytes.map);
  if (plan.bins == 0) return MLUOP_STATUS_SUCCESS;
  return launch(context, call, "roi_align_rotated_backward", plan,
                {reads("top_grad", p.grad_output, bytes.bins), reads("rois", p.rois, bytes.rois),
                 updates("bottom_grad", p.grad_input, bytes.map)},
                [&](char* nram) {
                  Kernel<T>(p.shape, p.rois, plan, nram)
                      .backward(static_cast<const T*>(p.grad_output), static_cast<T*>(p.grad_input));
                });
}

}  // namespace

mluOpStatus_t roi_align_rotated_forward(Context& context, const mluopsCall& call,
                                        const mluopsRoiAlignRotatedForwardProblem& p) {
  return p.shape.dtype == MLUOP_DTYPE_HALF ? run_forward<half>(context, call, p) : run_forward<float>(context, call, p);
}

mluOpStatus_t roi_align_rotated_backward(Context& context, const mluopsCall& call,
                                         const mluopsRoiAlignRotatedBackwardProblem& p) {
  return p.shape.dtype == MLUOP_DTYPE_HALF ? run_backward<half>(context, call, p)
                                           : run_backward<float>(context, call, p);
}

}  // namespace mluops::emu
