#include "test/reference/poly_nms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "test/reference/polygons.h"

namespace mluops::reference {

double iou_of_quadrilaterals(const double* a, const double* b) {
  const Values first(a, a + 8), second(b, b + 8);
  const double both = area(first) + area(second);
  if (both == 0) return 1;
  const double shared = shared_area(first, second);
  return shared > 0 ? shared / (both - shared) : 0;
}

PolyNmsResult poly_nms(const mluopsPolyNmsProblem& p) {
  const std::int64_t n = p.shape.n;
  const Values boxes = decode(p.shape.dtype, p.boxes, n * 9);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n)), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const double a = boxes[9 * i + 8], b = boxes[9 * j + 8];
    return std::isnan(a) ? !std::isnan(b) : a > b;
  });
  for (const std::int64_t j : order) {
    if (std::none_of(kept.begin(), kept.end(), [&](std::int64_t i) {
          return iou_of_quadrilaterals(&boxes[9 * i], &boxes[9 * j]) > p.iou_threshold;
        })) {
      kept.push_back(j);
    }
  }
  std::sort(kept.begin(), kept.end());
  PolyNmsResult r{Values(static_cast<std::size_t>(n), 0.0), Values{static_cast<double>(kept.size())}};
  std::copy(kept.begin(), kept.end(), r.output.begin());
  return r;
}

}  // namespace mluops::reference
