#include "test/reference/rotated_feature_align.h"

#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsRotatedFeatureAlignShape;

// body(pixel, source, weight) for what each pixel of the output is the sum of; both count pixels of the tensors.
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Body body) {
  const Shape& s = p.shape;
  const Values boxes = decode(s.dtype, p.bboxes, 5 * s.batch * s.h * s.w);
  for (std::int64_t pixel = 0; pixel < s.batch * s.h * s.w; ++pixel) {
    body(pixel, pixel, 1.0);
    const double* const box = &boxes[5 * pixel];
    const double scale = p.exact_spatial_scale, cos = std::cos(box[4]), sin = std::sin(box[4]);
    // Where the points are in the frame of the box, in halves of its width and height.
    const double at[5][2] = {{0, 0}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int i = 0; i < s.points; ++i) {
      const double u = at[i][0] * box[2] * scale / 2, v = at[i][1] * box[3] * scale / 2;
      // The centre has no size and no angle.
      const double down = i == 0 ? 0 : sin * u + cos * v, across = i == 0 ? 0 : cos * u - sin * v;
      const Axis y = locate(box[0] * scale + down, s.h);
      const Axis x = locate(box[1] * scale + across, s.w);
      if (!y.inside || !x.inside) continue;
      const std::int64_t image = pixel / (s.h * s.w) * s.h;
      body(pixel, (image + y.low) * s.w + x.low, (1 - y.fraction) * (1 - x.fraction));
      body(pixel, (image + y.low) * s.w + x.high, (1 - y.fraction) * x.fraction);
      body(pixel, (image + y.high) * s.w + x.low, y.fraction * (1 - x.fraction));
      body(pixel, (image + y.high) * s.w + x.high, y.fraction * x.fraction);
    }
  }
}

}  // namespace

Values rotated_feature_align_forward(const mluopsRotatedFeatureAlignForwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(input.size(), 0.0);
  for_each_pixel(p, [&](std::int64_t pixel, std::int64_t source, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) output[pixel * s.c + c] += weight * input[source * s.c + c];
  });
  return output;
}

Values rotated_feature_align_backward(const mluopsRotatedFeatureAlignBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.batch * s.h * s.w * s.c);
  Values grad_input(grad.size(), 0.0);
  for_each_pixel(p, [&](std::int64_t pixel, std::int64_t source, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) grad_input[source * s.c + c] += weight * grad[pixel * s.c + c];
  });
  return grad_input;
}

}  // namespace mluops::reference
