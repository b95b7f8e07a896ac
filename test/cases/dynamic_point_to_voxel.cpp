#include "test/reference/dynamic_point_to_voxel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "test/cases/base/contract.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "4096", "points"},
    {"c", "16", "features of a point"},
    {"m", "0", "rows of voxel_feats, at most n; 0: n"},
    {"side", "12", "voxels along each axis, 12^3 places"},
    {"reduce", "max", "max | mean | sum (EXTENDED)"},
    {"coors", "valid", "valid | wild (some negative, some far) | none (all negative) | same (one voxel)"},
    {"feats", "uniform", "uniform | ties (few distinct numbers) | wild (NaN, Inf)"},
};

mluOpReduceMode_t reduce_of(const Case& t) {
  const std::string word = t.word("reduce");
  return word == "max" ? MLUOP_REDUCE_DMAX : word == "mean" ? MLUOP_REDUCE_DMEAN : MLUOP_REDUCE_DSUM;
}

mluopsDynamicPointToVoxelShape shape_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t n = t.size("n"), rows = t.integer("m", 0, static_cast<int>(n));
  return {dtype, n, t.size("c"), rows > 0 ? rows : n, reduce_of(t)};
}

Fill coors(const Case& t) {
  const std::string kind = t.word("coors");
  const Fill valid = integers(0, t.size("side") - 1, t.seed("coors"));
  if (kind == "none") return integers(-9, -1, t.seed("coors"));
  if (kind == "same") return [](std::int64_t i) { return static_cast<double>(i % 3); };
  if (kind == "valid") return valid;
  return [=, seed = t.seed("wild")](std::int64_t i) {
    constexpr double kFar[] = {-1, -2147483648.0, 2147483647, 65536, 70000, 16777216};
    const double luck = unit_random(seed, i);
    return luck < 0.3 ? kFar[static_cast<int>(luck * 20)] : valid(i);
  };
}

Fill feats(const Case& t, const char* name) {
  const std::string kind = t.word("feats");
  const Fill any = uniform(-1, 1, t.seed(name));
  if (kind == "ties") return [any](std::int64_t i) { return std::floor(any(i) * 3) / 4; };
  if (kind != "wild") return any;
  return [any, seed = t.seed("wild feats")](std::int64_t i) {
    const double luck = unit_random(seed, i), infinity = std::numeric_limits<double>::infinity();
    return luck < 0.05 ? std::nan("") : luck < 0.08 ? infinity : luck < 0.11 ? -infinity : any(i);
  };
}

TensorSpec indices(const char* name, std::vector<std::int64_t> dims, Fill fill = {}) {
  return {.name = name,
          .dtype = MLUOP_DTYPE_INT32,
          .dims = std::move(dims),
          .fill = std::move(fill),
          .comparison = Comparison::kBits};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  Description d;
  d.tensors = {{.name = "feats", .dtype = dtype, .dims = {s.n, s.c}, .fill = feats(text, "feats")},
               indices("coors", {s.n, 3}, coors(text)),
               {.name = "voxel_feats",
                .dtype = dtype,
                .dims = {s.m, s.c},
                .comparison = s.reduce == MLUOP_REDUCE_DMAX ? Comparison::kBits : Comparison::kNumeric,
                .term_size = 1},
               indices("voxel_coors", {s.m, 3}),
               indices("point2voxel_map", {s.n}),
               indices("voxel_points_count", {s.m}),
               indices("voxel_num", {1})};
  d.flops = static_cast<double>(s.n * s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return under_extended(s.reduce == MLUOP_REDUCE_DSUM, handle, [&] {
      return mluOpDynamicPointToVoxelForward(handle, s.reduce, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr,
                                             missing_workspace, t[2].desc, t[2].data, t[3].desc, t[3].data, t[4].desc,
                                             t[4].data, t[5].desc, t[5].data, t[6].desc, t[6].data);
    });
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::dynamic_point_to_voxel_forward(
        {s, in[0], static_cast<const std::int32_t*>(in[1]), nullptr, nullptr, nullptr, nullptr, nullptr});
    return std::vector<Values>{r.feats, r.coors, r.map, r.counts, r.num};
  };
  return d;
}

// What the forward function gives for the case's points: feats, as the tensor's dtype holds them.
struct Forward {
  Values feats;
  reference::DynamicPointToVoxelResult result;
};

std::shared_ptr<const Forward> forward_of(const Case& text, const mluopsDynamicPointToVoxelShape& s) {
  auto made = std::make_shared<Forward>();
  const Fill points = admissible(text, feats(text, "feats")), places = coors(text);
  for (std::int64_t i = 0; i < s.n * s.c; ++i) made->feats.push_back(rounded(s.dtype, points(i)));
  std::vector<std::int32_t> voxels;
  for (std::int64_t i = 0; i < 3 * s.n; ++i) voxels.push_back(static_cast<std::int32_t>(places(i)));
  auto wide = s;
  wide.dtype = MLUOP_DTYPE_DOUBLE;
  wide.m = s.n;
  made->result = reference::dynamic_point_to_voxel_forward(
      {wide, made->feats.data(), voxels.data(), nullptr, nullptr, nullptr, nullptr, nullptr});
  return made;
}

// The voxels of the points, now and then one that is none.
Fill point_map(const Case& t, std::shared_ptr<const Forward> forward) {
  const bool wild = t.word("coors") == "wild";
  const double most = std::numeric_limits<std::int32_t>::max();
  return [forward, wild, most, n = t.real("n"), seed = t.seed("map")](std::int64_t i) {
    const double luck = unit_random(seed, i);
    if (wild && luck < 0.1) return luck < 0.03 ? -7.0 : luck < 0.06 ? n : most;
    return forward->result.map[static_cast<std::size_t>(i)];
  };
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const auto s = shape_of(text, dtype);
  const auto forward = forward_of(text, s);
  Description d;
  d.tensors = {
      {.name = "grad_voxel_feats", .dtype = dtype, .dims = {s.m, s.c}, .fill = uniform(-1, 1, text.seed("grad"))},
      {.name = "feats", .dtype = dtype, .dims = {s.n, s.c}, .fill = given(forward->feats)},
      {.name = "voxel_feats", .dtype = dtype, .dims = {s.m, s.c}, .fill = given(forward->result.feats)},
      indices("point2voxel_map", {s.n}, point_map(text, forward)),
      indices("voxel_points_count", {s.m}, given(forward->result.counts)),
      indices("voxel_num", {1}, given(forward->result.num)),
      {.name = "grad_feats",
       .dtype = dtype,
       .dims = {s.n, s.c},
       .comparison = s.reduce == MLUOP_REDUCE_DMEAN ? Comparison::kNumeric : Comparison::kBits}};
  d.flops = s.reduce == MLUOP_REDUCE_DSUM ? 0 : static_cast<double>(s.n * s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return under_extended(s.reduce != MLUOP_REDUCE_DMAX, handle, [&] {
      return mluOpDynamicPointToVoxelBackward(handle, s.reduce, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                              t[2].data, t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc,
                                              t[5].data, nullptr, missing_workspace, t[6].desc, t[6].data);
    });
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    const auto numbers = [&](std::size_t i) { return static_cast<const std::int32_t*>(in[i]); };
    return std::vector<Values>{reference::dynamic_point_to_voxel_backward(
        {s, in[0], in[1], in[2], numbers(3), numbers(4), numbers(5), nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 c=1 side=1", "n=7 c=5 side=2"});
}

Cases document() {
  return each(list({
                  "n=2000 c=4 side=9",    // mmcv's test: 200000 points of a 20^3 grid, reduced
                  "n=5000 c=64 side=40",  // a voxel encoder's features, reduced from 10^5 points
              }),
              "reduce", {"max", "mean"});
}

Cases edge() {
  const Cases sums = list({"n=400 c=9 side=4 reduce=sum", "n=500 c=7 side=5 coors=wild reduce=mean",
                           "n=300 c=3 coors=same reduce=mean", "n=90 c=3 coors=none reduce=sum"});
  const Cases greatest = list({
      "n=40 c=3 side=1",              // one voxel
      "n=300 c=2 side=50",            // hardly two points in one
      "n=500 c=7 side=5 coors=wild",  // negative, far, coordinates of four bytes
      "n=90 c=3 coors=none",          // no voxel at all
      "n=700 c=5 coors=same",
      "n=600 c=9 side=4 feats=ties",             // the first of equal maxima
      "n=600 c=9 side=6 feats=wild coors=wild",  // NaN
      "n=257 c=33 side=300",                     // coordinates of two bytes
  });
  return joined(greatest, sums);
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"valid", "valid", "valid", "wild", "same", "none"};
  const char* const numbers[] = {"uniform", "uniform", "ties"};
  const char* const reductions[] = {"max", "max", "mean", "sum"};
  const std::int64_t most = effort < 1 ? 200 : 2000;
  Case c;
  c.set("n", odd_size(random, most)).set("c", odd_size(random, 40)).set("side", odd_size(random, 12));
  return c.set("coors", random.pick(kinds)).set("feats", random.pick(numbers)).set("reduce", random.pick(reductions));
}

Cases large() {
  return each(list({"n=9000 c=37 side=15", "n=30000 c=4 side=9"}), "reduce", {"max", "mean"});
}

Cases network() {
  return list({"n=100000 c=64 side=60", "n=100000 c=4 side=60", "n=20000 c=128 side=25"});
}

// Two orders of the points, where voxels begin, and a row of sums for each thread; backward: one order, the beginnings,
// and a row of gradients for each thread.
std::vector<Growth> growth() {
  const Case base = list({"n=20000 c=16 side=20"})[0];
  return {growth_of(base, "n"), growth_of(base, "c"), growth_of(base, "side", {"5", "10", "20", "40"})};
}

}  // namespace

std::vector<OperatorCases> dynamic_point_to_voxel_operators() {
  OperatorCases forward = {.op = "dynamic_point_to_voxel_forward",
                           .function = "mluOpDynamicPointToVoxelForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                                      .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
                           .reducible = {"n"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "dynamic_point_to_voxel_backward";
  backward.function = "mluOpDynamicPointToVoxelBackward";
  backward.describe = describe_backward;
  return {forward, backward};
}

}  // namespace mluops::cases
