#include "test/calls/documented_memory.h"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace mluops::test {
namespace {

constexpr std::int64_t kKiB = 1024;

/// Sizes that shrink with a second-level cache below 1 MiB, here given for that.
std::int64_t cache_kib(std::int64_t kib) {
  const std::int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::int64_t cache = bytes > 0 ? std::clamp<std::int64_t>(bytes, 256 * kKiB, 1024 * kKiB) : 1024 * kKiB;
  return cache / 64 * kib / 16;
}

/// On how many tiles a bin, or a RoI's row of bins, of the cases here lies, at most.
constexpr std::int64_t kTilesOfABin = 4, kTilesOfARow = 8;

/// The letters of the table.
struct Letters {
  Case text;
  std::int64_t t;       ///< threads
  std::int64_t S, A;    ///< bytes of an element, and of a sum
  bool narrow, atomic;  ///< half or bfloat16; atomic additions

  Letters(const CallVariant& call, int threads) : text(with_defaults(call.text)), t(threads), atomic(call.atomic) {
    narrow = call.dtype == MLUOP_DTYPE_HALF || call.dtype == MLUOP_DTYPE_BFLOAT16;
    A = call.dtype == MLUOP_DTYPE_DOUBLE ? 8 : 4;
    S = narrow ? 2 : A;
  }
  std::int64_t operator[](const char* name) const { return text.size(name); }
  bool forward() const { return text.op().ends_with("_forward"); }
  /// Sums of the whole gradient, where it can't be added to itself.
  std::int64_t atomic_sums(std::int64_t elements) const { return narrow ? A * elements : 0; }
};

std::int64_t up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Items sorted into buckets, each item in at most `most` of them.
std::int64_t sorted(const Letters& x, std::int64_t items, std::int64_t buckets, std::int64_t most) {
  const std::int64_t parts = std::clamp<std::int64_t>(items / 512, 1, x.t);
  return (buckets + 1) * (16 + 16 * parts) + 8 * most * items;
}

// ---- carafe ----

/// Columns of a strip: so many that a window's rows take 448 KiB at most, but 16 at least.
std::int64_t strip(const Letters& x) {
  const std::int64_t fitting = cache_kib(448) / (x["k"] * 2 * x["c"] * x.A) - (x["k"] - 1);
  const std::int64_t most = std::clamp(fitting, std::min<std::int64_t>(x["w"], 16), x["w"]);
  const std::int64_t strips = (x["w"] + most - 1) / most;
  return (x["w"] + strips - 1) / strips;
}

std::int64_t carafe(const Letters& x) {
  const std::int64_t subs = x["s"] * x["s"], mask_row = x["g"] * x["k"] * x["k"], taps = x.A * subs * mask_row;
  const std::int64_t rows = x.A * x["k"] * (strip(x) + x["k"] - 1) * x["c"];
  const std::int64_t sums = x.A * x["k"] * strip(x) * x["c"],
                     widened = x.narrow ? rows + 2 * x.A * subs * up(mask_row, 64 / x.A) : 0;
  const std::int64_t out_pixel = x.S * x["c"], out = x["n"] * x["h"] * x["w"] * subs * out_pixel;
  const std::int64_t stage = out > cache_kib(2048) ? x["s"] * (2 * kKiB + x["s"] * out_pixel) : 0;
  if (x.forward()) return x.t * (8 * x["k"] + 16 * subs + stage + widened);
  const std::int64_t gradients = x.narrow ? subs * (8 + 2 * x.A * x["c"]) : 0;
  const std::int64_t window_row = x.S * x["s"] * mask_row;
  const std::int64_t staged = taps * std::min(strip(x), (4 * kKiB + window_row - 1) / window_row);
  const std::int64_t task = 16 * x["k"] + 32 * subs + staged + widened + gradients;
  if (!x.atomic) return x.t * (task + sums);
  return x.t * task + x.atomic_sums(x["n"] * x["h"] * x["w"] * x["c"]);
}

// ---- psamask ----

std::int64_t psamask(const Letters& x) {
  const std::int64_t map = x["h"] * x["w"], mask = x["hm"] * x["wm"], row = x.S * (x.forward() ? map : mask);
  if (x["n"] * map * row <= cache_kib(1024)) return 0;
  const std::int64_t width = x.S * (x.forward() ? x["w"] : x["wm"]);
  const std::int64_t rows = x["w"] * (x.forward() ? std::min<std::int64_t>(x["h"], 4) : 1);
  const std::int64_t line_rows = std::clamp<std::int64_t>(cache_kib(240) / (64 * x["w"]), 1, x["h"]);
  const std::int64_t by_lines = x.forward() && x.S == 4 ? 64 * x["w"] * line_rows : 0;
  if (x["type"] != 0) return x.t * std::max({by_lines, std::min(cache_kib(240), rows * row), x["w"] * width});
  const std::int64_t from = x.S * (x.forward() ? x["wm"] : x["w"]), piece = std::min(from, width);
  if (piece >= (from == piece ? 48 : 96)) return 0;
  const std::int64_t pixel = row <= 16 * kKiB ? row : std::min(x["h"], x["hm"]) * width + 128;
  return x.t * std::max({16 * kKiB, std::min(64 * kKiB, 4 * pixel), pixel});
}

// ---- three_interpolate ----

/// Backward by steps, where a register holds the sums of a channel.
bool by_steps(const Letters& x) {
  return !x.forward() && x.A == 4 && x["m"] >= 8 && x["m"] <= 16 && x["c"] >= 32 && x["b"] * ((x["c"] + 15) / 16) >= 32;
}

std::int64_t steps(const Letters& x) {
  return x.t * ((x["n"] + 15) / 16 * (12 * 130 + 4) + 24 * x["n"] + 64 * (x["m"] + 1));
}

std::int64_t three_interpolate(const Letters& x) {
  if (x.atomic) return x.atomic_sums(x["b"] * x["c"] * x["m"]);
  if (by_steps(x)) return steps(x);
  const std::int64_t turned = up(x["c"], 64 / x.A) * (x["m"] + x["n"]);
  if (x.forward() && turned >= 10 * x["c"] * x["n"]) return 0;  // row by row
  const std::int64_t block = 64 * (x["m"] + 1), blocks = x["b"] * ((x["c"] * x.A + 63) / 64);
  // Where blocks are few, their points are cut into parts; backward, each part has sums of its own.
  const std::int64_t items = x.forward() ? 4 * x.t : 32;
  const std::int64_t parts = std::clamp<std::int64_t>(items / blocks, 1, 1 + x["n"] / (4 * x["m"] + 1024));
  const std::int64_t points = up((x["n"] + parts - 1) / parts, 64);
  const std::int64_t at_once = x.forward() && x.narrow && x["c"] >= 32 ? 2 : 1;
  return x.t * 3 * (4 + x.A) * points + block * at_once * (x.forward() || parts == 1 ? x.t : blocks * parts);
}

// ---- deform_roi_pool ----

struct Tile {
  std::int64_t pixels, count;

  /// The largest of 4 x 4, 4 x 8, 8 x 8 .. 64 x 128 pixels whose sums take no more than `bytes` and that are no more
  /// than a 24th of all pixels; 4 x 4 anyway.
  Tile(const Letters& x, std::int64_t bytes) {
    const std::int64_t most = std::min(bytes / (x["c"] * x.A), x["b"] * x["h"] * x["w"] / 24);
    std::int64_t h = 4;
    while (h < 64 && 4 * h * h <= most) h *= 2;
    const std::int64_t w = 2 * h * h <= most ? 2 * h : h;
    pixels = h * w;
    count = x["b"] * ((x["h"] + h - 1) / h) * ((x["w"] + w - 1) / w);
  }
};

/// Squares of 1, 2, 4, 8 or 16 pixels a side, in strips of four: four times as high and wide they take no more than
/// 256 KiB of sums and are no more than a 64th of all pixels; of one pixel anyway.
std::int64_t cells(const Letters& x) {
  const std::int64_t most = std::min(cache_kib(256) / (x["c"] * x.A), x["b"] * x["h"] * x["w"] / 64);
  std::int64_t side = 1;
  while (side < 16 && 64 * side * side <= most) side *= 2;
  return x["b"] * ((x["h"] + 4 * side - 1) / (4 * side)) * 4 * ((x["w"] + side - 1) / side);
}

/// Sums of the channels that each thread owns, where they can't be added to the gradient.
std::int64_t owned_sums(const Letters& x) {
  if (!x.narrow) return 0;
  const std::int64_t part = (x["b"] * x["c"] + 2 * x.t - 1) / (2 * x.t);
  return x.A * x.t * x["h"] * x["w"] * std::clamp<std::int64_t>(up(part, 16), 16, 256);
}

std::int64_t roi_pool(const Letters& x) {
  if (x.forward()) return 0;
  return 32 * x["r"] + (x.atomic ? x.atomic_sums(x["b"] * x["h"] * x["w"] * x["c"]) : owned_sums(x));
}

/// Samples of a bin along each axis, at most.
struct Grid {
  std::int64_t y, x;
  bool exact;
};

std::int64_t forward_means(const Letters& x, bool offset, const Grid& grid) {
  const std::int64_t bins = x["r"] * x["ph"] * x["pw"], map = x["b"] * x["h"] * x["w"];
  const auto most = [&](std::int64_t size, std::int64_t samples) { return 2 * std::min(size, samples); };
  const bool large = map * x["c"] * x.S > cache_kib(1024);
  const std::int64_t rows = most(x["h"], grid.y) + 1, columns = most(x["w"], grid.x) + 1;
  const std::int64_t places = offset ? x["ph"] * x["pw"] * (rows + columns) : x["ph"] * rows + x["pw"] * columns;
  const auto bytes = [&](bool kept) {
    const std::int64_t size = x["ratio"] > 0 ? x["ratio"] : std::max(x["h"], x["w"]);
    const std::int64_t taps = (most(x["h"], size) + most(x["w"], size)) * 4 * x.A;
    const std::int64_t own =
        2 * x.A * std::min<std::int64_t>(places, 512) * (large ? std::max(x["r"], 4 * x.t) : 4 * x.t);
    const std::int64_t parts = large ? 4 * x["r"] * (offset ? x["ph"] * x["pw"] : x["ph"] + x["pw"]) : 0;
    const std::int64_t items = kept ? x["r"] * x["ph"] : bins, of_item = kept ? x["pw"] : 1;
    return (kept ? own + parts : 2 * x.t * taps) + (large ? sorted(x, items, cells(x), of_item) : 0);
  };
  const std::int64_t found = places > 512 ? bytes(false) : bytes(true);
  return x.t * 8 * kKiB + (grid.exact ? found : std::max(found, places > 512 ? bytes(true) : 0));
}

/// Means of RoIs' bins, and their gradients.
std::int64_t roi_means(const Letters& x, bool offset, const Grid& grid) {
  const std::int64_t bins = x["r"] * x["ph"] * x["pw"], map = x["b"] * x["h"] * x["w"];
  const auto most = [&](std::int64_t size) { return 2 * (x["ratio"] > 0 ? std::min(size, x["ratio"]) : size); };
  const std::int64_t rois = x["r"] * (48 + 8 * x.A), taps = (most(x["h"]) + most(x["w"])) * 4 * x.A;
  if (x.atomic) return rois + x.t * taps + x.atomic_sums(map * x["c"]);
  if (x.forward()) return rois + forward_means(x, offset, grid);
  const Tile tile(x, 512 * kKiB);
  const std::int64_t links = std::max<std::int64_t>(4 * tile.pixels, 7168);
  const std::int64_t columns = offset || x["pw"] * most(x["w"]) > 16384 ? 1 : x["pw"];
  const std::int64_t lists = 8 * tile.pixels + links * (2 + 6 * x.A) + columns * most(x["w"]) * (8 + 2 * x.A);
  const std::int64_t found = 32 * kKiB + 8192 * 4 * x.A + taps + links * (2 + 2 * x.A);
  const std::int64_t kept = 8 * (columns + 1) + (offset ? found : 0);
  const std::int64_t moves = offset ? 2 * x.A * bins * (1 + kTilesOfABin) : 0;
  return rois + x.t * (taps + kept + x.A * tile.pixels * x["c"] + lists) +
         sorted(x, offset ? bins : x["r"] * x["ph"], tile.count, offset ? kTilesOfABin : kTilesOfARow) + moves;
}

std::int64_t deform_roi_pool(const Letters& x) {
  const std::int64_t samples = x["ratio"] > 0 ? x["ratio"] : std::max(x["h"], x["w"]);
  return roi_means(x, x["offset"] != 0, {samples, samples, x["ratio"] > 0});
}

/// RoIs of a network are at most 28 pixels long.
std::int64_t roi_align(const Letters& x) {
  const std::int64_t placed = 32 * x["r"], map = x["b"] * x["h"] * x["w"];
  if (x.text.word("pool") == "mean") {
    const bool network = x.text.word("rois") == "network";
    const auto samples = [&](std::int64_t size, std::int64_t count) {
      return x["ratio"] > 0 ? x["ratio"] : network ? (28 + count - 1) / count : size;
    };
    return roi_means(x, false, {samples(x["h"], x["ph"]), samples(x["w"], x["pw"]), x["ratio"] > 0 || network});
  }
  if (x.forward()) return 0;
  if (x.atomic) return placed + x.atomic_sums(map * x["c"]);
  return placed + owned_sums(x);
}

// ---- border_align ----

std::int64_t border_align(const Letters& x) {
  if (x.atomic) return x.atomic_sums(x["n"] * x["h"] * x["w"] * 4 * x["c"]);
  const std::int64_t length = std::max(x["h"], x["w"]), points = x["p"] + 1;
  const std::int64_t lines = sorted(x, 4 * x["n"] * x["k"], 4 * x["n"] * length, 1);
  if (x.forward()) {
    const std::int64_t pixel = 2 * x.A * (length + 3);
    const std::int64_t packed = pixel * std::min(x["c"], std::max(256 / x.A, cache_kib(400) / pixel));
    const std::int64_t borders = 4 * x["n"] * x["k"], threads = std::min<std::int64_t>(x.t, borders);
    const std::int64_t at_once = std::clamp<std::int64_t>(16384 / points, 1, std::min<std::int64_t>(256, borders));
    return lines + threads * (packed + at_once * ((x.A + 4) * points + 3 * x.A) + 3 * (length + 3));
  }
  const std::int64_t pitch = up(length + 2, 16),
                     channels = std::max<std::int64_t>(32, cache_kib(384) / (2 * pitch * x.A));
  const std::int64_t sums = 2 * pitch * x.A * std::min(up(x["c"], 32), channels);
  return lines + x.t * (sums + 520 * (4 * x.A + 16));
}

// ---- operators on points ----

/// Points in leaves of 32, and 16 boxes to a node, up to the one on top.
std::int64_t leaves(const Letters& x, std::int64_t points) {
  return (points + 31) / 32 * 32 * (3 * x.A + 4);
}
std::int64_t tree(const Letters& x, std::int64_t points) {
  std::int64_t boxes = 0, children = (points + 31) / 32;
  do {
    children = (children + 15) / 16;
    boxes += children;
  } while (children > 1);
  return leaves(x, points) + (96 * x.A + 64) * boxes + 256;
}
/// One for each of count clouds; as many as run at a time are put together in a copy of their points.
std::int64_t trees(const Letters& x, std::int64_t points, std::int64_t count) {
  return count * tree(x, points) + std::min(x.t, x["b"]) * 4 * x.A * points;
}

std::int64_t three_nn(const Letters& x) {
  return trees(x, x["m"], x["b"]);
}

std::int64_t ball_query(const Letters& x) {
  return trees(x, x["n"], x["b"]) + x["b"] * leaves(x, x["n"]) + x.t * (x["n"] / 8 + x["n"] / 512 + 128);
}

std::int64_t knn(const Letters& x) {
  return trees(x, x["n"], x["b"]) + x.t * 2 * x.A * x["k"];
}

std::int64_t chamfer_distance(const Letters& x) {
  const std::int64_t sorted = trees(x, x["n"], x["b"]) + trees(x, x["m"], x["b"]);
  return 3 * x.A * x["b"] * (x["n"] + x["m"]) + sorted;
}

std::int64_t furthest_point_sample(const Letters& x) {
  const std::int64_t clouds = std::min(x.t, x["b"]);
  if (x.text.op().ends_with("_with_dist")) return clouds * x.A * up(x["n"], 64 / x.A);
  const std::int64_t kept = (x.A + 4) * (up(x["n"], 32) + up(x["n"], 512) / 32 + up(x["n"], 8192) / 512);
  return trees(x, x["n"], clouds) + clouds * kept;
}

std::int64_t gather_points(const Letters& x) {
  if (x.forward()) return 0;
  if (x.atomic) return x.atomic_sums(x["b"] * x["c"] * x["n"]);
  return x.narrow ? x.t * x.A * up(x["n"], 64 / x.A) : 0;
}

}  // namespace

std::int64_t documented_bytes(const CallVariant& call, int threads) {
  static const std::map<std::string, std::int64_t (*)(const Letters&)> families = {
      {"carafe", carafe},
      {"psamask", psamask},
      {"three_interpolate", three_interpolate},
      {"deform_roi_pool", deform_roi_pool},
      {"roi_align", roi_align},
      {"roi_pool", roi_pool},
      {"border_align", border_align},
      {"three_nn", three_nn},
      {"ball_query", ball_query},
      {"knn", knn},
      {"chamfer_distance", chamfer_distance},
      {"furthest_point_sample", furthest_point_sample},
      {"gather_points", gather_points}};
  const OperatorCases& op = find_operator(call.text.op());
  const auto family = families.find(op.family);
  std::int64_t bytes = 0;
  if (family != families.end()) bytes = family->second(Letters(call, threads));
  if (op.working_bytes != nullptr) bytes = op.working_bytes(with_defaults(call.text), call.dtype, threads, call.atomic);
  return bytes + array_padding(threads);
}

std::int64_t array_padding(int threads) {
  constexpr std::int64_t kArrays = 16, kLine = 64;
  return (threads + 1) * kArrays * kLine;
}

}  // namespace mluops::test
