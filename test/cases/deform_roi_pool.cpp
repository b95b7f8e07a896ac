#include <algorithm>
#include <cmath>

#include "test/cases/base/images.h"
#include "test/cases/base/touched.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsDeformRoiPoolShape;

const std::vector<Parameter> kParameters = {
    {"b", "2", "images"},
    {"h", "50", "height of the map"},
    {"w", "76", "width of the map"},
    {"c", "256", "channels"},
    {"r", "11", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"ratio", "2", "samples of a bin along an axis; 0 or less: as many as it has pixels"},
    {"gamma", "0.1", "factor of the offsets"},
    {"offset", "1", "1 with, 0 without offsets"},
    {"rois", "network",
     "network (16 pixels of the image and more) | inside | far | thin | inverted | mixed | edge (corners on dyadic "
     "positions from -1.5 to size+0.5)"},
    {"spread", "1", "of network RoIs: 1 all over the image, towards 0 all on one spot"},
    {"size", "0", "largest side of the other RoIs in pixels of the map; 0: the map's"},
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
          static_cast<float>(t.real("gamma")),
          t.integer("ratio")};
}

// ---- RoIs and offsets ----

struct Extent {
  double low, high;  // in pixels of the map
};

// One axis of one RoI.
Extent extent(const std::string& kind, double size, double largest, Random& random) {
  if (kind == "far") {
    const double start = random.real(-3 * size - 8, 4 * size + 8);
    return {start, start + random.real(0, largest)};
  }
  if (kind == "edge") {
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    const double high = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    return {std::min(low, high), std::max(low, high)};
  }
  const double start = random.real(-0.5, size - 0.5);
  if (kind == "thin") return {start, random.chance(0.5) ? start : start + random.real(0, 0.2)};
  if (kind == "inverted") return {start, start - random.real(0, largest)};
  return {start, std::min(size, start + random.real(0, largest))};
}

void add_roi(Values& rois, const std::string& kind, const Case& t, const Shape& s, Random& random) {
  const double width = static_cast<double>(s.w), height = static_cast<double>(s.h), size = t.real("size");
  const Extent x = extent(kind, width, size > 0 ? size : width, random);
  const Extent y = extent(kind, height, size > 0 ? size : height, random);
  rois.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
  for (double corner : {x.low, y.low, x.high, y.high}) {
    rois.push_back((corner + 0.5) / static_cast<double>(s.spatial_scale));
  }
}

// A RoI of 16 pixels to a third of the image; the corners lie in the upper left 60 % times `spread`.
void add_network_roi(Values& rois, double spread, const Shape& s, Random& random) {
  const double scale = static_cast<double>(s.spatial_scale);
  const double height = static_cast<double>(s.h) / scale, width = static_cast<double>(s.w) / scale;
  const double image = static_cast<double>(random.integer(0, s.batch - 1));
  const double x = random.unit() * width * 0.6 * spread, y = random.unit() * height * 0.6 * spread;
  const double right = x + 16 + random.unit() * width * 0.35, bottom = y + 16 + random.unit() * height * 0.35;
  rois.insert(rois.end(), {image, x, y, right, bottom});
}

// [rois,5], as the tensor holds them.
Values make_rois(const Case& t, const Shape& s) {
  const std::string kinds[] = {"inside", "inside", "far", "thin", "inverted", "edge"}, kind = t.word("rois");
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    if (kind == "network") {
      add_network_roi(rois, t.real("spread"), s, random);
    } else {
      add_roi(rois, kind == "mixed" ? random.pick(kinds) : kind, t, s, random);
    }
  }
  rois = admissible(t, std::move(rois));
  for (double& v : rois) v = rounded(s.dtype, v);
  return rois;
}

Fill offsets(const Case& t) {
  return admissible(t, uniform(-1.5, 1.5, t.seed("offset")));
}

// ---- what is read ----

/// 0 for a bin that is not a number, or enormous.
int grid_of(const Shape& s, double bin_size) {
  if (s.sampling_ratio > 0) return s.sampling_ratio;
  return bin_size > 0 && bin_size < 1e6 ? static_cast<int>(std::ceil(bin_size)) : 0;
}

// All samples of one RoI, bin by bin. `offset`: of the RoI's element i, x before y; none: no offsets.
void touch_roi(TouchedPixels& touched, const Shape& s, const double* roi, const Fill& offset) {
  const double scale = static_cast<double>(s.spatial_scale), gamma = static_cast<double>(s.gamma);
  const double x0 = roi[1] * scale - 0.5, y0 = roi[2] * scale - 0.5;
  const double width = roi[3] * scale - 0.5 - x0, height = roi[4] * scale - 0.5 - y0;
  const double bin_h = height / static_cast<double>(s.pooled_h), bin_w = width / static_cast<double>(s.pooled_w);
  const int rows = grid_of(s, bin_h), columns = grid_of(s, bin_w);
  const std::int64_t bins = s.pooled_h * s.pooled_w;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const double dx = offset ? gamma * width * offset(bin) : 0, dy = offset ? gamma * height * offset(bins + bin) : 0;
    const double top = y0 + dy + static_cast<double>(bin / s.pooled_w) * bin_h;
    const double left = x0 + dx + static_cast<double>(bin % s.pooled_w) * bin_w;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        touched.sample(static_cast<std::int64_t>(roi[0]), top + (i + 0.5) / rows * bin_h,
                       left + (j + 0.5) / columns * bin_w);
      }
    }
  }
}

TouchedPixels touch(const Case& t, const Shape& s, const Values& rois) {
  TouchedPixels touched(s.batch, s.h, s.w);
  const Fill all = t.count("offset") != 0 ? offsets(t) : Fill{};
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const std::int64_t first = r * 2 * s.pooled_h * s.pooled_w;
    const Fill own = all ? Fill([&, first](std::int64_t i) { return all(first + i); }) : Fill{};
    touch_roi(touched, s, &rois[static_cast<std::size_t>(5 * r)], own);
  }
  return touched;
}

// ---- calls ----

// Input, rois and, if the case has them, offset: what both directions read.
std::vector<TensorSpec> inputs(const Case& text, const Shape& s, const Values& rois) {
  const mluOpDataType_t dtype = s.dtype;
  std::vector<TensorSpec> t = {image("input", s, uniform(-1, 1, text.seed("input"))),
                               {.name = "rois", .dtype = dtype, .dims = {s.rois, 5}, .fill = given(rois)}};
  if (text.count("offset") == 0) return t;
  t.push_back({.name = "offset",
               .layout = MLUOP_LAYOUT_NCHW,
               .dtype = dtype,
               .dims = {s.rois, 2, s.pooled_h, s.pooled_w},
               .fill = offsets(text)});
  t.back().optional = true;
  return t;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const TouchedPixels touched = touch(text, s, rois);
  const bool shifted = text.count("offset") != 0;
  const double scale = scalar_of(text, "scale", dtype), gamma = scalar_of(text, "gamma", dtype);
  Description d;
  d.scalars = {scale, gamma};
  d.tensors = inputs(text, s, rois);
  d.tensors[0].touched = touched.share();
  d.tensors[0].runs = runs_of(touched, s.batch, 1, s.c);
  d.tensors.push_back(bins("output", s));
  d.tensors.back().term_size = 0.25;  // pixels are at most 1, some are averaged, a few of them may cancel
  d.flops = 8.0 * static_cast<double>(touched.samples_inside() * s.c);  // four multiply-adds per sample and channel
  d.call = [s, shifted](mluOpHandle_t handle, const Arguments& t) {
    const Argument offset = shifted ? t[2] : Argument{}, output = t[shifted ? 3 : 2];
    return mluOpDeformRoiPoolForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, offset.desc, offset.data,
                                     static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w), s.spatial_scale,
                                     s.sampling_ratio, s.gamma, output.desc, output.data);
  };
  d.reference = [=](const Inputs& in, Coordinates coordinates) {
    const void* offset = shifted ? in[2] : nullptr;
    return std::vector<Values>{reference::deform_roi_pool_forward(
        {s, in[0], in[1], offset, nullptr, MLUOP_LAYOUT_NHWC, scale, gamma}, coordinates)};
  };
  return d;
}

// Pixels and gradients are at most 1; the sum over channels grows like its root, and so do the errors of its additions.
// Rows that coincide cancel, and so do columns: then rounding errors of terms this large are all there is.
double offset_term(const Shape& s, const Values& rois) {
  double size = 0;
  for (std::size_t r = 0; r + 5 <= rois.size(); r += 5) {
    size = std::max({size, std::fabs(rois[r + 3] - rois[r + 1]), std::fabs(rois[r + 4] - rois[r + 2])});
  }
  const double root = std::sqrt(static_cast<double>(s.c));
  return std::fabs(static_cast<double>(s.gamma) * static_cast<double>(s.spatial_scale)) * size * root *
         std::max(1.0, root / 2);
}

std::vector<TensorSpec> gradient_tensors(const Case& text, const Shape& s, const Values& rois) {
  std::vector<TensorSpec> t = inputs(text, s, rois);
  t.insert(t.begin(), bins("grad_output", s, uniform(-1, 1, text.seed("grad_output"))));
  t.push_back(image("grad_input", s));
  if (text.count("offset") == 0) return t;
  TensorSpec grad_offset = t[3];
  grad_offset.name = "grad_offset";
  grad_offset.fill = {};
  grad_offset.term_size = offset_term(s, rois);
  t.push_back(grad_offset);
  return t;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const TouchedPixels touched = touch(text, s, rois);
  const bool shifted = text.count("offset") != 0;
  const double scale = scalar_of(text, "scale", dtype), gamma = scalar_of(text, "gamma", dtype);
  Description d;
  d.scalars = {scale, gamma};
  d.tensors = gradient_tensors(text, s, rois);
  d.tensors[1].touched = shifted ? touched.share() : 0;  // the gradient of the input alone does not need the input
  d.tensors[1].runs = runs_of(touched, s.batch, 1, s.c);
  // Four multiply-adds per sample and channel; the gradient of the offset needs four more.
  d.flops = (shifted ? 16 : 8) * static_cast<double>(touched.samples_inside() * s.c);
  d.call = [s, shifted](mluOpHandle_t handle, const Arguments& t) {
    const Argument offset = shifted ? t[3] : Argument{}, grad_input = t[shifted ? 4 : 3];
    const Argument grad_offset = shifted ? t[5] : Argument{};
    return mluOpDeformRoiPoolBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                      offset.desc, offset.data, static_cast<int>(s.pooled_h),
                                      static_cast<int>(s.pooled_w), s.spatial_scale, s.sampling_ratio, s.gamma,
                                      grad_input.desc, grad_input.data, grad_offset.desc, grad_offset.data);
  };
  d.reference = [=](const Inputs& in, Coordinates coordinates) {
    reference::DeformRoiPoolGradients g = reference::deform_roi_pool_backward(
        {s, in[0], in[1], in[2], shifted ? in[3] : nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale, gamma},
        coordinates);
    std::vector<Values> outputs = {std::move(g.input)};
    if (shifted) outputs.push_back(std::move(g.offset));
    return outputs;
  };
  return d;
}

// ---- lists ----

const std::vector<std::string> kBoth = {"0", "1"};  // with and without offset

// Gamma and ratio are 0.1 and 2 where a text does not say.
Cases sized(const std::vector<std::string>& texts, const char* rois, const char* size = "0") {
  return each(each(each(list(texts), "offset", kBoth), "rois", {rois}), "size", {size});
}

Cases smallest() {
  return list({"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 ratio=1 offset=0 rois=inside",
               "b=1 h=4 w=3 c=5 r=2 ph=2 pw=2 scale=1 ratio=0 offset=1 rois=inside"});
}

Cases document() {
  Cases cases = sized(
      {
          "b=1 h=200 w=304 c=16 r=24 scale=0.25",          // 1: batch 1 of 2, 16 of 256 channels, 24 of 998 RoIs
          "b=1 h=100 w=152 c=64 r=13 scale=0.125",         // 2: 64 of 256 channels
          "b=1 h=50 w=76 c=256 r=11 scale=0.0625",         // 3
          "b=2 h=25 w=38 c=256 r=2 scale=0.03125",         // 4
          "b=1 h=25 w=38 c=33 r=6 scale=0.03125 ratio=0",  // sampling_ratio 0
      },
      "inside", "28");
  cases = joined(cases, sized({"b=1 h=256 w=200 c=19 r=1 scale=1 gamma=1",  // vendor's, 19 channels
                               "b=1 h=9 w=9 c=1 r=1 ph=4 pw=1 scale=0.794193864 ratio=5 gamma=0.635011017"},
                              "inside", "2"));
  return joined(cases, sized({"b=1 h=5 w=5 c=1 r=3 ph=3 pw=3 scale=1 gamma=1",  // mmcv
                              "b=1 h=5 w=5 c=3 r=3 ph=3 pw=3 scale=1 gamma=1"},
                             "inside"));
}

Cases edge() {
  Cases all;
  const auto add = [&](const char* rois, const std::vector<std::string>& texts) {
    all = joined(all, sized(texts, rois));
  };
  add("edge", {"b=1 h=1 w=1 c=1 r=3 ph=1 pw=1 scale=1 ratio=1 gamma=1",
               "b=2 h=1 w=1 c=5 r=4 ph=2 pw=3 scale=1 ratio=0 gamma=1"});
  add("edge", {"b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 ratio=2 gamma=0.25",  // samples exactly on -1, H and W
               "b=1 h=6 w=4 c=3 r=20 ph=2 pw=2 scale=0.5 ratio=4 gamma=0.5"});
  add("inside", {"b=1 h=61 w=67 c=3 r=3 ph=2 pw=3 scale=0.5 ratio=1",
                 "b=2 h=61 w=67 c=9 r=3 ph=2 pw=3 scale=0.5"});  // a large map
  add("far", {"b=2 h=7 w=6 c=13 r=9 ph=3 pw=2 scale=0.5", "b=1 h=5 w=5 c=8 r=7 ph=2 pw=2 scale=1 ratio=0"});
  add("thin", {"b=1 h=6 w=7 c=4 r=9 ph=3 pw=3 scale=1 ratio=0", "b=1 h=6 w=7 c=4 r=9 ph=2 pw=3 scale=1 ratio=3"});
  add("inverted", {"b=1 h=8 w=7 c=4 r=9 ph=3 pw=3 scale=1 ratio=0", "b=1 h=8 w=7 c=4 r=9 ph=2 pw=3 scale=1"});
  add("mixed",
      {"b=2 h=9 w=8 c=7 r=11 ph=1 pw=5 scale=1 ratio=-1 gamma=0.5", "b=3 h=4 w=4 c=1031 r=3 ph=2 pw=2 scale=1"});
  add("inside",
      {"b=1 h=12 w=11 c=3 r=4 ph=3 pw=3 scale=1 ratio=0 gamma=0", "b=1 h=9 w=9 c=6 r=5 ph=3 pw=3 scale=1 gamma=4"});
  return all;
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "mixed", "mixed", "far", "inverted", "thin", "edge"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3}, gammas[] = {0.1, 0.1, 0.5, 1, -0.2};
  const std::int64_t ratios[] = {0, 0, 1, 2, 2, 3, -1};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, most));
  c.set("c", odd_size(random, effort < 1 ? 40 : 130)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 7)).set("scale", random.pick(scales));
  c.set("ratio", random.pick(ratios)).set("gamma", random.pick(gammas)).set("offset", random.integer(0, 1));
  return c.set("rois", random.pick(kinds));
}

Cases large() {
  return each(each(list({"b=1 h=40 w=50 c=64 r=24 offset=1", "b=2 h=60 w=50 c=96 r=40 ph=5 pw=5 ratio=0 offset=0",
                         "b=1 h=12 w=10 c=32 r=30 ratio=0 offset=1"}),
                   "scale", {"1"}),
              "rois", {"inside"});
}

Cases network() {
  return each(list({"b=2 h=100 w=152 c=256 r=13 scale=0.125", "b=2 h=200 w=304 c=256 r=998 scale=0.25",
                    "b=2 h=50 w=76 c=256 r=11 scale=0.0625", "b=2 h=25 w=38 c=256 r=2 scale=0.03125"}),
              "offset", kBoth);
}

// Coordinates below 64, where the spacing is 1/32.
bool forward_in_half(const Case& t) {
  return std::max(t.real("h"), t.real("w")) <= 64;
}

// Sums of at most 15 bilinear samples.
bool backward_in_half(const Case& t) {
  const double grid = std::max(t.real("ratio"), 2.0), side = t.real("size") > 0 ? t.real("size") : 1e9;
  const double covered = std::min(t.real("h"), side) * std::min(t.real("w"), side) / 4;
  const double of_roi = t.word("rois") == "thin" ? 4 : covered;  // thin both ways: two pixels by two
  const double pixels = std::min(t.real("b") * t.real("h") * t.real("w"), t.real("r") * of_roi);
  return forward_in_half(t) && 4 * t.real("r") * t.real("ph") * t.real("pw") * grid * grid / pixels <= 15;
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=50 w=76 c=64 r=32 scale=0.0625 offset=1 ratio=2"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"),
          growth_of(base, "c"), growth_of(base, "r"), growth_of(base, "ratio")};
}

std::vector<Contention> contention() {
  std::vector<Contention> levels;
  for (const int percent : {0, 10, 30, 100}) {
    levels.push_back(
        {"RoI corners over " + std::to_string(percent * 6 / 10) + " % of the map",
         Case(list({"b=2 h=100 w=152 c=256 r=128 scale=0.125 offset=0"})[0]).set("spread", percent / 100.0)});
  }
  levels.push_back({"8 samples in all", list({"b=2 h=100 w=152 c=256 r=2 ph=2 pw=2 scale=0.125 ratio=1 offset=0"})[0]});
  return levels;
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = forward,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .coordinates = true,
          .meaningful_in_half = forward_in_half,
          .reducible = {"r"},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> deform_roi_pool_operators() {
  OperatorCases gradient = entry("deform_roi_pool_backward", "mluOpDeformRoiPoolBackward");
  gradient.describe = backward;
  gradient.scatters = true;
  gradient.meaningful_in_half = backward_in_half;
  gradient.contention = contention;
  return {entry("deform_roi_pool_forward", "mluOpDeformRoiPoolForward"), gradient};
}

}  // namespace mluops::cases
