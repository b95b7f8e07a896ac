#include "test/cases/base/scored_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace mluops::cases {
namespace {

using Box = std::array<double, 4>;

// Sides from 16 to 512 pixels, small ones more often.
Box object(Random& random) {
  const double w = 16 * std::exp2(5 * random.unit() * random.unit()), h = w * std::exp2(random.real(-1, 1));
  const double x = random.real(0, 1333), y = random.real(0, 800);
  return {x - w / 2, y - h / 2, x + w / 2, y + h / 2};
}

Box about(const Box& b, Random& random) {
  const double w = b[2] - b[0], h = b[3] - b[1];
  Box moved = b;
  for (int i = 0; i < 4; ++i) moved[static_cast<std::size_t>(i)] += random.real(-0.2, 0.2) * (i % 2 == 0 ? w : h);
  return moved;
}

Box wild(Random& random) {
  Box b = object(random);
  const double kinds[] = {std::nan(""), std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(), b[0], b[1]};
  if (random.chance(0.5)) b[static_cast<std::size_t>(random.integer(0, 3))] = random.pick(kinds);
  if (random.chance(0.2)) std::swap(b[0], b[2]);
  if (random.chance(0.2)) b[3] = b[1];
  return b;
}

Box plain(const std::string& kind, std::int64_t i, Random& random) {
  const double n = static_cast<double>(i);
  if (kind == "apart") return {30 * n, 10, 30 * n + 20, 40};
  if (kind == "column") return {10, 30 * n, 40, 30 * n + 20};
  if (kind == "far") return i == 7 ? Box{1e9, 10, 1e9 + 20, 40} : plain("apart", i, random);
  if (kind == "islands") {
    const double x = 30 * n + 1e6 * static_cast<double>(i / 500 % 40);
    return {x, 10, x + 20, 40};
  }
  if (kind == "crossed") {
    const double side = std::exp2(random.real(-10, 10));
    return {-side, -1 / side, side, 1 / side};
  }
  if (kind == "same") return {10, 20, 50, 70};
  if (kind == "wild") return wild(random);
  if (kind == "grid") {
    const double x = static_cast<double>(random.integer(0, 5)), y = static_cast<double>(random.integer(0, 5));
    return {x, y, x + static_cast<double>(random.integer(0, 4)), y + static_cast<double>(random.integer(0, 4))};
  }
  return object(random);
}

}  // namespace

Values make_boxes(const Case& t, std::int64_t n) {
  const std::string kind = t.word("boxes");
  const bool clustered = kind == "network" || kind == "classes";
  Random random(t.seed("boxes"));
  std::vector<Box> objects;
  for (std::int64_t i = 0; clustered && i < std::max<std::int64_t>(1, n / 20); ++i) objects.push_back(object(random));
  Values boxes;
  for (std::int64_t i = 0; i < n; ++i) {
    Box b = clustered ? about(pick(objects, random), random) : plain(kind, i, random);
    const double apart = kind == "classes" ? 1400.0 * static_cast<double>(random.integer(0, 39)) : 0;
    for (const double v : b) boxes.push_back(v + apart);
  }
  return boxes;
}

Fill make_scores(const Case& t) {
  const std::string kind = t.word("scores");
  const Fill any = uniform(0, 1, t.seed("scores"));
  if (kind == "ties") return [any](std::int64_t i) { return std::floor(any(i) * 5) / 5; };
  if (kind != "nan") return any;
  return [any](std::int64_t i) { return any(i) < 0.1 ? std::nan("") : any(i); };
}

}  // namespace mluops::cases
