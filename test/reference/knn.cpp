#include "test/reference/knn.h"

#include "test/reference/nearest.h"

namespace mluops::reference {
namespace {

constexpr double kStart = 1e10;  // distance of a neighbour nobody has found

}  // namespace

KnnResult knn(const mluopsKnnProblem& p) {
  const mluopsKnnShape& s = p.shape;
  const Values points = decode(s.dtype, p.xyz, s.b * s.n * 3), centres = decode(s.dtype, p.new_xyz, s.b * s.m * 3);
  const auto size = static_cast<std::size_t>(s.b * s.m * s.k);
  KnnResult result{Values(size, 0.0), Values(size, kStart)};
  for (std::int64_t i = 0; i < s.b * s.m; ++i) {
    const auto found = nearest(s.dtype, &centres[3 * i], &points[i / s.m * s.n * 3], s.n, s.k, kStart);
    for (std::size_t j = 0; j < found.size(); ++j) {
      result.dist2[i * s.k + j] = found[j].first;
      result.idx[i * s.k + j] = static_cast<double>(found[j].second);
    }
  }
  return result;
}

}  // namespace mluops::reference
