#include "test/reference/generate_proposals.h"

#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "1", "images"},
    {"h", "50", "map"},
    {"w", "84", ""},
    {"a", "3", "anchors of a pixel"},
    {"pre", "6000", "most looked at, 0: all"},
    {"post", "1000", "most kept"},
    {"iou", "0.7", "IoU threshold"},
    {"least", "0", "least side"},
    {"offset", "0", "1: a side is 1 longer"},
    {"data", "usual",
     "usual | ties (few distinct scores) | same (one anchor, no deltas) | small (nothing is large enough) | wild (some "
     "numbers are NaN, infinite)"},
};

constexpr double kStep = 16;  ///< pixels of the image to one of the map

mluopsGenerateProposalsProblem problem_of(const Case& t, mluOpDataType_t dtype) {
  mluopsGenerateProposalsProblem p = {};
  p.shape = {dtype, t.size("n"), t.size("h"), t.size("w"), t.size("a")};
  p.pre_nms_top_n = t.count("pre");
  p.post_nms_top_n = t.size("post");
  p.nms_thresh = scalar_of(t, "iou", dtype);
  p.min_size = scalar_of(t, "least", dtype);
  p.pixel_offset = static_cast<std::int32_t>(t.count("offset"));
  return p;
}

Fill scores_of(const Case& t) {
  return [kind = t.word("data"), any = uniform(0.01, 1, t.seed("scores"))](std::int64_t i) {
    if (kind == "ties") return std::floor(any(i) * 5) / 4;
    return kind == "wild" && any(i) < 0.05 ? std::numeric_limits<double>::quiet_NaN() : any(i);
  };
}

/// Centres on the map's pixels, sides from 16 on.
Fill anchors_of(const Case& t, const mluopsGenerateProposalsShape& s) {
  return [s, kind = t.word("data"), seed = t.seed("anchors")](std::int64_t i) {
    const std::int64_t box = i / 4, pixel = box / s.a, axis = i % 2;
    if (kind == "same") return i % 4 < 2 ? 10.0 : 40.0;
    const double centre = kStep * (0.5 + static_cast<double>(axis == 0 ? pixel % s.w : pixel / s.w));
    const double side = kind == "small" ? 0.4 : 16 * std::exp2(3 * unit_random(seed, 2 * (box % s.a) + axis));
    return centre + (i % 4 < 2 ? -0.5 : 0.5) * side;
  };
}

Fill deltas_of(const Case& t) {
  return [kind = t.word("data"), any = uniform(-1, 1, t.seed("deltas"))](std::int64_t i) {
    if (kind == "same") return 0.0;
    const double odd[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e4};
    return kind == "wild" && any(i) > 0.9 ? odd[static_cast<std::size_t>((any(i) - 0.9) * 39)] : any(i);
  };
}

Description describe_proposals(const Case& text, mluOpDataType_t dtype) {
  const mluopsGenerateProposalsProblem p = problem_of(text, dtype);
  const mluopsGenerateProposalsShape& s = p.shape;
  const double height = kStep * static_cast<double>(s.h), width = kStep * static_cast<double>(s.w);
  const auto exact = [](const char* name, std::int64_t count) {
    return TensorSpec{.name = name, .dtype = MLUOP_DTYPE_INT32, .dims = {count}, .comparison = Comparison::kBits};
  };
  Description d;
  d.scalars = {p.nms_thresh, p.min_size, 1};
  d.tensors = {
      {.name = "scores", .dtype = dtype, .dims = {s.n, s.h, s.w, s.a}, .fill = scores_of(text)},
      {.name = "bbox_deltas", .dtype = dtype, .dims = {s.n, s.h, s.w, 4 * s.a}, .fill = deltas_of(text)},
      {.name = "im_shape",
       .dtype = dtype,
       .dims = {s.n, 2},
       .fill = [=](std::int64_t i) { return i % 2 == 0 ? height : width; }},
      {.name = "anchors", .dtype = dtype, .dims = {s.h, s.w, s.a, 4}, .fill = anchors_of(text, s)},
      {.name = "variances",
       .dtype = dtype,
       .dims = {s.h, s.w, s.a, 4},
       .fill = uniform(0.2, 0.5, text.seed("variances"))},
      {.name = "rpn_rois", .dtype = dtype, .dims = {s.n * p.post_nms_top_n, 4}},
      {.name = "rpn_roi_probs", .dtype = dtype, .dims = {s.n * p.post_nms_top_n, 1}, .comparison = Comparison::kBits},
      exact("rpn_rois_num", s.n),
      exact("rpn_rois_batch_size", 1)};
  d.tensors.back().pointer_only = true;
  const std::int64_t all = s.h * s.w * s.a, looked = p.pre_nms_top_n > 0 ? std::min(p.pre_nms_top_n, all) : all;
  d.flops = static_cast<double>(s.n * looked) * (40 + 12 * static_cast<double>(std::min(looked, p.post_nms_top_n)) / 8);
  d.call = [p](mluOpHandle_t handle, const Arguments& t) {
    return mluOpGenerateProposalsV2(handle, static_cast<int>(p.pre_nms_top_n), static_cast<int>(p.post_nms_top_n),
                                    static_cast<float>(p.nms_thresh), static_cast<float>(p.min_size), 1,
                                    p.pixel_offset != 0, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                    t[2].data, t[3].desc, t[3].data, t[4].desc, t[4].data, nullptr, 0, t[5].desc,
                                    t[5].data, t[6].desc, t[6].data, t[7].desc, t[7].data, t[8].data);
  };
  d.reference = [p](const Inputs& in, Coordinates) {
    mluopsGenerateProposalsProblem own = p;
    own.scores = in[0];
    own.bbox_deltas = in[1];
    own.im_shape = in[2];
    own.anchors = in[3];
    own.variances = in[4];
    auto r = reference::generate_proposals(own);
    return std::vector<Values>{std::move(r.rois), std::move(r.probs), std::move(r.num), std::move(r.batch_size)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 h=1 w=1 a=1 pre=1 post=1", "n=2 h=2 w=3 a=3 pre=12 post=4"});
}

Cases document() {
  return list({"n=2 h=10 w=12 a=3 pre=200 post=100 iou=0.5", "n=1 h=16 w=24 a=5 pre=1000 post=200 iou=0.7 offset=1",
               "n=2 h=8 w=8 a=15 pre=600 post=300 iou=0.5 least=20"});
}

Cases edge() {
  const Cases kinds = each(list({"n=2 h=7 w=6 a=3 pre=100 post=20 iou=0.3", "n=1 h=9 w=5 a=2 pre=0 post=200 iou=0.8"}),
                           "data", {"usual", "ties", "same", "small", "wild"});
  return joined(each(kinds, "offset", {"0", "1"}),
                list({"n=3 h=4 w=4 a=4 pre=64 post=1", "n=1 h=4 w=4 a=4 pre=65 post=900 iou=2",
                      "n=2 h=9 w=9 a=1 pre=20 post=90 least=30.5 offset=1", "n=1 h=5 w=5 a=3 pre=3 post=3",
                      "n=2 h=6 w=6 a=6 pre=0 post=64 iou=0.01"}));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"usual", "usual", "ties", "wild"};
  const char* const thresholds[] = {"0.1", "0.3", "0.5", "0.7"};
  Case c;
  const std::int64_t most = effort < 1 ? 5 : 9;
  c.set("n", random.integer(1, 3)).set("h", odd_size(random, most)).set("w", odd_size(random, most));
  c.set("a", random.integer(1, 6)).set("pre", random.integer(0, 300)).set("post", random.integer(1, 100));
  return c.set("iou", random.pick(thresholds)).set("offset", random.integer(0, 1)).set("data", random.pick(kinds));
}

Cases large() {
  return list({"n=2 h=30 w=40 a=3 pre=3000 post=500"});
}

Cases network() {
  return list({"n=1 h=50 w=84 a=3 pre=2000 post=1000", "n=1 h=200 w=336 a=3 pre=2000 post=1000",
               "n=2 h=50 w=84 a=15 pre=6000 post=1000"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"n=1 h=20 w=20 pre=1000 post=100"})[0], "n")};
}

}  // namespace

std::vector<OperatorCases> generate_proposals_operators() {
  return {{.op = "generate_proposals_v2",
           .function = "mluOpGenerateProposalsV2",
           .parameters = kParameters,
           .describe = describe_proposals,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"h", "w", "pre", "post"},
           .growth = growth}};
}

}  // namespace mluops::cases
