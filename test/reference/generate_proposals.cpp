#include "test/reference/generate_proposals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mluops::reference {
namespace {

struct Roi {
  double x1, y1, x2, y2, score;
};

double limited(double v, double end) {
  if (v > end) v = end;
  return v < 0 ? 0 : v;
}

double overlap(const Roi& a, const Roi& b, double offset) {
  const auto area = [&](double x1, double y1, double x2, double y2) {
    const double w = x2 - x1 + offset, h = y2 - y1 + offset;
    return w > 0 && h > 0 ? w * h : 0;
  };
  const double both = area(std::fmax(a.x1, b.x1), std::fmax(a.y1, b.y1), std::fmin(a.x2, b.x2), std::fmin(a.y2, b.y2));
  return both / (area(a.x1, a.y1, a.x2, a.y2) + area(b.x1, b.y1, b.x2, b.y2) - both);
}

/// Corners of an anchor after its deltas, as a centre and sides.
Roi moved(const double* anchor, const double* delta, const double* variance, double score, double offset) {
  const double w = anchor[2] - anchor[0] + offset, h = anchor[3] - anchor[1] + offset;
  const double x = anchor[0] + 0.5 * w + delta[0] * w * variance[0];
  const double y = anchor[1] + 0.5 * h + delta[1] * h * variance[1];
  const auto grown = [](double side, double by) {
    const double most = 1000.0 / 16.0, times = std::exp(by);
    return side * (times > most ? most : times);
  };
  const double new_w = grown(w, delta[2] * variance[2]), new_h = grown(h, delta[3] * variance[3]);
  return {x - 0.5 * new_w, y - 0.5 * new_h, x + 0.5 * new_w - offset, y + 0.5 * new_h - offset, score};
}

/// Clipped to the image; false where it does not count.
bool clip(const mluopsGenerateProposalsProblem& p, const double* image, Roi& roi) {
  const double offset = p.pixel_offset, least = p.min_size > 1 ? p.min_size : 1;
  roi = {limited(roi.x1, image[1] - offset), limited(roi.y1, image[0] - offset), limited(roi.x2, image[1] - offset),
         limited(roi.y2, image[0] - offset), roi.score};
  const double w = roi.x2 - roi.x1 + offset, h = roi.y2 - roi.y1 + offset;
  if (!(w >= least && h >= least)) return false;
  return p.pixel_offset == 0 || (roi.x1 + w / 2 <= image[1] && roi.y1 + h / 2 <= image[0]);
}

}  // namespace

GenerateProposalsResult generate_proposals(const mluopsGenerateProposalsProblem& p) {
  const std::int64_t n = p.shape.n, all = p.shape.h * p.shape.w * p.shape.a;
  const mluOpDataType_t dtype = p.shape.dtype;
  const Values scores = decode(dtype, p.scores, n * all), deltas = decode(dtype, p.bbox_deltas, n * all * 4);
  const Values anchors = decode(dtype, p.anchors, all * 4), variances = decode(dtype, p.variances, all * 4);
  const Values images = decode(dtype, p.im_shape, n * 2);
  GenerateProposalsResult r;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(all));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const double of_a = scores[i * all + a], of_b = scores[i * all + b];
      return std::isnan(of_a) ? !std::isnan(of_b) : of_a > of_b;
    });
    if (p.pre_nms_top_n > 0 && p.pre_nms_top_n < all) order.resize(static_cast<std::size_t>(p.pre_nms_top_n));
    std::vector<Roi> kept;
    for (const std::int64_t k : order) {
      Roi roi =
          moved(&anchors[4 * k], &deltas[4 * (i * all + k)], &variances[4 * k], scores[i * all + k], p.pixel_offset);
      if (std::ssize(kept) == p.post_nms_top_n || !clip(p, &images[2 * i], roi)) continue;
      const auto too_near = [&](const Roi& better) { return overlap(better, roi, p.pixel_offset) > p.nms_thresh; };
      if (std::none_of(kept.begin(), kept.end(), too_near)) kept.push_back(roi);
    }
    if (kept.empty()) kept.push_back({0, 0, 0, 0, 0});
    for (const Roi& roi : kept) {
      r.rois.insert(r.rois.end(), {roi.x1, roi.y1, roi.x2, roi.y2});
      r.probs.push_back(roi.score);
    }
    r.num.push_back(static_cast<double>(kept.size()));
  }
  r.batch_size = {static_cast<double>(r.probs.size())};
  r.rois.resize(static_cast<std::size_t>(4 * n * p.post_nms_top_n), 0.0);
  r.probs.resize(static_cast<std::size_t>(n * p.post_nms_top_n), 0.0);
  return r;
}

}  // namespace mluops::reference
