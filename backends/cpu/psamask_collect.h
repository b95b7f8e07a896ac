// PSAMask collect: a pixel copies a window of its row of masks to its row of the map, or back.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_H_
#endif

#include "backends/cpu/parallel.h"
#include "backends/cpu/psamask_collect_lines.h"
#include "backends/cpu/psamask_collect_stage.h"
#include "backends/cpu/scratch.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {

/// Whether pieces are put together in registers: the lines around them are read as well, which costs where pieces are
/// short and apart.
inline bool by_lines(const Collect& work, bool past_caches) {
  constexpr std::int64_t kLong = 96, kLongSideBySide = 48;
  if (HWY_TARGET == HWY_SCALAR) return false;
  return work.piece() >= (past_caches && work.from.width == work.piece() ? kLongSideBySide : kLong);
}

/// Items are blocks of neighbouring pixels, so a task owns what it writes.
template <class MoveOf>
void collect_by_lines(const Loop& loop, const Collect& work, std::int64_t block, bool past_caches, const MoveOf& move) {
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    const std::int64_t first = begin * block, last = std::min(work.pixels, end * block);
    if (past_caches) {
      CollectByLines<true, MoveOf>(work, move).run(first, last);
      stream_fence();
    } else {
      CollectByLines<false, MoveOf>(work, move).run(first, last);
    }
  });
}

/// As collect_by_lines. A task's buffer is `slot_bytes` of scratch, or none.
template <class MoveOf>
void collect_by_stage(const Loop& loop, const Collect& work, std::int64_t block, std::uint8_t* scratch,
                      std::int64_t slot_bytes, const MoveOf& move) {
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    CollectByStage task(work, slot_bytes > 0 ? scratch + slot * slot_bytes : nullptr);
    for (std::int64_t first = begin * block; first < std::min(work.pixels, end * block); first += block) {
      task.run(first, std::min(work.pixels, first + block), move);
    }
    if (slot_bytes > 0) stream_fence();
  });
}

/// move(h, w) is what a pixel moves, in elements.
template <class MoveOf>
mluOpStatus_t collect(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, const Collect& work,
                      const MoveOf& move) {
  const bool past_caches = work.pixels * work.to.size() > psamask::kStreamFrom, lines = by_lines(work, past_caches);
  const std::int64_t staged_bytes = lines ? work.to.size() : CollectByStage::buffer_bytes(work);
  const std::int64_t block = lines ? std::max(psamask::kPixelsTogether, psamask::collect_block(staged_bytes))
                                   : psamask::collect_block(staged_bytes);
  const Loop loop(context, call, ceil_div(work.pixels, block),
                  psamask::kByteNs * static_cast<double>(block * work.to.size()));
  const auto move_of = [&](std::int64_t pixel)
                           HWY_ATTR { return in_bytes(move(pixel / s.w % s.h, pixel % s.w), work.element); };
  if (lines) {
    collect_by_lines(loop, work, block, past_caches, move_of);
    return MLUOP_STATUS_SUCCESS;
  }
  const std::int64_t slot_bytes = past_caches ? round_up(block * staged_bytes, 64) : 0;
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (past_caches && scratch == nullptr) return no_memory(call);
  collect_by_stage(loop, work, block, reinterpret_cast<std::uint8_t*>(scratch), slot_bytes, move_of);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
