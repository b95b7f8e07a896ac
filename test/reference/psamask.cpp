#include "test/reference/reference.h"

namespace mluops::reference {
namespace {

using Shape = mluopsPsamaskShape;

// Position in y of what pixel `source` says about pixel `target`.
std::int64_t y_index(const Shape& s, std::int64_t n, std::int64_t source, std::int64_t target) {
  const std::int64_t pixels = s.h * s.w;
  return s.psa_type == 0 ? (n * pixels + source) * pixels + target : (n * pixels + target) * pixels + source;
}

// Cell of source's mask that lies on target, or -1.
std::int64_t cell(const Shape& s, std::int64_t source, std::int64_t target) {
  const std::int64_t i = target / s.w - source / s.w + (s.h_mask - 1) / 2;
  const std::int64_t j = target % s.w - source % s.w + (s.w_mask - 1) / 2;
  return i < 0 || i >= s.h_mask || j < 0 || j >= s.w_mask ? -1 : i * s.w_mask + j;
}

// body(index in x, index in y) for every mask cell that lies on the map, found by asking all pairs of pixels.
template <class Body>
void for_each_copy(const Shape& s, Body body) {
  const std::int64_t pixels = s.h * s.w, cells = s.h_mask * s.w_mask;
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t source = 0; source < pixels; ++source) {
      for (std::int64_t target = 0; target < pixels; ++target) {
        const std::int64_t k = cell(s, source, target);
        if (k >= 0) body((n * pixels + source) * cells + k, y_index(s, n, source, target));
      }
    }
  }
}

std::int64_t x_count(const Shape& s) {
  return s.n * s.h * s.w * s.h_mask * s.w_mask;
}
std::int64_t y_count(const Shape& s) {
  return s.n * s.h * s.w * s.h * s.w;
}

}  // namespace

Values psamask_forward(const mluopsPsamaskForwardProblem& p) {
  const Values x = decode(p.shape.dtype, p.x, x_count(p.shape));
  Values y(static_cast<std::size_t>(y_count(p.shape)), 0.0);
  for_each_copy(p.shape, [&](std::int64_t at_x, std::int64_t at_y) { y[at_y] = x[at_x]; });
  return y;
}

Values psamask_backward(const mluopsPsamaskBackwardProblem& p) {
  const Values dy = decode(p.shape.dtype, p.dy, y_count(p.shape));
  Values dx(static_cast<std::size_t>(x_count(p.shape)), 0.0);
  for_each_copy(p.shape, [&](std::int64_t at_x, std::int64_t at_y) { dx[at_x] = dy[at_y]; });
  return dx;
}

}  // namespace mluops::reference
