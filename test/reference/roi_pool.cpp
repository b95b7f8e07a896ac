#include "test/reference/roi_pool.h"

#include <cfloat>
#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsRoiPoolShape;

// The pixels first <= pixel < end of one axis.
struct Pixels {
  std::int64_t first, end;
};

// One axis of a RoI.
class Bins {
 public:
  Bins(double spatial_scale, double corner1, double corner2, std::int64_t bins, std::int64_t map, const Rounding& r)
      : r_(r), map_(static_cast<double>(map)) {
    const double scale = r(spatial_scale);
    start_ = r.mul(corner1, scale);
    size_ = r.sub(r.mul(r.add(corner2, 1), scale), start_);
    bin_ = r.div(size_, static_cast<double>(bins));
  }
  bool empty() const { return size_ <= 0; }
  Pixels of(std::int64_t bin) const { return {on_map(std::floor(edge(bin))), on_map(std::ceil(edge(bin + 1)))}; }

 private:
  double edge(std::int64_t i) const { return r_.add(r_.mul(static_cast<double>(i), bin_), start_); }
  // NaN is 0, as where mmcv makes it an integer.
  std::int64_t on_map(double v) const {
    return static_cast<std::int64_t>(std::isnan(v) ? 0 : std::clamp(v, 0.0, map_));
  }

  const Rounding& r_;
  double map_, start_, size_, bin_;
};

// What nothing is greater than, as the tensor's type holds it.
double lowest(mluOpDataType_t dtype) {
  const bool narrow = dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_BFLOAT16;
  return narrow ? -std::numeric_limits<double>::infinity() : -static_cast<double>(FLT_MAX);
}

struct Box {
  std::int64_t image;
  Bins y, x;
};

// The greatest pixel of a bin for one channel.
void pool(const Shape& s, const Values& input, const Box& box, std::int64_t row, std::int64_t col, std::int64_t c,
          double& output, double& argmax) {
  const Pixels rows = box.y.of(row), cols = box.x.of(col);
  const bool none = box.y.empty() || box.x.empty() || rows.first >= rows.end || cols.first >= cols.end;
  output = none ? 0 : lowest(s.dtype);
  argmax = -1;
  if (none) return;
  for (std::int64_t y = rows.first; y < rows.end; ++y) {
    for (std::int64_t x = cols.first; x < cols.end; ++x) {
      const double value = input[static_cast<std::size_t>(((box.image * s.h + y) * s.w + x) * s.c + c)];
      if (!(value > output)) continue;
      output = value;
      argmax = static_cast<double>(y * s.w + x);
    }
  }
}

}  // namespace

RoiPoolResult roi_pool_forward(const mluopsRoiPoolForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c),
               corners = decode(s.dtype, p.rois, 5 * s.rois);
  const auto count = static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c);
  RoiPoolResult result{Values(count), Values(count)};
  std::size_t at = 0;
  for (std::int64_t roi = 0; roi < s.rois; ++roi) {
    const double* const k = &corners[static_cast<std::size_t>(5 * roi)];
    const Box box = {static_cast<std::int64_t>(k[0]), Bins(p.exact_spatial_scale, k[2], k[4], s.pooled_h, s.h, r),
                     Bins(p.exact_spatial_scale, k[1], k[3], s.pooled_w, s.w, r)};
    for (std::int64_t row = 0; row < s.pooled_h; ++row) {
      for (std::int64_t col = 0; col < s.pooled_w; ++col) {
        for (std::int64_t c = 0; c < s.c; ++c, ++at)
          pool(s, input, box, row, col, c, result.output[at], result.argmax[at]);
      }
    }
  }
  return result;
}

Values roi_pool_backward(const mluopsRoiPoolBackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t bins = s.pooled_h * s.pooled_w, pixels = s.h * s.w;
  const Values grad = decode(s.dtype, p.grad_output, s.rois * bins * s.c),
               corners = decode(s.dtype, p.rois, 5 * s.rois);
  Values result(static_cast<std::size_t>(s.batch * pixels * s.c), 0.0);
  for (std::int64_t i = 0; i < s.rois * bins * s.c; ++i) {
    const std::int32_t pixel = p.argmax[i];
    if (pixel < 0 || pixel >= pixels) continue;
    const auto image = static_cast<std::int64_t>(corners[static_cast<std::size_t>(i / s.c / bins * 5)]);
    result[static_cast<std::size_t>((image * pixels + pixel) * s.c + i % s.c)] += grad[static_cast<std::size_t>(i)];
  }
  return result;
}

}  // namespace mluops::reference
