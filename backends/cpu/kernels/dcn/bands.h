// How the gradient of deformable convolution's data is cut into tasks, and which rows of the input each task adds to.
// All of it follows from the problem, not from the number of threads: so do the sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/dcn/geometry.h"
#include "backends/cpu/runtime/machine.h"
#include "common/shape.h"

namespace mluops::cpu::dcn {

/// Items [begin, end).
struct Run {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
  bool has(std::int64_t at) const { return at >= begin && at < end; }
  void add(const Run& other) {
    if (other.count() == 0) return;
    *this = count() == 0 ? other : Run{std::min(begin, other.begin), std::max(end, other.end)};
  }
};

/// A band of tiles of an image, and the rows of the input under its samples of a deformable group.
struct Band {
  Run tiles, rows;
  std::int64_t first_row;  ///< of its sums, among those of all bands
};

/// Parts of channels of a deformable group of an image, cut into bands of tiles.
struct DataPlan {
  static constexpr std::int64_t kTilePixels = 96;

  std::int64_t group_channels;  ///< of a deformable group
  std::int64_t slice_channels;  ///< at most, that are multiplied at a time
  std::int64_t part_channels;   ///< at most, of a task
  std::int64_t parts;           ///< of a deformable group
  std::int64_t part_slices;     ///< at most, of a part
  std::int64_t width;           ///< at most, of a slice's rows
  std::int64_t chunk_taps;      ///< taps that are multiplied together
  std::int64_t tiles;           ///< of an image
  std::int64_t band_tiles;      ///< at least, of a band
  std::int64_t bands;           ///< at most, of an image
  std::int64_t sum_rows;        ///< room for the sums of the bands of an image

  explicit DataPlan(const Shape& s)
      : group_channels(s.ci / s.deform_groups),
        slice_channels(std::clamp<std::int64_t>(round_up(ceil_div(group_channels, 2), kVector), 32, kSliceChannels)),
        part_channels(std::max(slice_channels, round_up(ceil_div(group_channels, kMostParts), slice_channels))),
        parts(ceil_div(group_channels, part_channels)),
        part_slices(0),
        width(round_up(std::min({slice_channels, group_channels, group_inputs(s)}), kVector)),
        chunk_taps(std::clamp<std::int64_t>(kChunkColumns / width, 1, count_taps(s))),
        tiles(count_tiles_of(s, kTilePixels)),
        band_tiles(std::max(least_band_tiles(s), ceil_div(tiles, ceil_div(kTasks, count_parts(s))))),
        bands(ceil_div(tiles, band_tiles)),
        sum_rows(s.h * std::min(bands, kMostMaps)) {
    for (std::int64_t i = 0; i < s.deform_groups * parts; ++i) {
      const Run run = channels(s, i);
      part_slices = std::max(part_slices, count_slices(s, run.begin, run.end, slice_channels));
    }
  }

  /// Parts of all images.
  std::int64_t count_parts(const Shape& s) const { return s.deform_groups * parts * s.batch; }

  /// The channels of the i-th part of the deformable groups.
  Run channels(const Shape& s, std::int64_t i) const {
    const std::int64_t group = i / parts * group_channels, first = group + i % parts * part_channels;
    return {first, std::min({first + part_channels, group + group_channels, s.ci})};
  }

  /// Elements of a pixel's sums.
  std::int64_t sum_channels() const {
    const std::int64_t channels = std::min(part_channels, group_channels);
    return channels < kVector ? channels : round_up(channels, kVector);
  }

 private:
  static constexpr std::int64_t kVector = 16;  ///< elements of the longest
  static constexpr std::int64_t kMostParts = 8, kChunkColumns = 576;
  static constexpr std::int64_t kTasks = 128;            ///< as many as there are, if bands do not get too short
  static constexpr std::int64_t kLeastRows = 4;          ///< of the output: some rows above and below are added to, too
  static constexpr std::int64_t kMostMaps = 4;           ///< that the sums of an image's bands take
  static constexpr double kLeastNs = 4 * cost::kThread;  ///< of a band

  std::int64_t least_band_tiles(const Shape& s) const {
    const double products = static_cast<double>(kTilePixels * count_taps(s) * sum_channels()) *
                            static_cast<double>(group_outputs(s)) * cost::kMultiplyAdd;
    const double least = std::min(kLeastNs / products, 1e6);
    return std::max({ceil_div(kLeastRows * s.out_w, kTilePixels), static_cast<std::int64_t>(least), std::int64_t{1}});
  }
};

/// The bands of an image and a deformable group: `touched` are the rows under each tile's samples. Where offsets are so
/// large that the sums had no room, bands are longer and fewer; those without tiles stand at the end.
inline void place_bands(const DataPlan& plan, const Run* touched, Band* bands) {
  std::int64_t rows = plan.sum_rows + 1;
  for (std::int64_t tiles = plan.band_tiles; rows > plan.sum_rows; tiles *= 2) {
    rows = 0;
    for (std::int64_t i = 0; i < plan.bands; ++i) {
      Band& band = bands[i];
      band = {{std::min(i * tiles, plan.tiles), std::min((i + 1) * tiles, plan.tiles)}, {}, rows};
      for (std::int64_t t = band.tiles.begin; t < band.tiles.end; ++t) band.rows.add(touched[t]);
      rows += band.rows.count();
    }
  }
}

}  // namespace mluops::cpu::dcn
