#include "test/reference/iou3d.h"

#include "test/cases/base/upright_boxes.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kOverlapParameters = {
    {"n", "200", "boxes on one side"},
    {"m", "300", "boxes on the other"},
    {"boxes", "random", kUprightBoxKinds},
};
const std::vector<Parameter> kNmsParameters = {
    {"n", "1000", "boxes"},
    {"iou", "0.3", "IoU threshold"},
    {"rotated", "1", "1: with their rotation (mmcv's nms3d) | 0: without (nms3d_normal)"},
    {"boxes", "random", kUprightBoxKinds},
};

Description describe_overlap(const Case& text, mluOpDataType_t dtype) {
  const mluopsBoxesOverlapBevShape s{dtype, text.size("n"), text.size("m")};
  const std::string kind = text.word("boxes");
  Description d;
  d.tensors = {{.name = "boxes_a", .dtype = dtype, .dims = {s.n, 7}, .fill = upright_boxes(kind, text.seed("a"))},
               {.name = "boxes_b", .dtype = dtype, .dims = {s.m, 7}, .fill = upright_boxes(kind, text.seed("b"))},
               {.name = "overlap", .dtype = dtype, .dims = {s.n, s.m}, .term_size = 1}};
  d.flops = 7.0 * static_cast<double>(s.n * s.m);  // that two boxes are far apart; what others cost is the data's
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtBoxesOverlapBev(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::boxes_overlap_bev({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_nms(const Case& text, mluOpDataType_t dtype) {
  const mluopsNms3dShape s{dtype, text.size("n"), static_cast<float>(text.real("iou")), text.integer("rotated")};
  const Fill boxes = upright_boxes(text.word("boxes"), text.seed("boxes"));
  const double threshold = scalar_of(text, "iou", dtype);
  Description d;
  d.scalars = {threshold};
  d.tensors = {{.name = "boxes", .dtype = dtype, .dims = {s.n, 7}, .fill = boxes},
               {.name = "keep", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n}, .comparison = Comparison::kBits},
               {.name = "num_out",
                .dtype = MLUOP_DTYPE_INT32,
                .dims = {1},
                .comparison = Comparison::kBits,
                .pointer_only = true}};
  d.flops = 7.0 * static_cast<double>(s.n * s.n) / 4;
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtNms3d(handle, t[0].desc, t[0].data, s.iou_threshold, s.rotated, t[1].desc, t[1].data, t[2].data);
  };
  d.reference = [s, threshold](const Inputs& in, Coordinates) {
    auto r = reference::nms3d({s, in[0], nullptr, nullptr, threshold});
    return std::vector<Values>{r.keep, r.num};
  };
  return d;
}

Cases overlap_smallest() {
  return list({"n=1 m=1", "n=3 m=5"});
}
Cases nms_smallest() {
  return list({"n=1", "n=9"});
}

Cases overlap_document() {
  return list({"n=6 m=2", "n=50 m=40", "n=300 m=200 boxes=small"});  // mmcv's test and the sizes of a scene
}
Cases nms_document() {
  return each(list({"n=20", "n=500 iou=0.5", "n=1000 iou=0.1 boxes=small"}), "rotated", {"0", "1"});
}

Cases overlap_edge() {
  return list({
      "n=70 m=90 boxes=grid",  // sides that lie on each other
      "n=5 m=7 boxes=same",
      "n=60 m=80 boxes=wild",
      "n=1 m=300",
      "n=300 m=1 boxes=small",
  });
}
Cases nms_edge() {
  return each(list({
                  "n=64",  // a block
                  "n=65 iou=0.1",
                  "n=300 boxes=grid",
                  "n=200 boxes=same",           // all but the first go
                  "n=150 boxes=same iou=1.01",  // none goes
                  "n=300 boxes=wild iou=0.2",
                  "n=130 boxes=small iou=0",
              }),
              "rotated", {"0", "1"});
}

Case random_overlap(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "small", "grid", "same"};
  const std::int64_t most = effort < 1 ? 40 : 130;
  Case c;
  c.set("n", odd_size(random, most)).set("m", odd_size(random, most));
  return c.set("boxes", random.pick(kinds));
}
Case random_nms(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "small", "same"};
  const char* const thresholds[] = {"0.05", "0.17", "0.31", "0.7"};
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 90 : 300)).set("iou", random.pick(thresholds));
  return c.set("rotated", random.integer(0, 1)).set("boxes", random.pick(kinds));
}

Cases overlap_large() {
  return list({"n=300 m=500", "n=900 m=700 boxes=small"});
}
Cases nms_large() {
  return each(list({"n=1500 iou=0.4", "n=2000 boxes=small"}), "rotated", {"0", "1"});
}

Cases overlap_network() {
  return list({"n=512 m=64", "n=2000 m=2000 boxes=small", "n=1000 m=1000"});
}
Cases nms_network() {
  return list({"n=1000 iou=0.1 boxes=small", "n=4096 iou=0.8 boxes=small", "n=9000 iou=0.85 boxes=small",
               "n=4096 iou=0.01 boxes=small rotated=0"});
}

std::vector<Growth> overlap_growth() {
  const Case base = list({"n=200 m=200"})[0];
  return {growth_of(base, "n"), growth_of(base, "m")};
}
std::vector<Growth> nms_growth() {
  const Case base = list({"n=1000"})[0];
  return {growth_of(base, "n"), growth_of(base, "iou", {"0.1", "0.3", "0.5", "0.9"})};
}

}  // namespace

std::vector<OperatorCases> iou3d_operators() {
  const Dtypes dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                         .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}};
  return {{.op = "boxes_overlap_bev",
           .function = "mluOpExtBoxesOverlapBev",
           .parameters = kOverlapParameters,
           .describe = describe_overlap,
           .smallest = overlap_smallest,
           .document = overlap_document,
           .edge = overlap_edge,
           .random = random_overlap,
           .large = overlap_large,
           .network = overlap_network,
           .dtypes = dtypes,
           .reducible = {"n", "m"},
           .growth = overlap_growth},
          {.op = "nms3d",
           .function = "mluOpExtNms3d",
           .parameters = kNmsParameters,
           .describe = describe_nms,
           .smallest = nms_smallest,
           .document = nms_document,
           .edge = nms_edge,
           .random = random_nms,
           .large = nms_large,
           .network = nms_network,
           .dtypes = dtypes,
           .reducible = {"n"},
           .growth = nms_growth}};
}

}  // namespace mluops::cases
