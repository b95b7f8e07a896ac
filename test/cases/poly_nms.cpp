#include "test/reference/poly_nms.h"

#include "test/cases/base/quadrilaterals.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "1000", "quadrilaterals"},
    {"iou", "0.3", "IoU threshold"},
    {"boxes", "random", kQuadrilateralKinds},
};

Description describe_poly_nms(const Case& text, mluOpDataType_t dtype) {
  const mluopsPolyNmsShape s{dtype, text.size("n")};
  const double threshold = scalar_of(text, "iou", dtype);
  Description d;
  d.scalars = {threshold};
  d.tensors = {{.name = "boxes",
                .dtype = dtype,
                .dims = {s.n, 9},
                .fill = quadrilaterals(text.word("boxes"), 9, text.seed("boxes"))},
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
