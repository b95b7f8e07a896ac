#include "test/reference/points_in_boxes.h"

#include "test/cases/base/clouds.h"
#include "test/cases/base/upright_boxes.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

std::vector<Parameter> parameters(bool part) {
  std::vector<Parameter> all = {
      {"b", "2", "clouds"},
      {"m", "4096", "points"},
      {"n", "64", "boxes"},
      {"data", "uniform", kCloudKinds},
      {"boxes", "random", kUprightBoxKinds},
  };
  if (part)
    all.push_back({"z", "bottom", "z of a box: bottom (mluOpExtPointsInBoxesPart) | centre (mluOpPointsInBoxes)"});
  return all;
}

Description described(const Case& text, mluOpDataType_t dtype, bool part) {
  const bool centred = part && text.word("z") == "centre";
  const mluopsPointsInBoxesShape s{dtype, text.size("b"), text.size("m"), text.size("n"), centred ? 1 : 0};
  const Fill points = cloud(text.word("data"), text.seed("points"));
  const Fill boxes = upright_boxes(text.word("boxes"), text.seed("boxes"));
  Description d;
  d.tensors = {{.name = "points", .dtype = dtype, .dims = {s.b, s.m, 3}, .fill = points},
               {.name = "boxes", .dtype = dtype, .dims = {s.b, s.n, 7}, .fill = boxes},
               {.name = part ? "points_indices" : "inside",
                .dtype = MLUOP_DTYPE_INT32,
                .dims = {s.b, s.m},
                .comparison = Comparison::kBits}};
  if (!part) d.tensors[2].dims.push_back(s.n);
  // Every box has to be looked at for a point that is in none; part may stop at the first.
  d.flops = 12.0 * static_cast<double>(s.b * s.m * (part ? 1 : s.n));
  d.call = [part, centred](mluOpHandle_t handle, const Arguments& t) {
    const auto &p = t[0], &box = t[1], &found = t[2];
    if (!part) {
      return mluOpExtPointsInBoxesAll(handle, p.desc, p.data, box.desc, box.data, found.desc, found.data);
    }
    return centred ? mluOpPointsInBoxes(handle, p.desc, p.data, box.desc, box.data, found.desc, found.data)
                   : mluOpExtPointsInBoxesPart(handle, p.desc, p.data, box.desc, box.data, found.desc, found.data);
  };
  d.reference = [s, part](const Inputs& in, Coordinates) {
    return std::vector<Values>{part ? reference::points_in_boxes_part({s, in[0], in[1], nullptr})
                                    : reference::points_in_boxes_all({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_part(const Case& text, mluOpDataType_t dtype) {
  return described(text, dtype, true);
}
Description describe_all(const Case& text, mluOpDataType_t dtype) {
  return described(text, dtype, false);
}

Cases smallest() {
  return list({"b=1 m=1 n=1", "b=2 m=5 n=7"});
}

Cases document() {
  return list({
      "b=1 m=15 n=3",                  // mmcv's test
      "b=2 m=12 n=4",                  // the same of two clouds
      "b=2 m=4096 n=32 data=surface",  // VoteNet: seeds, boxes of the scene
      "b=1 m=16384 n=40 boxes=small",  // a LiDAR sweep, reduced from 10^5 points
  });
}

Cases edge() {
  return list({
      "b=1 m=33 n=1",                           // a leaf and one point
      "b=3 m=1 n=200",                          // a point
      "b=2 m=500 n=37 data=grid boxes=grid",    // points on the sides
      "b=1 m=300 n=9 boxes=same",               // the first of equal boxes
      "b=2 m=700 n=50 data=wild boxes=wild",    // NaN, infinite
      "b=1 m=200 n=20 data=same boxes=random",  // all points one
      "b=1 m=70 n=500 boxes=small",
  });
}

Cases part_edge() {
  return joined(edge(), list({"b=2 m=500 n=37 z=centre", "b=2 m=500 n=37 data=grid boxes=grid z=centre",
                              "b=1 m=300 n=40 data=wild boxes=wild z=centre"}));
}

Case random_case(Random& random, double effort) {
  const char* const clouds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const char* const boxes[] = {"random", "random", "small", "grid", "same", "wild"};
  const std::int64_t most = effort < 1 ? 150 : 900;
  Case c;
  c.set("b", random.integer(1, 4)).set("m", odd_size(random, most)).set("n", odd_size(random, 90));
  return c.set("data", random.pick(clouds)).set("boxes", random.pick(boxes));
}

Cases large() {
  return list({"b=3 m=9000 n=60", "b=1 m=20000 n=33 boxes=small"});
}

Cases network() {
  return list({"b=8 m=16384 n=64", "b=1 m=120000 n=200 boxes=small", "b=16 m=1024 n=256"});
}

// Boxes prepared for the comparison.
std::vector<Growth> growth() {
  const Case base = list({"b=1 m=16384 n=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "m"), growth_of(base, "n")};
}

}  // namespace

std::vector<OperatorCases> points_in_boxes_operators() {
  OperatorCases part = {.op = "points_in_boxes_part",
                        .function = "mluOpExtPointsInBoxesPart",
                        .parameters = parameters(true),
                        .describe = describe_part,
                        .smallest = smallest,
                        .document = document,
                        .edge = part_edge,
                        .random = random_case,
                        .large = large,
                        .network = network,
                        .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                                   .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
                        .reducible = {"b"},
                        .growth = growth};
  OperatorCases all = part;
  all.op = "points_in_boxes_all";
  all.function = "mluOpExtPointsInBoxesAll";
  all.parameters = parameters(false);
  all.describe = describe_all;
  all.edge = edge;
  return {part, all};
}

}  // namespace mluops::cases
