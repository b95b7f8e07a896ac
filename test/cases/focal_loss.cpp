#include "test/reference/focal_loss.h"

#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "2000", "rows: anchors"},
    {"c", "80", "classes"},
    {"alpha", "0.25", "weight of positives, 1 - alpha that of negatives"},
    {"gamma", "2", "focusing exponent"},
    {"weight", "0", "1: classes have weights"},
    {"target", "network",
     "network (one anchor in 50 has a class; sigmoid with weights and softmax: every one has) | classes (every one) | "
     "none (sigmoid with weights and softmax: class 0)"},
    {"logits", "network",
     "network (-6 to 2) | wide (-120 to 120) | special (zero, infinite, NaN); softmax: their softmax, special: 0, 1, "
     "NaN"},
};

mluopsFocalLossShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("n"), t.size("c"), static_cast<float>(t.real("alpha")), static_cast<float>(t.real("gamma"))};
}

bool is_softmax(const Case& t) {
  return t.op().find("softmax") != std::string::npos;
}

bool is_forward(const Case& t) {
  return t.op().find("forward") != std::string::npos;
}

// ---- inputs ----

Fill logits(const Case& t) {
  const std::string kind = t.word("logits");
  const Fill wide = uniform(-120, 120, t.seed("logits"));
  if (kind == "network") return uniform(-6, 2, t.seed("logits"));
  if (kind == "wide") return wide;
  return [wide](std::int64_t i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double choices[] = {0, -0.0, kInfinity, -kInfinity, std::nan(""), 88.5, -88.5, 1e-30, wide(i)};
    return choices[static_cast<std::size_t>(i % 9)];
  };
}

// Each row's logits, made probabilities.
Fill probabilities(const Case& t) {
  const std::int64_t c = t.size("c");
  if (t.word("logits") == "special") {
    return [](std::int64_t i) {
      const double choices[] = {0, 1, 0.5, std::nan(""), 1e-40, 1 - 0x1p-11};
      return choices[static_cast<std::size_t>(i % 6)];
    };
  }
  Values all = values_of(logits(t), t.size("n") * c);
  for (std::size_t row = 0; row < all.size(); row += static_cast<std::size_t>(c)) {
    double sum = 0;
    for (std::int64_t i = 0; i < c; ++i) sum += std::exp(all[row + static_cast<std::size_t>(i)]);
    for (std::int64_t i = 0; i < c; ++i) {
      double& v = all[row + static_cast<std::size_t>(i)];
      v = std::exp(v) / sum;
    }
  }
  return given(std::move(all));
}

Fill targets(const Case& t) {
  const std::string kind = t.word("target");
  const double c = t.real("c");
  const Fill any = integers(0, t.size("c") - 1, t.seed("class"));
  const std::uint64_t seed = t.seed("background");
  if (is_softmax(t)) {  // negative: no loss
    return [=](std::int64_t i) { return kind == "none" || unit_random(seed, i) < 0.1 ? -1 : any(i); };
  }
  if (t.count("weight") != 0) return kind == "none" ? integers(0, 0, seed) : any;
  if (kind == "classes") return any;
  const double share = kind == "none" ? 0 : 0.02;
  return [=](std::int64_t i) {
    const double background = i % 7 == 3 ? -1 : c;
    return unit_random(seed, i) < share ? any(i) : background;
  };
}

// ---- the calls ----

mluOpStatus_t call(const Case& t, mluOpHandle_t handle, const Argument& input, const Argument& target,
                   const Argument& weight, const Argument& result) {
  const float alpha = static_cast<float>(t.real("alpha")), gamma = static_cast<float>(t.real("gamma"));
  constexpr auto kPrecise = MLUOP_COMPUTATION_HIGH_PRECISION;
  constexpr auto kEach = MLUOP_LOSS_REDUCTION_NONE;
  if (is_softmax(t) && is_forward(t)) {
    return mluOpExtFocalLossSoftmaxForward(handle, input.desc, input.data, target.desc, target.data, weight.desc,
                                           weight.data, alpha, gamma, result.desc, result.data);
  }
  if (is_softmax(t)) {
    return mluOpExtFocalLossSoftmaxBackward(handle, input.desc, input.data, target.desc, target.data, weight.desc,
                                            weight.data, alpha, gamma, result.desc, result.data);
  }
  if (is_forward(t)) {
    return mluOpFocalLossSigmoidForward(handle, kPrecise, kEach, input.desc, input.data, target.desc, target.data,
                                        weight.desc, weight.data, alpha, gamma, result.desc, result.data);
  }
  return mluOpFocalLossSigmoidBackward(handle, kPrecise, kEach, input.desc, input.data, target.desc, target.data,
                                       weight.desc, weight.data, alpha, gamma, result.desc, result.data);
}

Values expected(const Case& t, const mluopsFocalLossProblem& p) {
  if (is_softmax(t)) {
    return is_forward(t) ? reference::focal_loss_softmax_forward(p) : reference::focal_loss_softmax_backward(p);
  }
  return is_forward(t) ? reference::focal_loss_sigmoid_forward(p) : reference::focal_loss_sigmoid_backward(p);
}

Description describe_any(const Case& text, mluOpDataType_t dtype) {
  const mluopsFocalLossShape s = shape_of(text, dtype);
  const bool softmax = is_softmax(text), forward = is_forward(text), weighted = text.count("weight") != 0;
  const double alpha = scalar_of(text, "alpha", dtype), gamma = scalar_of(text, "gamma", dtype);
  Description d;
  d.scalars = {alpha, gamma};
  d.tensors = {{.name = softmax ? "softmax" : "input",
                .dtype = dtype,
                .dims = {s.n, s.c},
                .fill = softmax ? probabilities(text) : logits(text)},
               {.name = "target", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n}, .fill = targets(text)}};
  if (softmax && forward) d.tensors[0].touched = 1 / static_cast<double>(s.c);
  if (weighted) {
    d.tensors.push_back({.name = "weight", .dtype = dtype, .dims = {s.c}, .fill = uniform(0.2, 2, text.seed("w"))});
  }
  TensorSpec result = {.name = forward ? "output" : "grad_input", .dtype = dtype, .dims = {s.n, s.c}};
  if (softmax && forward) result.dims = {s.n};
  d.tensors.push_back(result);
  // An exponential, a logarithm, a quotient, a power and some products for each; a product in softmax's gradient.
  d.flops = (softmax ? (forward ? 8.0 / static_cast<double>(s.c) : 1.0) : 12.0) * static_cast<double>(s.n * s.c);
  d.call = [text, weighted](mluOpHandle_t handle, const Arguments& t) {
    return call(text, handle, t[0], t[1], weighted ? t[2] : Argument{}, t.back());
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    const auto* const target = static_cast<const std::int32_t*>(in[1]);
    return std::vector<Values>{expected(text, {s, in[0], target, weighted ? in[2] : nullptr, nullptr, alpha, gamma})};
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"n=1 c=1", "n=5 c=7"});
}

Cases document() {
  return list({
      "n=2 c=2 target=classes",              // mmcv's tests
      "n=2 c=3 target=classes",              // mmcv's tests
      "n=3 c=3 target=classes",              // mmcv's tests
      "n=1000 c=80",                         // RetinaNet, a twentieth of the anchors of one level
      "n=300 c=91",                          // DETR's queries
      "n=63 c=41 weight=1 gamma=1.5",        // vendor's tests, reduced
      "n=17 c=1000 weight=1 target=classes"  // vendor's tests, reduced
  });
}

Cases edge() {
  return list({
      "n=40 c=1",
      "n=9 c=5 gamma=0",
      "n=9 c=5 gamma=0 weight=1",
      "n=50 c=3 gamma=1 target=none",
      "n=50 c=3 gamma=0.5 target=classes",
      "n=30 c=17 gamma=5.25 alpha=1",
      "n=30 c=17 alpha=0 target=classes",
      "n=64 c=8 alpha=-1.5 gamma=3",
      "n=60 c=20 logits=wide target=classes",
      "n=60 c=20 logits=wide gamma=0.01",
      "n=60 c=20 logits=wide gamma=7000 weight=1",
      "n=27 c=11 logits=special target=classes",
      "n=27 c=11 logits=special gamma=1.25",
      "n=27 c=10 logits=special gamma=0 weight=1",
  });
}

Case random_case(Random& random, double effort) {
  const std::int64_t most = effort < 1 ? 30 : 120;
  const double gammas[] = {2, 2, 2, 1.5, 0, 1, 3.25, 0.5};
  const char* const kinds[] = {"network", "network", "classes", "none"};
  Case c;
  c.set("n", odd_size(random, 3 * most)).set("c", odd_size(random, most)).set("gamma", random.pick(gammas));
  c.set("alpha", random.chance(0.5) ? 0.25 : random.real(0, 1)).set("weight", random.integer(0, 1));
  return c.set("target", random.pick(kinds)).set("logits", random.chance(0.8) ? "network" : "wide");
}

Cases large() {
  return list({"n=12000 c=80", "n=12001 c=77 gamma=1.5 weight=1", "n=70000 c=3"});
}

Cases network() {
  return list({"n=20000 c=80", "n=20000 c=80 gamma=1.5", "n=20000 c=80 weight=1", "n=180000 c=80", "n=20000 c=3"});
}

std::vector<Growth> growth() {
  const Case base = list({"n=2000 c=20"})[0];
  return {growth_of(base, "n"), growth_of(base, "c")};
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = describe_any,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .reducible = {"n"},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> focal_loss_operators() {
  return {entry("focal_loss_sigmoid_forward", "mluOpFocalLossSigmoidForward"),
          entry("focal_loss_sigmoid_backward", "mluOpFocalLossSigmoidBackward"),
          entry("focal_loss_softmax_forward", "mluOpExtFocalLossSoftmaxForward"),
          entry("focal_loss_softmax_backward", "mluOpExtFocalLossSoftmaxBackward")};
}

}  // namespace mluops::cases
