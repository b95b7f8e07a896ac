#include "test/reference/mutual_information.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "test/cases/base/in_out.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {{"b", "4", "sequences"},
                                            {"s", "20", "symbols"},
                                            {"t", "50", "frames"},
                                            {"boundary", "0", "0 absent, 1 given"},
                                            {"least", "-3", "least logarithm"}};
const std::vector<Parameter> kBackwardParameters = {{"b", "4", "sequences"},
                                                    {"s", "20", "symbols"},
                                                    {"t", "50", "frames"},
                                                    {"boundary", "0", "0 absent, 1 given"},
                                                    {"least", "-3", "least logarithm"},
                                                    {"overwrite", "0", "0 or 1"}};

mluopsMutualInformationShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.integer("b"), t.integer("s"), t.integer("t")};
}

/// Two places in [0, length] in order, which rows share: first and last of symbols or frames.
double boundary_of(const Case& t, std::int64_t length, std::int64_t row, bool symbols, bool last) {
  const std::uint64_t seed = t.seed(symbols ? "symbols" : "frames");
  const auto place = [&](int which) {
    return std::floor(unit_random(seed, 2 * row + which) * static_cast<double>(length + 1));
  };
  const double a = place(0), b = place(1);
  return last ? std::max(a, b) : std::min(a, b);
}

Fill boundaries(const Case& t, const mluopsMutualInformationShape& s) {
  return [=](std::int64_t i) {
    const bool symbols = i % 2 == 0;
    return boundary_of(t, symbols ? s.s : s.t, i / 4, symbols, i % 4 >= 2);
  };
}

TensorSpec tensor(mluOpDataType_t dtype, const char* name, std::vector<std::int64_t> dims, Fill fill) {
  return {.name = name, .dtype = dtype, .dims = std::move(dims), .fill = std::move(fill)};
}

/// px, py and, where the case has them, boundaries.
std::vector<TensorSpec> inputs_of(const Case& t, const mluopsMutualInformationShape& s) {
  const auto logarithms = [&](const char* name) { return admissible(t, uniform(t.real("least"), 0, t.seed(name))); };
  std::vector<TensorSpec> made = {tensor(s.dtype, "px", {s.b, s.s, s.t + 1}, logarithms("px")),
                                  tensor(s.dtype, "py", {s.b, s.s + 1, s.t}, logarithms("py"))};
  if (t.integer("boundary") == 0) return made;
  made.push_back(tensor(MLUOP_DTYPE_INT64, "opt_boundary", {s.b, 4}, boundaries(t, s)));
  made.back().optional = true;
  return made;
}

double cells(const mluopsMutualInformationShape& s) {
  return static_cast<double>(s.b) * static_cast<double>(s.s + 1) * static_cast<double>(s.t + 1);
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const mluopsMutualInformationShape s = shape_of(text, dtype);
  const bool bounded = text.integer("boundary") != 0;
  const std::vector<std::int64_t> lattice = {s.b, s.s + 1, s.t + 1};
  Description d;
  d.tensors = inputs_of(text, s);
  const std::size_t before = d.tensors.size();
  d.tensors.push_back(tensor(dtype, "initial_p", lattice, admissible(text, uniform(-9, 9, text.seed("p")))));
  d.tensors.push_back(tensor(dtype, "p", lattice, {}));
  d.tensors.push_back(tensor(dtype, "ans", {s.b}, {}));
  d.flops = 40 * cells(s);
  d.call = [=](mluOpHandle_t handle, const Arguments& all) {
    return call_in_place(handle, all, {{before, before + 1}}, [=](mluOpHandle_t h, const Arguments& t) {
      const Argument boundary = bounded ? t[2] : Argument{}, p = t[before + 1], ans = t[before + 2];
      return mluOpMutualInformationForward(h, t[0].desc, t[0].data, t[1].desc, t[1].data, boundary.desc, boundary.data,
                                           p.desc, p.data, nullptr, 0, ans.desc, ans.data);
    });
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    reference::PathSums r =
        reference::mutual_information_forward({s, in[0], in[1], bounded ? in[2] : nullptr, nullptr, nullptr},
                                              reference::decode(s.dtype, in[before], s.b * (s.s + 1) * (s.t + 1)));
    return std::vector<Values>{std::move(r.p), std::move(r.ans)};
  };
  return d;
}

/// p of the forward call, computed when the first element is asked for.
Fill lattice_of(const Case& text, const mluopsMutualInformationShape& s, const std::vector<TensorSpec>& inputs) {
  const bool bounded = text.integer("boundary") != 0;
  const auto make = [=] {
    std::vector<std::vector<unsigned char>> bytes;
    for (const TensorSpec& t : inputs) {
      bytes.emplace_back(static_cast<std::size_t>(t.bytes()) + 8);
      write(t.fill, t.dtype, t.elements(), bytes.back().data());
    }
    const void* const boundary = bounded ? bytes[2].data() : nullptr;
    const Values none(static_cast<std::size_t>(cells(s)), 0.0);
    return reference::mutual_information_forward({s, bytes[0].data(), bytes[1].data(), boundary, nullptr, nullptr},
                                                 none)
        .p;
  };
  struct Lattice {
    std::once_flag once;
    Values values;
  };
  return [make, lattice = std::make_shared<Lattice>()](std::int64_t i) {
    std::call_once(lattice->once, [&] { lattice->values = make(); });
    return lattice->values[static_cast<std::size_t>(i)];
  };
}

Description describe_backward(const Case& text, mluOpDataType_t dtype) {
  const mluopsMutualInformationShape s = shape_of(text, dtype);
  const bool bounded = text.integer("boundary") != 0;
  const int overwrite = text.integer("overwrite");
  Description d;
  d.tensors = inputs_of(text, s);
  const std::size_t p = d.tensors.size();
  d.tensors.push_back(tensor(dtype, "p", {s.b, s.s + 1, s.t + 1}, admissible(text, lattice_of(text, s, d.tensors))));
  d.tensors.push_back(
      tensor(dtype, "initial_ans_grad", {s.b}, admissible(text, uniform(-2, 2, text.seed("ans_grad")))));
  d.tensors.push_back(tensor(dtype, "ans_grad", {s.b}, {}));
  d.tensors.push_back(tensor(dtype, "px_grad", d.tensors[0].dims, {}));
  d.tensors.push_back(tensor(dtype, "py_grad", d.tensors[1].dims, {}));
  d.flops = 50 * cells(s);
  d.call = [=](mluOpHandle_t handle, const Arguments& all) {
    return call_in_place(handle, all, {{p + 1, p + 2}}, [=](mluOpHandle_t h, const Arguments& t) {
      const Argument b = bounded ? t[2] : Argument{}, a = t[p + 2], x = t[p + 3], y = t[p + 4];
      return mluOpMutualInformationBackward(h, t[0].desc, t[0].data, t[1].desc, t[1].data, b.desc, b.data, t[p].desc,
                                            t[p].data, a.desc, a.data, overwrite != 0, nullptr, 0, x.desc, x.data,
                                            y.desc, y.data);
    });
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    reference::PathGradients r = reference::mutual_information_backward(
        {s, in[0], in[1], bounded ? in[2] : nullptr, in[p], const_cast<void*>(in[p + 1]), nullptr, nullptr, overwrite});
    return std::vector<Values>{std::move(r.ans_grad), std::move(r.px_grad), std::move(r.py_grad)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 s=1 t=1", "b=2 s=4 t=6"});
}

Cases document() {
  return list({"b=8 s=10 t=40", "b=3 s=50 t=200 boundary=1"});
}

Cases edge() {
  return list({"b=3 s=1 t=70", "b=3 s=70 t=1 boundary=1", "b=40 s=3 t=4 boundary=1", "b=1 s=30 t=300 least=-30",
               "b=2 s=9 t=9 least=-0.01 boundary=1"});
}

Case random_case(Random& random, double effort) {
  Case c;
  c.set("b", random.integer(1, 9)).set("s", random.integer(1, effort < 1 ? 9 : 40));
  return c.set("t", random.integer(1, effort < 1 ? 12 : 90)).set("boundary", random.integer(0, 1));
}

Cases large() {
  return list({"b=9 s=60 t=300"});
}

Cases network() {
  return list({"b=16 s=50 t=400", "b=32 s=100 t=800"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=4 s=20 t=100"})[0];
  return {growth_of(base, "b"), growth_of(base, "s"), growth_of(base, "t")};
}

OperatorCases of(const char* op, const char* function, const std::vector<Parameter>& parameters,
                 Description (*describe)(const Case&, mluOpDataType_t)) {
  return {.op = op,
          .function = function,
          .parameters = parameters,
          .describe = describe,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
          .reducible = {"b", "t"},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> mutual_information_operators() {
  return {of("mutual_information_forward", "mluOpMutualInformationForward", kParameters, describe_forward),
          of("mutual_information_backward", "mluOpMutualInformationBackward", kBackwardParameters, describe_backward)};
}

}  // namespace mluops::cases
