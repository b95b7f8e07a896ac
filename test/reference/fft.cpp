#include "test/reference/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace mluops::reference {
namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

std::size_t smallest_factor(std::size_t n) {
  for (std::size_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

/// exp(sign * 2 pi i k / n), k < n.
Signal roots_of(std::size_t n, double sign) {
  Signal roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    roots[k] = std::polar(1.0, sign * 2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(n));
  }
  return roots;
}

/// The transform of x[0], x[step], ...: n numbers of a signal with these roots.
Signal transform(const Signal& x, std::size_t first, std::size_t step, std::size_t n, const Signal& roots) {
  if (n == 1) return {x[first]};
  const std::size_t factor = smallest_factor(n), part = n / factor, turn = roots.size() / n;
  std::vector<Signal> parts;
  for (std::size_t i = 0; i < factor; ++i) parts.push_back(transform(x, first + i * step, step * factor, part, roots));
  Signal made(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < factor; ++i) made[k] += parts[i][k % part] * roots[i * k % n * turn];
  }
  return made;
}

/// A signal of rows x columns along both dimensions.
void transform_image(Signal& image, std::size_t rows, std::size_t columns, double sign) {
  const Signal of_rows = roots_of(columns, sign), of_columns = roots_of(rows, sign);
  for (std::size_t row = 0; row < rows; ++row) {
    const Signal line = transform(image, row * columns, 1, columns, of_rows);
    std::copy(line.begin(), line.end(), image.begin() + static_cast<std::ptrdiff_t>(row * columns));
  }
  for (std::size_t column = 0; column < columns; ++column) {
    const Signal line = transform(image, column, columns, rows, of_columns);
    for (std::size_t row = 0; row < rows; ++row) image[row * columns + column] = line[row];
  }
}

/// The numbers of a real signal's transform that are given, and those that follow from them; of the latter the
/// imaginary parts of what must be real are left out.
void complete(Signal& image, std::size_t rows, std::size_t columns) {
  for (std::size_t column = columns / 2 + 1; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      image[row * columns + column] = std::conj(image[(rows - row) % rows * columns + columns - column]);
    }
  }
}

}  // namespace

Values fft(const mluopsFftProblem& p) {
  const mluopsFftShape& s = p.shape;
  const mluOpDataType_t real = s.dtype == MLUOP_DTYPE_COMPLEX_HALF ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_FLOAT;
  const std::int64_t parts = s.kind == 1 ? 1 : 2, columns = s.kind == 2 ? s.n1 / 2 + 1 : s.n1;
  const Values input = decode(real, p.input, s.batch * s.in.rows * s.in.columns * parts);
  Values output;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    Signal image(static_cast<std::size_t>(s.n0 * s.n1));
    for (std::int64_t i = 0; i < std::min(s.n0, s.in.rows); ++i) {
      for (std::int64_t j = 0; j < std::min(columns, s.in.columns); ++j) {
        const auto at = static_cast<std::size_t>(((b * s.in.rows + i) * s.in.columns + j) * parts);
        image[static_cast<std::size_t>(i * s.n1 + j)] = {input[at], parts == 2 ? input[at + 1] : 0};
      }
    }
    if (s.kind == 2) complete(image, static_cast<std::size_t>(s.n0), static_cast<std::size_t>(s.n1));
    transform_image(image, static_cast<std::size_t>(s.n0), static_cast<std::size_t>(s.n1), s.backward != 0 ? 1 : -1);
    for (std::int64_t i = 0; i < s.out.rows * s.out.columns; ++i) {
      const Complex value =
          image[static_cast<std::size_t>(i / s.out.columns * s.n1 + i % s.out.columns)] * p.scale_factor;
      output.push_back(value.real());
      if (s.kind != 2) output.push_back(value.imag());
    }
  }
  return output;
}

}  // namespace mluops::reference
