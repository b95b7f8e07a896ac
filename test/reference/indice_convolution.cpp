#include "test/reference/indice_convolution.h"

#include "test/reference/indice_pairs.h"

namespace mluops::reference {
namespace {

// visit(element of an input row, element of the filters, element of an output row) for all products of the forward
// direction.
template <class Visit>
void each_product(const mluopsIndiceConvolutionShape& s, const mluopsIndicePairs& pairs, const Visit& visit) {
  each_pair(pairs, s.inputs, s.outputs, s.inverse != 0, [&](std::int64_t k, std::int64_t in, std::int64_t out) {
    for (std::int64_t i = 0; i < s.ci; ++i) {
      for (std::int64_t o = 0; o < s.co; ++o) {
        const std::int64_t weight = k * s.filter_strides[0] + i * s.filter_strides[1] + o * s.filter_strides[2];
        visit(in * s.ci + i, weight, out * s.co + o);
      }
    }
  });
}

Values zeros(std::int64_t count) {
  return Values(static_cast<std::size_t>(count), 0.0);
}

}  // namespace

Values indice_convolution_forward(const mluopsIndiceConvolutionForwardProblem& p) {
  const auto& s = p.shape;
  const Values features = decode(s.dtype, p.features, s.inputs * s.ci);
  const Values filters = decode(s.dtype, p.filters, p.pairs.offsets * s.ci * s.co);
  Values result = zeros(s.outputs * s.co);
  each_product(s, p.pairs,
               [&](std::int64_t i, std::int64_t w, std::int64_t o) { result[o] += features[i] * filters[w]; });
  return result;
}

Values indice_convolution_backward_data(const mluopsIndiceConvolutionBackwardDataProblem& p) {
  const auto& s = p.shape;
  const Values grad = decode(s.dtype, p.grad_output, s.outputs * s.co);
  const Values filters = decode(s.dtype, p.filters, p.pairs.offsets * s.ci * s.co);
  Values result = zeros(s.inputs * s.ci);
  each_product(s, p.pairs, [&](std::int64_t i, std::int64_t w, std::int64_t o) { result[i] += grad[o] * filters[w]; });
  return result;
}

Values indice_convolution_backward_filter(const mluopsIndiceConvolutionBackwardFilterProblem& p) {
  const auto& s = p.shape;
  const Values features = decode(s.dtype, p.features, s.inputs * s.ci);
  const Values grad = decode(s.dtype, p.grad_output, s.outputs * s.co);
  Values result = zeros(p.pairs.offsets * s.ci * s.co);
  each_product(s, p.pairs, [&](std::int64_t i, std::int64_t w, std::int64_t o) { result[w] += features[i] * grad[o]; });
  return result;
}

}  // namespace mluops::reference
