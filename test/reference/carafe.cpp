#include "test/reference/reference.h"

namespace mluops::reference {
namespace {

using Shape = mluopsCarafeShape;

struct Tap {
  std::int64_t input;   // first channel of the group in the input pixel
  std::int64_t output;  // first channel of the group in the output pixel
  std::int64_t mask;    // the weight between the two
};

// Every pair (input pixel, output pixel) that some tap joins, for one group; the walk is over input pixels.
template <class Body>
void for_each_tap_of_pixel(const Shape& s, std::int64_t n, std::int64_t i, std::int64_t j, Body body) {
  const std::int64_t radius = (s.kernel - 1) / 2, group_channels = s.c / s.group;
  for (std::int64_t kh = 0; kh < s.kernel; ++kh) {
    for (std::int64_t kw = 0; kw < s.kernel; ++kw) {
      const std::int64_t top = (i - kh + radius) * s.scale, left = (j - kw + radius) * s.scale;
      if (top < 0 || top >= s.ho || left < 0 || left >= s.wo) continue;
      for (std::int64_t y = top; y < top + s.scale; ++y) {
        for (std::int64_t x = left; x < left + s.scale; ++x) {
          for (std::int64_t g = 0; g < s.group; ++g) {
            const std::int64_t pixel = (n * s.ho + y) * s.wo + x;
            body(Tap{((n * s.h + i) * s.w + j) * s.c + g * group_channels, pixel * s.c + g * group_channels,
                     ((pixel * s.group + g) * s.kernel + kh) * s.kernel + kw});
          }
        }
      }
    }
  }
}

template <class Body>
void for_each_tap(const Shape& s, Body body) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t i = 0; i < s.h; ++i) {
      for (std::int64_t j = 0; j < s.w; ++j) for_each_tap_of_pixel(s, n, i, j, body);
    }
  }
}

std::int64_t input_count(const Shape& s) {
  return s.n * s.h * s.w * s.c;
}
std::int64_t output_count(const Shape& s) {
  return s.n * s.ho * s.wo * s.c;
}
std::int64_t mask_count(const Shape& s) {
  return s.n * s.ho * s.wo * s.group * s.kernel * s.kernel;
}

}  // namespace

Values carafe_forward(const mluopsCarafeForwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, input_count(s));
  const Values mask = decode(s.dtype, p.mask, mask_count(s));
  Values output(static_cast<std::size_t>(output_count(s)), 0.0);
  for_each_tap(s, [&](const Tap& t) {
    for (std::int64_t c = 0; c < s.c / s.group; ++c) output[t.output + c] += mask[t.mask] * input[t.input + c];
  });
  return output;
}

CarafeGradients carafe_backward(const mluopsCarafeBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, input_count(s));
  const Values mask = decode(s.dtype, p.mask, mask_count(s));
  const Values grad = decode(s.dtype, p.grad_output, output_count(s));
  CarafeGradients result{Values(input.size(), 0.0), Values(mask.size(), 0.0)};
  for_each_tap(s, [&](const Tap& t) {
    double product = 0;
    for (std::int64_t c = 0; c < s.c / s.group; ++c) {
      result.input[t.input + c] += mask[t.mask] * grad[t.output + c];
      product += input[t.input + c] * grad[t.output + c];
    }
    result.mask[t.mask] = product;
  });
  return result;
}

}  // namespace mluops::reference
