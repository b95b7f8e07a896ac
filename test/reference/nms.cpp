#include "test/reference/nms.h"

#include <algorithm>
#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

struct Candidate {
  double x1, y1, x2, y2, score;
  std::int64_t index;
};
using Candidates = std::vector<Candidate>;

double area(const Candidate& b, double offset, const Rounding& r) {
  const double width = r.add(r.sub(b.x2, b.x1), offset), height = r.add(r.sub(b.y2, b.y1), offset);
  return r.mul(width, height);
}

// Sides that do not meet share nothing; a quotient of nothing by nothing stays NaN.
double iou(const Candidate& a, const Candidate& b, double offset, const Rounding& r) {
  const double left = std::max(a.x1, b.x1), right = std::min(a.x2, b.x2);
  const double top = std::max(a.y1, b.y1), bottom = std::min(a.y2, b.y2);
  const double width = r.add(r.sub(right, left), offset), height = r.add(r.sub(bottom, top), offset);
  const double shared = r.mul(width > 0 ? width : 0, height > 0 ? height : 0);
  return r.div(shared, r.sub(r.add(area(a, offset, r), area(b, offset, r)), shared));
}

// NaN beats every number; else the greater score, and the one that comes first.
bool better(const Candidate& a, const Candidate& b) {
  if (std::isnan(a.score) || std::isnan(b.score)) return std::isnan(a.score) && !std::isnan(b.score);
  return a.score > b.score;
}

// Takes the best candidate out of the list.
Candidate take_best(Candidates& left) {
  auto best = left.begin();
  for (auto it = left.begin(); it != left.end(); ++it) {
    if (better(*it, *best)) best = it;
  }
  const Candidate taken = *best;
  left.erase(best);
  return taken;
}

Candidates read_candidates(const mluopsNmsProblem& p, const Rounding& r) {
  const std::int64_t n = p.shape.boxes;
  const Values boxes = decode(p.shape.dtype, p.boxes, 4 * n), scores = decode(p.score_dtype, p.scores, n);
  Candidates list;
  for (std::int64_t i = 0; i < n; ++i) {
    double v[4];
    for (std::int64_t k = 0; k < 4; ++k) v[k] = boxes[p.transposed != 0 ? k * n + i : i * 4 + k];
    if (p.box_mode == MLUOP_NMS_BOX_CENTER) {
      for (int k = 0; k < 2; ++k) {
        v[k] = r.sub(v[k], r.mul(v[k + 2], 0.5));
        v[k + 2] = r.add(v[k], v[k + 2]);
      }
    }
    const Candidate candidate = {v[0], v[1], v[2], v[3], scores[i], i};
    if (std::isnan(p.score_threshold) || scores[i] > static_cast<double>(p.score_threshold)) list.push_back(candidate);
  }
  return list;
}

void put_detection(const mluopsNmsProblem& p, const Values& boxes, std::int64_t n, const Candidate& c, Values& output) {
  const bool rows = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1;
  for (std::int64_t k = 0; k < 5; ++k) {
    const std::int64_t from = p.transposed != 0 ? (k - 1) * p.shape.boxes + c.index : c.index * 4 + k - 1;
    output[rows ? n * 5 + k : k * p.room + n] = k == 0 ? c.score : boxes[from];
  }
}

}  // namespace

NmsResult nms(const mluopsNmsProblem& p, Coordinates coordinates) {
  const Rounding r(coordinates);
  const double offset = p.shape.offset, threshold = p.shape.iou_threshold;
  const bool indices = p.output_mode == MLUOP_NMS_OUTPUT_TARGET_INDICES;
  const Values boxes = decode(p.shape.dtype, p.boxes, 4 * p.shape.boxes);
  Candidates left = read_candidates(p, r);
  NmsResult result{Values(static_cast<std::size_t>(indices ? p.room : 5 * p.room), 0.0), 0};
  std::int64_t kept = 0;
  for (; !left.empty() && kept < p.max_output; ++kept) {
    const Candidate best = take_best(left);
    if (indices) {
      result.output[kept] = static_cast<double>(best.index);
    } else {
      put_detection(p, boxes, kept, best, result.output);
    }
    std::erase_if(left, [&](const Candidate& c) { return iou(best, c, offset, r) > threshold; });
  }
  result.output_size = static_cast<double>(kept);
  return result;
}

SoftNmsResult soft_nms(const mluopsSoftNmsProblem& p, Coordinates coordinates) {
  const Rounding r(coordinates);
  const std::int64_t n = p.shape.boxes;
  const double offset = p.shape.offset, threshold = p.shape.iou_threshold;
  const Values boxes = decode(p.shape.dtype, p.boxes, 4 * n), scores = decode(p.shape.dtype, p.scores, n);
  Candidates list;
  for (std::int64_t i = 0; i < n; ++i) {
    list.push_back({boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3], scores[i], i});
  }
  for (std::size_t taken = 0; taken < list.size(); ++taken) {
    std::size_t best = taken;
    for (std::size_t i = taken + 1; i < list.size(); ++i) best = list[best].score < list[i].score ? i : best;
    std::swap(list[taken], list[best]);
    for (std::size_t i = taken + 1; i < list.size();) {
      const double overlap = iou(list[taken], list[i], offset, r);
      double weight = 1;
      if (p.method == MLUOP_EXT_SOFT_NMS_GAUSSIAN) {
        weight = r(std::exp(r.div(-r.mul(overlap, overlap), r(p.exact_sigma))));
      } else if (overlap >= threshold) {
        weight = p.method == MLUOP_EXT_SOFT_NMS_LINEAR ? r.sub(1, overlap) : 0;
      }
      const double lowered = r.mul(list[i].score, weight);
      list[i].score = lowered;
      if (lowered < p.exact_min_score) {  // the last one, not yet looked at, comes to its place
        list[i] = list.back();
        list.pop_back();
      } else {
        ++i;
      }
    }
  }
  SoftNmsResult result{Values(static_cast<std::size_t>(5 * n), 0.0), Values(static_cast<std::size_t>(n), 0.0),
                       static_cast<double>(list.size())};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Candidate& c = list[i];
    const double row[5] = {c.x1, c.y1, c.x2, c.y2, c.score};
    std::copy(row, row + 5, result.dets.begin() + static_cast<std::ptrdiff_t>(5 * i));
    result.indices[i] = static_cast<double>(c.index);
  }
  return result;
}

NmsMatchResult nms_match(const mluopsNmsMatchProblem& p, Coordinates coordinates) {
  const Rounding r(coordinates);
  const std::int64_t n = p.shape.boxes;
  const Values dets = decode(p.shape.dtype, p.dets, 5 * n);
  Candidates left;
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const d = &dets[5 * i];
    left.push_back({d[0], d[1], d[2], d[3], d[4], i});
  }
  NmsMatchResult result{{}, {}, 0};
  while (!left.empty()) {
    const Candidate best = take_best(left);
    Candidates group = {best};
    std::erase_if(left, [&](const Candidate& c) {
      const bool suppressed = iou(best, c, 0, r) >= static_cast<double>(p.shape.iou_threshold);
      if (suppressed) group.push_back(c);
      return suppressed;
    });
    std::stable_sort(group.begin() + 1, group.end(), better);
    for (const Candidate& c : group) result.indices.push_back(static_cast<double>(c.index));
    result.group_sizes.push_back(static_cast<double>(group.size()));
  }
  result.group_count = static_cast<double>(result.group_sizes.size());
  result.group_sizes.resize(static_cast<std::size_t>(n), 0.0);
  return result;
}

}  // namespace mluops::reference
