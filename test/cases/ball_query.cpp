#include "test/reference/ball_query.h"

#include "test/cases/base/clouds.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"m", "512", "centres"},
    {"n", "1024", "points"},
    {"s", "32", "points wanted of a ball"},
    {"min", "0", "least distance, but 0 itself always counts"},
    {"max", "0.2", "radius of a ball"},
    {"data", "uniform", kCloudKinds},
    {"centres", "own", "own | points (the first ones of the cloud)"},
};

mluopsBallQueryShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,
          t.size("b"),
          t.size("m"),
          t.size("n"),
          t.size("s"),
          static_cast<float>(t.real("min")),
          static_cast<float>(t.real("max"))};
}

Fill centres(const Case& t, const mluopsBallQueryShape& s, const Fill& points) {
  if (t.word("centres") == "own") return cloud(t.word("data"), t.seed("new_xyz"), t.size("m"));
  return [=](std::int64_t i) {
    const std::int64_t centre = i / 3 % s.m, image = i / 3 / s.m;
    return points((image * s.n + centre % s.n) * 3 + i % 3);
  };
}

Description describe_query(const Case& text, mluOpDataType_t dtype) {
  const mluopsBallQueryShape s = shape_of(text, dtype);
  const Fill points = cloud(text.word("data"), text.seed("xyz"), s.n);
  const double low = scalar_of(text, "min", dtype), high = scalar_of(text, "max", dtype);
  Description d;
  d.scalars = {low, high};
  d.tensors = {
      {.name = "new_xyz", .dtype = dtype, .dims = {s.b, s.m, 3}, .fill = centres(text, s, points)},
      {.name = "xyz", .dtype = dtype, .dims = {s.b, s.n, 3}, .fill = points},
      {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = {s.b, s.m, s.nsample}, .comparison = Comparison::kBits}};
  d.flops = 8.0 * static_cast<double>(s.b * s.m);  // one distance each; how many others is the kernel's
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpBallQuery(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.min_radius, s.max_radius,
                          static_cast<int>(s.nsample), t[2].desc, t[2].data);
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::ball_query({s, in[0], in[1], nullptr, low, high})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 m=1 n=1 s=1 max=3", "b=2 m=5 n=7 s=4 max=1"});
}

Cases document() {
  return list({
      "b=2 m=5 n=10 s=5 max=0.2 centres=points",          // mmcv's test
      "b=2 m=5 n=10 s=5 min=0.2 max=0.4 centres=points",  // the same, a hollow ball
      "b=2 m=512 n=1024 s=32 max=0.2 centres=points",     // PointNet++ SSG, batch 2 of 16
      "b=2 m=128 n=512 s=64 max=0.4 centres=points",
      "b=1 m=1024 n=4096 s=16 max=0.1 data=surface centres=points",
  });
}

Cases edge() {
  return list({
      "b=1 m=9 n=40 s=3 max=0",  // nothing but points at the centre
      "b=2 m=30 n=300 s=7 max=0 data=grid centres=points",
      "b=2 m=30 n=500 s=4 max=0.01",                         // empty balls
      "b=1 m=50 n=400 s=64 max=10",                          // every point
      "b=1 m=50 n=40 s=64 max=10",                           // more wanted than there are
      "b=2 m=80 n=700 s=9 min=0.25 max=0.5 data=grid",       // distances that equal a radius
      "b=1 m=40 n=600 s=5 min=0.5 max=0.25 centres=points",  // the greater radius first
      "b=2 m=60 n=900 s=16 max=0.5 data=wild",
      "b=1 m=900 n=9000 s=8 max=0.1 data=surface centres=points",  // sorted points, balls of few
      "b=1 m=900 n=9000 s=8 max=1.5 data=surface centres=points",  // the same, balls of many
      "b=1 m=700 n=5000 s=300 max=0.3 data=grid",
      "b=1 m=900 n=9000 s=8 max=0.3 data=padded",
      "b=1 m=900 n=9000 s=8 min=0.25 max=0.5 data=padded centres=points",  // hollow balls about the padding
      "b=1 m=900 n=9000 s=40 max=0.3 data=places",
      "b=1 m=900 n=9000 s=9 max=0.05 data=lattice centres=points",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild", "padded", "places", "line"};
  const char* const radii[] = {"0", "0.05", "0.25", "0.3", "1", "5"};
  const char* const from[] = {"own", "points"};
  const std::int64_t most = effort < 1 ? 150 : 1500;
  Case c;
  c.set("b", random.integer(1, 4)).set("m", odd_size(random, most)).set("n", random.integer(1, most));
  c.set("s", random.integer(1, 40)).set("min", random.pick({"0", "0", "0.25"})).set("max", random.pick(radii));
  return c.set("data", random.pick(kinds)).set("centres", random.pick(from));
}

Cases large() {
  return list({"b=3 m=700 n=200 s=16 max=0.4", "b=3 m=2000 n=4000 s=16 max=0.2", "b=1 m=6000 n=9000 s=32 max=0.1"});
}

Cases network() {
  return list({"b=16 m=512 n=1024 s=32 max=0.2 centres=points", "b=16 m=128 n=512 s=64 max=0.4 centres=points",
               "b=16 m=1024 n=4096 s=32 max=0.2 centres=points", "b=16 m=4096 n=16384 s=32 max=0.1 centres=points",
               "b=16 m=4096 n=16384 s=32 max=0.1 data=surface centres=points",
               "b=16 m=4096 n=16384 s=32 max=0.4 centres=points"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 m=512 n=2048 s=16 max=0.1"})[0];
  return {growth_of(base, "b"), growth_of(base, "m"), growth_of(base, "n"),
          growth_of(base, "max", {"0.05", "0.1", "0.2", "0.4"})};
}

}  // namespace

std::vector<OperatorCases> ball_query_operators() {
  return {{.op = "ball_query",
           .function = "mluOpBallQuery",
           .parameters = kParameters,
           .describe = describe_query,
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
