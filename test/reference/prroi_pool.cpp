#include "test/reference/prroi_pool.h"

#include <cmath>

namespace mluops::reference {
namespace {

using Shape = mluopsPrRoiPoolShape;

double hat(double t) {
  return std::fmax(0, 1 - std::fabs(t));
}

// The integral of hat from -1 to t.
double hat_integral(double t) {
  if (t <= -1) return 0;
  if (t >= 1) return 1;
  return t < 0 ? (t + 1) * (t + 1) / 2 : 1 - (1 - t) * (1 - t) / 2;
}

// A pixel that a bin reaches: the integral of its hat over the bin, and what that gains as the RoI's ends move.
struct Part {
  std::int64_t pixel;
  double integral, by_low, by_high;
};

std::vector<Part> parts_of(double low, double high, std::int64_t bin, std::int64_t bins, std::int64_t length) {
  const double from = static_cast<double>(bin) / static_cast<double>(bins);
  const double to = static_cast<double>(bin + 1) / static_cast<double>(bins);
  const double first = low + (high - low) * from, last = low + (high - low) * to;
  std::vector<Part> parts;
  for (std::int64_t pixel = 0; pixel < length; ++pixel) {
    const double at = static_cast<double>(pixel);
    if (at + 1 <= first || at - 1 >= last) continue;
    const double at_first = hat(first - at), at_last = hat(last - at);
    parts.push_back({pixel, hat_integral(last - at) - hat_integral(first - at),
                     at_last * (1 - to) - at_first * (1 - from), at_last * to - at_first * from});
  }
  return parts;
}

struct Roi {
  std::int64_t number, image;
  double x1, y1, x2, y2;  // on the map
  double area(const Shape& s) const { return (x2 - x1) * (y2 - y1) / static_cast<double>(s.pooled_h * s.pooled_w); }
};

// body(roi, bin, rows, columns) for the bins of all RoIs that have an area; bin counts those of the tensor.
template <class Problem, class Body>
void for_each_bin(const Problem& p, Body body) {
  const Shape& s = p.shape;
  const Values rois = decode(s.dtype, p.rois, 5 * s.rois);
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const double scale = p.exact_spatial_scale, *const at = &rois[5 * r];
    const Roi roi = {r, static_cast<std::int64_t>(at[0]), at[1] * scale, at[2] * scale, at[3] * scale, at[4] * scale};
    if (!std::isfinite(roi.x2 - roi.x1) || !std::isfinite(roi.y2 - roi.y1)) continue;
    if (roi.x2 <= roi.x1 || roi.y2 <= roi.y1) continue;
    for (std::int64_t i = 0; i < s.pooled_h; ++i) {
      for (std::int64_t j = 0; j < s.pooled_w; ++j) {
        body(roi, (r * s.pooled_h + i) * s.pooled_w + j, parts_of(roi.y1, roi.y2, i, s.pooled_h, s.h),
             parts_of(roi.x1, roi.x2, j, s.pooled_w, s.w));
      }
    }
  }
}

}  // namespace

Values prroi_pool_forward(const mluopsPrRoiPoolForwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c), 0.0);
  for_each_bin(p,
               [&](const Roi& roi, std::int64_t bin, const std::vector<Part>& rows, const std::vector<Part>& columns) {
                 for (const Part& y : rows) {
                   for (const Part& x : columns) {
                     const double* const pixel = &input[((roi.image * s.h + y.pixel) * s.w + x.pixel) * s.c];
                     const double weight = y.integral * x.integral / roi.area(s);
                     for (std::int64_t c = 0; c < s.c; ++c) output[bin * s.c + c] += weight * pixel[c];
                   }
                 }
               });
  return output;
}

PrRoiPoolGradients prroi_pool_backward(const mluopsPrRoiPoolBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  const Values grad = decode(s.dtype, p.grad_output, s.rois * s.pooled_h * s.pooled_w * s.c);
  PrRoiPoolGradients g = {Values(input.size(), 0.0), Values(static_cast<std::size_t>(5 * s.rois), 0.0)};
  for_each_bin(p,
               [&](const Roi& roi, std::int64_t bin, const std::vector<Part>& rows, const std::vector<Part>& columns) {
                 const double area = roi.area(s), width = roi.x2 - roi.x1, height = roi.y2 - roi.y1;
                 double* const ends = &g.rois[5 * roi.number];
                 for (const Part& y : rows) {
                   for (const Part& x : columns) {
                     const std::int64_t pixel = ((roi.image * s.h + y.pixel) * s.w + x.pixel) * s.c;
                     const double whole = y.integral * x.integral;
                     double product = 0;
                     for (std::int64_t c = 0; c < s.c; ++c) {
                       product += grad[bin * s.c + c] * input[pixel + c];
                       g.input[pixel + c] += grad[bin * s.c + c] * whole / area;
                     }
                     product *= p.exact_spatial_scale / area;
                     ends[1] += product * (y.integral * x.by_low + whole / width);
                     ends[2] += product * (y.by_low * x.integral + whole / height);
                     ends[3] += product * (y.integral * x.by_high - whole / width);
                     ends[4] += product * (y.by_high * x.integral - whole / height);
                   }
                 }
               });
  return g;
}

}  // namespace mluops::reference
