#include <algorithm>
#include <cmath>
#include <memory>

#include "test/cases/base/contract.h"
#include "test/cases/base/scored_boxes.h"
#include "test/cases/base/upright_boxes.h"
#include "test/cases/operator.h"
#include "test/reference/iou3d.h"
#include "test/reference/nms.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kBoxParameters = {
    {"n", "1000", "boxes"},
    {"iou", "0.5", "IoU threshold"},
    {"boxes", "network",
     "network (some about each of n / 20 objects of a 1333 x 800 image) | classes (the same, of 40 classes, moved "
     "apart as mmcv does, within half's range) | uniform | apart (no two meet) | column (the same, one above another) "
     "| far (apart, but one is far away) | islands (apart, in places far from each other) | crossed (about one centre, "
     "of equal areas) | same (all the same box) | grid (corners on few places) | wild (empty, inverted, NaN, "
     "infinite)"},
    {"scores", "random", "random | ties (few distinct ones) | nan (some are NaN)"},
    {"index", "int32", "int32 | uint32 | int64 (EXTENDED)"},
};

std::vector<Parameter> with(std::vector<Parameter> parameters) {
  parameters.insert(parameters.begin(), kBoxParameters.begin(), kBoxParameters.end());
  return parameters;
}

mluOpDataType_t index_type(const Case& t) {
  const std::string word = t.word("index");
  return word == "int64" ? MLUOP_DTYPE_INT64 : word == "uint32" ? MLUOP_DTYPE_UINT32 : MLUOP_DTYPE_INT32;
}

mluopsNmsShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, index_type(t), t.size("n"), scalar_of(t, "iou", dtype), static_cast<float>(t.real("offset"))};
}

// ---- tensors ----

TensorSpec exact(const char* name, mluOpDataType_t dtype, std::vector<std::int64_t> dims) {
  return {.name = name, .dtype = dtype, .dims = std::move(dims), .comparison = Comparison::kBits};
}

// The INT32 a number of boxes or groups goes to.
TensorSpec count(const char* name) {
  TensorSpec one = exact(name, MLUOP_DTYPE_INT32, {1});
  one.pointer_only = true;
  return one;
}

// Every pair of boxes: four comparisons, five sums or differences, three products, a quotient, a comparison. How many
// pairs have to be looked at depends on the boxes; this counts a box against one of each object.
double flops_of(std::int64_t n) {
  return 14.0 * static_cast<double>(n) * std::max(1.0, static_cast<double>(n) / 20) / 2;
}

// ---- nms ----

std::int64_t most_of(const Case& t) {
  return t.count("max") > 0 ? t.count("max") : t.size("n");
}

std::shared_ptr<mluOpNmsStruct> descriptor_of(const mluopsNmsProblem& p) {
  mluOpNmsDescriptor_t desc = nullptr;
  mluOpCreateNmsDescriptor(&desc);
  const double threshold = std::isnan(p.score_threshold) ? -std::numeric_limits<double>::infinity() : p.score_threshold;
  if (p.shape.dtype == MLUOP_DTYPE_DOUBLE) {
    mluOpExtSetNmsDescriptor(desc, p.box_mode, p.output_mode, p.shape.iou_threshold, static_cast<int>(p.max_output),
                             threshold, p.shape.offset != 0 ? 1 : 0, p.transposed, p.pad != 0);
  } else {
    mluOpSetNmsDescriptor(desc, p.box_mode, p.output_mode, MLUOP_NMS_ALGO_INCLUDE_BOUNDARY, MLUOP_NMS_HARD_NMS,
                          static_cast<float>(p.shape.iou_threshold), 0, static_cast<int>(p.max_output),
                          static_cast<float>(threshold), p.shape.offset, p.transposed, p.pad != 0);
  }
  return {desc, [](auto* d) { mluOpDestroyNmsDescriptor(d); }};
}

// The problem of boxes of 7 numbers: threshold, layout and room alone are the case's.
mluopsNmsProblem problem_in_space(const Case& t, mluOpDataType_t dtype) {
  mluopsNmsProblem p = {};
  p.shape = shape_of(t, dtype);
  p.shape.offset = 0;
  p.score_dtype = MLUOP_DTYPE_INVALID;
  p.transposed = t.word("layout") == "columns" ? 1 : 0;
  p.score_threshold = std::numeric_limits<double>::quiet_NaN();
  p.max_output = p.shape.boxes;
  p.room = t.count("room") > 0 ? t.count("room") : p.max_output;
  p.box_numbers = 7;
  return p;
}

mluopsNmsProblem problem_of(const Case& t, mluOpDataType_t dtype) {
  if (t.word("box") == "3d") return problem_in_space(t, dtype);
  mluopsNmsProblem p = {};
  p.box_numbers = 4;
  p.shape = shape_of(t, dtype);
  p.score_dtype = dtype == MLUOP_DTYPE_FLOAT && t.count("half_scores") != 0 ? MLUOP_DTYPE_HALF : dtype;
  p.box_mode = t.word("box") == "centre" ? MLUOP_NMS_BOX_CENTER : MLUOP_NMS_BOX_DIAGONAL;
  const std::string output = t.word("output");
  p.output_mode = output == "rows"      ? MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1
                  : output == "columns" ? MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2
                                        : MLUOP_NMS_OUTPUT_TARGET_INDICES;
  p.transposed = t.word("layout") == "columns" ? 1 : 0;
  p.score_threshold =
      t.word("score") == "none" ? std::numeric_limits<double>::quiet_NaN() : scalar_of(t, "score", dtype);
  p.max_output = most_of(t);
  p.room = t.count("room") > 0 ? t.count("room") : p.max_output;
  p.pad = t.count("pad") != 0 ? 1 : 0;
  return p;
}

// Boxes of 7 numbers, as nms3d has them.
Fill space_numbers(const Case& t, const mluopsNmsProblem& p) {
  const std::string kind = t.word("boxes");
  const Fill boxes = upright_boxes(kind == "network" ? "small" : kind == "uniform" ? "random" : kind, t.seed("boxes"));
  if (p.transposed == 0) return boxes;
  return [boxes, n = p.shape.boxes](std::int64_t i) { return boxes(i % n * 7 + i / n); };
}

// Numbers of boxes as the tensor holds them.
Fill box_numbers(const Case& t, const mluopsNmsProblem& p) {
  if (p.box_numbers == 7) return space_numbers(t, p);
  Values boxes = make_boxes(t, p.shape.boxes);
  if (p.box_mode == MLUOP_NMS_BOX_CENTER) {
    for (std::size_t i = 0; i < boxes.size(); i += 4) {
      const double w = boxes[i + 2] - boxes[i], h = boxes[i + 3] - boxes[i + 1];
      boxes[i] += w / 2;
      boxes[i + 1] += h / 2;
      boxes[i + 2] = w;
      boxes[i + 3] = h;
    }
  }
  if (p.transposed == 0) return given(std::move(boxes));
  return [boxes = std::make_shared<Values>(std::move(boxes)), n = p.shape.boxes](std::int64_t i) {
    return (*boxes)[static_cast<std::size_t>(i % n * 4 + i / n)];
  };
}

/// Nobody writes behind the boxes that are kept, or behind the padding up to max_output: no number is expected there.
void leave_to_the_caller(reference::NmsResult& r, const mluopsNmsProblem& p) {
  const bool rows = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1;
  const bool columns = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2;
  const double written = p.pad != 0 ? static_cast<double>(p.max_output) : static_cast<double>(r.output_size);
  for (std::size_t i = 0; i < r.output.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i), box = rows ? at / 5 : columns ? at % p.room : at;
    if (static_cast<double>(box) >= written) r.output[i] = std::nan("");
  }
}

/// The indices of the boxes of 7 numbers that stay; none is expected behind them.
std::vector<Values> expected_in_space(const mluopsNmsProblem& p, const void* boxes) {
  const std::int64_t n = p.shape.boxes;
  Values numbers = reference::decode(p.shape.dtype, boxes, 7 * n), rows = numbers;
  for (std::int64_t i = 0; p.transposed != 0 && i < 7 * n; ++i) {
    rows[static_cast<std::size_t>(i % n * 7 + i / n)] = numbers[static_cast<std::size_t>(i)];
  }
  const mluopsNms3dShape shape{MLUOP_DTYPE_DOUBLE, n, static_cast<float>(p.shape.iou_threshold), 1};
  reference::Nms3dResult r = reference::nms3d({shape, rows.data(), nullptr, nullptr, p.shape.iou_threshold});
  r.keep.resize(static_cast<std::size_t>(p.room));
  std::fill(r.keep.begin() + static_cast<std::ptrdiff_t>(r.num[0]), r.keep.end(), std::nan(""));
  return {r.keep, r.num};
}

std::vector<Values> expected_hard(mluopsNmsProblem p, const Inputs& in, Coordinates coordinates) {
  if (p.box_numbers == 7) return expected_in_space(p, in[0]);
  p.boxes = in[0];
  p.scores = in[1];
  reference::NmsResult r = reference::nms(p, coordinates);
  leave_to_the_caller(r, p);
  return {std::move(r.output), {r.output_size}};
}

std::vector<TensorSpec> hard_tensors(const Case& text, const mluopsNmsProblem& p) {
  const std::int64_t n = p.shape.boxes, room = p.room, numbers = p.box_numbers;
  const bool indices = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES;
  const bool rows = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1;
  using Dims = std::vector<std::int64_t>;
  std::vector<TensorSpec> tensors = {{.name = "boxes",
                                      .dtype = p.shape.dtype,
                                      .dims = p.transposed != 0 ? Dims{numbers, n} : Dims{n, numbers},
                                      .fill = box_numbers(text, p)}};
  if (numbers == 4) {
    tensors.push_back({.name = "confidence", .dtype = p.score_dtype, .dims = {n}, .fill = make_scores(text)});
  }
  tensors.push_back(exact("output", indices ? p.shape.index_dtype : p.shape.dtype,
                          indices ? Dims{room}
                          : rows  ? Dims{room, 5}
                                  : Dims{5, room}));
  tensors.push_back(count("output_size"));
  return tensors;
}

Description hard(const Case& text, mluOpDataType_t dtype) {
  const mluopsNmsProblem p = problem_of(text, dtype);
  Description d;
  d.tensors = hard_tensors(text, p);
  d.flops = p.box_numbers == 7 ? 7.0 * static_cast<double>(p.shape.boxes * p.shape.boxes) / 4 : flops_of(p.shape.boxes);
  const bool scored = p.box_numbers == 4;
  const bool extended = p.shape.index_dtype == MLUOP_DTYPE_INT64 || (scored && std::isnan(p.score_threshold));
  d.call = [desc = descriptor_of(p), extended, scored](mluOpHandle_t handle, const Arguments& t) {
    return under_extended(extended, handle, [&] {
      const Argument scores = scored ? t[1] : Argument{}, &output = t[scored ? 2 : 1], &kept = t[scored ? 3 : 2];
      return mluOpNms(handle, desc.get(), t[0].desc, t[0].data, scores.desc, scores.data, nullptr, 0, output.desc,
                      output.data, kept.data);
    });
  };
  d.reference = [p](const Inputs& in, Coordinates coordinates) { return expected_hard(p, in, coordinates); };
  return d;
}

// ---- soft_nms ----

Description soft(const Case& text, mluOpDataType_t dtype) {
  mluopsSoftNmsProblem p = {};
  p.shape = shape_of(text, dtype);
  p.exact_sigma = scalar_of(text, "sigma", dtype);
  p.exact_min_score = scalar_of(text, "min_score", dtype);
  p.sigma = static_cast<float>(p.exact_sigma);
  p.min_score = static_cast<float>(p.exact_min_score);
  const std::string method = text.word("method");
  p.method = method == "naive"    ? MLUOP_EXT_SOFT_NMS_NAIVE
             : method == "linear" ? MLUOP_EXT_SOFT_NMS_LINEAR
                                  : MLUOP_EXT_SOFT_NMS_GAUSSIAN;
  const std::int64_t n = p.shape.boxes;
  Description d;
  d.scalars = {p.shape.iou_threshold, p.exact_sigma, p.exact_min_score};
  d.tensors = {{.name = "boxes", .dtype = dtype, .dims = {n, 4}, .fill = given(make_boxes(text, n))},
               {.name = "scores", .dtype = dtype, .dims = {n}, .fill = make_scores(text)},
               {.name = "dets", .dtype = dtype, .dims = {n, 5}},
               exact("indices", p.shape.index_dtype, {n}),
               count("output_size")};
  d.flops = flops_of(n);
  d.call = [p](mluOpHandle_t handle, const Arguments& t) {
    return under_extended(p.shape.index_dtype == MLUOP_DTYPE_INT64, handle, [&] {
      return mluOpExtSoftNms(handle, t[0].desc, t[0].data, t[1].desc, t[1].data,
                             static_cast<float>(p.shape.iou_threshold), p.sigma, p.min_score, p.method,
                             static_cast<int>(p.shape.offset), t[2].desc, t[2].data, t[3].desc, t[3].data, t[4].data);
    });
  };
  d.reference = [p](const Inputs& in, Coordinates coordinates) {
    mluopsSoftNmsProblem own = p;
    own.boxes = in[0];
    own.scores = in[1];
    reference::SoftNmsResult r = reference::soft_nms(own, coordinates);
    return std::vector<Values>{std::move(r.dets), std::move(r.indices), {r.output_size}};
  };
  return d;
}

// ---- nms_match ----

Description match(const Case& text, mluOpDataType_t dtype) {
  mluopsNmsMatchProblem p = {};
  p.shape = {dtype, index_type(text), text.size("n"), scalar_of(text, "iou", dtype), 0};
  const std::int64_t n = p.shape.boxes;
  const auto boxes = std::make_shared<Values>(make_boxes(text, n));
  const Fill scores = make_scores(text);
  Description d;
  d.scalars = {p.shape.iou_threshold};
  d.tensors = {{.name = "dets",
                .dtype = dtype,
                .dims = {n, 5},
                .fill =
                    [boxes, scores](std::int64_t i) {
                      return i % 5 == 4 ? scores(i / 5) : (*boxes)[static_cast<std::size_t>(i / 5 * 4 + i % 5)];
                    }},
               exact("indices", p.shape.index_dtype, {n}),
               exact("group_sizes", p.shape.index_dtype, {n}),
               count("group_count")};
  d.flops = flops_of(n);
  d.call = [p](mluOpHandle_t handle, const Arguments& t) {
    return under_extended(p.shape.index_dtype == MLUOP_DTYPE_INT64, handle, [&] {
      return mluOpExtNmsMatch(handle, t[0].desc, t[0].data, static_cast<float>(p.shape.iou_threshold), t[1].desc,
                              t[1].data, t[2].desc, t[2].data, t[3].data);
    });
  };
  d.reference = [p](const Inputs& in, Coordinates coordinates) {
    mluopsNmsMatchProblem own = p;
    own.dets = in[0];
    reference::NmsMatchResult r = reference::nms_match(own, coordinates);
    return std::vector<Values>{std::move(r.indices), std::move(r.group_sizes), {r.group_count}};
  };
  return d;
}

// ---- lists ----

const std::vector<std::string> kKinds = {"network", "classes", "uniform", "apart", "same", "grid", "wild"};

Cases smallest() {
  return list({"n=1 boxes=apart", "n=7 boxes=uniform"});
}

Cases kinds() {
  return joined(each(list({"n=1", "n=2", "n=33", "n=300 iou=0.3"}), "boxes", kKinds),
                list({"n=70 scores=ties", "n=70 boxes=grid scores=ties iou=0.25", "n=50 scores=nan",
                      "n=300 index=int64 boxes=classes", "n=60 iou=0 boxes=grid", "n=60 iou=1 boxes=same",
                      "n=60 iou=-0.5 boxes=uniform", "n=40 iou=-0.5 boxes=wild", "n=300 iou=0.95 boxes=grid",
                      "n=700 boxes=column", "n=700 iou=0.2 boxes=far", "n=1500 boxes=islands",
                      "n=900 iou=0.9 boxes=crossed", "n=900 iou=0.1 boxes=uniform", "n=900 boxes=wild"}));
}

Cases document() {
  return list({"n=30 iou=0.5", "n=512 iou=0.7", "n=700 iou=0.5 boxes=classes"});
}

Cases hard_document() {
  const Cases shapes = each(list({"n=30 iou=0.5", "n=512 iou=0.7 max=100"}), "offset", {"0", "1"});
  return joined(shapes, each(list({"n=70 layout=columns max=25 score=0.4", "n=40 box=centre score=0"}), "output",
                             {"indices", "rows", "columns"}));
}

Cases hard_edge() {
  const Cases space =
      each(list({"n=1", "n=65 iou=0.1", "n=300 iou=0.3 boxes=grid", "n=200 boxes=same",
                 "n=150 iou=1.01 boxes=same room=170", "n=300 iou=0.2 boxes=wild", "n=130 iou=-0.5 boxes=uniform",
                 "n=70 boxes=uniform index=uint32", "n=70 boxes=uniform index=int64"}),
           "layout", {"rows", "columns"});
  const Cases roomy = each(each(list({"n=40 max=12 room=17", "n=9 max=9 room=11 boxes=grid"}), "pad", {"0", "1"}),
                           "output", {"indices", "rows", "columns"});
  return joined(
      joined(joined(kinds(), roomy), each(space, "box", {"3d"})),
      list({"n=40 score=none scores=nan", "n=40 score=1", "n=40 score=0 scores=nan", "n=9 max=90",
            "n=40 half_scores=1 scores=ties", "n=40 half_scores=1 output=rows score=0.5", "n=90 offset=1 boxes=grid",
            "n=90 index=uint32 max=1", "n=600 boxes=grid max=7", "n=90 box=centre layout=columns boxes=wild"}));
}

Cases soft_edge() {
  const Cases methods = each(kinds(), "method", {"naive", "linear", "gaussian"});
  return joined(methods, list({"n=80 method=linear offset=1 boxes=grid", "n=80 method=gaussian sigma=0.1 min_score=0.3",
                               "n=80 min_score=2", "n=80 method=naive min_score=-1"}));
}

Case random_case(Random& random, double effort) {
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 100 : 600)).set("iou", random.real(0.05, 0.9));
  c.set("boxes", pick(kKinds, random)).set("scores", random.chance(0.2) ? "ties" : "random");
  return c;
}

Case random_in_space(Random& random, double effort) {
  const char* const kinds[] = {"network", "uniform", "same"};
  const char* const thresholds[] = {"0.05", "0.17", "0.31", "0.7"};
  Case c;
  c.set("n", odd_size(random, effort < 1 ? 90 : 300)).set("iou", random.pick(thresholds)).set("box", "3d");
  return c.set("boxes", random.pick(kinds)).set("layout", random.chance(0.5) ? "rows" : "columns");
}

Case random_hard(Random& random, double effort) {
  if (random.chance(0.15)) return random_in_space(random, effort);
  const char* const outputs[] = {"indices", "rows", "columns"};
  Case c = random_case(random, effort);
  c.set("offset", random.integer(0, 1)).set("max", random.chance(0.3) ? random.integer(1, 50) : 0);
  c.set("layout", random.chance(0.5) ? "rows" : "columns").set("output", random.pick(outputs));
  return c.set("score", random.chance(0.5) ? 0 : random.real(0, 0.5));
}

Case random_soft(Random& random, double effort) {
  const char* const methods[] = {"naive", "linear", "gaussian"};
  Case c = random_case(random, effort);
  return c.set("method", random.pick(methods)).set("offset", random.integer(0, 1));
}

Cases large() {
  return list({"n=9000 iou=0.7", "n=9000 boxes=uniform"});
}

Cases soft_large() {
  return list({"n=3000 iou=0.7", "n=2000 boxes=uniform"});
}

Cases network() {
  return list({"n=2000 iou=0.7", "n=8000 iou=0.7", "n=20000 iou=0.7", "n=20000 iou=0.5 boxes=classes"});
}

Cases soft_network() {
  return list({"n=1000 iou=0.3", "n=5000 iou=0.5 boxes=classes"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"n=2500 iou=0.7"})[0], "n")};
}

OperatorCases entry(const char* op, const char* function, std::vector<Parameter> parameters,
                    Description (*describe)(const Case&, mluOpDataType_t)) {
  return {.op = op,
          .function = function,
          .parameters = with(std::move(parameters)),
          .describe = describe,
          .smallest = smallest,
          .document = document,
          .edge = kinds,
          .random = random_case,
          .large = large,
          .network = network,
          .coordinates = true,
          .reducible = {"n"},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> nms_operators() {
  const Parameter offset = {"offset", "0", "1: the width of a box is x2 - x1 + 1"};
  OperatorCases hard_nms = entry("nms", "mluOpNms",
                                 {offset,
                                  {"max", "0", "most boxes kept; 0: n"},
                                  {"score", "none", "boxes of greater scores count; none: all (EXTENDED)"},
                                  {"output", "indices", "indices | rows ([max, 5]) | columns ([5, max])"},
                                  {"layout", "rows", "rows ([n, 4]) | columns ([4, n])"},
                                  {"box", "corners",
                                   "corners | centre | 3d (7 numbers, boxes=network | uniform | grid | same | wild; "
                                   "no scores, all indices without padding)"},
                                  {"room", "0", "rows of output; 0: max"},
                                  {"pad", "1", "1: zeros up to max; 0: not"},
                                  {"half_scores", "0", "1: scores are half beside float boxes"}},
                                 hard);
  hard_nms.document = hard_document;
  hard_nms.edge = hard_edge;
  hard_nms.random = random_hard;
  OperatorCases soft_nms = entry("soft_nms", "mluOpExtSoftNms",
                                 {offset,
                                  {"method", "linear", "naive | linear | gaussian"},
                                  {"sigma", "0.5", "of the gaussian"},
                                  {"min_score", "0.001", "boxes of lower scores are dropped"}},
                                 soft);
  soft_nms.edge = soft_edge;
  soft_nms.random = random_soft;
  soft_nms.large = soft_large;
  soft_nms.network = soft_network;
  soft_nms.sequential = true;
  const OperatorCases groups = entry("nms_match", "mluOpExtNmsMatch", {}, match);
  return {hard_nms, soft_nms, groups};
}

}  // namespace mluops::cases
