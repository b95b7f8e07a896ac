#include "test/reference/roi_align_rotated.h"

#include <cmath>

#include "test/reference/bilinear.h"
#include "test/reference/samples.h"

namespace mluops::reference {
namespace {

using Shape = mluopsRoiAlignRotatedShape;

// Along one side of a RoI, from its centre: a circle that the map lies in.
struct Circle {
  double middle, radius;
};

// Distances from the centre, along one side, of the samples of one bin.
Samples samples(const Shape& s, double size, std::int64_t bin, std::int64_t bins, const Circle& map) {
  if (s.aligned == 0) size = std::fmax(size, 1.0);
  const double bin_size = size / static_cast<double>(bins);
  const std::int64_t count = std::isfinite(size) ? sample_count(bin_size, s.sample_ratio) : 0;
  return samples_between(count, map.middle - map.radius, map.middle + map.radius, [&](std::int64_t i) {
    const double inside_bin = (static_cast<double>(i) + 0.5) * bin_size / static_cast<double>(count);
    return -size / 2 + static_cast<double>(bin) * bin_size + inside_bin;
  });
}

// body(bin, pixel, weight) for all pixels of all samples; both count pixels of the tensors.
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Body body) {
  const Shape& s = p.shape;
  const Values rois = decode(s.dtype, p.rois, 6 * s.rois);
  const double shift = s.aligned != 0 ? 0.5 : 0;
  for (std::int64_t bin = 0; bin < s.rois * s.pooled_h * s.pooled_w; ++bin) {
    const double* const roi = &rois[bin / (s.pooled_h * s.pooled_w) * 6];
    const double centre_x = roi[1] * p.exact_spatial_scale - shift, centre_y = roi[2] * p.exact_spatial_scale - shift;
    const double cos = std::cos(roi[5]), sin = s.clockwise != 0 ? -std::sin(roi[5]) : std::sin(roi[5]);
    const double map_y = static_cast<double>(s.h) / 2 - centre_y, map_x = static_cast<double>(s.w) / 2 - centre_x;
    const double radius = std::hypot(static_cast<double>(s.h), static_cast<double>(s.w)) / 2 + 2;
    const Samples rows = samples(s, roi[4] * p.exact_spatial_scale, bin / s.pooled_w % s.pooled_h, s.pooled_h,
                                 {map_y * cos + map_x * sin, radius});
    const Samples columns =
        samples(s, roi[3] * p.exact_spatial_scale, bin % s.pooled_w, s.pooled_w, {map_x * cos - map_y * sin, radius});
    const double count = static_cast<double>(rows.count) * static_cast<double>(columns.count);
    for (const double down : rows.at) {
      for (const double across : columns.at) {
        const Axis y = locate(down * cos - across * sin + centre_y, s.h);
        const Axis x = locate(down * sin + across * cos + centre_x, s.w);
        if (!y.inside || !x.inside) continue;
        const std::int64_t image = static_cast<std::int64_t>(roi[0]) * s.h;
        body(bin, (image + y.low) * s.w + x.low, (1 - y.fraction) * (1 - x.fraction) / count);
        body(bin, (image + y.low) * s.w + x.high, (1 - y.fraction) * x.fraction / count);
        body(bin, (image + y.high) * s.w + x.low, y.fraction * (1 - x.fraction) / count);
        body(bin, (image + y.high) * s.w + x.high, y.fraction * x.fraction / count);
      }
    }
  }
}

}  // namespace

Values roi_align_rotated_forward(const mluopsRoiAlignRotatedForwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c), 0.0);
  for_each_pixel(p, [&](std::int64_t bin, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) output[bin * s.c + c] += weight * input[pixel * s.c + c];
  });
  return output;
}

Values roi_align_rotated_backward(const mluopsRoiAlignRotatedBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.rois * s.pooled_h * s.pooled_w * s.c);
  Values grad_input(static_cast<std::size_t>(s.batch * s.h * s.w * s.c), 0.0);
  for_each_pixel(p, [&](std::int64_t bin, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) grad_input[pixel * s.c + c] += weight * grad[bin * s.c + c];
  });
  return grad_input;
}

}  // namespace mluops::reference
