#include "test/reference/ps_roi_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsPsRoiPoolShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "38", "height of the map"},
    {"w", "63", "width of the map"},
    {"d", "21", "channels of the output; the map has ph * pw times as many"},
    {"r", "32", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x; another number than ph: EXTENDED"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"mapping", "1", "0: mapping_channel is absent"},
    {"rois", "network",
     "network (a side of 7 to 28 pixels of the map) | inside | far | thin | inverted | edge (whole and half pixels of "
     "the image) | huge (many times the map) | special (NaN, infinite)"},
    {"data", "usual", "backward: mapping_channel is usual (the forward's) | wild (any channel, some outside)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,        t.size("b"), t.size("h"),
          t.size("w"),  t.size("r"), t.size("ph"),
          t.size("pw"), t.size("d"), static_cast<float>(t.real("scale"))};
}

struct Extent {
  double low, high;  // in pixels of the map
};

Extent extent(const std::string& kind, double size, double scale, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double start = random.real(0, size - 0.5);
  if (kind == "network") {
    const double side = random.real(7, 28), low = random.unit() * std::max(0.0, size - side);
    return {low, low + side};
  }
  if (kind == "far") {
    const double low = random.real(-3 * size - 8, 4 * size + 8);
    return {low, low + random.real(0, size)};
  }
  if (kind == "edge") {
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size / scale) + 1)) / 2;
    return {low * scale, (low + static_cast<double>(random.integer(0, 9)) / 2) * scale};
  }
  if (kind == "huge") return {random.real(-20 * size, 0), random.real(size, 20 * size)};
  if (kind == "thin") return {start, start + random.real(-1, 0.2)};
  if (kind == "inverted") return {start, start - random.real(0, size) - 2};
  if (kind == "special" && random.chance(0.4)) {
    const double choices[] = {std::nan(""), infinity, -infinity, 0};
    return {random.pick(choices), random.pick(choices)};
  }
  return {start, std::min(size - 1, start + random.real(0, size))};
}

// [rois,5], as the tensor holds them.
Values make_rois(const Case& t, const Shape& s) {
  const std::string kind = t.word("rois");
  const double scale = static_cast<double>(s.spatial_scale);
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const Extent x = extent(kind, static_cast<double>(s.w), scale, random),
                 y = extent(kind, static_cast<double>(s.h), scale, random);
    rois.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
    for (const double corner : {x.low, y.low, x.high, y.high}) rois.push_back(corner / scale);
  }
  return admissible(t, std::move(rois));
}

TensorSpec image(const char* name, const Shape& s, Fill fill = {}) {
  return nhwc(name, s.dtype, {s.batch, s.h, s.w, s.output_dim * s.pooled_h * s.pooled_w}, std::move(fill));
}

TensorSpec bins(const char* name, const Shape& s, Fill fill = {}) {
  return nhwc(name, s.dtype, {s.rois, s.pooled_h, s.pooled_w, s.output_dim}, std::move(fill));
}

TensorSpec mapping_of(const Shape& s, Fill fill = {}) {
  TensorSpec mapping = bins("mapping_channel", s, std::move(fill));
  mapping.dtype = MLUOP_DTYPE_INT32;
  mapping.optional = true;
  if (mapping.is_output()) mapping.comparison = Comparison::kBits;
  return mapping;
}

TensorSpec rois_of(const Case& text, const Shape& s) {
  return {.name = "rois", .dtype = s.dtype, .dims = {s.rois, 5}, .fill = given(make_rois(text, s))};
}

double additions(const Shape& s) {
  constexpr double kUsualPixels = 16;
  return kUsualPixels * static_cast<double>(s.rois * s.pooled_h * s.pooled_w * s.output_dim);
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const bool mapping = text.count("mapping") != 0;
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {image("input", s, uniform(-1, 1, text.seed("map"))), rois_of(text, s), bins("output", s)};
  d.tensors[2].term_size = 1;
  if (mapping) d.tensors.push_back(mapping_of(s));
  d.flops = additions(s);
  d.call = [s, mapping](mluOpHandle_t handle, const Arguments& t) {
    const Argument named = mapping ? t[3] : Argument{};
    return mluOpPsRoiPoolForward(handle, static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w), s.spatial_scale,
                                 static_cast<int>(s.pooled_h), static_cast<int>(s.output_dim), t[0].desc, t[0].data,
                                 t[1].desc, t[1].data, t[2].desc, t[2].data, named.desc, named.data);
  };
  d.reference = [s, scale, mapping](const Inputs& in, Coordinates coordinates) {
    auto r = reference::ps_roi_pool_forward({s, in[0], in[1], nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale}, coordinates);
    std::vector<Values> outputs = {std::move(r.output)};
    if (mapping) outputs.push_back(std::move(r.mapping_channel));
    return outputs;
  };
  return d;
}

Fill channels(const Case& text, const Shape& s) {
  const std::int64_t count = s.pooled_h * s.pooled_w, all = count * s.output_dim;
  if (text.word("data") == "wild") {
    return [=, seed = text.seed("wild")](std::int64_t i) {
      const double far[] = {-1, static_cast<double>(all), 2147483647, -2147483648.0};
      const double at = unit_random(seed, i);
      return at < 0.2 ? far[i % 4] : std::floor(at * static_cast<double>(all));
    };
  }
  return [=, d = s.output_dim](std::int64_t i) { return static_cast<double>(i % d * count + i / d % count); };
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const bool mapping = text.count("mapping") != 0;
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {bins("top_grad", s, uniform(-1, 1, text.seed("grads"))), rois_of(text, s)};
  if (mapping) d.tensors.push_back(mapping_of(s, channels(text, s)));
  d.tensors.push_back(image("bottom_grad", s));
  d.tensors.back().term_size = 1;
  d.flops = additions(s);
  d.call = [s, mapping](mluOpHandle_t handle, const Arguments& t) {
    const Argument named = mapping ? t[2] : Argument{};
    return mluOpPsRoiPoolBackward(handle, static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w), s.spatial_scale,
                                  static_cast<int>(s.output_dim), t[0].desc, t[0].data, t[1].desc, t[1].data,
                                  named.desc, named.data, t.back().desc, t.back().data);
  };
  d.reference = [s, scale, mapping](const Inputs& in, Coordinates coordinates) {
    const auto* const named = mapping ? static_cast<const std::int32_t*>(in[2]) : nullptr;
    return std::vector<Values>{
        reference::ps_roi_pool_backward({s, in[0], in[1], named, nullptr, MLUOP_LAYOUT_NHWC, scale}, coordinates)};
  };
  return d;
}

Cases smallest() {
  return list(
      {"b=1 h=1 w=1 d=1 r=1 ph=1 pw=1 scale=1 rois=inside", "b=2 h=6 w=7 d=5 r=4 ph=3 pw=3 scale=1 rois=inside"});
}

Cases document() {
  return list({
      "b=2 h=14 w=14 d=8 r=4 ph=3 pw=3 scale=1 rois=inside",  // of the size of the vendor's tests
      "b=1 h=38 w=63 d=4 r=40",                               // R-FCN, 4 of 21 classes
      "b=1 h=38 w=63 d=3 r=40 ph=3 pw=3",                     // 3 of 81 classes
  });
}

Cases edge() {
  Cases all;
  const auto add = [&](const char* rois, const std::vector<std::string>& texts) {
    all = joined(all, each(list(texts), "rois", {rois}));
  };
  add("edge", {"b=1 h=1 w=9 d=5 r=4 ph=3 pw=3 scale=1", "b=1 h=8 w=9 d=17 r=24 ph=4 pw=4 scale=0.5",
               "b=1 h=6 w=4 d=3 r=20 ph=2 pw=2 scale=0.3 mapping=0"});
  add("network",
      {"b=2 h=61 w=67 d=3 r=3 ph=2 pw=2 scale=0.5", "b=2 h=61 w=67 d=18 r=3 ph=2 pw=2 scale=0.5"});  // a large map
  add("far", {"b=2 h=7 w=6 d=13 r=19 ph=2 pw=2 scale=0.5", "b=3 h=5 w=5 d=1 r=17 ph=2 pw=2 scale=1"});
  add("thin", {"b=1 h=6 w=7 d=4 r=9 ph=3 pw=3 scale=1", "b=1 h=6 w=7 d=33 r=9 ph=5 pw=5 scale=0.01"});
  add("inverted", {"b=1 h=8 w=7 d=4 r=9 ph=3 pw=3 scale=1"});
  add("huge", {"b=1 h=9 w=8 d=6 r=5 ph=3 pw=3 scale=1", "b=1 h=6 w=37 d=1 r=5 ph=30 pw=30 scale=0.25"});
  add("special", {"b=1 h=9 w=8 d=6 r=29 ph=3 pw=3 scale=1"});
  add("inside", {"b=2 h=9 w=8 d=16 r=11 ph=5 pw=5 scale=1", "b=3 h=4 w=40 d=3 r=2 ph=2 pw=2 scale=2",
                 "b=3 h=40 w=37 d=9 r=4 ph=2 pw=2 scale=1",  // RoIs with few pixels
                 "b=2 h=12 w=9 d=20 r=7 ph=3 pw=2 scale=1 contract=extended",
                 "b=1 h=12 w=9 d=16 r=7 ph=1 pw=4 scale=1 mapping=0 contract=extended"});
  return all;
}

Cases backward_edge() {
  return joined(edge(), list({"b=2 h=9 w=8 d=19 r=11 ph=2 pw=2 scale=1 rois=inside data=wild",
                              "b=1 h=7 w=6 d=3 r=40 ph=3 pw=3 scale=0.5 rois=far data=wild"}));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "far", "edge", "thin", "special"};
  const char* const data[] = {"usual", "wild"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 10 : 20, side = random.integer(1, 7);
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("d", odd_size(random, effort < 1 ? 6 : 24)).set("r", random.integer(1, 9)).set("ph", side).set("pw", side);
  c.set("scale", random.pick(scales)).set("rois", random.pick(kinds)).set("data", random.pick(data));
  return c.set("mapping", random.chance(0.8) ? 1 : 0);
}

Cases large() {
  return list({"b=1 h=40 w=50 d=20 r=64 ph=3 pw=3 scale=1", "b=2 h=30 w=50 d=5 r=200 ph=5 pw=5 scale=1 rois=inside"});
}

Cases large_backward() {
  return joined(large(), list({"b=2 h=30 w=40 d=9 r=90 ph=3 pw=3 scale=1 data=wild"}));
}

Cases network() {
  return list(
      {"b=1 h=38 w=63 d=21 r=300", "b=1 h=38 w=63 d=81 r=300", "b=1 h=38 w=63 d=8 r=300", "b=2 h=50 w=84 d=10 r=512"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=1 h=38 w=42 d=8 r=64 ph=3 pw=3"})[0];
  return {growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "d"), growth_of(base, "r")};
}

}  // namespace

std::vector<OperatorCases> ps_roi_pool_operators() {
  OperatorCases pool = {.op = "ps_roi_pool_forward",
                        .function = "mluOpPsRoiPoolForward",
                        .parameters = kParameters,
                        .describe = forward,
                        .smallest = smallest,
                        .document = document,
                        .edge = edge,
                        .random = random_case,
                        .large = large,
                        .network = network,
                        .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
                        .coordinates = true,
                        .reducible = {"r"},
                        .growth = growth};
  OperatorCases gradient = pool;
  gradient.op = "ps_roi_pool_backward";
  gradient.function = "mluOpPsRoiPoolBackward";
  gradient.describe = backward;
  gradient.edge = backward_edge;
  gradient.large = large_backward;
  return {pool, gradient};
}

}  // namespace mluops::cases
