#include "test/support/cases/cases.h"

namespace mluops::test {
namespace {

struct Shape {
  double n, h, w, hm, wm;
};

Case psamask(const Shape& s, double type) {
  Case c("psamask_forward");
  c.set("n", s.n).set("h", s.h).set("w", s.w).set("hm", s.hm).set("wm", s.wm).set("type", type);
  return c;
}

Cases both_types(const std::vector<Shape>& shapes) {
  Cases cases;
  for (const Shape& s : shapes) {
    for (double type : {0.0, 1.0}) cases.push_back(psamask(s, type));
  }
  return cases;
}

}  // namespace

Cases psamask_document_cases() {
  return both_types({
      {1, 2, 2, 3, 3},       // figure of the design document
      {123, 3, 12, 29, 22},  // vendor's forward test
      {1, 64, 32, 32, 32},   // vendor's backward test, half the rows, batch 1 of 16
      {4, 8, 8, 4, 4},       // mmcv: even mask
      {1, 30, 30, 59, 59},   // PSANet
      {1, 49, 49, 31, 31},   // PSANet, mask 31 of 97
      {1, 60, 60, 13, 13},   // PSANet, mask 13 of 119
  });
}

Cases psamask_edge_cases() {
  Cases cases = both_types({
      {1, 1, 1, 1, 1},
      {2, 5, 7, 1, 1},    // a mask of one cell
      {1, 1, 9, 3, 4},    // one row
      {3, 9, 1, 4, 3},    // one column
      {1, 3, 4, 15, 17},  // larger than twice the map
      {2, 4, 4, 2, 6},    // even sizes
      {1, 5, 3, 1, 8},
      {40, 2, 3, 3, 3},  // more images than clusters
      {1, 37, 2, 5, 2},
      {1, 2, 33, 3, 64},
  });
  for (double type : {0.0, 1.0}) cases.push_back(psamask({2, 5, 6, 7, 5}, type).set("data", "special"));
  return cases;
}

Case psamask_random_case(Random& random, double effort) {
  const std::int64_t most = effort < 1 ? 8 : 17;
  Case c = psamask({static_cast<double>(random.integer(1, random.chance(0.2) ? 20 : 4)),
                    static_cast<double>(odd_size(random, most)), static_cast<double>(odd_size(random, most)),
                    static_cast<double>(random.integer(1, 2 * most)), static_cast<double>(random.integer(1, 2 * most))},
                   static_cast<double>(random.integer(0, 1)));
  if (random.chance(0.2)) c.set("data", "special");
  return c;
}

}  // namespace mluops::test
