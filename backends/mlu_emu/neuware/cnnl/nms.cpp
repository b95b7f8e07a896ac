// Non-maximum suppression: upright boxes in float as on the device, rotated ones in double.
#include <algorithm>
#include <cmath>

#include "backends/mlu_emu/neuware/cnnl/dense.h"
#include "backends/mlu_emu/neuware/cnnl/descriptors.h"

using namespace cnnl;  // NOLINT: the C functions' own names are all global

namespace {

struct Point {
  double x, y;
};
using Polygon = std::vector<Point>;

double cross(Point o, Point a, Point b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

double area(const Polygon& p) {
  double twice = 0;
  for (std::size_t i = 2; i < p.size(); ++i) twice += cross(p[0], p[i - 1], p[i]);
  return twice / 2;
}

/// The part of p to the left of the line from a to b.
Polygon cut(const Polygon& p, Point a, Point b) {
  Polygon left;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Point from = p[i], to = p[(i + 1) % p.size()];
    const double d = cross(a, b, from), e = cross(a, b, to);
    if (d >= 0) left.push_back(from);
    if ((d < 0) != (e < 0))
      left.push_back({from.x + (to.x - from.x) * d / (d - e), from.y + (to.y - from.y) * d / (d - e)});
  }
  return left;
}

/// A box seen from above: x, y, z, dx, dy, dz, angle.
Polygon seen_from_above(const Values& b) {
  Polygon corners;
  for (int i = 0; i < 4; ++i) {
    const double x = (i == 0 || i == 3 ? -b[3] : b[3]) / 2, y = (i < 2 ? -b[4] : b[4]) / 2;
    corners.push_back({b[0] + x * std::cos(b[6]) - y * std::sin(b[6]), b[1] + x * std::sin(b[6]) + y * std::cos(b[6])});
  }
  return corners;
}

double rotated_iou(const Values& a, const Values& b) {
  const Polygon other = seen_from_above(b);
  Polygon common = seen_from_above(a);
  for (std::size_t i = 0; i < 4 && !common.empty(); ++i) common = cut(common, other[i], other[(i + 1) % 4]);
  const double shared = area(common);
  return shared / std::max(a[3] * a[4] + b[3] * b[4] - shared, 1e-8);
}

/// x1, y1, x2, y2 in order.
struct Upright {
  float x1, y1, x2, y2;
};
Upright upright(const cnnlNmsStruct& d, const Values& b) {
  const auto x = static_cast<float>(b[0]), y = static_cast<float>(b[1]), z = static_cast<float>(b[2]),
             w = static_cast<float>(b[3]);
  if (d.box_mode == 1) return {x - z / 2, y - w / 2, x + z / 2, y + w / 2};
  return {std::min(x, z), std::min(y, w), std::max(x, z), std::max(y, w)};
}

float upright_iou(const cnnlNmsStruct& d, const Values& first, const Values& second) {
  const Upright a = upright(d, first), b = upright(d, second);
  const auto size = [&](float low, float high) { return high - low + d.offset; };
  const float w = std::max(size(std::max(a.x1, b.x1), std::min(a.x2, b.x2)), 0.0f),
              h = std::max(size(std::max(a.y1, b.y1), std::min(a.y2, b.y2)), 0.0f);
  const float of_a = size(a.x1, a.x2) * size(a.y1, a.y2), of_b = size(b.x1, b.x2) * size(b.y1, b.y2);
  return w * h / (of_a + of_b - w * h);
}

std::vector<Values> boxes_of(const cnnlNmsStruct& d, const Tensor* desc, const void* data) {
  require(desc != nullptr && desc->rank() == 2, "boxes must have 2 dimensions", CNNL_STATUS_NOT_SUPPORTED);
  const Array numbers("boxes", desc, data);
  const bool columns = d.input_layout == 1;
  const std::int64_t width = numbers.dim(columns ? 0 : 1), n = numbers.dim(columns ? 1 : 0);
  require(width == 4 || width == 7, "a box: wanted 4 or 7 numbers, got " + std::to_string(width));
  std::vector<Values> boxes(at(n), Values(at(width)));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < width; ++j) boxes[at(i)][at(j)] = numbers[columns ? j * n + i : i * width + j];
  }
  return boxes;
}

/// Of a descriptor, what counts for n boxes of 7 numbers: threshold and layout. All that stay are given, by index.
cnnlNmsStruct in_space(const cnnlNmsStruct& desc, std::int64_t n) {
  cnnlNmsStruct d = desc;
  d.output_mode = 0;
  d.pad = false;
  d.max_output_size = static_cast<int>(n);
  return d;
}

/// The boxes that stay, the best first; without scores the first first.
std::vector<std::int64_t> kept(const cnnlNmsStruct& d, const std::vector<Values>& boxes, const Values& scores) {
  std::vector<std::int64_t> order, taken;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(boxes.size()); ++i) {
    if (scores.empty() || scores[at(i)] > static_cast<double>(d.confidence_threshold)) order.push_back(i);
  }
  if (!scores.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[at(a)] > scores[at(b)]; });
  }
  const auto overlap = [&](const Values& a, const Values& b) {
    return a.size() == 7 ? rotated_iou(a, b) : static_cast<double>(upright_iou(d, a, b));
  };
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(taken.size()) >= d.max_output_size) break;
    const bool free = std::none_of(taken.begin(), taken.end(), [&](std::int64_t j) {
      return overlap(boxes[at(j)], boxes[at(i)]) > static_cast<double>(d.iou_threshold);
    });
    if (free) taken.push_back(i);
  }
  return taken;
}

}  // namespace

extern "C" {

cnnlStatus_t cnnlNms_v2(cnnlHandle_t, cnnlNmsDescriptor_t desc, cnnlTensorDescriptor_t boxes_desc, const void* boxes,
                        cnnlTensorDescriptor_t confidence_desc, const void* confidence, void*, size_t,
                        cnnlTensorDescriptor_t output_desc, void* output, void* output_size) {
  return guarded(__func__, [&] {
    require(desc != nullptr, "nms_desc must not be null");
    const std::vector<Values> all = boxes_of(*desc, boxes_desc, boxes);
    const auto n = static_cast<std::int64_t>(all.size());
    const bool rotated = boxes_desc->dims[desc->input_layout == 1 ? 0 : 1] == 7;
    const cnnlNmsStruct d = rotated ? in_space(*desc, n) : *desc;
    require(d.output_mode >= 0 && d.output_mode <= 2, "output mode: only 0, 1 and 2 are supported",
            CNNL_STATUS_NOT_SUPPORTED);
    require(rotated || confidence_desc != nullptr, "confidence_desc must not be null");
    require(!rotated || (confidence_desc == nullptr && confidence == nullptr),
            "confidence_desc and confidence must be null with boxes of 7 numbers");
    const std::optional<Array> given = optional_array("confidence", confidence_desc, confidence, {n});
    const Values scores = given ? given->values() : Values();
    const Result out("output", output_desc, output);
    Tensor one;
    one.dtype = CNNL_DTYPE_INT32;
    const Result count("output_size", &one, output_size);
    const std::vector<std::int64_t> taken = kept(d, all, scores);
    const auto found = static_cast<std::int64_t>(taken.size());
    const std::int64_t width = d.output_mode == 0 ? 1 : 5, room = out.count() / width;
    require(found <= room && (!d.pad || d.max_output_size <= room),
            "output has room for " + std::to_string(room) + " boxes");
    for (std::int64_t i = 0; i < (d.pad ? d.max_output_size : found); ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        double value = 0;
        if (i < found) {
          const std::int64_t box = taken[at(i)];
          value = width == 1 ? static_cast<double>(box) : j == 0 ? scores[at(box)] : all[at(box)][at(j - 1)];
        }
        out.set(d.output_mode == 2 ? j * room + i : i * width + j, value);
      }
    }
    count.set(0, static_cast<double>(found));
  });
}
}
