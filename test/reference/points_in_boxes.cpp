#include "test/reference/points_in_boxes.h"

#include "test/reference/box_frame.h"

namespace mluops::reference {
namespace {

// found(cloud, point, box) for every pair that belongs together, box by box.
template <class Found>
void for_each_pair(const mluopsPointsInBoxesShape& s, const void* points, const void* boxes, Found found) {
  const Values at = decode(s.dtype, points, s.b * s.m * 3), numbers = decode(s.dtype, boxes, s.b * s.n * 7);
  for (std::int64_t b = 0; b < s.b; ++b) {
    for (std::int64_t n = 0; n < s.n; ++n) {
      const BoxFrame box(s.dtype, &numbers[(b * s.n + n) * 7], s.centred != 0);
      for (std::int64_t m = 0; m < s.m; ++m) {
        if (box.has(&at[(b * s.m + m) * 3])) found(b, m, n);
      }
    }
  }
}

}  // namespace

Values points_in_boxes_part(const mluopsPointsInBoxesPartProblem& p) {
  const mluopsPointsInBoxesShape& s = p.shape;
  Values idx(static_cast<std::size_t>(s.b * s.m), -1.0);
  for_each_pair(s, p.points, p.boxes, [&](std::int64_t b, std::int64_t m, std::int64_t n) {
    double& first = idx[b * s.m + m];
    if (first < 0) first = static_cast<double>(n);
  });
  return idx;
}

Values points_in_boxes_all(const mluopsPointsInBoxesAllProblem& p) {
  const mluopsPointsInBoxesShape& s = p.shape;
  Values inside(static_cast<std::size_t>(s.b * s.m * s.n), 0.0);
  for_each_pair(s, p.points, p.boxes,
                [&](std::int64_t b, std::int64_t m, std::int64_t n) { inside[(b * s.m + m) * s.n + n] = 1; });
  return inside;
}

}  // namespace mluops::reference
