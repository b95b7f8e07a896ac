#include "test/reference/iou3d.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace mluops::reference {
namespace {

using Point = std::complex<double>;

double cross(Point a, Point b) {
  return a.real() * b.imag() - a.imag() * b.real();
}

// A box in the plane: its corners in order.
struct Flat {
  Point centre, rotation;
  double dx, dy;

  explicit Flat(const double* box)
      : centre(box[0], box[1]), rotation(std::cos(box[6]), std::sin(box[6])), dx(box[3]), dy(box[4]) {}

  Point corner(int i) const {
    const double x = i % 4 == 1 || i % 4 == 2 ? dx / 2 : -dx / 2, y = i % 4 >= 2 ? dy / 2 : -dy / 2;
    return centre + Point(x * rotation.real() - y * rotation.imag(), x * rotation.imag() + y * rotation.real());
  }
  // With a margin of 0.01.
  bool has(Point p) const {
    const Point d = p - centre;
    return std::fabs(d.real() * rotation.real() + d.imag() * rotation.imag()) < dx / 2 + 0.01 &&
           std::fabs(d.imag() * rotation.real() - d.real() * rotation.imag()) < dy / 2 + 0.01;
  }
};

// Whether the ends of one side lie on different sides of the other, and the other way round; and where they cross.
bool crossing(Point p0, Point p1, Point q0, Point q1, Point& at) {
  const double from = cross(p1 - p0, q0 - p0), to = cross(p1 - p0, q1 - p0);
  const double start = cross(q1 - q0, p0 - q0), end = cross(q1 - q0, p1 - q0);
  if (!(from * to < 0 && start * end < 0)) return false;
  at = q0 + (q1 - q0) * (from / (from - to));
  return true;
}

double area(std::vector<Point> corners) {
  if (corners.size() < 3) return 0;
  Point middle = 0;
  for (const Point p : corners) middle += p;
  middle /= static_cast<double>(corners.size());
  std::stable_sort(corners.begin(), corners.end(),
                   [&](Point a, Point b) { return std::arg(a - middle) < std::arg(b - middle); });
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    twice += cross(corners[i] - middle, corners[(i + 1) % corners.size()] - middle);
  }
  return std::fabs(twice) / 2;
}

double overlap(const Flat& a, const Flat& b) {
  std::vector<Point> corners;
  for (int i = 0; i < 4; ++i) {
    if (a.has(b.corner(i))) corners.push_back(b.corner(i));
    if (b.has(a.corner(i))) corners.push_back(a.corner(i));
    for (int j = 0; j < 4; ++j) {
      Point at;
      if (crossing(a.corner(i), a.corner(i + 1), b.corner(j), b.corner(j + 1), at)) corners.push_back(at);
    }
  }
  return area(std::move(corners));
}

// Borders of one interval each; a NaN border counts as none.
double shared(double middle_a, double side_a, double middle_b, double side_b) {
  const double low = std::fmax(middle_a - side_a / 2, middle_b - side_b / 2);
  const double high = std::fmin(middle_a + side_a / 2, middle_b + side_b / 2);
  return std::fmax(high - low, 0.0);
}

}  // namespace

Values boxes_overlap_bev(const mluopsBoxesOverlapBevProblem& p) {
  const mluopsBoxesOverlapBevShape& s = p.shape;
  const Values a = decode(s.dtype, p.boxes_a, s.n * 7), b = decode(s.dtype, p.boxes_b, s.m * 7);
  Values result;
  for (std::int64_t i = 0; i < s.n; ++i) {
    for (std::int64_t j = 0; j < s.m; ++j) result.push_back(overlap(Flat(&a[i * 7]), Flat(&b[j * 7])));
  }
  return result;
}

Nms3dResult nms3d(const mluopsNms3dProblem& p) {
  const mluopsNms3dShape& s = p.shape;
  const Values boxes = decode(s.dtype, p.boxes, s.n * 7);
  const auto drops = [&](std::int64_t i, std::int64_t j) {
    const double *const a = &boxes[i * 7], *const b = &boxes[j * 7];
    const double common =
        s.rotated != 0 ? overlap(Flat(a), Flat(b)) : shared(a[0], a[3], b[0], b[3]) * shared(a[1], a[4], b[1], b[4]);
    return common / std::fmax(a[3] * a[4] + b[3] * b[4] - common, 1e-8) > p.exact_iou_threshold;
  };
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < s.n; ++j) {
    if (std::none_of(kept.begin(), kept.end(), [&](std::int64_t i) { return drops(i, j); })) kept.push_back(j);
  }
  Nms3dResult r{Values(static_cast<std::size_t>(s.n), 0.0), Values{static_cast<double>(kept.size())}};
  std::copy(kept.begin(), kept.end(), r.keep.begin());
  return r;
}

}  // namespace mluops::reference
