#include "test/reference/masked_im2col.h"

#include <cmath>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsMaskedIm2colShape;

const std::vector<Parameter> kColumnParameters = {
    {"c", "256", "channels"},
    {"h", "50", "height of the image"},
    {"w", "84", "width of the image"},
    {"m", "500", "chosen pixels"},
    {"data", "chosen", "chosen (pixels of the image, each once at most) | any (some outside, some twice) | wild"},
};

const std::vector<Parameter>& window_parameters() {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> some = kColumnParameters;
    some.insert(some.end(), {{"kh", "3", "height of the window"},
                             {"kw", "3", "width of the window"},
                             {"padh", "1", "rows of the window above its pixel"},
                             {"padw", "1", "columns of the window left of its pixel"}});
    return some;
  }();
  return all;
}

Shape shape_of(const Case& t, mluOpDataType_t dtype, bool window) {
  const auto number = [&](const char* key, std::int64_t fallback) { return window ? t.size(key) : fallback; };
  return {dtype,
          t.size("c"),
          t.size("h"),
          t.size("w"),
          t.size("m"),
          number("kh", 1),
          number("kw", 1),
          window ? t.integer("padh") : 0,
          window ? t.integer("padw") : 0};
}

// The rows of the chosen pixels, or their columns.
Fill indices(const Case& t, const Shape& s, bool columns) {
  const std::string kind = t.word("data");
  const double size = static_cast<double>(columns ? s.w : s.h);
  const std::uint64_t seed = t.seed(columns ? "columns" : "rows");
  if (kind == "chosen") {
    const std::int64_t pixels = s.h * s.w, step = std::max<std::int64_t>(1, pixels / s.m);
    return [=, w = s.w](std::int64_t i) {
      const std::int64_t pixel = i * step % pixels;
      return static_cast<double>(columns ? pixel % w : pixel / w);
    };
  }
  if (kind == "wild") {
    return [=](std::int64_t i) {
      const double far[] = {-1, size, 2147483647, -2147483648.0, 0, size - 1};
      return far[static_cast<std::size_t>(unit_random(seed, i) * 6)];
    };
  }
  return [=](std::int64_t i) { return std::floor(unit_random(seed, i) * (size + 2) - 1); };
}

TensorSpec image(const char* name, const Shape& s, Fill fill = {}) {
  return {.name = name,
          .layout = MLUOP_LAYOUT_NCHW,
          .dtype = s.dtype,
          .dims = {1, s.c, s.h, s.w},
          .fill = std::move(fill),
          .comparison = Comparison::kBits};
}

TensorSpec columns_of(const char* name, const Shape& s, Fill fill = {}) {
  return {.name = name,
          .dtype = s.dtype,
          .dims = {s.c * s.kernel_h * s.kernel_w, s.m},
          .fill = std::move(fill),
          .comparison = Comparison::kBits};
}

TensorSpec index_spec(const char* name, const Case& t, const Shape& s, bool columns) {
  return {.name = name, .dtype = MLUOP_DTYPE_INT32, .dims = {s.m}, .fill = indices(t, s, columns)};
}

Description describe_im2col(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype, true);
  Description d;
  d.tensors = {image("feature", s, uniform(-1, 1, text.seed("feature"))), index_spec("mask_h_idx", text, s, false),
               index_spec("mask_w_idx", text, s, true), columns_of("data_col", s)};
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMaskedIm2colForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                    static_cast<int>(s.kernel_h), static_cast<int>(s.kernel_w),
                                    static_cast<int>(s.pad_h), static_cast<int>(s.pad_w), nullptr, 0, t[3].desc,
                                    t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::masked_im2col_forward(
        {s, in[0], static_cast<const std::int32_t*>(in[1]), static_cast<const std::int32_t*>(in[2]), nullptr})};
  };
  return d;
}

Description describe_col2im(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype, false);
  Description d;
  d.tensors = {columns_of("col", s, uniform(-1, 1, text.seed("col"))), index_spec("mask_h_idx", text, s, false),
               index_spec("mask_w_idx", text, s, true), image("im", s)};
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMaskedCol2imForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, 0,
                                    nullptr, t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::masked_col2im_forward(
        {s, in[0], static_cast<const std::int32_t*>(in[1]), static_cast<const std::int32_t*>(in[2]), nullptr})};
  };
  return d;
}

Cases col_smallest() {
  return list({"c=1 h=1 w=1 m=1", "c=5 h=6 w=7 m=9"});
}
Cases im_smallest() {
  return list({"c=1 h=1 w=1 m=1 kh=1 kw=1 padh=0 padw=0", "c=5 h=6 w=7 m=9 kh=3 kw=2"});
}

Cases document() {
  return list({"c=3 h=10 w=12 m=20", "c=24 h=50 w=84 m=300"});  // mmcv's masked_conv2d; guided anchoring, 24 of 256
}

Cases edge() {
  return list(
      {"c=4 h=1 w=9 m=30 data=any", "c=6 h=8 w=9 m=72", "c=7 h=5 w=6 m=200 data=any", "c=3 h=4 w=5 m=50 data=wild"});
}
Cases im_edge() {
  return joined(edge(), list({"c=3 h=7 w=6 m=40 kh=5 kw=1 padh=0 padw=3", "c=9 h=4 w=4 m=16 kh=2 kw=7 padh=-2 padw=9",
                              "c=4 h=9 w=9 m=40 kh=1 kw=1 padh=0 padw=0 data=any"}));
}

Case col_random(Random& random, double effort) {
  const char* const kinds[] = {"chosen", "any", "wild"};
  const std::int64_t most = effort < 1 ? 10 : 30;
  Case c;
  c.set("c", odd_size(random, effort < 1 ? 9 : 40)).set("h", random.integer(1, most)).set("w", random.integer(1, most));
  return c.set("m", random.integer(1, 4 * most)).set("data", random.pick(kinds));
}
Case im_random(Random& random, double effort) {
  Case c = col_random(random, effort);
  c.set("kh", random.integer(1, 5)).set("kw", random.integer(1, 5));
  return c.set("padh", random.integer(0, 2)).set("padw", random.integer(0, 2));
}

Cases large() {
  return list({"c=65 h=60 w=50 m=900", "c=40 h=100 w=100 m=10000"});
}
Cases network() {
  return list({"c=256 h=50 w=84 m=420", "c=256 h=50 w=84 m=4200", "c=256 h=100 w=168 m=1680"});
}

std::vector<Growth> growth() {
  const Case base = list({"c=64 h=50 w=84 m=400"})[0];
  return {growth_of(base, "c"), growth_of(base, "m")};
}

}  // namespace

std::vector<OperatorCases> masked_im2col_operators() {
  OperatorCases im2col = {.op = "masked_im2col_forward",
                          .function = "mluOpMaskedIm2colForward",
                          .parameters = window_parameters(),
                          .describe = describe_im2col,
                          .smallest = im_smallest,
                          .document = document,
                          .edge = im_edge,
                          .random = im_random,
                          .large = large,
                          .network = network,
                          .reducible = {"m"},
                          .growth = growth};
  OperatorCases col2im = im2col;
  col2im.op = "masked_col2im_forward";
  col2im.function = "mluOpMaskedCol2imForward";
  col2im.parameters = kColumnParameters;
  col2im.describe = describe_col2im;
  col2im.smallest = col_smallest;
  col2im.edge = edge;
  col2im.random = col_random;
  return {im2col, col2im};
}

}  // namespace mluops::cases
