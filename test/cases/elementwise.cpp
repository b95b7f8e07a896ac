#include "test/reference/elementwise.h"

#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const Parameter kCount = {"n", "4096", "elements"},
                kRank = {"rank", "1", "dimensions: n cut into its smallest factors"},
                kData = {"data", "usual",
                         "usual | wide (all exponents) | special (NaN, Inf, 0, -0 and subnormals too)"};
const std::vector<Parameter> kParameters = {kCount, kRank, kData};
const std::vector<Parameter> kLogParameters = {kCount, kRank, kData, {"base", "0", "0 e, 1 two, 2 ten"}};
const std::vector<Parameter> kLogspaceParameters = {{"steps", "100", "powers"},
                                                    {"start", "-2.3", "exponent of the first one"},
                                                    {"end", "3.1", "exponent of the last one"},
                                                    {"base", "10", "base"}};

std::vector<std::int64_t> dims_of(const Case& t) {
  std::vector<std::int64_t> dims;
  std::int64_t left = t.size("n");
  for (std::int64_t axis = t.size("rank"); axis > 1; --axis) {
    std::int64_t factor = 2;
    while (factor < left && left % factor != 0) ++factor;
    factor = left % factor == 0 ? factor : 1;
    dims.push_back(factor);
    left /= factor;
  }
  dims.push_back(left);
  return dims;
}

/// Numbers in [low, high), of all exponents of half, or special ones among them.
Fill numbers(const Case& t, const char* tensor, double low, double high) {
  const Fill usual = uniform(low, high, t.seed(tensor));
  const std::string data = t.word("data");
  if (data == "usual") return usual;
  return [usual, low, special = data == "special", seed = t.seed("exponent")](std::int64_t i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double odd[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 0, -0.0, 0x1p-24, 1, 2, -3};
    const double share = unit_random(seed, i);
    if (special && share < 0.4) return odd[static_cast<int>(share / 0.4 * 9)];
    const double size = std::exp2(std::floor(share * 29) - 14) * (1 + unit_random(seed + 1, i));
    return low < 0 && usual(i) < 0 ? -size : size;
  };
}

TensorSpec tensor_of(const Case& t, mluOpDataType_t dtype, const char* name, Fill fill) {
  return {.name = name, .dtype = dtype, .dims = dims_of(t), .fill = std::move(fill)};
}

/// Each number rounded to the output's type, as a correctly rounded operation gives it; Inf beyond its range.
std::vector<Values> rounded_once(mluOpDataType_t dtype, Values values) {
  for (double& v : values) v = rounded(dtype, v);
  return {std::move(values)};
}

/// Inf beyond the range of the output's type.
std::vector<Values> within_range(mluOpDataType_t dtype, Values values) {
  for (double& v : values) v = std::isinf(rounded(dtype, v)) ? rounded(dtype, v) : v;
  return {std::move(values)};
}

// ---- one input ----

struct Unary {
  const char* op;
  mluOpStatus_t (*call)(mluOpHandle_t, const Arguments&);
  Values (*reference)(const mluopsUnaryProblem&);
  double low, high, flops;
  bool exact;
};

const Unary kUnary[] = {
    {"abs",
     [](mluOpHandle_t handle, const Arguments& t) {
       return mluOpAbs(handle, t[0].desc, t[0].data, t[1].desc, t[1].data);
     },
     reference::absolute, -10, 10, 0, true},
    {"sqrt",
     [](mluOpHandle_t handle, const Arguments& t) {
       return mluOpSqrt(handle, MLUOP_COMPUTATION_FAST, t[0].desc, t[0].data, t[1].desc, t[1].data);
     },
     reference::root, 0, 1000, 1, true},
    {"lgamma",
     [](mluOpHandle_t handle, const Arguments& t) {
       return mluOpLgamma(handle, t[0].desc, t[0].data, t[1].desc, t[1].data);
     },
     reference::log_gamma, -20, 100, 60, false},
};

Description describe_unary(const Case& text, mluOpDataType_t dtype) {
  const Unary* unary = kUnary;
  while (text.op() != unary->op) ++unary;
  const mluopsElementwiseShape s{dtype, text.size("n")};
  Description d;
  d.tensors = {tensor_of(text, dtype, "x", admissible(text, numbers(text, "x", unary->low, unary->high))),
               tensor_of(text, dtype, "y", {})};
  if (unary->exact) d.tensors[1].comparison = Comparison::kBits;
  d.flops = unary->flops * static_cast<double>(s.count);
  d.call = unary->call;
  d.reference = [s, unary](const Inputs& in, Coordinates) {
    const Values values = unary->reference({s, in[0], nullptr});
    return unary->exact ? rounded_once(s.dtype, values) : within_range(s.dtype, values);
  };
  return d;
}

Description describe_log(const Case& text, mluOpDataType_t dtype) {
  const mluopsLogShape s{dtype, text.size("n"), text.integer("base")};
  Description d;
  d.tensors = {tensor_of(text, dtype, "x", admissible(text, numbers(text, "x", 0.1, 1000))),
               tensor_of(text, dtype, "y", {})};
  d.flops = 20.0 * static_cast<double>(s.count);
  d.call = [base = static_cast<mluOpLogBase_t>(s.base)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpLog(handle, MLUOP_COMPUTATION_HIGH_PRECISION, base, t[0].desc, t[0].data, t[1].desc, t[1].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::logarithm({s, in[0], nullptr})};
  };
  return d;
}

// ---- two inputs ----

Description describe_sqrt_backward(const Case& text, mluOpDataType_t dtype) {
  const mluopsElementwiseShape s{dtype, text.size("n")};
  Description d;
  d.tensors = {tensor_of(text, dtype, "y", admissible(text, numbers(text, "y", 0.5, 100))),
               tensor_of(text, dtype, "diff_y", admissible(text, numbers(text, "diff_y", -10, 10))),
               tensor_of(text, dtype, "diff_x", {})};
  d.tensors[2].comparison = Comparison::kBits;
  d.flops = 2.0 * static_cast<double>(s.count);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpSqrtBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return rounded_once(s.dtype, reference::root_backward({s, in[0], in[1], nullptr}));
  };
  return d;
}

Description describe_div(const Case& text, mluOpDataType_t dtype) {
  const mluopsElementwiseShape s{dtype, text.size("n")};
  Description d;
  d.tensors = {tensor_of(text, dtype, "x", admissible(text, numbers(text, "x", -10, 10))),
               tensor_of(text, dtype, "y", admissible(text, numbers(text, "y", 0.5, 10))),
               tensor_of(text, dtype, "z", {})};
  d.tensors[2].comparison = Comparison::kBits;
  d.flops = static_cast<double>(s.count);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpDiv(handle, MLUOP_COMPUTATION_FAST, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return rounded_once(s.dtype, reference::quotient({s, in[0], in[1], nullptr}));
  };
  return d;
}

// ---- no input ----

Description describe_logspace(const Case& text, mluOpDataType_t dtype) {
  const double start = scalar_of(text, "start", dtype), end = scalar_of(text, "end", dtype),
               base = scalar_of(text, "base", dtype);
  const mluopsLogspaceShape s{dtype, text.size("steps"), static_cast<float>(start), static_cast<float>(end),
                              static_cast<float>(base)};
  Description d;
  d.tensors = {{.name = "res", .dtype = dtype, .dims = {s.steps}}};
  d.scalars = {start, end, base};
  d.flops = 40.0 * static_cast<double>(s.steps);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpLogspace(handle, s.start, s.end, s.steps, s.base, t[0].desc, t[0].data);
  };
  d.reference = [s, start, end, base](const Inputs&, Coordinates) {
    return rounded_once(s.dtype, reference::logspace({s, nullptr, start, end, base}));
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"n=1", "n=30 rank=3"});
}

Cases document() {
  return list({"n=18 rank=4", "n=1000", "n=4096 rank=2", "n=30000 rank=5"});
}

Cases edge() {
  return list({"n=1 data=special", "n=7 data=special", "n=1023", "n=1024 rank=8", "n=1025 data=wide",
               "n=4099 data=special", "n=2310 rank=6 data=wide", "n=300 rank=2 data=special"});
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"usual", "wide", "special"};
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 300 : 5000)).set("rank", random.integer(1, 5));
  return c.set("data", random.pick(kinds));
}

Cases large() {
  return list({"n=3000017", "n=2100000 rank=4 data=wide"});
}

Cases network() {
  return list({"n=1048576", "n=16777216"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"n=500000"})[0], "n")};
}

const std::vector<std::string> kBases = {"0", "1", "2"};

Case random_log(Random& random, double effort) {
  return random_case(random, effort).set("base", random.integer(0, 2));
}

OperatorCases of(const char* op, const char* function, Description (*describe)(const Case&, mluOpDataType_t)) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = describe,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .reducible = {"n"},
          .growth = growth};
}

OperatorCases log_cases() {
  OperatorCases cases = of("log", "mluOpLog", describe_log);
  cases.parameters = kLogParameters;
  cases.edge = [] { return each(edge(), "base", kBases); };
  cases.network = [] { return each(network(), "base", kBases); };
  cases.random = random_log;
  return cases;
}

OperatorCases logspace_cases() {
  return {.op = "logspace",
          .function = "mluOpLogspace",
          .parameters = kLogspaceParameters,
          .describe = describe_logspace,
          .smallest =
              [] {
                return list({"steps=1", "steps=7 start=0.5"});
              },
          .document =
              [] {
                return list({"steps=100 start=0 end=4", "steps=5 start=-10 end=10 base=2"});
              },
          .edge =
              [] {
                return list({"steps=1 end=9", "steps=2", "steps=3 start=1 end=1", "steps=9 start=-4 end=4 base=-2",
                             "steps=9 start=-4 end=4 base=-2.5", "steps=11 start=0 end=10 base=0.5",
                             "steps=7 start=-3 end=3 base=0", "steps=1001 start=3 end=-3 base=7.5",
                             "steps=5 start=-60 end=60"});
              },
          .random =
              [](Random& random, double effort) {
                Case c;
                c.set("steps", odd_size(random, effort < 1 ? 200 : 3000)).set("start", random.integer(-8, 8) / 4.0);
                return c.set("end", random.integer(-8, 8) / 4.0).set("base", random.integer(1, 40) / 4.0);
              },
          .large = [] { return list({"steps=500003"}); },
          .network = [] { return list({"steps=100000"}); },
          .reducible = {"steps"}};
}

}  // namespace

std::vector<OperatorCases> elementwise_operators() {
  return {of("abs", "mluOpAbs", describe_unary),
          log_cases(),
          of("sqrt", "mluOpSqrt", describe_unary),
          of("sqrt_backward", "mluOpSqrtBackward", describe_sqrt_backward),
          of("div", "mluOpDiv", describe_div),
          of("lgamma", "mluOpLgamma", describe_unary),
          logspace_cases()};
}

}  // namespace mluops::cases
