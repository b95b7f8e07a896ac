#include "test/reference/prroi_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsPrRoiPoolShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "50", "height of the map"},
    {"w", "84", "width of the map"},
    {"c", "256", "channels"},
    {"r", "32", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"rois", "network",
     "network (a side of 7 to 28 pixels of the map) | inside | far | whole (whole and half pixels) | small (a tenth of "
     "a pixel) | huge (many times the map) | special (NaN, infinite, without length, turned, beyond all measure)"},
};

std::vector<Parameter> with_grads() {
  std::vector<Parameter> all = kParameters;
  all.push_back({"grads", "both", "both | image | rois: the gradients that are asked for"});
  return all;
}

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,        t.size("b"),  t.size("h"),
          t.size("w"),  t.size("c"),  t.size("r"),
          t.size("ph"), t.size("pw"), static_cast<float>(t.real("scale"))};
}

struct Ends {
  double low, high;  // in pixels of the map
};

Ends around(double centre, double size) {
  return {centre - size / 2, centre + size / 2};
}

Ends special(double size, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double numbers[] = {std::nan(""), infinity, -infinity, 3e30};
  const double low = random.real(0, size);
  if (random.chance(0.3)) return {low, random.chance(0.5) ? low : low - random.real(1, size + 1)};
  return random.chance(0.5) ? Ends{random.pick(numbers), low} : Ends{low, random.pick(numbers)};
}

Ends ends(const std::string& kind, double size, Random& random) {
  if (kind == "far") return around(random.real(-3 * size - 8, 4 * size + 8), random.real(0.1, size + 1));
  if (kind == "whole") {
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 2)) / 2;
    return {low, low + static_cast<double>(random.integer(1, 9)) / 2};
  }
  if (kind == "small") return around(random.real(-1, size), 0.1);
  if (kind == "huge") return around(random.real(0, size), random.real(2 * size, 20 * size));
  if (kind == "special" && random.chance(0.3)) return special(size, random);
  return around(random.real(0, size), kind == "network" ? random.real(7, 28) : random.real(0.2, std::max(0.4, size)));
}

// [rois,5], as the tensor holds them.
Values make_rois(const Case& t, const Shape& s) {
  const std::string kind = t.word("rois");
  const double scale = static_cast<double>(s.spatial_scale);
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const Ends x = ends(kind, static_cast<double>(s.w), random), y = ends(kind, static_cast<double>(s.h), random);
    const double image = static_cast<double>(random.integer(0, s.batch - 1));
    for (const double number : {image, x.low / scale, y.low / scale, x.high / scale, y.high / scale}) {
      rois.push_back(number);
    }
  }
  return admissible(t, std::move(rois));
}

TensorSpec input(const Case& text, const Shape& s) {
  return image("input", s, uniform(-1, 1, text.seed("input")));
}

TensorSpec rois(const Case& text, const Shape& s) {
  return {.name = "rois", .dtype = s.dtype, .dims = {s.rois, 5}, .fill = given(make_rois(text, s))};
}

// A bin of the usual RoI reaches a dozen pixels.
double flops(const Shape& s) {
  return 2 * 12 * static_cast<double>(s.rois * s.pooled_h * s.pooled_w * s.c);
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.scalars = {scalar_of(text, "scale", dtype)};
  d.tensors = {input(text, s), rois(text, s), bins("output", s)};
  d.tensors[2].term_size = 1;
  d.flops = flops(s);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtPrRoiPoolForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.spatial_scale, t[2].desc,
                                    t[2].data);
  };
  d.reference = [s, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::prroi_pool_forward({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, scale})};
  };
  return d;
}

// The slopes of hats are at most 1, and so are pixels and gradients, whose products over all bins and channels cancel.
double rois_term(const Shape& s) {
  return std::fabs(static_cast<double>(s.spatial_scale)) *
         std::sqrt(static_cast<double>(s.c * s.pooled_h * s.pooled_w));
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const bool of_image = text.word("grads") != "rois", of_rois = text.word("grads") != "image";
  Description d;
  d.scalars = {scalar_of(text, "scale", dtype)};
  d.tensors = {
      bins("grad_output", s, uniform(-1, 1, text.seed("grads"))),
      input(text, s),
      rois(text, s),
  };
  if (!of_rois) d.tensors[1].touched = 0;
  if (of_image) d.tensors.push_back(image("grad_input", s));
  if (of_image) d.tensors.back().term_size = 1;
  if (of_rois) d.tensors.push_back({.name = "grad_rois", .dtype = dtype, .dims = {s.rois, 5}});
  if (of_rois) d.tensors.back().term_size = rois_term(s);
  d.flops = flops(s) * (of_image && of_rois ? 2 : 1);
  d.call = [=](mluOpHandle_t handle, const Arguments& t) {
    const Argument grads_image = of_image ? t[3] : Argument{}, grads_rois = of_rois ? t.back() : Argument{};
    return mluOpExtPrRoiPoolBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                     s.spatial_scale, grads_image.desc, grads_image.data, grads_rois.desc,
                                     grads_rois.data);
  };
  d.reference = [=, scale = d.scalars[0]](const Inputs& in, Coordinates) {
    reference::PrRoiPoolGradients g =
        reference::prroi_pool_backward({s, in[0], in[1], in[2], nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale});
    std::vector<Values> outputs;
    if (of_image) outputs.push_back(std::move(g.input));
    if (of_rois) outputs.push_back(std::move(g.rois));
    return outputs;
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list(
      {"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 rois=inside", "b=2 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 rois=inside"});
}

Cases document() {
  return list({
      "b=1 h=4 w=4 c=1 r=1 ph=2 pw=2 scale=1 rois=whole",  // mmcv's tests
      "b=1 h=50 w=84 c=24 r=40",                           // a level of IoU-Net's pyramid, 24 of 256 channels
      "b=2 h=25 w=42 c=32 r=24 scale=0.03125",
      "b=1 h=18 w=18 c=64 r=10 ph=5 pw=5",  // a tracker's proposals (DiMP)
  });
}

Cases edge() {
  return list({
      "b=1 h=1 w=9 c=5 r=4 ph=2 pw=3 scale=1 rois=inside",
      "b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 rois=whole",
      "b=2 h=7 w=6 c=13 r=19 ph=3 pw=2 scale=0.5 rois=far",
      "b=1 h=8 w=9 c=7 r=24 ph=2 pw=3 scale=0.5 rois=small",
      "b=2 h=61 w=67 c=7 r=2 ph=2 pw=3 scale=1 rois=small",  // a few pixels of a large map
      "b=2 h=61 w=67 c=21 r=2 ph=2 pw=3 scale=1 rois=small",
      "b=1 h=9 w=8 c=6 r=5 ph=3 pw=3 scale=1 rois=huge",  // bins larger than the map
      "b=1 h=6 w=137 c=70 r=5 ph=2 pw=1 scale=0.25 rois=huge",
      "b=1 h=9 w=8 c=6 r=39 ph=3 pw=3 scale=1 rois=special",
      "b=3 h=4 w=40 c=3 r=3 ph=2 pw=17 scale=1 rois=inside",
      "b=1 h=5 w=5 c=1031 r=3 ph=1 pw=1 scale=1 rois=inside",
      "b=1 h=5 w=5 c=1 r=3 ph=3 pw=2 scale=1 rois=inside",
      "b=1 h=5 w=6 c=4 r=3 ph=2 pw=2 scale=0 rois=inside",
      "b=1 h=5 w=6 c=4 r=3 ph=2 pw=2 scale=-1 rois=inside",
  });
}

Cases of_some_gradients(const Cases& cases) {
  return joined(cases, each(list({"b=2 h=9 w=8 c=7 r=6 ph=3 pw=3 scale=1 rois=inside"}), "grads", {"image", "rois"}));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "far", "whole", "small", "special"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 90)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 9)).set("scale", random.pick(scales));
  return c.set("rois", random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 r=64 scale=1", "b=2 h=60 w=50 c=34 r=150 ph=5 pw=5 scale=1"});
}

Cases network() {
  return list({"b=1 h=50 w=84 c=256 r=512", "b=1 h=200 w=336 c=256 r=512 scale=0.25", "b=2 h=64 w=64 c=256 r=256"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=50 w=84 c=64 r=64"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "c"), growth_of(base, "r")};
}

}  // namespace

std::vector<OperatorCases> prroi_pool_operators() {
  OperatorCases pool = {.op = "prroi_pool_forward",
                        .function = "mluOpExtPrRoiPoolForward",
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
  OperatorCases gradient = pool;
  gradient.op = "prroi_pool_backward";
  gradient.function = "mluOpExtPrRoiPoolBackward";
  gradient.parameters = with_grads();
  gradient.describe = backward;
  gradient.edge = [] { return of_some_gradients(edge()); };
  return {pool, gradient};
}

}  // namespace mluops::cases
