#include "test/reference/yolo_box.h"

#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "1", "images"},
    {"s", "3", "anchors"},
    {"c", "80", "classes"},
    {"h", "38", "map"},
    {"w", "38", ""},
    {"conf", "0.1", "least confidence"},
    {"scale", "1", "of the sigmoid of x and y"},
    {"factor", "0.5", "power of the IoU"},
    {"down", "16", "pixels of the network's input to one of the map"},
    {"clip", "1", "boxes are clipped to the image"},
    {"iou_aware", "0", "1: channels of IoUs"},
    {"data", "usual",
     "usual (some confidences are below) | low (most are) | even (each is 0.5) | wild (some numbers are NaN, infinite, "
     "large)"},
};

double logit(double p) {
  return std::log(p / (1 - p));
}

/// Logits whose confidences keep away from the threshold, which roundings may not pass.
Fill logits(const Case& t, const mluopsYoloBoxProblem& p) {
  return [s = p.shape, aware = p.iou_aware != 0, least = p.conf_thresh, factor = p.iou_aware_factor,
          kind = t.word("data"), seed = t.seed("x")](std::int64_t i) {
    const std::int64_t pixels = s.h * s.w, ious = aware ? s.anchors : 0, numbers = 5 + s.classes;
    const std::int64_t channels = ious + s.anchors * numbers, image = i / (channels * pixels);
    const std::int64_t channel = i / pixels % channels, number = channel < ious ? -1 : (channel - ious) % numbers;
    const std::int64_t anchor = channel < ious ? channel : (channel - ious) / numbers;
    if (number == -1 || number == 4) {
      if (kind == "even") return 0.0;
      const std::int64_t place = (image * s.anchors + anchor) * pixels + i % pixels;
      double object = 0.05 + 0.9 * unit_random(seed + 1, place), iou = 0.05 + 0.9 * unit_random(seed + 2, place);
      if (kind == "low" && unit_random(seed + 3, place / 40) < 0.9) object = iou = least / 3;
      const double confidence = aware ? std::pow(object, 1 - factor) * std::pow(iou, factor) : object;
      if (std::fabs(confidence - least) < 0.02) object = iou = least < 0.5 ? least + 0.2 : least - 0.2;
      return logit(number == -1 ? iou : object);
    }
    const double luck = kind == "wild" ? unit_random(seed + 4, i) : 1;
    const double odd[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e4, -1e4};
    if (luck < 0.05) return odd[static_cast<std::size_t>(luck * 100)];
    return 4 * unit_random(seed, i) - 2;
  };
}

mluopsYoloBoxProblem problem_of(const Case& t, mluOpDataType_t dtype) {
  mluopsYoloBoxProblem p = {};
  p.shape = {dtype, t.size("n"), t.size("s"), t.size("c"), t.size("h"), t.size("w")};
  p.conf_thresh = scalar_of(t, "conf", dtype);
  p.scale = scalar_of(t, "scale", dtype);
  p.iou_aware_factor = scalar_of(t, "factor", dtype);
  p.downsample_ratio = static_cast<std::int32_t>(t.size("down"));
  p.clip_bbox = static_cast<std::int32_t>(t.count("clip"));
  p.iou_aware = static_cast<std::int32_t>(t.count("iou_aware"));
  return p;
}

Description describe_yolo_box(const Case& text, mluOpDataType_t dtype) {
  const mluopsYoloBoxProblem p = problem_of(text, dtype);
  const mluopsYoloBoxShape& s = p.shape;
  const std::int64_t pixels = s.h * s.w, channels = s.anchors * (5 + s.classes + p.iou_aware);
  Description d;
  d.scalars = {p.conf_thresh, p.scale, p.iou_aware_factor};
  d.tensors = {
      {.name = "x", .dtype = dtype, .dims = {s.n, channels, s.h, s.w}, .fill = logits(text, p)},
      {.name = "img_size", .dtype = MLUOP_DTYPE_INT32, .dims = {s.n, 2}, .fill = integers(200, 700, text.seed("img"))},
      {.name = "anchors",
       .dtype = MLUOP_DTYPE_INT32,
       .dims = {2 * s.anchors},
       .fill = integers(5, 300, text.seed("anchors"))},
      {.name = "boxes", .dtype = dtype, .dims = {s.n, s.anchors, 4, pixels}},
      {.name = "scores", .dtype = dtype, .dims = {s.n, s.anchors, s.classes, pixels}}};
  d.flops = 8.0 * static_cast<double>(s.n * channels * pixels);
  d.call = [p](mluOpHandle_t handle, const Arguments& t) {
    return mluOpYoloBox(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                        static_cast<int>(p.shape.classes), static_cast<float>(p.conf_thresh), p.downsample_ratio,
                        p.clip_bbox != 0, static_cast<float>(p.scale), p.iou_aware != 0,
                        static_cast<float>(p.iou_aware_factor), t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  d.reference = [p](const Inputs& in, Coordinates) {
    mluopsYoloBoxProblem own = p;
    own.x = in[0];
    own.img_size = static_cast<const std::int32_t*>(in[1]);
    own.anchors = static_cast<const std::int32_t*>(in[2]);
    auto r = reference::yolo_box(own);
    return std::vector<Values>{std::move(r.boxes), std::move(r.scores)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 s=1 c=1 h=1 w=1 conf=0.01", "n=2 s=3 c=5 h=4 w=6"});
}

Cases document() {
  return list({"n=1 s=3 c=80 h=13 w=13 down=32 conf=0.01", "n=2 s=3 c=10 h=19 w=19 down=32 iou_aware=1 scale=1.05"});
}

Cases edge() {
  return list({
      "n=2 s=2 c=1 h=17 w=31 clip=0",              // longer than a run of pixels
      "n=1 s=5 c=7 h=1 w=257 scale=2 conf=0.5",    // one pixel longer
      "n=3 s=2 c=9 h=5 w=7 iou_aware=1 factor=0",  // the confidence alone
      "n=2 s=2 c=9 h=5 w=7 iou_aware=1 factor=1",  // the IoU alone
      "n=1 s=2 c=3 h=9 w=9 conf=1.5",              // none
      "n=1 s=2 c=3 h=9 w=9 conf=-1",               // all
      "n=1 s=3 c=20 h=20 w=21 data=low",
      "n=1 s=2 c=5 h=12 w=13 data=wild dtype=float",
      "n=1 s=2 c=5 h=12 w=13 data=wild dtype=double clip=0",
      "n=1 s=1 c=300 h=3 w=5 down=1",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"usual", "usual", "low"};
  Case c;
  const std::int64_t most = effort < 1 ? 8 : 24;
  c.set("n", random.integer(1, 3)).set("s", random.integer(1, 4)).set("c", odd_size(random, 30));
  c.set("h", odd_size(random, most)).set("w", odd_size(random, most)).set("clip", random.integer(0, 1));
  return c.set("iou_aware", random.integer(0, 1)).set("data", random.pick(kinds)).set("down", random.integer(1, 32));
}

Cases large() {
  return list({"n=1 s=3 c=20 h=60 w=70", "n=2 s=3 c=4 h=50 w=50 iou_aware=1"});
}

Cases network() {
  return list({"n=1 s=3 c=80 h=76 w=76 down=8 conf=0.01 data=low", "n=1 s=3 c=80 h=76 w=76 down=8 conf=0.01",
               "n=8 s=3 c=80 h=19 w=19 down=32 iou_aware=1 scale=1.05 data=low"});
}

std::vector<Growth> growth() {
  const Case base = list({"n=1 s=3 c=20 h=40 w=40"})[0];
  return {growth_of(base, "n"), growth_of(base, "c")};
}

}  // namespace

std::vector<OperatorCases> yolo_box_operators() {
  return {{.op = "yolo_box",
           .function = "mluOpYoloBox",
           .parameters = kParameters,
           .describe = describe_yolo_box,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"h", "n"},
           .growth = growth}};
}

}  // namespace mluops::cases
