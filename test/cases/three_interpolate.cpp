#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "4", "clouds"},
    {"c", "256", "channels"},
    {"m", "256", "known points"},
    {"n", "1024", "wanted points"},
    {"indices", "valid", "valid | repeated (few points) | wild (some far outside) | none (all outside)"},
    {"spread", "1", "share of the known points that valid indices name"},
    {"data", "signed", "signed | nan_dropped (NaN weights where the index is outside)"},
};

mluopsThreeInterpolateShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), t.size("c"), t.size("m"), t.size("n")};
}

Fill outside(std::int64_t points, std::uint64_t seed) {
  constexpr double kLow = std::numeric_limits<std::int32_t>::min(), kHigh = std::numeric_limits<std::int32_t>::max();
  const double m = static_cast<double>(points);
  return [=](std::int64_t i) {
    const double far[] = {-1, m, m + 1, -m, kHigh, kLow};
    return far[static_cast<int>(unit_random(seed, i) * 6)];
  };
}

Fill indices(const Case& t) {
  const std::int64_t m = t.size("m");
  const std::string kind = t.word("indices");
  const Fill far = outside(m, t.seed("outside"));
  if (kind == "none") return far;
  if (kind == "repeated") return integers(0, std::min<std::int64_t>(m, 2) - 1, t.seed("indices"));
  const std::int64_t named = std::max<std::int64_t>(1, static_cast<std::int64_t>(t.real("spread") * t.real("m")));
  const Fill valid = integers(0, named - 1, t.seed("indices"));
  if (kind != "wild") return valid;
  return [=, seed = t.seed("wild")](std::int64_t i) { return unit_random(seed, i) < 0.3 ? far(i) : valid(i); };
}

Fill weights(const Case& t, const Fill& chosen) {
  const Fill plain = uniform(-1, 1, t.seed("weights"));
  if (t.word("data") != "nan_dropped") return plain;
  return [=, m = t.real("m")](std::int64_t i) {
    return chosen(i) < 0 || chosen(i) >= m ? std::numeric_limits<double>::quiet_NaN() : plain(i);
  };
}

// Which points [b, m] some index names.
std::vector<bool> named_points(const mluopsThreeInterpolateShape& s, const Fill& chosen) {
  std::vector<bool> named(static_cast<std::size_t>(s.b * s.m));
  for (std::int64_t i = 0; i < s.b * s.n * 3; ++i) {
    const double point = chosen(i);
    if (point < 0 || point >= static_cast<double>(s.m)) continue;
    named[static_cast<std::size_t>(i / (s.n * 3) * s.m) + static_cast<std::size_t>(point)] = true;
  }
  return named;
}

// Only those points of the features are read, in every channel.
void set_touched(TensorSpec& features, const mluopsThreeInterpolateShape& s, std::vector<bool> named) {
  features.touched =
      static_cast<double>(std::count(named.begin(), named.end(), true)) / static_cast<double>(named.size());
  features.runs = [s, named = std::move(named)](const RunVisitor& visit) {
    for (std::int64_t i = 0; i < s.b * s.c * s.m; ++i) {
      if (named[static_cast<std::size_t>(i / (s.c * s.m) * s.m + i % s.m)]) visit(i, 1);
    }
  };
}

Description describe_either(const Case& text, mluOpDataType_t dtype) {
  const mluopsThreeInterpolateShape s = shape_of(text, dtype);
  const bool forward = text.op() == "three_interpolate_forward";
  const std::vector<std::int64_t> known = {s.b, s.c, s.m}, wanted = {s.b, s.c, s.n}, triples = {s.b, s.n, 3};
  const Fill chosen = indices(text);
  Description d;
  d.tensors = {{.name = forward ? "features" : "grad_output",
                .dtype = dtype,
                .dims = forward ? known : wanted,
                .fill = uniform(-1, 1, text.seed("from"))},
               {.name = "indices", .dtype = MLUOP_DTYPE_INT32, .dims = triples, .fill = chosen},
               {.name = "weights", .dtype = dtype, .dims = triples, .fill = weights(text, chosen)},
               {.name = forward ? "output" : "grad_features", .dtype = dtype, .dims = forward ? wanted : known}};
  if (forward) set_touched(d.tensors[0], s, named_points(s, chosen));
  d.flops = 6.0 * static_cast<double>(s.b * s.c * s.n);  // three multiply-adds per output or grad_output element
  d.call = [forward](mluOpHandle_t handle, const Arguments& t) {
    return forward ? mluOpThreeInterpolateForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                                  t[2].data, t[3].desc, t[3].data)
                   : mluOpThreeInterpolateBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                                   t[2].data, t[3].desc, t[3].data);
  };
  d.reference = [s, forward](const Inputs& in, Coordinates) {
    const auto* index = static_cast<const std::int32_t*>(in[1]);
    return std::vector<Values>{forward ? reference::three_interpolate_forward({s, in[0], index, in[2], nullptr})
                                       : reference::three_interpolate_backward({s, in[0], index, in[2], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 c=1 m=1 n=1", "b=2 c=5 m=7 n=9"});
}

Cases document() {
  return list({
      "b=16 c=512 m=16 n=64",               // 1
      "b=4 c=256 m=64 n=256",               // 2, batch 4 of 16
      "b=2 c=256 m=256 n=1024",             // 3, batch 2 of 16
      "b=1 c=128 m=1024 n=4096",            // 4, batch 1 of 16
      "b=16 c=16 m=512 n=64",               // 5
      "b=4 c=64 m=256 n=256",               // 6, batch 4 of 16
      "b=1 c=256 m=128 n=4096",             // 7, batch 1 of 16, a quarter of the channels
      "b=16 c=1 m=1024 n=128",              // 8
      "b=2 c=128 m=256 n=512",              // 9, batch 2 of 16
      "b=1 c=512 m=128 n=2048",             // 10, batch 1 of 16
      "b=1 c=1 m=1 n=1",                    // 16
      "b=7 c=63 m=127 n=129",               // 17
      "b=1 c=1025 m=1023 n=1023",           // 18, batch 1 of 15
      "b=1 c=1029 m=1027 n=1025",           // 19, batch 1 of 25
      "b=1 c=511 m=2033 n=999",             // 20, batch 1 of 29, a quarter of the channels
      "b=2 c=128 m=64 n=256",               // mmcv script of the design document
      "b=2 c=5 m=6 n=6",                    // mmcv test
      "b=13 c=128 m=17 n=64 indices=wild",  // vendor's backward test
  });
}

Cases edge() {
  return list({
      "b=1 c=1 m=1 n=7",
      "b=3 c=5 m=1 n=1 indices=wild",
      "b=2 c=7 m=9 n=40 indices=repeated",
      "b=2 c=4 m=50 n=65 indices=none",
      "b=1 c=33 m=129 n=31 indices=wild",
      "b=2 c=3 m=40 n=20 indices=wild data=nan_dropped",
      "b=1 c=2 m=3000 n=5",
      "b=1 c=2 m=5 n=3000 indices=valid",
      "b=5 c=97 m=31 n=61",
      "b=1 c=1 m=700 n=700",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"valid", "valid", "wild", "repeated", "none"};
  const std::int64_t most = effort < 1 ? 70 : 150;
  Case c;
  c.set("b", random.integer(1, 5)).set("c", odd_size(random, most));
  c.set("m", odd_size(random, 2 * most)).set("n", odd_size(random, 2 * most)).set("indices", random.pick(kinds));
  if (random.chance(0.2)) c.set("data", "nan_dropped");
  return c;
}

Cases large() {
  return list({"b=4 c=64 m=128 n=4000", "b=2 c=272 m=16 n=3000", "b=1 c=544 m=100 n=2000", "b=3 c=1 m=20000 n=40000",
               "b=1 c=7 m=100 n=30000"});
}

Cases network() {
  return list({"b=16 c=256 m=256 n=1024", "b=16 c=512 m=16 n=64", "b=16 c=256 m=64 n=256", "b=16 c=128 m=1024 n=4096",
               "b=16 c=16 m=512 n=64", "b=16 c=64 m=256 n=256", "b=16 c=1024 m=128 n=4096", "b=16 c=1 m=1024 n=128",
               "b=16 c=128 m=256 n=512", "b=16 c=512 m=128 n=2048"});
}

// Sums of up to 100 terms that are added one by one.
bool backward_in_half(const Case& t) {
  const double points = t.text_or("indices", "valid") == "repeated" ? 1 : t.real("m");
  return 3 * t.real("n") / points <= 100;
}

Description describe_weight_gradient(const Case& text, mluOpDataType_t dtype) {
  const mluopsThreeInterpolateShape s = shape_of(text, dtype);
  const std::vector<std::int64_t> triples = {s.b, s.n, 3};
  const Fill chosen = indices(text);
  Description d;
  d.tensors = {
      {.name = "grad_output", .dtype = dtype, .dims = {s.b, s.c, s.n}, .fill = uniform(-1, 1, text.seed("from"))},
      {.name = "features", .dtype = dtype, .dims = {s.b, s.c, s.m}, .fill = uniform(-1, 1, text.seed("features"))},
      {.name = "indices", .dtype = MLUOP_DTYPE_INT32, .dims = triples, .fill = chosen},
      {.name = "grad_weights", .dtype = dtype, .dims = triples}};
  set_touched(d.tensors[1], s, named_points(s, chosen));
  d.flops = 6.0 * static_cast<double>(s.b * s.c * s.n);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtThreeInterpolateBackwardWeight(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                                  t[2].data, t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::three_interpolate_backward_weight(
        {s, in[0], in[1], static_cast<const std::int32_t*>(in[2]), nullptr})};
  };
  return d;
}

std::vector<Growth> growth() {
  const Case base = list({"b=4 c=64 m=512 n=1024"})[0];
  return {growth_of(base, "b"), growth_of(base, "c"), growth_of(base, "n"), growth_of(base, "m")};
}

std::vector<Contention> contention() {
  std::vector<Contention> levels;
  for (const int points : {1, 4, 16, 64, 256}) {
    levels.push_back({std::to_string(points) + " of 256 points, " + std::to_string(3 * 1024 / points) + " adds each",
                      Case(list({"b=16 c=256 m=256 n=1024"})[0]).set("spread", points / 256.0)});
  }
  levels.push_back({"768 adds among 4096 points", list({"b=16 c=256 m=4096 n=256"})[0]});
  levels.push_back({"24 adds among 4096 points", list({"b=16 c=256 m=4096 n=8"})[0]});
  return levels;
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
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
}

}  // namespace

std::vector<OperatorCases> three_interpolate_operators() {
  OperatorCases forward = entry("three_interpolate_forward", "mluOpThreeInterpolateForward");
  OperatorCases backward = entry("three_interpolate_backward", "mluOpThreeInterpolateBackward");
  backward.scatters = true;
  backward.meaningful_in_half = backward_in_half;
  backward.contention = contention;
  OperatorCases weight = entry("three_interpolate_backward_weight", "mluOpExtThreeInterpolateBackwardWeight");
  weight.describe = describe_weight_gradient;
  return {forward, backward, weight};
}

}  // namespace mluops::cases
