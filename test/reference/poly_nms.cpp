#include "test/reference/poly_nms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mluops::reference {
namespace {

// Along the line y, the parts of x inside a polygon, by the corners' sense: sums of signed halves of the line.
struct Crossing {
  double x;
  int sense;
};

std::vector<Crossing> crossings(const double* p, double y) {
  std::vector<Crossing> found;
  for (int i = 0; i < 4; ++i) {
    const double *a = p + 2 * i, *b = p + 2 * ((i + 1) % 4);
    if ((a[1] <= y) == (b[1] <= y)) continue;
    found.push_back({a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]), a[1] < b[1] ? 1 : -1});
  }
  return found;
}

double signed_area(const double* p) {
  double twice = 0;
  for (int i = 0; i < 4; ++i) {
    const double *a = p + 2 * i, *b = p + 2 * ((i + 1) % 4);
    twice += (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0]);
  }
  return twice / 2;
}

// How long the line y lies in both.
double shared_length(const double* a, const double* b, double y) {
  const auto in_a = crossings(a, y), in_b = crossings(b, y);
  std::vector<double> ends;
  for (const auto* list : {&in_a, &in_b}) {
    for (const Crossing& c : *list) ends.push_back(c.x);
  }
  std::sort(ends.begin(), ends.end());
  const auto times_round = [](const std::vector<Crossing>& list, double x) {
    int count = 0;
    for (const Crossing& c : list) count += c.x > x ? c.sense : 0;
    return count;
  };
  double length = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const double middle = (ends[i - 1] + ends[i]) / 2;
    length += (ends[i] - ends[i - 1]) * times_round(in_a, middle) * times_round(in_b, middle);
  }
  return length;
}

// The lines between which shared_length is a straight line of y: through corners and through crossings of sides.
std::vector<double> levels(const double* a, const double* b) {
  std::vector<double> y;
  for (const double* p : {a, b}) {
    for (int i = 0; i < 4; ++i) y.push_back(p[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const double *p = a + 2 * i, *q = a + 2 * ((i + 1) % 4), *r = b + 2 * j, *s = b + 2 * ((j + 1) % 4);
      const double dx = q[0] - p[0], dy = q[1] - p[1], ex = s[0] - r[0], ey = s[1] - r[1];
      const double at = ((r[0] - p[0]) * ey - (r[1] - p[1]) * ex) / (dx * ey - dy * ex);
      if (at >= 0 && at <= 1) y.push_back(p[1] + at * dy);
    }
  }
  std::sort(y.begin(), y.end());
  return y;
}

}  // namespace

double iou_of_quadrilaterals(const double* a, const double* b) {
  if (!std::all_of(a, a + 8, [](double v) { return std::isfinite(v); })) return 0;
  if (!std::all_of(b, b + 8, [](double v) { return std::isfinite(v); })) return 0;
  const double of_a = signed_area(a), of_b = signed_area(b), both = std::fabs(of_a) + std::fabs(of_b);
  if (both == 0) return 1;
  for (int axis = 0; axis < 2; ++axis) {
    const auto least = [axis](const double* p) { return std::min({p[axis], p[axis + 2], p[axis + 4], p[axis + 6]}); };
    const auto most = [axis](const double* p) { return std::max({p[axis], p[axis + 2], p[axis + 4], p[axis + 6]}); };
    if (least(a) >= most(b) || least(b) >= most(a)) return 0;
  }
  const std::vector<double> y = levels(a, b);
  double shared = 0;
  for (std::size_t i = 1; i < y.size(); ++i) {
    shared += (y[i] - y[i - 1]) * shared_length(a, b, (y[i] + y[i - 1]) / 2);
  }
  shared = std::fabs(shared);
  return shared > 1e-13 * both ? shared / (both - shared) : 0;
}

PolyNmsResult poly_nms(const mluopsPolyNmsProblem& p) {
  const std::int64_t n = p.shape.n;
  const Values boxes = decode(p.shape.dtype, p.boxes, n * 9);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n)), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const double a = boxes[9 * i + 8], b = boxes[9 * j + 8];
    return std::isnan(a) ? !std::isnan(b) : a > b;
  });
  for (const std::int64_t j : order) {
    if (std::none_of(kept.begin(), kept.end(), [&](std::int64_t i) {
          return iou_of_quadrilaterals(&boxes[9 * i], &boxes[9 * j]) > p.iou_threshold;
        })) {
      kept.push_back(j);
    }
  }
  std::sort(kept.begin(), kept.end());
  PolyNmsResult r{Values(static_cast<std::size_t>(n), 0.0), Values{static_cast<double>(kept.size())}};
  std::copy(kept.begin(), kept.end(), r.output.begin());
  return r;
}

}  // namespace mluops::reference
