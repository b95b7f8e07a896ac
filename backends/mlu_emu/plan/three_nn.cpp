#include "backends/mlu_emu/plan/three_nn.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kLanes = 64;                // rows of known points are multiples of it: whole lines of half, too
constexpr std::int64_t kRows = 7;                  // x, y, z, three of distances, one of infinities
constexpr std::int64_t kReserved = 3 * kNfuAlign;  // of which the least of a row takes one line

void lay_out(ThreeNNPlan& p, std::int64_t bytes) {
  const std::int64_t row = p.known * kFloat;
  p.least_offset = p.nram.add("least", kReserved);
  p.unknown_offset = p.nram.add("unknown", round_up(p.points * 3 * bytes, kNfuAlign));
  p.rows_offset = p.nram.add("known x, y, z", 3 * row);
  p.distance_offset = p.nram.add("distance", 3 * row);
  p.infinite_offset = p.nram.add("infinite", row);
  p.candidates_offset = p.nram.add("candidates", p.points * ThreeNNPlan::kCandidates * kFloat);
  p.indices_offset = p.nram.add("indices", p.points * ThreeNNPlan::kIndices * kFloat);
}

}  // namespace

ThreeNNPlan plan_three_nn(const mluopsThreeNNShape& s, const Machine& machine) {
  ThreeNNPlan p;
  if (s.dtype != MLUOP_DTYPE_HALF && s.dtype != MLUOP_DTYPE_FLOAT)
    p.refusal = "the device's three_nn takes half and float only";
  if (!p.ok() || refuse_large_tensor(p, "unknown", {s.b, s.n, 3}) || refuse_large_tensor(p, "known", {s.b, s.m, 3}))
    return p;
  const std::int64_t bytes = s.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
  const std::int64_t point = 3 * bytes + (ThreeNNPlan::kCandidates + ThreeNNPlan::kIndices) * kFloat;
  // Two thirds of NRAM for points and their candidates, one for known points.
  const std::int64_t left = machine.nram_bytes - kReserved - kNfuAlign;
  p.points = round_down(left / 3 * 2 / point, 2);
  p.known = std::min(round_down(left / 3 / (kRows * kFloat), kLanes), round_up(s.m, kLanes));
  if (p.points < 2 || p.known < 1) {
    p.refusal = "two points and " + std::to_string(kLanes) + " known ones: " +
                nram_shortage(kReserved + kNfuAlign + 3 * std::max(kLanes * kRows * kFloat, point), machine);
    return p;
  }
  lay_out(p, bytes);
  p.launch = union1_launch(machine, s.b * s.n);
  return p;
}

}  // namespace mluops::emu::plan
