#include "test/reference/roipoint_pool3d.h"

#include "test/cases/base/clouds.h"
#include "test/cases/base/contract.h"
#include "test/cases/base/upright_boxes.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "2", "clouds"},
    {"n", "4096", "points"},
    {"m", "32", "boxes"},
    {"c", "32", "features of a point"},
    {"s", "128", "points wanted of a box"},
    {"data", "uniform", kCloudKinds},
    {"boxes", "random", kUprightBoxKinds},
};

Description describe_pool(const Case& text, mluOpDataType_t dtype) {
  const mluopsRoiPointPool3dShape s{dtype,          text.size("b"), text.size("n"),
                                    text.size("m"), text.size("c"), text.size("s")};
  const Fill points = cloud(text.word("data"), text.seed("points"));
  const Fill boxes = upright_boxes(text.word("boxes"), text.seed("boxes"));
  const Fill features = uniform(-1, 1, text.seed("features"));
  Description d;
  d.tensors = {
      {.name = "points", .dtype = dtype, .dims = {s.b, s.n, 3}, .fill = points},
      {.name = "point_features", .dtype = dtype, .dims = {s.b, s.n, s.c}, .fill = features},
      {.name = "boxes3d", .dtype = dtype, .dims = {s.b, s.m, 7}, .fill = boxes},
      {.name = "pooled_features",
       .dtype = dtype,
       .dims = {s.b, s.m, s.samples, 3 + s.c},
       .comparison = Comparison::kBits},
      {.name = "pooled_empty_flag", .dtype = MLUOP_DTYPE_INT32, .dims = {s.b, s.m}, .comparison = Comparison::kBits}};
  d.flops = 12.0 * static_cast<double>(s.b * s.m * s.n);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiPointPool3d(handle, static_cast<int>(s.b), static_cast<int>(s.n), static_cast<int>(s.m),
                               static_cast<int>(s.c), static_cast<int>(s.samples), t[0].desc, t[0].data, t[1].desc,
                               t[1].data, t[2].desc, t[2].data, nullptr, missing_workspace, t[3].desc, t[3].data,
                               t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::roipoint_pool3d({s, in[0], in[1], in[2], nullptr, nullptr});
    return std::vector<Values>{std::move(r.features), std::move(r.empty)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1 c=1 s=1", "b=2 n=9 m=3 c=5 s=4"});
}

Cases document() {
  return list({
      "b=1 n=20 m=2 c=6 s=4",        // mmcv's test
      "b=1 n=4096 m=64 c=32 s=512",  // PointRCNN's second stage, reduced from 16384 points, 128 features
      "b=2 n=2048 m=16 c=128 s=64 boxes=small",
  });
}

Cases edge() {
  return list({
      "b=1 n=33 m=5 c=1 s=1",
      "b=3 n=200 m=9 c=2 s=300",                      // more wanted than there are
      "b=2 n=500 m=17 c=3 s=8 data=grid boxes=grid",  // points on the sides
      "b=1 n=400 m=40 c=4 s=16 boxes=small",          // empty boxes
      "b=2 n=700 m=30 c=5 s=20 data=wild boxes=wild",
      "b=1 n=50 m=20 c=7 s=6 data=same",
  });
}

Case random_case(Random& random, double effort) {
  const char* const clouds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const char* const boxes[] = {"random", "random", "small", "grid", "same", "wild"};
  const std::int64_t most = effort < 1 ? 100 : 600;
  Case c;
  c.set("b", random.integer(1, 3)).set("n", odd_size(random, most)).set("m", odd_size(random, 40));
  c.set("c", odd_size(random, 30)).set("s", random.integer(1, 40));
  return c.set("data", random.pick(clouds)).set("boxes", random.pick(boxes));
}

Cases large() {
  return list({"b=2 n=3000 m=40 c=61 s=200", "b=1 n=9000 m=60 c=3 s=33 boxes=small"});
}

Cases network() {
  return list({"b=2 n=16384 m=128 c=128 s=512", "b=1 n=16384 m=512 c=128 s=512", "b=4 n=16384 m=64 c=32 s=128"});
}

// Points by 32, and for each thread the indices of one box.
std::vector<Growth> growth() {
  const Case base = list({"b=1 n=8192 m=32 c=32 s=128"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m"), growth_of(base, "c"), growth_of(base, "s")};
}

}  // namespace

std::vector<OperatorCases> roipoint_pool3d_operators() {
  return {{.op = "roipoint_pool3d",
           .function = "mluOpRoiPointPool3d",
           .parameters = kParameters,
           .describe = describe_pool,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .reducible = {"b"},
           .growth = growth}};
}

}  // namespace mluops::cases
