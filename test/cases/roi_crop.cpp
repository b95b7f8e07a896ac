#include "test/reference/roi_crop.h"

#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsRoiCropShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "38", "height of an image"},
    {"w", "63", "width of an image"},
    {"c", "256", "channels"},
    {"grids", "32", "grids of an image"},
    {"oh", "14", "points of a grid down"},
    {"ow", "14", "points of a grid across"},
    {"grid", "boxes",
     "boxes (regular points of a box of the image) | inside | pixels (whole and half pixels, borders) | far | special "
     "(NaN, infinite)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,        t.size("b"), t.size("h"), t.size("w"), t.size("c"), t.size("b") * t.size("grids"),
          t.size("oh"), t.size("ow")};
}

Fill grids(const Case& t, const Shape& s) {
  const std::string kind = t.word("grid");
  const std::uint64_t seed = t.seed("grid");
  if (kind == "inside") return uniform(-1, 1, seed);
  if (kind == "far") return uniform(-3, 3, seed);
  if (kind == "special") {
    return [seed](std::int64_t i) {
      const double infinity = std::numeric_limits<double>::infinity();
      const double far[] = {std::nan(""), infinity, -infinity, 1e30};
      const double at = unit_random(seed, i);
      return at < 0.1 ? far[i % 4] : 2 * at - 1;
    };
  }
  const std::int64_t points = s.out_h * s.out_w;
  if (kind == "pixels") {
    return [=](std::int64_t i) {
      const double size = static_cast<double>(i % 2 == 0 ? s.h : s.w);
      const double pixel = std::floor(unit_random(seed, i) * (2 * size + 3)) / 2 - 1;
      return size > 1 ? 2 * pixel / (size - 1) - 1 : pixel;
    };
  }
  return [=, across = s.out_w, down = s.out_h](std::int64_t i) {
    const std::int64_t grid = i / 2 / points, axis = i % 2, at = i / 2 % points;
    const double low = 2 * unit_random(seed, grid * 4 + axis) - 1,
                 high = 2 * unit_random(seed, grid * 4 + 2 + axis) - 1;
    const double step = static_cast<double>(axis == 0 ? at / across : at % across);
    return low + (high - low) * step / static_cast<double>(axis == 0 ? down : across);
  };
}

TensorSpec samples(const char* name, const Shape& s, Fill fill = {}) {
  return {.name = name,
          .layout = MLUOP_LAYOUT_NHWC,
          .dtype = s.dtype,
          .dims = {s.grids, s.out_h, s.out_w, s.c},
          .fill = std::move(fill)};
}

Description describe(const Case& text, const Shape& s, TensorSpec from, TensorSpec to) {
  Description d;
  d.tensors = {std::move(from),
               {.name = "grid",
                .dtype = s.dtype,
                .dims = {s.grids, s.out_h, s.out_w, 2},
                .fill = admissible(text, grids(text, s))},
               std::move(to)};
  d.tensors[2].term_size = 1;
  d.flops = 8 * static_cast<double>(s.grids * s.out_h * s.out_w * s.c);
  return d;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d = describe(text, s, image("input", s, uniform(-1, 1, text.seed("map"))), samples("output", s));
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiCropForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    return std::vector<Values>{reference::roi_crop_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC}, coordinates)};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d =
      describe(text, s, samples("grad_output", s, uniform(-1, 1, text.seed("grads"))), image("grad_input", s));
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpRoiCropBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    return std::vector<Values>{
        reference::roi_crop_backward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC}, coordinates)};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 h=1 w=1 c=1 grids=1 oh=1 ow=1 grid=inside", "b=2 h=6 w=7 c=5 grids=3 oh=2 ow=4 grid=inside"});
}

Cases document() {
  return list({
      "b=2 h=14 w=14 c=16 grids=4 oh=7 ow=7 grid=inside",  // of the size of the vendor's tests
      "b=1 h=38 w=63 c=24 grids=16",                       // Faster R-CNN, 24 of 256 channels
  });
}

Cases edge() {
  return list({
      "b=1 h=1 w=9 c=5 grids=4 oh=3 ow=2 grid=pixels",
      "b=1 h=8 w=9 c=7 grids=9 oh=4 ow=5 grid=pixels",
      "b=3 h=7 w=6 c=13 grids=2 oh=3 ow=1 grid=far",
      "b=1 h=9 w=8 c=70 grids=5 oh=3 ow=3 grid=special",
      "b=2 h=5 w=1 c=3 grids=1 oh=9 ow=9 grid=far",
      "b=1 h=6 w=5 c=300 grids=2 oh=2 ow=2 grid=inside",
      "b=2 h=61 w=67 c=7 grids=1 oh=3 ow=2 grid=inside",  // a few points of a large map
      "b=2 h=61 w=67 c=21 grids=1 oh=3 ow=2 grid=inside",
      "b=2 h=13 w=11 c=1 grids=3 oh=9 ow=9 grid=pixels",  // more points of a grid than are found together
      "b=1 h=13 w=11 c=3 grids=3 oh=9 ow=9 grid=special",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"boxes", "inside", "pixels", "far", "special"};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("grids", random.integer(1, 5));
  return c.set("oh", random.integer(1, 8)).set("ow", random.integer(1, 8)).set("grid", random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 grids=150 oh=7 ow=7", "b=2 h=30 w=50 c=34 grids=200 oh=5 ow=5 grid=inside"});
}

Cases network() {
  return list(
      {"b=1 h=38 w=63 c=512 grids=128", "b=2 h=50 w=84 c=256 grids=128", "b=1 h=38 w=63 c=256 grids=300 oh=7 ow=7"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=1 h=38 w=63 c=64 grids=16"})[0];
  return {growth_of(base, "b"), growth_of(base, "c"), growth_of(base, "grids")};
}

}  // namespace

std::vector<OperatorCases> roi_crop_operators() {
  OperatorCases crop = {.op = "roi_crop_forward",
                        .function = "mluOpRoiCropForward",
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
                        .reducible = {"grids"},
                        .growth = growth};
  OperatorCases gradient = crop;
  gradient.op = "roi_crop_backward";
  gradient.function = "mluOpRoiCropBackward";
  gradient.describe = backward;
  return {crop, gradient};
}

}  // namespace mluops::cases
