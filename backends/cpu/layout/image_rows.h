// Image tensors in either layout, as kernels read them that have the channels of a pixel side by side: NHWC where it
// lies; of NCHW the pixels that samples touch, transposed, or its planes where channels are few.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/layout/channel_block.h"
#include "backends/cpu/layout/relayout.h"
#include "backends/cpu/layout/touched.h"
#include "backends/cpu/simd/element.h"

namespace mluops::cpu::layout {

/// The pixels of an image that lie one after the other.
template <class T>
struct PixelsInOrder {
  const T* first;
  std::int64_t pitch;  ///< elements from a pixel to the next

  const T* at(std::int64_t pixel) const { return first + pixel * pitch; }

  /// The next `count` of `left` pixels, which lie one after the other.
  struct Run {
    const T* row;
    std::int64_t count, pixel, left;
  };
  Run run(std::int64_t pixel, std::int64_t left) const { return {at(pixel), left, pixel, left}; }
  Run next(const Run& r) const { return {r.row, 0, r.pixel, 0}; }
};

/// The pixels of an image, wherever they are.
template <class T>
struct PixelRows {
  using Run = typename PixelsInOrder<T>::Run;

  const T* first;
  std::int64_t pitch;
  RowPlaces places;

  const T* at(std::int64_t pixel) const { return first + places(pixel) * pitch; }
  Run run(std::int64_t pixel, std::int64_t left) const {
    if (left <= 0) return {first, 0, pixel, 0};
    return {at(pixel), std::min(left, places.run(pixel)), pixel, left};
  }
  Run next(const Run& r) const { return run(r.pixel + r.count, r.left - r.count); }
  /// Rows of an NHWC image.
  PixelsInOrder<T> in_order() const { return {first, pitch}; }
};

/// Images of `pixels` pixels of `channels` channels.
template <class T>
class ImageRows {
 public:
  /// Planes of fewer than `few` channels stay where they are.
  ImageRows(Allocator& allocator, mluOpTensorLayout_t layout, std::int64_t images, std::int64_t pixels,
            std::int64_t channels, std::int64_t few = 0)
      : planes_(layout == MLUOP_LAYOUT_NCHW && channels > 1),
        moves_(planes_ && channels >= few),
        channels_(channels),
        width_(moves_ ? round_up(channels, kBlockChannels<Acc<T>>) : channels),
        images_(images),
        pixels_(pixels),
        touched_(allocator, moves_ ? images : 0, pixels) {}

  /// find(touched) finds what will be read. False when there is no memory.
  template <class Find>
  bool read(Context& context, const mluopsCall& call, const void* input, Find find) {
    first_ = static_cast<const T*>(input);
    if (!moves_) return true;
    find(touched_);
    T* const rows = context.images.reserve_array<T>(touched_.rows(), width_);
    if (rows == nullptr) return false;
    gather(context, call, touched_, channels_, sizeof(T), input, rows, width_);
    first_ = rows;
    return true;
  }

  /// Whether results go to planes too.
  bool planes() const { return planes_; }
  /// Channels of a pixel that kernels work on; those that the image does not have are 0.
  std::int64_t width() const { return width_; }
  /// Elements from a channel of a pixel to the next.
  std::int64_t step() const { return planes_ && !moves_ ? pixels_ : 1; }
  PixelRows<T> of(std::int64_t image) const {
    if (moves_) return {first_ + touched_.first_row(image) * width_, width_, touched_.places(image)};
    return {first_ + image * pixels_ * channels_, step() == 1 ? channels_ : 1, RowPlaces()};
  }
  /// Whether what is read lies beyond the second cache.
  bool far() const {
    const std::int64_t rows = moves_ ? touched_.rows() : images_ * pixels_;
    return rows * width_ * static_cast<std::int64_t>(sizeof(T)) > 8 * second_cache_bytes();
  }

 private:
  bool planes_, moves_;
  std::int64_t channels_, width_, images_, pixels_;
  Touched touched_;
  const T* first_ = nullptr;
};

}  // namespace mluops::cpu::layout
