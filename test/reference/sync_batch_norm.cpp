#include "test/reference/sync_batch_norm.h"

#include <cmath>

namespace mluops::reference {
namespace {

/// What belongs to channels; `absent` in the place of none.
Values channels(mluOpDataType_t dtype, const void* data, std::int64_t count, double absent = 0) {
  if (data == nullptr) return Values(static_cast<std::size_t>(count), absent);
  return decode(dtype == MLUOP_DTYPE_DOUBLE ? MLUOP_DTYPE_DOUBLE : MLUOP_DTYPE_FLOAT, data, count);
}

/// sum[c] of visit(element, channel) over rows.
template <class Shape, class F>
Values sums(const Shape& s, F f) {
  Values sum(static_cast<std::size_t>(s.c), 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.rows * s.c); ++i) {
    const std::size_t ch = i % static_cast<std::size_t>(s.c);
    sum[ch] += f(i, ch);
  }
  return sum;
}

}  // namespace

Moments sync_batch_norm_stats(const mluopsSyncBatchNormStatsProblem& p) {
  const Values x = decode(p.shape.dtype, p.x, p.shape.rows * p.shape.c);
  const auto rows = static_cast<double>(p.shape.rows);
  Moments m{sums(p.shape, [&](std::size_t i, std::size_t) { return x[i]; }), {}};
  for (double& mean : m.mean) mean /= rows;
  m.invstd = sums(p.shape, [&](std::size_t i, std::size_t ch) { return std::pow(x[i] - m.mean[ch], 2); });
  for (double& v : m.invstd) v = 1 / std::sqrt(v / rows + p.exact_eps);
  return m;
}

GatheredMoments sync_batch_norm_gather_stats(const mluopsSyncBatchNormGatherStatsProblem& p, const Values& moving_mean,
                                             const Values& moving_var) {
  const std::int64_t c = p.shape.c, processes = p.shape.processes;
  const Values mean_all = channels(p.shape.dtype, p.mean_all, processes * c),
               invstd_all = channels(p.shape.dtype, p.invstd_all, processes * c),
               count = decode(p.shape.dtype, p.count_all, processes);
  GatheredMoments m{moving_mean, moving_var, Values(static_cast<std::size_t>(c)), Values(static_cast<std::size_t>(c))};
  for (std::size_t ch = 0; ch < m.mean.size(); ++ch) {
    // As if all rows were in one process: the sums of x and of x^2.
    double rows = 0, sum = 0, squares = 0;
    for (std::size_t i = 0; i < count.size(); ++i) {
      const double mean = mean_all[i * m.mean.size() + ch], invstd = invstd_all[i * m.mean.size() + ch];
      rows += count[i];
      sum += count[i] * mean;
      squares += count[i] * (1 / (invstd * invstd) - p.exact_eps + mean * mean);
    }
    m.mean[ch] = sum / rows;
    const double variance = squares / rows - m.mean[ch] * m.mean[ch];
    m.invstd[ch] = 1 / std::sqrt(variance + p.exact_eps);
    if (moving_mean.empty()) continue;
    m.moving_mean[ch] += p.exact_momentum * (m.mean[ch] - moving_mean[ch]);
    m.moving_var[ch] += p.exact_momentum * (variance * rows / (rows - 1) - moving_var[ch]);
  }
  return m;
}

Values sync_batch_norm_elemt(const mluopsSyncBatchNormElemtProblem& p) {
  const mluopsSyncBatchNormShape& s = p.shape;
  const Values mean = channels(s.dtype, p.mean, s.c), invstd = channels(s.dtype, p.invstd, s.c),
               filter = channels(s.dtype, p.filter, s.c, 1), bias = channels(s.dtype, p.bias, s.c);
  Values y = decode(s.dtype, p.x, s.rows * s.c);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t ch = i % mean.size();
    y[i] = (y[i] - mean[ch]) * invstd[ch] * filter[ch] + bias[ch];
  }
  return y;
}

BatchNormSums sync_batch_norm_backward_reduce(const mluopsSyncBatchNormBackwardReduceProblem& p) {
  const mluopsSyncBatchNormShape& s = p.shape;
  const Values dz = decode(s.dtype, p.dz, s.rows * s.c), x = decode(s.dtype, p.x, s.rows * s.c),
               mean = channels(s.dtype, p.mean, s.c), invstd = channels(s.dtype, p.invstd, s.c);
  BatchNormSums r;
  r.sum_dy = r.dbias = sums(s, [&](std::size_t i, std::size_t) { return dz[i]; });
  r.sum_dy_xmu = r.dfilter = sums(s, [&](std::size_t i, std::size_t ch) { return dz[i] * (x[i] - mean[ch]); });
  for (std::size_t ch = 0; ch < mean.size(); ++ch) r.dfilter[ch] *= invstd[ch];
  return r;
}

Values sync_batch_norm_backward_elemt(const mluopsSyncBatchNormBackwardElemtProblem& p) {
  const mluopsSyncBatchNormShape& s = p.shape;
  const Values dy = decode(s.dtype, p.diff_y, s.rows * s.c), x = decode(s.dtype, p.x, s.rows * s.c),
               mean = channels(s.dtype, p.mean, s.c), invstd = channels(s.dtype, p.invstd, s.c),
               filter = channels(s.dtype, p.filter, s.c, 1), of_dy = channels(s.dtype, p.sum_dy, s.c),
               of_products = channels(s.dtype, p.sum_dy_xmu, s.c);
  double rows = p.processes == 0 ? 1 : 0;
  for (std::int64_t i = 0; i < p.processes; ++i) rows += p.count[i];
  Values dx(dy.size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    const std::size_t ch = i % mean.size();
    dx[i] = (dy[i] - of_dy[ch] / rows - (x[i] - mean[ch]) * std::pow(invstd[ch], 2) * of_products[ch] / rows) *
            invstd[ch] * filter[ch];
  }
  return dx;
}

}  // namespace mluops::reference
