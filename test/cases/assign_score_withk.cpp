#include "test/reference/assign_score_withk.h"

#include <algorithm>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "2", "clouds"},
    {"n", "256", "points"},
    {"m", "8", "matrices of the weight bank"},
    {"o", "32", "channels"},
    {"p", "128", "centres"},
    {"k", "16", "neighbours"},
    {"indices", "valid", "valid | wild (some outside) | same (one point)"},
};

mluopsAssignScoreWithkShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("n"), t.size("m"), t.size("o"), t.size("p"), t.size("k")};
}

Fill indices(const Case& t) {
  const std::int64_t n = t.size("n");
  if (t.word("indices") == "same") return [n](std::int64_t) { return static_cast<double>(n / 2); };
  if (t.word("indices") == "valid") return integers(0, n - 1, t.seed("idx"));
  return integers(-n / 5 - 1, n + n / 5, t.seed("idx"));
}

TensorSpec tensor(const char* name, mluOpDataType_t dtype, std::vector<std::int64_t> dims, Fill fill = {}) {
  return {.name = name, .dtype = dtype, .dims = std::move(dims), .fill = std::move(fill), .term_size = 1};
}

std::vector<TensorSpec> inputs(const Case& t, mluOpDataType_t dtype, const mluopsAssignScoreWithkShape& s) {
  const std::vector<std::int64_t> rows = {s.b, s.n, s.m, s.o};
  return {tensor("points", dtype, rows, uniform(-1, 1, t.seed("points"))),
          tensor("centers", dtype, rows, uniform(-1, 1, t.seed("centers"))),
          tensor("scores", dtype, {s.b, s.p, s.k, s.m}, uniform(0, 1, t.seed("scores"))),
          tensor("knn_idx", MLUOP_DTYPE_INT32, {s.b, s.p, s.k}, indices(t))};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = inputs(text, dtype, s);
  d.tensors.push_back(tensor("output", dtype, {s.b, s.o, s.p, s.k}));
  d.flops = 3.0 * static_cast<double>(s.b * s.p * s.k * s.m * s.o);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtAssignScoreWithkForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                           t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::assign_score_withk_forward(
        {s, in[0], in[1], in[2], static_cast<const std::int32_t*>(in[3]), nullptr})};
  };
  return d;
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = inputs(text, dtype, s);
  d.tensors.insert(d.tensors.begin(),
                   tensor("grad_output", dtype, {s.b, s.o, s.p, s.k}, uniform(-1, 1, text.seed("grad"))));
  d.tensors.push_back(tensor("grad_points", dtype, {s.b, s.n, s.m, s.o}));
  d.tensors.push_back(tensor("grad_centers", dtype, {s.b, s.n, s.m, s.o}));
  d.tensors.push_back(tensor("grad_scores", dtype, {s.b, s.p, s.k, s.m}));
  d.flops = 6.0 * static_cast<double>(s.b * s.p * s.k * s.m * s.o);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtAssignScoreWithkBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                            t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data, t[6].desc,
                                            t[6].data, t[7].desc, t[7].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::assign_score_withk_backward(
        {s, in[0], in[1], in[2], in[3], static_cast<const std::int32_t*>(in[4]), nullptr, nullptr, nullptr});
    return std::vector<Values>{r.points, r.centers, r.scores};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 m=1 o=1 p=1 k=1", "b=2 n=7 m=3 o=5 p=4 k=6"});
}

Cases document() {
  return list({
      "b=2 n=8 m=2 o=4 p=4 k=3",         // mmcv's test: npoint, N, K, M, out_dim = 4, 8, 3, 2, 4
      "b=1 n=512 m=16 o=64 p=128 k=32",  // PAConv, reduced from 16 clouds
  });
}

Cases edge() {
  return list({
      "b=2 n=40 m=3 o=17 p=20 k=7 indices=wild",
      "b=1 n=50 m=2 o=33 p=30 k=5 indices=same",
      "b=3 n=9 m=1 o=1 p=65 k=1",
      "b=1 n=1 m=5 o=16 p=3 k=64",
      "b=1 n=300 m=2 o=3 p=129 k=2 indices=wild",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"valid", "valid", "wild", "same"};
  const std::int64_t most = effort < 1 ? 20 : 60;
  Case c;
  c.set("b", random.integer(1, 3)).set("n", odd_size(random, most)).set("m", random.integer(1, 8));
  c.set("o", odd_size(random, 40)).set("p", odd_size(random, most)).set("k", random.integer(1, 12));
  return c.set("indices", random.pick(kinds));
}

Cases large() {
  return list({"b=3 n=300 m=8 o=37 p=200 k=16", "b=1 n=700 m=4 o=64 p=500 k=20"});
}

Cases network() {
  return list({"b=8 n=1024 m=16 o=64 p=256 k=32", "b=4 n=4096 m=16 o=32 p=1024 k=32"});
}

// Sums that cancel and reach a point many times.
bool backward_in_half(const Case& t) {
  return t.text_or("indices", "valid") == "valid" && t.real("p") * t.real("k") / t.real("n") <= 40;
}

std::vector<Growth> growth() {
  const Case base = list({"b=1 n=512 m=8 o=32 p=256 k=16"})[0];
  return {growth_of(base, "b"), growth_of(base, "n"), growth_of(base, "m"), growth_of(base, "o"), growth_of(base, "p")};
}

}  // namespace

std::vector<OperatorCases> assign_score_withk_operators() {
  OperatorCases forward = {.op = "assign_score_withk_forward",
                           .function = "mluOpExtAssignScoreWithkForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .reducible = {"b", "p"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "assign_score_withk_backward";
  backward.function = "mluOpExtAssignScoreWithkBackward";
  backward.describe = describe_backward;
  backward.meaningful_in_half = backward_in_half;
  return {forward, backward};
}

}  // namespace mluops::cases
