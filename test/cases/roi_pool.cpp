#include "test/reference/roi_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsRoiPoolShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "50", "height of the map"},
    {"w", "84", "width of the map"},
    {"c", "256", "channels"},
    {"r", "32", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"argmax", "1", "0: not wanted (forward)"},
    {"rois", "network",
     "network (a side of 7 to 28 pixels of the map) | inside | far | thin | inverted | mixed | edge (whole and half "
     "pixels) | huge (many times the map) | special (NaN, infinite)"},
    {"data", "signed",
     "signed | ties (few distinct values) | holes (some NaN, -infinite); backward: argmax | wild (some outside)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,        t.size("b"),  t.size("h"),
          t.size("w"),  t.size("c"),  t.size("r"),
          t.size("ph"), t.size("pw"), static_cast<float>(t.real("scale"))};
}

// ---- RoIs ----

struct Extent {
  double low, high;  // in pixels of the map
};

// One axis of one RoI.
Extent extent(const std::string& kind, double size, Random& random) {
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
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    return {low, low + static_cast<double>(random.integer(0, 9)) / 2};
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
  const std::string kinds[] = {"inside", "inside", "far", "thin", "inverted", "edge"}, kind = t.word("rois");
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const std::string own = kind == "mixed" ? random.pick(kinds) : kind;
    const Extent x = extent(own, static_cast<double>(s.w), random), y = extent(own, static_cast<double>(s.h), random);
    rois.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
    for (const double corner : {x.low, y.low, x.high, y.high}) {
      rois.push_back(corner / static_cast<double>(s.spatial_scale));
    }
  }
  return admissible(t, std::move(rois));
}

Fill map_values(const Case& t) {
  const std::string data = t.word("data");
  const Fill plain = uniform(-1, 1, t.seed("map"));
  if (data == "ties") return [plain](std::int64_t i) { return std::floor(plain(i) * 3) / 4; };
  if (data != "holes") return plain;
  return [plain, seed = t.seed("holes")](std::int64_t i) {
    const double share = unit_random(seed, i);
    return share < 0.3 ? std::nan("") : share < 0.5 ? -std::numeric_limits<double>::infinity() : plain(i);
  };
}

// ---- calls ----

TensorSpec rois_of(const Shape& s, const Values& rois) {
  return {.name = "rois", .dtype = s.dtype, .dims = {s.rois, 5}, .fill = given(rois)};
}

TensorSpec argmax_of(const Shape& s, Fill fill = {}) {
  TensorSpec argmax = bins("argmax", s, std::move(fill));
  argmax.dtype = MLUOP_DTYPE_INT32;
  return argmax;
}

// Pixels of all bins, those outside the map too, about.
double pixels_of(const Shape& s, const Values& rois) {
  const double scale = static_cast<double>(s.spatial_scale), most = static_cast<double>(s.h * s.w);
  double all = 0;
  for (std::size_t r = 0; r < rois.size(); r += 5) {
    const double pixels = (rois[r + 3] - rois[r + 1] + 1) * (rois[r + 4] - rois[r + 2] + 1) * scale * scale;
    all += pixels > 0 ? std::min(pixels, most) : 0;
  }
  return all;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const bool wanted = text.count("argmax") != 0;
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {image("input", s, map_values(text)), rois_of(s, rois), bins("output", s)};
  d.tensors[2].comparison = Comparison::kBits;
  if (wanted) {
    d.tensors.push_back(argmax_of(s));
    d.tensors[3].comparison = Comparison::kBits;
    d.tensors[3].pointer_only = true;
  }
  d.flops = pixels_of(s, rois) * static_cast<double>(s.c);
  d.call = [s, wanted](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiPoolingForward(handle, MLUOP_POOLING_MAX, t[0].desc, t[0].data, t[1].desc, t[1].data,
                                  s.spatial_scale, t[2].desc, t[2].data,
                                  wanted ? static_cast<int*>(t[3].data) : nullptr);
  };
  d.reference = [s, scale, wanted](const Inputs& in, Coordinates coordinates) {
    reference::RoiPoolResult r =
        reference::roi_pool_forward({s, in[0], in[1], nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale}, coordinates);
    std::vector<Values> outputs = {std::move(r.output)};
    if (wanted) outputs.push_back(std::move(r.argmax));
    return outputs;
  };
  return d;
}

// Where the greatest pixels of a map of its own are.
Fill greatest(const Case& t, const Shape& s, const Values& rois) {
  Shape wide = s;
  wide.dtype = MLUOP_DTYPE_DOUBLE;
  const double scale = scalar_of(t, "scale", s.dtype);
  const Values map = values_of(uniform(-1, 1, t.seed("argmax")), s.batch * s.h * s.w * s.c);
  const auto r =
      reference::roi_pool_forward({wide, map.data(), rois.data(), nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale});
  const Fill right = given(r.argmax);
  if (t.word("data") != "wild") return right;
  const double pixels = static_cast<double>(s.h * s.w);
  return [=, seed = t.seed("wild")](std::int64_t i) {
    const double far[] = {-1, -2, pixels, pixels + 7, 2147483647, -2147483648.0};
    return unit_random(seed, i) < 0.3 ? far[i % 6] : right(i);
  };
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {bins("grads", s, uniform(-1, 1, text.seed("grads"))), rois_of(s, rois),
               argmax_of(s, greatest(text, s, rois)), image("grads_image", s)};
  d.tensors[3].term_size = 1;
  d.flops = static_cast<double>(s.rois * s.pooled_h * s.pooled_w * s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiPoolingBackward(handle, MLUOP_POOLING_MAX, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                   static_cast<const int*>(t[2].data), s.spatial_scale, t[3].desc, t[3].data);
  };
  d.reference = [s, scale](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::roi_pool_backward(
        {s, in[0], in[1], static_cast<const std::int32_t*>(in[2]), nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 rois=inside",
               "b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside argmax=0"});
}

Cases document() {
  return list({
      "b=1 h=2 w=2 c=1 r=1 ph=2 pw=2 scale=1 rois=inside",  // mmcv's tests
      "b=1 h=2 w=2 c=2 r=1 ph=2 pw=2 scale=1 rois=inside",  // mmcv's tests
      "b=1 h=4 w=4 c=1 r=1 ph=2 pw=2 scale=1 rois=inside",  // mmcv's and the vendor's
      "b=1 h=50 w=84 c=24 r=40",                            // Fast R-CNN on one level, 24 of 256 channels
      "b=2 h=25 w=42 c=32 r=24 scale=0.03125",              // 32 of 256 channels
      "b=2 h=5 w=5 c=67 r=4 ph=3 pw=3 scale=0.25",
  });
}

Cases edge() {
  Cases all;
  const auto add = [&](const char* rois, const std::vector<std::string>& texts) {
    all = joined(all, each(list(texts), "rois", {rois}));
  };
  add("edge", {"b=1 h=1 w=1 c=1 r=3 ph=1 pw=1 scale=1", "b=2 h=1 w=9 c=5 r=4 ph=2 pw=3 scale=1",
               "b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1", "b=1 h=6 w=4 c=3 r=20 ph=2 pw=2 scale=0.5 argmax=0"});
  add("network",
      {"b=2 h=61 w=67 c=7 r=3 ph=2 pw=3 scale=0.5", "b=2 h=61 w=67 c=21 r=3 ph=2 pw=3 scale=0.5"});  // a large map
  add("far", {"b=2 h=7 w=6 c=13 r=19 ph=3 pw=2 scale=0.5", "b=1 h=5 w=5 c=8 r=17 ph=2 pw=2 scale=1"});
  add("thin", {"b=1 h=6 w=7 c=4 r=9 ph=3 pw=3 scale=1", "b=1 h=6 w=7 c=36 r=9 ph=1 pw=9 scale=0.3"});
  add("inverted", {"b=1 h=8 w=7 c=4 r=9 ph=3 pw=3 scale=1"});
  add("huge", {"b=1 h=9 w=8 c=6 r=5 ph=3 pw=3 scale=1", "b=1 h=6 w=37 c=5 r=5 ph=40 pw=60 scale=0.25"});
  add("special", {"b=1 h=9 w=8 c=6 r=29 ph=3 pw=3 scale=1"});
  add("mixed", {"b=2 h=9 w=8 c=70 r=11 ph=1 pw=5 scale=1 data=ties", "b=3 h=4 w=40 c=3 r=3 ph=2 pw=17 scale=1"});
  return all;
}

Cases forward_edge() {
  return joined(edge(), list({"b=1 h=9 w=8 c=19 r=11 ph=5 pw=5 scale=1 rois=inside data=holes",
                              "b=2 h=12 w=9 c=65 r=7 ph=3 pw=2 scale=1 rois=inside data=holes argmax=0",
                              "b=2 h=12 w=37 c=1 r=11 ph=3 pw=3 scale=1 rois=mixed data=ties",
                              "b=1 h=12 w=37 c=2 r=11 ph=3 pw=4 scale=1 rois=special data=holes",
                              "b=1 h=9 w=61 c=1 r=5 ph=2 pw=2 scale=1 rois=huge data=ties"}));
}

Cases backward_edge() {
  return joined(edge(), list({"b=2 h=9 w=8 c=19 r=11 ph=5 pw=5 scale=1 rois=inside data=wild"}));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "mixed", "mixed", "far", "edge", "special"};
  const char* const data[] = {"signed", "signed", "ties", "wild"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 15)).set("scale", random.pick(scales));
  return c.set("rois", random.pick(kinds)).set("data", random.pick(data)).set("argmax", random.integer(0, 1));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 r=64 scale=1", "b=2 h=60 w=50 c=34 r=300 ph=5 pw=5 scale=1"});
}

Cases network() {
  return list({"b=1 h=50 w=84 c=256 r=1000", "b=1 h=200 w=336 c=256 r=1000 scale=0.25", "b=2 h=38 w=63 c=512 r=256"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=50 w=84 c=64 r=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "c"), growth_of(base, "r")};
}

}  // namespace

std::vector<OperatorCases> roi_pool_operators() {
  OperatorCases pool = {.op = "roi_pool_forward",
                        .function = "mluOpRoiPoolingForward",
                        .parameters = kParameters,
                        .describe = forward,
                        .smallest = smallest,
                        .document = document,
                        .edge = forward_edge,
                        .random = random_case,
                        .large = large,
                        .network = network,
                        .coordinates = true,
                        .reducible = {"r"},
                        .growth = growth};
  OperatorCases gradient = pool;
  gradient.op = "roi_pool_backward";
  gradient.function = "mluOpRoiPoolingBackward";
  gradient.describe = backward;
  gradient.edge = backward_edge;
  gradient.coordinates = false;
  return {pool, gradient};
}

}  // namespace mluops::cases
