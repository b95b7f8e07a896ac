#include "test/reference/voxelization.h"

#include "test/cases/base/clouds.h"
#include "test/cases/base/contract.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kGridParameters = {
    {"n", "8192", "points"},
    {"f", "4", "numbers of a point, x, y and z among them"},
    {"size", "0.25", "side of a voxel along x and y; twice that along z"},
    {"reach", "1", "the grid is the cube [-reach, reach]^3; points are in [-1, 1]^3"},
    {"data", "uniform", kCloudKinds},
};

std::vector<Parameter> with_limits() {
  std::vector<Parameter> all = kGridParameters;
  all.push_back({"points", "16", "most points of a voxel"});
  all.push_back({"voxels", "400", "most voxels"});
  return all;
}

mluopsVoxelizationShape shape_of(const Case& t, mluOpDataType_t dtype, bool hard) {
  return {dtype, t.size("n"), t.size("f"), hard ? t.size("points") : 0, hard ? t.size("voxels") : 0};
}

// Coordinates from the cloud, the rest uniform.
Fill points(const Case& t) {
  const Fill at = cloud(t.word("data"), t.seed("points"), t.size("n")), other = uniform(-1, 1, t.seed("features"));
  return [=, f = t.size("f")](std::int64_t i) { return i % f < 3 ? at(i / f * 3 + i % f) : other(i); };
}

Description grid_description(const Case& t, mluOpDataType_t dtype, const mluopsVoxelizationShape& s) {
  const double size = t.real("size"), reach = t.real("reach");
  Description d;
  d.tensors = {{.name = "points", .dtype = dtype, .dims = {s.n, s.features}, .fill = points(t)},
               {.name = "voxel_size", .dtype = dtype, .dims = {3}, .fill = given({size, size, 2 * size})},
               {.name = "coors_range",
                .dtype = dtype,
                .dims = {6},
                .fill = given({-reach, -reach, -reach, reach, reach, reach})}};
  d.flops = 9.0 * static_cast<double>(s.n);
  return d;
}

TensorSpec numbers(const char* name, std::vector<std::int64_t> dims) {
  return {.name = name, .dtype = MLUOP_DTYPE_INT32, .dims = std::move(dims), .comparison = Comparison::kBits};
}

Description describe_hard(const Case& t, mluOpDataType_t dtype) {
  const auto s = shape_of(t, dtype, true);
  Description d = grid_description(t, dtype, s);
  d.tensors.push_back({.name = "voxels",
                       .dtype = dtype,
                       .dims = {s.max_voxels, s.max_points, s.features},
                       .comparison = Comparison::kBits});
  d.tensors.push_back(numbers("coors", {s.max_voxels, 3}));
  d.tensors.push_back(numbers("num_points_per_voxel", {s.max_voxels}));
  d.tensors.push_back(numbers("voxel_num", {1}));
  d.call = [s](mluOpHandle_t handle, const Arguments& a) {
    return mluOpVoxelization(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc, a[2].data,
                             static_cast<int>(s.max_points), static_cast<int>(s.max_voxels), 3, true, nullptr,
                             missing_workspace, a[3].desc, a[3].data, a[4].desc, a[4].data, a[5].desc, a[5].data,
                             a[6].desc, a[6].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::voxelization({s, in[0], in[1], in[2], nullptr, nullptr, nullptr, nullptr});
    return std::vector<Values>{r.voxels, r.coors, r.counts, r.num};
  };
  return d;
}

Description describe_dynamic(const Case& t, mluOpDataType_t dtype) {
  const auto s = shape_of(t, dtype, false);
  Description d = grid_description(t, dtype, s);
  d.tensors.push_back(numbers("coors", {s.n, 3}));
  d.call = [](mluOpHandle_t handle, const Arguments& a) {
    return mluOpExtDynamicVoxelize(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc, a[2].data, a[3].desc,
                                   a[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::dynamic_voxelize({s, in[0], in[1], in[2], nullptr})};
  };
  return d;
}

Cases dynamic_smallest() {
  return list({"n=1 f=3", "n=7 f=5 size=0.5"});
}
Cases hard_smallest() {
  return list({"n=1 f=3 points=1 voxels=1", "n=9 f=5 size=0.5 points=2 voxels=6"});
}

Cases dynamic_document() {
  return list({
      "n=1000 f=4 size=0.1",                   // mmcv's test: a KITTI sweep, reduced
      "n=20000 f=4 size=0.0125 data=surface",  // SECOND: 160 places along each axis
  });
}
Cases hard_document() {
  return list({
      "n=1000 f=4 size=0.1 points=35 voxels=500",
      "n=20000 f=4 size=0.0125 data=surface points=5 voxels=8000",  // SECOND, reduced from 40000 voxels
      "n=20000 f=4 size=0.02 points=32 voxels=2000",                // PointPillars, reduced from 16000 voxels
  });
}

Cases dynamic_edge() {
  return list({
      "n=300 f=3 data=grid",            // points on the sides of voxels
      "n=300 f=3 size=0.25 reach=0.5",  // many outside
      "n=200 f=4 size=0.3",             // a grid that does not fill its range: rounded
      "n=100 f=3 size=8",               // no voxel: the range is less than half of one
      "n=500 f=7 data=wild", "n=90 f=3 data=same",
      "n=200 f=4 size=0.000001",  // a million places along each axis
  });
}
Cases hard_edge() {
  return list({
      "n=300 f=3 data=grid points=3 voxels=200",
      "n=300 f=3 size=0.25 reach=0.5 points=2 voxels=20",  // more voxels and points than there is room for
      "n=200 f=4 size=0.3 points=500 voxels=3",
      "n=100 f=3 size=8 points=2 voxels=2",
      "n=500 f=7 data=wild points=4 voxels=300",
      "n=90 f=3 data=same points=100 voxels=9",
      "n=200 f=4 size=0.000001 points=1 voxels=300",
  });
}

Case random_grid(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "surface", "grid", "same", "wild"};
  const char* const sizes[] = {"0.03", "0.1", "0.25", "0.3", "1", "2.5"};
  const std::int64_t most = effort < 1 ? 400 : 4000;
  Case c;
  c.set("n", odd_size(random, most)).set("f", random.integer(3, 9)).set("size", random.pick(sizes));
  return c.set("reach", random.pick({"1", "1", "0.6", "3"})).set("data", random.pick(kinds));
}
Case random_hard(Random& random, double effort) {
  Case c = random_grid(random, effort);
  return c.set("points", random.integer(1, 20)).set("voxels", odd_size(random, 300));
}

Cases dynamic_large() {
  return list({"n=60000 f=4 size=0.05", "n=30000 f=9 size=0.02"});
}
Cases hard_large() {
  return list({"n=30000 f=4 size=0.05 points=7 voxels=9000", "n=20000 f=9 size=0.2 points=40 voxels=500"});
}

Cases dynamic_network() {
  return list({"n=120000 f=4 size=0.0125", "n=1000000 f=5 size=0.0125"});
}
Cases hard_network() {
  return list({"n=120000 f=4 size=0.0125 points=5 voxels=60000", "n=120000 f=4 size=0.02 points=32 voxels=16000",
               "n=120000 f=4 size=0.05 points=35 voxels=20000"});
}

// Place, voxel and row of each point, and a table of at least twice as many slots.
std::vector<Growth> growth() {
  const Case base = list({"n=30000 size=0.05"})[0];
  return {growth_of(base, "n"), growth_of(base, "f"), growth_of(base, "size", {"0.2", "0.1", "0.05", "0.025"})};
}

}  // namespace

std::vector<OperatorCases> voxelization_operators() {
  OperatorCases hard = {.op = "voxelization",
                        .function = "mluOpVoxelization",
                        .parameters = with_limits(),
                        .describe = describe_hard,
                        .smallest = hard_smallest,
                        .document = hard_document,
                        .edge = hard_edge,
                        .random = random_hard,
                        .large = hard_large,
                        .network = hard_network,
                        .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                                   .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
                        .reducible = {"n"},
                        .growth = growth};
  OperatorCases dynamic = hard;
  dynamic.op = "dynamic_voxelize";
  dynamic.function = "mluOpExtDynamicVoxelize";
  dynamic.parameters = kGridParameters;
  dynamic.describe = describe_dynamic;
  dynamic.smallest = dynamic_smallest;
  dynamic.document = dynamic_document;
  dynamic.edge = dynamic_edge;
  dynamic.random = random_grid;
  dynamic.large = dynamic_large;
  dynamic.network = dynamic_network;
  return {hard, dynamic};
}

}  // namespace mluops::cases
