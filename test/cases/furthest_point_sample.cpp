#include "test/reference/furthest_point_sample.h"

#include <algorithm>

#include "test/cases/base/clouds.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"n", "1024", "points"},
    {"m", "256", "points to pick"},
    {"data", "uniform", kCloudKinds},
};

mluopsFurthestPointSampleShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("n"), t.size("m")};
}

TensorSpec picks(const mluopsFurthestPointSampleShape& s) {
  return {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = {s.b, s.m}, .comparison = Comparison::kBits};
}

Description describe_points(const Case& text, mluOpDataType_t dtype) {
  const mluopsFurthestPointSampleShape s = shape_of(text, dtype);
  Description d;
  d.tensors = {{.name = "points",
                .dtype = dtype,
                .dims = {s.b, s.n, 3},
                .fill = cloud(text.word("data"), text.seed("points"), s.n)},
               picks(s)};
  d.flops = 8.0 * static_cast<double>(s.b * (s.n + s.m));  // one distance each; how many others is the kernel's
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtFurthestPointSample(handle, t[0].desc, t[0].data, t[1].desc, t[1].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::furthest_point_sample({s, in[0], nullptr})};
  };
  return d;
}

// Distances of points in space, so "grid" has ties; "below": all negative, some under the start value -1.
Fill distances(const Case& t, const mluopsFurthestPointSampleShape& s) {
  const std::string kind = t.word("data");
  if (kind == "below") return uniform(-2, -0.5, t.seed("distances"));
  return [=, points = cloud(kind, t.seed("points"))](std::int64_t i) {
    const std::int64_t image = i / (s.n * s.n), from = image * s.n + i / s.n % s.n, to = image * s.n + i % s.n;
    double sum = 0;
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const double difference = points(3 * from + axis) - points(3 * to + axis);
      sum += difference * difference;
    }
    return sum;
  };
}

Description describe_distances(const Case& text, mluOpDataType_t dtype) {
  const mluopsFurthestPointSampleShape s = shape_of(text, dtype);
  Description d;
  d.tensors = {{.name = "distances", .dtype = dtype, .dims = {s.b, s.n, s.n}, .fill = distances(text, s)}, picks(s)};
  const double rows = static_cast<double>(std::min(s.n, std::max<std::int64_t>(s.m - 1, 1)));
  d.tensors[0].touched = rows / static_cast<double>(s.n);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtFurthestPointSampleWithDist(handle, t[0].desc, t[0].data, t[1].desc, t[1].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::furthest_point_sample_with_dist({s, in[0], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1", "b=2 n=7 m=5"});
}

Cases document() {
  return list({
      "b=2 n=5 m=3",    // mmcv's test
      "b=4 n=64 m=16",  // mmcv's test with distances has 256 points of 4 clouds
      "b=2 n=256 m=16",
      "b=1 n=1024 m=512 data=surface",  // PointNet++ SSG, batch 1 of 16
      "b=1 n=512 m=128",
  });
}

Cases edge() {
  return list({
      "b=1 n=1 m=5",  // more wanted than there are
      "b=2 n=9 m=30",
      "b=1 n=300 m=400 data=grid",  // ties, repeated points, all of them picked
      "b=2 n=1030 m=300 data=grid",
      "b=1 n=2100 m=90 data=grid",  // several points to a thread of the device
      "b=2 n=70 m=9 data=same",
      "b=2 n=500 m=60 data=wild",
      "b=3 n=33 m=33",
  });
}

Cases points_edge() {
  return joined(edge(), list({"b=1 n=9000 m=300", "b=1 n=9000 m=200 data=surface"}));
}

Cases distances_edge() {
  return joined(edge(), list({"b=2 n=60 m=20 data=below"}));
}

Case random_points(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const std::int64_t most = effort < 1 ? 150 : 1500;
  Case c;
  c.set("b", random.integer(1, 4)).set("n", random.integer(1, most)).set("m", odd_size(random, most));
  return c.set("data", random.pick(kinds));
}

Case random_distances(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "grid", "same", "wild", "below"};
  const std::int64_t most = effort < 1 ? 60 : 200;
  Case c;
  c.set("b", random.integer(1, 4)).set("n", odd_size(random, most)).set("m", odd_size(random, most));
  return c.set("data", random.pick(kinds));
}

Cases large_points() {
  return list({"b=5 n=900 m=200", "b=3 n=5000 m=600 data=surface"});
}

Cases large_distances() {
  return list({"b=4 n=500 m=200"});
}

Cases network_points() {
  return list({"b=16 n=1024 m=512", "b=16 n=4096 m=1024", "b=16 n=16384 m=4096", "b=16 n=16384 m=4096 data=surface"});
}

Cases network_distances() {
  return list({"b=4 n=512 m=256", "b=4 n=1024 m=256"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 n=2048 m=256"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m")};
}

std::vector<Growth> growth_with_distances() {
  const Case base = list({"b=2 n=256 m=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m", {"64", "128", "256"})};
}

}  // namespace

std::vector<OperatorCases> furthest_point_sample_operators() {
  OperatorCases points = {.op = "furthest_point_sample",
                          .function = "mluOpExtFurthestPointSample",
                          .parameters = kParameters,
                          .describe = describe_points,
                          .smallest = smallest,
                          .document = document,
                          .edge = points_edge,
                          .random = random_points,
                          .large = large_points,
                          .network = network_points,
                          .reducible = {"b"},
                          .growth = growth};
  OperatorCases distances = points;
  distances.op = "furthest_point_sample_with_dist";
  distances.function = "mluOpExtFurthestPointSampleWithDist";
  distances.parameters.back().meaning = "kinds of clouds, or below (distances that are negative)";
  distances.describe = describe_distances;
  distances.edge = distances_edge;
  distances.random = random_distances;
  distances.large = large_distances;
  distances.network = network_distances;
  distances.growth = growth_with_distances;
  return {points, distances};
}

}  // namespace mluops::cases
