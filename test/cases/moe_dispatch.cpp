#include "test/reference/moe_dispatch.h"

#include "test/cases/base/in_out.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"samples", "512", "samples"},
    {"capacity", "32", "places of an expert"},
    {"hidden", "128", "numbers of a sample"},
    {"experts", "16", "experts"},
    {"places", "own", "own (each sample another row) | any (rows that several have) | wild (out of range too)"}};

mluopsMoeDispatchShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("samples"), t.size("capacity"), t.size("hidden"), t.size("experts")};
}

/// The row of sample i: a permutation's where all are different.
std::int64_t row_of(const Case& t, const mluopsMoeDispatchShape& s, std::int64_t i) {
  const std::int64_t rows = s.experts * s.capacity;
  if (t.word("places") == "own") return (i * 7919 + 3) % rows;
  return static_cast<std::int64_t>(unit_random(t.seed("rows"), i) * static_cast<double>(rows));
}

/// expert (or place) of a sample; some out of range where places=wild.
Fill places(const Case& t, const mluopsMoeDispatchShape& s, bool expert) {
  return [=](std::int64_t i) {
    constexpr double kOdd[] = {-1, 2147483647.0, -2147483648.0};
    const double chance = unit_random(t.seed(expert ? "odd expert" : "odd place"), i);
    if (t.word("places") == "wild" && chance < 0.2) return kOdd[static_cast<int>(chance * 15)];
    const std::int64_t row = row_of(t, s, i);
    return static_cast<double>(expert ? row / s.capacity : row % s.capacity);
  };
}

TensorSpec numbers(const Case& t, mluOpDataType_t dtype, const char* name, std::vector<std::int64_t> dims) {
  return {.name = name, .dtype = dtype, .dims = std::move(dims), .fill = admissible(t, uniform(-10, 10, t.seed(name)))};
}

TensorSpec indices_of(const Case& t, const mluopsMoeDispatchShape& s, bool expert) {
  return {.name = expert ? "indices" : "locations",
          .dtype = MLUOP_DTYPE_INT32,
          .dims = {s.samples},
          .fill = places(t, s, expert)};
}

const std::int32_t* ints(const void* data) {
  return static_cast<const std::int32_t*>(data);
}

struct Numbers {
  int samples, capacity, hidden, experts;
};

Numbers numbers_of(const mluopsMoeDispatchShape& s) {
  return {static_cast<int>(s.samples), static_cast<int>(s.capacity), static_cast<int>(s.hidden),
          static_cast<int>(s.experts)};
}

Description describe_forward(const Case& text, mluOpDataType_t dtype) {
  const mluopsMoeDispatchShape s = shape_of(text, dtype);
  const std::vector<std::int64_t> slots = {s.experts * s.capacity, s.hidden};
  Description d;
  d.tensors = {numbers(text, dtype, "gates", {s.samples}),
               indices_of(text, s, true),
               indices_of(text, s, false),
               numbers(text, dtype, "input", {s.samples, s.hidden}),
               numbers(text, dtype, "initial_dispatch", slots),
               {.name = "dispatch", .dtype = dtype, .dims = slots}};
  d.flops = static_cast<double>(s.samples * s.hidden);
  d.call = [n = numbers_of(s)](mluOpHandle_t handle, const Arguments& all) {
    return call_in_place(handle, all, {{4, 5}}, [n](mluOpHandle_t h, const Arguments& t) {
      return mluOpMoeDispatchForward(h, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, t[3].desc,
                                     t[3].data, n.samples, n.capacity, n.hidden, n.experts, t[5].desc, t[5].data);
    });
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::moe_dispatch_forward({s, in[0], ints(in[1]), ints(in[2]), in[3], nullptr},
                                        reference::decode(s.dtype, in[4], s.experts * s.capacity * s.hidden))};
  };
  return d;
}

Description describe_backward_gate(const Case& text, mluOpDataType_t dtype) {
  const mluopsMoeDispatchShape s = shape_of(text, dtype);
  Description d;
  d.tensors = {indices_of(text, s, true),
               indices_of(text, s, false),
               numbers(text, dtype, "input", {s.samples, s.hidden}),
               numbers(text, dtype, "dispatch", {s.experts * s.capacity, s.hidden}),
               {.name = "grad_gates", .dtype = dtype, .dims = {s.samples}, .term_size = 25}};
  d.flops = 2.0 * static_cast<double>(s.samples * s.hidden);
  d.call = [n = numbers_of(s)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMoeDispatchBackwardGate(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                        t[3].desc, t[3].data, n.samples, n.capacity, n.hidden, n.experts, nullptr, 0,
                                        t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::moe_dispatch_backward_gate({s, ints(in[0]), ints(in[1]), in[2], in[3], nullptr})};
  };
  return d;
}

Description describe_backward_data(const Case& text, mluOpDataType_t dtype) {
  const mluopsMoeDispatchShape s = shape_of(text, dtype);
  Description d;
  d.tensors = {numbers(text, dtype, "gates", {s.samples}),
               indices_of(text, s, true),
               indices_of(text, s, false),
               numbers(text, dtype, "dispatch", {s.experts * s.capacity, s.hidden}),
               {.name = "grad_input", .dtype = dtype, .dims = {s.samples, s.hidden}}};
  d.flops = static_cast<double>(s.samples * s.hidden);
  d.call = [n = numbers_of(s)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMoeDispatchBackwardData(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                        t[3].desc, t[3].data, n.samples, n.capacity, n.hidden, n.experts, t[4].desc,
                                        t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::moe_dispatch_backward_data({s, in[0], ints(in[1]), ints(in[2]), in[3], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"samples=1 capacity=1 hidden=1 experts=1", "samples=5 capacity=3 hidden=7 experts=2"});
}

Cases document() {
  return list({"samples=64 capacity=8 hidden=64 experts=8", "samples=4096 capacity=512 hidden=64 experts=8"});
}

Cases edge() {
  return list({"samples=9 capacity=4 hidden=1 experts=3 places=any", "samples=40 capacity=64 hidden=33 experts=1",
               "samples=64 capacity=1 hidden=17 experts=64 places=any",
               "samples=30 capacity=8 hidden=100 experts=4 places=wild",
               "samples=100 capacity=25 hidden=1000 experts=4 places=wild",
               "samples=1 capacity=9 hidden=3 experts=70"});
}

/// Gradients of more samples than there are rows.
Cases edge_backward() {
  Cases all = edge();
  for (const Case& c : list({"samples=33 capacity=10 hidden=64 experts=2 places=any",
                             "samples=7 capacity=1 hidden=5 experts=2 places=wild"})) {
    all.push_back(c);
  }
  return all;
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"own", "any", "wild"};
  const std::int64_t capacity = random.integer(1, 20), experts = random.integer(1, 9);
  Case c;
  c.set("samples", random.integer(1, capacity * experts)).set("capacity", capacity).set("experts", experts);
  return c.set("hidden", odd_size(random, effort < 1 ? 60 : 400)).set("places", random.pick(kinds));
}

Cases large() {
  return list(
      {"samples=3000 capacity=400 hidden=512 experts=8", "samples=3000 capacity=400 hidden=333 experts=8 places=wild"});
}

Cases network() {
  return list({"samples=4096 capacity=512 hidden=1024 experts=8", "samples=16384 capacity=512 hidden=2048 experts=32"});
}

OperatorCases of(const char* op, const char* function, Description (*describe)(const Case&, mluOpDataType_t),
                 Cases (*edges)() = edge_backward) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = describe,
          .smallest = smallest,
          .document = document,
          .edge = edges,
          .random = random_case,
          .large = large,
          .network = network,
          .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
          .reducible = {"samples"}};
}

}  // namespace

std::vector<OperatorCases> moe_dispatch_operators() {
  return {of("moe_dispatch_forward", "mluOpMoeDispatchForward", describe_forward, edge),
          of("moe_dispatch_backward_gate", "mluOpMoeDispatchBackwardGate", describe_backward_gate),
          of("moe_dispatch_backward_data", "mluOpMoeDispatchBackwardData", describe_backward_data)};
}

}  // namespace mluops::cases
