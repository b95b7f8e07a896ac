#include "test/reference/roi_align_rotated.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsRoiAlignRotatedShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "50", "height of the map"},
    {"w", "84", "width of the map"},
    {"c", "256", "channels"},
    {"r", "32", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"ratio", "2", "samples of a bin along an axis; 0: its size, rounded up"},
    {"aligned", "1", "1: moved by half a pixel"},
    {"clockwise", "0", "1: positive rotations are clockwise"},
    {"rois", "network",
     "network (a side of 7 to 28 pixels of the map) | inside | far | straight (whole and half pixels, quarter "
     "rotations) | "
     "huge (many times the map) | special (NaN, infinite, negative sides)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,
          t.size("b"),
          t.size("h"),
          t.size("w"),
          t.size("c"),
          t.size("r"),
          t.size("ph"),
          t.size("pw"),
          static_cast<float>(t.real("scale")),
          t.integer("ratio"),
          t.integer("aligned"),
          t.integer("clockwise")};
}

struct Extent {
  double centre, size;  // in pixels of the map
};

Extent extent(const std::string& kind, double size, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (kind == "far") return {random.real(-3 * size - 8, 4 * size + 8), random.real(0, size)};
  if (kind == "straight") {
    const auto most = 2 * static_cast<std::int64_t>(size) + 2;
    return {static_cast<double>(random.integer(-2, most)) / 2, static_cast<double>(random.integer(1, 9)) / 2};
  }
  if (kind == "huge") return {random.real(0, size), random.real(2 * size, 20 * size)};
  if (kind == "special" && random.chance(0.3)) {
    const double choices[] = {std::nan(""), infinity, -infinity};
    return {random.real(0, size), random.chance(0.5) ? random.pick(choices) : -random.real(1, size)};
  }
  const double side = kind == "network" ? random.real(7, 28) : random.real(0.1, std::max(0.2, size));
  return {random.real(0, size), side};
}

// Whether floats place the samples of straight RoIs exactly. Where they do not, or for a quarter turn, whose cosine is
// not 0, it would be the rounding's on which side of a border a sample on it falls.
bool exact(const Shape& s) {
  const auto is_power_of_two = [](double v) {
    int exponent = 0;
    return std::frexp(v, &exponent) == 0.5;
  };
  return is_power_of_two(static_cast<double>(s.spatial_scale)) && is_power_of_two(static_cast<double>(s.pooled_h)) &&
         is_power_of_two(static_cast<double>(s.pooled_w)) && is_power_of_two(s.sample_ratio);
}

// [rois,6], as the tensor holds them.
Values make_rois(const Case& t, const Shape& s) {
  const std::string kind = t.word("rois");
  const double scale = static_cast<double>(s.spatial_scale);
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const Extent x = extent(kind, static_cast<double>(s.w), random), y = extent(kind, static_cast<double>(s.h), random);
    const double image = static_cast<double>(random.integer(0, s.batch - 1));
    const bool turned = kind == "straight" && random.chance(0.5);
    const double aside = kind == "straight" && (turned || !exact(s)) ? 1.0 / 64 : 0;
    const double angle = kind == "straight" ? (turned ? std::acos(0.0) : 0) : random.real(-4, 4);
    for (const double number :
         {image, (x.centre + aside) / scale, (y.centre + aside) / scale, x.size / scale, y.size / scale, angle}) {
      rois.push_back(number);
    }
  }
  return admissible(t, std::move(rois));
}

Description describe(const Case& text, const Shape& s, TensorSpec input, TensorSpec output) {
  Description d;
  d.scalars = {scalar_of(text, "scale", s.dtype)};
  d.tensors = {std::move(input),
               {.name = "rois", .dtype = s.dtype, .dims = {s.rois, 6}, .fill = given(make_rois(text, s))},
               std::move(output)};
  d.tensors[2].term_size = 1;
  const double samples = std::max(1, s.sample_ratio * s.sample_ratio);
  d.flops = 8 * samples * static_cast<double>(s.rois * s.pooled_h * s.pooled_w * s.c);
  return d;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, image("features", s, uniform(-1, 1, text.seed("map"))), bins("output", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiAlignRotatedForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, static_cast<int>(s.pooled_h),
                                       static_cast<int>(s.pooled_w), s.sample_ratio, s.spatial_scale, s.aligned != 0,
                                       s.clockwise != 0, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::roi_align_rotated_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, bins("top_grad", s, uniform(-1, 1, text.seed("grads"))), image("bottom_grad", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiAlignRotatedBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data,
                                        static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w), s.sample_ratio,
                                        s.spatial_scale, s.aligned != 0, s.clockwise != 0, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::roi_align_rotated_backward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Cases smallest() {
  return list(
      {"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 rois=inside", "b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"});
}

Cases document() {
  return list({
      "b=1 h=4 w=4 c=1 r=1 ph=2 pw=2 scale=1 rois=inside aligned=0",  // mmcv's tests
      "b=1 h=50 w=84 c=24 r=40",                                      // Oriented R-CNN on one level, 24 of 256 channels
      "b=2 h=25 w=42 c=32 r=24 scale=0.03125 clockwise=1",
  });
}

Cases edge() {
  return list({
      "b=1 h=1 w=9 c=5 r=4 ph=2 pw=3 scale=1 rois=inside ratio=0",
      "b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 rois=straight",
      "b=1 h=8 w=9 c=7 r=24 ph=2 pw=3 scale=0.5 rois=straight aligned=0 ratio=0",
      "b=2 h=7 w=6 c=13 r=19 ph=3 pw=2 scale=0.5 rois=far ratio=0 clockwise=1",
      "b=2 h=61 w=67 c=7 r=2 ph=2 pw=3 scale=0.25 rois=inside ratio=1",  // a few points of a large map
      "b=2 h=61 w=67 c=21 r=2 ph=2 pw=3 scale=0.25 rois=inside ratio=1",
      "b=1 h=9 w=8 c=6 r=5 ph=3 pw=3 scale=1 rois=huge ratio=0",  // many more samples than there are pixels
      "b=1 h=6 w=37 c=70 r=5 ph=4 pw=6 scale=0.25 rois=huge ratio=3",
      "b=1 h=9 w=8 c=6 r=29 ph=3 pw=3 scale=1 rois=special",
      "b=1 h=9 w=8 c=6 r=29 ph=3 pw=3 scale=1 rois=special ratio=0 aligned=0",
      "b=3 h=4 w=40 c=3 r=3 ph=2 pw=17 scale=1 rois=inside ratio=7",
      "b=1 h=5 w=5 c=4 r=3 ph=2 pw=2 scale=0 rois=inside ratio=0",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "far", "straight", "special"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 9)).set("scale", random.pick(scales));
  c.set("ratio", random.integer(0, 3)).set("aligned", random.integer(0, 1)).set("clockwise", random.integer(0, 1));
  return c.set("rois", random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 r=64 scale=1", "b=2 h=60 w=50 c=34 r=150 ph=5 pw=5 scale=1 ratio=0"});
}

Cases network() {
  return list({"b=1 h=50 w=84 c=256 r=512", "b=1 h=256 w=256 c=256 r=512 scale=0.25", "b=2 h=64 w=64 c=256 r=256"});
}

// Sums of halves in memory are exact enough for 15 samples a pixel (docs/accuracy.md). A RoI without a ratio has about
// one sample a pixel, and one more a bin.
bool backward_in_half(const Case& t) {
  const Shape s = shape_of(t, MLUOP_DTYPE_HALF);
  const double grid = s.sample_ratio;
  const double of_roi = s.sample_ratio > 0 ? grid * grid * static_cast<double>(s.pooled_h * s.pooled_w)
                                           : static_cast<double>((s.h + s.pooled_h) * (s.w + s.pooled_w));
  return static_cast<double>(s.rois) * of_roi <= 15 * static_cast<double>(s.batch * s.h * s.w);
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=50 w=84 c=64 r=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "c"), growth_of(base, "r")};
}

}  // namespace

std::vector<OperatorCases> roi_align_rotated_operators() {
  OperatorCases align = {.op = "roi_align_rotated_forward",
                         .function = "mluOpRoiAlignRotatedForward",
                         .parameters = kParameters,
                         .describe = forward,
                         .smallest = smallest,
                         .document = document,
                         .edge = edge,
                         .random = random_case,
                         .large = large,
                         .network = network,
                         .coordinates = true,
                         .reducible = {"r"},
                         .growth = growth};
  OperatorCases gradient = align;
  gradient.op = "roi_align_rotated_backward";
  gradient.function = "mluOpRoiAlignRotatedBackward";
  gradient.describe = backward;
  gradient.meaningful_in_half = backward_in_half;
  return {align, gradient};
}

}  // namespace mluops::cases
