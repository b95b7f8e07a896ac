#include "bench/cases/builders.h"
#include "bench/cases/touched.h"

namespace bench {
namespace {

namespace ref = mluops::reference;

constexpr float kGamma = 0.1f;

mluopsDeformRoiPoolShape shape_of(const DeformRoiPoolSizes& s, mluOpDataType_t dtype) {
  return {dtype, s.b, s.h, s.w, s.c, s.rois, s.pooled, s.pooled, s.scale, kGamma, s.sampling_ratio};
}

// RoIs of 16 pixels to a third of the image; their corners lie in the upper left 60 % times `spread`.
std::vector<float> make_rois(const DeformRoiPoolSizes& s, mluOpDataType_t dtype) {
  const double height = static_cast<double>(s.h) / s.scale, width = static_cast<double>(s.w) / s.scale;
  std::vector<float> rois;
  for (std::int64_t i = 0; i < s.rois; ++i) {
    const auto u = [&](std::int64_t j) { return unit_random(11, 5 * i + j); };
    const double batch = std::floor(u(0) * static_cast<double>(s.b));
    const double x = u(1) * width * 0.6 * s.spread, y = u(2) * height * 0.6 * s.spread;
    for (const double v : {batch, x, y, x + 16 + u(3) * width * 0.35, y + 16 + u(4) * height * 0.35}) {
      rois.push_back(static_cast<float>(rounded(dtype, v)));
    }
  }
  return rois;
}

std::vector<float> make_offsets(const DeformRoiPoolSizes& s, mluOpDataType_t dtype) {
  std::vector<float> offsets(static_cast<std::size_t>(s.rois * 2 * s.pooled * s.pooled));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<float>(rounded(dtype, unit_random(13, static_cast<std::int64_t>(i)) * 2 - 1));
  }
  return offsets;
}

// All samples of one RoI, bin by bin.
void touch_roi(TouchedPixels& touched, const DeformRoiPoolSizes& s, const float* roi, const float* offset) {
  const double scale = static_cast<double>(s.scale), gamma = static_cast<double>(kGamma);
  const double x0 = roi[1] * scale - 0.5, y0 = roi[2] * scale - 0.5;
  const double width = roi[3] * scale - 0.5 - x0, height = roi[4] * scale - 0.5 - y0;
  const int bins = s.pooled * s.pooled, grid = s.sampling_ratio;
  for (int bin = 0; bin < bins; ++bin) {
    const double dx = offset == nullptr ? 0 : gamma * width * offset[bin];
    const double dy = offset == nullptr ? 0 : gamma * height * offset[bins + bin];
    for (int i = 0; i < grid * grid; ++i) {
      const double y = y0 + dy + (bin / s.pooled + (i / grid + 0.5) / grid) * height / s.pooled;
      const double x = x0 + dx + (bin % s.pooled + (i % grid + 0.5) / grid) * width / s.pooled;
      touched.sample(static_cast<std::int64_t>(roi[0]), y, x);
    }
  }
}

TouchedPixels touch(const DeformRoiPoolSizes& s, const std::vector<float>& rois, const std::vector<float>& offsets) {
  TouchedPixels touched(s.b, s.h, s.w);
  for (std::int64_t r = 0; r < s.rois; ++r) {
    touch_roi(touched, s, &rois[static_cast<std::size_t>(5 * r)],
              s.offset ? &offsets[static_cast<std::size_t>(r * 2 * s.pooled * s.pooled)] : nullptr);
  }
  return touched;
}

void set_forward(Case& c, const DeformRoiPoolSizes& s) {
  // tensors: input, rois, [offset,] output
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    const Argument offset = s.offset ? t[2] : Argument{}, output = t.back();
    return mluOpDeformRoiPoolForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, offset.desc, offset.data,
                                     s.pooled, s.pooled, s.scale, s.sampling_ratio, kGamma, output.desc, output.data);
  };
  c.reference = [s, shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates coordinates) {
    const void* offset = s.offset ? in[2] : nullptr;
    return std::vector<Values>{ref::deform_roi_pool_forward({shape, in[0], in[1], offset, nullptr}, coordinates)};
  };
}

void set_backward(Case& c, const DeformRoiPoolSizes& s) {
  // tensors: grad_output, input, rois, [offset,] grad_input [, grad_offset]
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    const Argument offset = s.offset ? t[3] : Argument{}, grad_input = t[s.offset ? 4 : 3];
    const Argument grad_offset = s.offset ? t[5] : Argument{};
    return mluOpDeformRoiPoolBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                      offset.desc, offset.data, s.pooled, s.pooled, s.scale, s.sampling_ratio, kGamma,
                                      grad_input.desc, grad_input.data, grad_offset.desc, grad_offset.data);
  };
  c.reference = [s, shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates coordinates) {
    ref::DeformRoiPoolGradients g = ref::deform_roi_pool_backward(
        {shape, in[0], in[1], in[2], s.offset ? in[3] : nullptr, nullptr, nullptr}, coordinates);
    std::vector<Values> outputs = {std::move(g.input)};
    if (s.offset) outputs.push_back(std::move(g.offset));
    return outputs;
  };
}

std::vector<Tensor> tensors_of(const DeformRoiPoolSizes& s, Direction direction, mluOpDataType_t dtype,
                               std::vector<float> rois, std::vector<float> offsets) {
  const mluOpTensorLayout_t nhwc = MLUOP_LAYOUT_NHWC, array = MLUOP_LAYOUT_ARRAY;
  const std::vector<std::int64_t> map = {s.b, s.h, s.w, s.c}, bins = {s.rois, s.pooled, s.pooled, s.c};
  const std::vector<std::int64_t> shifts = {s.rois, 2, s.pooled, s.pooled};
  const bool forward = direction == Direction::forward;
  std::vector<Tensor> t;
  if (!forward) t.push_back({"grad_output", nhwc, dtype, bins, uniform(-1, 1, 3)});
  t.push_back({"input", nhwc, dtype, map, uniform(-1, 1, 1)});
  t.push_back({"rois", array, dtype, {s.rois, 5}, given(std::move(rois))});
  if (s.offset) t.push_back({"offset", array, dtype, shifts, given(std::move(offsets))});
  t.push_back({forward ? "output" : "grad_input", nhwc, dtype, forward ? bins : map, {}});
  if (s.offset && !forward) t.push_back({"grad_offset", array, dtype, shifts, {}});
  return t;
}

}  // namespace

Case make_deform_roi_pool(const DeformRoiPoolSizes& s, Direction direction, mluOpDataType_t dtype) {
  const bool forward = direction == Direction::forward;
  Case c;
  c.op = forward ? "deform_roi_pool_forward" : "deform_roi_pool_backward";
  c.shape = bracketed({s.b, s.h, s.w, s.c}) + " R" + std::to_string(s.rois) + (s.offset ? " offset" : "");
  c.dtype = dtype;
  const std::vector<float> rois = make_rois(s, dtype), offsets = make_offsets(s, dtype);
  const TouchedPixels touched = touch(s, rois, offsets);
  c.tensors = tensors_of(s, direction, dtype, rois, offsets);
  // The gradient of the input alone does not need the input.
  Tensor& input = c.tensors[forward ? 0 : 1];
  input.touched = forward || s.offset ? touched.share() : 0;
  input.runs = runs_of(touched, s.b, 1, s.c);
  // Four multiply-adds per sample and channel; the gradient of the offset needs four more.
  const double per_sample = !forward && s.offset ? 16 : 8;
  c.flops = per_sample * static_cast<double>(touched.samples_inside() * s.c);
  forward ? set_forward(c, s) : set_backward(c, s);
  return c;
}

}  // namespace bench
