// ThreeNN as device code. unknown [b,n,3], known [b,m,3], dist2 and idx [b,n,3].
//
// A task owns points and their rows of the outputs. A tile of points stays while tiles of known points go by: of each
// the three nearest are found one after the other, the one found made infinite, and put behind those of the tiles
// before, so equal distances keep the order of their indices. Half is computed in float. About 12 operations for each
// pair of points: bound by arithmetic.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/mlu_emu/kernels/points.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/three_nn.h"
#include "common/shape.h"
#include "mluops/problem/three_nn.h"

namespace mluops::emu {
namespace {

using Plan = plan::ThreeNNPlan;

constexpr std::int64_t kNeighbours = 3;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The least of n floats and where it is, the first of several.
struct Least {
  float value;
  std::int32_t index;

  Least(float* place, const float* row, std::int64_t n) {
    __bang_argmin(place, row, n);
    value = place[0];
    index = reinterpret_cast<const std::int32_t*>(place)[1];
  }
};

template <class T>
class ThreeNN {
 public:
  ThreeNN(const mluopsThreeNNForwardProblem& problem, const Plan& plan, char* nram)
      : p_(problem),
        plan_(plan),
        points_(reinterpret_cast<T*>(nram + plan.unknown_offset)),
        rows_(reinterpret_cast<float*>(nram + plan.rows_offset)),
        distance_(reinterpret_cast<float*>(nram + plan.distance_offset)),
        infinite_(reinterpret_cast<float*>(nram + plan.infinite_offset)),
        least_(reinterpret_cast<float*>(nram + plan.least_offset)),
        candidates_(reinterpret_cast<float*>(nram + plan.candidates_offset)),
        indices_(reinterpret_cast<std::int32_t*>(nram + plan.indices_offset)) {
    __bang_write_value(infinite_, plan.known, kInfinity);
  }

  void run(std::int64_t cloud, plan::Share points);

 private:
  void compare(std::int64_t cloud, std::int64_t points, plan::Share known);
  void take_nearest(std::int64_t point, plan::Share known, std::int64_t lanes);
  void reduce(std::int64_t point);
  void store(plan::Share points);

  float* candidates(std::int64_t point) { return candidates_ + point * Plan::kCandidates; }
  std::int32_t* indices(std::int64_t point) { return indices_ + point * Plan::kIndices; }

  const mluopsThreeNNForwardProblem& p_;
  const Plan& plan_;
  T* points_;
  float *rows_, *distance_, *infinite_, *least_, *candidates_;
  std::int32_t* indices_;
  std::int64_t held_ = 0;  // candidates of each point
};

template <class T>
void ThreeNN<T>::run(std::int64_t cloud, plan::Share points) {
  const std::int64_t size = points.size();
  __memcpy(points_, static_cast<const T*>(p_.unknown) + 3 * points.begin, bytes_of<T>(3 * size), GDRAM2NRAM);
  __bang_write_value(candidates_, size * Plan::kCandidates, kInfinity);
  held_ = 0;
  for (std::int64_t m = 0; m < p_.shape.m; m += plan_.known)
    compare(cloud, size, {m, std::min(p_.shape.m, m + plan_.known)});
  if (held_ > kNeighbours)
    for (std::int64_t i = 0; i < size; ++i) reduce(i);
  store(points);
}

template <class T>
void ThreeNN<T>::compare(std::int64_t cloud, std::int64_t points, plan::Share known) {
  const std::int64_t lanes = round_up(known.size(), kPointLanes);
  const T* from = static_cast<const T*>(p_.known) + 3 * (cloud * p_.shape.m + known.begin);
  load_point_rows(rows_, distance_, from, known.size(), lanes);
  const bool full = held_ + kNeighbours > Plan::kCandidates;
  for (std::int64_t i = 0; i < points; ++i) {
    if (full) reduce(i);
    squared_distances(distance_, rows_, points_ + 3 * i, lanes);
    __bang_minequal(distance_, infinite_, distance_, lanes);  // NaN is no distance
    if (full && i == 0) held_ = kNeighbours;
    take_nearest(i, known, lanes);
  }
  held_ += kNeighbours;
}

template <class T>
void ThreeNN<T>::take_nearest(std::int64_t point, plan::Share known, std::int64_t lanes) {
  for (std::int64_t j = 0; j < kNeighbours; ++j) {
    const Least least(least_, distance_, lanes);
    candidates(point)[held_ + j] = least.value;
    indices(point)[held_ + j] = static_cast<std::int32_t>(known.begin) + least.index;
    distance_[least.index] = kInfinity;
  }
}

/// Keeps the three nearest candidates of a point, in order, and drops the others.
template <class T>
void ThreeNN<T>::reduce(std::int64_t point) {
  float values[kNeighbours];
  std::int32_t numbers[kNeighbours];
  float* row = candidates(point);
  for (std::int64_t j = 0; j < kNeighbours; ++j) {
    const Least least(least_, row, Plan::kCandidates);
    values[j] = least.value;
    // With nothing but infinities left the place means nothing.
    numbers[j] = std::isinf(least.value) ? 0 : indices(point)[least.index];
    row[least.index] = kInfinity;
  }
  __bang_write_value(row, Plan::kCandidates, kInfinity);
  std::copy_n(values, kNeighbours, row);
  std::copy_n(numbers, kNeighbours, indices(point));
}

/// The first three of each point's row. A neighbour that is missing is infinitely far and number 0.
template <class T>
void ThreeNN<T>::store(plan::Share points) {
  const std::int64_t size = points.size(), first = kNeighbours * points.begin;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < kNeighbours; ++j)
      if (std::isinf(candidates(i)[j])) indices(i)[j] = 0;
  auto* nearest = reinterpret_cast<T*>(candidates_);
  if constexpr (sizeof(T) == sizeof(half))
    __bang_float2half_rn(nearest, candidates_, round_up(size, 2) * Plan::kCandidates);
  copy_rows(static_cast<T*>(p_.dist2) + first, nearest, bytes_of<T>(kNeighbours), size,
            {bytes_of<T>(kNeighbours), bytes_of<T>(Plan::kCandidates)}, NRAM2GDRAM);
  copy_rows(p_.idx + first, indices_, bytes_of<std::int32_t>(kNeighbours), size,
            {bytes_of<std::int32_t>(kNeighbours), bytes_of<std::int32_t>(Plan::kIndices)}, NRAM2GDRAM);
}

template <class T>
void three_nn_kernel(const mluopsThreeNNForwardProblem& problem, const Plan& plan, char* nram) {
  const mluopsThreeNNShape& s = problem.shape;
  ThreeNN<T> kernel(problem, plan, nram);
  for_cloud_tiles(plan::contiguous_share(s.b * s.n, taskDim, taskId), s.n, plan.points,
                  [&](std::int64_t cloud, plan::Share points) { kernel.run(cloud, points); });
}

}  // namespace

mluOpStatus_t three_nn_forward(Context& context, const mluopsCall& call, const mluopsThreeNNForwardProblem& p) {
  const mluopsThreeNNShape& s = p.shape;
  const auto plan = plan::plan_three_nn(s, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const bool narrow = s.dtype == MLUOP_DTYPE_HALF;
  const std::int64_t element = narrow ? 2 : 4, points = 3 * s.b * s.n;
  return launch(
      context, call, "three_nn_forward", plan,
      {reads("unknown", p.unknown, points * element), reads("known", p.known, 3 * s.b * s.m * element),
       writes("dist2", p.dist2, points * element), writes("idx", p.idx, bytes_of<std::int32_t>(points))},
      [&](char* nram) { narrow ? three_nn_kernel<half>(p, plan, nram) : three_nn_kernel<float>(p, plan, nram); });
}

}  // namespace mluops::emu
