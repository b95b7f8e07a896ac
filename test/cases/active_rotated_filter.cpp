#include "test/reference/active_rotated_filter.h"

#include <limits>

#include "test/cases/base/contract.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"m", "16", "output channels"},
    {"c", "16", "input channels"},
    {"o", "8", "orientations"},
    {"k", "3", "height and width of the filter"},
    {"r", "8", "rotations"},
    {"indices", "turned",
     "turned (each rotation a permutation) | repeated (several weights at a place) | wild (some outside)"},
};

Fill indices(const Case& t) {
  const std::int64_t size = t.size("o") * t.size("k") * t.size("k"), rotations = t.size("r");
  const std::string kind = t.word("indices");
  constexpr double kLow = std::numeric_limits<std::int32_t>::min(), kHigh = std::numeric_limits<std::int32_t>::max();
  const Fill any = integers(1, size, t.seed("indices"));
  if (kind == "repeated") return any;
  return [=](std::int64_t i) {
    const double turned = static_cast<double>((i / rotations + i % rotations * 5) % size + 1);
    const double outside[] = {0, -1, static_cast<double>(size + 1), kLow, kHigh};
    return kind == "wild" && i % 3 == 0 ? outside[i / 3 % 5] : turned;
  };
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const std::int64_t k = text.size("k");
  const mluopsActiveRotatedFilterShape s = {dtype, text.size("m"), text.size("c"), text.size("o"), k,
                                            k,     text.size("r")};
  Description d;
  d.tensors = {
      {.name = "input", .dtype = dtype, .dims = {s.m, s.c, s.o, k, k}, .fill = uniform(-1, 1, text.seed("input"))},
      {.name = "indices", .dtype = MLUOP_DTYPE_INT32, .dims = {s.o, k, k, s.r}, .fill = indices(text)},
      {.name = "output", .dtype = dtype, .dims = {s.m * s.r, s.c * s.o, k, k}, .comparison = Comparison::kBits}};
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpActiveRotatedFilterForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, nullptr,
                                           missing_workspace, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::active_rotated_filter({s, in[0], static_cast<const std::int32_t*>(in[1]), nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"m=1 c=1 o=1 k=1 r=2", "m=2 c=3 o=2 k=3 r=4"});
}

Cases document() {
  return list({"m=1 c=1 o=8 k=3 r=8", "m=64 c=32 o=8 k=3 r=8"});  // mmcv's test; S2ANet's head
}

Cases edge() {
  return list({"m=3 c=5 o=4 k=3 r=2 indices=repeated", "m=2 c=1 o=128 k=1 r=8 indices=wild",
               "m=7 c=2 o=1 k=3 r=8 indices=repeated"});
}

Case random_case(Random& random, double) {
  const char* const kinds[] = {"turned", "repeated", "wild"};
  const std::int64_t sizes[] = {1, 2, 4, 8}, sides[] = {1, 3}, rotations[] = {2, 4, 8};
  Case c;
  c.set("m", random.integer(1, 9)).set("c", random.integer(1, 9)).set("o", random.pick(sizes));
  return c.set("k", random.pick(sides)).set("r", random.pick(rotations)).set("indices", random.pick(kinds));
}

Cases large() {
  return list({"m=70 c=33 o=8 k=3 r=8"});
}

Cases network() {
  return list({"m=32 c=32 o=8 k=3 r=8", "m=64 c=256 o=1 k=3 r=8"});
}

std::vector<Growth> growth() {
  const Case base = list({"m=32 c=32 o=8 k=3 r=8"})[0];
  return {growth_of(base, "m"), growth_of(base, "c")};
}

}  // namespace

std::vector<OperatorCases> active_rotated_filter_operators() {
  return {{.op = "active_rotated_filter_forward",
           .function = "mluOpActiveRotatedFilterForward",
           .parameters = kParameters,
           .describe = describe_forward,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .reducible = {"m"},
           .growth = growth}};
}

}  // namespace mluops::cases
