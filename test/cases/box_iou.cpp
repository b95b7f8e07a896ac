#include "test/reference/box_iou.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

constexpr const char* kKinds =
    "random (sides up to a quarter of the scene) | small (up to a fiftieth) | grid (sides that lie on each other) | "
    "beside (one box, moved along its sides) | same (all one) | wild (NaN, Inf, negative sides)";

const std::vector<Parameter> kUprightParameters = {
    {"n", "200", "boxes on one side"}, {"m", "300", "boxes on the other; aligned: as many as n"},
    {"mode", "0", "0: IoU | 1: IoF"},  {"aligned", "0", "1: pairs, one by one"},
    {"offset", "0", "added to sides"}, {"boxes", "random", kKinds},
};
const std::vector<Parameter> kRotatedParameters = {
    {"n", "200", "boxes on one side"}, {"m", "300", "boxes on the other; aligned: as many as n"},
    {"mode", "0", "0: IoU | 1: IoF"},  {"aligned", "0", "1: pairs, one by one"},
    {"boxes", "random", kKinds},
};
const std::vector<Parameter> kNmsParameters = {
    {"n", "1000", "boxes"},
    {"iou", "0.3", "IoU threshold"},
    {"width", "5", "numbers of a box: 5 | 6: with a label"},
    {"boxes", "random", kKinds},
};

/// Number k of a box of kind: x, y, w, h, rotation, label.
double rotated_box(const std::string& kind, const Fill& unit, std::int64_t box, std::int64_t k) {
  const double u = unit((kind == "same" || (kind == "beside" && k > 1) ? 0 : box) * 6 + k);
  if (kind == "grid") return k < 2 ? std::floor(10 * u) : k < 4 ? 1 + std::floor(3 * u) : 0;
  if (kind == "beside") {  // sides of 30 and 20
    const double along = 40 * unit(box * 6) - 20;
    return k == 0 ? 50 + along * std::cos(0.3) : k == 1 ? 50 + along * std::sin(0.3) : k == 2 ? 30 : k == 3 ? 20 : 0.3;
  }
  return k < 2 ? 100 * u : k < 4 ? (kind == "small" ? 0.2 + 1.8 * u : 2 + 23 * u) : 8 * u - 4;
}

/// Elements of boxes [..., width], upright ones as x1, y1, x2, y2.
Fill boxes_of(const std::string& kind, int width, std::uint64_t seed) {
  if (std::string("random small grid beside same wild").find(kind) == std::string::npos) {
    throw std::invalid_argument("boxes: wanted " + std::string(kKinds) + ", got " + kind);
  }
  const Fill unit = uniform(0, 1, seed);
  return [=](std::int64_t i) {
    const std::int64_t box = i / width, k = i % width;
    const double luck = kind == "wild" ? unit_random(seed + 1, i) : 1;
    if (luck < 0.02) return std::numeric_limits<double>::quiet_NaN();
    if (luck < 0.04) return (luck < 0.03 ? 1 : -1) * std::numeric_limits<double>::infinity();
    const double sign = luck < 0.08 && k > 1 ? -1 : 1;
    if (width > 4 || k < 2) return sign * rotated_box(kind, unit, box, k);
    return rotated_box(kind, unit, box, k - 2) + sign * rotated_box(kind, unit, box, k);
  };
}

Description describe_pairs(const Case& text, mluOpDataType_t dtype, int width) {
  const bool aligned = text.integer("aligned") != 0;
  const std::int64_t n = text.size("n"), m = aligned ? n : text.size("m");
  const std::string kind = text.word("boxes");
  const std::vector<std::int64_t> dims = aligned ? std::vector{n} : std::vector{n, m};
  Description d;
  d.tensors = {{.name = "bbox1", .dtype = dtype, .dims = {n, width}, .fill = boxes_of(kind, width, text.seed("a"))},
               {.name = "bbox2", .dtype = dtype, .dims = {m, width}, .fill = boxes_of(kind, width, text.seed("b"))},
               {.name = "ious", .dtype = dtype, .dims = dims, .term_size = 1}};
  d.flops = (width == 4 ? 12.0 : 8.0) * static_cast<double>(aligned ? n : n * m);  // 8: that two are far apart
  return d;
}

mluopsBoxIouShape shape_of(const Case& text, const Description& d, int offset) {
  return {d.tensors[0].dtype,   d.tensors[0].dims[0],    d.tensors[1].dims[0],
          text.integer("mode"), text.integer("aligned"), offset};
}

Description describe_upright(const Case& text, mluOpDataType_t dtype) {
  Description d = describe_pairs(text, dtype, 4);
  const mluopsBoxIouShape s = shape_of(text, d, text.integer("offset"));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpBboxOverlaps(handle, s.mode, s.aligned != 0, s.offset, t[0].desc, t[0].data, t[1].desc, t[1].data,
                             t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::bbox_overlaps({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_rotated(const Case& text, mluOpDataType_t dtype) {
  Description d = describe_pairs(text, dtype, 5);
  const mluopsBoxIouShape s = shape_of(text, d, 0);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpBoxIouRotated(handle, s.mode, s.aligned != 0, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                              t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::box_iou_rotated({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_nms(const Case& text, mluOpDataType_t dtype) {
  const mluopsNmsRotatedShape s{dtype, text.size("n"), text.integer("width")};
  const double threshold = scalar_of(text, "iou", dtype);
  const Fill boxes = boxes_of(text.word("boxes"), s.width, text.seed("boxes"));
  Description d;
  d.scalars = {threshold};
  d.tensors = {{.name = "boxes", .dtype = dtype, .dims = {s.n, s.width}, .fill = boxes},
               {.name = "scores", .dtype = dtype, .dims = {s.n}, .fill = uniform(0, 1, text.seed("scores"))},
               {.name = "output", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n}, .comparison = Comparison::kBits},
               {.name = "result_num",
                .dtype = MLUOP_DTYPE_INT32,
                .dims = {1},
                .comparison = Comparison::kBits,
                .pointer_only = true}};
  d.flops = 8.0 * static_cast<double>(s.n * s.n) / 4;
  d.call = [iou = static_cast<float>(threshold)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpNmsRotated(handle, iou, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr, 0, t[2].desc, t[2].data,
                           static_cast<std::int32_t*>(t[3].data));
  };
  d.reference = [s, threshold](const Inputs& in, Coordinates) {
    auto r = reference::nms_rotated({s, in[0], in[1], nullptr, nullptr, threshold});
    return std::vector<Values>{r.output, r.num};
  };
  return d;
}

Cases pairs_smallest() {
  return list({"n=1 m=1", "n=3 m=5"});
}
Cases nms_smallest() {
  return list({"n=1", "n=9"});
}

Cases pairs_document() {
  return each(list({"n=3 m=2", "n=3 aligned=1", "n=300 m=200 boxes=small"}), "mode", {"0", "1"});  // mmcv's, a scene's
}
Cases nms_document() {
  return list({"n=4 iou=0.5", "n=500 iou=0.1 width=6", "n=1000 iou=0.1 boxes=small"});  // the first is mmcv's
}

Cases pairs_edge() {
  return each(list({
                  "n=70 m=90 boxes=grid",
                  "n=40 m=60 boxes=beside",
                  "n=5 m=7 boxes=same",
                  "n=60 m=80 boxes=wild",
                  "n=1 m=301",
                  "n=299 m=1 boxes=small",
                  "n=333 aligned=1",
                  "n=200 aligned=1 boxes=beside",
              }),
              "mode", {"0", "1"});
}
Cases upright_edge() {
  Cases all = pairs_edge();
  for (const Case& c : list({"n=70 m=90 boxes=grid offset=1", "n=50 aligned=1 mode=1 offset=1"})) all.push_back(c);
  return all;
}
Cases nms_edge() {
  return list({
      "n=64",  // a block
      "n=65 iou=0.1",
      "n=300 boxes=grid iou=0",
      "n=200 boxes=beside iou=0.41",
      "n=200 boxes=same",           // all but the first go
      "n=150 boxes=same iou=1.01",  // none goes
      "n=130 iou=-1",               // all but the first go
      "n=300 boxes=wild iou=0.2 width=6",
      "n=130 boxes=small iou=0",
  });
}

Case random_pairs(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "small", "grid", "beside", "same"};
  const std::int64_t most = effort < 1 ? 40 : 130;
  Case c;
  c.set("n", odd_size(random, most)).set("m", odd_size(random, most)).set("mode", random.integer(0, 1));
  return c.set("aligned", random.integer(0, 3) / 3).set("boxes", random.pick(kinds));
}
Case random_nms(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "small", "same"};
  const char* const thresholds[] = {"0.05", "0.17", "0.31", "0.7"};
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 90 : 300)).set("iou", random.pick(thresholds));
  return c.set("width", random.integer(5, 6)).set("boxes", random.pick(kinds));
}

Cases pairs_large() {
  return list({"n=300 m=500", "n=900 m=700 boxes=small", "n=60000 aligned=1"});
}
Cases nms_large() {
  return list({"n=1500 iou=0.4", "n=2000 boxes=small"});
}

Cases pairs_network() {
  return list({"n=512 m=64", "n=2000 m=2000 boxes=small", "n=1000 m=1000", "n=100000 m=50 boxes=small"});
}
Cases nms_network() {
  return list({"n=1000 iou=0.1 boxes=small", "n=2000 iou=0.1", "n=9000 iou=0.1 boxes=small"});
}

std::vector<Growth> pairs_growth() {
  const Case base = list({"n=200 m=200"})[0];
  return {growth_of(base, "n"), growth_of(base, "m")};
}
std::vector<Growth> nms_growth() {
  const Case base = list({"n=1000"})[0];
  return {growth_of(base, "n"), growth_of(base, "iou", {"0.1", "0.3", "0.5", "0.9"})};
}

}  // namespace

std::vector<OperatorCases> box_iou_operators() {
  const Dtypes of_float = {.strict = {MLUOP_DTYPE_FLOAT},
                           .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}};
  OperatorCases upright = {.op = "bbox_overlaps",
                           .function = "mluOpBboxOverlaps",
                           .parameters = kUprightParameters,
                           .describe = describe_upright,
                           .smallest = pairs_smallest,
                           .document = pairs_document,
                           .edge = upright_edge,
                           .random = random_pairs,
                           .large = pairs_large,
                           .network = pairs_network,
                           .reducible = {"n", "m"},
                           .growth = pairs_growth};
  OperatorCases rotated = upright;
  rotated.op = "box_iou_rotated";
  rotated.function = "mluOpBoxIouRotated";
  rotated.parameters = kRotatedParameters;
  rotated.describe = describe_rotated;
  rotated.edge = pairs_edge;
  rotated.dtypes = of_float;
  OperatorCases nms = {.op = "nms_rotated",
                       .function = "mluOpNmsRotated",
                       .parameters = kNmsParameters,
                       .describe = describe_nms,
                       .smallest = nms_smallest,
                       .document = nms_document,
                       .edge = nms_edge,
                       .random = random_nms,
                       .large = nms_large,
                       .network = nms_network,
                       .dtypes = of_float,
                       .reducible = {"n"},
                       .growth = nms_growth};
  return {upright, rotated, nms};
}

}  // namespace mluops::cases
