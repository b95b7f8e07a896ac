// SyncBatchNorm from its definition: sums over the rows of each channel, one after the other.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct Moments {
  Values mean;    ///< [c]
  Values invstd;  ///< [c]
};
Moments sync_batch_norm_stats(const mluopsSyncBatchNormStatsProblem& problem);

struct GatheredMoments {
  Values moving_mean, moving_var, mean, invstd;  ///< [c]; the first two empty where the problem has none
};
/// moving_mean and moving_var: what they held.
GatheredMoments sync_batch_norm_gather_stats(const mluopsSyncBatchNormGatherStatsProblem& problem,
                                             const Values& moving_mean, const Values& moving_var);

/// y [rows,c].
Values sync_batch_norm_elemt(const mluopsSyncBatchNormElemtProblem& problem);

struct BatchNormSums {
  Values dfilter, dbias, sum_dy, sum_dy_xmu;  ///< [c]
};
BatchNormSums sync_batch_norm_backward_reduce(const mluopsSyncBatchNormBackwardReduceProblem& problem);

/// diff_x [rows,c].
Values sync_batch_norm_backward_elemt(const mluopsSyncBatchNormBackwardElemtProblem& problem);

}  // namespace mluops::reference
