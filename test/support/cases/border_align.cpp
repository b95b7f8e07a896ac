#include "test/support/cases/cases.h"

namespace mluops::test {
namespace {

struct Shape {
  double n, h, w, c, k, p;
};

Case border_align(const Shape& s, const char* boxes) {
  Case c("border_align_forward");
  c.set("n", s.n).set("h", s.h).set("w", s.w).set("c", s.c).set("k", s.k).set("p", s.p);
  return c.set("boxes", boxes);
}

}  // namespace

Cases border_align_document_cases() {
  return {
      border_align({2, 7, 10, 256, 70, 10}, "inside"),
      border_align({1, 25, 38, 64, 950, 10}, "inside"),  // batch 1 of 2, 64 of 256 channels
      border_align({2, 10, 7, 128, 70, 10}, "inside"),
      border_align({3, 10, 10, 1, 5, 8}, "inside"),
      border_align({3, 8, 10, 103, 80, 2}, "inside"),   // 412 channels for the document's 410, batch 3
      border_align({3, 8, 100, 2, 800, 1}, "inside"),   // batch 3
      border_align({1, 10, 7, 129, 70, 10}, "inside"),  // vendor's test
      border_align({2, 10, 10, 5, 100, 3}, "mixed"),
      border_align({1, 3, 4, 1, 12, 1}, "inside"),  // mmcv
      border_align({1, 3, 4, 1, 12, 2}, "inside"),
  };
}

Cases border_align_edge_cases() {
  return {
      border_align({1, 1, 1, 1, 1, 1}, "inside"),
      border_align({1, 1, 1, 3, 9, 4}, "edge"),
      border_align({1, 8, 8, 3, 64, 4}, "edge"),  // samples exactly on -1, H and W
      border_align({2, 4, 16, 7, 33, 8}, "edge").set("data", "negative"),
      border_align({2, 6, 5, 5, 21, 7}, "beyond"),
      border_align({2, 6, 5, 5, 21, 7}, "beyond").set("data", "negative"),
      border_align({1, 9, 9, 6, 15, 10}, "inverted"),
      border_align({2, 8, 8, 17, 16, 8}, "inside").set("data", "ties"),
      border_align({2, 8, 8, 9, 16, 4}, "edge").set("data", "ties"),
      border_align({1, 5, 6, 4, 30, 3}, "mixed").set("argmax", "wild"),
      border_align({1, 3, 3, 1031, 2, 2}, "mixed"),
      border_align({3, 2, 7, 33, 1, 1}, "mixed"),
      border_align({1, 4, 4, 2, 3, 100}, "mixed"),
  };
}

Case border_align_random_case(Random& random, double effort) {
  const char* kinds[] = {"inside", "inside", "mixed", "beyond", "inverted", "edge"};
  const std::int64_t most = effort < 1 ? 9 : 20;
  Case c = border_align(
      {static_cast<double>(random.integer(1, 3)), static_cast<double>(random.integer(1, most)),
       static_cast<double>(random.integer(1, most)), static_cast<double>(odd_size(random, effort < 1 ? 33 : 131)),
       static_cast<double>(random.integer(1, 40)), static_cast<double>(random.integer(1, 10))},
      random.pick(kinds));
  if (random.chance(0.25)) c.set("data", random.chance(0.5) ? "ties" : "negative");
  if (random.chance(0.3)) c.set("argmax", "wild");
  return c;
}

}  // namespace mluops::test
