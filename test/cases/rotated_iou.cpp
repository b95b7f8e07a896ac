#include "test/reference/rotated_iou.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

constexpr const char* kKinds =
    "random (near each other) | far (few meet) | grid (sides that lie on each other) | same (both of a pair, but for "
    "w) | flat "
    "(some "
    "of no size) | wild (NaN, Inf, negative sizes)";

const std::vector<Parameter> kParameters = {
    {"b", "1", "lists of pairs"},
    {"n", "1000", "pairs of a list"},
    {"numbers", "5", "5: rectangles | 7: boxes"},
    {"boxes", "random", kKinds},
};

/// Number `which` (x, y, z, w, h, l, angle) of the first or second box of a pair.
double number(const std::string& kind, const Fill& unit, bool second, std::int64_t pair, std::int64_t which) {
  const auto own = [&](std::int64_t k) { return unit(pair * 16 + (second && (kind != "same" || k == 3) ? 8 : 0) + k); };
  const double u = own(which);
  if (kind == "grid") return which < 3 ? std::floor(4 * u) : which < 6 ? 1 + std::floor(3 * u) : 0;
  if (which < 3) {
    const double near = 50 * unit(pair * 16 + which) + 15 * u;
    return kind == "far" ? 100 * u : near;
  }
  if (kind == "flat" && which < 6 && own(7) < 0.3) return which == 3 || u < 0.5 ? 0 : 5 * u;
  return which < 6 ? 2 + 23 * u : 8 * u - 4;
}

Fill boxes_of(const Case& text, bool second) {
  const std::string kind = text.word("boxes");
  if (std::string("random far grid same flat wild").find(kind) == std::string::npos) {
    throw std::invalid_argument("boxes: wanted " + std::string(kKinds) + ", got " + kind);
  }
  const std::int64_t numbers = text.size("numbers");
  const Fill unit = uniform(0, 1, text.seed("boxes"));
  return [=, seed = text.seed(second ? "wild2" : "wild1")](std::int64_t i) {
    const std::int64_t k = i % numbers, which = numbers == 7 || k < 2 ? k : k < 4 ? k + 1 : 6;
    const double luck = kind == "wild" ? unit_random(seed, i) : 1;
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    if (luck < 0.04) return (luck < 0.03 ? 1 : -1) * std::numeric_limits<double>::infinity();
    return (luck < 0.08 ? -1 : 1) * number(kind, unit, second, i / numbers, which);
  };
}

mluopsRotatedIouShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b") * t.size("n"), t.size("numbers")};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const mluopsRotatedIouShape s = shape_of(text, dtype);
  const std::vector<std::int64_t> pairs = {text.size("b"), text.size("n")}, boxes = {pairs[0], pairs[1], s.numbers};
  Description d;
  d.tensors = {{.name = "box1", .dtype = dtype, .dims = boxes, .fill = boxes_of(text, false)},
               {.name = "box2", .dtype = dtype, .dims = boxes, .fill = boxes_of(text, true)},
               {.name = "ious", .dtype = dtype, .dims = pairs, .term_size = 1}};
  d.flops = 300.0 * static_cast<double>(s.count);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtRotatedIouForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::rotated_iou_forward({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const mluopsRotatedIouShape s = shape_of(text, dtype);
  const std::vector<std::int64_t> pairs = {text.size("b"), text.size("n")}, boxes = {pairs[0], pairs[1], s.numbers};
  Description d;
  d.tensors = {{.name = "grad_ious", .dtype = dtype, .dims = pairs, .fill = uniform(-1, 1, text.seed("grads"))},
               {.name = "box1", .dtype = dtype, .dims = boxes, .fill = boxes_of(text, false)},
               {.name = "box2", .dtype = dtype, .dims = boxes, .fill = boxes_of(text, true)},
               {.name = "grad_box1", .dtype = dtype, .dims = boxes, .term_size = 0.1},
               {.name = "grad_box2", .dtype = dtype, .dims = boxes, .term_size = 0.1}};
  d.flops = 700.0 * static_cast<double>(s.count);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtRotatedIouBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                      t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::rotated_iou_backward({s, in[0], in[1], in[2], nullptr, nullptr});
    return std::vector<Values>{std::move(r.box1), std::move(r.box2)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1", "b=2 n=3"});
}

// mmcv's tests, and the positive samples of an image.
Cases document() {
  return each(list({"n=1", "n=5", "b=2 n=200"}), "numbers", {"5", "7"});
}

Cases edge() {
  return each(list({"n=300 boxes=grid", "n=70 boxes=same", "n=300 boxes=flat", "b=3 n=100 boxes=wild",
                    "n=300 boxes=far", "b=299 n=1"}),
              "numbers", {"5", "7"});
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "far", "grid", "same"};
  const std::int64_t most = effort < 1 ? 40 : 150;
  Case c;
  c.set("b", random.integer(1, 3)).set("n", odd_size(random, most)).set("numbers", 5 + 2 * random.integer(0, 1));
  return c.set("boxes", random.pick(kinds));
}

Cases large() {
  return list({"n=20000", "n=5000 numbers=7"});
}

Cases network() {
  return list({"n=1000 numbers=7", "n=20000", "n=20000 numbers=7", "n=20000 boxes=far"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"n=1000"})[0], "n")};
}

}  // namespace

std::vector<OperatorCases> rotated_iou_operators() {
  OperatorCases forward = {
      .op = "rotated_iou_forward",
      .function = "mluOpExtRotatedIouForward",
      .parameters = kParameters,
      .describe = describe_forward,
      .smallest = smallest,
      .document = document,
      .edge = edge,
      .random = random_case,
      .large = large,
      .network = network,
      .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
      .reducible = {"n"},
      .growth = growth};
  OperatorCases backward = forward;
  backward.op = "rotated_iou_backward";
  backward.function = "mluOpExtRotatedIouBackward";
  backward.describe = describe_backward;
  return {forward, backward};
}

}  // namespace mluops::cases
