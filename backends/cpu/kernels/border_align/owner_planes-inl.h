// BorderAlign backward in NCHW: grad_output, argmax [n,c,k,4], grad_input [n,4*c,h,w].
//
// A task owns a block of channels of an image: their planes of grad_output and argmax become rows of a block's channels
// in scratch, on which the owner of lines works as in NHWC; the block of the map that it writes becomes planes. Borders
// are sorted and placed once for all blocks.
#include "backends/cpu/kernels/border_align/owner-inl.h"
#include "backends/cpu/layout/gather_channels-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/panel-inl.h"
#include "backends/cpu/simd/prefetch.h"

#if defined(MLUOPS_CPU_BORDER_ALIGN_OWNER_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_OWNER_PLANES_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_OWNER_PLANES_INL_H_
#endif
HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// One thread's block of kWidth channels of an image, as NHWC tensors.
template <class T>
struct OwnerRoom {
  T* grad_output;        ///< [k, 4, width]
  std::int32_t* argmax;  ///< the same
  T* grad_input;         ///< [h, w, 4, width]

  OwnerRoom(Allocator& allocator, const Shape& block)
      : grad_output(allocator.allocate<T>(block.k, 4, block.c)),
        argmax(allocator.allocate<std::int32_t>(block.k, 4, block.c)),
        grad_input(allocator.allocate<T>(block.h, block.w, 4, block.c)) {}
};

template <class T>
struct OwnerPlaneArrays {
  BackwardArrays<Acc<T>> owner;
  LineBorder<Acc<T>>* placed;
  std::int64_t room_bytes;
  std::byte* rooms;

  /// `block`: the shape of all images with the channels of a block.
  OwnerPlaneArrays(Allocator& allocator, const mluopsCall& call, const Shape& block)
      : owner(allocator, call, block),
        placed(allocator.allocate<LineBorder<Acc<T>>>(size_sum(size_product(block.n, block.k, 4), kPrefetchTerms))),
        room_bytes(measured(block)),
        rooms(allocator.allocate<std::byte>(call.threads, room_bytes)) {}
  OwnerRoom<T> room(const Shape& block, int slot) const {
    Allocator cut(rooms + slot * room_bytes);
    return OwnerRoom<T>(cut, block);
  }

 private:
  static std::int64_t measured(const Shape& block) {
    Allocator measure;
    static_cast<void>(OwnerRoom<T>(measure, block));
    return measure.bytes();
  }
};

/// Channels of a block: `width` of them, of which the last block may lack some.
template <class T>
class OwnerPlanes {
  using A = Acc<T>;
  using E = Moved<T>;

 public:
  OwnerPlanes(const mluopsBorderAlignBackwardProblem& p, const Shape& block, const OwnerPlaneArrays<T>& arrays,
              int slot, bool non_temporal)
      : p_(p),
        block_(block),
        arrays_(arrays),
        slot_(slot),
        room_(arrays.room(block, slot)),
        non_temporal_(non_temporal) {}

  /// Channels from `first` on of an image; `next`: which of all planes of rows come after these.
  void run(std::int64_t image, std::int64_t first, std::int64_t next) {
    const std::int64_t rows = block_.k * 4, channels = std::min(block_.c, p_.shape.c - first);
    const std::int64_t at = (image * p_.shape.c + first) * rows;
    take_planes(static_cast<const E*>(p_.grad_output) + at, rows, channels, reinterpret_cast<E*>(room_.grad_output));
    take_planes(reinterpret_cast<const float*>(p_.argmax) + at, rows, channels, reinterpret_cast<float*>(room_.argmax));
    own(image, next * rows);
    const std::int64_t pixels = block_.h * block_.w, row = 4 * block_.c;
    for (std::int64_t border = 0; border < 4; ++border) {
      E* const planes = static_cast<E*>(p_.grad_input) + ((image * 4 + border) * p_.shape.c + first) * pixels;
      layout::HWY_NAMESPACE::scatter_channels(non_temporal_,
                                              reinterpret_cast<const E*>(room_.grad_input) + border * block_.c, row,
                                              pixels, channels, planes, pixels);
    }
  }

 private:
  /// Planes of `rows` elements become rows of a block; channels it lacks are 0.
  template <class M>
  void take_planes(const M* planes, std::int64_t rows, std::int64_t channels, M* to) const {
    if (channels < block_.c) std::fill_n(to, rows * block_.c, M{0});
    for (std::int64_t c = 0; c < channels; c += 16) {
      transpose_panel(planes + c * rows, rows, std::min<std::int64_t>(16, channels - c), rows, to + c, block_.c);
    }
  }

  void own(std::int64_t image, std::int64_t next) {
    const std::int64_t lines = Lines(block_).index(1, 0, 0);
    const mluopsBorderAlignBackwardProblem part = {block_,       room_.grad_output, p_.boxes,
                                                   room_.argmax, room_.grad_input,  MLUOP_LAYOUT_NHWC};
    LineAccumulator<T> owner(part, arrays_.owner, slot_, false);
    owner.take_image(image, arrays_.placed);
    const std::int64_t elements = block_.k * 4 * block_.c;
    if (elements * static_cast<std::int64_t>(sizeof(T) + 4) <= second_cache(32)) {
      owner.prefetch({static_cast<const T*>(p_.grad_output) + next, elements, lines},
                     {p_.argmax + next, elements, lines});
    }
    owner.run(image * lines, (image + 1) * lines);
  }

  const mluopsBorderAlignBackwardProblem& p_;
  const Shape& block_;
  const OwnerPlaneArrays<T>& arrays_;
  const int slot_;
  const OwnerRoom<T> room_;
  const bool non_temporal_;
};

/// Places the borders of all lines, each of whose rows has as many elements as a block has channels.
template <class T>
void place_borders(const Context& context, const mluopsCall& call, const mluopsBorderAlignBackwardProblem& p,
                   const OwnerPlaneArrays<T>& arrays, std::int64_t width) {
  constexpr std::int64_t kLater = 64;
  const Shape& s = p.shape;
  const auto rows = arrays.owner.lines.all();
  const std::int64_t count = std::ssize(rows);
  const auto at = [&](std::int64_t i) {
    return rows[static_cast<std::size_t>(std::min(i, count - 1))] % (4 * s.k) * width;
  };
  Loop(context, call, count, 2 * cost::kFindLine).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      arrays.placed[i] = place_border<T>(s, p.boxes, row, row % 2 == 0 ? s.h : s.w, at(i), at(i + kLater));
    }
  });
  if (count > 0) std::fill_n(arrays.placed + count, kPrefetchTerms, arrays.placed[count - 1]);
}

/// Channels of a block: more share the preparation of a short line, where all of it stays in the second cache.
template <class T>
std::int64_t block_width(const Shape& s, int threads) {
  const std::int64_t channel =
      s.k * 4 * static_cast<std::int64_t>(sizeof(T) + 4) + s.h * s.w * 4 * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t width = 64; width > kBlock; width /= 2) {
    if (s.c % width == 0 && s.n * (s.c / width) >= 2 * threads && width * channel <= second_cache(48)) return width;
  }
  return kBlock;
}

/// `sort` fills the buckets of lines.
template <class T, class Sort>
mluOpStatus_t own_planes(Context& context, const mluopsCall& given, const mluopsBorderAlignBackwardProblem& p,
                         const Sort& sort) {
  const Shape& s = p.shape;
  Shape block = s;
  block.c = block_width<T>(s, given.threads);
  const std::int64_t blocks = ceil_div(s.c, block.c);
  mluopsCall call = given;
  call.threads = static_cast<int>(std::min<std::int64_t>(call.threads, s.n * blocks));
  auto arrays = allocate<OwnerPlaneArrays<T>>(context.arena, call, block);
  if (!arrays) return no_memory(call);
  if (!sort(call, arrays->owner.lines)) return no_memory(call);
  place_borders(context, call, p, *arrays, block.c);
  const bool non_temporal =
      s.n * s.h * s.w * 4 * s.c * static_cast<std::int64_t>(sizeof(T)) > non_temporal_from::border_align_backward();
  const double run_ns = arrays->owner.lines.prefix_ns().back() / static_cast<double>(s.n * blocks);
  Loop(context, call, s.n * blocks, run_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    OwnerPlanes<T> planes(p, block, *arrays, slot, non_temporal);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t after = std::min(i + 1, s.n * blocks - 1);
      planes.run(i / blocks, i % blocks * block.c, after / blocks * s.c + after % blocks * block.c);
    }
    non_temporal_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
