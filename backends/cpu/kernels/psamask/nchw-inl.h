// PSAMask on NCHW tensors: x [n, h_mask*w_mask, h, w], y [n, h*w, h, w]. A pure move, as in NHWC.
//
// A task owns all planes of some own rows: target rows (collect) or map rows (distribute) forward, mask rows backward.
// These are whole contiguous blocks of the output nobody else writes. What a plane that is read has for several own
// rows lies together, so a task has several, and puts its output together in the second cache, from where it leaves in
// whole cache lines. Bound by reading the covered rows and writing the output once.
#if defined(MLUOPS_CPU_PSAMASK_NCHW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_NCHW_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_NCHW_INL_H_
#endif

#include <algorithm>
#include <new>

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/lines-inl.h"
#include "backends/cpu/kernels/psamask/nchw_rows-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Own rows, some planes of each, and some rows of these planes.
struct NchwBlock {
  Range owns, planes, rows;
};

/// How a direction's output is cut into blocks. Planes are read in groups, `read` each: those of a mask row (forward),
/// of a target row (collect) or of a map row (distribute); a group has at most one row for each own row.
template <class E, bool kForward>
class NchwBlocks {
 public:
  /// `staged`: whether a block is put together in scratch, and fits the second cache.
  NchwBlocks(const mluopsPsamaskShape& s, bool staged)
      : owns(kForward ? s.h : s.h_mask),
        planes(kForward ? s.w : s.w_mask),
        groups(kForward ? s.h_mask : s.h),
        read(kForward ? s.w_mask : s.w),
        h_(s.h),
        w_(s.w) {
    constexpr std::int64_t kLeastPlanes = 16, kLeastRows = 8;
    const std::int64_t most = second_cache(28) / static_cast<std::int64_t>(sizeof(E)) / w_;
    tile_ = std::clamp(most / kLeastRows, std::min(kLeastPlanes, planes), planes);
    const std::int64_t rows = std::max<std::int64_t>(1, most / tile_);
    run_ = staged ? std::clamp(rows / 2, std::min(kLeastRows, h_), h_) : h_;
    together_ = std::clamp<std::int64_t>(rows / run_, 1, owns);
  }

  const std::int64_t owns, planes, groups, read;  ///< of an image; of an own row; of an image; of a group

  /// Whether the blocks of a task follow each other in memory.
  bool joined() const { return run_ == h_ && tile_ == planes; }
  std::int64_t elements() const { return together_ * tile_ * run_ * w_; }
  std::int64_t tasks() const { return ceil_div(owns, together_); }  ///< of an image
  /// Planes that are under way at a time: those of a block, where another block goes on with their rows.
  std::int64_t under_way() const { return run_ == h_ ? 1 : together_ * tile_; }

  /// f(block) for those of a task.
  template <class F>
  HWY_INLINE void for_each(std::int64_t task, F&& f) const {
    const Range some = {task * together_, std::min(owns, (task + 1) * together_)};
    for (std::int64_t plane = 0; plane < planes; plane += tile_) {
      for (std::int64_t row = 0; row < h_; row += run_) {
        f(NchwBlock{some, {plane, std::min(planes, plane + tile_)}, {row, std::min(h_, row + run_)}});
      }
    }
  }

 private:
  std::int64_t h_, w_;
  std::int64_t tile_, run_, together_;  ///< planes, rows and own rows of a block
};

/// Which row of a group's planes an own row has, and which row of its own planes that becomes.
template <bool kForward>
class NchwRows {
 public:
  explicit NchwRows(const mluopsPsamaskShape& s) : win_(s), collect_(s.psa_type == 0) {}

  std::int64_t written(std::int64_t own, std::int64_t group) const {
    if (kForward) return collect_ ? own + win_.half_h - group : own + group - win_.half_h;
    return collect_ ? group - own + win_.half_h : group;
  }
  std::int64_t read(std::int64_t own, std::int64_t group) const {
    if (collect_) return written(own, group);
    return kForward ? own : group + own - win_.half_h;
  }
  /// Which of `rows` any group has for an own row; others are zeros.
  Range moved(std::int64_t own, Range rows) const {
    Range some = {win_.half_h - own, win_.h + win_.half_h - own};
    if (kForward && collect_) some = {own + win_.half_h - win_.h_mask + 1, own + win_.half_h + 1};
    if (kForward && !collect_) some = {own - win_.half_h, own - win_.half_h + win_.h_mask};
    some.begin = std::clamp(some.begin, rows.begin, rows.end);
    some.end = std::clamp(some.end, some.begin, rows.end);
    return some;
  }

 private:
  Window win_;
  bool collect_;
};

/// One direction of one call, for one thread. kForward: x to y, else y to x.
template <class E, bool kForward>
class Mover {
 public:
  using Blocks = NchwBlocks<E, kForward>;
  using Writer = LineWriter<true>;

  /// One task's room: where a block of output is put together, and what writes its planes. A plane that another
  /// block goes on with is not finished, so its last cache line is written once and whole.
  struct Scratch {
    E* stage;
    Writer* writers;

    Scratch(Allocator& allocator, const Blocks& blocks)
        : stage(allocator.allocate<E>(stage_elements(blocks))),
          writers(allocator.allocate<Writer>(blocks.under_way())) {}
  };

  /// `scratch` may be nullptr: output is put together in place.
  Mover(const mluopsPsamaskShape& s, const Blocks& blocks, const void* from, void* to, const Scratch* scratch)
      : s_(s),
        map_(s.h * s.w),
        blocks_(blocks),
        rows_(s),
        moves_(s),
        from_(static_cast<const E*>(from)),
        to_(static_cast<E*>(to)),
        stage_(scratch != nullptr ? scratch->stage : nullptr),
        writers_(scratch != nullptr ? scratch->writers : nullptr) {
    for (std::int64_t i = 0; writers_ != nullptr && i < blocks.under_way(); ++i) new (writers_ + i) Writer();
  }

  void run(std::int64_t task) {
    const std::int64_t n = task / blocks_.tasks();
    image_ = from_ + n * blocks_.groups * blocks_.read * map_;
    out_ = to_ + n * blocks_.owns * blocks_.planes * map_;
    blocks_.for_each(task % blocks_.tasks(), [&](const NchwBlock& block) HWY_ATTR {
      for (std::int64_t g = 0; g < blocks_.groups; ++g) {
        ahead_ = ahead(g + 1, block);
        for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) put_row(own, g, block);
      }
      stage_ != nullptr ? write(block) : zero_rest(block);
    });
  }

 private:
  static constexpr std::int64_t kLine = 64 / sizeof(E);  ///< before and behind the stage, read and not used
  static std::int64_t stage_elements(const Blocks& blocks) { return blocks.elements() + 2 * kLine; }

  E* output(std::int64_t own, std::int64_t plane, std::int64_t row) const {
    return out_ + (own * blocks_.planes + plane) * map_ + row * s_.w;
  }
  std::int64_t bytes(std::int64_t rows) const { return rows * s_.w * static_cast<std::int64_t>(sizeof(E)); }

  /// Row r of an own row's planes of a block.
  Rows<E> target(const NchwBlock& block, std::int64_t own, std::int64_t r) const {
    if (stage_ == nullptr) return {output(own, block.planes.begin, r), map_};
    const std::int64_t plane = block.rows.size() * s_.w, first = (own - block.owns.begin) * block.planes.size() * plane;
    return {stage_ + kLine + first + (r - block.rows.begin) * s_.w, plane};
  }
  /// Row r of a group's planes.
  Rows<const E> source(std::int64_t g, std::int64_t r) const {
    return {image_ + g * blocks_.read * map_ + r * s_.w, map_};
  }

  /// Whether a group has a row for an own row of a block.
  bool has_row(std::int64_t own, std::int64_t g, const NchwBlock& block) const {
    const std::int64_t written = rows_.written(own, g), read = rows_.read(own, g);
    return written >= block.rows.begin && written < block.rows.end && read >= 0 && read < s_.h;
  }

  void put_row(std::int64_t own, std::int64_t g, const NchwBlock& block) {
    if (!has_row(own, g, block)) return;
    const Rows<const E> from = source(g, rows_.read(own, g));
    const Rows<E> to = target(block, own, rows_.written(own, g));
    const bool collect = s_.psa_type == 0;
    if constexpr (kForward) {
      collect ? moves_.spread(from, block.planes, to, ahead_) : moves_.turn(from, block.planes, to, ahead_);
    } else {
      collect ? moves_.gather(from, block.planes, to, ahead_) : moves_.turn_back(from, block.planes, to, ahead_);
    }
  }

  /// The rows of a group that a block needs, to be prefetched while another group is moved.
  PrefetchPlanes ahead(std::int64_t g, const NchwBlock& block) const {
    Range read = {s_.h, 0};
    for (std::int64_t own = block.owns.begin; g < blocks_.groups && own < block.owns.end; ++own) {
      if (!has_row(own, g, block)) continue;
      read.begin = std::min(read.begin, rows_.read(own, g));
      read.end = std::max(read.end, rows_.read(own, g) + 1);
    }
    if (read.size() <= 0) return {};
    const std::int64_t vectors = ceil_div(s_.w, RowMoves<E>::kN);
    const std::int64_t rows = vectors * block.planes.size() / RowMoves<E>::kRowsPerStep;
    const std::int64_t tiles = vectors * ceil_div(block.planes.size(), RowMoves<E>::kN);
    const std::int64_t steps = block.owns.size() * std::max<std::int64_t>(1, s_.psa_type == 0 ? rows : tiles);
    return {source(g, read.begin).data, map_, blocks_.read, read.size() * s_.w, steps};
  }

  /// The block from the stage to where it belongs.
  void write(const NchwBlock& block) {
    const auto* const stage = reinterpret_cast<const std::uint8_t*>(stage_);
    const Readable readable = {stage, stage + stage_elements(blocks_) * static_cast<std::int64_t>(sizeof(E))};
    for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) {
      const Range moved = rows_.moved(own, block.rows);
      const Rows<E> from = target(block, own, moved.begin);
      for (std::int64_t p = 0; p < block.planes.size(); ++p) {
        const std::int64_t plane = block.planes.begin + p;
        Writer& writer = started_writer(block, own, plane);
        writer.zeros(bytes(moved.begin - block.rows.begin));
        writer.copy(reinterpret_cast<const std::uint8_t*>(from[p]), bytes(moved.size()), readable);
        writer.zeros(bytes(block.rows.end - moved.end));
        if (!blocks_.joined() && block.rows.end == s_.h) writer.finish();
      }
    }
    if (blocks_.joined()) writers_->finish();
  }

  /// The one of a plane, which is at the block's first row.
  Writer& started_writer(const NchwBlock& block, std::int64_t own, std::int64_t plane) {
    const std::int64_t k = (own - block.owns.begin) * block.planes.size() + plane - block.planes.begin;
    Writer& writer = writers_[blocks_.under_way() == 1 ? 0 : k];
    if (blocks_.joined() ? k == 0 : block.rows.begin == 0) {
      auto* const at = reinterpret_cast<std::uint8_t*>(output(own, plane, 0));
      writer.start(at, at);
    }
    return writer;
  }

  /// Rows of a block that no group has, in place.
  void zero_rest(const NchwBlock& block) const {
    for (std::int64_t own = block.owns.begin; own < block.owns.end; ++own) {
      const Range moved = rows_.moved(own, block.rows);
      for (std::int64_t p = block.planes.begin; p < block.planes.end; ++p) {
        std::fill(output(own, p, block.rows.begin), output(own, p, moved.begin), E{0});
        std::fill(output(own, p, moved.end), output(own, p, block.rows.end), E{0});
      }
    }
  }

  const mluopsPsamaskShape& s_;
  const std::int64_t map_;
  const Blocks& blocks_;
  const NchwRows<kForward> rows_;
  const RowMoves<E> moves_;
  const E* const from_;
  E* const to_;
  E* const stage_;
  Writer* const writers_;
  const E* image_ = nullptr;
  E* out_ = nullptr;
  PrefetchPlanes ahead_;
};

template <class E, bool kForward>
mluOpStatus_t move_all(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, const void* from,
                       void* to) {
  using Task = Mover<E, kForward>;
  const std::int64_t output = s.n * s.h * s.w * (kForward ? s.h * s.w : s.h_mask * s.w_mask);
  const std::int64_t bytes = output * static_cast<std::int64_t>(sizeof(E));
  const bool staged = bytes > non_temporal_from::psamask();
  const NchwBlocks<E, kForward> blocks(s, staged);
  Allocator measure;
  if (staged) static_cast<void>(typename Task::Scratch(measure, blocks));
  const std::int64_t tasks = s.n * blocks.tasks();
  const Loop loop(context, call, tasks, cost::kMoveByte * static_cast<double>(bytes) / static_cast<double>(tasks));
  std::byte* const block = context.arena.reserve_array<std::byte>(measure.bytes(), loop.slots());
  if (block == nullptr && staged) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Allocator allocator(block + slot * measure.bytes());
    const typename Task::Scratch scratch(allocator, blocks);
    Task move(s, blocks, from, to, staged ? &scratch : nullptr);
    for (std::int64_t task = begin; task < end; ++task) move.run(task);
    if (staged) non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class E>
mluOpStatus_t nchw_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  return move_all<E, true>(context, call, p.shape, p.x, p.y);
}

template <class E>
mluOpStatus_t nchw_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  return move_all<E, false>(context, call, p.shape, p.dy, p.dx);
}

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
