#include "test/reference/knn.h"

#include "test/cases/base/clouds.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"n", "1024", "points"},
    {"m", "256", "centres"},
    {"k", "16", "neighbours wanted"},
    {"data", "uniform", kCloudKinds},
    {"centres", "own", "own | points (the first ones of the cloud)"},
};

Fill centres(const Case& t, const mluopsKnnShape& s, const Fill& points) {
  if (t.word("centres") == "own") return cloud(t.word("data"), t.seed("new_xyz"), t.size("m"));
  return [=](std::int64_t i) {
    const std::int64_t centre = i / 3 % s.m, image = i / 3 / s.m;
    return points((image * s.n + centre % s.n) * 3 + i % 3);
  };
}

Description describe_knn(const Case& text, mluOpDataType_t dtype) {
  const mluopsKnnShape s{dtype, text.size("b"), text.size("n"), text.size("m"), text.size("k")};
  const Fill points = cloud(text.word("data"), text.seed("xyz"), s.n);
  const std::vector<std::int64_t> found = {s.b, s.m, s.k};
  Description d;
  d.tensors = {{.name = "xyz", .dtype = dtype, .dims = {s.b, s.n, 3}, .fill = points},
               {.name = "new_xyz", .dtype = dtype, .dims = {s.b, s.m, 3}, .fill = centres(text, s, points)},
               {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = found, .comparison = Comparison::kBits},
               {.name = "dist2", .dtype = dtype, .dims = found, .comparison = Comparison::kBits}};
  d.flops = 8.0 * static_cast<double>(s.b * s.m * s.k);  // of the neighbours; how many others is the kernel's
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtKnn(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, static_cast<int>(s.k), t[2].desc, t[2].data,
                       t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    reference::KnnResult r = reference::knn({s, in[0], in[1], nullptr, nullptr});
    for (double& distance : r.dist2) distance = rounded(s.dtype, distance);
    return std::vector<Values>{std::move(r.idx), std::move(r.dist2)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1 k=1", "b=2 n=7 m=5 k=4"});
}

Cases document() {
  return list({
      "b=2 n=10 m=5 k=5 centres=points",       // mmcv's test
      "b=2 n=1024 m=256 k=32 centres=points",  // PAConv, batch 2 of 16
      "b=1 n=4096 m=1024 k=32 data=surface centres=points",
  });
}

Cases edge() {
  return list({
      "b=1 n=7 m=9 k=12",             // fewer points than neighbours
      "b=3 n=33 m=1 k=1",             // a leaf and one point
      "b=2 n=31 m=70 k=5 data=grid",  // ties
      "b=2 n=700 m=300 k=9 data=grid",
      "b=1 n=513 m=200 k=20 data=same",  // all distances 0: the lowest indices
      "b=1 n=5000 m=90 k=20 data=places",
      "b=1 n=5000 m=90 k=600 data=padded",  // many at one distance, sorted
      "b=1 n=5000 m=40 k=1024", "b=2 n=1000 m=200 k=7 data=wild", "b=2 n=5 m=300 k=6 data=wild",
      "b=1 n=9000 m=1 k=99 data=surface",  // too few centres to sort the points for
      "b=1 n=8200 m=600 k=3",              // three levels of boxes
      "b=1 n=600 m=50 k=600",              // all of them, sorted
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const char* const from[] = {"own", "points"};
  const std::int64_t most = effort < 1 ? 120 : 900;
  Case c;
  c.set("b", random.integer(1, 4)).set("n", random.integer(1, most)).set("m", odd_size(random, most));
  c.set("k", random.integer(1, 40));
  return c.set("data", random.pick(kinds)).set("centres", random.pick(from));
}

Cases large() {
  return list({"b=3 n=40 m=2000 k=8", "b=4 n=1500 m=3000 k=16 data=surface", "b=1 n=3000 m=6000 k=32"});
}

Cases network() {
  return list({"b=16 n=1024 m=1024 k=16 centres=points", "b=16 n=4096 m=1024 k=32 centres=points",
               "b=16 n=16384 m=4096 k=32 centres=points", "b=16 n=16384 m=4096 k=32 data=surface centres=points",
               "b=1 n=100000 m=100000 k=16 centres=points"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 n=2048 m=1024 k=16"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m"), growth_of(base, "k")};
}

}  // namespace

std::vector<OperatorCases> knn_operators() {
  return {{.op = "knn",
           .function = "mluOpExtKnn",
           .parameters = kParameters,
           .describe = describe_knn,
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
