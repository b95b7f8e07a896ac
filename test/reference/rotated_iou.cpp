#include "test/reference/rotated_iou.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "test/reference/polygons.h"

namespace mluops::reference {
namespace {

// x, y, z, w, h, l, angle, or derivatives by them.
using Numbers = std::array<double, 7>;
enum { kX, kY, kZ, kW, kH, kL, kAngle };
const int kOfRectangle[] = {kX, kY, kW, kH, kAngle};

Numbers numbers_of(const double* box, std::int64_t count) {
  Numbers n = {0, 0, 0, 0, 0, 1, 0};
  for (std::int64_t k = 0; k < count; ++k) n[count == 5 ? kOfRectangle[k] : k] = box[k];
  return n;
}

void append(const Numbers& n, std::int64_t count, Values& to) {
  for (std::int64_t k = 0; k < count; ++k) to.push_back(n[count == 5 ? kOfRectangle[k] : k]);
}

bool all_finite(const Numbers& n) {
  return std::all_of(n.begin(), n.end(), [](double v) { return std::isfinite(v); });
}

struct Point {
  double x, y;
};
Point operator-(Point a, Point b) {
  return {a.x - b.x, a.y - b.y};
}
double cross(Point a, Point b) {
  return a.x * b.y - a.y * b.x;
}

// Place (right, up), each from -1 to 1, of a box, from the centre of another one.
Point place(const Numbers& n, Point origin, double right, double up) {
  const double a = right * std::fabs(n[kW]) / 2, b = up * std::fabs(n[kH]) / 2;
  const double c = std::cos(n[kAngle]), s = std::sin(n[kAngle]);
  return {n[kX] - origin.x + a * c - b * s, n[kY] - origin.y + a * s + b * c};
}

const Point kCorners[] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};  // counterclockwise

std::array<Point, 4> corners(const Numbers& n, Point origin) {
  std::array<Point, 4> all;
  for (std::size_t k = 0; k < 4; ++k) all[k] = place(n, origin, kCorners[k].x, kCorners[k].y);
  return all;
}

double common_area(const Numbers& a, const Numbers& b) {
  Values polygons[2];
  for (int i = 0; i < 2; ++i) {
    for (const Point p : corners(i == 0 ? a : b, {a[kX], a[kY]})) polygons[i].insert(polygons[i].end(), {p.x, p.y});
  }
  return shared_area(polygons[0], polygons[1]);
}

// How far inwards of the side from a to b.
double depth(Point a, Point b, Point p) {
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  return length > 0 ? cross(b - a, p - a) / length : 0;
}

// 1 inside, 0.5 on the border, 0 outside.
double counts(const std::array<Point, 4>& other, Point p, double rounding) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 4; ++k) least = std::min(least, depth(other[k], other[(k + 1) % 4], p));
  return least > rounding ? 1 : least >= -rounding ? 0.5 : 0;
}

// Reynolds: the area changes by what crosses its border, so of each part of the sides of `own` that is inside of the
// other, by the integral of the speed along the outward normal, which is linear along the side.
Numbers area_gradient(const Numbers& own, const Numbers& other) {
  if (other[kW] == 0 || other[kH] == 0) return {};  // nothing is inside
  const Point origin = {own[kX], own[kY]};
  const auto mine = corners(own, origin), theirs = corners(other, origin);
  double size = 0;
  for (const auto* all : {&mine, &theirs}) {
    for (const Point p : *all) size = std::max({size, std::fabs(p.x), std::fabs(p.y)});
  }
  const double rounding = 64 * std::numeric_limits<double>::epsilon() * size;
  Numbers sum = {};
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t next = (k + 1) % 4;
    const Point side = mine[next] - mine[k], normal = {side.y, -side.x};
    Values cuts = {0, 1};
    for (std::size_t i = 0; i < 4; ++i) {
      const double from = depth(theirs[i], theirs[(i + 1) % 4], mine[k]);
      const double to = depth(theirs[i], theirs[(i + 1) % 4], mine[next]);
      if ((from < 0) != (to < 0)) cuts.push_back(from / (from - to));
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const double middle = (cuts[i - 1] + cuts[i]) / 2;
      const double right = kCorners[k].x + middle * (kCorners[next].x - kCorners[k].x);
      const double up = kCorners[k].y + middle * (kCorners[next].y - kCorners[k].y);
      const Point p = place(own, origin, right, up);
      const double part = (cuts[i] - cuts[i - 1]) * counts(theirs, p, rounding);
      const double c = std::cos(own[kAngle]), s = std::sin(own[kAngle]);
      const auto sign = [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; };
      const auto add = [&](int by, double x, double y) { sum[by] += part * (normal.x * x + normal.y * y); };
      add(kX, 1, 0);
      add(kY, 0, 1);
      add(kW, c * right / 2 * sign(own[kW]), s * right / 2 * sign(own[kW]));
      add(kH, -s * up / 2 * sign(own[kH]), c * up / 2 * sign(own[kH]));
      add(kAngle, -p.y, p.x);
    }
  }
  return sum;
}

double common_height(const Numbers& a, const Numbers& b) {
  return std::min(a[kZ] + a[kL] / 2, b[kZ] + b[kL] / 2) - std::max(a[kZ] - a[kL] / 2, b[kZ] - b[kL] / 2);
}

// How fast the common height, at least 0, grows where the top of `own` grows by `top` and its bottom by `bottom`.
double height_slope(const Numbers& own, const Numbers& other, double top, double bottom) {
  const double above = (own[kZ] + own[kL] / 2) - (other[kZ] + other[kL] / 2);
  const double below = (own[kZ] - own[kL] / 2) - (other[kZ] - other[kL] / 2);
  const double of_top = above < 0 ? top : above > 0 ? 0 : std::min(top, 0.0);
  const double of_bottom = below > 0 ? bottom : below < 0 ? 0 : std::max(bottom, 0.0);
  const double height = common_height(own, other), slope = of_top - of_bottom;
  return height > 0 ? slope : height < 0 ? 0 : std::max(slope, 0.0);
}

struct Ratio {
  double area, height, united, value;

  Ratio(const Numbers& a, const Numbers& b) {
    const bool there = all_finite(a) && all_finite(b);
    area = there ? common_area(a, b) : 0;
    height = there ? std::max(common_height(a, b), 0.0) : 0;
    united = there ? a[kW] * a[kH] * a[kL] + b[kW] * b[kH] * b[kL] - area * height : 0;
    value = united > 0 ? area * height / united : 0;
  }
};

Numbers gradient(const Numbers& own, const Numbers& other, const Ratio& ratio) {
  if (!(ratio.united > 0)) return {};
  const auto mean = [&](double top, double bottom) {
    return (height_slope(own, other, top, bottom) - height_slope(own, other, -top, -bottom)) / 2;
  };
  Numbers shared = area_gradient(own, other), result;
  for (double& v : shared) v *= ratio.height;
  shared[kZ] = ratio.area * mean(1, 1);
  shared[kL] = ratio.area * mean(0.5, -0.5);
  const Numbers volume = {0, 0, 0, own[kH] * own[kL], own[kW] * own[kL], own[kW] * own[kH], 0};
  for (std::size_t k = 0; k < 7; ++k) {  // of shared / united, where united = volumes - shared
    const double united = volume[k] - shared[k];
    result[k] = shared[k] / ratio.united - ratio.value / ratio.united * united;
  }
  return result;
}

}  // namespace

Values rotated_iou_forward(const mluopsRotatedIouForwardProblem& p) {
  const auto& s = p.shape;
  const Values first = decode(s.dtype, p.box1, s.count * s.numbers),
               second = decode(s.dtype, p.box2, s.count * s.numbers);
  Values ious;
  for (std::int64_t i = 0; i < s.count; ++i) {
    ious.push_back(
        Ratio(numbers_of(&first[i * s.numbers], s.numbers), numbers_of(&second[i * s.numbers], s.numbers)).value);
  }
  return ious;
}

RotatedIouGradients rotated_iou_backward(const mluopsRotatedIouBackwardProblem& p) {
  const auto& s = p.shape;
  const Values first = decode(s.dtype, p.box1, s.count * s.numbers),
               second = decode(s.dtype, p.box2, s.count * s.numbers);
  const Values grads = decode(s.dtype, p.grad_ious, s.count);
  RotatedIouGradients result;
  for (std::int64_t i = 0; i < s.count; ++i) {
    const Numbers a = numbers_of(&first[i * s.numbers], s.numbers), b = numbers_of(&second[i * s.numbers], s.numbers);
    const Ratio ratio(a, b);
    Numbers of_a = gradient(a, b, ratio), of_b = gradient(b, a, ratio);
    for (std::size_t k = 0; k < 7; ++k) {
      of_a[k] *= grads[i];
      of_b[k] *= grads[i];
    }
    append(of_a, s.numbers, result.box1);
    append(of_b, s.numbers, result.box2);
  }
  return result;
}

}  // namespace mluops::reference
