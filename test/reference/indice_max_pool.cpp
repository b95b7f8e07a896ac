#include "test/reference/indice_max_pool.h"

#include "test/reference/indice_pairs.h"

namespace mluops::reference {

Values indice_max_pool_forward(const mluopsIndiceMaxPoolForwardProblem& p) {
  const auto& s = p.shape;
  const Values features = decode(s.dtype, p.features, s.inputs * s.c);
  Values result(static_cast<std::size_t>(s.outputs * s.c), 0.0);
  each_pair(p.pairs, s.inputs, s.outputs, false, [&](std::int64_t, std::int64_t in, std::int64_t out) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      double& greatest = result[out * s.c + c];
      if (features[in * s.c + c] > greatest) greatest = features[in * s.c + c];
    }
  });
  return result;
}

Values indice_max_pool_backward(const mluopsIndiceMaxPoolBackwardProblem& p) {
  const auto& s = p.shape;
  const Values features = decode(s.dtype, p.features, s.inputs * s.c);
  const Values greatest = decode(s.dtype, p.features_out, s.outputs * s.c);
  const Values grad = decode(s.dtype, p.grad_output, s.outputs * s.c);
  Values result(static_cast<std::size_t>(s.inputs * s.c), 0.0);
  each_pair(p.pairs, s.inputs, s.outputs, false, [&](std::int64_t, std::int64_t in, std::int64_t out) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      if (features[in * s.c + c] == greatest[out * s.c + c]) result[in * s.c + c] += grad[out * s.c + c];
    }
  });
  return result;
}

}  // namespace mluops::reference
