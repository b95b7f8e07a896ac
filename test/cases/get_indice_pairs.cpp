#include "test/reference/get_indice_pairs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>

#include "test/cases/base/contract.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "2000", "inputs"},
    {"b", "2", "batch"},
    {"t", "2", "size of the grid, slowest of four axes"},
    {"z", "11", "size of the grid, slowest of three axes"},
    {"y", "60", "size of the grid"},
    {"x", "70", "size of the grid, fastest axis"},
    {"k", "3", "side of the filter; 3x1x1 where the axes differ, as are the next three"},
    {"stride", "1", "on all axes"},
    {"pad", "1", "on all axes"},
    {"dilation", "1", "on all axes"},
    {"out", "0", "sizes of the output grid; 0: as the convolution has them"},
    {"rows", "0", "of out_indices; 0: as many as there can be"},
    {"kind", "regular", "regular | subm | transpose (EXTENDED)"},
    {"axes", "3", "2 (y, x; EXTENDED) | 3 | 4 (t, z, y, x; EXTENDED)"},
    {"data", "random", "random | sweep (rings, as of a LiDAR) | repeat (few places) | wild (some outside)"},
    {"extended", "0", "1: the call asks for EXTENDED"},
};

std::int32_t output_size(const std::string& kind, const mluopsSparseAxis& a) {
  const int size = kind == "subm"        ? a.input
                   : kind == "transpose" ? (a.input - 1) * a.stride - 2 * a.pad + a.filter
                                         : (a.input + 2 * a.pad - a.dilation * (a.filter - 1) - 1) / a.stride + 1;
  return std::max(size, 1);
}

/// The descriptor's numbers: what a call is given, not yet what a problem of sub_m has.
mluopsGetIndicePairsShape shape_of(const Case& t) {
  const std::string kind = t.word("kind");
  mluopsGetIndicePairsShape s = {};
  s.axes = t.integer("axes", 2, 4);
  const int sizes[] = {t.integer("t"), t.integer("z"), t.integer("y"), t.integer("x")};
  const auto each = [&](const char* key, int least) { return t.per_axis(key, s.axes, least, 1 << 20); };
  const std::vector<int> k = each("k", 1), pad = each("pad", 0), stride = each("stride", 1);
  const std::vector<int> dilation = each("dilation", 1), out = each("out", 0);
  std::int64_t places = t.size("b"), reach = 1;
  s.offsets = 1;
  for (int i = 0; i < s.axes; ++i) {
    mluopsSparseAxis& a = s.axis[i];
    const auto at = static_cast<std::size_t>(i);
    a = {sizes[4 - s.axes + i], 0, k[at], pad[at], stride[at], dilation[at]};
    a.output = out[at] > 0 ? out[at] : output_size(kind, a);
    places *= a.output;
    reach *= kind == "regular" ? (a.filter + a.stride - 1) / a.stride : a.filter;
    s.offsets *= a.filter;
  }
  s.batch = t.size("b");
  s.sub_m = kind == "subm" ? 1 : 0;
  s.transpose = kind == "transpose" ? 1 : 0;
  s.inputs = t.size("n");
  s.outputs = t.count("rows") > 0 ? t.count("rows") : s.sub_m != 0 ? s.inputs : std::min(s.inputs * reach, places);
  return s;
}

/// The filter as the rules hand it to a backend.
mluopsGetIndicePairsShape problem_shape(const Case& t) {
  mluopsGetIndicePairsShape s = shape_of(t);
  for (int i = 0; s.sub_m != 0 && i < s.axes; ++i) s.axis[i].pad = s.axis[i].filter / 2, s.axis[i].stride = 1;
  return s;
}

/// Number `axis` (0: batch) of input i.
Fill coordinates(const Case& t) {
  const auto s = shape_of(t);
  const std::string kind = t.word("data");
  const std::uint64_t seed = t.seed("indices");
  const auto size_of = [s](int column) { return column == 0 ? s.batch : std::int64_t{s.axis[column - 1].input}; };
  const auto in = [](double unit, std::int64_t size) { return std::floor(unit * static_cast<double>(size)); };
  if (kind == "random" || kind == "wild") {
    return [=, width = s.axes + 1](std::int64_t i) {
      const std::int64_t size = size_of(static_cast<int>(i % width));
      const double at = in(unit_random(seed, i), size);
      return kind == "wild" && unit_random(seed + 1, i) < 0.1 ? (at < 2 ? -1 - at : 2147483000.0 + at) : at;
    };
  }
  if (kind == "repeat") {
    return [=, width = s.axes + 1](std::int64_t i) {
      const std::int64_t twin = i / width % 7 * width + i % width;
      return in(unit_random(seed, twin), size_of(static_cast<int>(i % width)));
    };
  }
  if (kind != "sweep") throw std::invalid_argument("data: wanted random, sweep, repeat or wild, got " + kind);
  return [=, width = s.axes + 1](std::int64_t i) {
    const int column = static_cast<int>(i % width);
    const double along = static_cast<double>(i / width) / static_cast<double>(s.inputs);
    const double ring = std::floor(along * 32), angle = (along * 32 - ring) * 2 * 3.14159265358979;
    const double radius = (0.05 + 0.45 * ring / 32) * (1 + 0.05 * std::sin(40 * angle));
    const double unit = column == s.axes ? 0.5 + radius * std::cos(angle)
                        : column == s.axes - 1
                            ? 0.5 + radius * std::sin(angle)
                            : unit_random(seed + 2, static_cast<std::int64_t>(along * 300) * 8 + column);
    return std::min(in(unit, size_of(column)), static_cast<double>(size_of(column) - 1));
  };
}

std::shared_ptr<mluOpSparseConvolutionStruct> descriptor_of(const mluopsGetIndicePairsShape& s) {
  int numbers[6][MLUOPS_MOST_SPARSE_AXES];
  for (int i = 0; i < s.axes; ++i) {
    const mluopsSparseAxis& a = s.axis[i];
    const int of_axis[] = {a.pad, a.stride, a.dilation, a.input, a.filter, a.output};
    for (int j = 0; j < 6; ++j) numbers[j][i] = of_axis[j];
  }
  mluOpSparseConvolutionDescriptor_t desc = nullptr;
  if (mluOpCreateSparseConvolutionDescriptor(&desc) != MLUOP_STATUS_SUCCESS) return nullptr;
  mluOpSetSparseConvolutionDescriptor(desc, s.axes + 2, static_cast<int>(s.batch), numbers[0], numbers[1], numbers[2],
                                      numbers[3], numbers[4], numbers[5], s.sub_m, s.transpose, 0);
  return {desc, [](auto* made) { mluOpDestroySparseConvolutionDescriptor(made); }};
}

TensorSpec numbers(const char* name, std::vector<std::int64_t> dims, Fill fill = {}) {
  return {.name = name,
          .dtype = MLUOP_DTYPE_INT32,
          .dims = std::move(dims),
          .fill = std::move(fill),
          .comparison = Comparison::kBits};
}

Description describe_pairs(const Case& t, mluOpDataType_t) {
  const auto s = shape_of(t);
  const auto desc = descriptor_of(s);
  Description d;
  d.tensors = {numbers("indices", {s.inputs, s.axes + 1}, coordinates(t)),
               numbers("indice_pairs", {s.offsets, 2, s.inputs}), numbers("out_indices", {s.outputs, s.axes + 1}),
               numbers("indice_num", {s.offsets})};
  d.call = [desc, extended = t.integer("extended") != 0](mluOpHandle_t handle, const Arguments& a) {
    return under_extended(extended, handle, [&] {
      return mluOpGetIndicePairs(handle, desc.get(), a[0].desc, a[0].data, nullptr, missing_workspace, a[1].desc,
                                 a[1].data, a[2].desc, a[2].data, a[3].desc, a[3].data);
    });
  };
  d.reference = [s = problem_shape(t)](const Inputs& in, Coordinates) {
    const auto* const indices = static_cast<const std::int32_t*>(in[0]);
    auto r = reference::get_indice_pairs({s, indices, nullptr, nullptr, nullptr, nullptr});
    return std::vector<Values>{r.pairs, r.out_indices, r.num};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 b=1 z=1 y=1 x=1 k=1 pad=0", "n=9 b=2 z=3 y=4 x=5 k=3"});
}

Cases document() {
  return list({
      "n=1000 b=2 z=8 y=100 x=90 kind=subm data=sweep",  // SECOND's layers, reduced
      "n=1000 b=2 z=9 y=100 x=90 stride=2 data=sweep",   // 3x3x3, stride 2
      "n=600 b=1 z=5 y=40 x=40 k=3 pad=0 stride=2",      // its last layers
      "n=64 b=1 z=8 y=8 x=8 k=4 stride=4 pad=0",         // mmcv's test, an even filter
  });
}

Cases edge() {
  return list({
      "n=300 b=3 z=4 y=9 x=8 data=wild",                                    // outside the grid and the batch
      "n=200 b=2 z=4 y=9 x=8 data=repeat",                                  // several inputs at one place
      "n=200 b=2 z=4 y=9 x=8 data=repeat kind=subm",                        // the last one counts
      "n=300 b=2 z=5 y=9 x=70 data=wild kind=subm k=5",                     //
      "n=100 b=1 z=7 y=8 x=9 dilation=3 pad=2",                             //
      "n=100 b=1 z=7 y=8 x=9 stride=3 pad=0 k=2",                           // inputs that no output needs
      "n=100 b=1 z=7 y=8 x=9 k=1 stride=2 pad=0",                           //
      "n=100 b=1 z=3 y=8 x=9 k=5 pad=4",                                    // more outputs than inputs
      "n=40 b=1 z=2 y=5 x=5 k=9 pad=0",                                     // a filter larger than the grid
      "n=50 b=1 z=2 y=5 x=200 k=16 pad=8",                                  // 4096 offsets
      "n=200 b=2 z=4 y=9 x=8 k=3 stride=2 kind=transpose extended=1",       //
      "n=90 b=1 z=4 y=9 x=8 k=2 stride=3 pad=0 kind=transpose extended=1",  // outputs apart
      "n=90 b=1 z=4 y=9 x=8 dilation=2 pad=2 kind=transpose extended=1",    //
      "n=300 b=2 y=30 x=40 axes=2 stride=2 extended=1",                     //
      "n=300 b=2 y=30 x=40 axes=2 kind=subm dilation=2 k=5 extended=1",     // mmcv: pad is half the filter all the same
      "n=300 b=2 z=4 y=9 x=8 axes=4 extended=1",                            //
      "n=300 b=2 z=4 y=9 x=8 axes=4 kind=subm k=2 stride=3 extended=1",     // an even filter; stride counts as 1
      "n=50 b=30000 z=1000 y=30000 x=30000 k=3 extended=1",                 // 2^54 places
  });
}

Case random_case(Random& random, double effort) {
  const bool subm = random.chance(0.3);
  const int stride = subm ? 1 : random.integer(1, 3);
  Case c;
  c.set("b", random.integer(1, 3)).set("z", random.integer(1, 9)).set("y", odd_size(random, 30));
  c.set("x", odd_size(random, 80)).set("k", random.integer(1, effort < 1 ? 3 : 4)).set("stride", stride);
  c.set("pad", random.integer(0, 2)).set("dilation", stride == 1 && !subm ? random.integer(1, 2) : 1);
  const std::int64_t places = c.size("b") * c.size("z") * c.size("y") * c.size("x");
  c.set("n", odd_size(random, std::min<std::int64_t>(effort < 1 ? 200 : 900, places)));
  c.set("kind", subm ? "subm" : "regular");
  return c.set("data", random.pick({"random", "random", "sweep", "repeat", "wild"}));
}

Cases large() {
  return list({"n=9000 b=2 z=21 y=200 x=180 kind=subm data=sweep", "n=6000 b=2 z=21 y=200 x=180 stride=2 data=random",
               "n=2500 b=1 z=9 y=90 x=95 k=5 pad=2 data=sweep"});
}

Cases network() {
  return list({"n=60000 b=1 z=41 y=1600 x=1408 kind=subm data=sweep",
               "n=60000 b=1 z=41 y=1600 x=1408 stride=2 data=sweep", "n=60000 b=4 z=21 y=800 x=704 stride=2"});
}

std::vector<Growth> growth() {
  const Case base = list({"n=20000 b=1 z=41 y=800 x=704 data=sweep"})[0];
  return {growth_of(base, "n"), growth_of(base, "k", {"1", "2", "3", "4"}), growth_of(base, "stride", {"1", "2", "4"})};
}

}  // namespace

std::vector<OperatorCases> get_indice_pairs_operators() {
  return {{.op = "get_indice_pairs",
           .function = "mluOpGetIndicePairs",
           .parameters = kParameters,
           .describe = describe_pairs,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           // It has no floating-point tensor: the same call for every type.
           .dtypes = {.strict = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16},
                      .extended = {}},
           .reducible = {"n"},
           .growth = growth}};
}

}  // namespace mluops::cases
