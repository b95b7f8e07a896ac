#include <algorithm>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "2", "images"},
    {"h", "30", "height of the map"},
    {"w", "30", "width of the map"},
    {"hm", "29", "height of a pixel's mask"},
    {"wm", "29", "width of a pixel's mask"},
    {"type", "0", "0 collect, 1 distribute"},
    {"data", "signed", "signed | special (NaN, Inf, -0 and subnormals among the values)"},
};

mluopsPsamaskShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("n"), t.size("h"), t.size("w"), t.size("hm"), t.size("wm"), t.integer("type")};
}

Fill numbers(const Case& t) {
  const Fill plain = uniform(-10, 10, t.seed("numbers"));
  if (t.word("data") != "special") return plain;
  return [plain, seed = t.seed("special")](std::int64_t i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), -0.0, 0x1p-140, 0x1p-24};
    const double share = unit_random(seed, i) / 0.3;
    return share < 1 ? special[static_cast<int>(share * 6)] : plain(i);
  };
}

// Mask cells that fall on the map, summed over all positions of one axis.
std::int64_t cells_inside(std::int64_t size, std::int64_t mask) {
  std::int64_t cells = 0;
  for (std::int64_t at = 0; at < size; ++at) {
    for (std::int64_t i = 0; i < mask; ++i) {
      const std::int64_t target = at + i - (mask - 1) / 2;
      cells += target >= 0 && target < size;
    }
  }
  return cells;
}

struct Range {
  std::int64_t begin, end;
};

// Positions [0, size) no further from `at` than `before` behind and `after` ahead.
Range around(std::int64_t at, std::int64_t before, std::int64_t after, std::int64_t size) {
  return {std::max<std::int64_t>(0, at - before), std::min(size, at + after + 1)};
}

// The mask cells that fall on the map, row by row of every pixel's mask.
void visit_masks(const mluopsPsamaskShape& s, const RunVisitor& visit) {
  const std::int64_t half_h = (s.h_mask - 1) / 2, half_w = (s.w_mask - 1) / 2;
  for (std::int64_t pixel = 0; pixel < s.n * s.h * s.w; ++pixel) {
    const std::int64_t y = pixel / s.w % s.h - half_h, x = pixel % s.w - half_w;
    const Range rows = around(-y, 0, s.h - 1, s.h_mask), columns = around(-x, 0, s.w - 1, s.w_mask);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      visit((pixel * s.h_mask + i) * s.w_mask + columns.begin, columns.end - columns.begin);
    }
  }
}

// The elements of dy that some mask cell goes to: of source pixels those of their targets, or the other way round.
void visit_maps(const mluopsPsamaskShape& s, const RunVisitor& visit) {
  const std::int64_t half_h = (s.h_mask - 1) / 2, half_w = (s.w_mask - 1) / 2;
  const std::int64_t rest_h = s.h_mask - 1 - half_h, rest_w = s.w_mask - 1 - half_w;
  const bool collect = s.psa_type == 0;
  for (std::int64_t pixel = 0; pixel < s.n * s.h * s.w; ++pixel) {
    const Range rows = around(pixel / s.w % s.h, collect ? half_h : rest_h, collect ? rest_h : half_h, s.h);
    const Range columns = around(pixel % s.w, collect ? half_w : rest_w, collect ? rest_w : half_w, s.w);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      visit((pixel * s.h + i) * s.w + columns.begin, columns.end - columns.begin);
    }
  }
}

Description describe_either(const Case& text, mluOpDataType_t dtype) {
  const mluopsPsamaskShape s = shape_of(text, dtype);
  const bool forward = text.op() == "psamask_forward";
  const std::vector<std::int64_t> masks = {s.n, s.h, s.w, s.h_mask * s.w_mask}, maps = {s.n, s.h, s.w, s.h * s.w};
  TensorSpec from = {.name = forward ? "x" : "dy", .layout = MLUOP_LAYOUT_NHWC, .dtype = dtype};
  from.dims = forward ? masks : maps;
  from.fill = numbers(text);
  // Cells that fall off the map are never read, nor elements of dy under no cell.
  const double copied = static_cast<double>(s.n * cells_inside(s.h, s.h_mask) * cells_inside(s.w, s.w_mask));
  from.touched = copied / static_cast<double>(from.elements());
  from.runs = [s, forward](const RunVisitor& visit) { forward ? visit_masks(s, visit) : visit_maps(s, visit); };
  TensorSpec to = {.name = forward ? "y" : "dx", .layout = MLUOP_LAYOUT_NHWC, .dtype = dtype};
  to.dims = forward ? maps : masks;
  to.comparison = Comparison::kBits;
  Description d;
  d.tensors = {from, to};
  d.call = [s, forward](mluOpHandle_t handle, const Arguments& t) {
    const int h_mask = static_cast<int>(s.h_mask), w_mask = static_cast<int>(s.w_mask);
    return forward
               ? mluOpPsamaskForward(handle, s.psa_type, t[0].desc, t[0].data, h_mask, w_mask, t[1].desc, t[1].data)
               : mluOpPsamaskBackward(handle, s.psa_type, t[0].desc, t[0].data, h_mask, w_mask, t[1].desc, t[1].data);
  };
  d.reference = [s, forward](const Inputs& in, Coordinates) {
    return std::vector<Values>{forward ? reference::psamask_forward({s, in[0], nullptr})
                                       : reference::psamask_backward({s, in[0], nullptr})};
  };
  return d;
}

const std::vector<std::string> kTypes = {"0", "1"};

Cases smallest() {
  return list({"n=1 h=1 w=1 hm=1 wm=1 type=0", "n=1 h=3 w=2 hm=3 wm=2 type=0", "n=1 h=3 w=2 hm=3 wm=2 type=1"});
}

Cases document() {
  return each(list({
                  "n=1 h=2 w=2 hm=3 wm=3",       // figure of the design document
                  "n=123 h=3 w=12 hm=29 wm=22",  // vendor's forward test
                  "n=1 h=64 w=32 hm=32 wm=32",   // vendor's backward test, half the rows, batch 1 of 16
                  "n=4 h=8 w=8 hm=4 wm=4",       // mmcv: even mask
                  "n=1 h=30 w=30 hm=59 wm=59",   // PSANet
                  "n=1 h=49 w=49 hm=31 wm=31",   // PSANet, mask 31 of 97
                  "n=1 h=60 w=60 hm=13 wm=13",   // PSANet, mask 13 of 119
              }),
              "type", kTypes);
}

Cases edge() {
  return each(list({
                  "n=1 h=1 w=1 hm=1 wm=1",
                  "n=2 h=5 w=7 hm=1 wm=1",    // a mask of one cell
                  "n=1 h=1 w=9 hm=3 wm=4",    // one row
                  "n=3 h=9 w=1 hm=4 wm=3",    // one column
                  "n=1 h=3 w=4 hm=15 wm=17",  // larger than twice the map
                  "n=2 h=4 w=4 hm=2 wm=6",    // even sizes
                  "n=1 h=5 w=3 hm=1 wm=8",
                  "n=40 h=2 w=3 hm=3 wm=3",  // more images than clusters
                  "n=1 h=37 w=2 hm=5 wm=2",
                  "n=1 h=2 w=33 hm=3 wm=64",
                  "n=2 h=5 w=6 hm=7 wm=5 data=special",
              }),
              "type", kTypes);
}

Case random_case(Random& random, double effort) {
  const std::int64_t most = effort < 1 ? 8 : 17;
  Case c;
  c.set("n", random.integer(1, random.chance(0.2) ? 20 : 4));
  c.set("h", odd_size(random, most)).set("w", odd_size(random, most));
  c.set("hm", random.integer(1, 2 * most)).set("wm", random.integer(1, 2 * most)).set("type", random.integer(0, 1));
  if (random.chance(0.2)) c.set("data", "special");
  return c;
}

Cases large() {
  return each(list({"n=1 h=24 w=24 hm=47 wm=47", "n=2 h=40 w=40 hm=30 wm=30"}), "type", kTypes);
}

Cases network() {
  return each(list({"n=2 h=30 w=30 hm=59 wm=59", "n=2 h=49 w=49 hm=97 wm=97", "n=2 h=60 w=60 hm=119 wm=119"}), "type",
              kTypes);
}

std::vector<Growth> growth() {
  const Case base = list({"n=2 h=16 w=16 hm=31 wm=31 type=0"})[0];
  return {growth_of(base, "n"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "hm"),
          growth_of(base, "wm")};
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = describe_either,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                     .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> psamask_operators() {
  return {entry("psamask_forward", "mluOpPsamaskForward"), entry("psamask_backward", "mluOpPsamaskBackward")};
}

}  // namespace mluops::cases
