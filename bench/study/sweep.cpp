#include <algorithm>
#include <cmath>

#include "bench/cases/builders.h"
#include "bench/output/table.h"
#include "bench/study/studies.h"

namespace bench {
namespace {

constexpr int kSteps = 4;

/// One dimension of one operator: its case when the dimension is `times` times as large.
struct Dimension {
  std::string name;
  std::function<Case(Direction, int times)> make;
};

constexpr mluOpDataType_t kFloat = MLUOP_DTYPE_FLOAT;

// Multiplies one member of the sizes.
template <class Sizes, class Member, class Make>
Dimension stretched(const char* name, Sizes sizes, Member Sizes::*member, Make make) {
  return {name, [=](Direction d, int times) {
            Sizes larger = sizes;
            larger.*member = static_cast<Member>(larger.*member * times);
            return make(larger, d, kFloat);
          }};
}

std::vector<Dimension> carafe_dimensions() {
  const CarafeSizes s = {2, 24, 32, 64};
  const auto make = make_carafe;
  std::vector<Dimension> list = {stretched("N", s, &CarafeSizes::n, make), stretched("H", s, &CarafeSizes::h, make),
                                 stretched("W", s, &CarafeSizes::w, make), stretched("C", s, &CarafeSizes::c, make),
                                 stretched("scale", CarafeSizes{2, 24, 32, 64, 5, 1, 1}, &CarafeSizes::scale, make)};
  list[4].make = [=](Direction d, int times) {
    return make({2, 24, 32, 64, 5, 1, times == 8 ? 5 : times}, d, kFloat);  // 5 is the largest scale of the contract
  };
  list.push_back({"kernel", [=](Direction d, int times) {
                    return make({2, 24, 32, 64, 2 * times - 1, 1, 2}, d, kFloat);
                  }});
  return list;
}

std::vector<Dimension> psamask_dimensions() {
  const auto make = make_psamask;
  const PsamaskSizes s = {2, 16, 16, 31, 31, 0};
  return {stretched("N", s, &PsamaskSizes::n, make), stretched("H", s, &PsamaskSizes::h, make),
          stretched("W", s, &PsamaskSizes::w, make), stretched("h_mask", s, &PsamaskSizes::h_mask, make),
          stretched("w_mask", s, &PsamaskSizes::w_mask, make)};
}

std::vector<Dimension> three_interpolate_dimensions() {
  using Sizes = ThreeInterpolateSizes;
  const auto make = make_three_interpolate;
  const Sizes s = {4, 64, 1024, 512};
  return {stretched("B", s, &Sizes::b, make), stretched("C", s, &Sizes::c, make), stretched("N", s, &Sizes::n, make),
          stretched("M", s, &Sizes::m, make)};
}

std::vector<Dimension> deform_roi_pool_dimensions() {
  using Sizes = DeformRoiPoolSizes;
  const auto make = make_deform_roi_pool;
  const Sizes s = {2, 50, 76, 64, 32, 0.0625f, true};
  return {stretched("B", s, &Sizes::b, make),       stretched("H", s, &Sizes::h, make),
          stretched("W", s, &Sizes::w, make),       stretched("C", s, &Sizes::c, make),
          stretched("RoIs", s, &Sizes::rois, make), stretched("sampling_ratio", s, &Sizes::sampling_ratio, make)};
}

std::vector<Dimension> border_align_dimensions() {
  using Sizes = BorderAlignSizes;
  const auto make = make_border_align;
  const Sizes s = {2, 25, 38, 32, 475, 5};
  return {stretched("N", s, &Sizes::n, make), stretched("H", s, &Sizes::h, make),
          stretched("W", s, &Sizes::w, make), stretched("C", s, &Sizes::c, make),
          stretched("K", s, &Sizes::k, make), stretched("pool_size", s, &Sizes::pool, make)};
}

std::vector<Dimension> all_dimensions() {
  std::vector<Dimension> all;
  for (auto& list : {carafe_dimensions(), psamask_dimensions(), three_interpolate_dimensions(),
                     deform_roi_pool_dimensions(), border_align_dimensions()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

// Slope of log(time) over log2 of the growth: least squares.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0, mean_y = 0, above = 0, below = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]), mean_y += std::log(y[i]);
  mean_x /= static_cast<double>(x.size()), mean_y /= static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return above / below;
}

struct Series {
  std::vector<double> times, work, seconds;
};

// Growth of what the operator is asked for: bytes or flops, whichever grows faster.
double growth(const Row& row, const Row& first) {
  const double bytes = row.bytes() / first.bytes();
  return first.flops > 0 ? std::max(bytes, row.flops / first.flops) : bytes;
}

void add_row(Grid& grid, const std::string& op, const Dimension& dimension, const Series& s) {
  const double measured = exponent(s.times, s.seconds), asked = exponent(s.times, s.work);
  std::vector<std::string> cells = {op, dimension.name};
  for (const double seconds : s.seconds) cells.push_back(format("%.3f", seconds * 1e3));
  cells.push_back(format("%.2f", measured));
  cells.push_back(format("%.2f", asked));
  cells.push_back(measured <= asked + 0.15 ? "linear" : "MORE");
  grid.add(std::move(cells));
}

}  // namespace

Grid sweep_study(const Options& options) {
  const int threads = options.threads.back();
  const std::vector<Target> targets = {Target("cpu", threads)};
  const Settings settings{options.min_seconds / 2, options.repetitions, false};
  Grid grid{format("Growth with each dimension (cpu, float, %d threads)", threads),
            {"operator", "dimension", "ms x1", "ms x2", "ms x4", "ms x8", "exponent", "of the work", "growth"},
            "llrrrrrrl",
            {},
            "exponent: fitted slope of log time over log size; of the work: the same fit for the bytes or flops, "
            "whichever grow faster (scale and kernel go 1, 2, 4, 5 and 1, 3, 7, 15). linear: time grows no faster than "
            "the work, up to 0.15."};
  for (const Dimension& dimension : all_dimensions()) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      std::vector<Job> jobs;
      Series series;
      for (int step = 0; step < kSteps; ++step) jobs.push_back({dimension.make(direction, 1 << step), targets, false});
      const std::string op = jobs[0].spec.op;
      if (!selected(options.operators, op)) continue;
      progress(op + " " + dimension.name);
      const std::vector<Row> rows = run_group(std::move(jobs), settings);
      for (int step = 0; step < kSteps; ++step) {
        const Row& row = rows[static_cast<std::size_t>(step)];
        if (!row.measured()) throw std::runtime_error(row.op + " " + row.shape + ": " + row.reason);
        series.times.push_back(1 << step);
        series.work.push_back(growth(row, rows[0]));
        series.seconds.push_back(row.median());
      }
      add_row(grid, op, dimension, series);
    }
  }
  return grid;
}

}  // namespace bench
