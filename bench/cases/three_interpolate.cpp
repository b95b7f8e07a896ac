#include <algorithm>
#include <cmath>

#include "bench/cases/builders.h"

namespace bench {
namespace {

namespace ref = mluops::reference;

mluopsThreeInterpolateShape shape_of(const ThreeInterpolateSizes& s, mluOpDataType_t dtype) {
  return {dtype, s.b, s.c, s.m, s.n};
}

std::vector<float> make_indices(const ThreeInterpolateSizes& s) {
  const double range = std::max(1.0, std::floor(s.spread * static_cast<double>(s.m)));
  std::vector<float> indices(static_cast<std::size_t>(s.b * s.n * 3));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<float>(std::floor(unit_random(7, static_cast<std::int64_t>(i)) * range));
  }
  return indices;
}

// Which points [b, m] some index names.
std::vector<bool> touched_points(const ThreeInterpolateSizes& s, const std::vector<float>& indices) {
  std::vector<bool> touched(static_cast<std::size_t>(s.b * s.m));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t batch = static_cast<std::int64_t>(i) / (s.n * 3);
    touched[static_cast<std::size_t>(batch * s.m) + static_cast<std::size_t>(indices[i])] = true;
  }
  return touched;
}

// Those points in every channel.
void set_touched(Tensor& features, const ThreeInterpolateSizes& s, std::vector<bool> points) {
  features.touched =
      static_cast<double>(std::count(points.begin(), points.end(), true)) / static_cast<double>(points.size());
  features.runs = [s, points = std::move(points)](const RunVisitor& visit) {
    for (std::int64_t i = 0; i < s.b * s.c * s.m; ++i) {
      if (points[static_cast<std::size_t>(i / (s.c * s.m) * s.m + i % s.m)]) visit(i, 1);
    }
  };
}

void set_forward(Case& c, const ThreeInterpolateSizes& s) {
  c.call = [](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpThreeInterpolateForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                        t[3].desc, t[3].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    const auto* indices = static_cast<const std::int32_t*>(in[1]);
    return std::vector<Values>{ref::three_interpolate_forward({shape, in[0], indices, in[2], nullptr})};
  };
}

void set_backward(Case& c, const ThreeInterpolateSizes& s) {
  c.call = [](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpThreeInterpolateBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                         t[3].desc, t[3].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    const auto* indices = static_cast<const std::int32_t*>(in[1]);
    return std::vector<Values>{ref::three_interpolate_backward({shape, in[0], indices, in[2], nullptr})};
  };
}

}  // namespace

Case make_three_interpolate(const ThreeInterpolateSizes& s, Direction direction, mluOpDataType_t dtype) {
  const bool forward = direction == Direction::forward;
  Case c;
  c.op = forward ? "three_interpolate_forward" : "three_interpolate_backward";
  c.shape = bracketed({s.b, s.c, s.n}) + " M" + std::to_string(s.m);
  c.dtype = dtype;
  c.flops = 6.0 * static_cast<double>(s.b * s.c * s.n);  // three multiply-adds per output or grad_output element
  const std::vector<std::int64_t> features = {s.b, s.c, s.m}, points = {s.b, s.c, s.n}, triples = {s.b, s.n, 3};
  const std::vector<float> indices = make_indices(s);
  const mluOpTensorLayout_t array = MLUOP_LAYOUT_ARRAY;
  c.tensors = {{forward ? "features" : "grad_output", array, dtype, forward ? features : points, uniform(-1, 1, 1)},
               {"indices", array, MLUOP_DTYPE_INT32, triples, given(indices)},
               {"weights", array, dtype, triples, uniform(0, 1, 3)},
               {forward ? "output" : "grad_features", array, dtype, forward ? points : features, {}}};
  if (forward) set_touched(c.tensors[0], s, touched_points(s, indices));
  forward ? set_forward(c, s) : set_backward(c, s);
  return c;
}

}  // namespace bench
