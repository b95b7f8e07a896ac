#include "test/reference/poly_nms.h"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

constexpr const char* kKinds =
    "random (rotated boxes, either way round) | concave | grid (whole numbers) | same | flat (some without area) | "
    "wild "
    "(some NaN, infinite) | small (few meet)";

const std::vector<Parameter> kParameters = {
    {"n", "1000", "quadrilaterals"},
    {"iou", "0.3", "IoU threshold"},
    {"boxes", "random", kKinds},
};

/// Number k of a quadrilateral: x and y of its corners, its score.
double polygon_number(const std::string& kind, const Fill& unit, std::int64_t polygon, std::int64_t k) {
  const auto own = [&](std::int64_t i) { return unit((kind == "same" ? 0 : polygon) * 8 + i); };
  if (k == 8) return unit(polygon * 8 + 7);
  const bool flat = kind == "flat" && own(5) < 0.5;
  std::array<double, 4> size = {own(2), flat ? 0 : own(3), own(0), own(1)};
  if (kind == "grid") {
    size = {1 + std::floor(3 * own(2)), 1 + std::floor(3 * own(3)), std::floor(10 * own(0)), std::floor(10 * own(1))};
  } else {
    const double least = kind == "small" ? 0.2 : 2, most = kind == "small" ? 1.8 : 23;
    size = {least + most * size[0], flat ? 0 : least + most * size[1], 100 * size[2], 100 * size[3]};
  }
  const std::int64_t turned = own(4) < 0.5 ? k / 2 : 3 - k / 2;  // the way round
  const double right = turned == 1 || turned == 2 ? 1 : 0, up = turned >= 2 ? 1 : 0;
  const bool dent = kind == "concave" && turned == 3;  // beyond the diagonal between its neighbours
  const double x = size[0] * (dent ? 0.7 : right), y = size[1] * (dent ? 0.45 : up);
  if (kind == "grid") return k % 2 == 0 ? size[2] + x : size[3] + y;
  const double turn = 8 * own(6), cos = std::cos(turn), sin = std::sin(turn);
  return k % 2 == 0 ? size[2] + x * cos - y * sin : size[3] + x * sin + y * cos;
}

Fill polygons_of(const std::string& kind, std::uint64_t seed) {
  if (std::string(kKinds).find(kind) == std::string::npos) {
    throw std::invalid_argument("boxes: wanted " + std::string(kKinds) + ", got " + kind);
  }
  const Fill unit = uniform(0, 1, seed);
  return [=](std::int64_t i) {
    const double luck = kind == "wild" ? unit_random(seed + 1, i) : 1;
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    if (luck < 0.04) return (luck < 0.03 ? 1 : -1) * std::numeric_limits<double>::infinity();
    return polygon_number(kind, unit, i / 9, i % 9);
  };
}

Description describe_poly_nms(const Case& text, mluOpDataType_t dtype) {
  const mluopsPolyNmsShape s{dtype, text.size("n")};
  const double threshold = scalar_of(text, "iou", dtype);
  Description d;
  d.scalars = {threshold};
  d.tensors = {
      {.name = "boxes", .dtype = dtype, .dims = {s.n, 9}, .fill = polygons_of(text.word("boxes"), text.seed("boxes"))},
      {.name = "output", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n}, .comparison = Comparison::kBits},
      {.name = "output_size",
       .dtype = MLUOP_DTYPE_INT32,
       .dims = {1},
       .comparison = Comparison::kBits,
       .pointer_only = true}};
  d.flops = 8.0 * static_cast<double>(s.n * s.n) / 4;
  d.call = [iou = static_cast<float>(threshold)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpPolyNms(handle, t[0].desc, t[0].data, iou, nullptr, 0, t[1].desc, t[1].data, t[2].data);
  };
  d.reference = [s, threshold](const Inputs& in, Coordinates) {
    auto r = reference::poly_nms({s, in[0], nullptr, nullptr, threshold});
    return std::vector<Values>{std::move(r.output), std::move(r.output_size)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1", "n=9"});
}

Cases document() {
  return list({"n=70 iou=0.1", "n=119 iou=0.1", "n=500 iou=0.3 boxes=small"});  // sizes of the vendor's document
}

Cases edge() {
  return list({
      "n=64",  // a block
      "n=65 iou=0.1 boxes=concave",
      "n=200 boxes=grid iou=0",
      "n=150 boxes=same",           // all but the first go
      "n=100 boxes=same iou=1.01",  // none goes
      "n=130 iou=-1",               // all but the first go
      "n=150 boxes=wild iou=0.2",
      "n=150 boxes=flat iou=0.2",
      "n=130 boxes=small iou=0",
      "n=200 boxes=concave iou=0.33",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "concave", "small", "same"};
  const char* const thresholds[] = {"0.05", "0.17", "0.31", "0.7"};
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 60 : 200)).set("iou", random.pick(thresholds));
  return c.set("boxes", random.pick(kinds));
}

Cases large() {
  return list({"n=900 iou=0.4", "n=1200 boxes=small"});
}

Cases network() {
  return list({"n=1000 iou=0.1 boxes=small", "n=2000 iou=0.1", "n=9000 iou=0.1 boxes=small"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"n=500"})[0], "n")};
}

}  // namespace

std::vector<OperatorCases> poly_nms_operators() {
  return {{.op = "poly_nms",
           .function = "mluOpPolyNms",
           .parameters = kParameters,
           .describe = describe_poly_nms,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"n"},
           .growth = growth}};
}

}  // namespace mluops::cases
