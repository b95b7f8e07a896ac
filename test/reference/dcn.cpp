#include "test/reference/dcn.h"

#include <cmath>

#include "test/reference/bilinear.h"

namespace mluops::reference {
namespace {

using Shape = mluopsDcnShape;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

std::int64_t pixels_out(const Shape& s) {
  return s.batch * s.out_h * s.out_w;
}
std::int64_t taps(const Shape& s) {
  return s.kernel_h * s.kernel_w;
}
std::int64_t filter_size(const Shape& s) {
  return s.co * taps(s) * (s.ci / s.groups);
}

// One tap at one output pixel for the channels of a deformable group.
struct Tap {
  std::int64_t pixel;  // among all output pixels
  std::int64_t k;      // among the taps
  std::int64_t group;
  std::int64_t number;  // of the mask's element
  double y, x;
};

template <class Problem, class Body>
void for_each_tap(const Problem& p, Coordinates coordinates, Body body) {
  const Shape& s = p.shape;
  const Rounding r(coordinates);
  const Values offset = decode(s.dtype, p.offset, pixels_out(s) * s.deform_groups * taps(s) * 2);
  std::int64_t number = 0;
  for (std::int64_t pixel = 0; pixel < pixels_out(s); ++pixel) {
    const std::int64_t row = pixel / s.out_w % s.out_h, column = pixel % s.out_w;
    for (std::int64_t g = 0; g < s.deform_groups; ++g) {
      for (std::int64_t k = 0; k < taps(s); ++k, ++number) {
        const auto y = static_cast<double>(row * s.stride_h - s.pad_top + k / s.kernel_w * s.dilation_h);
        const auto x = static_cast<double>(column * s.stride_w - s.pad_left + k % s.kernel_w * s.dilation_w);
        body(Tap{pixel, k, g, number, r.add(r(y), offset[index(2 * number)]),
                 r.add(r(x), offset[index(2 * number + 1)])});
      }
    }
  }
}

// A pixel of the map under a sample: how much of it the sample is, and how that grows with y and with x.
struct Share {
  std::int64_t pixel;
  double weight, along_y, along_x;
};

std::vector<Share> shares(const Shape& s, const Tap& t) {
  std::vector<Share> found;
  const auto h = static_cast<double>(s.h), w = static_cast<double>(s.w);
  if (!(t.y > -1 && t.y < h && t.x > -1 && t.x < w)) return found;
  const double top = std::floor(t.y), left = std::floor(t.x);
  const auto tent = [](double distance) { return 1 - std::fabs(distance); };
  for (const double y : {top, top + 1}) {
    for (const double x : {left, left + 1}) {
      if (y < 0 || y >= h || x < 0 || x >= w) continue;
      const double down = y > top ? 1 : -1, right = x > left ? 1 : -1;
      const std::int64_t image = t.pixel / (s.out_h * s.out_w);
      found.push_back({(image * s.h + static_cast<std::int64_t>(y)) * s.w + static_cast<std::int64_t>(x),
                       tent(y - t.y) * tent(x - t.x), down * tent(x - t.x), right * tent(y - t.y)});
    }
  }
  return found;
}

// body(channel, output channel, number of the filter's element) for the products that a tap takes part in.
template <class Body>
void for_each_product(const Shape& s, const Tap& t, Body body) {
  const std::int64_t part = s.ci / s.deform_groups, in = s.ci / s.groups, out = s.co / s.groups;
  for (std::int64_t c = t.group * part; c < (t.group + 1) * part; ++c) {
    for (std::int64_t o = c / in * out; o < (c / in + 1) * out; ++o) body(c, o, (o * taps(s) + t.k) * in + c % in);
  }
}

template <class Problem>
Values mask_of(const Problem& p) {
  const std::int64_t count = pixels_out(p.shape) * p.shape.deform_groups * taps(p.shape);
  return p.mask == nullptr ? Values(index(count), 1.0) : decode(p.shape.dtype, p.mask, count);
}

template <class Problem>
Values input_of(const Problem& p) {
  return decode(p.shape.dtype, p.input, p.shape.batch * p.shape.h * p.shape.w * p.shape.ci);
}

double sample(const Shape& s, const Values& input, const std::vector<Share>& at, std::int64_t c) {
  double value = 0;
  for (const Share& share : at) value += share.weight * input[index(share.pixel * s.ci + c)];
  return value;
}

}  // namespace

Values dcn_forward(const mluopsDcnForwardProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = input_of(p), mask = mask_of(p), filter = decode(s.dtype, p.filter, filter_size(s));
  const Values bias = p.bias == nullptr ? Values(index(s.co), 0.0) : decode(s.dtype, p.bias, s.co);
  Values output;
  for (std::int64_t i = 0; i < pixels_out(s); ++i) output.insert(output.end(), bias.begin(), bias.end());
  for_each_tap(p, coordinates, [&](const Tap& t) {
    const std::vector<Share> at = shares(s, t);
    for_each_product(s, t, [&](std::int64_t c, std::int64_t o, std::int64_t element) {
      output[index(t.pixel * s.co + o)] += filter[index(element)] * mask[index(t.number)] * sample(s, input, at, c);
    });
  });
  return output;
}

DcnDataGradients dcn_backward_data(const mluopsDcnBackwardDataProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = input_of(p), mask = mask_of(p), filter = decode(s.dtype, p.filter, filter_size(s));
  const Values grad = decode(s.dtype, p.grad_output, pixels_out(s) * s.co);
  DcnDataGradients g = {Values(input.size(), 0.0), Values(2 * mask.size(), 0.0), Values(mask.size(), 0.0)};
  for_each_tap(p, coordinates, [&](const Tap& t) {
    const std::vector<Share> at = shares(s, t);
    const double m = mask[index(t.number)];
    for_each_product(s, t, [&](std::int64_t c, std::int64_t o, std::int64_t element) {
      const double of_sample = grad[index(t.pixel * s.co + o)] * filter[index(element)];
      for (const Share& share : at) {
        const std::size_t pixel = index(share.pixel * s.ci + c);
        g.input[pixel] += m * share.weight * of_sample;
        g.offset[index(2 * t.number)] += m * share.along_y * input[pixel] * of_sample;
        g.offset[index(2 * t.number + 1)] += m * share.along_x * input[pixel] * of_sample;
        g.mask[index(t.number)] += share.weight * input[pixel] * of_sample;
      }
    });
  });
  if (p.mask == nullptr) g.mask.clear();
  return g;
}

DcnWeightGradients dcn_backward_weight(const mluopsDcnBackwardWeightProblem& p, Coordinates coordinates) {
  const Shape& s = p.shape;
  const Values input = input_of(p), mask = mask_of(p), grad = decode(s.dtype, p.grad_output, pixels_out(s) * s.co);
  DcnWeightGradients g = {Values(index(filter_size(s)), 0.0), Values(index(s.co), 0.0)};
  for_each_tap(p, coordinates, [&](const Tap& t) {
    const std::vector<Share> at = shares(s, t);
    for_each_product(s, t, [&](std::int64_t c, std::int64_t o, std::int64_t element) {
      g.filter[index(element)] += grad[index(t.pixel * s.co + o)] * mask[index(t.number)] * sample(s, input, at, c);
    });
  });
  for (std::size_t i = 0; i < grad.size(); ++i) g.bias[i % index(s.co)] += grad[i];
  return g;
}

}  // namespace mluops::reference
