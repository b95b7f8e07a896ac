#include "test/reference/bilinear.h"
#include "test/reference/reference.h"

namespace mluops::reference {
namespace {

using Shape = mluopsBorderAlignShape;

// One border of one box: where its samples start and how far apart they are.
struct Border {
  double x, y, step_x, step_y;
};

Border make_border(const double* box, int e, std::int64_t pool_size, const Rounding& r) {
  const double pool = static_cast<double>(pool_size);
  const double width = r.sub(box[2], box[0]), height = r.sub(box[3], box[1]);
  switch (e) {
    case 0:
      return {box[0], box[1], r.div(width, pool), 0};  // top
    case 1:
      return {box[0], box[1], 0, r.div(height, pool)};  // left
    case 2:
      return {box[2], box[3], -r.div(width, pool), 0};  // bottom
    default:
      return {box[2], box[3], 0, -r.div(height, pool)};  // right
  }
}

struct Point {
  Axis y, x;
};

// Forward walks along the border, adding the step again and again.
Point walked_point(const Shape& s, const Border& b, int index, const Rounding& r) {
  double x = b.x, y = b.y;
  for (int i = 0; i < index; ++i) {
    x = r.add(x, b.step_x);
    y = r.add(y, b.step_y);
  }
  return {locate(y, s.h), locate(x, s.w)};
}

// Backward jumps.
Point jumped_point(const Shape& s, const Border& b, int index, const Rounding& r) {
  return {locate(r.add(b.y, r.mul(b.step_y, index)), s.h), locate(r.add(b.x, r.mul(b.step_x, index)), s.w)};
}

// body(pixel number in the image, weight) for the four neighbours, also where two of them are one pixel; nothing
// outside.
template <class Body>
void for_each_neighbour(const Shape& s, const Point& p, Body body) {
  if (!p.y.inside || !p.x.inside) return;
  body(p.y.low * s.w + p.x.low, (1 - p.y.fraction) * (1 - p.x.fraction));
  body(p.y.low * s.w + p.x.high, (1 - p.y.fraction) * p.x.fraction);
  body(p.y.high * s.w + p.x.low, p.y.fraction * (1 - p.x.fraction));
  body(p.y.high * s.w + p.x.high, p.y.fraction * p.x.fraction);
}

// The same, without the neighbours of weight zero that are another one's pixel: those on the far border of the map.
template <class Body>
void for_each_pixel(const Shape& s, const Point& p, Body body) {
  int i = 0;
  for_each_neighbour(s, p, [&](std::int64_t pixel, double weight) {
    const bool right = i % 2 == 1, below = i >= 2;
    ++i;
    if ((right && p.x.high == p.x.low) || (below && p.y.high == p.y.low)) return;
    body(pixel, weight);
  });
}

double interpolate(const Shape& s, const Values& input, std::int64_t n, std::int64_t channel, const Point& p) {
  double value = 0;
  for_each_neighbour(s, p, [&](std::int64_t pixel, double weight) {
    value += weight * input[(n * s.h * s.w + pixel) * 4 * s.c + channel];
  });
  return value;
}

std::int64_t input_count(const Shape& s) {
  return s.n * s.h * s.w * 4 * s.c;
}
std::int64_t output_count(const Shape& s) {
  return s.n * s.k * 4 * s.c;
}

// body(n, border number, border, first output channel)
template <class Body>
void for_each_border(const Shape& s, const Values& boxes, const Rounding& r, Body body) {
  for (std::int64_t box = 0; box < s.n * s.k; ++box) {
    for (int e = 0; e < 4; ++e)
      body(box / s.k, e, make_border(&boxes[box * 4], e, s.pool_size, r), (box * 4 + e) * s.c);
  }
}

}  // namespace

BorderAlignResult border_align_forward(const mluopsBorderAlignForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values input = decode(s.dtype, p.input, input_count(s)), boxes = decode(s.dtype, p.boxes, s.n * s.k * 4);
  BorderAlignResult result{Values(static_cast<std::size_t>(output_count(s))),
                           std::vector<std::int32_t>(static_cast<std::size_t>(output_count(s)), 0)};
  for_each_border(s, boxes, r, [&](std::int64_t n, int e, const Border& border, std::int64_t first) {
    for (int i = 0; i <= s.pool_size; ++i) {
      const Point point = walked_point(s, border, i, r);
      for (std::int64_t c = 0; c < s.c; ++c) {
        const double value = interpolate(s, input, n, e * s.c + c, point);
        if (i > 0 && !(value > result.output[first + c])) continue;
        result.output[first + c] = value;
        result.argmax[first + c] = i;
      }
    }
  });
  return result;
}

BorderAlignSamples::BorderAlignSamples(const mluopsBorderAlignForwardProblem& p, Coordinates coordinates)
    : shape_(p.shape),
      coordinates_(coordinates),
      input_(decode(p.shape.dtype, p.input, input_count(p.shape))),
      boxes_(decode(p.shape.dtype, p.boxes, p.shape.n * p.shape.k * 4)) {}

double BorderAlignSamples::operator()(std::int64_t element, int index) const {
  const Rounding r(coordinates_);
  const std::int64_t c = element % shape_.c, e = element / shape_.c % 4, box = element / shape_.c / 4;
  const Border border = make_border(&boxes_[box * 4], static_cast<int>(e), shape_.pool_size, r);
  return interpolate(shape_, input_, box / shape_.k, e * shape_.c + c, walked_point(shape_, border, index, r));
}

Values border_align_backward(const mluopsBorderAlignBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values grad = decode(s.dtype, p.grad_output, output_count(s));
  const Values boxes = decode(s.dtype, p.boxes, s.n * s.k * 4);
  Values grad_input(static_cast<std::size_t>(input_count(s)), 0.0);
  for_each_border(s, boxes, r, [&](std::int64_t n, int e, const Border& border, std::int64_t first) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      const std::int32_t index = p.argmax[first + c];
      if (index < 0 || index > s.pool_size) continue;
      for_each_pixel(s, jumped_point(s, border, index, r), [&](std::int64_t pixel, double weight) {
        grad_input[(n * s.h * s.w + pixel) * 4 * s.c + e * s.c + c] += weight * grad[first + c];
      });
    }
  });
  return grad_input;
}

}  // namespace mluops::reference
