// BallQuery as device code. new_xyz [b,m,3], xyz [b,n,3], idx [b,m,nsample].
//
// A task owns centres and their rows of idx. A tile of centres stays while tiles of points go by; the numbers of those
// inside a ball are packed and stored behind the ones found before. Half is computed in float. About 15 operations for
// each pair: bound by arithmetic.
#include <algorithm>

#include "backends/mlu_emu/kernels/points.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/ball_query.h"
#include "common/shape.h"
#include "mluops/problem/ball_query.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kLine = plan::kNfuAlign / 4;  // lanes

template <class T>
class BallQuery {
 public:
  BallQuery(const mluopsBallQueryProblem& problem, const plan::BallQueryPlan& plan, char* nram)
      : p_(problem),
        s_(problem.shape),
        plan_(plan),
        centres_(reinterpret_cast<T*>(nram + plan.centres_offset)),
        rows_(reinterpret_cast<float*>(nram + plan.rows_offset)),
        distance_(reinterpret_cast<float*>(nram + plan.distance_offset)),
        found_(reinterpret_cast<std::int32_t*>(nram + plan.found_offset)),
        first_(reinterpret_cast<std::int32_t*>(nram + plan.first_offset)),
        numbers_(reinterpret_cast<std::int32_t*>(nram + plan.numbers_offset)),
        selected_(reinterpret_cast<std::int32_t*>(nram + plan.selected_offset)) {
    for (std::int64_t i = 0; i < plan.tile; ++i) numbers_[i] = static_cast<std::int32_t>(i);
  }

  void run(std::int64_t cloud, plan::Share centres);

 private:
  void query(std::int64_t centre, plan::Share centres, std::int64_t first_point, std::int64_t lanes);
  float* inside(std::int64_t lanes);
  void fill_rest(std::int64_t centre, plan::Share centres);

  std::int32_t* row(std::int64_t centre) { return p_.idx + centre * s_.nsample; }
  std::int32_t* list() { return selected_ + kLine; }  // behind the count

  const mluopsBallQueryProblem& p_;
  const mluopsBallQueryShape& s_;
  const plan::BallQueryPlan& plan_;
  T* centres_;
  float *rows_, *distance_;
  std::int32_t *found_, *first_, *numbers_, *selected_;
};

template <class T>
void BallQuery<T>::run(std::int64_t cloud, plan::Share centres) {
  const std::int64_t size = centres.size();
  __memcpy(centres_, static_cast<const T*>(p_.new_xyz) + 3 * centres.begin, bytes_of<T>(3 * size), GDRAM2NRAM);
  __bang_write_value(found_, plan_.tile, std::int32_t{0});
  __bang_write_value(first_, plan_.tile, std::int32_t{0});
  for (std::int64_t n = 0; n < s_.n; n += plan_.tile) {
    const std::int64_t points = std::min(plan_.tile, s_.n - n), lanes = round_up(points, kPointLanes);
    load_point_rows(rows_, distance_, static_cast<const T*>(p_.xyz) + 3 * (cloud * s_.n + n), points, lanes);
    for (std::int64_t i = 0; i < size; ++i)
      if (found_[i] < s_.nsample) query(i, centres, n, lanes);
  }
  for (std::int64_t i = 0; i < size; ++i) fill_rest(i, centres);
}

/// Stores the points of the tile that are inside the ball, up to nsample of all.
template <class T>
void BallQuery<T>::query(std::int64_t centre, plan::Share centres, std::int64_t first_point, std::int64_t lanes) {
  squared_distances(distance_, rows_, centres_ + 3 * centre, lanes);
  __bang_select(selected_, numbers_, reinterpret_cast<const std::int32_t*>(inside(lanes)), lanes);
  const std::int64_t before = found_[centre];
  const std::int64_t taken = std::min<std::int64_t>(selected_[0], s_.nsample - before);
  if (taken == 0) return;
  __bang_add_scalar(list(), list(), static_cast<std::int32_t>(first_point), round_up(taken, kLine));
  if (before == 0) first_[centre] = list()[0];
  __memcpy(row(centres.begin + centre) + before, list(), bytes_of<std::int32_t>(taken), NRAM2GDRAM);
  found_[centre] = static_cast<std::int32_t>(before + taken);
}

/// 1 where a distance is 0, or at least the least radius' square and below the greatest one's; else 0.
template <class T>
float* BallQuery<T>::inside(std::int64_t lanes) {
  float *far_enough = distance_ + lanes, *result = distance_ + 2 * lanes;
  __bang_ge_scalar(far_enough, distance_, s_.min_radius * s_.min_radius, lanes);
  __bang_lt_scalar(result, distance_, s_.max_radius * s_.max_radius, lanes);
  __bang_and(far_enough, far_enough, result, lanes);
  __bang_eq_scalar(result, distance_, 0.0f, lanes);
  __bang_or(result, result, far_enough, lanes);
  return result;
}

/// Behind the points found the first of them, or zeros where there is none.
template <class T>
void BallQuery<T>::fill_rest(std::int64_t centre, plan::Share centres) {
  std::int64_t at = found_[centre];
  if (at == s_.nsample) return;
  __bang_write_value(list(), std::min(plan_.tile, round_up(s_.nsample - at, kLine)), first_[centre]);
  for (; at < s_.nsample; at += plan_.tile)
    __memcpy(row(centres.begin + centre) + at, list(), bytes_of<std::int32_t>(std::min(plan_.tile, s_.nsample - at)),
             NRAM2GDRAM);
}

template <class T>
void ball_query_kernel(const mluopsBallQueryProblem& problem, const plan::BallQueryPlan& plan, char* nram) {
  const mluopsBallQueryShape& s = problem.shape;
  BallQuery<T> kernel(problem, plan, nram);
  for_cloud_tiles(plan::contiguous_share(s.b * s.m, taskDim, taskId), s.m, plan.tile,
                  [&](std::int64_t cloud, plan::Share centres) { kernel.run(cloud, centres); });
}

}  // namespace

mluOpStatus_t ball_query(Context& context, const mluopsCall& call, const mluopsBallQueryProblem& p) {
  const mluopsBallQueryShape& s = p.shape;
  const auto plan = plan::plan_ball_query(s, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const bool narrow = s.dtype == MLUOP_DTYPE_HALF;
  const std::int64_t element = narrow ? 2 : 4;
  return launch(
      context, call, "ball_query", plan,
      {reads("new_xyz", p.new_xyz, 3 * s.b * s.m * element), reads("xyz", p.xyz, 3 * s.b * s.n * element),
       writes("idx", p.idx, bytes_of<std::int32_t>(s.b * s.m * s.nsample))},
      [&](char* nram) { narrow ? ball_query_kernel<half>(p, plan, nram) : ball_query_kernel<float>(p, plan, nram); });
}

}  // namespace mluops::emu
