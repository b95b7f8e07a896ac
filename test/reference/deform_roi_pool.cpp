// The samples of a bin form a grid, so the bin is a product: (weights of rows) x map x (weights of columns) / count.
// Each axis is reduced to a list of weighted pixels once; nothing here walks over sample points.
#include <cmath>

#include "test/reference/bilinear.h"
#include "test/reference/reference.h"
#include "test/reference/samples.h"

namespace mluops::reference {
namespace {

using Shape = mluopsDeformRoiPoolShape;

struct Weighted {
  std::int64_t pixel;
  double weight;
};
using Pixels = std::vector<Weighted>;

// One axis of one bin.
struct BinAxis {
  std::int64_t samples = 0;  // of the bin, those off the map too
  double step = 0;           // gamma * RoI size: d coordinate / d offset
  Pixels interpolate;        // clamped weights: the value
  Pixels extrapolate;        // the same with unclamped coordinates: the other axis' derivative
  Pixels derivative;         // -1 at low, +1 at high
};

struct Scalars {
  double spatial_scale, gamma;
};

struct AxisInput {
  double corner1, corner2;  // RoI corners
  std::int64_t size;        // pixels of the map
  std::int64_t bin, bins;
  const double* offset;  // NULL: none
};

void add_sample(double coordinate, std::int64_t size, BinAxis& axis) {
  const Axis at = locate(coordinate, size);
  if (!at.inside) return;
  axis.interpolate.push_back({at.low, 1 - at.fraction});
  axis.interpolate.push_back({at.high, at.fraction});
  if (at.low == at.high) {  // the pairs below cancel; exactly so, not to leave rounding noise where the answer is 0
    axis.extrapolate.push_back({at.low, 0});
    axis.derivative.push_back({at.low, 0});
    return;
  }
  axis.extrapolate.push_back({at.low, static_cast<double>(at.high) - coordinate});
  axis.extrapolate.push_back({at.high, coordinate - static_cast<double>(at.low)});
  axis.derivative.push_back({at.low, -1});
  axis.derivative.push_back({at.high, +1});
}

BinAxis make_axis(const Shape& s, const Scalars& scalars, const AxisInput& in, const Rounding& r) {
  BinAxis axis;
  const double scale = r(scalars.spatial_scale), bins = static_cast<double>(in.bins);
  double start = r.sub(r.mul(in.corner1, scale), 0.5);
  const double size = r.sub(r.sub(r.mul(in.corner2, scale), 0.5), start);
  const double bin_size = r.div(size, bins);
  axis.samples = sample_count(bin_size, s.sampling_ratio);
  axis.step = r.mul(r(scalars.gamma), size);
  if (in.offset != nullptr) start = r.add(start, r.mul(axis.step, *in.offset));
  const double bin_start = r.add(start, r.mul(static_cast<double>(in.bin), bin_size));
  const auto coordinate = [&](std::int64_t i) {
    const double inside_bin = r.div(r.mul(static_cast<double>(i) + 0.5, bin_size), static_cast<double>(axis.samples));
    return r.add(bin_start, inside_bin);
  };
  for (const double at : samples_between(axis.samples, -1, static_cast<double>(in.size), coordinate).at) {
    add_sample(at, in.size, axis);
  }
  return axis;
}

struct Bin {
  std::int64_t image;     // first element of the image in input
  std::int64_t output;    // first channel of the bin in output
  std::int64_t offset_x;  // position of the bin in offset, plane x
  std::int64_t offset_y;
  BinAxis y, x;
  double count() const { return static_cast<double>(y.samples) * static_cast<double>(x.samples); }
};

struct Geometry {
  Scalars scalars;
  Values rois, offset;
};

Bin make_bin(const Shape& s, const Geometry& g, std::int64_t roi, std::int64_t ph, std::int64_t pw, const Rounding& r) {
  const double* corners = &g.rois[roi * 5];
  const std::int64_t plane = s.pooled_h * s.pooled_w, in_plane = ph * s.pooled_w + pw;
  Bin bin;
  bin.image = static_cast<std::int64_t>(corners[0]) * s.h * s.w * s.c;
  bin.output = (roi * plane + in_plane) * s.c;
  bin.offset_x = roi * 2 * plane + in_plane;
  bin.offset_y = bin.offset_x + plane;
  const bool shifted = !g.offset.empty();
  bin.x = make_axis(s, g.scalars,
                    {corners[1], corners[3], s.w, pw, s.pooled_w, shifted ? &g.offset[bin.offset_x] : nullptr}, r);
  bin.y = make_axis(s, g.scalars,
                    {corners[2], corners[4], s.h, ph, s.pooled_h, shifted ? &g.offset[bin.offset_y] : nullptr}, r);
  return bin;
}

template <class Problem, class Body>
void for_each_bin(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding rounding(coordinates);
  Geometry g{{p.exact_spatial_scale, p.exact_gamma}, decode(s.dtype, p.rois, s.rois * 5), {}};
  if (p.offset != nullptr) g.offset = decode(s.dtype, p.offset, s.rois * 2 * s.pooled_h * s.pooled_w);
  for (std::int64_t roi = 0; roi < s.rois; ++roi) {
    for (std::int64_t ph = 0; ph < s.pooled_h; ++ph) {
      for (std::int64_t pw = 0; pw < s.pooled_w; ++pw) {
        const Bin bin = make_bin(s, g, roi, ph, pw, rounding);
        if (bin.y.samples > 0 && bin.x.samples > 0) body(bin);
      }
    }
  }
}

// body(first channel of the pixel in input, weight) over rows x columns.
template <class Body>
void for_each_pixel(const Shape& s, const Bin& bin, const Pixels& rows, const Pixels& columns, Body body) {
  for (const Weighted& row : rows) {
    for (const Weighted& column : columns) {
      body(bin.image + (row.pixel * s.w + column.pixel) * s.c, row.weight * column.weight);
    }
  }
}

// Sum over pixels and channels of weight * input * grad.
double weighted_product(const Shape& s, const Bin& bin, const Pixels& rows, const Pixels& columns, const Values& input,
                        const Values& grad) {
  double sum = 0;
  for_each_pixel(s, bin, rows, columns, [&](std::int64_t pixel, double weight) {
    for (std::int64_t c = 0; c < s.c; ++c) sum += weight * input[pixel + c] * grad[bin.output + c];
  });
  return sum;
}

}  // namespace

Values deform_roi_pool_forward(const mluopsDeformRoiPoolForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  Values output(static_cast<std::size_t>(s.rois * s.pooled_h * s.pooled_w * s.c), 0.0);
  for_each_bin(p, coordinates, [&](const Bin& bin) {
    for_each_pixel(s, bin, bin.y.interpolate, bin.x.interpolate, [&](std::int64_t pixel, double weight) {
      for (std::int64_t c = 0; c < s.c; ++c) output[bin.output + c] += weight * input[pixel + c] / bin.count();
    });
  });
  return output;
}

DeformRoiPoolGradients deform_roi_pool_backward(const mluopsDeformRoiPoolBackwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = decode(s.dtype, p.input, s.batch * s.h * s.w * s.c);
  const Values grad = decode(s.dtype, p.grad_output, s.rois * s.pooled_h * s.pooled_w * s.c);
  const std::int64_t offsets = p.offset == nullptr ? 0 : s.rois * 2 * s.pooled_h * s.pooled_w;
  DeformRoiPoolGradients result{Values(input.size(), 0.0), Values(static_cast<std::size_t>(offsets), 0.0)};
  for_each_bin(p, coordinates, [&](const Bin& bin) {
    for_each_pixel(s, bin, bin.y.interpolate, bin.x.interpolate, [&](std::int64_t pixel, double weight) {
      for (std::int64_t c = 0; c < s.c; ++c) result.input[pixel + c] += weight * grad[bin.output + c] / bin.count();
    });
    if (p.offset == nullptr) return;
    const double along_x = weighted_product(s, bin, bin.y.extrapolate, bin.x.derivative, input, grad);
    const double along_y = weighted_product(s, bin, bin.y.derivative, bin.x.extrapolate, input, grad);
    result.offset[bin.offset_x] = bin.x.step * along_x / bin.count();
    result.offset[bin.offset_y] = bin.y.step * along_y / bin.count();
  });
  return result;
}

}  // namespace mluops::reference
