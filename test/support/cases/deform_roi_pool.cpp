#include "test/support/cases/cases.h"

namespace mluops::test {
namespace {

struct Shape {
  double b, h, w, c, r, ph, pw;
  double scale, ratio, gamma;
};

Case deform_roi_pool(const Shape& s, double offset) {
  Case c("deform_roi_pool_forward");
  c.set("b", s.b).set("h", s.h).set("w", s.w).set("c", s.c).set("r", s.r).set("ph", s.ph).set("pw", s.pw);
  return c.set("scale", s.scale).set("ratio", s.ratio).set("gamma", s.gamma).set("offset", offset);
}

Cases with_and_without_offset(const std::vector<Shape>& shapes, const char* rois, double size = 0) {
  Cases cases;
  for (const Shape& s : shapes) {
    for (double offset : {0.0, 1.0}) {
      cases.push_back(deform_roi_pool(s, offset).set("rois", rois));
      if (size > 0) cases.back().set("size", size);
    }
  }
  return cases;
}

void append(Cases& to, const Cases& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Cases deform_roi_pool_document_cases() {
  Cases cases = with_and_without_offset(
      {
          {1, 200, 304, 16, 24, 7, 7, 0.25, 2, 0.1},   // 1: batch 1 of 2, 16 of 256 channels, 24 of 998 RoIs
          {1, 100, 152, 64, 13, 7, 7, 0.125, 2, 0.1},  // 2: 64 of 256 channels
          {1, 50, 76, 256, 11, 7, 7, 0.0625, 2, 0.1},  // 3
          {2, 25, 38, 256, 2, 7, 7, 0.03125, 2, 0.1},  // 4
          {1, 25, 38, 33, 6, 7, 7, 0.03125, 0, 0.1},   // sampling_ratio 0
      },
      "inside", 28);
  append(cases, with_and_without_offset({{1, 256, 200, 19, 1, 7, 7, 1, 2, 1}}, "inside", 2));  // vendor's, 19 channels
  append(cases, with_and_without_offset({{1, 9, 9, 1, 1, 4, 1, 0.794193864f, 5, 0.635011017f}}, "inside", 2));
  append(cases, with_and_without_offset({{1, 5, 5, 1, 3, 3, 3, 1, 2, 1}, {1, 5, 5, 3, 3, 3, 3, 1, 2, 1}}, "inside"));
  return cases;
}

Cases deform_roi_pool_edge_cases() {
  Cases cases;
  append(cases, with_and_without_offset({{1, 1, 1, 1, 3, 1, 1, 1, 1, 1}, {2, 1, 1, 5, 4, 2, 3, 1, 0, 1}}, "edge"));
  append(cases, with_and_without_offset({{1, 8, 9, 5, 24, 4, 4, 1, 2, 0.25}, {1, 6, 4, 3, 20, 2, 2, 0.5, 4, 0.5}},
                                        "edge"));  // samples exactly on -1, H and W
  append(cases,
         with_and_without_offset({{2, 7, 6, 13, 9, 3, 2, 0.5, 2, 0.1}, {1, 5, 5, 8, 7, 2, 2, 1, 0, 0.1}}, "far"));
  append(cases, with_and_without_offset({{1, 6, 7, 4, 9, 3, 3, 1, 0, 0.1}, {1, 6, 7, 4, 9, 2, 3, 1, 3, 0.1}}, "thin"));
  append(cases,
         with_and_without_offset({{1, 8, 7, 4, 9, 3, 3, 1, 0, 0.1}, {1, 8, 7, 4, 9, 2, 3, 1, 2, 0.1}}, "inverted"));
  append(cases,
         with_and_without_offset({{2, 9, 8, 7, 11, 1, 5, 1, -1, 0.5}, {3, 4, 4, 1031, 3, 2, 2, 1, 2, 0.1}}, "mixed"));
  append(cases, with_and_without_offset({{1, 12, 11, 3, 4, 3, 3, 1, 0, 0}, {1, 9, 9, 6, 5, 3, 3, 1, 2, 4}}, "inside"));
  return cases;
}

Case deform_roi_pool_random_case(Random& random, double effort) {
  const std::string kinds[] = {"inside", "inside", "mixed", "mixed", "far", "inverted", "thin", "edge"};
  const double scales[] = {1, 0.5, 0.25, 0.125, 0.3}, gammas[] = {0.1, 0.1, 0.5, 1, -0.2};
  const std::int64_t ratios[] = {0, 0, 1, 2, 2, 3, -1};
  const std::int64_t most = effort < 1 ? 10 : 20;
  Case c = deform_roi_pool(
      {static_cast<double>(random.integer(1, 3)), static_cast<double>(random.integer(1, most)),
       static_cast<double>(random.integer(1, most)), static_cast<double>(odd_size(random, effort < 1 ? 40 : 130)),
       static_cast<double>(random.integer(1, 9)), static_cast<double>(random.integer(1, 7)),
       static_cast<double>(random.integer(1, 7)), random.pick(scales), static_cast<double>(random.pick(ratios)),
       random.pick(gammas)},
      static_cast<double>(random.integer(0, 1)));
  return c.set("rois", random.pick(kinds));
}

}  // namespace mluops::test
