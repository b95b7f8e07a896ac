#include "test/reference/three_nn.h"

#include <limits>

#include "test/reference/nearest.h"

namespace mluops::reference {
namespace {

constexpr double kStart = 1e40;  // distance of a neighbour nobody has found

}  // namespace

ThreeNNResult three_nn_forward(const mluopsThreeNNForwardProblem& p) {
  const mluopsThreeNNShape& s = p.shape;
  const Values unknown = decode(s.dtype, p.unknown, s.b * s.n * 3), known = decode(s.dtype, p.known, s.b * s.m * 3);
  const double missing = s.dtype == MLUOP_DTYPE_DOUBLE ? kStart : std::numeric_limits<double>::infinity();
  ThreeNNResult result{Values(unknown.size(), missing), Values(unknown.size(), 0.0)};
  for (std::int64_t i = 0; i < s.b * s.n; ++i) {
    const auto found = nearest(s.dtype, &unknown[3 * i], &known[i / s.n * s.m * 3], s.m, 3, missing);
    for (std::size_t j = 0; j < found.size(); ++j) {
      result.dist2[3 * i + j] = found[j].first;
      result.idx[3 * i + j] = static_cast<double>(found[j].second);
    }
  }
  return result;
}

}  // namespace mluops::reference
