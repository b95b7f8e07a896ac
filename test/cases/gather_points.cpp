#include "test/reference/gather_points.h"

#include <algorithm>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"c", "64", "channels"},
    {"n", "1024", "points"},
    {"m", "512", "points taken, or groups"},
    {"s", "0", "points of a group (mluOpExtGroupPoints); 0: no groups (mluOpExtGatherPoints)"},
    {"indices", "valid",
     "valid | balls (runs of one index) | repeated (few points) | wild (some outside) | none (all)"},
};

mluopsGatherPointsShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("c"), t.size("n"), t.size("m") * std::max<std::int64_t>(t.count("s"), 1)};
}

Fill outside(double n, std::uint64_t seed) {
  constexpr double kLow = std::numeric_limits<std::int32_t>::min(), kHigh = std::numeric_limits<std::int32_t>::max();
  return [=](std::int64_t i) {
    const double far[] = {-1, n, n + 1, -n, kHigh, kLow};
    return far[static_cast<int>(unit_random(seed, i) * 6)];
  };
}

Fill indices(const Case& t) {
  const std::int64_t n = t.size("n");
  const std::string kind = t.word("indices");
  const Fill valid = integers(0, n - 1, t.seed("idx")), far = outside(t.real("n"), t.seed("outside"));
  if (kind == "valid") return valid;
  if (kind == "balls") return [=](std::int64_t i) { return valid(i % 32 < 12 ? i : i - i % 32); };
  if (kind == "repeated") return integers(0, std::min<std::int64_t>(n, 2) - 1, t.seed("idx"));
  if (kind == "none") return far;
  return [=, seed = t.seed("wild")](std::int64_t i) { return unit_random(seed, i) < 0.3 ? far(i) : valid(i); };
}

Description describe_either(const Case& text, mluOpDataType_t dtype) {
  const mluopsGatherPointsShape s = shape_of(text, dtype);
  const bool forward = text.op() == "gather_points_forward", grouped = text.count("s") > 0;
  std::vector<std::int64_t> chosen = {s.b, text.size("m")}, taken = {s.b, s.c, text.size("m")};
  if (grouped) chosen.push_back(text.count("s")), taken.push_back(text.count("s"));
  const std::vector<std::int64_t> known = {s.b, s.c, s.n};
  Description d;
  d.tensors = {{.name = forward ? "points" : "grad_output",
                .dtype = dtype,
                .dims = forward ? known : taken,
                .fill = uniform(-1, 1, text.seed("from"))},
               {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = chosen, .fill = indices(text)},
               {.name = forward ? "output" : "grad_points",
                .dtype = dtype,
                .dims = forward ? taken : known,
                .comparison = forward ? Comparison::kBits : Comparison::kNumeric}};
  d.flops = forward ? 0 : static_cast<double>(s.b * s.c * s.m);  // one addition per element of grad_output
  d.call = [forward, grouped](mluOpHandle_t handle, const Arguments& t) {
    const auto with = [&](auto function) {
      return function(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
    };
    if (grouped) return forward ? with(mluOpExtGroupPoints) : with(mluOpExtGroupPointsBackward);
    return forward ? with(mluOpExtGatherPoints) : with(mluOpExtGatherPointsBackward);
  };
  d.reference = [s, forward](const Inputs& in, Coordinates) {
    const auto* idx = static_cast<const std::int32_t*>(in[1]);
    return std::vector<Values>{forward ? reference::gather_points_forward({s, in[0], idx, nullptr})
                                       : reference::gather_points_backward({s, in[0], idx, nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 c=1 n=1 m=1", "b=2 c=5 n=7 m=9"});
}

Cases document() {
  return list({
      "b=2 c=3 n=10 m=6",                         // mmcv's test
      "b=2 c=3 n=10 m=3 s=2",                     // the same of groups
      "b=4 c=3 n=1024 m=512",                     // PointNet++: the centres picked, batch 4 of 16
      "b=2 c=3 n=1024 m=512 s=32 indices=balls",  // coordinates of the balls, batch 2 of 16
      "b=1 c=64 n=512 m=128 s=64 indices=balls",  // features, batch 1 of 16
  });
}

Cases edge() {
  return list({
      "b=1 c=1 n=1 m=40",
      "b=3 c=4 n=50 m=1",
      "b=2 c=5 n=9 m=30 s=1",
      "b=2 c=7 n=33 m=65 indices=wild",
      "b=2 c=6 n=20 m=5 s=13 indices=wild",
      "b=1 c=9 n=40 m=100 indices=none",
      "b=2 c=3 n=500 m=4097 indices=repeated",
      "b=1 c=2 n=5000 m=3",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"valid", "valid", "balls", "wild", "repeated", "none"};
  const std::int64_t most = effort < 1 ? 40 : 130;
  Case c;
  c.set("b", random.integer(1, 4)).set("c", odd_size(random, most)).set("n", odd_size(random, 3 * most));
  c.set("m", odd_size(random, most));
  if (random.chance(0.5)) c.set("s", random.integer(1, 9));
  return c.set("indices", random.pick(kinds));
}

Cases large() {
  return list({"b=4 c=61 n=700 m=3000", "b=2 c=3 n=3000 m=700 s=33 indices=balls"});
}

Cases network() {
  return list({"b=16 c=3 n=16384 m=4096", "b=16 c=3 n=16384 m=4096 s=32 indices=balls",
               "b=16 c=64 n=1024 m=512 s=32 indices=balls", "b=16 c=128 n=512 m=128 s=64 indices=balls",
               "b=4 c=64 n=4096 m=1024 s=32 indices=balls"});
}

// Sums of up to 100 terms that are added one by one.
bool backward_in_half(const Case& t) {
  const double taken = t.real("m") * std::max(t.real_or("s", 0), 1.0);
  return t.text_or("indices", "valid") == "valid" && taken / t.real("n") <= 100;
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 c=32 n=1024 m=512 s=8"})[0];
  return {growth_of(base, "b"), growth_of(base, "c"), growth_of(base, "n"), growth_of(base, "m"), growth_of(base, "s")};
}

std::vector<Contention> contention() {
  std::vector<Contention> levels;
  const auto add = [&](const char* text, const char* what) { levels.push_back({text, list({what})[0]}); };
  add("32 adds per point", "b=4 c=64 n=512 m=512 s=32");
  add("32 adds per point, 20 of them in a row", "b=4 c=64 n=512 m=512 s=32 indices=balls");
  add("1 add per point", "b=4 c=64 n=16384 m=512 s=32");
  return levels;
}

}  // namespace

std::vector<OperatorCases> gather_points_operators() {
  OperatorCases forward = {.op = "gather_points_forward",
                           .function = "mluOpExtGatherPoints",
                           .parameters = kParameters,
                           .describe = describe_either,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .reducible = {"b"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "gather_points_backward";
  backward.function = "mluOpExtGatherPointsBackward";
  backward.scatters = true;
  backward.meaningful_in_half = backward_in_half;
  backward.contention = contention;
  return {forward, backward};
}

}  // namespace mluops::cases
