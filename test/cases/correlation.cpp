#include "test/reference/correlation.h"

#include <algorithm>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsCorrelationShape;

const std::vector<Parameter> kParameters = {
    {"n", "1", "images"},
    {"h", "48", "height of an image"},
    {"w", "64", "width of an image"},
    {"c", "128", "channels"},
    {"displacement", "4", "displacements each way"},
    {"kh", "1", "height of a window"},
    {"kw", "1", "width of a window"},
    {"sh", "1", "stride down"},
    {"sw", "1", "stride across"},
    {"ph", "0", "padding above and below"},
    {"pw", "0", "padding left and right"},
    {"dh", "1", "dilation of a window down"},
    {"dw", "1", "dilation of a window across"},
    {"eh", "1", "pixels of a displacement down"},
    {"ew", "1", "pixels of a displacement across"},
    {"data", "uniform", "uniform | wild (some NaN, infinite)"},
};

std::int64_t windows(const Case& t, const char* size, const char* kernel, const char* pad, const char* dilation,
                     const char* stride) {
  const std::int64_t room = t.size(size) + 2 * t.count(pad) - (t.size(kernel) - 1) * t.size(dilation) - 1;
  return room < 0 ? 0 : room / std::max<std::int64_t>(1, t.size(stride)) + 1;
}

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,
          t.size("n"),
          t.size("h"),
          t.size("w"),
          t.size("c"),
          windows(t, "h", "kh", "ph", "dh", "sh"),
          windows(t, "w", "kw", "pw", "dw", "sw"),
          t.integer("displacement"),
          t.integer("kh"),
          t.integer("kw"),
          t.integer("sh"),
          t.integer("sw"),
          t.integer("ph"),
          t.integer("pw"),
          t.integer("dh"),
          t.integer("dw"),
          t.integer("eh"),
          t.integer("ew")};
}

Fill numbers(const Case& t, const std::string& what) {
  const std::uint64_t seed = t.seed(what);
  const Fill plain = uniform(-1, 1, seed);
  if (t.word("data") != "wild") return plain;
  return [=](std::int64_t i) {
    const double luck = unit_random(seed + 1, i);
    if (luck < 0.01) return std::numeric_limits<double>::quiet_NaN();
    return luck < 0.02 ? std::numeric_limits<double>::infinity() : plain(i);
  };
}

TensorSpec image(const char* name, const Shape& s, Fill fill = {}) {
  return {.name = name,
          .layout = MLUOP_LAYOUT_NHWC,
          .dtype = s.dtype,
          .dims = {s.n, s.h, s.w, s.c},
          .fill = std::move(fill),
          .term_size = 1};
}

TensorSpec products(const char* name, const Shape& s, Fill fill = {}) {
  const std::int64_t displacements = 2 * std::int64_t{s.max_displacement} + 1;
  return {.name = name,
          .dtype = s.dtype,
          .dims = {s.n, displacements, displacements, s.out_h, s.out_w},
          .fill = std::move(fill),
          .term_size = 1};
}

double pairs_of(const Shape& s) {
  const double displacements = 2.0 * s.max_displacement + 1;
  return displacements * displacements * static_cast<double>(s.n * s.out_h * s.out_w * s.kernel_h * s.kernel_w);
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.tensors = {image("input1", s, numbers(text, "input1")), image("input2", s, numbers(text, "input2")),
               products("output", s)};
  d.flops = 2 * pairs_of(s) * static_cast<double>(s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtCorrelationForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.kernel_h, s.kernel_w,
                                      s.max_displacement, s.stride_h, s.stride_w, s.pad_h, s.pad_w, s.dilation_h,
                                      s.dilation_w, s.dilation_patch_h, s.dilation_patch_w, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::correlation_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC})};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.tensors = {products("grad_output", s, uniform(-1, 1, text.seed("grads"))),
               image("input1", s, numbers(text, "input1")), image("input2", s, numbers(text, "input2")),
               image("grad_input1", s), image("grad_input2", s)};
  d.flops = 4 * pairs_of(s) * static_cast<double>(s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtCorrelationBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                       s.kernel_h, s.kernel_w, s.max_displacement, s.stride_h, s.stride_w, s.pad_h,
                                       s.pad_w, s.dilation_h, s.dilation_w, s.dilation_patch_h, s.dilation_patch_w,
                                       t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    const reference::CorrelationGradients found =
        reference::correlation_backward({s, in[0], in[1], in[2], nullptr, nullptr, MLUOP_LAYOUT_NHWC});
    return std::vector<Values>{found.input1, found.input2};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 h=1 w=1 c=1 displacement=0", "n=2 h=6 w=7 c=5 displacement=1 kh=2 kw=3 sh=2 ph=2 pw=1 dh=2 ew=2"});
}

Cases document() {
  return list({
      "n=1 h=12 w=16 c=196",                           // PWC-Net's third level
      "n=1 h=24 w=32 c=32 displacement=10 eh=2 ew=2",  // FlowNetC, 32 of 256 channels, a quarter of the pixels
      "n=2 h=20 w=18 c=24 kh=3 kw=3 displacement=3 sh=2 sw=2 ph=1 pw=1",
  });
}

Cases edge() {
  return list({
      "h=1 w=40 c=7 displacement=3",
      "h=33 w=1 c=3 displacement=2",
      "h=3 w=4 c=9 displacement=8 ew=2",  // displacements larger than the image
      "h=7 w=5 c=33 displacement=1 eh=2147483647 ew=5",
      "n=3 h=5 w=17 c=1 displacement=5",
      "h=9 w=35 c=18 displacement=2 kh=3 kw=1 pw=4 dh=4",
      "h=8 w=11 c=4 displacement=2 ph=3 pw=2",  // windows that lie in the padding
      "h=8 w=11 c=4 displacement=1 kh=2 kw=2 sh=5 sw=4 ph=1 dh=3 dw=7",
      "h=6 w=300 c=5 displacement=1 kw=5 sw=1 pw=9",
      "h=5 w=6 c=3 displacement=1 kh=41 kw=63 ph=20 pw=40 sh=3 sw=9",           // most taps are off the image
      "h=5 w=6 c=3 displacement=1 kh=41 kw=300 ph=40 pw=299 sh=1 sw=150 dh=2",  // few outputs, many taps near
      "h=9 w=8 c=3 displacement=4 kw=5 pw=400 sw=1 dw=170",
      "h=9 w=21 c=3 displacement=2 data=wild",
      "h=9 w=21 c=3 displacement=2 ew=2 ph=1 pw=2 data=wild",
  });
}

Case random_case(Random& random, double effort) {
  const std::int64_t most = effort < 1 ? 8 : 16;
  Case c;
  c.set("n", random.integer(1, 2)).set("h", random.integer(1, most)).set("w", random.integer(1, 3 * most));
  c.set("c", odd_size(random, effort < 1 ? 12 : 40)).set("displacement", random.integer(0, 4));
  c.set("eh", random.integer(1, 3)).set("ew", random.integer(1, 3));
  if (random.chance(0.5)) return c;
  c.set("kh", random.integer(1, 3)).set("kw", random.integer(1, 3));
  c.set("sh", random.integer(1, 3)).set("sw", random.integer(1, 3));
  return c.set("ph", random.integer(1, 3)).set("pw", random.integer(2, 4)).set("dw", random.integer(1, 2));
}

Cases large() {
  return list({"n=2 h=40 w=50 c=48", "h=30 w=41 c=20 displacement=3 kh=3 kw=3 sh=2 sw=2 ph=2 pw=1 eh=2"});
}

Cases network() {
  return list({
      "h=24 w=32 c=96",  // PWC-Net, its levels
      "n=2", "n=2 h=96 w=128 c=32",
      "c=256 displacement=10 eh=2 ew=2",  // FlowNetC
  });
}

std::vector<Growth> growth() {
  const Case base = list({"h=24 w=32 c=32"})[0];
  return {growth_of(base, "n"), growth_of(base, "h"), growth_of(base, "c"), growth_of(base, "displacement")};
}

}  // namespace

std::vector<OperatorCases> correlation_operators() {
  OperatorCases products = {.op = "correlation_forward",
                            .function = "mluOpExtCorrelationForward",
                            .parameters = kParameters,
                            .describe = forward,
                            .smallest = smallest,
                            .document = document,
                            .edge = edge,
                            .random = random_case,
                            .large = large,
                            .network = network,
                            .reducible = {"c", "h"},
                            .growth = growth};
  OperatorCases gradient = products;
  gradient.op = "correlation_backward";
  gradient.function = "mluOpExtCorrelationBackward";
  gradient.describe = backward;
  return {products, gradient};
}

}  // namespace mluops::cases
