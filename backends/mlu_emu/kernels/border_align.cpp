// BorderAlign as device code. input [n,h,w,4*c], boxes [n,k,4], output and argmax [n,k,4,c]; channel = border * c + i.
//
// Forward: a task owns boxes and writes their output and argmax alone; the four rows of the next sample are loaded into
// one buffer while the other is computed with. Backward: a task owns (box, border) pairs; grad_input is shared and
// added to atomically. Coordinates are computed in T. About three operations per element read: bound by memory.
#include <algorithm>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/bilinear.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/border_align.h"
#include "mluops/problem/border_align.h"

namespace mluops::emu {
namespace {

using Shape = mluopsBorderAlignShape;

constexpr int kBorders = 4;
constexpr int kNeighbours = 4;

/// Start and stride of a border's samples: top and left start at (x1, y1), bottom and right at (x2, y2), backwards.
template <class T>
struct Border {
  T x, y, step_x, step_y;

  Border(const T* box, int border, std::int64_t pool_size)
      : x(box[border / 2 * 2]), y(box[border / 2 * 2 + 1]), step_x(0.0f), step_y(0.0f) {
    const bool along_x = border % 2 == 0;
    const T length = along_x ? box[2] - box[0] : box[3] - box[1];
    (along_x ? step_x : step_y) = (border < 2 ? length : T(0.0f) - length) / from_integer<T>(pool_size);
  }
};

/// First element of the sample's i-th neighbour, in the border's channels.
template <class T>
std::int64_t pixel(const Shape& shape, std::int64_t n, int border, const Sample<T>& sample, int i) {
  return ((n * shape.h + sample.neighbour_y(i)) * shape.w + sample.neighbour_x(i)) * kBorders * shape.c +
         border * shape.c;
}

template <class T>
class Forward {
 public:
  Forward(const mluopsBorderAlignForwardProblem& problem, const plan::BorderAlignPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        input_(static_cast<const T*>(problem.input)),
        boxes_(static_cast<const T*>(problem.boxes)),
        output_(static_cast<T*>(problem.output)),
        argmax_(problem.argmax),
        buffers_{reinterpret_cast<T*>(nram + plan.ping), reinterpret_cast<T*>(nram + plan.pong)},
        nram_output_(reinterpret_cast<T*>(nram + plan.output)),
        nram_box_(reinterpret_cast<T*>(nram + plan.boxes)),
        nram_argmax_(reinterpret_cast<std::int32_t*>(nram + plan.argmax)) {
    // Lanes behind the channels are computed with but never stored; they get a value once.
    for (T* buffer : buffers_) __bang_write_value(buffer, kNeighbours * plan_.padded(longest_segment()), T(0.0f));
    __sync();
  }

  void run(std::int64_t box) {
    __memcpy(nram_box_, boxes_ + box * 4, 4 * sizeof(T), GDRAM2NRAM);
    for (border_ = 0; border_ < kBorders; ++border_) {
      for (std::int64_t i = 0; i < plan_.segments(); ++i) run_segment(box, plan_.segment(i));
    }
  }

 private:
  std::int64_t longest_segment() const { return plan_.segment(0).size(); }

  void run_segment(std::int64_t box, plan::Share channels) {
    n_ = box / shape_.k;
    channels_ = channels;
    lanes_ = plan_.padded(channels.size());
    pool(Border<T>(nram_box_, border_, shape_.pool_size));
    const std::int64_t at = (box * kBorders + border_) * shape_.c + channels.begin;
    __memcpy(output_ + at, nram_output_, channels.size() * sizeof(T), NRAM2GDRAM);
    __memcpy(argmax_ + at, nram_argmax_, channels.size() * sizeof(std::int32_t), NRAM2GDRAM);
  }

  /// Sample i is computed in buffer i % 2 while sample i + 1 arrives in the other. Positions are added up.
  void pool(Border<T> at) {
    __bang_write_value(nram_argmax_, lanes_, std::int32_t{0});
    Sample<T> sample = locate(at);
    load(buffers_[0], sample);
    __sync();
    for (std::int64_t i = 0; i < shape_.pool_size; ++i) {
      at.x = at.x + at.step_x;
      at.y = at.y + at.step_y;
      const Sample<T> next = locate(at);
      load(buffers_[(i + 1) % 2], next);
      compute(buffers_[i % 2], sample, i);
      sample = next;
      __sync();
    }
    compute(buffers_[shape_.pool_size % 2], sample, shape_.pool_size);
  }

  Sample<T> locate(const Border<T>& at) const { return {sample_axis(at.y, shape_.h), sample_axis(at.x, shape_.w)}; }

  void load(T* buffer, const Sample<T>& sample) const {
    if (sample.outside()) return;
    for (int i = 0; i < kNeighbours; ++i) {
      __memcpy_async(buffer + i * lanes_, input_ + pixel(shape_, n_, border_, sample, i) + channels_.begin,
                     channels_.size() * sizeof(T), GDRAM2NRAM);
    }
  }

  void compute(T* buffer, const Sample<T>& sample, std::int64_t index) const {
    if (sample.outside()) {
      __bang_write_value(buffer, lanes_, T(0.0f));
    } else {
      interpolate(buffer, sample);
    }
    keep_maximum(buffer, static_cast<std::int32_t>(index));
  }

  /// v1 = w1 v1, then three fused multiply-adds.
  void interpolate(T* v1, const Sample<T>& sample) const {
    T *v2 = v1 + lanes_, *v3 = v2 + lanes_, *v4 = v3 + lanes_;
    __bang_mul_scalar(v1, v1, sample.weight(0), lanes_);
    __bang_fusion(FUSION_FMA, v2, v2, sample.weight(1), v1, lanes_, lanes_);
    __bang_fusion(FUSION_FMA, v3, v3, sample.weight(2), v2, lanes_, lanes_);
    __bang_fusion(FUSION_FMA, v1, v4, sample.weight(3), v3, lanes_, lanes_);
  }

  /// less = output < value; output = max; argmax = argmax * !less + index * less. The first maximum wins.
  void keep_maximum(T* value, std::int32_t index) const {
    if (index == 0) {
      __bang_move(nram_output_, value, lanes_ * sizeof(T));
      return;
    }
    auto* less = reinterpret_cast<std::int32_t*>(value);
    std::int32_t* other = less + lanes_;
    __bang_lt(reinterpret_cast<T*>(other), nram_output_, value, lanes_);
    __bang_maxequal(nram_output_, nram_output_, value, lanes_);
    to_int32_lanes(less, reinterpret_cast<T*>(other));
    __bang_not(other, less, lanes_);
    __bang_mul(nram_argmax_, nram_argmax_, other, lanes_);
    __bang_mul_scalar(less, less, index, lanes_);
    __bang_add(nram_argmax_, nram_argmax_, less, lanes_);
  }

  void to_int32_lanes(std::int32_t* integers, const float* values) const {
    __bang_float2int32_rd(integers, values, lanes_, 0);
  }
  void to_int32_lanes(std::int32_t* integers, const half* values) const {
    __bang_half2int32_rd(integers, values, lanes_, 0);
  }

  const Shape& shape_;
  const plan::BorderAlignPlan& plan_;
  const T *input_, *boxes_;
  T* output_;
  std::int32_t* argmax_;
  T* buffers_[2];
  T *nram_output_, *nram_box_;
  std::int32_t* nram_argmax_;
  int border_ = 0;
  std::int64_t n_ = 0, lanes_ = 0;
  plan::Share channels_;
};

template <class T>
class Backward {
 public:
  Backward(const mluopsBorderAlignBackwardProblem& problem, const plan::BorderAlignPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        grad_output_(static_cast<const T*>(problem.grad_output)),
        boxes_(static_cast<const T*>(problem.boxes)),
        argmax_(problem.argmax),
        grad_input_(static_cast<T*>(problem.grad_input)),
        nram_box_(reinterpret_cast<T*>(nram + plan.boxes)),
        nram_grad_output_(reinterpret_cast<T*>(nram + plan.grad_output)),
        nram_grad_input_(reinterpret_cast<T*>(nram + plan.grad_input)),
        nram_argmax_(reinterpret_cast<std::int32_t*>(nram + plan.argmax)) {
    // Lanes behind the channels are compared but never added; they get a value once.
    __bang_write_value(nram_argmax_, plan_.padded(plan_.segment(0).size()), std::int32_t{0});
    __sync();
  }

  /// `unit` is (n, k, border), border fastest.
  void run(std::int64_t unit) const {
    __memcpy(nram_box_, boxes_ + unit / kBorders * 4, 4 * sizeof(T), GDRAM2NRAM);
    const Border<T> start(nram_box_, static_cast<int>(unit % kBorders), shape_.pool_size);
    for (std::int64_t s = 0; s < plan_.segments(); ++s) {
      for (std::int64_t i = 0; i <= shape_.pool_size; ++i) {
        const T step = from_integer<T>(i);
        const Sample<T> sample{sample_axis(start.y + start.step_y * step, shape_.h),
                               sample_axis(start.x + start.step_x * step, shape_.w)};
        if (!sample.outside()) scatter(unit, plan_.segment(s), sample, static_cast<std::int32_t>(i));
      }
    }
  }

 private:
  /// Adds the gradients of the channels whose maximum was sample `index` to its neighbours.
  void scatter(std::int64_t unit, plan::Share channels, const Sample<T>& sample, std::int32_t index) const {
    const std::int64_t lanes = plan_.padded(channels.size());
    const std::int64_t from = unit * shape_.c + channels.begin;
    __memcpy(nram_argmax_, argmax_ + from, channels.size() * sizeof(std::int32_t), GDRAM2NRAM);
    make_mask(index, lanes);
    __memcpy(nram_grad_output_, grad_output_ + from, channels.size() * sizeof(T), GDRAM2NRAM);
    for (int i = 0; i < kNeighbours; ++i) {
      if (sample.merged(i)) continue;  // 0 times an infinite gradient would be NaN
      __bang_mul_scalar(nram_grad_input_, nram_grad_output_, sample.weight(i), lanes);
      // And-ing bits instead of multiplying by 0 keeps Inf and NaN where they belong.
      __bang_band(reinterpret_cast<std::int8_t*>(nram_grad_input_), reinterpret_cast<std::int8_t*>(nram_grad_input_),
                  reinterpret_cast<std::int8_t*>(nram_argmax_), lanes * sizeof(T));
      const std::int64_t to = pixel(shape_, unit / kBorders / shape_.k, static_cast<int>(unit % kBorders), sample, i);
      __bang_atomic_reduce_add(grad_input_ + to + channels.begin, nram_grad_input_, channels.size());
    }
  }

  /// argmax becomes T-wide lanes: all ones where it equals `index`, else zero. The index lanes lie over grad_output
  /// and, for half, grad_input.
  void make_mask(std::int32_t index, std::int64_t lanes) const {
    auto* wanted = reinterpret_cast<std::int32_t*>(nram_grad_output_);
    __bang_write_value(wanted, lanes, index);
    __bang_eq(nram_argmax_, nram_argmax_, wanted, lanes);
    if constexpr (sizeof(T) == sizeof(std::int32_t)) {
      __bang_mul_scalar(nram_argmax_, nram_argmax_, std::int32_t{-1}, lanes);
    } else {
      auto* narrow = reinterpret_cast<std::int16_t*>(nram_argmax_);
      __bang_int322int16(narrow, nram_argmax_, lanes, 0, 0);
      __bang_mul_scalar(narrow, narrow, std::int16_t{-1}, lanes);
    }
  }

  const Shape& shape_;
  const plan::BorderAlignPlan& plan_;
  const T *grad_output_, *boxes_;
  const std::int32_t* argmax_;
  T* grad_input_;
  T *nram_box_, *nram_grad_output_, *nram_grad_input_;
  std::int32_t* nram_argmax_;
};

template <class T>
void forward_kernel(const mluopsBorderAlignForwardProblem& problem, const plan::BorderAlignPlan& plan, char* nram) {
  Forward<T> forward(problem, plan, nram);
  for (std::int64_t box = taskId; box < plan.units; box += taskDim) forward.run(box);
}

template <class T>
void backward_kernel(const mluopsBorderAlignBackwardProblem& problem, const plan::BorderAlignPlan& plan, char* nram) {
  const Backward<T> backward(problem, plan, nram);
  for (std::int64_t unit = taskId; unit < plan.units; unit += taskDim) backward.run(unit);
}

struct Sizes {
  std::int64_t element, input, boxes, output, argmax;

  explicit Sizes(const Shape& s)
      : element(s.dtype == MLUOP_DTYPE_HALF ? 2 : 4),
        input(s.n * s.h * s.w * kBorders * s.c * element),
        boxes(s.n * s.k * 4 * element),
        output(s.n * s.k * kBorders * s.c * element),
        argmax(s.n * s.k * kBorders * s.c * 4) {}
};

}  // namespace

mluOpStatus_t border_align_forward(Context& context, const mluopsCall& call,
                                   const mluopsBorderAlignForwardProblem& problem) {
  const auto plan = plan::plan_border_align_forward(problem.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(problem.shape);
  const auto kernel = problem.shape.dtype == MLUOP_DTYPE_HALF ? forward_kernel<half> : forward_kernel<float>;
  return launch(context, call, "border_align_forward", plan,
                {reads("input", problem.input, bytes.input), reads("boxes", problem.boxes, bytes.boxes),
                 writes("output", problem.output, bytes.output), writes("argmax", problem.argmax, bytes.argmax)},
                [&](char* nram) { kernel(problem, plan, nram); });
}

mluOpStatus_t border_align_backward(Context& context, const mluopsCall& call,
                                    const mluopsBorderAlignBackwardProblem& problem) {
  const auto plan = plan::plan_border_align_backward(problem.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(problem.shape);
  const auto kernel = problem.shape.dtype == MLUOP_DTYPE_HALF ? backward_kernel<half> : backward_kernel<float>;
  fill_zero(context, "grad_input", problem.grad_input, bytes.input);
  return launch(context, call, "border_align_backward", plan,
                {reads("grad_output", problem.grad_output, bytes.output), reads("boxes", problem.boxes, bytes.boxes),
                 reads("argmax", problem.argmax, bytes.argmax), updates("grad_input", problem.grad_input, bytes.input)},
                [&](char* nram) { kernel(problem, plan, nram); });
}

}  // namespace mluops::emu
