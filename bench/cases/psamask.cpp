#include <algorithm>

#include "bench/cases/builders.h"

namespace bench {
namespace {

namespace ref = mluops::reference;

// Mask cells that fall on the map, summed over all positions of one axis.
std::int64_t cells_inside(std::int64_t size, int mask) {
  std::int64_t cells = 0;
  for (std::int64_t at = 0; at < size; ++at) {
    for (int i = 0; i < mask; ++i) {
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
void visit_x(const PsamaskSizes& s, const RunVisitor& visit) {
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
void visit_dy(const PsamaskSizes& s, const RunVisitor& visit) {
  const std::int64_t half_h = (s.h_mask - 1) / 2, half_w = (s.w_mask - 1) / 2;
  const std::int64_t rest_h = s.h_mask - 1 - half_h, rest_w = s.w_mask - 1 - half_w;
  const bool collect = s.type == 0;
  for (std::int64_t pixel = 0; pixel < s.n * s.h * s.w; ++pixel) {
    const Range rows = around(pixel / s.w % s.h, collect ? half_h : rest_h, collect ? rest_h : half_h, s.h);
    const Range columns = around(pixel % s.w, collect ? half_w : rest_w, collect ? rest_w : half_w, s.w);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      visit((pixel * s.h + i) * s.w + columns.begin, columns.end - columns.begin);
    }
  }
}

mluopsPsamaskShape shape_of(const PsamaskSizes& s, mluOpDataType_t dtype) {
  return {dtype, s.n, s.h, s.w, s.h_mask, s.w_mask, s.type};
}

void set_forward(Case& c, const PsamaskSizes& s) {
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpPsamaskForward(handle, s.type, t[0].desc, t[0].data, s.h_mask, s.w_mask, t[1].desc, t[1].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    return std::vector<Values>{ref::psamask_forward({shape, in[0], nullptr})};
  };
}

void set_backward(Case& c, const PsamaskSizes& s) {
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpPsamaskBackward(handle, s.type, t[0].desc, t[0].data, s.h_mask, s.w_mask, t[1].desc, t[1].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates) {
    return std::vector<Values>{ref::psamask_backward({shape, in[0], nullptr})};
  };
}

}  // namespace

Case make_psamask(const PsamaskSizes& s, Direction direction, mluOpDataType_t dtype) {
  const bool forward = direction == Direction::forward;
  Case c;
  c.op = forward ? "psamask_forward" : "psamask_backward";
  c.shape =
      bracketed({s.n, s.h, s.w}) + " mask " + std::to_string(s.h_mask) + (s.type == 0 ? " collect" : " distribute");
  c.dtype = dtype;
  c.exact = true;
  const std::vector<std::int64_t> x = {s.n, s.h, s.w, std::int64_t{s.h_mask} * s.w_mask},
                                  y = {s.n, s.h, s.w, s.h * s.w};
  // Cells that fall off the map are never read, y's elements under no cell neither.
  const double copied = static_cast<double>(s.n * cells_inside(s.h, s.h_mask) * cells_inside(s.w, s.w_mask));
  c.tensors = {{forward ? "x" : "dy", MLUOP_LAYOUT_NHWC, dtype, forward ? x : y, uniform(-1, 1, 1)},
               {forward ? "y" : "dx", MLUOP_LAYOUT_NHWC, dtype, forward ? y : x, {}}};
  c.tensors[0].touched = copied / static_cast<double>(c.tensors[0].elements());
  c.tensors[0].runs = [s, forward](const RunVisitor& visit) { forward ? visit_x(s, visit) : visit_dy(s, visit); };
  forward ? set_forward(c, s) : set_backward(c, s);
  return c;
}

}  // namespace bench
