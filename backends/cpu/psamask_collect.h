// PSAMask collect: a pixel copies a window of its row of masks to its row of the map, or back.
#if defined(MLUOPS_CPU_PSAMASK_COLLECT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_COLLECT_H_
#else
#define MLUOPS_CPU_PSAMASK_COLLECT_H_
#endif

#include "backends/cpu/parallel.h"
#include "backends/cpu/psamask.h"
#include "backends/cpu/psamask_moves.h"
#include "backends/cpu/scratch.h"
#include "common/shape.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
using psamask::Range, psamask::Window;

/// A window of `rows` rows of `count` elements, to be copied.
template <class E>
struct WindowCopy {
  const E* from;
  E* to;
  std::int64_t rows, count;
};

/// Row by row in turn: as many streams of memory are under way as there are windows. The windows that follow these,
/// about `ahead` elements on, are asked for meanwhile.
template <class E>
HWY_INLINE void copy_windows(const WindowCopy<E>* windows, std::int64_t n, std::int64_t from_stride,
                             std::int64_t to_stride, std::int64_t ahead) {
  constexpr std::int64_t kShift = psamask::kPixelsTogether;  // a pixel on, the window starts an element earlier
  std::int64_t rows = 0;
  for (std::int64_t k = 0; k < n; ++k) rows = std::max(rows, windows[k].rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < n; ++k) {
      const WindowCopy<E>& window = windows[k];
      if (r >= window.rows) continue;
      const E* const from = window.from + r * from_stride;
      prefetch_row(from + ahead - kShift, window.count + kShift);
      copy(from, window.to + r * to_stride, window.count);
    }
  }
}

/// What a source pixel moves: elements from `from` on its row of input to these rows and columns of its row of output,
/// whose other elements are zero.
struct Move {
  std::int64_t from;
  Range rows, columns;
};

inline Move forward_move(const Window& win, std::int64_t h, std::int64_t w) {
  const Range rows = win.rows(h), columns = win.columns(w);
  const std::int64_t up = h - win.half_h, left = w - win.half_w;
  return {rows.begin * win.w_mask + columns.begin,
          {rows.begin + up, rows.end + up},
          {columns.begin + left, columns.end + left}};
}

inline Move backward_move(const Window& win, std::int64_t h, std::int64_t w) {
  const Move forward = forward_move(win, h, w);
  return {forward.rows.begin * win.w + forward.columns.begin, win.rows(h), win.columns(w)};
}

/// Rows of a pixel, of `width` elements each, on one side.
struct CollectSide {
  std::int64_t rows, width;
  std::int64_t size() const { return rows * width; }
};

/// One direction of collect.
template <class E>
struct Collect {
  CollectSide from, to;
  const E* in;  ///< [pixels, from.size()]
  E* out;       ///< [pixels, to.size()]
};

/// Pixels of one direction, by one task. To go past the caches, what lies between the zeros of a pixel is put together
/// in a buffer first; `buffer` is null where output is written in place.
template <class E>
class CollectTask {
 public:
  /// What a pixel takes of the buffer: its rows between zeros, made whole cache lines.
  static std::int64_t buffer_bytes(const Collect<E>& work) {
    const std::int64_t rows = std::min(work.from.rows, work.to.rows), size = sizeof(E);
    return whole(work) ? work.to.size() * size : rows * work.to.width * size + 128;
  }

  CollectTask(const Collect<E>& work, E* buffer) : work_(work), buffer_(buffer) {}

  /// Pixels [first, last), as many as the buffer takes; move(pixel) is what each moves.
  template <class MoveOf>
  void run(std::int64_t first, std::int64_t last, const MoveOf& move) {
    constexpr std::int64_t kTogether = psamask::kPixelsTogether;
    done_ = work_.out + first * work_.to.size();
    waiting_ = {done_, buffer_, 0};
    for (; first < last; first += kTogether) {
      WindowCopy<E> windows[kTogether];
      Body bodies[kTogether];
      const std::int64_t n = std::min(kTogether, last - first);
      E* free = waiting_.at + waiting_.size;
      for (std::int64_t k = 0; k < n; ++k) {
        bodies[k] = begin_pixel(first + k, move(first + k), free, windows[k]);
        if (buffer_ != nullptr) free += bodies[k].size;
      }
      copy_windows(windows, n, work_.from.width, work_.to.width, kTogether * work_.from.size());
      for (std::int64_t k = 0; k < n && buffer_ != nullptr; ++k) add(bodies[k]);
    }
    if (buffer_ != nullptr) flush();
    write_zeros(done_, work_.out + last * work_.to.size() - done_);
  }

 private:
  /// Rows of output between zeros.
  struct Body {
    E *target, *at;
    std::int64_t size;
  };

  /// Zeros up to the pixel's body, and where that is to be put together.
  Body begin_pixel(std::int64_t pixel, const Move& move, E* free, WindowCopy<E>& window) {
    const CollectSide& to = work_.to;
    E* const row = work_.out + pixel * to.size();
    E *const target = row + move.rows.begin * to.width, *const end = row + move.rows.end * to.width;
    E *first = target, *last = end;
    if (buffer_ != nullptr) {
      first = std::max(done_, whole(work_) ? row : line_of(target));
      last = std::min(row + to.size(), whole(work_) ? row + to.size() : line_of(end + kLine - 1));
    }
    write_zeros(done_, first - done_);
    done_ = last;
    const Body body{first, buffer_ != nullptr ? free : first, last - first};
    if (move.columns.size() < to.width || body.size > end - target) zero(body.at, body.size);
    window = {work_.in + pixel * work_.from.size() + move.from, body.at + (target - first) + move.columns.begin,
              move.rows.size(), move.columns.size()};
    return body;
  }

  /// Whether a pixel is put together with its zeros.
  static bool whole(const Collect<E>& work) {
    return work.to.size() * static_cast<std::int64_t>(sizeof(E)) <= psamask::kWholeRowBytes;
  }

  void write_zeros(E* to, std::int64_t count) const {
    if (count > 0) put_zeros(to, count, buffer_ != nullptr);
  }

  /// Bodies without zeros between them leave together, so that few cache lines are written in parts.
  void add(const Body& body) {
    if (body.target == waiting_.target + waiting_.size) {
      waiting_.size += body.size;
    } else {
      flush();
      waiting_ = body;
    }
  }

  void flush() const {
    stream_copy(waiting_.at, waiting_.target, waiting_.size * static_cast<std::int64_t>(sizeof(E)));
  }

  /// First element of a cache line.
  static E* line_of(E* p) { return p - (reinterpret_cast<std::uintptr_t>(p) & 63) / sizeof(E); }

  static constexpr std::int64_t kLine = 64 / sizeof(E);

  const Collect<E>& work_;
  E* const buffer_;
  E* done_ = nullptr;  ///< where the output that is not written yet begins
  Body waiting_{};
};

/// Items are blocks of neighbouring pixels, so a task owns what it writes; move(h, w) is what a pixel moves.
template <class E, class MoveOf>
mluOpStatus_t collect(Context& context, const mluopsCall& call, const mluopsPsamaskShape& s, const Collect<E>& work,
                      const MoveOf& move) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t pixels = s.n * s.h * s.w, row_bytes = work.to.size() * kSize;
  const std::int64_t pixel_bytes = CollectTask<E>::buffer_bytes(work);
  const std::int64_t block = psamask::collect_block(pixel_bytes);
  const bool past_caches = pixels * row_bytes > psamask::kStreamFrom;
  const std::int64_t slot_bytes = past_caches ? round_up(block * pixel_bytes, 64) : 0;
  const Loop loop(context, call, ceil_div(pixels, block), psamask::kByteNs * static_cast<double>(block * row_bytes));
  std::byte* const scratch = context.scratch.reserve(slot_bytes * loop.slots());
  if (past_caches && scratch == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    CollectTask<E> task(work, past_caches ? reinterpret_cast<E*>(scratch + slot * slot_bytes) : nullptr);
    for (std::int64_t first = begin * block; first < std::min(pixels, end * block); first += block) {
      task.run(first, std::min(pixels, first + block),
               [&](std::int64_t pixel) HWY_ATTR { return move(pixel / s.w % s.h, pixel % s.w); });
    }
    if (past_caches) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
