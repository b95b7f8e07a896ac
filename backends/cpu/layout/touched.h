// The pixels of images in NCHW that samples touch, as rows of channels in scratch.
//
// What is moved and what it takes in memory are blocks of four neighbouring pixels of which some sample touches one:
// few samples on a large map cost what they touch, and no more than the map where they cover it. A pixel's row is found
// by its block's place. The map itself costs one byte a block, which says whether it is touched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "common/shape.h"

namespace mluops::cpu::layout {

/// Pixels of a block.
inline constexpr int kTouchedLog = 2;
inline constexpr std::int64_t kTouchedPixels = std::int64_t{1} << kTouchedLog;

/// Where the rows of an image's pixels lie.
class RowPlaces {
 public:
  /// In the order of the pixels.
  RowPlaces() : moved_(&kNotMoved), log_(62) {}
  /// `moved`: by how many blocks the rows of each block of pixels lie further on than they would in that order.
  explicit RowPlaces(const std::int32_t* moved) : moved_(moved), log_(kTouchedLog) {}

  std::int64_t operator()(std::int64_t pixel) const { return pixel + moved_[pixel >> log_] * kTouchedPixels; }
  /// Pixels from this one on whose rows follow each other.
  std::int64_t run(std::int64_t pixel) const {
    const std::int64_t block = std::int64_t{1} << log_;
    return block - (pixel & (block - 1));
  }

 private:
  static constexpr std::int32_t kNotMoved = 0;

  const std::int32_t* moved_;
  int log_;
};

/// The touched blocks of some images.
class Touched {
 public:
  Touched(Allocator& allocator, std::int64_t images, std::int64_t pixels)
      : images_(images),
        pixels_(pixels),
        blocks_(round_up(ceil_div(pixels, kTouchedPixels), kWord)),
        touched_(allocator.allocate<std::uint8_t>(images, blocks_)),
        moved_(allocator.allocate<std::int32_t>(images, blocks_)),
        list_(allocator.allocate<std::int32_t>(images, blocks_)),
        begin_(allocator.allocate<std::int64_t>(size_sum(images, 1))) {}

  /// Finds them. of_item(i, touch), which may run in any thread, calls touch(image, first, end) for all pixels that
  /// item i touches, and some more if that is easier. Where they are most of the images, all are.
  template <class OfItem>
  void find(const Context& context, const mluopsCall& call, std::int64_t items, double item_ns, OfItem of_item) {
    std::fill_n(touched_, images_ * blocks_, std::uint8_t{0});
    const std::int64_t most = images_ * ceil_div(pixels_, kTouchedPixels) / 2;
    std::atomic<std::int64_t> count = 0;
    Loop(context, call, items, item_ns).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end && count.load(std::memory_order_relaxed) <= most; ++i) {
        std::int64_t fresh = 0;
        of_item(i,
                [&](std::int64_t image, std::int64_t first, std::int64_t last) { fresh += touch(image, first, last); });
        if (fresh > 0) count.fetch_add(fresh, std::memory_order_relaxed);
      }
    });
    if (count > most) touch_all();
    place();
  }

  std::int64_t pixels() const { return pixels_; }
  std::int64_t images() const { return images_; }
  RowPlaces places(std::int64_t image) const { return all(image) ? RowPlaces() : RowPlaces(moved_ + image * blocks_); }
  /// Rows of all images, of those before one, of one, and of the one with the most.
  std::int64_t rows() const { return blocks() * kTouchedPixels; }
  std::int64_t first_row(std::int64_t image) const { return begin_[image] * kTouchedPixels; }
  std::int64_t rows(std::int64_t image) const { return first_row(image + 1) - first_row(image); }
  std::int64_t most_rows() const {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < images_; ++i) most = std::max(most, rows(i));
    return most;
  }
  bool all(std::int64_t image) const { return rows(image) >= pixels_; }
  /// Touched blocks of all images; those of one are [first_block(image), first_block(image + 1)).
  std::int64_t blocks() const { return begin_[images_]; }
  std::int64_t first_block(std::int64_t image) const { return begin_[image]; }
  /// The pixels of blocks [first, end) of all, as many as follow each other in an image; none where first is end.
  struct Run {
    std::int64_t image, pixel, pixels, end;
  };
  Run run(std::int64_t first, std::int64_t end) const {
    if (first >= end) return {0, 0, 0, end};
    const std::int64_t image = std::upper_bound(begin_, begin_ + images_ + 1, first) - begin_ - 1;
    std::int64_t next = first + 1;
    end = std::min(end, begin_[image + 1]);
    while (next < end && list_[next] == list_[next - 1] + 1) ++next;
    const std::int64_t pixel = list_[first] * kTouchedPixels;
    return {image, pixel, std::min((next - first) * kTouchedPixels, pixels_ - pixel), next};
  }

 private:
  static constexpr std::int64_t kWord = 8;  ///< blocks that are looked at together

  /// How many blocks were not touched before; more where several threads touch one at a time.
  std::int64_t touch(std::int64_t image, std::int64_t first, std::int64_t end) {
    std::int64_t fresh = 0;
    std::uint8_t* const own = touched_ + image * blocks_;
    for (std::int64_t block = first >> kTouchedLog; block << kTouchedLog < end; ++block) {
      const std::atomic_ref<std::uint8_t> is_touched(own[block]);
      if (is_touched.load(std::memory_order_relaxed) != 0) continue;
      is_touched.store(1, std::memory_order_relaxed);
      ++fresh;
    }
    return fresh;
  }
  void touch_all() {
    for (std::int64_t i = 0; i < images_; ++i) {
      std::fill_n(touched_ + i * blocks_, ceil_div(pixels_, kTouchedPixels), std::uint8_t{1});
    }
  }
  void place() {
    std::int64_t count = 0;
    for (std::int64_t image = 0; image < images_; ++image) {
      begin_[image] = count;
      for (std::int64_t word = 0; word < blocks_; word += kWord) {
        std::uint64_t any;
        std::memcpy(&any, touched_ + image * blocks_ + word, sizeof any);
        if (any == 0) continue;
        for (std::int64_t block = word; block < word + kWord; ++block) {
          if (touched_[image * blocks_ + block] == 0) continue;
          moved_[image * blocks_ + block] = static_cast<std::int32_t>(count - begin_[image] - block);
          list_[count++] = static_cast<std::int32_t>(block);
        }
      }
    }
    begin_[images_] = count;
  }

  std::int64_t images_, pixels_, blocks_;
  std::uint8_t* touched_;
  std::int32_t *moved_, *list_;
  std::int64_t* begin_;
};

}  // namespace mluops::cpu::layout
