#include "test/reference/chamfer_distance.h"

#include "test/cases/base/clouds.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "pairs of sets"},
    {"n", "512", "points of set 1"},
    {"m", "400", "points of set 2"},
    {"data", "uniform", kCloudKinds},
    {"indices", "valid", "backward: valid | wild (some outside)"},
};

mluopsChamferDistanceShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("n"), t.size("m")};
}

// x and y of the cloud's points.
Fill plane(const Case& t, const char* name, std::int64_t count) {
  return [points = cloud(t.word("data"), t.seed(name), count)](std::int64_t i) { return points(i / 2 * 3 + i % 2); };
}

TensorSpec points(const char* name, mluOpDataType_t dtype, std::int64_t b, std::int64_t n, Fill fill = {}) {
  return {.name = name, .dtype = dtype, .dims = {b, n, 2}, .fill = std::move(fill)};
}
TensorSpec numbers(const char* name, mluOpDataType_t dtype, std::int64_t b, std::int64_t n, Fill fill = {}) {
  return {.name = name, .dtype = dtype, .dims = {b, n}, .fill = std::move(fill), .comparison = Comparison::kBits};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = {points("xyz1", dtype, s.b, s.n, plane(text, "one", s.n)),
               points("xyz2", dtype, s.b, s.m, plane(text, "two", s.m)),
               numbers("dist1", dtype, s.b, s.n),
               numbers("dist2", dtype, s.b, s.m),
               numbers("idx1", MLUOP_DTYPE_INT32, s.b, s.n),
               numbers("idx2", MLUOP_DTYPE_INT32, s.b, s.m)};
  d.flops = 5.0 * static_cast<double>(s.b * (s.n + s.m));  // of the neighbours; how many others is the kernel's
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtChamferDistanceForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                          t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::chamfer_distance_forward({s, in[0], in[1], nullptr, nullptr, nullptr, nullptr});
    for (Values* dist : {&r.dist1, &r.dist2}) {
      for (double& value : *dist) value = rounded(s.dtype, value);
    }
    return std::vector<Values>{r.dist1, r.dist2, r.idx1, r.idx2};
  };
  return d;
}

Fill indices(const Case& t, const char* name, std::int64_t count) {
  const bool wild = t.word("indices") == "wild";
  return integers(wild ? -count / 4 - 1 : 0, wild ? count + count / 4 : count - 1, t.seed(name));
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = {points("xyz1", dtype, s.b, s.n, plane(text, "one", s.n)),
               points("xyz2", dtype, s.b, s.m, plane(text, "two", s.m)),
               numbers("idx1", MLUOP_DTYPE_INT32, s.b, s.n, indices(text, "idx1", s.m)),
               numbers("idx2", MLUOP_DTYPE_INT32, s.b, s.m, indices(text, "idx2", s.n)),
               numbers("grad_dist1", dtype, s.b, s.n, uniform(-1, 1, text.seed("grad1"))),
               numbers("grad_dist2", dtype, s.b, s.m, uniform(-1, 1, text.seed("grad2"))),
               points("grad_xyz1", dtype, s.b, s.n),
               points("grad_xyz2", dtype, s.b, s.m)};
  for (std::size_t i = 6; i < 8; ++i) d.tensors[i].term_size = 1;
  d.flops = 8.0 * static_cast<double>(s.b * (s.n + s.m));
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtChamferDistanceBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                           t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data, t[6].desc,
                                           t[6].data, t[7].desc, t[7].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r =
        reference::chamfer_distance_backward({s, in[0], in[1], static_cast<const std::int32_t*>(in[2]),
                                              static_cast<const std::int32_t*>(in[3]), in[4], in[5], nullptr, nullptr});
    return std::vector<Values>{r.xyz1, r.xyz2};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1", "b=2 n=5 m=7"});
}

Cases document() {
  return list({"b=2 n=4 m=4", "b=300 n=40 m=40", "b=300 n=9 m=40"});  // mmcv's test; Oriented RepPoints
}

Cases forward_edge() {
  return list({
      "b=2 n=70 m=31 data=grid",  // ties
      "b=1 n=2000 m=1500",        // sorted
      "b=2 n=900 m=1700 data=grid",
      "b=1 n=200 m=513 data=same",
      "b=2 n=200 m=1000 data=wild",
      "b=3 n=1 m=400",
      "b=3 n=400 m=1",
      "b=1 n=40 m=3 data=wild",
  });
}
Cases backward_edge() {
  return list({"b=2 n=70 m=31 indices=wild", "b=1 n=200 m=513 data=same", "b=3 n=1 m=400", "b=3 n=400 m=1",
               "b=2 n=90 m=70 data=grid"});
}

Case random_forward(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const std::int64_t most = effort < 1 ? 100 : 900;
  Case c;
  c.set("b", random.integer(1, 5)).set("n", odd_size(random, most)).set("m", odd_size(random, most));
  return c.set("data", random.pick(kinds));
}
Case random_backward(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid"};
  const std::int64_t most = effort < 1 ? 100 : 900;
  Case c;
  c.set("b", random.integer(1, 5)).set("n", odd_size(random, most)).set("m", odd_size(random, most));
  return c.set("data", random.pick(kinds)).set("indices", random.pick({"valid", "wild"}));
}

Cases forward_large() {
  return list({"b=900 n=40 m=33", "b=3 n=3000 m=4000"});
}
Cases backward_large() {
  return list({"b=900 n=40 m=33", "b=7 n=3000 m=4000"});
}

Cases network() {
  return list({"b=5000 n=40 m=40", "b=16 n=2048 m=2048", "b=4 n=16384 m=16384"});
}

bool backward_in_half(const Case& t) {
  return t.text_or("data", "uniform") == "uniform";
}

std::vector<Growth> growth() {
  const Case base = list({"b=4 n=1024 m=1024"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m")};
}

}  // namespace

std::vector<OperatorCases> chamfer_distance_operators() {
  OperatorCases forward = {.op = "chamfer_distance_forward",
                           .function = "mluOpExtChamferDistanceForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = forward_edge,
                           .random = random_forward,
                           .large = forward_large,
                           .network = network,
                           .reducible = {"b"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "chamfer_distance_backward";
  backward.function = "mluOpExtChamferDistanceBackward";
  backward.describe = describe_backward;
  backward.edge = backward_edge;
  backward.random = random_backward;
  backward.large = backward_large;
  backward.meaningful_in_half = backward_in_half;
  return {forward, backward};
}

}  // namespace mluops::cases
