#include <limits>

#include "bench/cases/builders.h"
#include "bench/cases/touched.h"

namespace bench {
namespace {

namespace ref = mluops::reference;

mluopsBorderAlignShape shape_of(const BorderAlignSizes& s, mluOpDataType_t dtype) {
  return {dtype, s.n, s.h, s.w, s.c, s.k, s.pool};
}

// First corner in the upper left half, second in the lower right one; `spread` draws both towards the centre.
std::vector<float> make_boxes(const BorderAlignSizes& s, mluOpDataType_t dtype) {
  const double h = static_cast<double>(s.h), w = static_cast<double>(s.w);
  std::vector<float> boxes;
  for (std::int64_t i = 0; i < s.n * s.k; ++i) {
    const auto corner = [&](std::int64_t j) { return unit_random(17, 4 * i + j) * 0.5 * s.spread; };
    const double x1 = w * (0.5 - corner(0)), y1 = h * (0.5 - corner(1));
    const double x2 = w * (0.5 + corner(2)) - 1, y2 = h * (0.5 + corner(3)) - 1;
    for (const double v : {x1, y1, x2, y2}) boxes.push_back(static_cast<float>(rounded(dtype, v)));
  }
  return boxes;
}

TouchedPixels touch(const BorderAlignSizes& s, const std::vector<float>& boxes) {
  TouchedPixels touched(s.n * 4, s.h, s.w);  // each border has its own channels
  for (std::int64_t i = 0; i < s.n * s.k; ++i) {
    const float* b = &boxes[static_cast<std::size_t>(4 * i)];
    const double dx = (b[2] - b[0]) / s.pool, dy = (b[3] - b[1]) / s.pool;
    for (int j = 0; j <= s.pool; ++j) {
      touched.sample(i / s.k * 4 + 0, b[1], b[0] + dx * j);
      touched.sample(i / s.k * 4 + 1, b[1] + dy * j, b[0]);
      touched.sample(i / s.k * 4 + 2, b[3], b[2] - dx * j);
      touched.sample(i / s.k * 4 + 3, b[3] - dy * j, b[2]);
    }
  }
  return touched;
}

void set_forward(Case& c, const BorderAlignSizes& s) {
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpBorderAlignForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.pool, t[2].desc, t[2].data,
                                   t[3].desc, t[3].data);
  };
  const mluopsBorderAlignShape shape = shape_of(s, c.dtype);
  c.reference = [shape](const Inputs& in, Coordinates coordinates) {
    ref::BorderAlignResult r = ref::border_align_forward({shape, in[0], in[1], nullptr, nullptr}, coordinates);
    return std::vector<Values>{std::move(r.output), Values(r.argmax.begin(), r.argmax.end())};
  };
  c.samples = [shape](const Inputs& in, Coordinates coordinates) -> SampleValue {
    const mluopsBorderAlignForwardProblem problem = {shape, in[0], in[1], nullptr, nullptr};
    return
        [pool = shape.pool_size, values = ref::BorderAlignSamples(problem, coordinates)](std::int64_t i, int choice) {
          return choice >= 0 && choice <= pool ? values(i, choice) : std::numeric_limits<double>::quiet_NaN();
        };
  };
}

void set_backward(Case& c, const BorderAlignSizes& s) {
  c.call = [s](mluOpHandle_t handle, const std::vector<Argument>& t) {
    return mluOpBorderAlignBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, s.pool,
                                    t[3].desc, t[3].data);
  };
  c.reference = [shape = shape_of(s, c.dtype)](const Inputs& in, Coordinates coordinates) {
    const auto* argmax = static_cast<const std::int32_t*>(in[2]);
    return std::vector<Values>{ref::border_align_backward({shape, in[0], in[1], argmax, nullptr}, coordinates)};
  };
}

std::vector<Tensor> tensors_of(const BorderAlignSizes& s, Direction direction, mluOpDataType_t dtype, Fill boxes) {
  const mluOpTensorLayout_t nhwc = MLUOP_LAYOUT_NHWC;
  const std::vector<std::int64_t> map = {s.n, s.h, s.w, 4 * s.c}, borders = {s.n, s.k, 4, s.c};
  const Tensor box = {"boxes", MLUOP_LAYOUT_ARRAY, dtype, {s.n, s.k, 4}, std::move(boxes)};
  if (direction == Direction::forward) {
    return {{"input", nhwc, dtype, map, uniform(-1, 1, 1)},
            box,
            {"output", nhwc, dtype, borders, {}},
            {"argmax_idx", nhwc, MLUOP_DTYPE_INT32, borders, {}}};
  }
  return {{"grad_output", nhwc, dtype, borders, uniform(-1, 1, 3)},
          box,
          {"argmax_idx", nhwc, MLUOP_DTYPE_INT32, borders, integers(0, s.pool, 5)},
          {"grad_input", nhwc, dtype, map, {}}};
}

}  // namespace

Case make_border_align(const BorderAlignSizes& s, Direction direction, mluOpDataType_t dtype) {
  const bool forward = direction == Direction::forward;
  Case c;
  c.op = forward ? "border_align_forward" : "border_align_backward";
  c.shape = bracketed({s.n, s.h, s.w, 4 * s.c}) + " K" + std::to_string(s.k) + " p" + std::to_string(s.pool);
  c.dtype = dtype;
  const std::vector<float> boxes = make_boxes(s, dtype);
  c.tensors = tensors_of(s, direction, dtype, given(boxes));
  if (forward) {
    const TouchedPixels touched = touch(s, boxes);
    c.tensors[0].touched = touched.share();
    c.tensors[0].runs = runs_of(touched, s.n, 4, s.c);
    c.flops = 9.0 * static_cast<double>(touched.samples_inside() * s.c);  // four multiply-adds and a comparison
  } else {
    c.flops = 8.0 * static_cast<double>(s.n * s.k * 4 * s.c);  // four multiply-adds for the one winning sample
  }
  forward ? set_forward(c, s) : set_backward(c, s);
  return c;
}

}  // namespace bench
