#include "test/reference/box_iou.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

namespace mluops::reference {
namespace {

using Point = std::complex<double>;

double cross(Point a, Point b) {
  return a.real() * b.imag() - a.imag() * b.real();
}

std::vector<Point> corners(const double* box) {
  const Point centre(box[0], box[1]), rotation = std::polar(1.0, box[4]);
  const double x = std::fabs(box[2]) / 2, y = std::fabs(box[3]) / 2;
  return {centre + rotation * Point(-x, -y), centre + rotation * Point(x, -y), centre + rotation * Point(x, y),
          centre + rotation * Point(-x, y)};
}

// Sutherland and Hodgman: what is left of the side from a to b.
std::vector<Point> cut(const std::vector<Point>& polygon, Point a, Point b) {
  std::vector<Point> result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point p = polygon[i], q = polygon[(i + 1) % polygon.size()];
    const double from = cross(b - a, p - a), to = cross(b - a, q - a);
    if (from >= 0) result.push_back(p);
    if ((from >= 0) != (to >= 0)) result.push_back(p + (q - p) * (from / (from - to)));
  }
  return result;
}

bool counts(const double* box) {
  return std::all_of(box, box + 5, [](double number) { return std::isfinite(number); }) && box[2] * box[3] >= 1e-14;
}

double shared(const double* a, const double* b) {
  if (!counts(a) || !counts(b)) return 0;
  std::vector<Point> polygon = corners(b);
  const std::vector<Point> sides = corners(a);
  for (std::size_t i = 0; i < 4; ++i) polygon = cut(polygon, sides[i], sides[(i + 1) % 4]);
  double twice = 0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) {
    twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  }
  return twice / 2 > 1e-13 * a[2] * a[3] ? twice / 2 : 0;  // boxes that touch
}

double ratio(double common, double area, double other, int mode) {
  const double value = common / (mode == 1 ? area : area + other - common);
  return value > 0 ? value : 0;
}

double iou_rotated(const double* a, const double* b, int mode) {
  return ratio(shared(a, b), a[2] * a[3], b[2] * b[3], mode);
}

double iou_upright(const double* a, const double* b, int mode, double offset) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (std::any_of(a, a + 4, is_nan) || std::any_of(b, b + 4, is_nan)) return 0;
  double common = 1;
  for (int k = 0; k < 2; ++k) {
    common *= std::max(std::min(a[k + 2], b[k + 2]) - std::max(a[k], b[k]) + offset, 0.0);
  }
  const auto area = [&](const double* box) { return (box[2] - box[0] + offset) * (box[3] - box[1] + offset); };
  return ratio(common, area(a), area(b), mode);
}

template <class Iou>
Values all_pairs(const mluopsBoxIouProblem& p, std::int64_t numbers, const Iou& iou) {
  const mluopsBoxIouShape& s = p.shape;
  const Values a = decode(s.dtype, p.bbox1, s.n * numbers), b = decode(s.dtype, p.bbox2, s.m * numbers);
  Values result;
  for (std::int64_t i = 0; i < s.n; ++i) {
    for (std::int64_t j = s.aligned != 0 ? i : 0; j < (s.aligned != 0 ? i + 1 : s.m); ++j) {
      result.push_back(iou(&a[i * numbers], &b[j * numbers]));
    }
  }
  return result;
}

}  // namespace

Values bbox_overlaps(const mluopsBoxIouProblem& p) {
  return all_pairs(p, 4,
                   [&](const double* a, const double* b) { return iou_upright(a, b, p.shape.mode, p.shape.offset); });
}

Values box_iou_rotated(const mluopsBoxIouProblem& p) {
  return all_pairs(p, 5, [&](const double* a, const double* b) { return iou_rotated(a, b, p.shape.mode); });
}

NmsRotatedResult nms_rotated(const mluopsNmsRotatedProblem& p) {
  const mluopsNmsRotatedShape& s = p.shape;
  const Values boxes = decode(s.dtype, p.boxes, s.n * s.width), scores = decode(s.dtype, p.scores, s.n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(s.n)), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return std::isnan(scores[i]) ? !std::isnan(scores[j]) : scores[i] > scores[j];
  });
  for (const std::int64_t j : order) {
    if (std::none_of(kept.begin(), kept.end(), [&](std::int64_t i) {
          return iou_rotated(&boxes[i * s.width], &boxes[j * s.width], 0) > p.iou_threshold;
        })) {
      kept.push_back(j);
    }
  }
  NmsRotatedResult r{Values(static_cast<std::size_t>(s.n), 0.0), Values{static_cast<double>(kept.size())}};
  std::copy(kept.begin(), kept.end(), r.output.begin());
  return r;
}

}  // namespace mluops::reference
