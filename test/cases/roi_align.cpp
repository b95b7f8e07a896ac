#include <algorithm>
#include <cmath>
#include <memory>

#include "test/cases/base/touched.h"
#include "test/cases/operator.h"
#include "test/reference/roi_align.h"

namespace mluops::cases {
namespace {

using Shape = mluopsRoiAlignShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"h", "50", "height of the map"},
    {"w", "84", "width of the map"},
    {"c", "256", "channels"},
    {"r", "32", "RoIs"},
    {"ph", "7", "bins of a RoI along y"},
    {"pw", "7", "bins of a RoI along x"},
    {"scale", "0.0625", "pixels of the map by pixels of the image"},
    {"ratio", "0", "samples of a bin along an axis; 0 or less: as many as it has pixels"},
    {"aligned", "1", "1: half a pixel is subtracted; 0: not, and RoIs are at least one pixel"},
    {"pool", "mean", "mean | greatest"},
    {"rois", "network",
     "network (a side of 7 to 28 pixels of the map) | inside | far | thin | inverted | mixed | edge (corners on dyadic "
     "positions from -1.5 to size+0.5) | huge (many times the map) | nan"},
    {"data", "signed", "signed | negative (samples outside win with 0) | holes (some pixels NaN or infinite)"},
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
          t.word("pool") == "mean" ? 1 : 0};
}

// ---- RoIs ----

struct Extent {
  double low, high;  // in pixels of the map
};

// One axis of one RoI.
Extent extent(const std::string& kind, double size, Random& random) {
  if (kind == "far") {
    const double start = random.real(-3 * size - 8, 4 * size + 8);
    return {start, start + random.real(0, size)};
  }
  if (kind == "edge") {
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    const double high = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    return {std::min(low, high), std::max(low, high)};
  }
  if (kind == "huge") return {random.real(-20 * size, 0), random.real(size, 20 * size)};
  const double start = random.real(-0.5, size - 0.5);
  if (kind == "network") {
    const double side = random.real(7, 28), low = random.unit() * std::max(0.0, size - side);
    return {low, low + side};
  }
  if (kind == "nan" && random.chance(0.3)) return {std::nan(""), start};
  if (kind == "thin") return {start, random.chance(0.5) ? start : start + random.real(0, 0.2)};
  if (kind == "inverted") return {start, start - random.real(0, size)};
  return {start, std::min(size, start + random.real(0, size))};
}

// [rois,5], as the tensor holds them.
Values make_rois(const Case& t, const Shape& s) {
  const std::string kinds[] = {"inside", "inside", "far", "thin", "inverted", "edge"}, kind = t.word("rois");
  const double shift = s.aligned != 0 ? 0.5 : 0, scale = static_cast<double>(s.spatial_scale);
  Random random(t.seed("rois"));
  Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const std::string own = kind == "mixed" ? random.pick(kinds) : kind;
    const Extent x = extent(own, static_cast<double>(s.w), random), y = extent(own, static_cast<double>(s.h), random);
    rois.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
    for (const double corner : {x.low, y.low, x.high, y.high}) rois.push_back((corner + shift) / scale);
  }
  rois = admissible(t, std::move(rois));
  for (double& v : rois) v = rounded(s.dtype, v);
  return rois;
}

// ---- what is read ----

// All samples of one RoI, bin by bin; of a grid so fine that it is not of any network, none.
void touch_roi(TouchedPixels& touched, const Shape& s, const double* roi) {
  const double scale = static_cast<double>(s.spatial_scale), shift = s.aligned != 0 ? 0.5 : 0;
  const double x0 = roi[1] * scale - shift, y0 = roi[2] * scale - shift;
  double width = roi[3] * scale - shift - x0, height = roi[4] * scale - shift - y0;
  if (s.aligned == 0) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  const auto samples = [&](double size, std::int64_t bins) {
    const double grid = s.sampling_ratio > 0 ? s.sampling_ratio : std::ceil(size / static_cast<double>(bins));
    return grid > 0 && grid < 1e4 ? static_cast<std::int64_t>(grid) * bins : 0;
  };
  const std::int64_t rows = samples(height, s.pooled_h), columns = samples(width, s.pooled_w);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double y = (static_cast<double>(i) + 0.5) / static_cast<double>(rows) * height;
      const double x = (static_cast<double>(j) + 0.5) / static_cast<double>(columns) * width;
      touched.sample(static_cast<std::int64_t>(roi[0]), y0 + y, x0 + x);
    }
  }
}

TouchedPixels touch(const Shape& s, const Values& rois) {
  TouchedPixels touched(s.batch, s.h, s.w);
  for (std::int64_t r = 0; r < s.rois; ++r) touch_roi(touched, s, &rois[static_cast<std::size_t>(5 * r)]);
  return touched;
}

// ---- calls ----

Fill map_values(const Case& t) {
  const std::string data = t.word("data");
  const Fill plain = data == "negative" ? uniform(-1, -0.01, t.seed("map")) : uniform(-1, 1, t.seed("map"));
  if (data != "holes") return plain;
  return [plain, seed = t.seed("holes")](std::int64_t i) {
    const double share = unit_random(seed, i);
    return share < 0.01 ? std::nan("") : share < 0.02 ? std::numeric_limits<double>::infinity() : plain(i);
  };
}

TensorSpec tensor(const char* name, const Shape& s, bool bins, Fill fill = {}) {
  const std::int64_t n = bins ? s.rois : s.batch, h = bins ? s.pooled_h : s.h, w = bins ? s.pooled_w : s.w;
  return {.name = name, .layout = MLUOP_LAYOUT_NHWC, .dtype = s.dtype, .dims = {n, h, w, s.c}, .fill = std::move(fill)};
}

TensorSpec boxes_of(const Shape& s, const Values& rois) {
  return {.name = "boxes", .dtype = s.dtype, .dims = {s.rois, 5}, .fill = given(rois)};
}

std::shared_ptr<mluOpRoiAlignStruct> descriptor_of(const Shape& s) {
  mluOpRoiAlignForwardDescriptor_t desc = nullptr;
  mluOpCreateRoiAlignForwardDescriptor(&desc);
  mluOpSetRoiAlignForwardDescriptor_v2(desc, static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w),
                                       s.sampling_ratio, s.spatial_scale, s.mean, s.aligned != 0);
  return {desc, [](auto* d) { mluOpDestroyRoiAlignForwardDescriptor(d); }};
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const TouchedPixels touched = touch(s, rois);
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {tensor("input", s, false, map_values(text)), boxes_of(s, rois), tensor("output", s, true)};
  d.tensors[0].touched = touched.share();
  d.tensors[0].runs = runs_of(touched, s.batch, 1, s.c);
  d.tensors[2].term_size = 0.25;  // pixels are at most 1, some are averaged, a few of them may cancel
  if (s.mean == 0) {
    d.tensors.push_back(tensor("argmax_x", s, true));
    d.tensors.push_back(tensor("argmax_y", s, true));
  }
  // Four multiply-adds per sample and channel, and a comparison for the greatest.
  d.flops = (s.mean != 0 ? 8.0 : 9.0) * static_cast<double>(touched.samples_inside() * s.c);
  d.call = [desc = descriptor_of(s), s](mluOpHandle_t handle, const Arguments& t) {
    const Argument x = s.mean != 0 ? Argument{} : t[3], y = s.mean != 0 ? Argument{} : t[4];
    return mluOpRoiAlignForward_v2(handle, desc.get(), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                   x.desc, x.data, y.desc, y.data);
  };
  d.reference = [s, scale](const Inputs& in, Coordinates coordinates) {
    reference::RoiAlignResult r = reference::roi_align_forward(
        {s, in[0], in[1], nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, scale}, coordinates);
    std::vector<Values> outputs = {std::move(r.output)};
    if (s.mean != 0) return outputs;
    outputs.push_back(std::move(r.argmax_x));
    outputs.push_back(std::move(r.argmax_y));
    return outputs;
  };
  return d;
}

// Where the greatest samples of a map of its own are: argmax_x, then argmax_y.
std::pair<Fill, Fill> greatest(const Case& t, const Shape& s, const Values& rois) {
  Shape wide = s;
  wide.dtype = MLUOP_DTYPE_DOUBLE;
  const Values map = values_of(uniform(-1, 1, t.seed("argmax")), s.batch * s.h * s.w * s.c);
  const auto r = reference::roi_align_forward(
      {wide, map.data(), rois.data(), nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC, scalar_of(t, "scale", s.dtype)},
      reference::Coordinates::kFloat);
  return {given(r.argmax_x), given(r.argmax_y)};
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values rois = make_rois(text, s);
  const double scale = scalar_of(text, "scale", dtype);
  Description d;
  d.scalars = {scale};
  d.tensors = {tensor("grads", s, true, uniform(-1, 1, text.seed("grads"))), boxes_of(s, rois)};
  if (s.mean == 0) {
    const auto [x, y] = greatest(text, s, rois);
    d.tensors.push_back(tensor("argmax_x", s, true, x));
    d.tensors.push_back(tensor("argmax_y", s, true, y));
  }
  d.tensors.push_back(tensor("grads_image", s, false));
  const double samples = s.mean != 0 ? static_cast<double>(touch(s, rois).samples_inside())
                                     : static_cast<double>(s.rois * s.pooled_h * s.pooled_w);
  d.flops = 8.0 * samples * static_cast<double>(s.c);
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    const Argument x = s.mean != 0 ? Argument{} : t[2], y = s.mean != 0 ? Argument{} : t[3];
    return mluOpRoiAlignBackward_v2(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, x.desc, x.data, y.desc, y.data,
                                    s.spatial_scale, s.sampling_ratio, s.aligned != 0, s.mean, t.back().desc,
                                    t.back().data);
  };
  d.reference = [s, scale](const Inputs& in, Coordinates coordinates) {
    const void *x = s.mean != 0 ? nullptr : in[2], *y = s.mean != 0 ? nullptr : in[3];
    return std::vector<Values>{
        reference::roi_align_backward({s, in[0], in[1], x, y, nullptr, MLUOP_LAYOUT_NHWC, scale}, coordinates)};
  };
  return d;
}

// ---- lists ----

const std::vector<std::string> kPools = {"mean", "greatest"}, kAligned = {"0", "1"};

Cases with_rois(const std::vector<std::string>& texts, const char* rois) {
  return each(list(texts), "rois", {rois});
}

Cases smallest() {
  return list({"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 scale=1 ratio=1 rois=inside",
               "b=1 h=6 w=7 c=5 r=4 ph=2 pw=3 scale=1 ratio=2 rois=inside pool=greatest"});
}

Cases document() {
  const Cases shapes = list({
      "b=1 h=2 w=2 c=1 r=1 ph=2 pw=2 scale=1 ratio=2 rois=inside",     // mmcv
      "b=1 h=2 w=2 c=2 r=1 ph=2 pw=2 scale=1 ratio=2 rois=inside",     // mmcv
      "b=1 h=50 w=84 c=24 r=40 ph=7 pw=7 scale=0.0625 ratio=0",        // FPN level, 24 of 256 channels
      "b=2 h=25 w=42 c=32 r=24 ph=14 pw=14 scale=0.03125 ratio=0",     // mask head, 32 of 256 channels
      "b=1 h=25 w=42 c=17 r=24 ph=7 pw=7 scale=0.0625 ratio=2",        // torchvision's default ratio
      "b=2 h=5 w=5 c=6 r=4 ph=3 pw=3 scale=0.25 ratio=2 rois=inside",  // vendor's tests, reduced
  });
  return each(shapes, "aligned", kAligned);
}

Cases edge() {
  Cases all;
  const auto add = [&](const char* rois, const std::vector<std::string>& texts) {
    all = joined(all, with_rois(texts, rois));
  };
  add("edge", {"b=1 h=1 w=1 c=1 r=3 ph=1 pw=1 scale=1 ratio=1", "b=2 h=1 w=1 c=5 r=4 ph=2 pw=3 scale=1 ratio=0",
               "b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 ratio=2",  // samples exactly on -1, H and W
               "b=1 h=6 w=4 c=3 r=20 ph=2 pw=2 scale=0.5 ratio=4 aligned=0"});
  // A few samples of a large map, and few channels.
  add("network",
      {"b=2 h=61 w=67 c=7 r=3 ph=2 pw=3 scale=0.5 ratio=1", "b=2 h=61 w=67 c=21 r=3 ph=2 pw=3 scale=0.5 ratio=2",
       "b=1 h=61 w=67 c=2 r=3 ph=20 pw=3 scale=0.5 ratio=2", "b=1 h=61 w=167 c=4 r=3 ph=2 pw=1 scale=1 ratio=1"});
  add("far", {"b=2 h=7 w=6 c=13 r=9 ph=3 pw=2 scale=0.5 ratio=2", "b=1 h=5 w=5 c=8 r=7 ph=2 pw=2 scale=1 ratio=0"});
  add("thin", {"b=1 h=6 w=7 c=4 r=9 ph=3 pw=3 scale=1 ratio=0", "b=1 h=6 w=7 c=4 r=9 ph=2 pw=3 scale=1 ratio=3",
               "b=1 h=6 w=7 c=4 r=9 ph=2 pw=3 scale=1 ratio=0 aligned=0"});
  add("inverted", {"b=1 h=8 w=7 c=4 r=9 ph=3 pw=3 scale=1 ratio=0", "b=1 h=8 w=7 c=4 r=9 ph=2 pw=3 scale=1 ratio=2",
                   "b=1 h=8 w=7 c=4 r=9 ph=2 pw=3 scale=1 ratio=0 aligned=0"});
  add("mixed", {"b=2 h=9 w=8 c=7 r=11 ph=1 pw=5 scale=1 ratio=-1", "b=3 h=4 w=40 c=3 r=3 ph=2 pw=17 scale=1 ratio=2"});
  add("huge", {"b=1 h=9 w=8 c=6 r=5 ph=3 pw=3 scale=1 ratio=0", "b=1 h=6 w=37 c=5 r=5 ph=2 pw=3 scale=1 ratio=3"});
  add("nan", {"b=1 h=9 w=8 c=6 r=9 ph=3 pw=3 scale=1 ratio=2", "b=1 h=9 w=8 c=6 r=9 ph=3 pw=3 scale=1 ratio=0"});
  return all;
}

// A bin that is the greatest of nothing is the lowest float, beside which no other error would show.
Cases forward_edge() {
  const Cases greatest = with_rois({"b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 ratio=2 pool=greatest",
                                    "b=1 h=7 w=6 c=13 r=9 ph=3 pw=2 scale=0.5 ratio=3 pool=greatest data=negative",
                                    "b=1 h=6 w=7 c=20 r=9 ph=3 pw=3 scale=1 ratio=1 pool=greatest aligned=0"},
                                   "edge");
  const Cases far = with_rois({"b=2 h=7 w=6 c=9 r=19 ph=3 pw=2 scale=0.5 ratio=3 pool=greatest data=negative",
                               "b=2 h=7 w=6 c=9 r=19 ph=3 pw=2 scale=0.5 ratio=0 pool=greatest aligned=0"},
                              "far");
  const Cases none = with_rois({"b=1 h=6 w=7 c=4 r=9 ph=3 pw=3 scale=1 ratio=0 pool=greatest"}, "inverted");
  const Cases holes = with_rois({"b=1 h=20 w=40 c=7 r=9 ph=3 pw=5 scale=1 ratio=0 data=holes",
                                 "b=1 h=20 w=40 c=6 r=9 ph=3 pw=5 scale=1 ratio=2 data=holes"},
                                "inside");
  return joined(joined(joined(edge(), greatest), joined(far, none)), holes);
}

Cases backward_edge() {
  return joined(edge(), with_rois({"b=1 h=8 w=9 c=5 r=24 ph=4 pw=4 scale=1 ratio=2 pool=greatest",
                                   "b=2 h=7 w=6 c=21 r=9 ph=3 pw=2 scale=0.5 ratio=0 pool=greatest"},
                                  "mixed"));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "mixed", "mixed", "far", "inverted", "thin", "edge"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3};
  const std::int64_t ratios[] = {0, 0, 1, 2, 2, 3, -1};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c;
  c.set("b", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, 2 * most));
  c.set("c", odd_size(random, effort < 1 ? 20 : 70)).set("r", random.integer(1, 9));
  c.set("ph", random.integer(1, 7)).set("pw", random.integer(1, 15)).set("scale", random.pick(scales));
  const bool greatest = random.chance(0.3);
  // At least one sample, and at a place that is not another's.
  c.set("ratio", greatest ? random.integer(1, 3) : random.pick(ratios)).set("aligned", random.integer(0, 1));
  c.set("pool", greatest ? "greatest" : "mean");
  return c.set("rois", greatest ? "inside" : random.pick(kinds));
}

Cases large() {
  return list({"b=1 h=40 w=50 c=64 r=24 scale=1", "b=2 h=60 w=50 c=34 r=300 ph=5 pw=5 scale=1",
               "b=1 h=30 w=40 c=32 r=30 ratio=2 scale=1 rois=inside pool=greatest"});
}

Cases network() {
  return list({"b=1 h=200 w=336 c=256 r=1000 ph=7 pw=7 scale=0.25", "b=1 h=100 w=168 c=256 r=1000 scale=0.125",
               "b=1 h=50 w=84 c=256 r=1000 scale=0.0625", "b=1 h=200 w=336 c=256 r=256 ph=14 pw=14 scale=0.25"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=2 h=50 w=84 c=64 r=64 scale=0.0625 ratio=2"})[0];
  return {growth_of(base, "b"), growth_of(base, "h"), growth_of(base, "w"),
          growth_of(base, "c"), growth_of(base, "r"), growth_of(base, "ratio")};
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
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
}

}  // namespace

std::vector<OperatorCases> roi_align_operators() {
  OperatorCases gradient = entry("roi_align_backward", "mluOpRoiAlignBackward_v2");
  gradient.describe = backward;
  gradient.edge = backward_edge;
  return {entry("roi_align_forward", "mluOpRoiAlignForward_v2"), gradient};
}

}  // namespace mluops::cases
