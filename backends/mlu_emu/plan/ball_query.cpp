#include "backends/mlu_emu/plan/ball_query.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kGranule = 64;          // points; the documented lengths are multiples of it
constexpr std::int64_t kRows = 3 + 3 + 1 + 1;  // x, y, z, three of distances, numbers, selected
constexpr std::int64_t kCounters = 2;          // of a centre

void lay_out(BallQueryPlan& p, std::int64_t bytes) {
  const std::int64_t row = p.tile * kWord;
  p.centres_offset = p.nram.add("new_xyz", round_up(3 * p.tile * bytes, kNfuAlign));
  p.found_offset = p.nram.add("found", row);
  p.first_offset = p.nram.add("first", row);
  p.rows_offset = p.nram.add("x, y, z", 3 * row);
  p.distance_offset = p.nram.add("distance", 3 * row);
  p.numbers_offset = p.nram.add("numbers", row);
  p.selected_offset = p.nram.add("selected", kNfuAlign + row);
}

}  // namespace

BallQueryPlan plan_ball_query(const mluopsBallQueryShape& s, const Machine& machine) {
  BallQueryPlan p;
  if (s.dtype != MLUOP_DTYPE_HALF && s.dtype != MLUOP_DTYPE_FLOAT)
    p.refusal = "the device's ball_query takes half and float only";
  if (!p.ok() || refuse_large_tensor(p, "new_xyz", {s.b, s.m, 3}) || refuse_large_tensor(p, "xyz", {s.b, s.n, 3}) ||
      refuse_large_tensor(p, "idx", {s.b, s.m, s.nsample}))
    return p;
  const std::int64_t bytes = s.dtype == MLUOP_DTYPE_HALF ? 2 : 4, point = 3 * bytes + (kCounters + kRows) * kWord;
  p.tile = round_down((machine.nram_bytes - kNfuAlign) / point, kGranule);
  if (p.tile < kGranule) {
    p.refusal = std::to_string(kGranule) + " points: " + nram_shortage(kNfuAlign + kGranule * point, machine);
    return p;
  }
  lay_out(p, bytes);
  p.launch = union1_launch(machine, s.b * s.m);
  return p;
}

}  // namespace mluops::emu::plan
