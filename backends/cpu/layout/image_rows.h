// Image tensors in either layout, as kernels read them that have the channels of a pixel side by side: NHWC where it
// lies; of NCHW the pixels that samples touch, transposed, or its planes where channels are few.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

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
        of_{channels, 0, channels},
        images_(images),
        pixels_(pixels),
        touched_(allocator, moves_ ? images : 0, pixels) {}

  /// Finds what will be read by find(touched), and makes room for it: for groups of as many channels as the caches
  /// hold; for all where many of the `reads`, which are found again for each group, are of one pixel. False when there
  /// is no memory.
  template <class Find>
  bool make_room(Context& context, const mluopsCall& call, double reads, Find find) {
    constexpr double kMany = 6;
    if (!moves_) return true;
    find(touched_);
    most_ = reads > kMany * static_cast<double>(touched_.rows()) ? of_.all : channels_at_hand(call);
    rows_ = context.images.reserve_array<T>(touched_.rows(), padded(most_));
    return rows_ != nullptr;
  }
  /// Reads one group of channels after the other and runs body() for each.
  template <class Body>
  void each_group(const Context& context, const mluopsCall& call, const void* input, Body body) {
    first_ = moves_ ? rows_ : static_cast<const T*>(input);
    for (std::int64_t first = 0; first < of_.all; first += most_) {
      of_ = {of_.all, first, std::min(most_, of_.all - first)};
      if (moves_) gather(context, call, touched_, of_, sizeof(T), input, rows_, width());
      body();
    }
  }
  /// Reads all. False when there is no memory.
  template <class Find>
  bool read(Context& context, const mluopsCall& call, const void* input, Find find) {
    if (!make_room(context, call, kAllTogether, find)) return false;
    each_group(context, call, input, [] {});
    return true;
  }

  /// `reads` for one group.
  static constexpr double kAllTogether = std::numeric_limits<double>::infinity();

  /// Pixels of which the caches hold the rows of a group of channels.
  static double pixels_at_hand() {
    return 1.5 * static_cast<double>(second_cache_bytes()) / static_cast<double>(kLeast * sizeof(T));
  }

  /// Whether results go to planes too.
  bool planes() const { return planes_; }
  /// The group of channels; all of them before the first.
  const Channels& channels() const { return of_; }
  /// Channels of a pixel that kernels work on; those that the group does not have are 0.
  std::int64_t width() const { return padded(of_.count); }
  /// Elements from a channel of a pixel to the next.
  std::int64_t step() const { return planes_ && !moves_ ? pixels_ : 1; }
  PixelRows<T> of(std::int64_t image) const {
    if (moves_) return {first_ + touched_.first_row(image) * width(), width(), touched_.places(image)};
    return {first_ + image * pixels_ * of_.all, step() == 1 ? of_.all : 1, RowPlaces()};
  }
  /// Whether what is read lies beyond the second cache.
  bool far() const {
    const std::int64_t rows = moves_ ? touched_.rows() : images_ * pixels_;
    return rows * width() * static_cast<std::int64_t>(sizeof(T)) > 8 * second_cache_bytes();
  }

 private:
  static constexpr std::int64_t kLeast = 4 * kBlockChannels<Acc<T>>;  ///< channels that share what is found of a sample

  std::int64_t padded(std::int64_t channels) const {
    return moves_ ? round_up(channels, kBlockChannels<Acc<T>>) : channels;
  }
  std::int64_t channels_at_hand(const mluopsCall& call) const {
    const auto pixels = static_cast<double>(std::max<std::int64_t>(1, touched_.rows()));
    const double held = pixels_at_hand() * static_cast<double>(kLeast * call.threads) / pixels;
    return std::min(of_.all, std::max(kLeast, round_down(static_cast<std::int64_t>(held), kLeast)));
  }

  bool planes_, moves_;
  Channels of_;
  std::int64_t images_, pixels_;
  Touched touched_;
  std::int64_t most_ = of_.all;  ///< channels of a group
  T* rows_ = nullptr;
  const T* first_ = nullptr;
};

}  // namespace mluops::cpu::layout
