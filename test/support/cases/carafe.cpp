#include "test/support/cases/cases.h"

namespace mluops::test {
namespace {

struct Shape {
  double n, h, w, c, k, g, s;
};

Case carafe(const Shape& s) {
  Case c("carafe_forward");
  c.set("n", s.n).set("h", s.h).set("w", s.w).set("c", s.c).set("k", s.k).set("g", s.g).set("s", s.s);
  return c;
}

}  // namespace

Cases carafe_document_cases() {
  return {
      carafe({1, 25, 38, 256, 5, 1, 2}),                         // FPN level, batch 1 of 2
      carafe({1, 50, 76, 64, 5, 1, 2}),                          // FPN level, a quarter of the channels
      carafe({1, 100, 152, 16, 5, 1, 2}),                        // FPN level, a sixteenth of the channels
      carafe({1, 32, 32, 256, 5, 1, 2}),                         // design document
      carafe({1, 128, 128, 8, 5, 1, 2}),                         // design document, 8 of 256 channels
      carafe({1, 3, 3, 1, 5, 1, 2}),                             // vendor's forward test
      carafe({1, 3, 3, 2148, 5, 1, 3}).set("data", "positive"),  // vendor's backward test
      carafe({2, 3, 3, 64, 5, 4, 2}),                            // mmcv
      carafe({1, 3, 2, 8, 45, 4, 5}).set("only", "forward"),     // the documented limits
      carafe({1, 2, 2, 6, 137, 2, 1}).set("only", "backward"),
  };
}

Cases carafe_edge_cases() {
  return {
      carafe({1, 1, 1, 1, 1, 1, 1}),
      carafe({1, 1, 1, 1, 7, 1, 4}),                             // the map is one tap
      carafe({3, 1, 9, 5, 3, 5, 2}),                             // one channel per group
      carafe({2, 7, 1, 6, 5, 2, 1}),                             // no upsampling
      carafe({1, 2, 3, 4, 11, 1, 2}),                            // kernel larger than the map
      carafe({1, 4, 5, 6, 3, 3, 2}).set("data", "nan_padding"),  // padded taps are skipped, not multiplied by 0
      carafe({1, 2, 2, 5, 7, 1, 3}).set("data", "nan_padding"),
      carafe({1, 2, 2, 1031, 3, 1, 2}),  // a prime number of channels
      carafe({1, 2, 2, 20000, 1, 1, 1}).set("only", "forward"),
      carafe({1, 4, 4, 129, 3, 3, 4}).set("data", "positive"),
      carafe({5, 2, 3, 34, 3, 17, 1}),
  };
}

Case carafe_random_case(Random& random, double effort) {
  const std::int64_t kernels[] = {1, 3, 3, 5, 5, 7}, groups[] = {1, 1, 2, 3, 4, 7};
  const std::int64_t g = random.pick(groups), k = random.pick(kernels), s = random.integer(1, 4);
  const std::int64_t most = effort < 1 ? 6 : 11;
  const std::int64_t per_group = odd_size(random, effort < 1 ? 33 : 131);
  Case c = carafe({static_cast<double>(random.integer(1, 3)), static_cast<double>(random.integer(1, most)),
                   static_cast<double>(random.integer(1, most)), static_cast<double>(g * per_group),
                   static_cast<double>(k), static_cast<double>(g), static_cast<double>(s)});
  if (random.chance(0.3)) c.set("data", "nan_padding");
  return c;
}

}  // namespace mluops::test
