#include "bench/cases/builders.h"
#include "bench/machine/parallel.h"
#include "bench/output/table.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

struct Level {
  std::string contention;
  Case spec;
};

constexpr Direction kBackward = Direction::backward;

std::vector<Level> three_interpolate_levels(mluOpDataType_t dtype) {
  std::vector<Level> levels;
  for (const int points : {1, 4, 16, 64, 256}) {
    const ThreeInterpolateSizes sizes = {16, 256, 1024, 256, points / 256.0};
    levels.push_back({format("%d of 256 points, %d adds each", points, 3 * 1024 / points),
                      make_three_interpolate(sizes, kBackward, dtype)});
  }
  for (const std::int64_t points : {256, 8}) {
    levels.push_back({format("%d adds among 4096 points", static_cast<int>(3 * points)),
                      make_three_interpolate({16, 256, points, 4096}, kBackward, dtype)});
  }
  return levels;
}

std::vector<Level> deform_roi_pool_levels(mluOpDataType_t dtype) {
  std::vector<Level> levels;
  for (const double spread : {0.0, 0.1, 0.3, 1.0}) {
    const DeformRoiPoolSizes sizes = {2, 100, 152, 256, 128, 0.125f, false, 7, 2, spread};
    levels.push_back(
        {format("RoI corners over %.0f %% of the map", spread * 60), make_deform_roi_pool(sizes, kBackward, dtype)});
  }
  const DeformRoiPoolSizes few = {2, 100, 152, 256, 2, 0.125f, false, 2, 1};
  levels.push_back({"8 samples in all", make_deform_roi_pool(few, kBackward, dtype)});
  return levels;
}

std::vector<Level> border_align_levels(mluOpDataType_t dtype) {
  std::vector<Level> levels;
  for (const double spread : {0.02, 0.1, 0.3, 1.0}) {
    const BorderAlignSizes sizes = {2, 50, 76, 256, 3800, 10, spread};
    levels.push_back(
        {format("boxes over %.0f %% of the map", spread * 100), make_border_align(sizes, kBackward, dtype)});
  }
  levels.push_back({"one box per image", make_border_align({2, 50, 76, 256, 1, 1}, kBackward, dtype)});
  return levels;
}

// Here geometry fixes the contention: every input pixel gets (kernel * scale)^2 adds.
std::vector<Level> carafe_levels(mluOpDataType_t dtype) {
  std::vector<Level> levels;
  for (const int kernel : {7, 5, 3, 1}) {
    const CarafeSizes sizes = {2, 50, 76, 256, kernel, 1, 2};
    levels.push_back({format("%d adds per pixel", 4 * kernel * kernel), make_carafe(sizes, kBackward, dtype)});
  }
  levels.push_back({"1 add per pixel", make_carafe({2, 50, 76, 256, 1, 1, 1}, kBackward, dtype)});
  return levels;
}

std::vector<Level> all_levels(const Options& options) {
  std::vector<Level> chosen;
  for (const mluOpDataType_t dtype : options.dtypes) {
    for (auto& levels : {three_interpolate_levels(dtype), deform_roi_pool_levels(dtype), border_align_levels(dtype),
                         carafe_levels(dtype)}) {
      for (const Level& level : levels) {
        if (selected(options.operators, level.spec.op)) chosen.push_back(level);
      }
    }
  }
  return chosen;
}

// One handle per strategy; all three may use atomics.
std::vector<Target> strategies(int threads) {
  std::vector<Target> targets;
  for (const char* strategy : {"owner", "atomic", "auto"}) {
    targets.emplace_back("cpu", threads);
    targets.back().allow_atomics(true);
    targets.back().set_option("scatter", strategy);
  }
  return targets;
}

}  // namespace

Grid scatter_study(const Options& options) {
  const int threads = options.threads.back();
  const std::vector<Target> targets = strategies(threads);
  const Settings settings{options.min_seconds / 2, options.repetitions, options.check};
  Grid grid{format("Scatter-add gradients: owner and atomic (cpu, %d threads)", threads),
            {"operator", "case", "contention", "dtype", "owner ms", "atomic ms", "atomic/owner", "auto ms",
             "auto takes", "verdicts"},
            "llllrrrrll",
            {},
            "All three handles allow atomics; where they are not allowed, owner is taken always."};
  for (Level& level : all_levels(options)) {
    progress(level.spec.op + " " + level.contention);
    const std::vector<Row> rows = run_group({{level.spec, targets, false}}, settings);
    std::vector<std::string> cells = {rows[0].op, rows[0].shape, level.contention, rows[0].dtype};
    const auto ms = [](const Row& r) { return r.measured() ? format("%.3f", r.median() * 1e3) : std::string("-"); };
    const bool ran = rows[0].measured() && rows[1].measured();
    cells.insert(cells.end(),
                 {ms(rows[0]), ms(rows[1]), ran ? format("%.2f", rows[1].median() / rows[0].median()) : "-",
                  ms(rows[2]), targets[2].query("last_scatter"), ""});
    for (const Row& r : rows) cells.back().append(cells.back().empty() ? "" : " ").append(verdict_name(r.verdict));
    grid.add(std::move(cells));
  }
  return grid;
}

}  // namespace bench
