// carafe_*: n h w c k g s; data=signed (default) | positive | nan_padding (NaN in the mask at taps outside the map).
#include <cmath>
#include <limits>

#include "test/support/problem.h"

namespace mluops::test {
namespace {

class CarafeDescriptor {
 public:
  explicit CarafeDescriptor(const mluopsCarafeShape& s) {
    mluOpCreateCarafeDescriptor(&desc_);
    mluOpSetCarafeDescriptor(desc_, 4, static_cast<int>(s.kernel), static_cast<int>(s.group),
                             static_cast<int>(s.scale));
  }
  CarafeDescriptor(const CarafeDescriptor&) = delete;
  CarafeDescriptor& operator=(const CarafeDescriptor&) = delete;
  ~CarafeDescriptor() { mluOpDestroyCarafeDescriptor(desc_); }
  mluOpCarafeDescriptor_t get() const { return desc_; }

 private:
  mluOpCarafeDescriptor_t desc_ = nullptr;
};

mluopsCarafeShape shape_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t h = t.size("h"), w = t.size("w"), s = t.size("s");
  return {dtype, t.size("n"), h, w, t.size("c"), s * h, s * w, t.size("k"), t.size("g"), s};
}

void put_nan_at_padded_taps(const mluopsCarafeShape& s, reference::Values& mask) {
  const std::int64_t radius = (s.kernel - 1) / 2, taps = s.kernel * s.kernel;
  for (std::size_t at = 0; at < mask.size(); ++at) {
    const std::int64_t tap = static_cast<std::int64_t>(at) % taps;
    const std::int64_t pixel = static_cast<std::int64_t>(at) / taps / s.group;
    const std::int64_t y = pixel / s.wo % s.ho / s.scale + tap / s.kernel - radius;
    const std::int64_t x = pixel % s.wo / s.scale + tap % s.kernel - radius;
    if (y < 0 || y >= s.h || x < 0 || x >= s.w) mask[at] = std::numeric_limits<double>::quiet_NaN();
  }
}

struct Inputs {
  Tensor& input;
  Tensor& mask;
};

Inputs add_inputs(Problem& p, const mluopsCarafeShape& s, Random& random) {
  Tensor& input = p.add_input("input", MLUOP_LAYOUT_NHWC, s.dtype, {s.n, s.h, s.w, s.c});
  Tensor& mask = p.add_input("mask", MLUOP_LAYOUT_NHWC, s.dtype, {s.n, s.ho, s.wo, s.group * s.kernel * s.kernel});
  const std::string data = p.text.text_or("data", "signed");
  input.fill(uniform(p, random, input.count(), data == "positive" ? 0 : -1, 1));
  reference::Values weights = uniform(p, random, mask.count(), data == "positive" ? 0 : -1, 1);
  if (data == "nan_padding") put_nan_at_padded_taps(s, weights);
  mask.fill(weights);
  return {input, mask};
}

Problem make_forward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsCarafeShape s = shape_of(text, dtype);
  Random random(text.text());
  const auto [input, mask] = add_inputs(p, s, random);
  Tensor& output = p.add_output("output", MLUOP_LAYOUT_NHWC, dtype, {s.n, s.ho, s.wo, s.c});
  const mluopsCarafeForwardProblem problem = {s, input.data(), mask.data(), output.data()};
  auto desc = std::make_shared<CarafeDescriptor>(s);
  p.call = [&input = input, &mask = mask, &output, desc](mluOpHandle_t handle) {
    return mluOpCarafeForward(handle, desc->get(), input.desc(), input.data(), mask.desc(), mask.data(), output.desc(),
                              output.data());
  };
  p.expect = [problem](reference::Coordinates) {
    return std::vector<reference::Values>{reference::carafe_forward(problem)};
  };
  return p;
}

Problem make_backward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsCarafeShape s = shape_of(text, dtype);
  Random random(text.text());
  const auto [input, mask] = add_inputs(p, s, random);
  Tensor& grad = p.add_input("grad_output", MLUOP_LAYOUT_NHWC, dtype, {s.n, s.ho, s.wo, s.c});
  grad.fill(uniform(p, random, grad.count(), text.text_or("data", "signed") == "positive" ? 0 : -1, 1));
  Tensor& grad_input = p.add_output("grad_input", MLUOP_LAYOUT_NHWC, dtype, input.dims());
  Tensor& grad_mask = p.add_output("grad_mask", MLUOP_LAYOUT_NHWC, dtype, mask.dims());
  const mluopsCarafeBackwardProblem problem = {s,           input.data(),      mask.data(),
                                               grad.data(), grad_input.data(), grad_mask.data()};
  auto desc = std::make_shared<CarafeDescriptor>(s);
  p.call = [&input = input, &mask = mask, &grad, &grad_input, &grad_mask, desc](mluOpHandle_t handle) {
    return mluOpCarafeBackward(handle, desc->get(), input.desc(), input.data(), mask.desc(), mask.data(), grad.desc(),
                               grad.data(), grad_input.desc(), grad_input.data(), grad_mask.desc(), grad_mask.data());
  };
  p.expect = [problem](reference::Coordinates) {
    reference::CarafeGradients g = reference::carafe_backward(problem);
    return std::vector<reference::Values>{std::move(g.input), std::move(g.mask)};
  };
  return p;
}

}  // namespace

Problem make_carafe(const Case& text, mluOpDataType_t dtype) {
  return text.op() == "carafe_forward" ? make_forward(text, dtype) : make_backward(text, dtype);
}

}  // namespace mluops::test
