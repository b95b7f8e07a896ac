// PsRoiPool as device code. input [batch,h,w,output_dim*ph*pw], rois [rois,5], output and mapping_channel
// [rois,ph,pw,output_dim]; float.
//
// Forward: a task owns RoIs. Channels of a bin lie ph * pw apart, so of each pixel all channels are loaded and
// transposed, and one row of that is added: ph * pw times the traffic the bin needs, bound by memory. Backward: a task
// owns bins; every number is added atomically to each pixel of its bin. Both run in sequence, as documented.
#include <algorithm>
#include <cmath>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/bilinear.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/ps_roi_pool.h"
#include "common/round.h"
#include "mluops/problem/ps_roi_pool.h"

namespace mluops::emu {
namespace {

using Shape = mluopsPsRoiPoolShape;

/// A RoI along one axis of `size` pixels, in bins.
struct Side {
  float start, bin;
  std::int64_t size;

  Side(float low, float high, float scale, std::int64_t bins, std::int64_t pixels) : size(pixels) {
    start = round_half_away(low) * scale;
    const float length = (round_half_away(high) + 1.0f) * scale - start;
    bin = (length < 0.1f ? 0.1f : length) / static_cast<float>(bins);
  }
  plan::Share pixels(std::int64_t i) const { return {on_map(std::floor(edge(i))), on_map(std::ceil(edge(i + 1)))}; }

 private:
  float edge(std::int64_t i) const { return static_cast<float>(i) * bin + start; }
  std::int64_t on_map(float at) const { return std::clamp<std::int64_t>(to_int32(at), 0, size); }
};

struct Roi {
  std::int64_t batch;
  Side y, x;

  /// `corners` is a row of rois: batch, x1, y1, x2, y2.
  Roi(const Shape& s, const float* corners)
      : batch(to_int32(corners[0])),
        y(corners[2], corners[4], s.spatial_scale, s.pooled_h, s.h),
        x(corners[1], corners[3], s.spatial_scale, s.pooled_w, s.w) {}
};

/// The pixels of one bin of a RoI.
struct Bin {
  std::int64_t batch;
  plan::Share y, x;

  Bin(const Shape& s, const Roi& roi, std::int64_t bin)
      : batch(roi.batch), y(roi.y.pixels(bin / s.pooled_w)), x(roi.x.pixels(bin % s.pooled_w)) {}

  std::int64_t count() const { return std::max<std::int64_t>(y.size(), 0) * std::max<std::int64_t>(x.size(), 0); }
  /// visit(pixel of the map), row after row.
  template <class Visit>
  void for_pixels(const Shape& s, const Visit& visit) const {
    for (std::int64_t h = y.begin; h < y.end; ++h) {
      for (std::int64_t w = x.begin; w < x.end; ++w) visit((batch * s.h + h) * s.w + w);
    }
  }
};

std::int64_t bins_of(const Shape& s) {
  return s.pooled_h * s.pooled_w;
}

class Forward {
 public:
  Forward(const mluopsPsRoiPoolForwardProblem& problem, const plan::PsRoiPoolForwardPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        input_(static_cast<const float*>(problem.input)),
        rois_(static_cast<const float*>(problem.rois)),
        output_(static_cast<float*>(problem.output)),
        mapping_(problem.mapping_channel),
        sum_(reinterpret_cast<float*>(nram + plan.output)),
        channels_(reinterpret_cast<std::int32_t*>(nram + plan.mapping)),
        pixel_(reinterpret_cast<float*>(nram + plan.pixel)),
        transposed_(reinterpret_cast<float*>(nram + plan.transposed)) {}

  void run(std::int64_t index) const {
    __memcpy(pixel_, rois_ + 5 * index, bytes_of<float>(5), GDRAM2NRAM);
    const Roi roi(shape_, pixel_);
    for (std::int64_t bin = 0; bin < plan_.bins; ++bin) {
      for (std::int64_t c = 0; c < shape_.output_dim; c += plan_.deal) {
        run_part(Bin(shape_, roi, bin), bin, {c, std::min(c + plan_.deal, shape_.output_dim)},
                 (index * plan_.bins + bin) * shape_.output_dim + c);
      }
    }
  }

 private:
  /// `to`: the part's first element of the output.
  void run_part(const Bin& pixels, std::int64_t bin, plan::Share channels, std::int64_t to) const {
    __bang_write_value(sum_, plan_.deal, 0.0f);
    pixels.for_pixels(shape_, [&](std::int64_t pixel) { add(pixel, bin, channels); });
    const std::int64_t count = pixels.count();
    if (count > 0) __bang_mul_scalar(sum_, sum_, 1.0f / static_cast<float>(count), plan_.deal);
    __memcpy(output_ + to, sum_, bytes_of<float>(channels.size()), NRAM2GDRAM);
    if (mapping_ == nullptr) return;
    for (std::int64_t c = 0; c < channels.size(); ++c) {
      channels_[c] = static_cast<std::int32_t>((channels.begin + c) * plan_.bins + bin);
    }
    __memcpy(mapping_ + to, channels_, bytes_of<std::int32_t>(channels.size()), NRAM2GDRAM);
  }

  void add(std::int64_t pixel, std::int64_t bin, plan::Share channels) const {
    copy_rows(pixel_, input_ + (pixel * shape_.output_dim + channels.begin) * plan_.bins, bytes_of<float>(plan_.bins),
              channels.size(), {bytes_of<float>(plan_.padded_bins), bytes_of<float>(plan_.bins)}, GDRAM2NRAM);
    __bang_transpose(transposed_, pixel_, plan_.deal, plan_.padded_bins);
    __bang_add(sum_, sum_, transposed_ + bin * plan_.deal, plan_.deal);
  }

  const Shape& shape_;
  const plan::PsRoiPoolForwardPlan& plan_;
  const float *input_, *rois_;
  float* output_;
  std::int32_t* mapping_;
  float* sum_;
  std::int32_t* channels_;
  float *pixel_, *transposed_;
};

class Backward {
 public:
  Backward(const mluopsPsRoiPoolBackwardProblem& problem, const plan::PsRoiPoolBackwardPlan& plan, char* nram)
      : shape_(problem.shape),
        grad_output_(static_cast<const float*>(problem.grad_output)),
        rois_(static_cast<const float*>(problem.rois)),
        mapping_(problem.mapping_channel),
        grad_input_(static_cast<float*>(problem.grad_input)),
        numbers_(reinterpret_cast<float*>(nram + plan.grad_output)),
        channels_(reinterpret_cast<std::int32_t*>(nram + plan.mapping)),
        before_(reinterpret_cast<float*>(nram + plan.before)) {}

  /// Elements of grad_output, all of one bin or of bins that follow each other.
  void run(plan::Share elements) const {
    __memcpy(numbers_, grad_output_ + elements.begin, bytes_of<float>(elements.size()), GDRAM2NRAM);
    if (mapping_ != nullptr) {
      __memcpy(channels_, mapping_ + elements.begin, bytes_of<std::int32_t>(elements.size()), GDRAM2NRAM);
    }
    for (std::int64_t at = elements.begin; at < elements.end;) {
      const std::int64_t bin = at / shape_.output_dim, end = std::min(elements.end, (bin + 1) * shape_.output_dim);
      run_bin(bin, {at, end}, elements.begin);
      at = end;
    }
  }

 private:
  void run_bin(std::int64_t bin, plan::Share elements, std::int64_t loaded_from) const {
    const std::int64_t bins = bins_of(shape_), channels = bins * shape_.output_dim;
    __memcpy(before_, rois_ + 5 * (bin / bins), bytes_of<float>(5), GDRAM2NRAM);
    const Bin pixels(shape_, Roi(shape_, before_), bin % bins);
    const auto count = static_cast<float>(pixels.count());
    for (std::int64_t i = elements.begin; i < elements.end; ++i) {
      const float value = numbers_[i - loaded_from] / count;
      const std::int64_t usual = i % shape_.output_dim * bins + bin % bins;
      const std::int64_t channel = mapping_ == nullptr ? usual : channels_[i - loaded_from];
      if (channel < 0 || channel >= channels) continue;
      pixels.for_pixels(shape_, [&](std::int64_t pixel) {
        __bang_atomic_add(before_, grad_input_ + pixel * channels + channel, value);
      });
    }
  }

  const Shape& shape_;
  const float *grad_output_, *rois_;
  const std::int32_t* mapping_;
  float* grad_input_;
  float* numbers_;
  std::int32_t* channels_;
  float* before_;
};

void forward_kernel(const mluopsPsRoiPoolForwardProblem& problem, const plan::PsRoiPoolForwardPlan& plan, char* nram) {
  const Forward forward(problem, plan, nram);
  const plan::Share rois = plan::contiguous_share(plan.rois, taskDim, taskId);
  for (std::int64_t roi = rois.begin; roi < rois.end; ++roi) forward.run(roi);
}

void backward_kernel(const mluopsPsRoiPoolBackwardProblem& problem, const plan::PsRoiPoolBackwardPlan& plan,
                     char* nram) {
  const Backward backward(problem, plan, nram);
  const std::int64_t channels = problem.shape.output_dim;
  const plan::Share bins = plan::contiguous_share(plan.bins, taskDim, taskId);
  for (std::int64_t at = bins.begin * channels; at < bins.end * channels; at += plan.deal) {
    backward.run({at, std::min(at + plan.deal, bins.end * channels)});
  }
}

struct Sizes {
  std::int64_t map, rois, bins;

  explicit Sizes(const Shape& s)
      : map(bytes_of<float>(s.batch * s.h * s.w * bins_of(s) * s.output_dim)),
        rois(bytes_of<float>(s.rois * 5)),
        bins(bytes_of<float>(s.rois * bins_of(s) * s.output_dim)) {}
};

}  // namespace

mluOpStatus_t ps_roi_pool_forward(Context& context, const mluopsCall& call, const mluopsPsRoiPoolForwardProblem& p) {
  const auto plan = plan::plan_ps_roi_pool_forward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(p.shape);
  return launch(
      context, call, "ps_roi_pool_forward", plan,
      {reads("input", p.input, bytes.map), reads("rois", p.rois, bytes.rois), writes("output", p.output, bytes.bins),
       writes("mapping_channel", p.mapping_channel, p.mapping_channel == nullptr ? 0 : bytes.bins)},
      [&](char* nram) { forward_kernel(p, plan, nram); });
}

mluOpStatus_t ps_roi_pool_backward(Context& context, const mluopsCall& call, const mluopsPsRoiPoolBackwardProblem& p) {
  const auto plan = plan::plan_ps_roi_pool_backward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(p.shape);
  fill_zero(context, "bottom_grad", p.grad_input, bytes.map);
  if (p.shape.rois == 0) return MLUOP_STATUS_SUCCESS;
  return launch(context, call, "ps_roi_pool_backward", plan,
                {reads("top_grad", p.grad_output, bytes.bins), reads("rois", p.rois, bytes.rois),
                 reads("mapping_channel", p.mapping_channel, p.mapping_channel == nullptr ? 0 : bytes.bins),
                 updates("bottom_grad", p.grad_input, bytes.map)},
                [&](char* nram) { backward_kernel(p, plan, nram); });
}

}  // namespace mluops::emu
