// three_interpolate_*: b c m n; indices=valid (default) | repeated | wild (some far outside) | none (all outside);
// data=signed (default) | nan_dropped (forward: NaN weights where the index is outside).
#include <cmath>
#include <limits>

#include "test/support/problem.h"

namespace mluops::test {
namespace {

double index(const std::string& kind, std::int64_t m, Random& random) {
  const std::int64_t outside[] = {
      -1, m, m + 1, -m, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
  if (kind == "none" || (kind == "wild" && random.chance(0.3))) return static_cast<double>(random.pick(outside));
  if (kind == "repeated") return static_cast<double>(random.integer(0, std::min<std::int64_t>(m, 2) - 1));
  return static_cast<double>(random.integer(0, m - 1));
}

struct Neighbours {
  Tensor& indices;
  Tensor& weights;
};

Neighbours add_neighbours(Problem& p, const mluopsThreeInterpolateShape& s, Random& random) {
  Tensor& indices = p.add_input("indices", MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {s.b, s.n, 3});
  Tensor& weights = p.add_input("weights", MLUOP_LAYOUT_ARRAY, s.dtype, {s.b, s.n, 3});
  reference::Values chosen(static_cast<std::size_t>(indices.count()));
  for (double& i : chosen) i = index(p.text.text_or("indices", "valid"), s.m, random);
  reference::Values share = uniform(p, random, weights.count());
  if (p.text.text_or("data", "signed") == "nan_dropped") {
    for (std::size_t i = 0; i < share.size(); ++i) {
      if (chosen[i] < 0 || chosen[i] >= static_cast<double>(s.m)) share[i] = std::nan("");
    }
  }
  indices.fill(chosen);
  weights.fill(share);
  return {indices, weights};
}

using Call = mluOpStatus_t (*)(mluOpHandle_t, const mluOpTensorDescriptor_t, const void*, const mluOpTensorDescriptor_t,
                               const void*, const mluOpTensorDescriptor_t, const void*, const mluOpTensorDescriptor_t,
                               void*);

}  // namespace

Problem make_three_interpolate(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsThreeInterpolateShape s = {dtype, text.size("b"), text.size("c"), text.size("m"), text.size("n")};
  const bool forward = text.op() == "three_interpolate_forward";
  const std::vector<std::int64_t> known = {s.b, s.c, s.m}, wanted = {s.b, s.c, s.n};
  Random random(text.text());
  Tensor& from = p.add_input(forward ? "features" : "grad_output", MLUOP_LAYOUT_ARRAY, dtype, forward ? known : wanted);
  from.fill(uniform(p, random, from.count()));
  const auto [indices, weights] = add_neighbours(p, s, random);
  Tensor& to = p.add_output(forward ? "output" : "grad_features", MLUOP_LAYOUT_ARRAY, dtype, forward ? wanted : known);
  const Call call = forward ? mluOpThreeInterpolateForward : mluOpThreeInterpolateBackward;
  p.call = [call, &from, &indices = indices, &weights = weights, &to](mluOpHandle_t handle) {
    return call(handle, from.desc(), from.data(), indices.desc(), indices.data(), weights.desc(), weights.data(),
                to.desc(), to.data());
  };
  p.expect = [forward, s, &from, &indices = indices, &weights = weights, &to](reference::Coordinates) {
    const std::int32_t* index_data = static_cast<const std::int32_t*>(indices.data());
    return std::vector<reference::Values>{
        forward ? reference::three_interpolate_forward({s, from.data(), index_data, weights.data(), to.data()})
                : reference::three_interpolate_backward({s, from.data(), index_data, weights.data(), to.data()})};
  };
  return p;
}

}  // namespace mluops::test
