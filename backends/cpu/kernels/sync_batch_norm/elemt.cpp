// SyncBatchNorm's passes over x [rows,c]: the normalization and the gradient of x, line by line (rows-inl.h), and the
// statistics of several processes joined, which are few. A task owns the lines it writes; bound by memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sync_batch_norm/elemt.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "backends/cpu/kernels/sync_batch_norm/rows-inl.h"
#include "mluops/problem/sync_batch_norm.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE {
namespace {

/// Element `channel` of what may be absent.
template <class A>
double or_else(const void* data, std::int64_t channel, double absent) {
  return data == nullptr ? absent : static_cast<double>(static_cast<const A*>(data)[channel]);
}

template <class T>
mluOpStatus_t elemt(Context& context, const mluopsCall& call, const mluopsSyncBatchNormElemtProblem& p) {
  using A = Acc<T>;
  const Lines lines(p.shape.rows, p.shape.c);
  A* const mean = context.arena.reserve_array<A>(3, lines.reserved());
  if (mean == nullptr) return no_memory(call);
  A *const scale = mean + lines.width, *const bias = scale + lines.width;
  repeat(lines, mean, [&](std::int64_t ch) { return static_cast<const A*>(p.mean)[ch]; });
  repeat(lines, scale, [&](std::int64_t ch) { return or_else<A>(p.invstd, ch, 0) * or_else<A>(p.filter, ch, 1); });
  repeat(lines, bias, [&](std::int64_t ch) { return or_else<A>(p.bias, ch, 0); });
  const T* const x = static_cast<const T*>(p.x);
  return for_lines(context, call, lines, static_cast<T*>(p.y), 2 * cost::kMove,
                   [=](auto d, std::int64_t first, std::int64_t i) HWY_ATTR {
                     const auto difference = hn::Sub(load(d, x + first + i), hn::LoadU(d, mean + i));
                     return hn::MulAdd(difference, hn::LoadU(d, scale + i), hn::LoadU(d, bias + i));
                   });
}

/// Rows of all processes; 1 where sums are means already.
double rows_of_all(const mluopsSyncBatchNormBackwardElemtProblem& p) {
  if (p.processes == 0) return 1;
  double rows = 0;
  for (std::int64_t i = 0; i < p.processes; ++i) rows += p.count[i];
  return rows;
}

template <class T>
mluOpStatus_t backward_elemt(Context& context, const mluopsCall& call,
                             const mluopsSyncBatchNormBackwardElemtProblem& p) {
  using A = Acc<T>;
  const Lines lines(p.shape.rows, p.shape.c);
  A* const mean = context.arena.reserve_array<A>(4, lines.reserved());
  if (mean == nullptr) return no_memory(call);
  A *const mean_dy = mean + lines.width, *const slope = mean_dy + lines.width, *const scale = slope + lines.width;
  const double rows = rows_of_all(p);
  const auto of = [](const void* data, std::int64_t ch) { return or_else<A>(data, ch, 1); };
  repeat(lines, mean, [&](std::int64_t ch) { return of(p.mean, ch); });
  repeat(lines, mean_dy, [&](std::int64_t ch) { return of(p.sum_dy, ch) / rows; });
  repeat(lines, slope,
         [&](std::int64_t ch) { return of(p.invstd, ch) * of(p.invstd, ch) * (of(p.sum_dy_xmu, ch) / rows); });
  repeat(lines, scale, [&](std::int64_t ch) { return of(p.invstd, ch) * of(p.filter, ch); });
  const T *const diff_y = static_cast<const T*>(p.diff_y), *const x = static_cast<const T*>(p.x);
  return for_lines(context, call, lines, static_cast<T*>(p.diff_x), 3 * cost::kMove,
                   [=](auto d, std::int64_t first, std::int64_t i) HWY_ATTR {
                     const auto difference = hn::Sub(load(d, x + first + i), hn::LoadU(d, mean + i));
                     const auto rest = hn::Sub(load(d, diff_y + first + i), hn::LoadU(d, mean_dy + i));
                     return hn::Mul(hn::NegMulAdd(difference, hn::LoadU(d, slope + i), rest), hn::LoadU(d, scale + i));
                   });
}

/// The gradient of x from sums, which are divided by the rows that are counted.
template <class T>
mluOpStatus_t backward_elemt_v2(Context& context, const mluopsCall& call,
                                const mluopsSyncBatchNormBackwardElemtProblem& p) {
  return backward_elemt<T>(context, call, p);
}

// ---- statistics of several processes ----

/// moving = (1 - momentum) * moving + momentum * value.
template <class T>
void move(void* moving, std::int64_t ch, double momentum, double value) {
  if (moving == nullptr) return;
  T& element = static_cast<T*>(moving)[ch];
  const double moved = (1 - momentum) * static_cast<double>(to_acc(element)) + momentum * value;
  element = from_acc<T>(static_cast<Acc<T>>(moved));
}

template <class T>
void gather_channel(const mluopsSyncBatchNormGatherStatsProblem& p, double rows, std::int64_t ch) {
  using A = Acc<T>;
  const std::int64_t processes = p.shape.processes, c = p.shape.c;
  const auto count = [&](std::int64_t i) { return static_cast<double>(to_acc(static_cast<const T*>(p.count_all)[i])); };
  double mean = 0, variance = 0;
  for (std::int64_t i = 0; i < processes; ++i) mean += count(i) * or_else<A>(p.mean_all, i * c + ch, 0);
  mean /= rows;
  for (std::int64_t i = 0; i < processes; ++i) {
    const double invstd = or_else<A>(p.invstd_all, i * c + ch, 0), apart = or_else<A>(p.mean_all, i * c + ch, 0) - mean;
    variance += count(i) * (1 / (invstd * invstd) - p.exact_eps + apart * apart);
  }
  variance /= rows;
  static_cast<A*>(p.mean)[ch] = static_cast<A>(mean);
  static_cast<A*>(p.invstd)[ch] = static_cast<A>(1 / std::sqrt(variance + p.exact_eps));
  move<T>(p.moving_mean, ch, p.exact_momentum, mean);
  move<T>(p.moving_var, ch, p.exact_momentum, variance * rows / (rows - 1));
}

template <class T>
mluOpStatus_t gather_stats(Context& context, const mluopsCall& call, const mluopsSyncBatchNormGatherStatsProblem& p) {
  double rows = 0;
  for (std::int64_t i = 0; i < p.shape.processes; ++i) {
    rows += static_cast<double>(to_acc(static_cast<const T*>(p.count_all)[i]));
  }
  const double channel_ns = 8 * cost::kStep * static_cast<double>(p.shape.processes + 2);
  Loop(context, call, p.shape.c, channel_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t ch = begin; ch < end; ++ch) gather_channel<T>(p, rows, ch);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(sync_batch_norm_elemt, sync_batch_norm, elemt, mluopsSyncBatchNormElemtProblem, with_element)
MLUOPS_CPU_ENTRY(sync_batch_norm_backward_elemt, sync_batch_norm, backward_elemt,
                 mluopsSyncBatchNormBackwardElemtProblem, with_element)
MLUOPS_CPU_ENTRY(sync_batch_norm_backward_elemt_v2, sync_batch_norm, backward_elemt_v2,
                 mluopsSyncBatchNormBackwardElemtProblem, with_element)
MLUOPS_CPU_ENTRY(sync_batch_norm_gather_stats, sync_batch_norm, gather_stats, mluopsSyncBatchNormGatherStatsProblem,
                 with_element)
