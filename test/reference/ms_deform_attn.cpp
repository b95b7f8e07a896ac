#include "test/reference/ms_deform_attn.h"

#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsMsDeformAttnShape;

// A pixel of a map and how much of it a sample is: with tents of height 1 and width 2 over the pixel, the product of
// those of both axes; and the derivatives of the product along y and x.
struct Pixel {
  std::int64_t key;
  double share, along_y, along_x;
};

double tent(double distance) {
  return 1 - std::fabs(distance);
}

// The pixels of a sample that lie on a map.
std::vector<Pixel> pixels(const std::int32_t* shape, std::int64_t start, double loc_x, double loc_y,
                          const Rounding& r) {
  const double h = shape[0], w = shape[1];
  const double y = r.sub(r.mul(loc_y, h), 0.5), x = r.sub(r.mul(loc_x, w), 0.5);
  std::vector<Pixel> found;
  if (!(y > -1 && y < h && x > -1 && x < w)) return found;
  for (const double row : {std::floor(y), std::floor(y) + 1}) {
    for (const double col : {std::floor(x), std::floor(x) + 1}) {
      if (row < 0 || row >= h || col < 0 || col >= w) continue;
      const double down = row > y ? 1 : -1, right = col > x ? 1 : -1;
      found.push_back({start + static_cast<std::int64_t>(row * w + col), tent(row - y) * tent(col - x),
                       down * tent(col - x), tent(row - y) * right});
    }
  }
  return found;
}

// body(sample, pixel, first channel of the pixel, first of the query's head).
template <class Problem, class Body>
void for_each_pixel(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const std::int64_t rows = s.batch * s.queries * s.heads, samples = s.levels * s.points;
  const Values loc = decode(s.dtype, p.sampling_loc, 2 * rows * samples);
  for (std::int64_t i = 0; i < rows * samples; ++i) {
    const std::int64_t row = i / samples, level = i % samples / s.points;
    const std::int64_t image = row / s.heads / s.queries, head = row % s.heads;
    const auto at = static_cast<std::size_t>(2 * i);
    for (const Pixel& pixel :
         pixels(p.spatial_shapes + 2 * level, p.level_start_index[level], loc[at], loc[at + 1], r)) {
      body(static_cast<std::size_t>(i), level, pixel,
           static_cast<std::size_t>(((image * s.keys + pixel.key) * s.heads + head) * s.channels),
           static_cast<std::size_t>(row * s.channels));
    }
  }
}

Values decoded_weights(const Shape& s, const void* weights) {
  return decode(s.dtype, weights, s.batch * s.queries * s.heads * s.levels * s.points);
}

}  // namespace

Values ms_deform_attn_forward(const mluopsMsDeformAttnForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values value = decode(s.dtype, p.value, s.batch * s.keys * s.heads * s.channels);
  const Values weight = decoded_weights(s, p.attn_weight);
  const auto channels = static_cast<std::size_t>(s.channels);
  Values output(static_cast<std::size_t>(s.batch * s.queries * s.heads) * channels, 0.0);
  for_each_pixel(p, coordinates,
                 [&](std::size_t i, std::int64_t, const Pixel& pixel, std::size_t from, std::size_t to) {
                   for (std::size_t c = 0; c < channels; ++c) {
                     output[to + c] += weight[i] * pixel.share * value[from + c];
                   }
                 });
  return output;
}

MsDeformAttnGradients ms_deform_attn_backward(const mluopsMsDeformAttnBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values value = decode(s.dtype, p.value, s.batch * s.keys * s.heads * s.channels);
  const Values grad = decode(s.dtype, p.grad_output, s.batch * s.queries * s.heads * s.channels);
  const Values weight = decoded_weights(s, p.attn_weight);
  MsDeformAttnGradients g{Values(value.size(), 0.0), Values(2 * weight.size(), 0.0), Values(weight.size(), 0.0)};
  for_each_pixel(p, coordinates,
                 [&](std::size_t i, std::int64_t level, const Pixel& pixel, std::size_t from, std::size_t to) {
                   for (std::size_t c = 0; c < static_cast<std::size_t>(s.channels); ++c) {
                     const double product = grad[to + c] * value[from + c];
                     g.value[from + c] += weight[i] * pixel.share * grad[to + c];
                     g.attn_weight[i] += pixel.share * product;
                     g.sampling_loc[2 * i] += p.spatial_shapes[2 * level + 1] * weight[i] * pixel.along_x * product;
                     g.sampling_loc[2 * i + 1] += p.spatial_shapes[2 * level] * weight[i] * pixel.along_y * product;
                   }
                 });
  return g;
}

}  // namespace mluops::reference
