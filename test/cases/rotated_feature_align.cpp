#include "test/reference/rotated_feature_align.h"

#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsRotatedFeatureAlignShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "32", "height of the map"},
    {"w", "32", "width of the map"},
    {"c", "256", "channels"},
    {"scale", "0.125", "pixels of the map by pixels of the image"},
    {"points", "5", "1: the centre of a box; 5: the corners too"},
    {"boxes", "network",
     "network (about the pixel, 1 to 12 pixels of the map large) | any | far | straight (quarters of pixels, no "
     "rotation) | one (all the same) | special (NaN, infinite)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,
          t.size("b"),
          t.size("h"),
          t.size("w"),
          t.size("c"),
          static_cast<float>(t.real("scale")),
          t.integer("points")};
}

// The box of the pixel (y, x), in pixels of the map.
Values make_box(const std::string& kind, const Shape& s, double y, double x, Random& random) {
  const double h = static_cast<double>(s.h), w = static_cast<double>(s.w),
               infinity = std::numeric_limits<double>::infinity();
  Values box = {y + random.real(-3, 3), x + random.real(-3, 3), random.real(1, 12), random.real(1, 12),
                random.real(-2, 2)};
  if (kind == "any") box = {random.real(0, h), random.real(0, w), random.real(0, w), random.real(0, h), box[4]};
  if (kind == "far") box = {random.real(-3 * h - 8, 4 * h + 8), random.real(-3 * w - 8, 4 * w + 8), w, h, box[4]};
  if (kind == "straight") {
    for (double& number : box) number = std::floor(number) + 0.25;
    box[4] = 0;
  }
  if (kind == "one") return {h / 2, w / 3, 2.5, 1.5, 0.5};
  if (kind == "special" && random.chance(0.5)) {
    const double choices[] = {std::nan(""), infinity, -infinity};
    box[static_cast<std::size_t>(random.integer(0, 4))] = random.pick(choices);
  }
  return box;
}

// [batch,h,w,5], as the tensor holds them.
Values make_boxes(const Case& t, const Shape& s) {
  const double scale = s.spatial_scale != 0 ? static_cast<double>(s.spatial_scale) : 1;
  Random random(t.seed("boxes"));
  Values boxes;
  for (std::int64_t pixel = 0; pixel < s.batch * s.h * s.w; ++pixel) {
    const Values box =
        make_box(t.word("boxes"), s, static_cast<double>(pixel / s.w % s.h), static_cast<double>(pixel % s.w), random);
    for (std::size_t i = 0; i < 5; ++i) boxes.push_back(i < 4 ? box[i] / scale : box[i]);
  }
  return admissible(t, std::move(boxes));
}

Description describe(const Case& text, const Shape& s, TensorSpec input, TensorSpec output) {
  Description d;
  d.scalars = {scalar_of(text, "scale", s.dtype)};
  d.tensors = {std::move(input),
               {.name = "bboxes", .dtype = s.dtype, .dims = {s.batch, s.h, s.w, 5}, .fill = given(make_boxes(text, s))},
               std::move(output)};
  d.tensors[2].term_size = 1;
  d.flops = 8 * static_cast<double>(s.points * s.batch * s.h * s.w * s.c);
  return d;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, image("input", s, uniform(-1, 1, text.seed("map"))), image("output", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtRotatedFeatureAlignForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.spatial_scale,
                                              s.points, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::rotated_feature_align_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d =
      describe(text, s, image("grad_output", s, uniform(-1, 1, text.seed("grads"))), image("grad_input", s));
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtRotatedFeatureAlignBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.spatial_scale,
                                               s.points, t[2].desc, t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{
        reference::rotated_feature_align_backward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 h=1 w=1 c=1 scale=1 boxes=any", "b=2 h=3 w=4 c=6 scale=1 boxes=any"});
}

Cases document() {
  return list({
      "b=1 h=2 w=2 c=1 points=1 boxes=any",  // mmcv's tests
      "b=1 h=2 w=2 c=1 points=5 boxes=any",
      "b=1 h=32 w=32 c=24",  // R3Det on one level, 24 of 256 channels
      "b=2 h=16 w=20 c=40 points=1",
  });
}

Cases edge() {
  return list({
      "b=1 h=1 w=9 c=5 scale=1 boxes=any",
      "b=1 h=9 w=1 c=5 scale=1 boxes=any points=1",
      "b=2 h=8 w=9 c=5 scale=0.5 boxes=straight",
      "b=1 h=8 w=9 c=7 boxes=straight points=1",
      "b=2 h=7 w=6 c=13 scale=0.5 boxes=far",
      "b=1 h=9 w=8 c=70 boxes=one",
      "b=1 h=9 w=8 c=6 boxes=special",
      "b=1 h=9 w=8 c=6 boxes=special points=1",
      "b=1 h=5 w=5 c=300 scale=0",
      "b=1 h=5 w=5 c=4 scale=-1 boxes=any",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"network", "any", "far", "one", "special"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 8 : 16;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("scale", random.pick(scales));
  return c.set("points", random.chance(0.5) ? 1 : 5).set("boxes", random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64", "b=2 h=60 w=80 c=66 points=1"});
}

Cases network() {
  return list({"b=2 h=32 w=32 c=256", "b=2 h=128 w=128 c=256 points=1", "b=2 h=128 w=128 c=256"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=32 w=32 c=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "c")};
}

}  // namespace

std::vector<OperatorCases> rotated_feature_align_operators() {
  OperatorCases align = {.op = "rotated_feature_align_forward",
                         .function = "mluOpExtRotatedFeatureAlignForward",
                         .parameters = kParameters,
                         .describe = forward,
                         .smallest = smallest,
                         .document = document,
                         .edge = edge,
                         .random = random_case,
                         .large = large,
                         .network = network,
                         .coordinates = true,
                         .reducible = {"h", "w"},
                         .growth = growth};
  OperatorCases gradient = align;
  gradient.op = "rotated_feature_align_backward";
  gradient.function = "mluOpExtRotatedFeatureAlignBackward";
  gradient.describe = backward;
  return {align, gradient};
}

}  // namespace mluops::cases
