#include "test/reference/roi_crop.h"

#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsRoiCropShape;

// body(point of all grids, pixel of all images, weight): the four pixels about a point, but for those outside.
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values grid = decode(s.dtype, p.grid, s.grids * s.out_h * s.out_w * 2);
  const auto place = [&](double v, std::int64_t size) {
    return r.div(r.mul(r.add(v, 1), static_cast<double>(size - 1)), 2);
  };
  for (std::int64_t point = 0; point < s.grids * s.out_h * s.out_w; ++point) {
    const double y = place(grid[2 * point], s.h), x = place(grid[2 * point + 1], s.w);
    const std::int64_t image = point / (s.out_h * s.out_w) / (s.grids / s.batch);
    if (!(y > -1 && y < static_cast<double>(s.h) && x > -1 && x < static_cast<double>(s.w))) continue;
    for (std::int64_t row = 0; row < s.h; ++row) {
      const double below = static_cast<double>(row) - std::floor(y);
      if (below != 0 && below != 1) continue;
      for (std::int64_t column = 0; column < s.w; ++column) {
        const double right = static_cast<double>(column) - std::floor(x);
        if (right != 0 && right != 1) continue;
        const double down = 1 - std::fabs(y - static_cast<double>(row));
        const double across = 1 - std::fabs(x - static_cast<double>(column));
        body(point, (image * s.h + row) * s.w + column, down * across);
      }
    }
  }
}

}  // namespace

Values roi_crop_forward(const mluopsRoiCropForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(static_cast<std::size_t>(s.grids * s.out_h * s.out_w * s.c), 0.0);
  for_each_pixel(p, coordinates, [&](std::int64_t point, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) output[point * s.c + c] += weight * input[pixel * s.c + c];
  });
  return output;
}

Values roi_crop_backward(const mluopsRoiCropBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.grids * s.out_h * s.out_w * s.c);
  Values result(static_cast<std::size_t>(s.batch * s.h * s.w * s.c), 0.0);
  for_each_pixel(p, coordinates, [&](std::int64_t point, std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) result[pixel * s.c + c] += weight * grad[point * s.c + c];
  });
  return result;
}

}  // namespace mluops::reference
