// GenerateProposalsV2, YoloBox, PriorBox: examples worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test/reference/generate_proposals.h"
#include "test/reference/prior_box.h"
#include "test/reference/yolo_box.h"

namespace mluops {
namespace {

using reference::Values;

void expect_close(const Values& found, const Values& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << i;
}

// ---- GenerateProposalsV2: a map of 1 x k pixels, an image of 10 x 20 ----

struct Proposals {
  Values scores, anchors, deltas = Values(4 * scores.size(), 0.0), variances = Values(4 * scores.size(), 1.0);
  Values image = {10, 20};
  std::int64_t pre = 0, post = 3;
  double iou = 0.5, least = 0;
  int offset = 0;

  reference::GenerateProposalsResult operator()() const {
    const auto k = static_cast<std::int64_t>(scores.size());
    return reference::generate_proposals({{MLUOP_DTYPE_DOUBLE, 1, 1, k, 1},
                                          scores.data(),
                                          deltas.data(),
                                          image.data(),
                                          anchors.data(),
                                          variances.data(),
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          nullptr,
                                          pre,
                                          post,
                                          iou,
                                          least,
                                          offset});
  }
};

TEST(GenerateProposalsExample, BestFirstClippedAndFarEnough) {
  // The second shares 1/2 of the best one, the third nothing, the fourth lies outside.
  const Proposals p{.scores = {0.5, 0.9, 0.7, 0.8}, .anchors = {4, 0, 8, 4, 2, 0, 6, 4, 12, 2, 30, 8, -9, -9, -2, -2}};
  const auto r = p();
  expect_close(r.rois, {2, 0, 6, 4, 12, 2, 20, 8, 4, 0, 8, 4});
  EXPECT_EQ(r.probs, (Values{0.9, 0.7, 0.5}));
  EXPECT_EQ(r.num, Values{3});
  EXPECT_EQ(r.batch_size, Values{3});
  Proposals near = p;
  near.iou = 0.3;  // 1/3 is more
  expect_close(near().rois, {2, 0, 6, 4, 12, 2, 20, 8, 0, 0, 0, 0});
  EXPECT_EQ(near().num, Values{2});
  Proposals few = p;
  few.pre = 2;  // of which one is outside
  EXPECT_EQ(few().probs, (Values{0.9, 0, 0}));
  Proposals large = p;
  large.least = 5;
  EXPECT_EQ(large().probs, (Values{0.7, 0, 0}));
  large.least = 9;
  EXPECT_EQ(large().probs, (Values{0, 0, 0}));
  EXPECT_EQ(large().num, Values{1});  // of zeros
}

TEST(GenerateProposalsExample, DeltasMoveAndGrow) {
  Proposals p{.scores = {1}, .anchors = {4, 2, 8, 4}};
  p.deltas = {0.5, -0.25, std::log(2.0), 0};
  p.post = 1;
  expect_close(p().rois, {4, 1.5, 12, 3.5});  // the centre 6, 3 goes to 8, 2.5; twice as wide
  p.variances = {0.5, 0.5, 2, 1};
  expect_close(p().rois, {0, 1.75, 15, 3.75});  // 7, 2.75; four times as wide, from -1
  p.deltas = {0, 0, 99, 0};
  p.image = {1000, 1000};
  p.variances = {1, 1, 1, 1};
  expect_close(p().rois, {0, 2, 6 + 2 * 62.5, 4});  // at most 62.5 times
  p.offset = 1;
  p.deltas = {0, 0, 0, 0};
  expect_close(p().rois, {4, 2, 8, 4});
  p.image = {3.5, 1000};  // ends at 2.5; the centre 2.75 is inside
  expect_close(p().rois, {4, 2, 8, 2.5});
  p.deltas = {0, 0, std::nan(""), 0};
  EXPECT_EQ(p().probs, Values{0});
}

// ---- YoloBox: one pixel of 2 x 2, an image of 40 x 80 ----

reference::YoloBoxResult yolo(const Values& x, double conf, bool clip, double scale = 1, double factor = -1) {
  const std::int32_t image[] = {40, 80}, anchors[] = {8, 4};
  mluopsYoloBoxProblem p = {};
  p.shape = {MLUOP_DTYPE_DOUBLE, 1, 1, 1, 1, 2};
  p.x = x.data();
  p.img_size = image;
  p.anchors = anchors;
  p.conf_thresh = conf;
  p.scale = scale;
  p.iou_aware = factor >= 0 ? 1 : 0;
  p.iou_aware_factor = factor;
  p.downsample_ratio = 8;
  p.clip_bbox = clip ? 1 : 0;
  return reference::yolo_box(p);
}

TEST(YoloBoxExample, OnePixelCountsAndOneDoesNot) {
  const double three = std::log(3.0);  // whose sigmoid is 3/4
  // x, y, w, h, confidence, class of both pixels.
  const Values x = {0, 0, three, 0, 0, 0, std::log(2.0), 0, three, -three, -three, 0};
  // Centre (0 + 1/2) 80 / 2 = 20 and 3/4 40 = 30; sides 8 80 / 16 = 40 and 2 4 40 / 8 = 40.
  expect_close(yolo(x, 0.5, false).boxes, {0, 0, 10, 0, 40, 0, 50, 0});
  expect_close(yolo(x, 0.5, true).boxes, {0, 0, 10, 0, 40, 0, 39, 0});
  expect_close(yolo(x, 0.5, true).scores, {3.0 / 16, 0});
  expect_close(yolo(x, 0.2, true).scores, {3.0 / 16, 1.0 / 8});
  // Twice as far from the middle: y = (1/2 + 2/4) 40 = 40.
  expect_close(yolo(x, 0.5, false, 2).boxes, {0, 0, 20, 0, 40, 0, 60, 0});
}

TEST(YoloBoxExample, IouAware) {
  const double three = std::log(3.0);
  const Values x = {-three, 0, 0, 0, 0, 0, 0, 0, 0, 0, three, 0, 0, 0};
  expect_close(yolo(x, 0, false, 1, 0).scores, {0.75 / 2, 0.25});
  expect_close(yolo(x, 0, false, 1, 1).scores, {0.25 / 2, 0.25});
  expect_close(yolo(x, 0, false, 1, 0.5).scores, {std::sqrt(0.75 * 0.25) / 2, 0.25});
}

// ---- PriorBox: one pixel, an image of 10 x 20 ----

Values priors(const Values& ratios, bool squares_first, bool max, bool clip = false) {
  const Values least = {2}, most = {8}, variances = {0.1, 0.2, 0.3, 0.4};
  mluopsPriorBoxProblem p = {};
  p.shape = {MLUOP_DTYPE_DOUBLE, 1, static_cast<std::int64_t>(ratios.size()), max ? 1 : 0, 1, 1};
  p.min_sizes = least.data();
  p.aspect_ratios = ratios.data();
  p.variances = variances.data();
  p.max_sizes = most.data();
  p.im_height = 10;
  p.im_width = 20;
  p.step_h = 4;
  p.step_w = 8;
  p.offset = 0.5;
  p.clip = clip ? 1 : 0;
  p.min_max_order = squares_first ? 1 : 0;
  const auto r = reference::prior_box(p);
  EXPECT_EQ(Values(r.var.begin(), r.var.begin() + 4), variances);
  return r.output;
}

TEST(PriorBoxExample, RatiosSquaresAndTheirOrder) {
  // The centre is (4, 2). A side of 2, of 4 (the root of 2 times 8), and 4 by 1.
  const Values square = {0.15, 0.1, 0.25, 0.3}, large = {0.1, 0, 0.3, 0.4}, wide = {0.1, 0.15, 0.3, 0.25};
  const auto joined = [](std::initializer_list<Values> parts) {
    Values all;
    for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  expect_close(priors({1, 4}, false, true), joined({square, wide, large}));
  expect_close(priors({1, 4}, true, true), joined({square, large, wide}));
  expect_close(priors({4, 1}, true, false), joined({square, wide}));
  expect_close(priors({1, 1}, true, false), joined({square, square}));  // the second is a ratio like others
  expect_close(priors({4, 9}, true, false), joined({square, wide}));    // none is 1: no box for the last
  expect_close(priors({100}, false, false), {-0.3, 0.19, 0.7, 0.21});
  expect_close(priors({100}, false, false, true), {0, 0.19, 0.7, 0.21});
}

}  // namespace
}  // namespace mluops
