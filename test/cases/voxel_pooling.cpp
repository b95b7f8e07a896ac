#include "test/reference/voxel_pooling.h"

#include <cmath>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsVoxelPoolingShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"n", "29568", "points of an image"},
    {"c", "80", "channels"},
    {"x", "128", "voxels along x"},
    {"y", "128", "voxels along y"},
    {"z", "1", "voxels along z"},
    {"data", "uniform",
     "uniform (some outside) | rays (neighbours share voxels) | one (all in one voxel) | outside | wild (any "
     "integers)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("n"), t.size("c"), t.size("x"), t.size("y"), t.size("z")};
}

Fill voxels(const Case& t, const Shape& s) {
  const std::string kind = t.word("data");
  if (kind == "wild") {
    return [s, seed = t.seed("wild")](std::int64_t i) {
      const double size = static_cast<double>(i % 3 == 0 ? s.x : i % 3 == 1 ? s.y : s.z);
      const double far[] = {-1, size, 2147483647, -2147483648.0, 0, size - 1};
      return far[static_cast<std::size_t>(unit_random(seed, i) * 6)];
    };
  }
  return [s, kind, seed = t.seed("voxels")](std::int64_t i) {
    const double size = static_cast<double>(i % 3 == 0 ? s.x : i % 3 == 1 ? s.y : s.z);
    if (kind == "one") return size - 1;
    if (kind == "outside") return -1 - std::floor(unit_random(seed, i) * 9);
    // Depths of a ray: as far as it goes, neighbours in the same voxel or the next.
    if (kind == "rays")
      return std::floor(unit_random(seed, i / 90 * 3 + i % 3) * size * static_cast<double>(i / 3 % 30) / 25);
    return std::floor(unit_random(seed, i) * (size + 0.2) - 0.1);
  };
}

Description describe_pooling(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.tensors = {
      {.name = "geom_xyz", .dtype = MLUOP_DTYPE_INT32, .dims = {s.batch, s.points, 3}, .fill = voxels(text, s)},
      {.name = "input_features",
       .dtype = dtype,
       .dims = {s.batch, s.points, s.c},
       .fill = uniform(-1, 1, text.seed("features"))},
      {.name = "output_features", .dtype = dtype, .dims = {s.batch, s.y, s.x, s.c}, .term_size = 1},
      {.name = "pos_memo",
       .dtype = MLUOP_DTYPE_INT32,
       .dims = {s.batch, s.points, 3},
       .comparison = Comparison::kBits}};
  d.flops = static_cast<double>(s.batch * s.points * s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    const auto number = [](std::int64_t i) { return static_cast<int>(i); };
    return mluOpVoxelPoolingForward(handle, number(s.batch), number(s.points), number(s.c), number(s.x), number(s.y),
                                    number(s.z), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                    t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::voxel_pooling_forward({s, static_cast<const std::int32_t*>(in[0]), in[1], nullptr, nullptr});
    return std::vector<Values>{std::move(r.output), std::move(r.pos_memo)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1 c=1 x=1 y=1 z=1 data=one", "b=2 n=7 c=5 x=3 y=4 z=2"});
}

Cases document() {
  return list({
      "b=2 n=1000 c=80 x=32 y=32 z=1",          // of the size of the vendor's tests
      "b=1 n=9856 c=80 x=128 y=128 data=rays",  // BEVDepth, one of six cameras, 14 of 112 depths
  });
}

Cases edge() {
  return list({
      "b=3 n=1 c=17 x=2 y=1 z=1",
      "b=1 n=700 c=3 x=5 y=4 z=3 data=wild",
      "b=2 n=300 c=64 x=1 y=1 z=1 data=one",
      "b=1 n=50 c=9 x=6 y=7 z=2 data=outside",
      "b=2 n=2000 c=1 x=9 y=8 z=4",
      "b=1 n=3 c=300 x=40 y=50 z=1",
      "b=1 n=900 c=79 x=16 y=16 z=2 data=rays",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"uniform", "uniform", "rays", "one", "wild"};
  Case c;
  c.set("b", random.integer(1, 3)).set("n", random.integer(1, effort < 1 ? 200 : 2000));
  c.set("c", odd_size(random, effort < 1 ? 20 : 100)).set("x", random.integer(1, 20)).set("y", random.integer(1, 20));
  return c.set("z", random.integer(1, 3)).set("data", random.pick(kinds));
}

Cases large() {
  return list({"b=2 n=9000 c=40 x=50 y=60 z=2", "b=1 n=20000 c=16 x=30 y=20 data=rays"});
}

Cases network() {
  return list({"b=1 n=473088 c=80 x=128 y=128 data=rays", "b=1 n=118272 c=80 x=128 y=128 data=rays",
               "b=2 n=118272 c=64 x=200 y=200 data=rays"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=1 n=20000 c=40 x=64 y=64"})[0];
  return {growth_of(base, "n"), growth_of(base, "c"), growth_of(base, "x")};
}

}  // namespace

std::vector<OperatorCases> voxel_pooling_operators() {
  return {{.op = "voxel_pooling_forward",
           .function = "mluOpVoxelPoolingForward",
           .parameters = kParameters,
           .describe = describe_pooling,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"n"},
           .growth = growth}};
}

}  // namespace mluops::cases
