#include "test/reference/upfirdn2d.h"

namespace mluops::reference {
namespace {

using Shape = mluopsUpfirdn2dShape;

/// Row or column `at` of the padded plane, which has zeros between the pixels: the pixel there, or -1.
std::int64_t pixel(std::int64_t at, int pad, int up, std::int64_t size) {
  const std::int64_t place = at - pad;
  return place < 0 || place % up != 0 || place / up >= size ? -1 : place / up;
}

}  // namespace

Values upfirdn2d(const mluopsUpfirdn2dProblem& problem) {
  const Shape& s = problem.shape;
  const Values input = decode(s.dtype, problem.input, s.n * s.h * s.w * s.c);
  const Values filter = decode(s.dtype, problem.filter, s.fh * s.fw);
  Values output;
  const auto padded = [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) {
    const std::int64_t row = pixel(y, s.pad_y0, s.up_y, s.h), column = pixel(x, s.pad_x0, s.up_x, s.w);
    return row < 0 || column < 0 ? 0.0 : input[static_cast<std::size_t>(((n * s.h + row) * s.w + column) * s.c + c)];
  };
  for (std::int64_t i = 0; i < s.n * s.out_h * s.out_w * s.c; ++i) {
    const std::int64_t c = i % s.c, x = i / s.c % s.out_w, y = i / (s.c * s.out_w) % s.out_h;
    const std::int64_t n = i / (s.c * s.out_w * s.out_h);
    double sum = 0;
    for (std::int64_t tap = 0; tap < s.fh * s.fw; ++tap) {
      const std::int64_t from = s.flip_filter != 0 ? tap : s.fh * s.fw - 1 - tap;
      sum +=
          filter[static_cast<std::size_t>(from)] * padded(n, y * s.down_y + tap / s.fw, x * s.down_x + tap % s.fw, c);
    }
    output.push_back(problem.gain * sum);
  }
  return output;
}

}  // namespace mluops::reference
