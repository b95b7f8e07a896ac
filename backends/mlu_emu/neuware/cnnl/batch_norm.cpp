// The steps of batch normalization over several processes, with channels last. Sums in double, results rounded once.
#include <cmath>

#include "backends/mlu_emu/neuware/cnnl/dense.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

Dims channels(const Tensor* x_desc) {
  require(x_desc != nullptr && x_desc->rank() >= 2, "x must have two dimensions or more, channels last");
  return {x_desc->dims.back()};
}

/// The sums over rows of f(element, channel).
template <class F>
Values sums(const Array& x, F f) {
  const std::int64_t c = x.dims().back();
  Values sum(at(c), 0.0);
  for (std::int64_t i = 0; i < x.count(); ++i) sum[at(i % c)] += f(i, i % c);
  return sum;
}

double value_or(const std::optional<Array>& array, std::int64_t i, double otherwise) {
  return array ? (*array)[i] : otherwise;
}

/// The moments of a channel in all processes together.
struct Moments {
  double rows = 0, mean = 0, variance = 0;
};
Moments joined(const Array& mean_all, const Array& invstd_all, const Array& count_all, std::int64_t channel,
               double eps) {
  const std::int64_t c = mean_all.dim(1), processes = mean_all.dim(0);
  Moments all;
  for (std::int64_t p = 0; p < processes; ++p) {
    all.rows += count_all[p];
    all.mean += count_all[p] * mean_all[p * c + channel];
  }
  all.mean /= all.rows;
  for (std::int64_t p = 0; p < processes; ++p) {
    const double invstd = invstd_all[p * c + channel], away = mean_all[p * c + channel] - all.mean;
    all.variance += count_all[p] * (1 / (invstd * invstd) - eps + away * away) / all.rows;
  }
  return all;
}

/// What both forms of the gradient of x share: sums divided by the number of rows are means.
struct Elements {
  cnnlTensorDescriptor_t diff_y_desc;
  const void* diff_y;
  cnnlTensorDescriptor_t x_desc;
  const void* x;
  cnnlTensorDescriptor_t mean_desc;
  const void* mean;
  cnnlTensorDescriptor_t invstd_desc;
  const void* invstd;
  cnnlTensorDescriptor_t filter_desc;
  const void* filter;
  cnnlTensorDescriptor_t dy_desc;
  const void* dy;
  cnnlTensorDescriptor_t dy_xmu_desc;
  const void* dy_xmu;
  cnnlTensorDescriptor_t diff_x_desc;
  void* diff_x;
};
void backward_elements(const Elements& e, double rows) {
  const Dims c = channels(e.x_desc);
  const Array x("x", e.x_desc, e.x), diff_y("diff_y", e.diff_y_desc, e.diff_y, x.dims()),
      mean("mean", e.mean_desc, e.mean, c), invstd("invstd", e.invstd_desc, e.invstd, c),
      dy("sum_dy", e.dy_desc, e.dy, c), dy_xmu("sum_dy_xmu", e.dy_xmu_desc, e.dy_xmu, c);
  const std::optional<Array> filter = optional_array("filter", e.filter_desc, e.filter, c);
  const Result diff_x("diff_x", e.diff_x_desc, e.diff_x, x.dims());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t k = i % c[0];
    const double slope = (x[i] - mean[k]) * invstd[k] * invstd[k] * dy_xmu[k] / rows;
    diff_x.set(i, (diff_y[i] - dy[k] / rows - slope) * invstd[k] * value_or(filter, k, 1));
  }
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlSyncBatchNormStats_v2(cnnlHandle_t, cnnlTensorDescriptor_t x_desc, const void* x, void*, size_t,
                                       float eps, cnnlTensorDescriptor_t mean_desc, void* mean,
                                       cnnlTensorDescriptor_t invstd_desc, void* invstd) {
  return guarded(__func__, [&] {
    const Dims c = channels(x_desc);
    const Array in("x", x_desc, x);
    const Result means("mean", mean_desc, mean, c), invstds("invstd", invstd_desc, invstd, c);
    if (in.count() == 0) return;
    const auto rows = static_cast<double>(in.count() / c[0]);
    Values first = sums(in, [&](std::int64_t i, std::int64_t) { return in[i]; });
    for (double& m : first) m /= rows;
    Values second = sums(in, [&](std::int64_t i, std::int64_t k) { return std::pow(in[i] - first[at(k)], 2); });
    for (double& v : second) v = 1 / std::sqrt(v / rows + static_cast<double>(eps));
    means.set(first);
    invstds.set(second);
  });
}

cnnlStatus_t cnnlSyncBatchNormGatherStatsWithCounts(cnnlHandle_t, cnnlTensorDescriptor_t mean_all_desc,
                                                    const void* mean_all, cnnlTensorDescriptor_t invstd_all_desc,
                                                    const void* invstd_all, cnnlTensorDescriptor_t moving_mean_desc,
                                                    void* moving_mean, cnnlTensorDescriptor_t moving_var_desc,
                                                    void* moving_var, float momentum, float eps,
                                                    cnnlTensorDescriptor_t count_all_desc, const void* count_all,
                                                    cnnlTensorDescriptor_t mean_desc, void* mean,
                                                    cnnlTensorDescriptor_t invstd_desc, void* invstd) {
  return guarded(__func__, [&] {
    require_rank("mean_all", mean_all_desc, 2);
    const Dims c = {mean_all_desc->dims[1]};
    const Array means("mean_all", mean_all_desc, mean_all),
        invstds("invstd_all", invstd_all_desc, invstd_all, means.dims()),
        counts("count_all", count_all_desc, count_all, {means.dim(0)});
    require((moving_mean_desc == nullptr) == (moving_var_desc == nullptr),
            "moving_mean and moving_var must both be given or both be null");
    std::optional<Result> old_mean, old_var;
    if (moving_mean_desc != nullptr) old_mean.emplace("moving_mean", moving_mean_desc, moving_mean, c);
    if (moving_var_desc != nullptr) old_var.emplace("moving_var", moving_var_desc, moving_var, c);
    const Result to_mean("mean", mean_desc, mean, c), to_invstd("invstd", invstd_desc, invstd, c);
    const auto step = static_cast<double>(momentum), least = static_cast<double>(eps);
    for (std::int64_t k = 0; k < c[0]; ++k) {
      const Moments m = joined(means, invstds, counts, k, least);
      to_mean.set(k, m.mean);
      to_invstd.set(k, 1 / std::sqrt(m.variance + least));
      if (!old_mean) continue;
      old_mean->set(k, (1 - step) * (*old_mean)[k] + step * m.mean);
      old_var->set(k, (1 - step) * (*old_var)[k] + step * m.variance * m.rows / (m.rows - 1));
    }
  });
}

cnnlStatus_t cnnlSyncBatchNormElemt(cnnlHandle_t, cnnlTensorDescriptor_t x_desc, const void* x,
                                    cnnlTensorDescriptor_t mean_desc, const void* mean,
                                    cnnlTensorDescriptor_t invstd_desc, const void* invstd,
                                    cnnlTensorDescriptor_t filter_desc, const void* filter,
                                    cnnlTensorDescriptor_t bias_desc, const void* bias, cnnlTensorDescriptor_t y_desc,
                                    void* y) {
  return guarded(__func__, [&] {
    const Dims c = channels(x_desc);
    const Array in("x", x_desc, x), means("mean", mean_desc, mean, c), invstds("invstd", invstd_desc, invstd, c);
    const std::optional<Array> factor = optional_array("filter", filter_desc, filter, c),
                               shift = optional_array("bias", bias_desc, bias, c);
    const Result out("y", y_desc, y, in.dims());
    for (std::int64_t i = 0; i < in.count(); ++i) {
      const std::int64_t k = i % c[0];
      out.set(i, (in[i] - means[k]) * invstds[k] * value_or(factor, k, 1) + value_or(shift, k, 0));
    }
  });
}

cnnlStatus_t cnnlSyncBatchnormBackwardReduce_v2(
    cnnlHandle_t, cnnlTensorDescriptor_t dz_desc, const void* dz, cnnlTensorDescriptor_t x_desc, const void* x,
    cnnlTensorDescriptor_t mean_desc, const void* mean, cnnlTensorDescriptor_t invstd_desc, const void* invstd, void*,
    size_t, cnnlTensorDescriptor_t dfilter_desc, void* dfilter, cnnlTensorDescriptor_t dbias_desc, void* dbias,
    cnnlTensorDescriptor_t sum_dy_desc, void* sum_dy, cnnlTensorDescriptor_t sum_dy_xmu_desc, void* sum_dy_xmu,
    bool of_x, bool of_filter, bool of_bias) {
  return guarded(__func__, [&] {
    const Dims c = channels(x_desc);
    const Array in("x", x_desc, x), grad("dz", dz_desc, dz, in.dims()), means("mean", mean_desc, mean, c),
        invstds("invstd", invstd_desc, invstd, c);
    std::optional<Result> to_sum, to_product, to_filter, to_bias;
    if (of_x) to_sum.emplace("sum_dy", sum_dy_desc, sum_dy, c);
    if (of_x) to_product.emplace("sum_dy_xmu", sum_dy_xmu_desc, sum_dy_xmu, c);
    if (of_filter) to_filter.emplace("dfilter", dfilter_desc, dfilter, c);
    if (of_bias) to_bias.emplace("dbias", dbias_desc, dbias, c);
    const Values mu = means.values();
    const Values sum = sums(in, [&](std::int64_t i, std::int64_t) { return grad[i]; });
    Values product = sums(in, [&](std::int64_t i, std::int64_t k) { return grad[i] * (in[i] - mu[at(k)]); });
    if (to_sum) to_sum->set(sum);
    if (to_product) to_product->set(product);
    if (to_bias) to_bias->set(sum);
    for (std::int64_t k = 0; k < c[0]; ++k) product[at(k)] *= invstds[k];
    if (to_filter) to_filter->set(product);
  });
}

cnnlStatus_t cnnlSyncBatchNormBackwardElemt(cnnlHandle_t, cnnlTensorDescriptor_t diff_y_desc, const void* diff_y,
                                            cnnlTensorDescriptor_t x_desc, const void* x,
                                            cnnlTensorDescriptor_t mean_desc, const void* mean,
                                            cnnlTensorDescriptor_t invstd_desc, const void* invstd,
                                            cnnlTensorDescriptor_t filter_desc, const void* filter,
                                            cnnlTensorDescriptor_t mean_dy_desc, const void* mean_dy,
                                            cnnlTensorDescriptor_t mean_dy_xmu_desc, const void* mean_dy_xmu,
                                            cnnlTensorDescriptor_t diff_x_desc, void* diff_x) {
  return guarded(__func__, [&] {
    backward_elements({diff_y_desc, diff_y, x_desc, x, mean_desc, mean, invstd_desc, invstd, filter_desc, filter,
                       mean_dy_desc, mean_dy, mean_dy_xmu_desc, mean_dy_xmu, diff_x_desc, diff_x},
                      1);
  });
}

cnnlStatus_t cnnlSyncBatchNormBackwardElemtV2(
    cnnlHandle_t, cnnlTensorDescriptor_t diff_y_desc, const void* diff_y, cnnlTensorDescriptor_t x_desc, const void* x,
    cnnlTensorDescriptor_t mean_desc, const void* mean, cnnlTensorDescriptor_t invstd_desc, const void* invstd,
    cnnlTensorDescriptor_t filter_desc, const void* filter, cnnlTensorDescriptor_t sum_dy_desc, const void* sum_dy,
    cnnlTensorDescriptor_t sum_dy_xmu_desc, const void* sum_dy_xmu, cnnlTensorDescriptor_t count_desc,
    const void* count, cnnlTensorDescriptor_t diff_x_desc, void* diff_x) {
  return guarded(__func__, [&] {
    require_rank("count", count_desc, 1);
    const Array counts("count", count_desc, count);
    double rows = 0;
    for (std::int64_t p = 0; p < counts.count(); ++p) rows += counts[p];
    backward_elements({diff_y_desc, diff_y, x_desc, x, mean_desc, mean, invstd_desc, invstd, filter_desc, filter,
                       sum_dy_desc, sum_dy, sum_dy_xmu_desc, sum_dy_xmu, diff_x_desc, diff_x},
                      rows);
  });
}
}
