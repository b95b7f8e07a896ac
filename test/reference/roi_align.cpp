#include "test/reference/roi_align.h"

#include <cfloat>
#include <cmath>

#include "test/reference/bilinear.h"
#include "test/reference/samples.h"

namespace mluops::reference {
namespace {

using Shape = mluopsRoiAlignShape;

// Positions of elements in maps and bins.
struct Places {
  const Shape& s;
  std::int64_t pixel(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t c) const {
    return ((image * s.h + y) * s.w + x) * s.c + c;
  }
  std::int64_t bin(std::int64_t roi, std::int64_t y, std::int64_t x, std::int64_t c) const {
    return ((roi * s.pooled_h + y) * s.pooled_w + x) * s.c + c;
  }
};

struct Edges {
  double low, high;   // corners of the RoI
  std::int64_t bins;  // of the RoI
  std::int64_t size;  // pixels of the map
};

// One axis of one bin: its samples in order.
Samples samples(const Shape& s, double spatial_scale, const Edges& edges, std::int64_t bin, const Rounding& r) {
  const double scale = r(spatial_scale), shift = s.aligned != 0 ? 0.5 : 0.0;
  const double start = r.sub(r.mul(edges.low, scale), shift);
  double size = r.sub(r.sub(r.mul(edges.high, scale), shift), start);
  if (s.aligned == 0 && size < 1) size = 1;
  const double bin_size = r.div(size, static_cast<double>(edges.bins));
  const double bin_start = r.add(start, r.mul(static_cast<double>(bin), bin_size));
  const std::int64_t count = sample_count(bin_size, s.sampling_ratio);
  return samples_between(count, -1, static_cast<double>(edges.size), [&](std::int64_t i) {
    const double inside_bin = r.mul(static_cast<double>(i) + 0.5, bin_size);
    return r.add(bin_start, r.div(inside_bin, static_cast<double>(count)));
  });
}

struct Bin {
  std::int64_t roi, image, y, x;
  Samples rows, columns;  // coordinates of its samples
  double count() const { return static_cast<double>(rows.count) * static_cast<double>(columns.count); }
};

template <class Problem, class Body>
void for_each_bin(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values corners = decode(s.dtype, p.rois, 5 * s.rois);
  for (std::int64_t roi = 0; roi < s.rois; ++roi) {
    const double* const c = &corners[5 * roi];
    for (std::int64_t y = 0; y < s.pooled_h; ++y) {
      for (std::int64_t x = 0; x < s.pooled_w; ++x) {
        body(Bin{roi, static_cast<std::int64_t>(c[0]), y, x,
                 samples(s, p.exact_spatial_scale, {c[2], c[4], s.pooled_h, s.h}, y, r),
                 samples(s, p.exact_spatial_scale, {c[1], c[3], s.pooled_w, s.w}, x, r)});
      }
    }
  }
}

// body(y, x, weight) for the four pixels of a sample; none where it is outside.
template <class Body>
void for_each_neighbour(const Shape& s, double at_y, double at_x, Body body) {
  const Axis y = locate(at_y, s.h), x = locate(at_x, s.w);
  if (!y.inside || !x.inside) return;
  body(y.low, x.low, (1 - y.fraction) * (1 - x.fraction));
  body(y.low, x.high, (1 - y.fraction) * x.fraction);
  body(y.high, x.low, y.fraction * (1 - x.fraction));
  body(y.high, x.high, y.fraction * x.fraction);
}

double interpolate(const Shape& s, const Values& input, const Bin& bin, std::int64_t c, double y, double x) {
  double value = 0;
  for_each_neighbour(s, y, x, [&](std::int64_t row, std::int64_t column, double weight) {
    value += weight * input[Places{s}.pixel(bin.image, row, column, c)];
  });
  return value;
}

// What a bin without samples is, as the tensor's type holds it.
double lowest(mluOpDataType_t dtype) {
  const bool narrow = dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_BFLOAT16;
  return narrow ? -std::numeric_limits<double>::infinity() : -static_cast<double>(FLT_MAX);
}

}  // namespace

RoiAlignResult roi_align_forward(const mluopsRoiAlignForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  const auto count = static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c);
  RoiAlignResult result{Values(count, s.mean != 0 ? 0 : lowest(s.dtype)), {}, {}};
  if (s.mean == 0) {
    result.argmax_x.assign(count, -1);
    result.argmax_y.assign(count, -1);
  }
  for_each_bin(p, coordinates, [&](const Bin& bin) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      const auto at = static_cast<std::size_t>(Places{s}.bin(bin.roi, bin.y, bin.x, c));
      for (const double y : bin.rows.at) {
        for (const double x : bin.columns.at) {
          const double value = interpolate(s, input, bin, c, y, x);
          if (s.mean != 0) {
            result.output[at] += value / bin.count();
          } else if (value > result.output[at]) {
            result.output[at] = value;
            result.argmax_y[at] = y;
            result.argmax_x[at] = x;
          }
        }
      }
    }
  });
  return result;
}

Values roi_align_backward(const mluopsRoiAlignBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const std::int64_t count = s.rois * s.pooled_h * s.pooled_w * s.c;
  const Values grad = decode(s.dtype, p.grad_output, count);
  const Values argmax_y = s.mean != 0 ? Values() : decode(s.dtype, p.argmax_y, count);
  const Values argmax_x = s.mean != 0 ? Values() : decode(s.dtype, p.argmax_x, count);
  Values result(static_cast<std::size_t>(s.batch * s.h * s.w * s.c), 0.0);
  for_each_bin(p, coordinates, [&](const Bin& bin) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      const auto at = static_cast<std::size_t>(Places{s}.bin(bin.roi, bin.y, bin.x, c));
      const auto give = [&](double y, double x, double g) {
        for_each_neighbour(s, y, x, [&](std::int64_t row, std::int64_t column, double weight) {
          result[static_cast<std::size_t>(Places{s}.pixel(bin.image, row, column, c))] += weight * g;
        });
      };
      if (s.mean == 0) {
        if (argmax_y[at] != -1) give(argmax_y[at], argmax_x[at], grad[at]);
        continue;
      }
      for (const double y : bin.rows.at) {
        for (const double x : bin.columns.at) give(y, x, grad[at] / bin.count());
      }
    }
  });
  return result;
}

}  // namespace mluops::reference
