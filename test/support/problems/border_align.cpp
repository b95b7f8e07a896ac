// border_align_*: n h w c k p; boxes=inside (default) | beyond | inverted | edge (dyadic corners from -1.5 to size+1) |
// mixed; data=signed (default) | ties (few distinct values) | negative (samples outside win with 0);
// argmax=forward (default: the reference's) | wild (some out of range).
#include <algorithm>
#include <limits>

#include "test/support/problem.h"

namespace mluops::test {
namespace {

using Shape = mluopsBorderAlignShape;

double corner(const std::string& kind, double size, Random& random) {
  if (kind == "beyond") return random.real(-size - 3, 2 * size + 3);
  if (kind == "edge") return static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 2)) / 2;
  return random.real(0, size - 1);
}

reference::Values make_boxes(const Problem& p, const Shape& s, Random& random) {
  const std::string kinds[] = {"inside", "beyond", "inverted", "edge"};
  const std::string kind = p.text.text_or("boxes", "inside");
  reference::Values boxes;
  for (std::int64_t box = 0; box < s.n * s.k; ++box) {
    const std::string own = kind == "mixed" ? random.pick(kinds) : kind;
    double x[2], y[2];
    for (double& v : x) v = corner(own, static_cast<double>(s.w), random);
    for (double& v : y) v = corner(own, static_cast<double>(s.h), random);
    std::sort(x, x + 2);
    std::sort(y, y + 2);
    const int first = own == "inverted" ? 1 : 0;
    for (double v : {x[first], y[first], x[1 - first], y[1 - first]}) boxes.push_back(v);
  }
  return admissible(p, std::move(boxes));
}

reference::Values make_map(const Problem& p, std::int64_t count, Random& random) {
  const std::string data = p.text.text_or("data", "signed");
  if (data == "negative") return uniform(p, random, count, -1, -0.01);
  reference::Values values = uniform(p, random, count);
  if (data == "ties") {
    for (double& v : values) v = static_cast<double>(static_cast<int>(v * 2.999));
  }
  return values;
}

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("n"), t.size("h"), t.size("w"), t.size("c"), t.size("k"), t.size("p")};
}

Problem make_forward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const Shape s = shape_of(text, dtype);
  Random random(text.text());
  Tensor& input = p.add_input("input", MLUOP_LAYOUT_NHWC, dtype, {s.n, s.h, s.w, 4 * s.c});
  Tensor& boxes = p.add_input("boxes", MLUOP_LAYOUT_ARRAY, dtype, {s.n, s.k, 4});
  input.fill(make_map(p, input.count(), random));
  boxes.fill(make_boxes(p, s, random));
  Tensor& output = p.add_output("output", MLUOP_LAYOUT_NHWC, dtype, {s.n, s.k, 4, s.c});
  Tensor& argmax =
      p.add_output("argmax_idx", MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_INT32, {s.n, s.k, 4, s.c}, Comparison::kArgmax);
  const mluopsBorderAlignForwardProblem problem = {s, input.data(), boxes.data(), output.data(),
                                                   static_cast<std::int32_t*>(argmax.data())};
  p.call = [s, &input, &boxes, &output, &argmax](mluOpHandle_t handle) {
    return mluOpBorderAlignForward(handle, input.desc(), input.data(), boxes.desc(), boxes.data(),
                                   static_cast<std::int32_t>(s.pool_size), output.desc(), output.data(), argmax.desc(),
                                   argmax.data());
  };
  p.expect = [problem](reference::Coordinates coordinates) {
    reference::BorderAlignResult r = reference::border_align_forward(problem, coordinates);
    return std::vector<reference::Values>{std::move(r.output), {r.argmax.begin(), r.argmax.end()}};
  };
  p.samples = [problem](reference::Coordinates coordinates) {
    auto samples = std::make_shared<reference::BorderAlignSamples>(problem, coordinates);
    return [samples](std::int64_t element, int index) { return (*samples)(element, index); };
  };
  return p;
}

void fill_argmax(const Problem& p, const Shape& s, const Tensor& boxes, Tensor& argmax, Random& random) {
  const std::int32_t outside[] = {-1, static_cast<std::int32_t>(s.pool_size) + 1,
                                  std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
  reference::Values index(static_cast<std::size_t>(argmax.count()));
  const bool wild = p.text.text_or("argmax", "forward") == "wild";
  for (double& i : index) {
    i = wild && random.chance(0.3) ? random.pick(outside) : static_cast<double>(random.integer(0, s.pool_size));
  }
  if (!wild) {
    Tensor input("input", MLUOP_LAYOUT_NHWC, s.dtype, {s.n, s.h, s.w, 4 * s.c});
    input.fill(uniform(p, random, input.count()));
    const auto r = reference::border_align_forward({s, input.data(), boxes.data(), nullptr, nullptr},
                                                   reference::Coordinates::kFloat);
    index.assign(r.argmax.begin(), r.argmax.end());
  }
  argmax.fill(index);
}

Problem make_backward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const Shape s = shape_of(text, dtype);
  Random random(text.text());
  const std::vector<std::int64_t> pooled = {s.n, s.k, 4, s.c};
  Tensor& grad = p.add_input("grad_output", MLUOP_LAYOUT_NHWC, dtype, pooled);
  Tensor& boxes = p.add_input("boxes", MLUOP_LAYOUT_ARRAY, dtype, {s.n, s.k, 4});
  Tensor& argmax = p.add_input("argmax_idx", MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_INT32, pooled);
  grad.fill(uniform(p, random, grad.count()));
  boxes.fill(make_boxes(p, s, random));
  fill_argmax(p, s, boxes, argmax, random);
  Tensor& grad_input = p.add_output("grad_input", MLUOP_LAYOUT_NHWC, dtype, {s.n, s.h, s.w, 4 * s.c});
  p.call = [s, &grad, &boxes, &argmax, &grad_input](mluOpHandle_t handle) {
    return mluOpBorderAlignBackward(handle, grad.desc(), grad.data(), boxes.desc(), boxes.data(), argmax.desc(),
                                    argmax.data(), static_cast<std::int32_t>(s.pool_size), grad_input.desc(),
                                    grad_input.data());
  };
  p.expect = [s, &grad, &boxes, &argmax, &grad_input](reference::Coordinates coordinates) {
    return std::vector<reference::Values>{reference::border_align_backward(
        {s, grad.data(), boxes.data(), static_cast<const std::int32_t*>(argmax.data()), grad_input.data()},
        coordinates)};
  };
  return p;
}

}  // namespace

Problem make_border_align(const Case& text, mluOpDataType_t dtype) {
  return text.op() == "border_align_forward" ? make_forward(text, dtype) : make_backward(text, dtype);
}

}  // namespace mluops::test
