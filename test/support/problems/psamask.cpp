// psamask_*: n h w hm wm type; data=signed (default) | special (NaN, Inf, -0 and subnormals among the values).
#include <limits>

#include "test/support/problem.h"

namespace mluops::test {
namespace {

reference::Values numbers(const Problem& p, Random& random, std::int64_t count) {
  reference::Values values = uniform(p, random, count, -10, 10);
  if (p.text.text_or("data", "signed") != "special") return values;
  const double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), -0.0, 0x1p-140, 0x1p-24};
  for (double& v : values) {
    if (random.chance(0.3)) v = random.pick(special);
  }
  return values;
}

using Call = mluOpStatus_t (*)(mluOpHandle_t, const int, const mluOpTensorDescriptor_t, const void*, const int,
                               const int, const mluOpTensorDescriptor_t, void*);

}  // namespace

Problem make_psamask(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsPsamaskShape s = {dtype,
                                text.size("n"),
                                text.size("h"),
                                text.size("w"),
                                text.size("hm"),
                                text.size("wm"),
                                static_cast<int>(text.size("type"))};
  const bool forward = text.op() == "psamask_forward";
  const std::vector<std::int64_t> cells = {s.n, s.h, s.w, s.h_mask * s.w_mask}, maps = {s.n, s.h, s.w, s.h * s.w};
  Tensor& from = p.add_input(forward ? "x" : "dy", MLUOP_LAYOUT_NHWC, dtype, forward ? cells : maps);
  Tensor& to = p.add_output(forward ? "y" : "dx", MLUOP_LAYOUT_NHWC, dtype, forward ? maps : cells, Comparison::kBits);
  Random random(text.text());
  from.fill(numbers(p, random, from.count()));
  const Call call = forward ? mluOpPsamaskForward : mluOpPsamaskBackward;
  p.call = [call, s, &from, &to](mluOpHandle_t handle) {
    return call(handle, s.psa_type, from.desc(), from.data(), static_cast<int>(s.h_mask), static_cast<int>(s.w_mask),
                to.desc(), to.data());
  };
  p.expect = [forward, s, &from, &to](reference::Coordinates) {
    return std::vector<reference::Values>{forward ? reference::psamask_forward({s, from.data(), to.data()})
                                                  : reference::psamask_backward({s, from.data(), to.data()})};
  };
  return p;
}

}  // namespace mluops::test
