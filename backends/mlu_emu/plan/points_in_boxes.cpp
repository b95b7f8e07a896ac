#include "backends/mlu_emu/plan/points_in_boxes.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kWord = 4;
constexpr std::int64_t kLine = kNfuAlign / kWord;
constexpr std::int64_t kBoxWords = 7;
constexpr std::int64_t kRows = 3 + 3 + 1;  // work, x, y, z, result
constexpr std::int64_t kMostColumns = 64;  // enough for stores of 256 bytes

void lay_out(PointsInBoxesPlan& p, std::int64_t boxes_bytes) {
  const std::int64_t row = p.tile * kWord;
  p.work_offset = p.nram.add("points, work", 3 * row);
  p.rows_offset = p.nram.add("x, y, z", 3 * row);
  p.result_offset = p.nram.add("result", row);
  if (p.columns > 0) p.table_offset = p.nram.add("inside", p.columns * row);
  p.boxes_offset = p.nram.add("boxes", boxes_bytes);
}

PointsInBoxesPlan make_plan(const mluopsPointsInBoxesShape& s, const Machine& machine, std::int64_t columns) {
  PointsInBoxesPlan p;
  if (s.dtype != MLUOP_DTYPE_FLOAT) p.refusal = "the device's points_in_boxes takes float only";
  if (!p.ok() || refuse_large_tensor(p, "points", {s.b, s.m, 3}) || refuse_large_tensor(p, "boxes", {s.b, s.n, 7}))
    return p;
  p.columns = columns;
  const std::int64_t boxes_bytes = round_up(s.n * kBoxWords * kWord, kNfuAlign), point = (kRows + columns) * kWord;
  const std::int64_t need = boxes_bytes + kLine * point;
  if (machine.nram_bytes < need) {
    p.refusal = std::to_string(s.n) + " boxes and " + std::to_string(kLine) + " points " + nram_shortage(need, machine);
    return p;
  }
  p.tile = std::min(round_down((machine.nram_bytes - boxes_bytes) / point, kLine), round_up(s.m, kLine));
  lay_out(p, boxes_bytes);
  const std::int64_t tasks = std::min(machine.cores(), s.b * s.m);
  p.launch = {TaskType::kBlock, tasks, 1, 1};
  return p;
}

}  // namespace

PointsInBoxesPlan plan_points_in_boxes_part(const mluopsPointsInBoxesShape& s, const Machine& machine) {
  return make_plan(s, machine, 0);
}

PointsInBoxesPlan plan_points_in_boxes_all(const mluopsPointsInBoxesShape& s, const Machine& machine) {
  PointsInBoxesPlan p = make_plan(s, machine, std::min(s.n, kMostColumns));
  if (p.ok()) refuse_large_tensor(p, "inside", {s.b, s.m, s.n});
  return p;
}

}  // namespace mluops::emu::plan
