#include "test/reference/assign_score_withk.h"

namespace mluops::reference {
namespace {

// term(output element, score, element of points, element of centers) for every product of the sums.
template <class Term>
void for_each_term(const mluopsAssignScoreWithkShape& s, const std::int32_t* knn_idx, Term term) {
  for (std::int64_t b = 0; b < s.b; ++b) {
    for (std::int64_t n = 0; n < s.p; ++n) {
      const std::int32_t* const row = knn_idx + (b * s.p + n) * s.k;
      for (std::int64_t k = 0; k < s.k; ++k) {
        if (row[k] < 0 || row[k] >= s.n || row[0] < 0 || row[0] >= s.n) continue;
        for (std::int64_t o = 0; o < s.o; ++o) {
          for (std::int64_t m = 0; m < s.m; ++m) {
            term(((b * s.o + o) * s.p + n) * s.k + k, ((b * s.p + n) * s.k + k) * s.m + m,
                 ((b * s.n + row[k]) * s.m + m) * s.o + o, ((b * s.n + row[0]) * s.m + m) * s.o + o);
          }
        }
      }
    }
  }
}

}  // namespace

Values assign_score_withk_forward(const mluopsAssignScoreWithkForwardProblem& p) {
  const mluopsAssignScoreWithkShape& s = p.shape;
  const std::int64_t rows = s.b * s.n * s.m * s.o;
  const Values points = decode(s.dtype, p.points, rows), centers = decode(s.dtype, p.centers, rows);
  const Values scores = decode(s.dtype, p.scores, s.b * s.p * s.k * s.m);
  Values output(static_cast<std::size_t>(s.b * s.o * s.p * s.k), 0.0);
  for_each_term(s, p.knn_idx, [&](std::int64_t out, std::int64_t score, std::int64_t point, std::int64_t center) {
    output[out] += scores[score] * (points[point] - centers[center]);
  });
  return output;
}

AssignScoreWithkGradients assign_score_withk_backward(const mluopsAssignScoreWithkBackwardProblem& p) {
  const mluopsAssignScoreWithkShape& s = p.shape;
  const std::int64_t rows = s.b * s.n * s.m * s.o;
  const Values points = decode(s.dtype, p.points, rows), centers = decode(s.dtype, p.centers, rows);
  const Values scores = decode(s.dtype, p.scores, s.b * s.p * s.k * s.m);
  const Values grad = decode(s.dtype, p.grad_output, s.b * s.o * s.p * s.k);
  AssignScoreWithkGradients r{Values(points.size(), 0.0), Values(points.size(), 0.0), Values(scores.size(), 0.0)};
  for_each_term(s, p.knn_idx, [&](std::int64_t out, std::int64_t score, std::int64_t point, std::int64_t center) {
    r.points[point] += scores[score] * grad[out];
    r.centers[center] -= scores[score] * grad[out];
    r.scores[score] += (points[point] - centers[center]) * grad[out];
  });
  return r;
}

}  // namespace mluops::reference
