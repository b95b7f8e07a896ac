// FFT: signals of one or two dimensions, complex or with one side real, of any strides.
//
// A task owns lines: it copies one into its scratch, as floats with real and imaginary parts apart, transforms it there
// (transform-inl.h) and writes it. With two dimensions, a first loop transforms the lines of one dimension into a block
// that holds all signals; a second loop transforms the lines of the other dimension from that block. The inverse
// transform swaps real and imaginary parts. 5 n log2 n flops a line; bound by memory for signals larger than the
// caches.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/fft/fft.cpp"
#include <hwy/foreach_target.h>

#include <bit>
#include <cstdint>
#include <new>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/fft/transform-inl.h"
#include "mluops/problem/fft.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::fft::HWY_NAMESPACE {
namespace {

enum Kind : std::int32_t { kComplex, kFromReal, kToReal };

/// Numbers of a signal's line in a transform: those that are there, in steps.
struct Steps {
  std::int64_t first, step, count;
};

/// The block between the two loops: [batch][n0][width], real and imaginary parts apart.
struct Block {
  float *re, *im;
  std::int64_t n0, width;
};

/// Scratch of slots: two lines each; and the transformed chirp.
struct Scratch {
  float* memory;
  std::int64_t length;

  Line line(int slot, int which) const {
    float* const at = memory + (slot * 4 + which * 2) * length;
    return {at, at + length};
  }
};

template <class T>
float real_at(const void* data, std::int64_t i) {
  return to_acc(static_cast<const T*>(data)[i]);
}

/// Reads a line of a tensor of the caller; what is missing of `n` is 0. `real`: it has no imaginary parts.
template <class T>
void read(const void* data, bool real, const Steps& at, std::int64_t n, Line to) {
  const std::int64_t count = std::min(at.count, n);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = at.first + i * at.step;
    to.re[i] = real ? real_at<T>(data, place) : real_at<T>(data, 2 * place);
    to.im[i] = real ? 0 : real_at<T>(data, 2 * place + 1);
  }
  std::fill(to.re + count, to.re + n, 0.0f);
  std::fill(to.im + count, to.im + n, 0.0f);
}

/// Writes a line of a tensor of the caller, scaled.
template <class T>
void write(Line from, bool real, double scale, const Steps& at, void* data) {
  T* const out = static_cast<T*>(data);
  const auto factor = static_cast<float>(scale);
  for (std::int64_t i = 0; i < at.count; ++i) {
    const std::int64_t place = at.first + i * at.step;
    if (real) {
      out[place] = from_acc<T>(from.re[i] * factor);
    } else {
      out[2 * place] = from_acc<T>(from.re[i] * factor);
      out[2 * place + 1] = from_acc<T>(from.im[i] * factor);
    }
  }
}

/// The other half of a line of n numbers whose transform is real: conj(x[n - k]).
void mirror(Line x, std::int64_t n) {
  x.im[0] = 0;
  if (n % 2 == 0) x.im[n / 2] = 0;
  for (std::int64_t k = n / 2 + 1; k < n; ++k) {
    x.re[k] = x.re[n - k];
    x.im[k] = -x.im[n - k];
  }
}

/// Lines of one dimension: `load(line, numbers)`, transformed, `keep(line, numbers)`.
template <class Load, class Keep>
mluOpStatus_t for_lines(Context& context, const mluopsCall& call, const Tables& tables, std::int64_t lines,
                        bool backward, Load load_line, Keep keep) {
  const auto length = static_cast<double>(tables.length);
  const double flops = 5 * length * std::bit_width(static_cast<std::uint64_t>(tables.length));
  const double line_ns = flops * 2 * cost::kMultiplyAdd * (tables.convolves() ? 2 : 1) + 4 * cost::kMove * length;
  const Loop loop(context, call, lines, line_ns);
  const Scratch scratch{context.arena.reserve_array<float>(4, loop.slots() + 1, tables.length), tables.length};
  if (scratch.memory == nullptr) return no_memory(call);
  const Line filter = scratch.line(loop.slots(), 0);
  if (tables.convolves()) transform_filter(tables, scratch.line(0, 0), scratch.line(0, 1), filter.re, filter.im);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      Line x = scratch.line(slot, 0), other = scratch.line(slot, 1);
      load_line(i, x);
      if (backward) std::swap(x.re, x.im), std::swap(other.re, other.im);
      Line made = transform(tables, x, other, filter);
      if (backward) std::swap(made.re, made.im);
      keep(i, made);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Line `i` of a tensor along its last dimension: signal i / rows, row i % rows.
Steps row_of(const mluopsFftLayout& t, std::int64_t rows, std::int64_t i) {
  return {i / rows * t.batch + i % rows * t.row, t.column, t.columns};
}

/// Line `i` along its first dimension: signal i / columns, column i % columns.
Steps column_of(const mluopsFftLayout& t, std::int64_t columns, std::int64_t i) {
  return {i / columns * t.batch + i % columns * t.column, t.row, t.rows};
}

template <class T>
mluOpStatus_t one_dimension(Context& context, const mluopsCall& call, const mluopsFftProblem& p) {
  const mluopsFftShape& s = p.shape;
  const auto tables = tables_of(s.n1);
  const std::int64_t half = s.n1 / 2 + 1;
  return for_lines(
      context, call, *tables, s.batch, s.backward != 0,
      [&](std::int64_t i, Line x) {
        read<T>(p.input, s.kind == kFromReal, row_of(s.in, 1, i), s.kind == kToReal ? half : s.n1, x);
        if (s.kind == kToReal) mirror(x, s.n1);
      },
      [&](std::int64_t i, Line x) { write<T>(x, s.kind == kToReal, p.scale_factor, row_of(s.out, 1, i), p.output); });
}

/// Numbers of a line of the block, in steps.
void copy_in(const float* re, const float* im, std::int64_t step, std::int64_t n, Line to) {
  for (std::int64_t k = 0; k < n; ++k) to.re[k] = re[k * step], to.im[k] = im[k * step];
}

void copy_out(Line from, std::int64_t step, std::int64_t n, float* re, float* im) {
  for (std::int64_t k = 0; k < n; ++k) re[k * step] = from.re[k], im[k * step] = from.im[k];
}

/// Rows first, then columns; from complex to real columns first.
template <class T>
mluOpStatus_t two_dimensions(Context& context, const mluopsCall& call, const mluopsFftProblem& p) {
  const mluopsFftShape& s = p.shape;
  const auto along_rows = tables_of(s.n1), along_columns = tables_of(s.n0);
  const std::int64_t width = s.kind == kComplex ? s.n1 : s.n1 / 2 + 1, image = s.n0 * width;
  float* const re = context.sums.reserve_array<float>(2, s.batch, image);
  if (re == nullptr) return no_memory(call);
  float* const im = re + s.batch * image;
  const bool backward = s.backward != 0, to_real = s.kind == kToReal;
  if (to_real) {
    const mluOpStatus_t first = for_lines(
        context, call, *along_columns, s.batch * width, backward,
        [&](std::int64_t i, Line x) {
          Steps at = column_of(s.in, width, i);
          if (i % width >= s.in.columns) at.count = 0;
          read<T>(p.input, false, at, s.n0, x);
        },
        [&](std::int64_t i, Line x) {
          const std::int64_t at = i / width * image + i % width;
          copy_out(x, width, s.n0, re + at, im + at);
        });
    if (first != MLUOP_STATUS_SUCCESS) return first;
    return for_lines(
        context, call, *along_rows, s.batch * s.n0, backward,
        [&](std::int64_t i, Line x) {
          copy_in(re + i * width, im + i * width, 1, width, x);
          mirror(x, s.n1);
        },
        [&](std::int64_t i, Line x) { write<T>(x, true, p.scale_factor, row_of(s.out, s.n0, i), p.output); });
  }
  const mluOpStatus_t first = for_lines(
      context, call, *along_rows, s.batch * s.n0, backward,
      [&](std::int64_t i, Line x) {
        Steps at = row_of(s.in, s.n0, i);
        if (i % s.n0 >= s.in.rows) at.count = 0;
        read<T>(p.input, s.kind == kFromReal, at, s.n1, x);
      },
      [&](std::int64_t i, Line x) { copy_out(x, 1, width, re + i * width, im + i * width); });
  if (first != MLUOP_STATUS_SUCCESS) return first;
  return for_lines(
      context, call, *along_columns, s.batch * width, backward,
      [&](std::int64_t i, Line x) {
        const std::int64_t at = i / width * image + i % width;
        copy_in(re + at, im + at, width, s.n0, x);
      },
      [&](std::int64_t i, Line x) { write<T>(x, false, p.scale_factor, column_of(s.out, width, i), p.output); });
}

template <class T>
mluOpStatus_t fft(Context& context, const mluopsCall& call, const mluopsFftProblem& p) {
  try {
    return p.shape.n0 == 1 && p.shape.in.rows == 1 ? one_dimension<T>(context, call, p)
                                                   : two_dimensions<T>(context, call, p);
  } catch (const std::bad_alloc&) {
    return no_memory(call);
  }
}

template <class F>
mluOpStatus_t with_fft_element(const mluopsCall& call, mluOpDataType_t dtype, F&& f) {
  if (dtype == MLUOP_DTYPE_COMPLEX_FLOAT) return f(TypeTag<float>{});
  if (dtype == MLUOP_DTYPE_COMPLEX_HALF) return f(TypeTag<Half>{});
  return dtype_not_supported(call);
}

}  // namespace
}  // namespace mluops::cpu::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(fft, fft, fft, mluopsFftProblem, with_fft_element)
