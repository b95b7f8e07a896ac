#include "test/support/cases/cases.h"

namespace mluops::test {
namespace {

struct Shape {
  double b, c, m, n;
};

Case three_interpolate(const Shape& s) {
  Case c("three_interpolate_forward");
  c.set("b", s.b).set("c", s.c).set("m", s.m).set("n", s.n);
  return c;
}

}  // namespace

Cases three_interpolate_document_cases() {
  return {
      three_interpolate({16, 512, 16, 64}),                         // 1
      three_interpolate({4, 256, 64, 256}),                         // 2, batch 4 of 16
      three_interpolate({2, 256, 256, 1024}),                       // 3, batch 2 of 16
      three_interpolate({1, 128, 1024, 4096}),                      // 4, batch 1 of 16
      three_interpolate({16, 16, 512, 64}),                         // 5
      three_interpolate({4, 64, 256, 256}),                         // 6, batch 4 of 16
      three_interpolate({1, 256, 128, 4096}),                       // 7, batch 1 of 16, a quarter of the channels
      three_interpolate({16, 1, 1024, 128}),                        // 8
      three_interpolate({2, 128, 256, 512}),                        // 9, batch 2 of 16
      three_interpolate({1, 512, 128, 2048}),                       // 10, batch 1 of 16
      three_interpolate({1, 1, 1, 1}),                              // 16
      three_interpolate({7, 63, 127, 129}),                         // 17
      three_interpolate({1, 1025, 1023, 1023}),                     // 18, batch 1 of 15
      three_interpolate({1, 1029, 1027, 1025}),                     // 19, batch 1 of 25
      three_interpolate({1, 511, 2033, 999}),                       // 20, batch 1 of 29, a quarter of the channels
      three_interpolate({2, 128, 64, 256}),                         // mmcv script of the design document
      three_interpolate({2, 5, 6, 6}),                              // mmcv test
      three_interpolate({13, 128, 17, 64}).set("indices", "wild"),  // vendor's backward test
  };
}

Cases three_interpolate_edge_cases() {
  return {
      three_interpolate({1, 1, 1, 7}),
      three_interpolate({3, 5, 1, 1}).set("indices", "wild"),
      three_interpolate({2, 7, 9, 40}).set("indices", "repeated"),
      three_interpolate({2, 4, 50, 65}).set("indices", "none"),
      three_interpolate({1, 33, 129, 31}).set("indices", "wild"),
      three_interpolate({2, 3, 40, 20}).set("indices", "wild").set("data", "nan_dropped"),
      three_interpolate({1, 2, 3000, 5}),
      three_interpolate({1, 2, 5, 3000}).set("indices", "valid"),
      three_interpolate({5, 97, 31, 61}),
      three_interpolate({1, 1, 700, 700}),
  };
}

Case three_interpolate_random_case(Random& random, double effort) {
  const std::string kinds[] = {"valid", "valid", "wild", "repeated", "none"};
  const std::int64_t most = effort < 1 ? 70 : 150;
  Case c = three_interpolate({static_cast<double>(random.integer(1, 5)), static_cast<double>(odd_size(random, most)),
                              static_cast<double>(odd_size(random, 2 * most)),
                              static_cast<double>(odd_size(random, 2 * most))});
  c.set("indices", random.pick(kinds));
  if (random.chance(0.2)) c.set("data", "nan_dropped");
  return c;
}

}  // namespace mluops::test
