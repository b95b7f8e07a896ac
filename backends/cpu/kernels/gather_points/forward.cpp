// GatherPoints and GroupPoints, forward: output[b,c,m] = points[b,c,idx[b,m]], 0 where the index is outside.
//
// points [B,C,N], idx [B,M], output [B,C,M]. An item is a run of the indices of up to four rows (b,c) and owns their
// elements of the output. Elements are only moved, 2, 4 or 8 bytes each: bound by the memory the output goes to.
#include <cstdint>
#include <type_traits>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/gather_points/geometry.h"
#include "mluops/problem/gather_points.h"

MLUOPS_CPU_DECLARE(gather_points_forward, mluopsGatherPointsForwardProblem)

namespace mluops::cpu::gather_points {
namespace {

/// out[r * pitch + i] = rows[r * n + idx[i]] for kCount rows.
template <std::int64_t kCount, class E>
void gather(const E* rows, std::int64_t n, const std::int32_t* __restrict idx, std::int64_t count, E* __restrict out,
            std::int64_t pitch) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = idx[i];
    const bool inside = at >= 0 && at < n;
    for (std::int64_t r = 0; r < kCount; ++r) out[r * pitch + i] = inside ? rows[r * n + at] : E{};
  }
}

template <class E>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsGatherPointsForwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t runs = ceil_div(s.m, kRun);
  const double run_ns = cost::kGather * static_cast<double>(std::min(s.m, kRun) * std::min(s.c, kRows));
  Loop(context, call, Rows::items(s) * runs, run_ns).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t item = begin; item < end; ++item) {
      const Rows rows(s, item / runs);
      const std::int64_t first = item % runs * kRun, count = std::min(kRun, s.m - first);
      const E* const from = static_cast<const E*>(p.points) + rows.first * s.n;
      const std::int32_t* const idx = p.idx + rows.image * s.m + first;
      E* const to = static_cast<E*>(p.output) + rows.first * s.m + first;
      if (rows.count == kRows) {
        gather<kRows>(from, s.n, idx, count, to, s.m);
        continue;
      }
      for (std::int64_t r = 0; r < rows.count; ++r) gather<1>(from + r * s.n, s.n, idx, count, to + r * s.m, s.m);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::gather_points

namespace mluops::cpu {

mluOpStatus_t operators::gather_points_forward(Context& context, const mluopsCall& call,
                                               const mluopsGatherPointsForwardProblem& problem) {
  return with_element(call, problem.shape.dtype, [&](auto tag) {
    constexpr std::size_t kSize = sizeof(typename decltype(tag)::type);
    using Wide = std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>;
    using Bits = std::conditional_t<kSize == 2, std::uint16_t, Wide>;
    return gather_points::forward<Bits>(context, call, problem);
  });
}

}  // namespace mluops::cpu
