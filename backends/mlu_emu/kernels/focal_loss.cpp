// The sigmoid focal loss as device code. input [n,c], target [n], weight [c], output or grad_input [n,c].
//
// A task owns the rows of its share; blocks of them are loaded, computed and stored in three stages. With z the logit,
// at the target's class its negative, q = sigmoid(z) and pt = 1 - q are the document's 1 - pt and pt, and
//   -log q = max(0, -z) + log(1 + e^-|z|),  -log pt = max(0, z) + log(1 + e^-|z|),  q^gamma = e^(gamma log q)
// so that nothing cancels and no exponential is above 1. A dozen builtins per element: bound by the vector unit.
#include <algorithm>
#include <type_traits>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/kernels/elementary.h"
#include "backends/mlu_emu/kernels/pipeline.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/focal_loss.h"
#include "common/shape.h"
#include "mluops/problem/focal_loss.h"

namespace mluops::emu {
namespace {

constexpr float kMostCost = 87.33654475f;  // -log of the smallest normal float

/// What a block is computed in, all float: the logits, which become -log pt; the result, -log q before; two more.
struct Arrays {
  float *logits, *result, *first, *second;
  std::int64_t n;
};

/// `logits` = -log pt, `result` = -log q; `first` and `second` are used up.
void take_logarithms(const Arrays& a) {
  __bang_active_abs(a.first, a.logits, a.n);
  __bang_mul_scalar(a.first, a.first, -1.0f, a.n);
  exponentials(a.first, a.n);
  __bang_add_scalar(a.second, a.first, 1.0f, a.n);
  __bang_sub_scalar(a.result, a.second, 1.0f, a.n);
  __bang_sub(a.first, a.first, a.result, a.n);  // what the sum lost
  logarithms(a.second, a.n);
  __bang_add(a.first, a.first, a.second, a.n);
  __bang_mul_scalar(a.result, a.logits, -1.0f, a.n);
  __bang_active_relu(a.result, a.result, a.n);
  __bang_add(a.result, a.result, a.first, a.n);
  __bang_active_relu(a.logits, a.logits, a.n);
  __bang_add(a.logits, a.logits, a.first, a.n);
  __bang_write_value(a.second, a.n, kMostCost);
  __bang_minequal(a.logits, a.logits, a.second, a.n);
}

/// to = e^(-factor from).
void negative_exponentials(float* to, const float* from, float factor, std::int64_t n) {
  __bang_mul_scalar(to, from, -factor, n);
  exponentials(to, n);
}

/// `result` = q^gamma.
void power(const Arrays& a, float gamma) {
  if (gamma == 0) return __bang_write_value(a.result, a.n, 1.0f);  // of 0, too
  negative_exponentials(a.result, a.result, gamma, a.n);
}

/// `result` = -q^gamma log pt.
void loss(const Arrays& a, float gamma) {
  power(a, gamma);
  __bang_mul(a.result, a.result, a.logits, a.n);
}

/// `result` = q^gamma (q - gamma pt log pt).
void slope(const Arrays& a, float gamma) {
  negative_exponentials(a.first, a.logits, 1.0f, a.n);  // pt
  __bang_mul(a.first, a.first, a.logits, a.n);
  __bang_mul_scalar(a.first, a.first, gamma, a.n);
  negative_exponentials(a.second, a.result, 1.0f, a.n);  // q
  __bang_add(a.second, a.second, a.first, a.n);
  power(a, gamma);
  __bang_mul(a.result, a.result, a.second, a.n);
}

template <class T>
class Task {
 public:
  Task(const mluopsFocalLossProblem& problem, const plan::FocalLossPlan& plan, bool forward, char* nram)
      : plan_(plan),
        input_(static_cast<const T*>(problem.input)),
        target_(problem.target),
        weight_(static_cast<const T*>(problem.weight)),
        output_(static_cast<T*>(problem.result)),
        gamma_(problem.shape.gamma),
        of_target_(forward ? problem.shape.alpha : -problem.shape.alpha),
        of_others_(1.0f - problem.shape.alpha),
        forward_(forward),
        nram_(nram),
        rows_(plan::contiguous_share(plan.rows, taskDim, taskId)),
        parts_((plan.classes + plan.block_classes - 1) / plan.block_classes) {}

  void run() {
    if (rows_.size() == 0) return;
    if (weight_ != nullptr && plan_.whole_rows()) {
      __memcpy(at<T>(plan_.weight), weight_, bytes_of<T>(plan_.classes), GDRAM2NRAM);
    }
    const std::int64_t blocks = (rows_.size() + plan_.block_rows - 1) / plan_.block_rows;
    run_stages(
        blocks * parts_, [&](std::int64_t i, int side) { load(block(i), side); },
        [&](std::int64_t i, int side) { compute(block(i), side); },
        [&](std::int64_t i, int side) { store(block(i), side); });
  }

 private:
  struct Block {
    plan::Share rows, classes;
  };

  Block block(std::int64_t i) const {
    const plan::Share rows = plan::block_share(rows_.size(), plan_.block_rows, i / parts_);
    return {{rows_.begin + rows.begin, rows_.begin + rows.end},
            plan::block_share(plan_.classes, plan_.block_classes, i % parts_)};
  }
  template <class U>
  U* at(std::int64_t offset) const {
    return reinterpret_cast<U*>(nram_ + offset);
  }
  std::int64_t first(const Block& b) const { return b.rows.begin * plan_.classes + b.classes.begin; }

  void load(const Block& b, int side) const {
    queue_rows(at<T>(plan_.input[side]), input_ + first(b), bytes_of<T>(b.classes.size()), b.rows.size(),
               {bytes_of<T>(plan_.pitch), bytes_of<T>(plan_.classes)}, GDRAM2NRAM);
    __memcpy_async(at<std::int32_t>(plan_.target[side]), target_ + b.rows.begin, bytes_of<std::int32_t>(b.rows.size()),
                   GDRAM2NRAM);
  }
  void store(const Block& b, int side) const {
    queue_rows(output_ + first(b), at<T>(plan_.output[side]), bytes_of<T>(b.classes.size()), b.rows.size(),
               {bytes_of<T>(plan_.classes), bytes_of<T>(plan_.pitch)}, NRAM2GDRAM);
  }

  void compute(const Block& b, int side) const {
    constexpr bool kHalf = std::is_same_v<T, half>;
    constexpr std::int64_t kUnit = 64;
    const std::int64_t n = round_up(b.rows.size() * plan_.pitch, kUnit);
    const Arrays a = {at<float>(kHalf ? plan_.compute[2] : plan_.input[side]),
                      at<float>(kHalf ? plan_.compute[3] : plan_.output[side]), at<float>(plan_.compute[0]),
                      at<float>(plan_.compute[1]), n};
    if constexpr (kHalf) __bang_half2float(a.logits, at<T>(plan_.input[side]), n);
    __sync_compute();
    for_targets(b, side, [&](std::int64_t i) { a.logits[i] = -a.logits[i]; });
    take_logarithms(a);
    forward_ ? loss(a, gamma_) : slope(a, gamma_);
    __bang_write_value(a.first, n, of_others_);
    __sync_compute();
    for_targets(b, side, [&](std::int64_t i) { a.first[i] = of_target_; });
    __bang_mul(a.result, a.result, a.first, n);
    if (weight_ != nullptr) multiply_by_weights(b, side, a.result);
    if constexpr (kHalf) to_halves(at<T>(plan_.output[side]), a.result, n);
  }

  /// visit(element in NRAM) of each row's target that lies in the block.
  template <class Visit>
  void for_targets(const Block& b, int side, const Visit& visit) const {
    const auto* const targets = at<std::int32_t>(plan_.target[side]);
    for (std::int64_t r = 0; r < b.rows.size(); ++r) {
      const std::int64_t target = targets[r];
      if (target >= b.classes.begin && target < b.classes.end) visit(r * plan_.pitch + target - b.classes.begin);
    }
  }

  void multiply_by_weights(const Block& b, int side, float* result) const {
    const auto* const targets = at<std::int32_t>(plan_.target[side]);
    for (std::int64_t r = 0; r < b.rows.size(); ++r) {
      T* weight = at<T>(plan_.weight);
      if (plan_.whole_rows()) {
        weight += targets[r];
      } else {
        __memcpy(weight, weight_ + targets[r], sizeof(T), GDRAM2NRAM);
      }
      __bang_mul_scalar(result + r * plan_.pitch, result + r * plan_.pitch, static_cast<float>(*weight), plan_.pitch);
    }
  }

  const plan::FocalLossPlan& plan_;
  const T* input_;
  const std::int32_t* target_;
  const T* weight_;
  T* output_;
  float gamma_, of_target_, of_others_;
  bool forward_;
  char* nram_;
  plan::Share rows_;
  std::int64_t parts_;
};

mluOpStatus_t run(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p, bool forward) {
  const mluopsFocalLossShape& s = p.shape;
  const auto plan = plan::plan_focal_loss_sigmoid(s, forward ? plan::Direction::kForward : plan::Direction::kBackward,
                                                  p.weight != nullptr, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const std::int64_t size = plan::element_bytes(s.dtype), bytes = s.n * s.c * size;
  return launch(context, call, forward ? "focal_loss_sigmoid_forward" : "focal_loss_sigmoid_backward", plan,
                {reads("input", p.input, bytes), reads("target", p.target, bytes_of<std::int32_t>(s.n)),
                 reads("weight", p.weight, p.weight == nullptr ? 0 : s.c * size),
                 writes(forward ? "output" : "grad_input", p.result, bytes)},
                [&](char* nram) {
                  s.dtype == MLUOP_DTYPE_HALF ? Task<half>(p, plan, forward, nram).run()
                                              : Task<float>(p, plan, forward, nram).run();
                });
}

}  // namespace

mluOpStatus_t focal_loss_sigmoid_forward(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  return run(context, call, p, true);
}

mluOpStatus_t focal_loss_sigmoid_backward(Context& context, const mluopsCall& call, const mluopsFocalLossProblem& p) {
  return run(context, call, p, false);
}

}  // namespace mluops::emu
