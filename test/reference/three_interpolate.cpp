#include "test/reference/reference.h"

namespace mluops::reference {
namespace {

using Shape = mluopsThreeInterpolateShape;

struct Link {
  std::int64_t n;
  double weight;
};

// For each of the m points of batch b: the points that have it as a neighbour, with their weights.
std::vector<std::vector<Link>> links_of_batch(const Shape& s, const std::int32_t* indices, const Values& weights,
                                              std::int64_t b) {
  std::vector<std::vector<Link>> links(static_cast<std::size_t>(s.m));
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t j = 0; j < 3; ++j) {
      const std::int64_t at = (b * s.n + n) * 3 + j;
      if (indices[at] >= 0 && indices[at] < s.m) links[indices[at]].push_back({n, weights[at]});
    }
  }
  return links;
}

// body(position in features, position in output, weight) for every neighbour that exists.
template <class Body>
void for_each_link(const Shape& s, const std::int32_t* indices, const void* weight_data, Body body) {
  const Values weights = decode(s.dtype, weight_data, s.b * s.n * 3);
  for (std::int64_t b = 0; b < s.b; ++b) {
    const auto links = links_of_batch(s, indices, weights, b);
    for (std::int64_t c = 0; c < s.c; ++c) {
      for (std::int64_t m = 0; m < s.m; ++m) {
        for (const Link& link : links[m]) {
          body((b * s.c + c) * s.m + m, (b * s.c + c) * s.n + link.n, link.weight);
        }
      }
    }
  }
}

}  // namespace

Values three_interpolate_forward(const mluopsThreeInterpolateForwardProblem& p) {
  const Shape& s = p.shape;
  const Values features = decode(s.dtype, p.features, s.b * s.c * s.m);
  Values output(static_cast<std::size_t>(s.b * s.c * s.n), 0.0);
  for_each_link(s, p.indices, p.weights, [&](std::int64_t feature, std::int64_t out, double weight) {
    output[out] += weight * features[feature];
  });
  return output;
}

Values three_interpolate_backward(const mluopsThreeInterpolateBackwardProblem& p) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.b * s.c * s.n);
  Values grad_features(static_cast<std::size_t>(s.b * s.c * s.m), 0.0);
  for_each_link(s, p.indices, p.weights, [&](std::int64_t feature, std::int64_t out, double weight) {
    grad_features[feature] += weight * grad[out];
  });
  return grad_features;
}

Values three_interpolate_backward_weight(const mluopsThreeInterpolateBackwardWeightProblem& p) {
  const Shape& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.b * s.c * s.n);
  const Values features = decode(s.dtype, p.features, s.b * s.c * s.m);
  Values grad_weights(static_cast<std::size_t>(s.b * s.n * 3), 0.0);
  for (std::int64_t i = 0; i < s.b * s.n * 3; ++i) {
    const std::int64_t b = i / (s.n * 3), n = i / 3 % s.n, m = p.indices[i];
    for (std::int64_t c = 0; c < s.c && m >= 0 && m < s.m; ++c) {
      grad_weights[i] += grad[(b * s.c + c) * s.n + n] * features[(b * s.c + c) * s.m + m];
    }
  }
  return grad_weights;
}

}  // namespace mluops::reference
