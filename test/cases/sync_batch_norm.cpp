#include "test/reference/sync_batch_norm.h"

#include "test/cases/base/in_out.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const Parameter kRows = {"rows", "3136", "pixels of all images"}, kChannels = {"c", "64", "channels"},
                kLayout = {"shape", "nlc", "nhwc | ndhwc | nlc | nc"}, kEps = {"eps", "1e-5", "added to variances"},
                kFilter = {"filter", "1", "0 absent, 1 given"}, kBias = {"bias", "1", "0 absent, 1 given"};

struct Layout {
  mluOpTensorLayout_t layout;
  int rank;
};

Layout layout_of(const Case& t) {
  const std::string word = t.word("shape");
  if (word == "nc") return {MLUOP_LAYOUT_NC, 2};
  if (word == "nlc") return {MLUOP_LAYOUT_NLC, 3};
  return word == "ndhwc" ? Layout{MLUOP_LAYOUT_NDHWC, 5} : Layout{MLUOP_LAYOUT_NHWC, 4};
}

/// x or one of its shape: rows cut into their smallest factors.
TensorSpec image(const Case& t, mluOpDataType_t dtype, const char* name, Fill fill) {
  const Layout layout = layout_of(t);
  TensorSpec spec = {.name = name, .layout = layout.layout, .dtype = dtype};
  std::int64_t left = t.size("rows");
  for (int axis = layout.rank; axis > 2; --axis) {
    std::int64_t factor = 2;
    while (factor < left && left % factor != 0) ++factor;
    factor = left % factor == 0 ? factor : 1;
    spec.dims.push_back(factor);
    left /= factor;
  }
  spec.dims.push_back(left);
  spec.dims.push_back(t.size("c"));
  spec.fill = std::move(fill);
  return spec;
}

mluOpDataType_t channel_dtype(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_DOUBLE ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT;
}

/// What belongs to channels: no fill, an output; where absent, no descriptor.
TensorSpec channels(const Case& t, mluOpDataType_t dtype, const char* name, Fill fill) {
  return {.name = name, .dtype = channel_dtype(dtype), .dims = {t.size("c")}, .fill = std::move(fill)};
}

Fill numbers(const Case& t, const char* name, double low = -2, double high = 2) {
  return uniform(low, high, t.seed(name));
}

/// x: with a mean far from 0, where cancellation would show.
Fill pixels(const Case& t, const char* name) {
  return admissible(t, uniform(4, 9, t.seed(name)));
}

mluopsSyncBatchNormShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("rows"), t.size("c")};
}

double elements(const Case& t) {
  return static_cast<double>(t.size("rows")) * static_cast<double>(t.size("c"));
}

// ---- stats ----

Description describe_stats(const Case& text, mluOpDataType_t dtype) {
  const double eps = scalar_of(text, "eps", dtype);
  const mluopsSyncBatchNormStatsShape s{dtype, text.size("rows"), text.size("c"), static_cast<float>(eps)};
  Description d;
  d.tensors = {image(text, dtype, "x", pixels(text, "x")), channels(text, dtype, "mean", {}),
               channels(text, dtype, "invstd", {})};
  d.scalars = {eps};
  d.flops = 4 * elements(text);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpSyncBatchNormStats_v2(handle, t[0].desc, t[0].data, nullptr, 0, s.eps, t[1].desc, t[1].data, t[2].desc,
                                      t[2].data);
  };
  d.reference = [s, eps](const Inputs& in, Coordinates) {
    reference::Moments m = reference::sync_batch_norm_stats({s, in[0], nullptr, nullptr, eps});
    return std::vector<Values>{std::move(m.mean), std::move(m.invstd)};
  };
  return d;
}

// ---- gather ----

const std::vector<Parameter> kGatherParameters = {{"processes", "8", "processes"},
                                                  {"c", "1024", "channels"},
                                                  {"momentum", "0.1", "share of the new statistics"},
                                                  kEps,
                                                  {"moving", "1", "0 absent, 1 given"}};

Description describe_gather(const Case& text, mluOpDataType_t dtype) {
  const double momentum = scalar_of(text, "momentum", dtype), eps = scalar_of(text, "eps", dtype);
  const mluopsSyncBatchNormGatherShape s{dtype, text.size("processes"), text.size("c"), static_cast<float>(momentum),
                                         static_cast<float>(eps)};
  const bool moving = text.integer("moving") != 0;
  const auto all = [&](const char* name, double low, double high) {
    return TensorSpec{.name = name,
                      .dtype = channel_dtype(dtype),
                      .dims = {s.processes, s.c},
                      .fill = numbers(text, name, low, high)};
  };
  const auto moved = [&](const char* name, Fill fill) {
    return TensorSpec{.name = name, .dtype = dtype, .dims = {s.c}, .fill = std::move(fill)};
  };
  Description d;
  d.tensors = {
      all("mean_all", -2, 2),
      all("invstd_all", 0.5, 2),
      {.name = "count_all", .dtype = dtype, .dims = {s.processes}, .fill = integers(20, 200, text.seed("count"))}};
  if (moving) {
    d.tensors.push_back(moved("initial_moving_mean", admissible(text, numbers(text, "moving_mean"))));
    d.tensors.push_back(moved("initial_moving_var", admissible(text, numbers(text, "moving_var", 0.5, 2))));
    d.tensors.push_back(moved("moving_mean", {}));
    d.tensors.push_back(moved("moving_var", {}));
    d.tensors[5].optional = d.tensors[6].optional = true;
  }
  d.tensors.push_back(channels(text, dtype, "mean", {}));
  d.tensors.push_back(channels(text, dtype, "invstd", {}));
  d.scalars = {momentum, eps};
  d.flops = 8.0 * static_cast<double>(s.processes * s.c);
  const auto run = [s](mluOpHandle_t h, const Argument* in, Argument mean, Argument var, const Argument* out) {
    return mluOpSyncBatchNormGatherStatsWithCounts(h, in[0].desc, in[0].data, in[1].desc, in[1].data, mean.desc,
                                                   mean.data, var.desc, var.data, s.momentum, s.eps, in[2].desc,
                                                   in[2].data, out[0].desc, out[0].data, out[1].desc, out[1].data);
  };
  if (moving) {
    d.call = [run](mluOpHandle_t handle, const Arguments& all_) {
      return call_in_place(handle, all_, {{3, 5}, {4, 6}}, [run](mluOpHandle_t h, const Arguments& t) {
        return run(h, t.data(), t[5], t[6], t.data() + 7);
      });
    };
  } else {
    d.call = [run](mluOpHandle_t h, const Arguments& t) { return run(h, t.data(), {}, {}, t.data() + 3); };
  }
  d.reference = [s, momentum, eps, moving](const Inputs& in, Coordinates) {
    const Values none;
    reference::GatheredMoments m = reference::sync_batch_norm_gather_stats(
        {s, in[0], in[1], nullptr, nullptr, in[2], nullptr, nullptr, momentum, eps},
        moving ? reference::decode(s.dtype, in[3], s.c) : none, moving ? reference::decode(s.dtype, in[4], s.c) : none);
    if (!moving) return std::vector<Values>{std::move(m.mean), std::move(m.invstd)};
    return std::vector<Values>{std::move(m.moving_mean), std::move(m.moving_var), std::move(m.mean),
                               std::move(m.invstd)};
  };
  return d;
}

// ---- elemt ----

/// Puts optional tensors in; returns what tells a call where each is: -1 for an absent one.
int add(std::vector<TensorSpec>& tensors, bool given, TensorSpec spec) {
  if (!given) return -1;
  spec.optional = true;
  tensors.push_back(std::move(spec));
  return static_cast<int>(tensors.size()) - 1;
}

Argument at(const Arguments& t, int place) {
  return place < 0 ? Argument{} : t[static_cast<std::size_t>(place)];
}

const void* at(const Inputs& in, int place) {
  return place < 0 ? nullptr : in[static_cast<std::size_t>(place)];
}

Description describe_elemt(const Case& text, mluOpDataType_t dtype) {
  const mluopsSyncBatchNormShape s = shape_of(text, dtype);
  Description d;
  d.tensors = {image(text, dtype, "x", pixels(text, "x")), channels(text, dtype, "mean", numbers(text, "mean", 4, 9)),
               channels(text, dtype, "invstd", numbers(text, "invstd", 0.5, 2))};
  const int filter =
      add(d.tensors, text.integer("filter") != 0, channels(text, dtype, "filter", numbers(text, "filter")));
  const int bias = add(d.tensors, text.integer("bias") != 0, channels(text, dtype, "bias", numbers(text, "bias")));
  const int y = static_cast<int>(d.tensors.size());
  d.tensors.push_back(image(text, dtype, "y", {}));
  d.tensors.back().term_size = 5;
  d.flops = 4 * elements(text);
  d.call = [=](mluOpHandle_t handle, const Arguments& t) {
    return mluOpSyncBatchNormElemt(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                   at(t, filter).desc, at(t, filter).data, at(t, bias).desc, at(t, bias).data,
                                   at(t, y).desc, at(t, y).data);
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::sync_batch_norm_elemt({s, in[0], in[1], in[2], at(in, filter), at(in, bias), nullptr})};
  };
  return d;
}

// ---- backward ----

const std::vector<Parameter> kReduceParameters = {kRows,
                                                  kChannels,
                                                  kLayout,
                                                  {"sums", "1", "0 or 1: sum_dy and sum_dy_xmu"},
                                                  {"dfilter", "1", "0 or 1"},
                                                  {"dbias", "1", "0 or 1"}};

Description describe_reduce(const Case& text, mluOpDataType_t dtype) {
  const mluopsSyncBatchNormShape s = shape_of(text, dtype);
  const bool wants_sums = text.integer("sums") != 0, wants_filter = text.integer("dfilter") != 0,
             wants_bias = text.integer("dbias") != 0;
  const double terms = static_cast<double>(s.rows);
  Description d;
  d.tensors = {image(text, dtype, "dz", admissible(text, numbers(text, "dz"))),
               image(text, dtype, "x", pixels(text, "x")), channels(text, dtype, "mean", numbers(text, "mean", 4, 9)),
               channels(text, dtype, "invstd", numbers(text, "invstd", 0.5, 2))};
  const auto sum = [&](const char* name) {
    TensorSpec spec = channels(text, dtype, name, {});
    spec.term_size = terms;
    return spec;
  };
  const int dfilter = add(d.tensors, wants_filter, sum("dfilter")), dbias = add(d.tensors, wants_bias, sum("dbias")),
            sum_dy = add(d.tensors, wants_sums, sum("sum_dy")),
            products = add(d.tensors, wants_sums, sum("sum_dy_xmu"));
  for (TensorSpec& t : d.tensors) t.optional = false;
  d.flops = 4 * elements(text);
  d.call = [=](mluOpHandle_t handle, const Arguments& t) {
    return mluOpSyncBatchNormBackwardReduce_v2(
        handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, t[3].desc, t[3].data, nullptr, 0,
        at(t, dfilter).desc, at(t, dfilter).data, at(t, dbias).desc, at(t, dbias).data, at(t, sum_dy).desc,
        at(t, sum_dy).data, at(t, products).desc, at(t, products).data, wants_sums, wants_filter, wants_bias);
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    reference::BatchNormSums r =
        reference::sync_batch_norm_backward_reduce({s, in[0], in[1], in[2], in[3], nullptr, nullptr, nullptr, nullptr});
    std::vector<Values> wanted;
    if (wants_filter) wanted.push_back(std::move(r.dfilter));
    if (wants_bias) wanted.push_back(std::move(r.dbias));
    if (wants_sums) wanted.push_back(std::move(r.sum_dy)), wanted.push_back(std::move(r.sum_dy_xmu));
    return wanted;
  };
  return d;
}

Description describe_backward_elemt(const Case& text, mluOpDataType_t dtype) {
  const mluopsSyncBatchNormShape s = shape_of(text, dtype);
  const bool v2 = text.op() == "sync_batch_norm_backward_elemt_v2";
  const std::int64_t processes = v2 ? text.size("processes") : 0;
  const double most = v2 ? 100.0 * static_cast<double>(processes) : 1;
  Description d;
  d.tensors = {image(text, dtype, "diff_y", admissible(text, numbers(text, "diff_y"))),
               image(text, dtype, "x", pixels(text, "x")), channels(text, dtype, "mean", numbers(text, "mean", 4, 9)),
               channels(text, dtype, "invstd", numbers(text, "invstd", 0.5, 2))};
  const int filter =
      add(d.tensors, text.integer("filter") != 0, channels(text, dtype, "filter", numbers(text, "filter")));
  const int sums = static_cast<int>(d.tensors.size());
  d.tensors.push_back(channels(text, dtype, v2 ? "sum_dy" : "mean_dy", numbers(text, "dy", -most, most)));
  d.tensors.push_back(channels(text, dtype, v2 ? "sum_dy_xmu" : "mean_dy_xmu", numbers(text, "xmu", -most, most)));
  if (v2) {
    d.tensors.push_back({.name = "count",
                         .dtype = MLUOP_DTYPE_INT32,
                         .dims = {processes},
                         .fill = integers(50, 200, text.seed("count"))});
  }
  const int out = static_cast<int>(d.tensors.size());
  d.tensors.push_back(image(text, dtype, "diff_x", {}));
  d.tensors.back().term_size = 10;
  d.flops = 6 * elements(text);
  d.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const Argument f = at(t, filter), a = at(t, sums), b = at(t, sums + 1), n = at(t, sums + 2), o = at(t, out);
    return v2 ? mluOpSyncBatchNormBackwardElemtV2(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                                  t[2].data, t[3].desc, t[3].data, f.desc, f.data, a.desc, a.data,
                                                  b.desc, b.data, n.desc, n.data, o.desc, o.data)
              : mluOpSyncBatchNormBackwardElemt(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                                t[2].data, t[3].desc, t[3].data, f.desc, f.data, a.desc, a.data, b.desc,
                                                b.data, o.desc, o.data);
  };
  d.reference = [=](const Inputs& in, Coordinates) {
    const auto* const count = v2 ? static_cast<const std::int32_t*>(at(in, sums + 2)) : nullptr;
    return std::vector<Values>{reference::sync_batch_norm_backward_elemt(
        {s, in[0], in[1], in[2], in[3], at(in, filter), at(in, sums), at(in, sums + 1), count, processes, nullptr})};
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"rows=1 c=1", "rows=30 c=7"});
}

Cases document() {
  return list({"rows=6 c=2", "rows=3136 c=64 shape=nhwc", "rows=2000 c=96 shape=nc"});
}

Cases edge() {
  return list({"rows=1 c=5", "rows=2 c=200 shape=nc", "rows=4097 c=1 shape=nhwc", "rows=999 c=3 shape=nlc",
               "rows=131 c=63 shape=ndhwc", "rows=50 c=64 shape=nhwc", "rows=77 c=65 shape=nlc",
               "rows=5000 c=2 shape=nc", "rows=10 c=3001 shape=nc"});
}

Case random_case(Random& random, double effort) {
  const char* const layouts[] = {"nhwc", "ndhwc", "nlc", "nc"};
  const std::int64_t most = effort < 1 ? 60 : 300;
  Case c;
  c.set("rows", odd_size(random, most)).set("c", odd_size(random, most));
  return c.set("shape", random.pick(layouts));
}

Cases large() {
  return list({"rows=100000 c=17 shape=nc", "rows=9000 c=256", "rows=700000 c=3 shape=nc"});
}

Cases network() {
  return list({"rows=25088 c=256 shape=nhwc", "rows=401408 c=64 shape=nhwc", "rows=1568 c=2048 shape=nhwc"});
}

std::vector<Growth> growth() {
  const Case base = list({"rows=12544 c=64"})[0];
  return {growth_of(base, "rows"), growth_of(base, "c")};
}

OperatorCases of(const char* op, const char* function, std::vector<Parameter> parameters,
                 Description (*describe)(const Case&, mluOpDataType_t)) {
  return {.op = op,
          .function = function,
          .parameters = std::move(parameters),
          .describe = describe,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .reducible = {"rows"},
          .growth = growth};
}

OperatorCases gather() {
  OperatorCases cases =
      of("sync_batch_norm_gather_stats", "mluOpSyncBatchNormGatherStatsWithCounts", kGatherParameters, describe_gather);
  cases.smallest = [] { return list({"processes=1 c=1", "processes=3 c=7"}); };
  cases.document = [] { return list({"processes=8 c=1024", "processes=4 c=64 moving=0"}); };
  cases.edge = [] {
    return list({"processes=1 c=5", "processes=100 c=1 momentum=1", "processes=2 c=3000 momentum=0",
                 "processes=5 c=9 moving=0 eps=0"});
  };
  cases.random = [](Random& random, double effort) {
    Case c;
    c.set("processes", random.integer(1, 16)).set("c", odd_size(random, effort < 1 ? 60 : 500));
    return c.set("moving", random.integer(0, 1)).set("momentum", random.integer(0, 10) / 10.0);
  };
  cases.large = [] { return list({"processes=64 c=100000"}); };
  cases.network = [] { return list({"processes=8 c=2048"}); };
  cases.reducible = {"c"};
  cases.growth = nullptr;
  return cases;
}

OperatorCases elemt() {
  OperatorCases cases = of("sync_batch_norm_elemt", "mluOpSyncBatchNormElemt",
                           {kRows, kChannels, kLayout, kFilter, kBias}, describe_elemt);
  cases.edge = [] { return each(each(edge(), "filter", {"0", "1"}), "bias", {"0", "1"}); };
  return cases;
}

OperatorCases backward_elemt(const char* op, const char* function) {
  const Parameter processes = {"processes", "4", "processes that count rows, of _v2"};
  OperatorCases cases = of(op, function, {kRows, kChannels, kLayout, kFilter}, describe_backward_elemt);
  cases.parameters.push_back(processes);
  cases.edge = [] { return each(edge(), "filter", {"0", "1"}); };
  return cases;
}

OperatorCases reduce() {
  OperatorCases cases =
      of("sync_batch_norm_backward_reduce", "mluOpSyncBatchNormBackwardReduce_v2", kReduceParameters, describe_reduce);
  cases.edge = [] {
    Cases all = edge();
    const Cases some = list({"rows=30 c=5 sums=0", "rows=30 c=5 dfilter=0", "rows=30 c=5 dbias=0",
                             "rows=30 c=5 dfilter=0 dbias=0", "rows=30 c=5 sums=0 dfilter=0"});
    all.insert(all.end(), some.begin(), some.end());
    return all;
  };
  return cases;
}

}  // namespace

std::vector<OperatorCases> sync_batch_norm_operators() {
  return {of("sync_batch_norm_stats", "mluOpSyncBatchNormStats_v2", {kRows, kChannels, kLayout, kEps}, describe_stats),
          gather(),
          elemt(),
          reduce(),
          backward_elemt("sync_batch_norm_backward_elemt", "mluOpSyncBatchNormBackwardElemt"),
          backward_elemt("sync_batch_norm_backward_elemt_v2", "mluOpSyncBatchNormBackwardElemtV2")};
}

}  // namespace mluops::cases
