#include <algorithm>

#include "test/cases/base/clouds.h"
#include "test/cases/base/contract.h"
#include "test/cases/base/upright_boxes.h"
#include "test/cases/operator.h"
#include "test/reference/roiaware_pool3d.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "16", "boxes"},
    {"p", "4096", "points"},
    {"c", "16", "features of a point"},
    {"x", "6", "voxels along x of a box"},
    {"y", "5", "along y"},
    {"z", "4", "along z"},
    {"s", "16", "numbers kept of a voxel: a count and s - 1 points"},
    {"mean", "0", "0: maximum | 1: mean"},
    {"data", "uniform", kCloudKinds},
    {"boxes", "random", kUprightBoxKinds},
    {"indices", "valid", "backward: valid | wild (some outside)"},
};

mluopsRoiAwarePool3dShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,       t.size("n"), t.size("p"), t.size("c"),      t.size("s"),
          t.size("x"), t.size("y"), t.size("z"), t.integer("mean")};
}

TensorSpec numbers(const char* name, const mluopsRoiAwarePool3dShape& s, std::int64_t last, Fill fill = {}) {
  return {.name = name,
          .dtype = MLUOP_DTYPE_INT32,
          .dims = {s.n, s.x, s.y, s.z, last},
          .fill = std::move(fill),
          .comparison = Comparison::kBits};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  const Fill boxes = upright_boxes(text.word("boxes"), text.seed("rois"));
  const Fill points = cloud(text.word("data"), text.seed("pts"));
  Description d;
  d.tensors = {
      {.name = "rois", .dtype = dtype, .dims = {s.n, 7}, .fill = boxes},
      {.name = "pts", .dtype = dtype, .dims = {s.points, 3}, .fill = points},
      {.name = "pts_feature", .dtype = dtype, .dims = {s.points, s.c}, .fill = uniform(-1, 1, text.seed("features"))},
      numbers("argmax", s, s.c),
      numbers("pts_idx_of_voxels", s, s.most),
      {.name = "pooled_features",
       .dtype = dtype,
       .dims = {s.n, s.x, s.y, s.z, s.c},
       .comparison = s.mean != 0 ? Comparison::kNumeric : Comparison::kBits,
       .term_size = 1}};
  d.flops = 12.0 * static_cast<double>(s.n * s.points);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    const auto i = [](std::int64_t size) { return static_cast<int>(size); };
    return mluOpRoiAwarePool3dForward(handle, s.mean, i(s.n), i(s.points), i(s.c), t[0].desc, t[0].data, t[1].desc,
                                      t[1].data, t[2].desc, t[2].data, nullptr, missing_workspace, i(s.most), i(s.x),
                                      i(s.y), i(s.z), t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::roiaware_pool3d_forward({s, in[0], in[1], in[2], nullptr, nullptr, nullptr});
    return std::vector<Values>{r.argmax, r.points, r.pooled};
  };
  return d;
}

// An index of a point, now and then none.
Fill indices(const Case& t, const char* name) {
  const std::int64_t points = t.size("p");
  const bool wild = t.word("indices") == "wild";
  return integers(wild ? -points / 4 - 1 : 0, wild ? points + points / 4 : points - 1, t.seed(name));
}

Fill noted(const Case& t) {
  const Fill point = indices(t, "noted"),
             count = integers(t.word("indices") == "wild" ? -2 : 0, t.size("s") + 1, t.seed("count"));
  return [=, most = t.size("s")](std::int64_t i) { return i % most == 0 ? count(i) : point(i); };
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = {numbers("pts_idx_of_voxels", s, s.most, noted(text)),
               numbers("argmax", s, s.c, indices(text, "argmax")),
               {.name = "grad_out",
                .dtype = dtype,
                .dims = {s.n, s.x, s.y, s.z, s.c},
                .fill = uniform(-1, 1, text.seed("grad"))},
               {.name = "grad_in", .dtype = dtype, .dims = {s.points, s.c}, .term_size = 1}};
  d.flops = static_cast<double>(s.n * s.x * s.y * s.z * s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    const auto i = [](std::int64_t size) { return static_cast<int>(size); };
    return mluOpRoiAwarePool3dBackward(handle, s.mean, i(s.n), i(s.x), i(s.y), i(s.z), i(s.c), i(s.most), t[0].desc,
                                       t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::roiaware_pool3d_backward(
        {s, static_cast<const std::int32_t*>(in[0]), static_cast<const std::int32_t*>(in[1]), in[2], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 p=1 c=1 x=1 y=1 z=1 s=2", "n=2 p=9 c=5 x=3 y=4 z=6 s=7"});
}

Cases document() {
  return each(list({
                  "n=2 p=20 c=3 x=4 y=4 z=4 s=8",         // mmcv's test
                  "n=4 p=3000 c=16 x=14 y=14 z=14 s=32",  // Part-A2, reduced from 128 RoIs and 128 points a voxel
              }),
              "mean", {"0", "1"});
}

Cases edge() {
  return each(list({
                  "n=3 p=300 c=2 x=2 y=3 z=2 s=4",                       // more points than there is room for
                  "n=9 p=500 c=3 x=4 y=3 z=5 s=9 data=grid boxes=grid",  // points on the sides of voxels
                  "n=20 p=400 c=5 x=2 y=2 z=2 s=6 data=wild boxes=wild",
                  "n=5 p=70 c=17 x=3 y=1 z=2 s=1",  // counts alone
                  "n=4 p=200 c=33 x=2 y=2 z=7 s=5 indices=wild",
              }),
              "mean", {"0", "1"});
}

Case random_case(Random& random, double effort) {
  const char* const clouds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const char* const boxes[] = {"random", "random", "small", "grid", "same", "wild"};
  Case c;
  c.set("n", random.integer(1, 9)).set("p", odd_size(random, effort < 1 ? 100 : 600)).set("c", odd_size(random, 24));
  c.set("x", random.integer(1, 5)).set("y", random.integer(1, 5)).set("z", random.integer(1, 5));
  c.set("s", random.integer(1, 12)).set("mean", random.integer(0, 1));
  return c.set("data", random.pick(clouds))
      .set("boxes", random.pick(boxes))
      .set("indices", random.pick({"valid", "wild"}));
}

Cases large() {
  return each(list({"n=20 p=3000 c=37 x=6 y=6 z=6 s=20", "n=6 p=9000 c=20 x=10 y=9 z=8 s=12"}), "mean", {"0", "1"});
}

Cases network() {
  return list({"n=128 p=16384 c=16 x=12 y=12 z=12 s=128", "n=100 p=20000 c=128 x=12 y=12 z=12 s=64 mean=1"});
}

// Many additions to one point.
bool backward_in_half(const Case& t) {
  return t.real_or("p", 1) >= 200;
}

std::vector<Growth> growth() {
  const Case base = list({"n=16 p=8192 c=16 x=8 y=8 z=8 s=32"})[0];
  return {growth_of(base, "n"), growth_of(base, "p"), growth_of(base, "c"), growth_of(base, "s")};
}

}  // namespace

std::vector<OperatorCases> roiaware_pool3d_operators() {
  OperatorCases forward = {.op = "roiaware_pool3d_forward",
                           .function = "mluOpRoiAwarePool3dForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .reducible = {"n", "p"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "roiaware_pool3d_backward";
  backward.function = "mluOpRoiAwarePool3dBackward";
  backward.describe = describe_backward;
  backward.meaningful_in_half = backward_in_half;
  return {forward, backward};
}

}  // namespace mluops::cases
