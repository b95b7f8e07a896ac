// PSAMask collect: a pixel copies a window of its row of masks to its row of the map, or back.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_INL_H_
#endif

#include "backends/cpu/kernels/psamask/collect_lines-inl.h"
#include "backends/cpu/kernels/psamask/collect_stage-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Output that large is written non-temporally.
inline bool leaves_caches(const Collect& work) {
  return work.pixels * work.to.size() > non_temporal_from::psamask();
}

/// Whether to put pieces together in registers: the lines around them are read as well, which costs where pieces are
/// short and apart.
inline Fit by_lines(const Collect& work) {
  constexpr std::int64_t kLong = 96, kLongSideBySide = 48;
  const bool side_by_side = leaves_caches(work) && work.from.width == work.piece();
  return fit(true, work.piece() >= (side_by_side ? kLongSideBySide : kLong));
}

/// Items are blocks of neighbouring pixels, so a task owns what it writes.
template <class MoveOf>
void collect_by_lines(const Loop& loop, const Collect& work, std::int64_t block, bool non_temporal,
                      const MoveOf& move) {
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    const std::int64_t first = begin * block, last = std::min(work.pixels, end * block);
    if (non_temporal) {
      CollectByLines<true, MoveOf>(work, move).run(first, last);
      non_temporal_fence();
    } else {
      CollectByLines<false, MoveOf>(work, move).run(first, last);
    }
  });
}

/// Pixels by way of a buffer, `slot_bytes` of the arena for each task, or with no buffer in place. Items are blocks of
/// neighbouring pixels, so a task owns what it writes.
template <class MoveOf>
void collect_by_stage(const Loop& loop, const Collect& work, std::int64_t block, std::uint8_t* buffers,
                      std::int64_t slot_bytes, const MoveOf& move) {
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    CollectByStage task(work, slot_bytes > 0 ? buffers + slot * slot_bytes : nullptr);
    for (std::int64_t first = begin * block; first < std::min(work.pixels, end * block); first += block) {
      task.run(first, std::min(work.pixels, first + block), move);
    }
    if (slot_bytes > 0) non_temporal_fence();
  });
}

/// How the output of collect is put together: in registers; in a buffer, to be written non-temporally; or in place.
enum class Gathering { kRegisters, kStaged, kCached };

/// move(h, w) is what a pixel moves, in elements.
template <Gathering gathering, class MoveOf>
mluOpStatus_t collect(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, const Collect& work,
                      const MoveOf& move) {
  constexpr bool lines = gathering == Gathering::kRegisters, staged = gathering == Gathering::kStaged;
  const std::int64_t staged_bytes = lines ? work.to.size() : CollectByStage::buffer_bytes(work);
  const std::int64_t block =
      lines ? std::max(kPixelsTogether, collect_block(staged_bytes)) : collect_block(staged_bytes);
  const Loop loop(context, call, ceil_div(work.pixels, block),
                  cost::kMoveByte * static_cast<double>(block * work.to.size()));
  const auto move_of = [&](std::int64_t pixel)
                           HWY_ATTR { return in_bytes(move(pixel / s.w % s.h, pixel % s.w), work.element); };
#if HWY_TARGET != HWY_SCALAR
  if constexpr (lines) {
    collect_by_lines(loop, work, block, leaves_caches(work), move_of);
    return MLUOP_STATUS_SUCCESS;
  }
#endif
  const std::int64_t slot_bytes = staged ? round_up(block * staged_bytes, 64) : 0;
  std::byte* const buffers = context.arena.reserve_array<std::byte>(slot_bytes, loop.slots());
  if (staged && buffers == nullptr) return no_memory(call);
  collect_by_stage(loop, work, block, reinterpret_cast<std::uint8_t*>(buffers), slot_bytes, move_of);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
