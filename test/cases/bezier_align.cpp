#include "test/reference/bezier_align.h"

#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsBezierAlignShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "64", "height of the map"},
    {"w", "64", "width of the map"},
    {"c", "256", "channels"},
    {"r", "32", "regions"},
    {"ph", "8", "bins of a region along y"},
    {"pw", "32", "bins of a region along x"},
    {"scale", "0.25", "pixels of the map by pixels of the image"},
    {"ratio", "0", "samples of a bin along an axis; 0: its size, rounded up"},
    {"aligned", "1", "1: moved by half a pixel"},
    {"rois", "network",
     "network (lines of text, 16 to 40 pixels of the map long) | inside | far | straight (whole and half pixels) | "
     "huge "
     "(many times the map) | special (NaN, infinite)"},
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
          t.integer("aligned")};
}

// A coordinate, in pixels of the map, of a control point that may be anywhere.
double coordinate(const std::string& kind, double size, Random& random) {
  if (kind == "far") return random.real(-3 * size - 8, 4 * size + 8);
  if (kind == "straight") return static_cast<double>(random.integer(0, 2 * static_cast<std::int64_t>(size))) / 2 + 0.25;
  if (kind == "huge") return random.real(-10 * size, 10 * size);
  if (kind == "special" && random.chance(0.05)) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double choices[] = {std::nan(""), infinity, -infinity};
    return random.pick(choices);
  }
  return random.real(0, size);
}

// x and y of the eight points of a line of text: two arcs one above the other.
Values line_of_text(const Shape& s, Random& random) {
  const double length = random.real(16, 40), thick = random.real(3, 8), bent = random.real(-6, 6);
  const double left = random.real(0, static_cast<double>(s.w)) - length / 4;
  const double top = random.real(0, static_cast<double>(s.h)), slope = random.real(-0.3, 0.3);
  Values points;
  for (int i = 0; i < 8; ++i) {
    const double along = static_cast<double>(i < 4 ? i : 7 - i) / 3;
    points.push_back(left + along * length);
    points.push_back(top + along * slope * length + 4 * along * (1 - along) * bent + (i < 4 ? 0 : thick));
  }
  return points;
}

// [rois,17], as the tensor holds them.
Values make_beziers(const Case& t, const Shape& s) {
  const std::string kind = t.word("rois");
  const double scale = s.spatial_scale != 0 ? static_cast<double>(s.spatial_scale) : 1;
  Random random(t.seed("rois"));
  Values beziers;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    beziers.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
    Values points;
    for (int i = 0; i < 16; ++i) {
      points.push_back(coordinate(kind, static_cast<double>(i % 2 == 0 ? s.w : s.h), random));
    }
    if (kind == "network") points = line_of_text(s, random);
    for (const double number : points) beziers.push_back(number / scale);
  }
  return admissible(t, std::move(beziers));
}

Description describe(const Case& text, const Shape& s, TensorSpec input, TensorSpec output) {
  Description d;
  d.scalars = {scalar_of(text, "scale", s.dtype)};
  d.tensors = {std::move(input),
               {.name = "beziers", .dtype = s.dtype, .dims = {s.rois, 17}, .fill = given(make_beziers(text, s))},
               std::move(output)};
  d.tensors[2].term_size = 1;
  const double samples = std::max(1, s.sampling_ratio * s.sampling_ratio);
  d.flops = 8 * samples * static_cast<double>(s.rois * s.pooled_h * s.pooled_w * s.c);
  return d;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, image("input", s, uniform(-1, 1, text.seed("map"))), bins("output", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtBezierAlignForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.spatial_scale,
                                      s.sampling_ratio, s.aligned != 0, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::bezier_align_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, bins("grad_output", s, uniform(-1, 1, text.seed("grads"))), image("grad_input", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtBezierAlignBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.spatial_scale,
                                       s.sampling_ratio, s.aligned != 0, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::bezier_align_backward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Cases smallest() {
  return list(
      {"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 rois=inside", "b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"});
}

Cases document() {
  return list({
      "b=1 h=4 w=4 c=1 r=1 ph=4 pw=4 scale=1 ratio=1 rois=inside aligned=0",  // mmcv's tests
      "b=1 h=64 w=64 c=24 r=20",                                              // ABCNet on one level, 24 of 256 channels
      "b=2 h=32 w=40 c=32 r=12 scale=0.125 ratio=2",
  });
}

Cases edge() {
  return list({
      "b=1 h=1 w=9 c=5 r=4 ph=2 pw=3 scale=1 rois=inside",
      "b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 rois=straight",
      "b=1 h=8 w=9 c=7 r=24 ph=2 pw=4 scale=0.5 rois=straight aligned=0 ratio=2",
      "b=2 h=7 w=6 c=13 r=19 ph=3 pw=2 scale=0.5 rois=far",
      "b=2 h=61 w=67 c=7 r=2 ph=2 pw=3 scale=0.25 rois=inside ratio=1",  // a few points of a large map
      "b=2 h=61 w=67 c=21 r=2 ph=2 pw=3 scale=0.25 rois=inside ratio=1",
      "b=1 h=9 w=8 c=6 r=5 ph=3 pw=3 scale=1 rois=huge",  // many more samples than there are pixels
      "b=1 h=6 w=37 c=70 r=5 ph=4 pw=6 scale=0.25 rois=huge ratio=3",
      "b=1 h=9 w=8 c=6 r=29 ph=3 pw=3 scale=1 rois=special ratio=2",
      "b=1 h=9 w=8 c=6 r=29 ph=3 pw=3 scale=1 rois=special aligned=0",
      "b=3 h=4 w=40 c=3 r=3 ph=2 pw=17 scale=1 rois=inside ratio=7",
      "b=1 h=5 w=5 c=4 r=3 ph=2 pw=2 scale=0 rois=inside",
      "b=1 h=5 w=5 c=4 r=3 ph=2 pw=2 scale=-1 rois=inside ratio=2",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "far", "network", "special"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 9)).set("scale", random.pick(scales));
  c.set("ratio", random.integer(0, 3)).set("aligned", random.integer(0, 1));
  return c.set("rois", random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 r=24 scale=1", "b=2 h=60 w=50 c=34 r=50 ph=5 pw=12 scale=1 ratio=2"});
}

Cases network() {
  return list({"b=1 h=64 w=64 c=256 r=32", "b=2 h=64 w=64 c=256 r=100", "b=1 h=160 w=160 c=256 r=100"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=32 w=42 c=64 r=16"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "c"), growth_of(base, "r")};
}

}  // namespace

std::vector<OperatorCases> bezier_align_operators() {
  OperatorCases align = {.op = "bezier_align_forward",
                         .function = "mluOpExtBezierAlignForward",
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
  gradient.op = "bezier_align_backward";
  gradient.function = "mluOpExtBezierAlignBackward";
  gradient.describe = backward;
  return {align, gradient};
}

}  // namespace mluops::cases
