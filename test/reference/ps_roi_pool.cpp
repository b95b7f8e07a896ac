#include "test/reference/ps_roi_pool.h"

#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsPsRoiPoolShape;

// Pixels first <= pixel < end of bin i of an axis; NaN is pixel 0.
std::pair<std::int64_t, std::int64_t> pixels_of(double low, double high, double spatial_scale, std::int64_t i,
                                                std::int64_t bins, std::int64_t map, const Rounding& r) {
  const double scale = r(spatial_scale), start = r.mul(std::round(low), scale);
  const double end = r.mul(r.add(std::round(high), 1), scale), shortest = r(0.1);
  double size = r.sub(end, start);
  if (size < shortest) size = shortest;
  const double bin = r.div(size, static_cast<double>(bins));
  const auto edge = [&](std::int64_t k) { return r.add(r.mul(static_cast<double>(k), bin), start); };
  const auto on_map = [&](double v) {
    return static_cast<std::int64_t>(std::isnan(v) ? 0 : std::clamp(v, 0.0, static_cast<double>(map)));
  };
  return {on_map(std::floor(edge(i))), on_map(std::ceil(edge(i + 1)))};
}

// body(element of the output, first element of a pixel of its bin, 1 / pixels of the bin).
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values rois = decode(s.dtype, p.rois, 5 * s.rois);
  const std::int64_t bins = s.pooled_h * s.pooled_w, channels = bins * s.output_dim;
  for (std::int64_t element = 0; element < s.rois * channels; ++element) {
    const double* const roi = &rois[static_cast<std::size_t>(element / channels * 5)];
    const std::int64_t bin = element / s.output_dim % bins;
    const auto [top, bottom] = pixels_of(roi[2], roi[4], p.exact_spatial_scale, bin / s.pooled_w, s.pooled_h, s.h, r);
    const auto [left, right] = pixels_of(roi[1], roi[3], p.exact_spatial_scale, bin % s.pooled_w, s.pooled_w, s.w, r);
    const double share = 1 / static_cast<double>((bottom - top) * (right - left));
    const std::int64_t image = static_cast<std::int64_t>(roi[0]) * s.h;
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = left; x < right; ++x) body(element, ((image + y) * s.w + x) * channels, share);
    }
  }
}

std::int64_t usual_channel(const Shape& s, std::int64_t element) {
  const std::int64_t bins = s.pooled_h * s.pooled_w;
  return element % s.output_dim * bins + element / s.output_dim % bins;
}

}  // namespace

PsRoiPoolResult ps_roi_pool_forward(const mluopsPsRoiPoolForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const std::int64_t channels = s.pooled_h * s.pooled_w * s.output_dim;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * channels);
  PsRoiPoolResult result;
  for (std::int64_t i = 0; i < s.rois * channels; ++i) {
    result.mapping_channel.push_back(static_cast<double>(usual_channel(s, i)));
  }
  result.output.assign(result.mapping_channel.size(), 0.0);
  for_each_pixel(p, coordinates, [&](std::int64_t element, std::int64_t pixel, double share) {
    result.output[element] += share * input[pixel + usual_channel(s, element)];
  });
  return result;
}

Values ps_roi_pool_backward(const mluopsPsRoiPoolBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const std::int64_t channels = s.pooled_h * s.pooled_w * s.output_dim;
  const Values grad = decode(s.dtype, p.grad_output, s.rois * channels);
  Values result(static_cast<std::size_t>(s.batch * s.h * s.w * channels), 0.0);
  for_each_pixel(p, coordinates, [&](std::int64_t element, std::int64_t pixel, double share) {
    const std::int64_t channel = p.mapping_channel == nullptr ? usual_channel(s, element) : p.mapping_channel[element];
    if (channel >= 0 && channel < channels) result[pixel + channel] += share * grad[element];
  });
  return result;
}

}  // namespace mluops::reference
