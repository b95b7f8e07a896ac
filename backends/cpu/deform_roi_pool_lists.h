// For each pixel of a tile: which bins add to it, with which weight (deform_roi_pool backward).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backends/cpu/deform_roi_pool.h"
#include "backends/cpu/scratch.h"

namespace mluops::cpu::deform_roi_pool {

/// Lists through one array, in the order links were added. With moves, each link also has what moving its bin does to
/// the weight, and a place for the product of the pixel with the bin's gradient.
template <class A>
class PixelLists {
 public:
  struct Link {
    std::uint32_t next, bin;
    A weight;
  };
  struct Move {
    A y, x;
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  PixelLists(Carver& carver, const Tiles& t, bool moves)
      : pixels_(t.pixels()),
        most_links_(most_links(t)),
        lists_(carver.take<List>(pixels_)),
        links_(carver.take<Link>(most_links_)),
        moves_(carver.take<Move>(moves ? most_links_ : 0)),
        dots_(carver.take<A>(moves ? most_links_ : 0)) {}

  void clear() {
    std::fill_n(lists_, pixels_, List{kEnd, kEnd});
    count_ = 0;
  }
  bool has_room_for(std::int64_t links) const { return count_ + links <= most_links_; }

  void add(std::int64_t pixel, std::int64_t bin, A weight) {
    const auto link = static_cast<std::uint32_t>(count_++);
    links_[link] = {kEnd, static_cast<std::uint32_t>(bin), weight};
    List& list = lists_[pixel];
    (list.first == kEnd ? list.first : links_[list.last].next) = link;
    list.last = link;
  }
  void add(std::int64_t pixel, std::int64_t bin, A weight, Move move) {
    moves_[count_] = move;
    add(pixel, bin, weight);
  }

  std::uint32_t first(std::int64_t pixel) const { return lists_[pixel].first; }
  const Link& operator[](std::uint32_t link) const { return links_[link]; }
  A& dot(std::uint32_t link) { return dots_[link]; }

  /// sums[k] += move * dot over the links of bins[k]; links lie in the order of the bins.
  void add_up_moves(std::span<const std::int64_t> bins, Move* sums) const {
    std::size_t k = 0;
    for (std::int64_t link = 0; link < count_; ++link) {
      while (static_cast<std::uint32_t>(bins[k]) != links_[link].bin) ++k;
      sums[k].y += moves_[link].y * dots_[link];
      sums[k].x += moves_[link].x * dots_[link];
    }
  }

 private:
  struct List {
    std::uint32_t first, last;
  };
  /// Along one axis a bin has at most two taps per pixel, so that one bin always fits.
  static std::int64_t most_links(const Tiles& t) { return std::max<std::int64_t>(4 * t.pixels(), 8192); }

  std::int64_t pixels_, most_links_;
  List* lists_;
  Link* links_;
  Move* moves_;
  A* dots_;
  std::int64_t count_ = 0;
};

}  // namespace mluops::cpu::deform_roi_pool
