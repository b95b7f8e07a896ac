#include "test/reference/tin_shift.h"

#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "4", "samples"},
    {"t", "8", "steps of time"},
    {"c", "64", "channels, a multiple of g"},
    {"p", "3136", "pixels"},
    {"g", "4", "groups of channels"},
    {"shifts", "near", "near (up to two steps) | any (some beyond the ends) | none | wild (also the greatest numbers)"},
};

Fill shifts(const Case& t) {
  const std::string kind = t.word("shifts");
  const std::int64_t most = kind == "none" ? 0 : kind == "near" ? 2 : t.size("t") + 1;
  const Fill some = integers(-most, most, t.seed("shifts"));
  if (kind != "wild") return some;
  constexpr double kLow = std::numeric_limits<std::int32_t>::min(), kHigh = std::numeric_limits<std::int32_t>::max();
  return [=](std::int64_t i) { return i % 3 == 0 ? kLow : i % 3 == 1 ? kHigh : some(i); };
}

Description describe_either(const Case& text, mluOpDataType_t dtype) {
  const mluopsTinShiftShape s = {dtype, text.size("n"), text.size("t"), text.size("c"), text.size("p"), text.size("g")};
  const bool forward = text.op() == "tin_shift_forward";
  const std::vector<std::int64_t> dims = {s.n, s.t, s.c, s.pixels};
  Description d;
  d.tensors = {
      {.name = forward ? "input" : "grad_output",
       .dtype = dtype,
       .dims = dims,
       .fill = uniform(-1, 1, text.seed("from"))},
      {.name = "shifts", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n, s.groups}, .fill = shifts(text)},
      {.name = forward ? "output" : "grad_input", .dtype = dtype, .dims = dims, .comparison = Comparison::kBits}};
  d.call = [forward](mluOpHandle_t handle, const Arguments& t) {
    if (forward) return mluOpTinShiftForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
    return mluOpTinShiftBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::tin_shift(s, in[0], static_cast<const std::int32_t*>(in[1]))};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 t=1 c=1 p=1 g=1", "n=2 t=3 c=6 p=5 g=3"});
}

Cases document() {
  return list({"n=1 t=5 c=4 p=6 g=2", "n=2 t=8 c=64 p=196 g=4", "n=1 t=8 c=256 p=196 g=2"});  // mmcv's test; TIN stages
}

Cases edge() {
  return list({"n=3 t=1 c=4 p=7 g=4 shifts=any", "n=2 t=9 c=5 p=1 g=1 shifts=any", "n=2 t=4 c=12 p=3 g=12 shifts=wild",
               "n=1 t=33 c=2 p=65 g=2 shifts=none", "n=5 t=2 c=9 p=2 g=3 shifts=any"});
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"near", "near", "any", "none", "wild"};
  const std::int64_t most = effort < 1 ? 12 : 40, groups = random.integer(1, 6);
  Case c;
  c.set("n", random.integer(1, 4)).set("t", random.integer(1, 12)).set("g", groups);
  c.set("c", groups * random.integer(1, 6)).set("p", odd_size(random, most));
  return c.set("shifts", random.pick(kinds));
}

Cases large() {
  return list({"n=3 t=9 c=60 p=701 g=4 shifts=any", "n=400 t=8 c=6 p=3 g=6"});
}

Cases network() {
  return list({"n=8 t=8 c=64 p=3136 g=4", "n=8 t=8 c=256 p=784 g=4", "n=8 t=8 c=512 p=49 g=4"});
}

std::vector<Growth> growth() {
  const Case base = list({"n=2 t=8 c=64 p=512 g=4"})[0];
  return {growth_of(base, "n"), growth_of(base, "t"), growth_of(base, "c"), growth_of(base, "p")};
}

}  // namespace

std::vector<OperatorCases> tin_shift_operators() {
  OperatorCases forward = {.op = "tin_shift_forward",
                           .function = "mluOpTinShiftForward",
                           .parameters = kParameters,
                           .describe = describe_either,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .reducible = {"n"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "tin_shift_backward";
  backward.function = "mluOpTinShiftBackward";
  return {forward, backward};
}

}  // namespace mluops::cases
