#include "test/reference/indice_max_pool.h"

#include "test/cases/base/row_pairs.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"l", "5000", "rows of inputs"},
    {"m", "3000", "rows of outputs"},
    {"c", "32", "channels"},
    {"k", "27", "offsets of the filter"},
    {"share", "0.3", "pairs of an offset by the most there can be, about"},
    {"pairs", "band", kRowPairKinds},
};

mluopsIndiceMaxPoolShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("l"), t.size("m"), t.size("c")};
}
RowPairs pairs_of(const Case& t) {
  return RowPairs(t, t.size("k"), t.size("l"), t.size("l"), t.size("m"));
}

TensorSpec rows(const char* name, const mluopsIndiceMaxPoolShape& s, std::int64_t count, Fill fill = {}) {
  return {.name = name, .dtype = s.dtype, .dims = {count, s.c}, .fill = std::move(fill), .term_size = 1};
}
TensorSpec pair_numbers(const RowPairs& pairs) {
  return {.name = "indice_pairs",
          .dtype = MLUOP_DTYPE_INT32,
          .dims = {pairs.offsets, 2, pairs.places},
          .fill = pairs.fill()};
}
/// Few different numbers, so that many are equal: a row of inputs and the maximum of an output.
Fill few(const Case& t, const char* name, std::int64_t low) {
  return [step = integers(low, 3, t.seed(name))](std::int64_t i) { return 0.25 * step(i); };
}

Description describe_forward(const Case& t, mluOpDataType_t dtype) {
  const auto s = shape_of(t, dtype);
  const RowPairs pairs = pairs_of(t);
  Description d;
  d.tensors = {rows("features", s, s.inputs, uniform(-1, 1, t.seed("features"))), pair_numbers(pairs),
               rows("features_out", s, s.outputs)};
  d.tensors[2].comparison = Comparison::kBits;
  d.counts = pairs.num;
  d.flops = static_cast<double>(pairs.total() * s.c);
  d.call = [num = pairs.num](mluOpHandle_t handle, const Arguments& a) {
    return mluOpExtIndiceMaxPoolForward(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, num->data(), a[2].desc,
                                        a[2].data);
  };
  d.reference = [s, pairs](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::indice_max_pool_forward({s, pairs.problem(in[1]), in[0], nullptr})};
  };
  return d;
}

Description describe_backward(const Case& t, mluOpDataType_t dtype) {
  const auto s = shape_of(t, dtype);
  const RowPairs pairs = pairs_of(t);
  Description d;
  d.tensors = {rows("features", s, s.inputs, few(t, "features", -3)),
               rows("features_out", s, s.outputs, few(t, "features_out", 0)),
               rows("grad_output", s, s.outputs, uniform(-1, 1, t.seed("grad_output"))), pair_numbers(pairs),
               rows("grad_input", s, s.inputs)};
  d.counts = pairs.num;
  d.flops = 2.0 * static_cast<double>(pairs.total() * s.c);
  d.call = [num = pairs.num](mluOpHandle_t handle, const Arguments& a) {
    return mluOpExtIndiceMaxPoolBackward(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc, a[2].data,
                                         a[3].desc, a[3].data, num->data(), a[4].desc, a[4].data);
  };
  d.reference = [s, pairs](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::indice_max_pool_backward({s, pairs.problem(in[3]), in[0], in[1], in[2], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"l=1 m=1 c=1 k=1", "l=9 m=7 c=5 k=3"});
}
Cases document() {
  return list({"l=1000 m=500 c=16", "l=600 m=600 c=64 k=8"});
}
Cases edge() {
  return list({
      "l=90 m=70 c=7 pairs=random",  // one output several times for an offset
      "l=90 m=70 c=33 pairs=wild",
      "l=60 m=80 c=17 share=0",
      "l=1 m=90 c=20",
      "l=90 m=1 c=3",
      "l=1100 m=1200 c=9 k=1",
  });
}
Case random_case(Random& random, double effort) {
  const std::int64_t rows = effort < 1 ? 90 : 900;
  Case c;
  c.set("l", odd_size(random, rows)).set("m", odd_size(random, rows)).set("c", odd_size(random, 40));
  c.set("k", random.integer(1, 27)).set("share", random.pick({"0.1", "0.3", "0.6"}));
  return c.set("pairs", random.pick({"band", "band", "random", "wild"}));
}
Cases large() {
  return list({"l=9000 m=7000 c=37", "l=7000 m=9000 c=16 pairs=random"});
}
Cases network() {
  return list({"l=60000 m=40000 c=16 share=0.1", "l=60000 m=40000 c=64 share=0.1"});
}

/// Many additions to one row.
bool in_half(const Case& t) {
  return t.real_or("l", 1) >= 200;
}

std::vector<Growth> growth() {
  const Case base = list({"l=20000 m=20000 c=32 share=0.15"})[0];
  return {growth_of(base, "c"), growth_of(base, "share", {"0.1", "0.2", "0.4", "0.8"})};
}

}  // namespace

std::vector<OperatorCases> indice_max_pool_operators() {
  OperatorCases forward = {.op = "indice_max_pool_forward",
                           .function = "mluOpExtIndiceMaxPoolForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .reducible = {"l", "m"},
                           .growth = growth};
  OperatorCases backward = forward;
  backward.op = "indice_max_pool_backward";
  backward.function = "mluOpExtIndiceMaxPoolBackward";
  backward.describe = describe_backward;
  backward.meaningful_in_half = in_half;
  return {forward, backward};
}

}  // namespace mluops::cases
