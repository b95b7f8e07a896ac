#include "test/reference/bezier_align.h"

#include <cmath>

#include "test/reference/bilinear.h"
#include "test/reference/samples.h"

namespace mluops::reference {
namespace {

using Shape = mluopsBezierAlignShape;

struct Point {
  double x, y;
};

Point mix(const Point& a, const Point& b, double t) {
  return {(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y};
}

// De Casteljau's construction: mixes of neighbours until one point is left.
Point on_curve(std::vector<Point> points, double t) {
  while (points.size() > 1) {
    for (std::size_t i = 0; i + 1 < points.size(); ++i) points[i] = mix(points[i], points[i + 1], t);
    points.pop_back();
  }
  return points[0];
}

// Coordinates of the samples of a bin, on an axis of `size` pixels.
Samples samples(const Shape& s, double middle, double bin, std::int64_t size) {
  const std::int64_t count = std::isfinite(bin) ? sample_count(bin, s.sampling_ratio) : 0;
  return samples_between(count, -1, static_cast<double>(size), [&](std::int64_t i) {
    return middle + ((static_cast<double>(i) + 0.5) / static_cast<double>(count) - 0.5) * bin;
  });
}

double size_of(const Shape& s, double upper, double lower) {
  const double size = std::fmax(std::fabs(upper), std::fabs(lower));
  return s.aligned != 0 ? size : std::fmax(size, 1.0);
}

// body(bin, pixel, weight) for all pixels of all samples; both count pixels of the tensors.
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Body body) {
  const Shape& s = p.shape;
  const Values beziers = decode(s.dtype, p.beziers, 17 * s.rois);
  const double shift = s.aligned != 0 ? 0.5 : 0;
  for (std::int64_t bin = 0; bin < s.rois * s.pooled_h * s.pooled_w; ++bin) {
    const double* const roi = &beziers[bin / (s.pooled_h * s.pooled_w) * 17];
    std::vector<Point> upper, lower;
    for (int i = 0; i < 4; ++i) {
      upper.push_back({roi[1 + 2 * i] * p.exact_spatial_scale, roi[2 + 2 * i] * p.exact_spatial_scale});
      lower.insert(lower.begin(), {roi[9 + 2 * i] * p.exact_spatial_scale, roi[10 + 2 * i] * p.exact_spatial_scale});
    }
    const double width = size_of(s, upper[0].x - upper[3].x, lower[0].x - lower[3].x);
    const double height = size_of(s, upper[0].y - upper[3].y, lower[0].y - lower[3].y);
    const double u = static_cast<double>(bin % s.pooled_w) / static_cast<double>(s.pooled_w);
    const double v = static_cast<double>(bin / s.pooled_w % s.pooled_h) / static_cast<double>(s.pooled_h);
    const Point middle = mix(on_curve(upper, u), on_curve(lower, u), v);
    const Samples rows = samples(s, middle.y - shift, height / static_cast<double>(s.pooled_h), s.h);
    const Samples columns = samples(s, middle.x - shift, width / static_cast<double>(s.pooled_w), s.w);
    const double count = static_cast<double>(rows.count) * static_cast<double>(columns.count);
    for (const double at_y : rows.at) {
      const Axis y = locate(at_y, s.h);
      if (!y.inside) continue;
      for (const double at_x : columns.at) {
        const Axis x = locate(at_x, s.w);
        if (!x.inside) continue;
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

Values bezier_align_forward(const mluopsBezierAlignForwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c), 0.0);
  for_each_pixel(p, [&](std::int64_t bin, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) output[bin * s.c + c] += weight * input[pixel * s.c + c];
  });
  return output;
}

Values bezier_align_backward(const mluopsBezierAlignBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.rois * s.pooled_h * s.pooled_w * s.c);
  Values grad_input(static_cast<std::size_t>(s.batch * s.h * s.w * s.c), 0.0);
  for_each_pixel(p, [&](std::int64_t bin, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) grad_input[pixel * s.c + c] += weight * grad[bin * s.c + c];
  });
  return grad_input;
}

}  // namespace mluops::reference
