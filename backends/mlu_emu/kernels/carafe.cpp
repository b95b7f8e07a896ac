// CARAFE as device code. input [n,h,w,c], mask [n,ho,wo,group,kernel*kernel], output [n,ho,wo,c].
//
// Forward: a task owns the output pixels of its input blocks: no two tasks write the same bytes. Taps are added in row
// order, each product rounded first. Backward: a task owns the grad_mask rows of its (pixel, group) items; grad_input
// is shared and added to atomically. About two operations per element read: bound by memory.
#include <algorithm>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/carafe.h"
#include "common/shape.h"
#include "mluops/problem/carafe.h"

namespace mluops::emu {
namespace {

/// Rows or columns of the kernel that hit the input, for the output pixels over input row or column `at`.
struct Taps {
  std::int64_t begin, end;

  Taps(std::int64_t at, std::int64_t size, std::int64_t kernel)
      : begin(std::max<std::int64_t>(0, (kernel - 1) / 2 - at)), end(std::min(kernel, size + (kernel - 1) / 2 - at)) {}
};

template <class T>
class CarafeForward {
 public:
  CarafeForward(const mluopsCarafeForwardProblem& problem, const plan::CarafeForwardPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        input_(static_cast<const T*>(problem.input)),
        mask_(static_cast<const T*>(problem.mask)),
        output_(static_cast<T*>(problem.output)),
        nram_input_(reinterpret_cast<T*>(nram + plan.input_offset)),
        nram_mask_(reinterpret_cast<T*>(nram + plan.mask_offset)),
        nram_output_(reinterpret_cast<T*>(nram + plan.output_offset)),
        nram_sum_(reinterpret_cast<T*>(nram + plan.sum_offset)),
        taps_(shape_.kernel * shape_.kernel),
        group_channels_(shape_.c / shape_.group),
        input_pitch_(plan.channel_stride * plan.block_g) {}

  void run(std::int64_t index) {
    job_ = plan::carafe_job(plan_, shape_, index);
    window_w_ = job_.w.size() + shape_.kernel - 1;
    load_input();
    load_mask();
    __bang_write_value(nram_output_, out_h() * out_w() * plan_.pixel_stride, T(0));
    for (std::int64_t h = 0; h < job_.h.size(); ++h)
      for (std::int64_t w = 0; w < job_.w.size(); ++w) reassemble(h, w);
    store();
  }

 private:
  static constexpr std::int64_t kLanes = plan::kNfuAlign / sizeof(T);

  std::int64_t out_h() const { return job_.h.size() * shape_.scale; }
  std::int64_t out_w() const { return job_.w.size() * shape_.scale; }

  void load_input();
  void load_input_row(std::int64_t row, std::int64_t first, std::int64_t columns);
  void load_mask();
  void reassemble(std::int64_t h, std::int64_t w);
  void reassemble_pixel(std::int64_t h, std::int64_t w, std::int64_t pixel);
  void store();

  const mluopsCarafeShape& shape_;
  const plan::CarafeForwardPlan& plan_;
  const T* input_;
  const T* mask_;
  T* output_;
  T *nram_input_, *nram_mask_, *nram_output_, *nram_sum_;
  std::int64_t taps_, group_channels_;
  std::int64_t input_pitch_;  // elements from one pixel of the window to the next
  plan::CarafeJob job_{};
  std::int64_t window_w_ = 0;
};

/// The block with its halo; what lies outside the input stays unread.
template <class T>
void CarafeForward<T>::load_input() {
  const std::int64_t radius = (shape_.kernel - 1) / 2, window_h = job_.h.size() + shape_.kernel - 1;
  // Vectors take whole lines: channels that do not fill theirs are followed by lanes nobody loaded, the last pixel's
  // by the first line of the mask.
  if (job_.c.size() % kLanes != 0)
    __bang_write_value(nram_input_, (plan_.mask_offset - plan_.input_offset) / bytes_of<T>(1) + kLanes, T(0));
  const std::int64_t top = job_.h.begin - radius, left = job_.w.begin - radius;
  const std::int64_t first = std::max<std::int64_t>(0, left);
  const std::int64_t columns = std::min(shape_.w, left + window_w_) - first;
  for (std::int64_t row = std::max<std::int64_t>(0, -top); row < std::min(window_h, shape_.h - top); ++row)
    load_input_row(row, first, columns);
}

template <class T>
void CarafeForward<T>::load_input_row(std::int64_t row, std::int64_t first, std::int64_t columns) {
  const std::int64_t radius = (shape_.kernel - 1) / 2, y = job_.h.begin - radius + row;
  const T* source = input_ + ((job_.n * shape_.h + y) * shape_.w + first) * shape_.c + job_.c.begin;
  T* target = nram_input_ + (row * window_w_ + first - (job_.w.begin - radius)) * input_pitch_;
  const bool packed = plan_.channel_stride == group_channels_;  // then all groups of a pixel are one run
  const std::int64_t runs = packed ? 1 : job_.g.size(), run = packed ? job_.g.size() : 1;
  for (std::int64_t g = 0; g < runs; ++g)
    copy_rows(target + g * plan_.channel_stride, source + (job_.g.begin + g) * group_channels_,
              bytes_of<T>(run * job_.c.size()), columns, {bytes_of<T>(input_pitch_), bytes_of<T>(shape_.c)},
              GDRAM2NRAM);
}

/// Mask values of the block's output pixels and groups, dense.
template <class T>
void CarafeForward<T>::load_mask() {
  const std::int64_t row = job_.g.size() * taps_, pitch = shape_.group * taps_;
  for (std::int64_t y = 0; y < out_h(); ++y) {
    const std::int64_t pixel =
        (job_.n * shape_.ho + job_.h.begin * shape_.scale + y) * shape_.wo + job_.w.begin * shape_.scale;
    copy_rows(nram_mask_ + y * out_w() * row, mask_ + pixel * pitch + job_.g.begin * taps_, bytes_of<T>(row), out_w(),
              {bytes_of<T>(row), bytes_of<T>(pitch)}, GDRAM2NRAM);
  }
}

/// The scale * scale output pixels over input pixel (h, w) of the block.
template <class T>
void CarafeForward<T>::reassemble(std::int64_t h, std::int64_t w) {
  for (std::int64_t i = 0; i < shape_.scale; ++i)
    for (std::int64_t j = 0; j < shape_.scale; ++j)
      reassemble_pixel(h, w, (h * shape_.scale + i) * out_w() + w * shape_.scale + j);
}

template <class T>
void CarafeForward<T>::reassemble_pixel(std::int64_t h, std::int64_t w, std::int64_t pixel) {
  const Taps rows(job_.h.begin + h, shape_.h, shape_.kernel), columns(job_.w.begin + w, shape_.w, shape_.kernel);
  const std::int64_t cs = plan_.channel_stride, groups = job_.g.size();
  const std::int64_t group_lanes = round_up(cs, kLanes), pixel_lanes = round_up(cs * groups, kLanes);
  T* output = nram_output_ + pixel * plan_.pixel_stride;
  const T* mask = nram_mask_ + pixel * groups * taps_;
  for (std::int64_t kh = rows.begin; kh < rows.end; ++kh)
    for (std::int64_t kw = columns.begin; kw < columns.end; ++kw) {
      const T* window = nram_input_ + ((h + kh) * window_w_ + w + kw) * input_pitch_;
      // A group's lanes reach into the next group's, so the next one is written later.
      for (std::int64_t g = 0; g < groups; ++g)
        __bang_mul_scalar(nram_sum_ + g * cs, window + g * cs, mask[g * taps_ + kh * shape_.kernel + kw], group_lanes);
      __bang_add(output, output, nram_sum_, pixel_lanes);
    }
}

template <class T>
void CarafeForward<T>::store() {
  const bool packed = plan_.channel_stride == group_channels_;
  const std::int64_t runs = packed ? 1 : job_.g.size(), run = packed ? job_.g.size() : 1;
  for (std::int64_t y = 0; y < out_h(); ++y) {
    const std::int64_t pixel =
        (job_.n * shape_.ho + job_.h.begin * shape_.scale + y) * shape_.wo + job_.w.begin * shape_.scale;
    for (std::int64_t g = 0; g < runs; ++g)
      copy_rows(output_ + pixel * shape_.c + (job_.g.begin + g) * group_channels_ + job_.c.begin,
                nram_output_ + y * out_w() * plan_.pixel_stride + g * plan_.channel_stride,
                bytes_of<T>(run * job_.c.size()), out_w(), {bytes_of<T>(shape_.c), bytes_of<T>(plan_.pixel_stride)},
                NRAM2GDRAM);
  }
}

template <class T>
void carafe_forward_kernel(const mluopsCarafeForwardProblem& problem, const plan::CarafeForwardPlan& plan, char* nram) {
  CarafeForward<T> kernel(problem, plan, nram);
  for (std::int64_t job = taskId; job < plan.jobs; job += taskDim) kernel.run(job);
}

template <class T>
class CarafeBackward {
 public:
  CarafeBackward(const mluopsCarafeBackwardProblem& problem, const plan::CarafeBackwardPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        input_(static_cast<const T*>(problem.input)),
        mask_(static_cast<const T*>(problem.mask)),
        grad_output_(static_cast<const T*>(problem.grad_output)),
        grad_input_(static_cast<T*>(problem.grad_input)),
        grad_mask_(static_cast<T*>(problem.grad_mask)),
        nram_product_(reinterpret_cast<T*>(nram + plan.pooled_offset)),
        nram_mask_(reinterpret_cast<T*>(nram + plan.mask_offset)),
        nram_scaled_(reinterpret_cast<T*>(nram + plan.scaled_offset)),
        nram_grad_output_(reinterpret_cast<T*>(nram + plan.grad_output_offset)),
        nram_grad_mask_(reinterpret_cast<T*>(nram + plan.grad_mask_offset)),
        taps_(shape_.kernel * shape_.kernel),
        group_channels_(shape_.c / shape_.group) {}

  void run(std::int64_t item);

 private:
  static constexpr std::int64_t kLanes = plan::kNfuAlign / sizeof(T);

  void run_chunk(std::int64_t first, std::int64_t channels);
  void run_tap(std::int64_t tap, std::int64_t offset, std::int64_t channels);

  const mluopsCarafeShape& shape_;
  const plan::CarafeBackwardPlan& plan_;
  const T *input_, *mask_, *grad_output_;
  T *grad_input_, *grad_mask_;
  T *nram_product_, *nram_mask_, *nram_scaled_, *nram_grad_output_, *nram_grad_mask_;
  std::int64_t taps_, group_channels_;
  std::int64_t n_ = 0, ho_ = 0, wo_ = 0, g_ = 0;
};

/// One output pixel and group: its mask stays on chip, its channels pass in chunks.
template <class T>
void CarafeBackward<T>::run(std::int64_t item) {
  g_ = item % shape_.group;
  const std::int64_t pixel = item / shape_.group;
  wo_ = pixel % shape_.wo, ho_ = pixel / shape_.wo % shape_.ho, n_ = pixel / shape_.wo / shape_.ho;
  __bang_write_value(nram_grad_mask_, round_up(taps_, plan_.lanes), T(0));
  __memcpy(nram_mask_, mask_ + item * taps_, bytes_of<T>(taps_), GDRAM2NRAM);
  for (std::int64_t chunk = 0; chunk < plan_.full_chunks; ++chunk) run_chunk(chunk * plan_.chunk, plan_.chunk);
  if (plan_.rest != 0) run_chunk(plan_.full_chunks * plan_.chunk, plan_.rest);
  __memcpy(grad_mask_ + item * taps_, nram_grad_mask_, bytes_of<T>(taps_), NRAM2GDRAM);
}

template <class T>
void CarafeBackward<T>::run_chunk(std::int64_t first, std::int64_t channels) {
  const std::int64_t lanes = round_up(channels, kLanes), channel = g_ * group_channels_ + first;
  // Lanes behind the channels must not hold an earlier chunk's values: infinity times zero would reach the sum.
  if (lanes != channels) __bang_write_value(nram_grad_output_, lanes, T(0));
  __memcpy(nram_grad_output_, grad_output_ + ((n_ * shape_.ho + ho_) * shape_.wo + wo_) * shape_.c + channel,
           bytes_of<T>(channels), GDRAM2NRAM);
  const std::int64_t h = ho_ / shape_.scale, w = wo_ / shape_.scale, radius = (shape_.kernel - 1) / 2;
  const Taps rows(h, shape_.h, shape_.kernel), columns(w, shape_.w, shape_.kernel);
  for (std::int64_t kh = rows.begin; kh < rows.end; ++kh)
    for (std::int64_t kw = columns.begin; kw < columns.end; ++kw) {
      const std::int64_t position = (n_ * shape_.h + h + kh - radius) * shape_.w + w + kw - radius;
      run_tap(kh * shape_.kernel + kw, position * shape_.c + channel, channels);
    }
}

/// grad_input += mask * grad_output; grad_mask += sum of input * grad_output, over rows of 128 B, then along one row.
template <class T>
void CarafeBackward<T>::run_tap(std::int64_t tap, std::int64_t offset, std::int64_t channels) {
  const std::int64_t lanes = round_up(channels, kLanes), rows = lanes / kLanes;
  if (lanes != channels) __bang_write_value(nram_product_, lanes, T(0));
  __memcpy(nram_product_, input_ + offset, bytes_of<T>(channels), GDRAM2NRAM);
  __bang_mul_scalar(nram_scaled_, nram_grad_output_, nram_mask_[tap], lanes);
  __bang_atomic_reduce_add(grad_input_ + offset, nram_scaled_, channels);
  __bang_mul(nram_product_, nram_grad_output_, nram_product_, lanes);
  __bang_sumpool(nram_product_, nram_product_, kLanes, rows, 1, rows, 1, 1, 1);
  nram_grad_mask_[tap] += __bang_sum(nram_product_, kLanes);
}

template <class T>
void carafe_backward_kernel(const mluopsCarafeBackwardProblem& problem, const plan::CarafeBackwardPlan& plan,
                            char* nram) {
  CarafeBackward<T> kernel(problem, plan, nram);
  for (std::int64_t item = taskId; item < plan.items; item += taskDim) kernel.run(item);
}

/// Bytes of each tensor.
struct TensorBytes {
  std::int64_t input, mask, output;

  explicit TensorBytes(const mluopsCarafeShape& s) {
    const std::int64_t element = s.dtype == MLUOP_DTYPE_HALF ? bytes_of<half>(1) : bytes_of<float>(1);
    input = s.n * s.h * s.w * s.c * element;
    mask = s.n * s.ho * s.wo * s.group * s.kernel * s.kernel * element;
    output = s.n * s.ho * s.wo * s.c * element;
  }
};

}  // namespace

mluOpStatus_t carafe_forward(Context& context, const mluopsCall& call, const mluopsCarafeForwardProblem& p) {
  const auto plan = plan::plan_carafe_forward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const TensorBytes bytes(p.shape);
  return launch(context, call, "carafe_forward", plan,
                {reads("input", p.input, bytes.input), reads("mask", p.mask, bytes.mask),
                 writes("output", p.output, bytes.output)},
                [&](char* nram) {
                  p.shape.dtype == MLUOP_DTYPE_HALF ? carafe_forward_kernel<half>(p, plan, nram)
                                                    : carafe_forward_kernel<float>(p, plan, nram);
                });
}

mluOpStatus_t carafe_backward(Context& context, const mluopsCall& call, const mluopsCarafeBackwardProblem& p) {
  const auto plan = plan::plan_carafe_backward(p.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const TensorBytes bytes(p.shape);
  fill_zero(context, "grad_input", p.grad_input, bytes.input);
  return launch(context, call, "carafe_backward", plan,
                {reads("input", p.input, bytes.input), reads("mask", p.mask, bytes.mask),
                 reads("grad_output", p.grad_output, bytes.output), updates("grad_input", p.grad_input, bytes.input),
                 writes("grad_mask", p.grad_mask, bytes.mask)},
                [&](char* nram) {
                  p.shape.dtype == MLUOP_DTYPE_HALF ? carafe_backward_kernel<half>(p, plan, nram)
                                                    : carafe_backward_kernel<float>(p, plan, nram);
                });
}

}  // namespace mluops::emu
