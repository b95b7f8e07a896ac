#include "bench/cases/builders.h"

namespace bench {
namespace {

namespace ref = mluops::reference;

// Taps that fall on the map, summed over all pixels of one axis.
std::int64_t taps_inside(std::int64_t size, int kernel) {
  std::int64_t taps = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    for (int k = 0; k < kernel; ++k) {
      const std::int64_t at = i + k - (kernel - 1) / 2;
      taps += at >= 0 && at < size;
    }
  }
  return taps;
}

mluopsCarafeShape shape_of(const CarafeSizes& s, mluOpDataType_t dtype) {
  return {dtype, s.n, s.h, s.w, s.c, s.scale * s.h, s.scale * s.w, s.kernel, s.group, s.scale};
}

std::vector<Tensor> tensors_of(const CarafeSizes& s, Direction direction, mluOpDataType_t dtype) {
  const std::int64_t ho = s.scale * s.h, wo = s.scale * s.w, taps = s.group * s.kernel * s.kernel;
  const std::vector<std::int64_t> input = {s.n, s.h, s.w, s.c}, mask = {s.n, ho, wo, taps}, output = {s.n, ho, wo, s.c};
  const mluOpTensorLayout_t nhwc = MLUOP_LAYOUT_NHWC;
  // Weights around 1/K^2, as after the softmax of the network.
  const Fill weights = uniform(0, 2.0 / (s.kernel * s.kernel), 2);
  std::vector<Tensor> t = {{"input", nhwc, dtype, input, uniform(-1, 1, 1)}, {"mask", nhwc, dtype, mask, weights}};
  if (direction == Direction::forward) {
    t.push_back({"output", nhwc, dtype, output, {}});
  } else {
    t.push_back({"grad_output", nhwc, dtype, output, uniform(-1, 1, 3)});
    t.push_back({"grad_input", nhwc, dtype, input, {}});
    t.push_back({"grad_mask", nhwc, dtype, mask, {}});
  }
  return t;
}

// Shared by every copy of the call.
std::shared_ptr<mluOpCarafeStruct> descriptor_of(const CarafeSizes& s) {
  mluOpCarafeDescriptor_t desc = nullptr;
  mluOpCreateCarafeDescriptor(&desc);
  mluOpSetCarafeDescriptor(desc, 4, s.kernel, s.group, s.scale);
  return {desc, mluOpDestroyCarafeDescriptor};
}

void set_forward(Case& c, const CarafeSizes& s) {
  c.call = [desc = descriptor_of(s)](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpCarafeForward(handle, desc.get(), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    return std::vector<Values>{ref::carafe_forward({shape, in[0], in[1], nullptr})};
  };
}

void set_backward(Case& c, const CarafeSizes& s) {
  c.call = [desc = descriptor_of(s)](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpCarafeBackward(handle, desc.get(), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                               t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    ref::CarafeGradients g = ref::carafe_backward({shape, in[0], in[1], in[2], nullptr, nullptr});
    return std::vector<Values>{std::move(g.input), std::move(g.mask)};
  };
}

}  // namespace

Case make_carafe(const CarafeSizes& s, Direction direction, mluOpDataType_t dtype) {
  const bool forward = direction == Direction::forward;
  Case c;
  c.op = forward ? "carafe_forward" : "carafe_backward";
  c.shape = bracketed({s.n, s.h, s.w, s.c}) + " k" + std::to_string(s.kernel) + " g" + std::to_string(s.group) + " s" +
            std::to_string(s.scale);
  c.dtype = dtype;
  c.tensors = tensors_of(s, direction, dtype);
  // One multiply-add per tap and channel; backward does two, one per gradient.
  const std::int64_t taps = taps_inside(s.h, s.kernel) * taps_inside(s.w, s.kernel) * s.scale * s.scale;
  c.flops = (forward ? 2.0 : 4.0) * static_cast<double>(s.n * taps * s.c);
  forward ? set_forward(c, s) : set_backward(c, s);
  return c;
}

}  // namespace bench
