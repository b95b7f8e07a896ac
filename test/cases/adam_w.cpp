#include "test/reference/adam_w.h"

#include <limits>
#include <memory>

#include "test/cases/base/in_out.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {{"n", "4096", "parameters"},
                                            {"nan", "0", "0 gradients in bfloat16, 1 in float, and NaN removed"},
                                            {"half", "1", "0 or 1: parameters in bfloat16 too"},
                                            {"lr", "1e-3", "learning rate"},
                                            {"beta1", "0.9", "share of the old momentum"},
                                            {"beta2", "0.999", "share of the old velocity"},
                                            {"bias1", "0.271", "1 - beta1^step"},
                                            {"bias2", "0.003", "1 - beta2^step"},
                                            {"eps", "1e-8", "added to the root"},
                                            {"decay", "0.01", "weight decay"},
                                            {"scale", "1", "of gradients"},
                                            {"step", "3", "number of the step"},
                                            {"data", "usual", "usual | wild (NaN and Inf among the gradients)"}};

/// The descriptor of a case.
class Attributes {
 public:
  explicit Attributes(const mluopsAdamWShape& s) {
    const bool remove_nan = s.remove_nan != 0;
    mluOpCreateAdamWDescriptor(&desc_);
    mluOpSetAdamWDescAttr(desc_, MLUOP_ADAMW_WEIGHT_DECAY, &s.weight_decay, sizeof s.weight_decay);
    mluOpSetAdamWDescAttr(desc_, MLUOP_ADAMW_GRAD_SCALE, &s.grad_scale, sizeof s.grad_scale);
    mluOpSetAdamWDescAttr(desc_, MLUOP_ADAMW_NEED_REMOVE_NAN, &remove_nan, sizeof remove_nan);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { mluOpDestroyAdamWDescriptor(desc_); }
  mluOpAdamWDescriptor_t get() const { return desc_; }

 private:
  mluOpAdamWDescriptor_t desc_ = nullptr;
};

mluopsAdamWShape shape_of(const Case& t) {
  const auto real = [&](const char* key) { return static_cast<float>(t.real(key)); };
  const int remove_nan = t.integer("nan");
  return {remove_nan != 0 ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_BFLOAT16,
          t.size("n"),
          remove_nan,
          real("lr"),
          real("beta1"),
          real("beta2"),
          real("bias1"),
          real("bias2"),
          real("eps"),
          real("decay"),
          real("scale")};
}

Fill gradients(const Case& t) {
  const Fill usual = uniform(-1, 1, t.seed("grad"));
  if (t.word("data") == "usual") return usual;
  return [usual, seed = t.seed("wild")](std::int64_t i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double chance = unit_random(seed, i);
    return chance < 0.1 ? kInfinity : chance < 0.2 ? std::numeric_limits<double>::quiet_NaN() : usual(i);
  };
}

/// The tensors of a case, and where they stand: param, momentum, velocity and what param_h is.
struct Layout {
  std::vector<TensorSpec> tensors;
  int step_before = -1, param_h = -1;
};

/// `dtype`: of parameters; all but float are refused.
Layout layout_of(const Case& t, const mluopsAdamWShape& s, mluOpDataType_t dtype) {
  const auto floats = [&](const char* name, Fill fill) {
    return TensorSpec{.name = name, .dtype = dtype, .dims = {s.count}, .fill = std::move(fill)};
  };
  Layout made;
  made.tensors = {floats("initial_param", uniform(-2, 2, t.seed("param"))),
                  floats("initial_momentum", uniform(-1, 1, t.seed("momentum"))),
                  floats("initial_velocity", uniform(0.01, 1, t.seed("velocity"))),
                  {.name = "grad", .dtype = s.dtype, .dims = {s.count}, .fill = gradients(t)},
                  floats("param", {}),
                  floats("momentum", {}),
                  floats("velocity", {})};
  made.tensors[5].term_size = 1;
  if (s.remove_nan != 0) {
    made.step_before = 7, made.param_h = 8;
    made.tensors.push_back({.name = "initial_param_h", .dims = {1}, .fill = given({t.real("step")})});
    made.tensors.push_back({.name = "param_h", .dims = {1}});
  } else if (t.integer("half") != 0) {
    made.param_h = 7;
    made.tensors.push_back({.name = "param_h", .dtype = MLUOP_DTYPE_BFLOAT16, .dims = {s.count}});
    made.tensors.back().optional = true;
  }
  return made;
}

Description describe_adam_w(const Case& text, mluOpDataType_t dtype) {
  const mluopsAdamWShape s = shape_of(text);
  Layout layout = layout_of(text, s, dtype);
  const int step = layout.step_before, half = layout.param_h;
  Description d;
  d.dtype = dtype;
  d.tensors = std::move(layout.tensors);
  for (const float scalar : {s.lr, s.beta1, s.beta2, s.bias1, s.bias2, s.epsilon}) {
    d.scalars.push_back(static_cast<double>(scalar));
  }
  d.flops = 15.0 * static_cast<double>(s.count);
  const auto run = [s, half, attributes = std::make_shared<Attributes>(s)](mluOpHandle_t h, const Arguments& t) {
    const Argument param_h = half < 0 ? Argument{} : t[static_cast<std::size_t>(half)];
    return mluOpAdamW(h, attributes->get(), t[4].desc, t[4].data, param_h.desc, param_h.data, t[5].desc, t[5].data,
                      t[6].desc, t[6].data, t[3].desc, t[3].data, s.lr, s.beta1, s.beta2, s.bias1, s.bias2, s.epsilon);
  };
  d.call = [run, step](mluOpHandle_t handle, const Arguments& t) {
    return step < 0 ? call_in_place(handle, t, {{0, 4}, {1, 5}, {2, 6}}, run)
                    : call_in_place(handle, t, {{0, 4}, {1, 5}, {2, 6}, {7, 8}}, run);
  };
  d.reference = [s, step, half](const Inputs& in, Coordinates) {
    const auto floats = [&](int i) { return static_cast<float*>(const_cast<void*>(in[static_cast<std::size_t>(i)])); };
    static char present = 0;
    void* const param_h = step >= 0 ? floats(4) : half >= 0 ? static_cast<void*>(&present) : nullptr;
    reference::AdamWState r = reference::adam_w({s, floats(0), param_h, floats(1), floats(2), in[3]});
    std::vector<Values> outputs = {std::move(r.param), std::move(r.momentum), std::move(r.velocity)};
    if (half >= 0) outputs.push_back(std::move(r.param_h));
    return outputs;
  };
  return d;
}

}  // namespace

std::vector<OperatorCases> adam_w_operators() {
  return {{.op = "adam_w",
           .function = "mluOpAdamW",
           .parameters = kParameters,
           .describe = describe_adam_w,
           .smallest =
               [] {
                 return list({"n=1", "n=7 nan=1", "n=9"});
               },
           .document =
               [] {
                 return list({"n=1024", "n=1000 nan=1"});
               },
           .edge =
               [] {
                 return list({"n=1 nan=1", "n=33 half=0", "n=100 decay=0 scale=128", "n=500 nan=1 data=wild",
                              "n=77 beta1=0 beta2=0", "n=64 nan=1 step=100000", "n=31 eps=1"});
               },
           .random =
               [](Random& random, double effort) {
                 Case c;
                 c.set("n", odd_size(random, effort < 1 ? 300 : 3000)).set("nan", random.integer(0, 1));
                 return c.set("step", random.integer(1, 50)).set("half", random.integer(0, 1));
               },
           .large =
               [] {
                 return list({"n=2000003", "n=2000000 nan=1"});
               },
           .network =
               [] {
                 return list({"n=1048576", "n=16777216", "n=16777216 nan=1"});
               },
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {}},
           .reducible = {"n"}}};
}

}  // namespace mluops::cases
