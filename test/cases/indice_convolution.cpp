#include "test/reference/indice_convolution.h"

#include <algorithm>
#include <stdexcept>

#include "test/cases/base/contract.h"
#include "test/cases/base/row_pairs.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"l", "3000", "rows of inputs"},
    {"m", "2000", "rows of outputs"},
    {"ci", "32", "channels of inputs"},
    {"co", "32", "channels of outputs"},
    {"k", "3", "side of the filters; 3x1x1 where the axes differ"},
    {"axes", "3", "of space; 2 and 4 are EXTENDED but for gradients of 2"},
    {"share", "0.3", "pairs of an offset by the most there can be, about"},
    {"pairs", "band", kRowPairKinds},
    {"inverse", "0", "1: outputs stand before inputs (EXTENDED)"},
    {"filters", "array", "array | channels_last (NDHWC, NHWC) | channels_first (NCDHW, NCHW)"},
    {"extended", "0", "1: the call asks for EXTENDED"},
};

/// What a case says beside the tensors' numbers.
struct Form {
  mluopsIndiceConvolutionShape shape;
  RowPairs pairs;
  mluOpTensorLayout_t layout;
  std::vector<std::int64_t> filter_dims;
};

std::vector<std::int64_t> sides(const Case& t) {
  constexpr int kLargestSide = 4096;
  const std::vector<int> numbers = t.per_axis("k", t.integer("axes", 2, 4), 0, kLargestSide);
  return {numbers.begin(), numbers.end()};
}

std::int64_t volume(const Case& t) {
  constexpr std::int64_t kMostOffsets = 65536;
  std::int64_t product = 1;
  for (const std::int64_t side : sides(t)) product = std::min(product * side, kMostOffsets + 1);
  if (product <= kMostOffsets) return product;
  throw std::invalid_argument("k: wanted filters of at most 65536 offsets, got " + t.word("k"));
}

RowPairs pairs_of(const Case& t) {
  const std::int64_t l = t.size("l"), m = t.size("m");
  const bool inverse = t.integer("inverse") != 0;
  return RowPairs(t, volume(t), inverse ? m : l, inverse ? m : l, inverse ? l : m);
}

Form form_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t ci = t.size("ci"), co = t.size("co"), k = volume(t);
  const std::string& filters = t.word("filters");
  const bool flat = t.integer("axes") == 2;
  Form f = {{dtype, t.size("l"), t.size("m"), ci, co, {ci * co, co, 1}, t.integer("inverse")},
            pairs_of(t),
            MLUOP_LAYOUT_ARRAY,
            sides(t)};
  auto& dims = f.filter_dims;
  std::int64_t* const strides = f.shape.filter_strides;
  if (filters == "channels_last") {
    f.layout = flat ? MLUOP_LAYOUT_NHWC : MLUOP_LAYOUT_NDHWC;
    dims.insert(dims.begin(), co), dims.push_back(ci);
    strides[0] = ci, strides[1] = 1, strides[2] = k * ci;
  } else if (filters == "channels_first") {
    f.layout = flat ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NCDHW;
    dims.insert(dims.begin(), ci), dims.insert(dims.begin(), co);
    strides[0] = 1, strides[1] = k, strides[2] = k * ci;
  } else {
    dims.push_back(ci), dims.push_back(co);
  }
  return f;
}

TensorSpec rows(const char* name, const Form& f, bool inputs, Fill fill = {}) {
  const auto& s = f.shape;
  return {.name = name,
          .dtype = s.dtype,
          .dims = {inputs ? s.inputs : s.outputs, inputs ? s.ci : s.co},
          .fill = std::move(fill),
          .term_size = 1};
}
TensorSpec filters(const char* name, const Form& f, Fill fill = {}) {
  return {.name = name,
          .layout = f.layout,
          .dtype = f.shape.dtype,
          .dims = f.filter_dims,
          .fill = std::move(fill),
          .term_size = 1};
}
TensorSpec pairs(const Form& f) {
  return {.name = "indice_pairs",
          .dtype = MLUOP_DTYPE_INT32,
          .dims = {f.pairs.offsets, 2, f.pairs.places},
          .fill = f.pairs.fill()};
}
Fill numbers(const Case& t, const char* name) {
  return uniform(-1, 1, t.seed(name));
}
double flops(const Form& f) {
  return 2.0 * static_cast<double>(f.pairs.total() * f.shape.ci * f.shape.co);
}

Description describe_forward(const Case& t, mluOpDataType_t dtype) {
  const Form f = form_of(t, dtype);
  Description d;
  d.tensors = {rows("features", f, true, numbers(t, "features")), filters("filters", f, numbers(t, "filters")),
               pairs(f), rows("features_out", f, false)};
  d.counts = f.pairs.num;
  d.flops = flops(f);
  d.call = [f, extended = t.integer("extended") != 0](mluOpHandle_t handle, const Arguments& a) {
    return under_extended(extended, handle, [&] {
      return mluOpIndiceConvolutionForward(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc, a[2].data,
                                           f.pairs.num->data(), f.shape.outputs, f.shape.inverse, 0, nullptr,
                                           missing_workspace, a[3].desc, a[3].data);
    });
  };
  d.reference = [f](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::indice_convolution_forward({f.shape, f.pairs.problem(in[2]), in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_backward_data(const Case& t, mluOpDataType_t dtype) {
  const Form f = form_of(t, dtype);
  Description d;
  d.tensors = {rows("output_grad", f, false, numbers(t, "output_grad")), filters("filters", f, numbers(t, "filters")),
               pairs(f), rows("input_grad", f, true)};
  d.counts = f.pairs.num;
  d.flops = flops(f);
  d.call = [f, extended = t.integer("extended") != 0](mluOpHandle_t handle, const Arguments& a) {
    return under_extended(extended, handle, [&] {
      return mluOpIndiceConvolutionBackwardData(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc,
                                                a[2].data, f.pairs.num->data(), f.shape.inverse, 0, nullptr,
                                                missing_workspace, a[3].desc, a[3].data);
    });
  };
  d.reference = [f](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::indice_convolution_backward_data({f.shape, f.pairs.problem(in[2]), in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_backward_filter(const Case& t, mluOpDataType_t dtype) {
  const Form f = form_of(t, dtype);
  Description d;
  d.tensors = {rows("features", f, true, numbers(t, "features")),
               rows("output_grad", f, false, numbers(t, "output_grad")), pairs(f), filters("filters_grad", f)};
  d.counts = f.pairs.num;
  d.flops = flops(f);
  d.call = [f, extended = t.integer("extended") != 0](mluOpHandle_t handle, const Arguments& a) {
    return under_extended(extended, handle, [&] {
      return mluOpIndiceConvolutionBackwardFilter(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc,
                                                  a[2].data, f.pairs.num->data(), f.shape.inverse, 0, nullptr,
                                                  missing_workspace, a[3].desc, a[3].data);
    });
  };
  d.reference = [f](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::indice_convolution_backward_filter({f.shape, f.pairs.problem(in[2]), in[0], in[1], nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"l=1 m=1 ci=1 co=1 k=1", "l=9 m=7 ci=5 co=3 k=3"});
}

Cases document() {
  return list({
      "l=1000 m=1000 ci=4 co=16",   // SECOND's first layer, reduced from 60000 voxels
      "l=1000 m=1000 ci=16 co=16",  //
      "l=700 m=900 ci=16 co=32",    // its stride 2
      "l=600 m=600 ci=64 co=64",    //
      "l=600 m=300 ci=64 co=128 k=2",
  });
}

Cases edge() {
  return list({
      "l=90 m=70 ci=7 co=33 pairs=random",                                  // one output several times for an offset
      "l=90 m=70 ci=33 co=7 pairs=wild",                                    //
      "l=60 m=80 ci=17 co=65 share=0",                                      // offsets without pairs
      "l=1 m=90 ci=20 co=20",                                               //
      "l=90 m=1 ci=20 co=20 pairs=random",                                  //
      "l=1100 m=1200 ci=9 co=10 k=1",                                       //
      "l=5000 m=5200 ci=3 co=5 k=2 share=0.6",                              // several chunks of an offset's pairs
      "l=70 m=60 ci=5 co=48 filters=channels_last",                         //
      "l=70 m=60 ci=5 co=12 filters=channels_first",                        //
      "l=70 m=60 ci=12 co=5 inverse=1 extended=1",                          //
      "l=60 m=70 ci=12 co=5 inverse=1 pairs=wild extended=1",               //
      "l=70 m=60 ci=12 co=6 axes=2 extended=1",                             //
      "l=70 m=60 ci=12 co=6 axes=2 filters=channels_last extended=1",       //
      "l=70 m=60 ci=12 co=6 axes=2 filters=channels_first k=2 extended=1",  //
      "l=70 m=60 ci=6 co=12 axes=4 k=2 extended=1",                         //
  });
}

Case random_case(Random& random, double effort) {
  const std::int64_t rows = effort < 1 ? 90 : 700, channels = effort < 1 ? 24 : 70;
  Case c;
  c.set("l", odd_size(random, rows)).set("m", odd_size(random, rows));
  c.set("ci", odd_size(random, channels)).set("co", odd_size(random, channels));
  c.set("k", random.integer(1, 3)).set("share", random.pick({"0.1", "0.3", "0.6"}));
  c.set("filters", random.pick({"array", "array", "channels_last", "channels_first"}));
  return c.set("pairs", random.pick({"band", "band", "random", "wild"}));
}

Cases large() {
  return list({"l=3000 m=2700 ci=37 co=40 share=0.2", "l=9000 m=9000 ci=16 co=19 share=0.1 pairs=random",
               "l=14000 m=15000 ci=40 co=64 k=1"});
}

Cases network() {
  return list({"l=60000 m=60000 ci=4 co=16 share=0.15", "l=60000 m=60000 ci=16 co=16 share=0.15",
               "l=60000 m=60000 ci=32 co=32 share=0.15", "l=60000 m=60000 ci=64 co=64 share=0.15",
               "l=60000 m=90000 ci=16 co=32 share=0.07"});
}

/// Many additions to one row.
bool in_half(const Case& t) {
  return t.real_or("l", 1) >= 200;
}

std::vector<Growth> growth() {
  const Case base = list({"l=20000 m=20000 ci=32 co=32 share=0.15"})[0];
  return {growth_of(base, "ci"), growth_of(base, "co"), growth_of(base, "share", {"0.1", "0.2", "0.4", "0.8"})};
}

}  // namespace

std::vector<OperatorCases> indice_convolution_operators() {
  OperatorCases forward = {.op = "indice_convolution_forward",
                           .function = "mluOpIndiceConvolutionForward",
                           .parameters = kParameters,
                           .describe = describe_forward,
                           .smallest = smallest,
                           .document = document,
                           .edge = edge,
                           .random = random_case,
                           .large = large,
                           .network = network,
                           .meaningful_in_half = in_half,
                           .reducible = {"l", "m"},
                           .growth = growth};
  OperatorCases data = forward, filter = forward;
  data.op = "indice_convolution_backward_data";
  data.function = "mluOpIndiceConvolutionBackwardData";
  data.describe = describe_backward_data;
  filter.op = "indice_convolution_backward_filter";
  filter.function = "mluOpIndiceConvolutionBackwardFilter";
  filter.describe = describe_backward_filter;
  return {forward, data, filter};
}

}  // namespace mluops::cases
