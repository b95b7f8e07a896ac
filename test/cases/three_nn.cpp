#include "test/reference/three_nn.h"

#include "test/cases/base/clouds.h"
#include "test/cases/base/contract.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"n", "1024", "points whose neighbours are wanted"},
    {"m", "256", "known points"},
    {"data", "uniform", kCloudKinds},
};

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const mluopsThreeNNShape s{dtype, text.size("b"), text.size("n"), text.size("m")};
  const std::vector<std::int64_t> triples = {s.b, s.n, 3};
  Description d;
  d.tensors = {
      {.name = "unknown", .dtype = dtype, .dims = triples, .fill = cloud(text.word("data"), text.seed("unknown"), s.n)},
      {.name = "known",
       .dtype = dtype,
       .dims = {s.b, s.m, 3},
       .fill = cloud(text.word("data"), text.seed("known"), s.m)},
      {.name = "dist2", .dtype = dtype, .dims = triples, .comparison = Comparison::kBits},
      {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = triples, .comparison = Comparison::kBits}};
  d.flops =
      3 * 8.0 * static_cast<double>(s.b * s.n);  // the distances of the neighbours; how many others is the kernel's
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpThreeNNForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr, missing_workspace,
                               t[2].desc, t[2].data, t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    reference::ThreeNNResult r = reference::three_nn_forward({s, in[0], in[1], nullptr, nullptr});
    for (double& distance : r.dist2) distance = rounded(s.dtype, distance);
    return std::vector<Values>{std::move(r.dist2), std::move(r.idx)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1", "b=2 n=5 m=7"});
}

Cases document() {
  return list({
      "b=2 n=10 m=5",   // mmcv's test
      "b=4 n=64 m=16",  // PointNet++ feature propagation, batch 4 of 16
      "b=4 n=256 m=64",
      "b=2 n=1024 m=256 data=surface",
      "b=1 n=4096 m=1024 data=surface",
  });
}

Cases edge() {
  return list({
      "b=1 n=7 m=2",              // fewer points than neighbours
      "b=3 n=1 m=33",             // a leaf and one point
      "b=2 n=70 m=31 data=grid",  // ties
      "b=2 n=300 m=700 data=grid",
      "b=1 n=200 m=513 data=same",  // all distances 0: the lowest indices
      "b=2 n=200 m=1000 data=wild", "b=2 n=300 m=2 data=wild",
      "b=1 n=1 m=9000 data=surface",  // too few points to sort the known ones for
      "b=1 n=600 m=8200",             // three levels of boxes
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const std::int64_t most = effort < 1 ? 150 : 1500;
  Case c;
  c.set("b", random.integer(1, 4)).set("n", odd_size(random, most)).set("m", odd_size(random, most));
  if (random.chance(0.3)) c.set("m", random.integer(1, most));
  return c.set("data", random.pick(kinds));
}

Cases large() {
  return list({"b=3 n=2000 m=40", "b=4 n=4000 m=1500 data=surface", "b=1 n=9000 m=3000"});
}

Cases network() {
  return list({"b=16 n=4096 m=1024", "b=16 n=64 m=16", "b=16 n=256 m=64", "b=16 n=1024 m=256", "b=16 n=16384 m=4096",
               "b=16 n=16384 m=4096 data=surface"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 n=2048 m=2048"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m")};
}

}  // namespace

std::vector<OperatorCases> three_nn_operators() {
  return {{.op = "three_nn_forward",
           .function = "mluOpThreeNNForward",
           .parameters = kParameters,
           .describe = describe_forward,
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
