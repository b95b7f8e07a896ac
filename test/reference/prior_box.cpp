#include "test/reference/prior_box.h"

#include <algorithm>
#include <cmath>

namespace mluops::reference {
namespace {

struct Sides {
  double w, h;
};

// The boxes of one min_size, as the header lists them.
std::vector<Sides> sides_of(const mluopsPriorBoxProblem& p, double least, const Values& ratios, const Values& most,
                            std::size_t size) {
  const Sides square{least, least};
  std::vector<Sides> of_ratios, of_max;
  for (const double ratio : ratios) of_ratios.push_back({least * std::sqrt(ratio), least / std::sqrt(ratio)});
  if (!most.empty()) of_max = {{std::sqrt(least * most[size]), std::sqrt(least * most[size])}};
  std::vector<Sides> all;
  if (p.min_max_order == 0) {
    all = of_ratios;
    all.insert(all.end(), of_max.begin(), of_max.end());
    return all;
  }
  const auto one = std::find_if(ratios.begin(), ratios.end(), [](double r) { return std::fabs(r - 1) < 1e-6; });
  of_ratios.erase(one == ratios.end() ? of_ratios.end() - 1 : of_ratios.begin() + (one - ratios.begin()));
  all.push_back(square);
  for (const std::vector<Sides>& more : {of_max, of_ratios}) {
    for (const Sides& sides : more) all.push_back(sides);
  }
  return all;
}

}  // namespace

PriorBoxResult prior_box(const mluopsPriorBoxProblem& p) {
  const mluopsPriorBoxShape& s = p.shape;
  const Values least = decode(s.dtype, p.min_sizes, s.sizes), ratios = decode(s.dtype, p.aspect_ratios, s.ratios);
  const Values most = decode(s.dtype, p.max_sizes, s.max_sizes), variances = decode(s.dtype, p.variances, 4);
  PriorBoxResult result;
  for (std::int64_t h = 0; h < s.h; ++h) {
    for (std::int64_t w = 0; w < s.w; ++w) {
      const double x = (static_cast<double>(w) + p.offset) * p.step_w;
      const double y = (static_cast<double>(h) + p.offset) * p.step_h;
      for (std::size_t size = 0; size < least.size(); ++size) {
        for (const Sides& of : sides_of(p, least[size], ratios, most, size)) {
          for (const double v : {(x - of.w / 2) / p.im_width, (y - of.h / 2) / p.im_height, (x + of.w / 2) / p.im_width,
                                 (y + of.h / 2) / p.im_height}) {
            result.output.push_back(p.clip != 0 && (v < 0 || v > 1) ? (v < 0 ? 0.0 : 1.0) : v);
          }
          result.var.insert(result.var.end(), variances.begin(), variances.end());
        }
      }
    }
  }
  return result;
}

}  // namespace mluops::reference
