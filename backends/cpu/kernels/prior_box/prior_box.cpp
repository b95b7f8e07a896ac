// PriorBox: the boxes of every pixel of a map, and their variances.
//
// output and var [H,W,P,4]. What the P boxes of a pixel add to its centre is found once; a task owns pixels and writes
// their boxes, one addition a number: bound by what is written. In double, rounded once.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/prior_box.h"

namespace mluops::cpu::prior_box {
namespace {

using Problem = mluopsPriorBoxProblem;

struct Sides {
  double *half_w, *half_h;

  Sides(Allocator& allocator, std::int64_t priors)
      : half_w(allocator.allocate<double>(priors)), half_h(allocator.allocate<double>(priors)) {}

  void put(std::int64_t i, double w, double h) const {
    half_w[i] = w / 2;
    half_h[i] = h / 2;
  }
};

/// Half the sides of the boxes that belong to one min_size: one for each ratio, and that of its max_size.
template <class T>
void find_sides(const Problem& p, std::int64_t size, const Sides& sides) {
  const mluopsPriorBoxShape& s = p.shape;
  const auto number = [](const void* data, std::int64_t i) {
    return static_cast<double>(to_acc(static_cast<const T*>(data)[i]));
  };
  const double least = number(p.min_sizes, size);
  const std::int64_t first = size * (s.ratios + s.max_sizes / s.sizes), last = first + s.ratios + s.max_sizes / s.sizes;
  std::int64_t i = first;
  const auto put_max = [&] {
    if (s.max_sizes == 0) return;
    const double side = std::sqrt(least * number(p.max_sizes, size));
    sides.put(i++, side, side);
  };
  bool square = p.min_max_order != 0;  // whose ratio, the first of 1, stands for it
  if (square) {
    sides.put(i++, least, least);
    put_max();
  }
  for (std::int64_t r = 0; r < s.ratios && i < last; ++r) {
    const double ratio = number(p.aspect_ratios, r);
    if (square && std::abs(ratio - 1) < 1e-6) {
      square = false;
    } else {
      sides.put(i++, least * std::sqrt(ratio), least / std::sqrt(ratio));
    }
  }
  if (p.min_max_order == 0) put_max();
}

template <class T>
void write_pixel(const Problem& p, std::int64_t pixel, std::int64_t priors, const Sides& sides) {
  const double x = (static_cast<double>(pixel % p.shape.w) + p.offset) * p.step_w;
  const double y = (static_cast<double>(pixel / p.shape.w) + p.offset) * p.step_h;
  const double w = p.im_width, h = p.im_height;
  const auto put = [&](T& to, double v) {
    to = from_acc<T>(static_cast<Acc<T>>(p.clip != 0 ? std::min(std::max(v, 0.0), 1.0) : v));
  };
  T* box = static_cast<T*>(p.output) + 4 * priors * pixel;
  T* variance = static_cast<T*>(p.var) + 4 * priors * pixel;
  for (std::int64_t i = 0; i < priors; ++i, box += 4, variance += 4) {
    put(box[0], (x - sides.half_w[i]) / w);
    put(box[1], (y - sides.half_h[i]) / h);
    put(box[2], (x + sides.half_w[i]) / w);
    put(box[3], (y + sides.half_h[i]) / h);
    std::copy_n(static_cast<const T*>(p.variances), 4, variance);
  }
}

template <class T>
mluOpStatus_t boxes(Context& context, const mluopsCall& call, const Problem& p) {
  const mluopsPriorBoxShape& s = p.shape;
  const std::int64_t priors = s.sizes * s.ratios + s.max_sizes;
  const auto sides = allocate<Sides>(context.arena, priors);
  if (!sides) return no_memory(call);
  for (std::int64_t size = 0; size < s.sizes; ++size) find_sides<T>(p, size, *sides);
  Loop(context, call, s.h * s.w, 5 * cost::kStep * static_cast<double>(priors))
      .run([&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t pixel = begin; pixel < end; ++pixel) write_pixel<T>(p, pixel, priors, *sides);
      });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::prior_box

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(prior_box, prior_box, boxes, mluopsPriorBoxProblem, with_element)
