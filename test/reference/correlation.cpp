#include "test/reference/correlation.h"

namespace mluops::reference {
namespace {

using Shape = mluopsCorrelationShape;

// body(output, first channel of the pixel of image 1, of image 2) for every pair that an output sums.
template <class Body>
void for_each_pair(const Shape& s, Body body) {
  const std::int64_t most = s.max_displacement;
  const auto on_image = [&](std::int64_t y, std::int64_t x) { return y >= 0 && y < s.h && x >= 0 && x < s.w; };
  std::int64_t output = 0;
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t p = -most; p <= most; ++p) {
      for (std::int64_t q = -most; q <= most; ++q) {
        for (std::int64_t y = 0; y < s.out_h; ++y) {
          for (std::int64_t x = 0; x < s.out_w; ++x, ++output) {
            for (std::int64_t i = 0; i < s.kernel_h; ++i) {
              for (std::int64_t j = 0; j < s.kernel_w; ++j) {
                const std::int64_t u = y * s.stride_h - s.pad_h + i * s.dilation_h;
                const std::int64_t v = x * s.stride_w - s.pad_w + j * s.dilation_w;
                const std::int64_t u2 = u + p * s.dilation_patch_h, v2 = v + q * s.dilation_patch_w;
                if (!on_image(u, v) || !on_image(u2, v2)) continue;
                body(output, ((n * s.h + u) * s.w + v) * s.c, ((n * s.h + u2) * s.w + v2) * s.c);
              }
            }
          }
        }
      }
    }
  }
}

std::int64_t output_count(const Shape& s) {
  const std::int64_t displacements = 2 * std::int64_t{s.max_displacement} + 1;
  return s.n * displacements * displacements * s.out_h * s.out_w;
}

}  // namespace

Values correlation_forward(const mluopsCorrelationForwardProblem& problem) {
  const Shape& s = problem.shape;
  const std::int64_t count = s.n * s.h * s.w * s.c;
  const Values first = decode(s.dtype, problem.input1, count), second = decode(s.dtype, problem.input2, count);
  Values output(static_cast<std::size_t>(output_count(s)), 0.0);
  for_each_pair(s, [&](std::int64_t to, std::int64_t a, std::int64_t b) {
    for (std::int64_t c = 0; c < s.c; ++c) output[to] += first[a + c] * second[b + c];
  });
  return output;
}

CorrelationGradients correlation_backward(const mluopsCorrelationBackwardProblem& problem) {
  const Shape& s = problem.shape;
  const std::int64_t count = s.n * s.h * s.w * s.c;
  const Values first = decode(s.dtype, problem.input1, count), second = decode(s.dtype, problem.input2, count);
  const Values grad = decode(s.dtype, problem.grad_output, output_count(s));
  CorrelationGradients result = {Values(static_cast<std::size_t>(count), 0.0),
                                 Values(static_cast<std::size_t>(count), 0.0)};
  for_each_pair(s, [&](std::int64_t from, std::int64_t a, std::int64_t b) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      result.input1[a + c] += grad[from] * second[b + c];
      result.input2[b + c] += grad[from] * first[a + c];
    }
  });
  return result;
}

}  // namespace mluops::reference
