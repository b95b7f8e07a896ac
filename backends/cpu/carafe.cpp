// CARAFE: each output pixel is a K*K window of input pixels, weighted by its own mask; s*s output pixels share a
// window.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/carafe.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {

using Shape = mluopsCarafeShape;

double flop_ns(double flops) {
  return flops / 20.0;
}

template <class T>
void forward_pixel(const Shape& s, std::int64_t n, std::int64_t y, std::int64_t x, const T* input, const T* mask,
                   Acc<T>* sum, T* output) {
  const std::int64_t radius = s.kernel / 2, per_group = s.c / s.group, taps = s.kernel * s.kernel;
  std::memset(sum, 0, static_cast<std::size_t>(s.c) * sizeof(*sum));
  for (std::int64_t kh = 0; kh < s.kernel; ++kh) {
    const std::int64_t row = y / s.scale + kh - radius;
    if (row < 0 || row >= s.h) continue;
    for (std::int64_t kw = 0; kw < s.kernel; ++kw) {
      const std::int64_t column = x / s.scale + kw - radius;
      if (column < 0 || column >= s.w) continue;
      const T* const pixel = input + ((n * s.h + row) * s.w + column) * s.c;
      for (std::int64_t g = 0; g < s.group; ++g) {
        axpy(to_acc(mask[g * taps + kh * s.kernel + kw]), pixel + g * per_group, sum + g * per_group, per_group);
      }
    }
  }
  store_row(sum, output, s.c);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t mask_row = s.group * s.kernel * s.kernel;
  const Loop loop(context, call, s.n * s.ho * s.wo, flop_ns(2.0 * static_cast<double>(s.kernel * s.kernel * s.c)));
  auto* const sums = reinterpret_cast<Acc<T>*>(
      context.scratch.reserve(loop.slots() * s.c * static_cast<std::int64_t>(sizeof(Acc<T>))));
  if (sums == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / s.wo;
      forward_pixel(s, row / s.ho, row % s.ho, i % s.wo, static_cast<const T*>(p.input),
                    static_cast<const T*>(p.mask) + i * mask_row, sums + slot * s.c,
                    static_cast<T*>(p.output) + i * s.c);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// grad_mask of one output pixel: a dot product per tap and group.
template <class T>
void mask_gradient_pixel(const Shape& s, std::int64_t n, std::int64_t y, std::int64_t x, const T* input,
                         const T* grad_output, T* grad_mask) {
  const std::int64_t radius = s.kernel / 2, per_group = s.c / s.group, taps = s.kernel * s.kernel;
  for (std::int64_t kh = 0; kh < s.kernel; ++kh) {
    const std::int64_t row = y / s.scale + kh - radius;
    for (std::int64_t kw = 0; kw < s.kernel; ++kw) {
      const std::int64_t column = x / s.scale + kw - radius;
      const bool inside = row >= 0 && row < s.h && column >= 0 && column < s.w;
      const T* const pixel = inside ? input + ((n * s.h + row) * s.w + column) * s.c : nullptr;
      for (std::int64_t g = 0; g < s.group; ++g) {
        const Acc<T> sum = inside ? dot(pixel + g * per_group, grad_output + g * per_group, per_group) : 0;
        grad_mask[g * taps + kh * s.kernel + kw] = from_acc<T>(sum);
      }
    }
  }
}

/// grad_input of one input pixel, gathered from the output pixels whose window holds it.
template <class T>
void input_gradient_pixel(const Shape& s, std::int64_t n, std::int64_t row, std::int64_t column, const T* mask,
                          const T* grad_output, Acc<T>* sum, T* grad_input) {
  const std::int64_t radius = s.kernel / 2, per_group = s.c / s.group, taps = s.kernel * s.kernel;
  std::memset(sum, 0, static_cast<std::size_t>(s.c) * sizeof(*sum));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t i = row + radius - tap / s.kernel, j = column + radius - tap % s.kernel;
    if (i < 0 || i >= s.h || j < 0 || j >= s.w) continue;
    for (std::int64_t sub = 0; sub < s.scale * s.scale; ++sub) {
      const std::int64_t y = i * s.scale + sub / s.scale, x = j * s.scale + sub % s.scale;
      const std::int64_t out = (n * s.ho + y) * s.wo + x;
      for (std::int64_t g = 0; g < s.group; ++g) {
        axpy(to_acc(mask[out * s.group * taps + g * taps + tap]), grad_output + out * s.c + g * per_group,
             sum + g * per_group, per_group);
      }
    }
  }
  store_row(sum, grad_input, s.c);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t taps = s.kernel * s.kernel;
  const double flops = 2.0 * static_cast<double>(taps * s.c);
  const auto* input = static_cast<const T*>(p.input);
  const auto* mask = static_cast<const T*>(p.mask);
  const auto* grad_output = static_cast<const T*>(p.grad_output);
  choose_scatter(context, call, false);
  const Loop inputs(context, call, s.n * s.h * s.w, flop_ns(flops * static_cast<double>(s.scale * s.scale)));
  auto* const sums = reinterpret_cast<Acc<T>*>(
      context.scratch.reserve(inputs.slots() * s.c * static_cast<std::int64_t>(sizeof(Acc<T>))));
  if (sums == nullptr) return no_memory(call);
  inputs.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      input_gradient_pixel(s, i / (s.h * s.w), i / s.w % s.h, i % s.w, mask, grad_output, sums + slot * s.c,
                           static_cast<T*>(p.grad_input) + i * s.c);
    }
  });
  const Loop outputs(context, call, s.n * s.ho * s.wo, flop_ns(flops));
  outputs.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t i = begin; i < end; ++i) {
      mask_gradient_pixel(s, i / (s.ho * s.wo), i / s.wo % s.ho, i % s.wo, input, grad_output + i * s.c,
                          static_cast<T*>(p.grad_mask) + i * s.group * taps);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t run_carafe_forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
  const bool known = with_element(
      p.shape.dtype, [&](auto tag) HWY_ATTR { status = forward<typename decltype(tag)::type>(context, call, p); });
  return known ? status : dtype_not_supported(call);
}

mluOpStatus_t run_carafe_backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
  const bool known = with_element(
      p.shape.dtype, [&](auto tag) HWY_ATTR { status = backward<typename decltype(tag)::type>(context, call, p); });
  return known ? status : dtype_not_supported(call);
}

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

HWY_EXPORT(run_carafe_forward);
HWY_EXPORT(run_carafe_backward);

mluOpStatus_t carafe_forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_carafe_forward)(context, call, p);
}

mluOpStatus_t carafe_backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  return MLUOPS_CPU_DISPATCH(context, run_carafe_backward)(context, call, p);
}

}  // namespace mluops::cpu
#endif
