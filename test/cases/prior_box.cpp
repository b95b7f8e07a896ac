#include "test/reference/prior_box.h"

#include <cmath>
#include <memory>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"h", "38", "map"},
    {"w", "38", ""},
    {"sizes", "1", "min_sizes"},
    {"ratios", "4", "aspect_ratios"},
    {"squares", "1", "1: as many max_sizes; 0: none"},
    {"imh", "300", "image"},
    {"imw", "300", ""},
    {"steph", "8", "pixels from centre to centre"},
    {"stepw", "8", ""},
    {"offset", "0.5", "of the first centre"},
    {"clip", "1", "coordinates are clamped to [0, 1]"},
    {"minmax", "0", "1: squares first"},
    {"data", "usual", "usual (one ratio is 1) | ones (several are) | none (is 1) | wild (negative and infinite ones)"},
};

mluopsPriorBoxProblem problem_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t sizes = t.size("sizes");
  mluopsPriorBoxProblem p = {};
  p.shape = {dtype, sizes, t.size("ratios"), t.count("squares") != 0 ? sizes : 0, t.size("h"), t.size("w")};
  p.im_height = static_cast<std::int32_t>(t.size("imh"));
  p.im_width = static_cast<std::int32_t>(t.size("imw"));
  p.step_h = scalar_of(t, "steph", dtype);
  p.step_w = scalar_of(t, "stepw", dtype);
  p.offset = scalar_of(t, "offset", dtype);
  p.clip = static_cast<std::int32_t>(t.count("clip"));
  p.min_max_order = static_cast<std::int32_t>(t.count("minmax"));
  return p;
}

Fill ratios_of(const Case& t) {
  return [kind = t.word("data"), seed = t.seed("ratios")](std::int64_t i) {
    if (kind == "wild") return i % 3 == 0 ? -1.0 : i % 3 == 1 ? HUGE_VAL : 0.5;
    const bool one = kind == "ones" ? i % 2 == 0 : kind == "usual" && i == 0;
    return one ? 1 : 0.3 + 0.6 * unit_random(seed, i) + (i % 2 == 0 ? 1 : 0);
  };
}

/// The descriptor of no max_sizes.
std::shared_ptr<mluOpTensorStruct> nothing(mluOpDataType_t dtype) {
  mluOpTensorDescriptor_t desc = nullptr;
  mluOpCreateTensorDescriptor(&desc);
  const int none = 0;
  mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, dtype, 1, &none);
  return {desc, [](auto* d) { mluOpDestroyTensorDescriptor(d); }};
}

Description describe_prior_box(const Case& text, mluOpDataType_t dtype) {
  const mluopsPriorBoxProblem p = problem_of(text, dtype);
  const mluopsPriorBoxShape& s = p.shape;
  const std::vector<std::int64_t> boxes = {s.h, s.w, s.sizes * s.ratios + s.max_sizes, 4};
  Description d;
  d.scalars = {p.step_h, p.step_w, p.offset};
  d.tensors = {{.name = "min_sizes", .dtype = dtype, .dims = {s.sizes}, .fill = uniform(10, 100, text.seed("min"))},
               {.name = "aspect_ratios", .dtype = dtype, .dims = {s.ratios}, .fill = ratios_of(text)},
               {.name = "variances", .dtype = dtype, .dims = {4}, .fill = uniform(0.1, 0.2, text.seed("variances"))},
               {.name = "output", .dtype = dtype, .dims = boxes},
               {.name = "var", .dtype = dtype, .dims = boxes, .comparison = Comparison::kBits}};
  const bool squares = s.max_sizes != 0;
  const TensorSpec max_sizes = {
      .name = "max_sizes", .dtype = dtype, .dims = {s.max_sizes}, .fill = uniform(100, 200, text.seed("max"))};
  if (squares) d.tensors.insert(d.tensors.begin() + 3, max_sizes);
  d.flops = 2.0 * static_cast<double>(boxes[0] * boxes[1] * boxes[2] * 4);
  d.call = [p, squares, none = nothing(dtype)](mluOpHandle_t handle, const Arguments& t) {
    const Argument most = squares ? t[3] : Argument{none.get(), nullptr};
    const Argument& output = t[squares ? 4 : 3];
    const Argument& var = t[squares ? 5 : 4];
    return mluOpPriorBox(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, most.desc, most.data,
                         static_cast<int>(p.shape.h), static_cast<int>(p.shape.w), p.im_height, p.im_width,
                         static_cast<float>(p.step_h), static_cast<float>(p.step_w), static_cast<float>(p.offset),
                         p.clip != 0, p.min_max_order != 0, output.desc, output.data, var.desc, var.data);
  };
  d.reference = [p](const Inputs& in, Coordinates) {
    mluopsPriorBoxProblem own = p;
    own.min_sizes = in[0];
    own.aspect_ratios = in[1];
    own.variances = in[2];
    own.max_sizes = p.shape.max_sizes != 0 ? in[3] : nullptr;
    auto r = reference::prior_box(own);
    return std::vector<Values>{std::move(r.output), std::move(r.var)};
  };
  return d;
}

Cases smallest() {
  return list({"h=1 w=1 sizes=1 ratios=1 squares=0", "h=3 w=2 sizes=5 ratios=6 squares=1"});
}

Cases document() {  // maps of SSD 300, and of the vendor's tests
  return list({"h=38 w=38 sizes=1 ratios=3 steph=8 stepw=8", "h=19 w=19 sizes=1 ratios=5 steph=16 stepw=16",
               "h=3 w=3 sizes=1 ratios=5 steph=100 stepw=100", "h=9 w=32 sizes=6 ratios=4 imh=57 imw=72 clip=0"});
}

Cases edge() {
  const Cases kinds = each(list({"h=5 w=7 sizes=3 ratios=4", "h=5 w=7 sizes=3 ratios=4 squares=0", "h=4 w=3 ratios=1"}),
                           "data", {"usual", "ones", "none"});
  return joined(each(kinds, "minmax", {"0", "1"}),
                list({"h=9 w=3 clip=0 steph=3.7 stepw=0.3 offset=0", "h=2 w=2 sizes=2 ratios=5 data=wild",
                      "h=6 w=5 sizes=70 ratios=31", "h=8 w=8 offset=-40 imh=1 imw=1"}));
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"usual", "ones", "none"};
  Case c;
  const std::int64_t most = effort < 1 ? 20 : 60;
  c.set("h", odd_size(random, most)).set("w", odd_size(random, most)).set("sizes", random.integer(1, 4));
  c.set("ratios", random.integer(1, 6)).set("squares", random.integer(0, 1)).set("clip", random.integer(0, 1));
  return c.set("minmax", random.integer(0, 1)).set("data", random.pick(kinds)).set("imw", random.integer(100, 900));
}

Cases large() {
  return list({"h=150 w=150 sizes=2 ratios=5"});
}

Cases network() {
  return list({"h=38 w=38 sizes=1 ratios=3 steph=8 stepw=8", "h=64 w=64 sizes=1 ratios=5 imh=512 imw=512",
               "h=150 w=150 sizes=2 ratios=5 imh=1200 imw=1200"});
}

std::vector<Growth> growth() {
  return {growth_of(list({"h=40 w=40 sizes=2"})[0], "h")};
}

}  // namespace

std::vector<OperatorCases> prior_box_operators() {
  return {{.op = "prior_box",
           .function = "mluOpPriorBox",
           .parameters = kParameters,
           .describe = describe_prior_box,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"h"},
           .growth = growth}};
}

}  // namespace mluops::cases
