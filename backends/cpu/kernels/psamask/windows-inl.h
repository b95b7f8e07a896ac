// PSAMask collect, what is moved: of each pixel a window of its row of input amid zeros.
#if defined(MLUOPS_CPU_PSAMASK_WINDOWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_PSAMASK_WINDOWS_INL_H_
#else
#define MLUOPS_CPU_PSAMASK_WINDOWS_INL_H_
#endif

#include "backends/cpu/kernels/psamask/geometry.h"
#include "backends/cpu/kernels/psamask/lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::psamask::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// What a source pixel moves: elements, or bytes, from `from` on its row of input to these rows and columns of its row
/// of output, whose other elements are zero.
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

inline Move in_bytes(const Move& move, std::int64_t element) {
  return {move.from * element, move.rows, {move.columns.begin * element, move.columns.end * element}};
}

/// Rows of a pixel on one side, of `width` bytes each.
struct CollectSide {
  std::int64_t rows, width;
  std::int64_t size() const { return rows * width; }
};

/// One direction of collect.
struct Collect {
  std::int64_t pixels, element;  ///< an element is as many bytes
  CollectSide from, to;
  Readable in;        ///< [pixels, from.size()]
  std::uint8_t* out;  ///< [pixels, to.size()]

  Collect(const mluopsPsamaskShape& s, CollectSide from_elements, CollectSide to_elements, std::int64_t element_bytes,
          const void* input, void* output)
      : pixels(s.n * s.h * s.w),
        element(element_bytes),
        from{from_elements.rows, from_elements.width * element},
        to{to_elements.rows, to_elements.width * element},
        in{static_cast<const std::uint8_t*>(input), static_cast<const std::uint8_t*>(input) + pixels * from.size()},
        out(static_cast<std::uint8_t*>(output)) {}

  /// Pieces of windows, at most.
  std::int64_t piece() const { return std::min(from.width, to.width); }
};

}  // namespace mluops::cpu::psamask::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
