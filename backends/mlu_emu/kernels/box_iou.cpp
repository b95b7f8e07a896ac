// BoxIouRotated as device code. boxes [n,5] of x, y, width, height, rotation; ious [n,m], aligned [n]; float.
//
// Pairs lie in lanes. In the frame of the first box, |x| <= w, |y| <= h, the shared area is the sum over the four sides
// of the second one, counterclockwise, of the integral of -clamp(y) dx, sides being clamped to |x| <= w. That is free
// of case distinctions: docs/op/box_iou.md derives it, docs/device_model.md says why it stands for the documented 24
// points and their hull. About 130 builtins a pair: bound by the vector unit.
#include <algorithm>
#include <utility>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/kernels/elementary.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/box_iou.h"
#include "common/shape.h"
#include "mluops/problem/box_iou.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kNumbers = 5;
constexpr float kLeastArea = 1e-14f;   // boxes of less share nothing
constexpr float kRounding = 0x1p-21f;  // shares of the first area that are none: boxes that touch

/// Builtins on n lanes.
struct Builtins {
  std::int64_t n;

  void add(float* to, const float* a, const float* b) const { __bang_add(to, a, b, n); }
  void sub(float* to, const float* a, const float* b) const { __bang_sub(to, a, b, n); }
  void mul(float* to, const float* a, const float* b) const { __bang_mul(to, a, b, n); }
  void scale(float* to, const float* a, float factor) const { __bang_mul_scalar(to, a, factor, n); }
  /// to = a b + c d; `spare` is used up.
  void add_products(float* to, const float* a, const float* b, const float* c, const float* d, float* spare) const {
    mul(spare, c, d);
    mul(to, a, b);
    add(to, to, spare);
  }
  /// a value within -bound and bound.
  void clamp(float* to, const float* value, const float* bound, const float* negative) const {
    __bang_minequal(to, value, bound, n);
    __bang_maxequal(to, to, negative, n);
  }
  /// to /= divisor, or to where the divisor is 0; `spare` is used up.
  void divide(float* to, float* divisor, float* spare) const {
    __bang_not(spare, divisor, n);
    add(divisor, divisor, spare);
    __bang_div(to, to, divisor, n);
  }
};

/// One box a lane: halves of its sides; `counts` is 1 for a finite box of some area, else 0.
struct Boxes {
  float *x, *y, *w, *h, *sine, *cosine, *area, *counts;

  Boxes(float* arrays, std::int64_t lanes)
      : x(arrays),
        y(x + lanes),
        w(y + lanes),
        h(w + lanes),
        sine(h + lanes),
        cosine(sine + lanes),
        area(cosine + lanes),
        counts(area + lanes) {}

  /// Computes all arrays from the five numbers of the boxes, which are in the first five.
  void prepare(const Builtins& builtins) const {
    builtins.mul(area, w, h);
    builtins.scale(counts, area, 0.0f);  // NaN where something is not finite
    for (const float* number : {x, y, w, h, sine}) {
      builtins.scale(cosine, number, 0.0f);
      builtins.add(counts, counts, cosine);
    }
    __bang_eq(counts, counts, counts, builtins.n);
    __bang_ge_scalar(cosine, area, kLeastArea, builtins.n);
    __bang_and(counts, counts, cosine, builtins.n);
    cosines(cosine, sine, builtins.n);
    sines(sine, sine, builtins.n);
    for (float* side : {w, h}) {
      __bang_active_abs(side, side, builtins.n);
      builtins.scale(side, side, 0.5f);
    }
  }
};

struct Point {
  float *x, *y;
};

/// The shared area, and what it takes: arrays of `lanes` floats.
class Overlap {
 public:
  Overlap(float* arrays, std::int64_t lanes) : next_(arrays), lanes_(lanes) {}

  const float* result() const { return sum_; }

  void run(const Builtins& builtins, const Boxes& first, const Boxes& second) {
    turn(builtins, first, second);
    builtins.scale(low_w_, first.w, -1.0f);
    builtins.scale(low_h_, first.h, -1.0f);
    __bang_write_value(sum_, builtins.n, 0.0f);
    Point from = from_, to = to_;
    corner(builtins, from, 0);
    for (int side = 0; side < 4; ++side) {
      corner(builtins, to, side + 1);
      add_side(builtins, from, to, first);
      std::swap(from, to);
    }
    builtins.scale(sum_, sum_, 0.5f);
  }

 private:
  float* take() {
    float* const array = next_;
    next_ += lanes_;
    return array;
  }

  /// The second box's centre and half sides, as vectors, in the frame of the first.
  void turn(const Builtins& builtins, const Boxes& a, const Boxes& b) const {
    builtins.sub(t1_, b.x, a.x);
    builtins.sub(t2_, b.y, a.y);
    builtins.add_products(centre_.x, t1_, a.cosine, t2_, a.sine, t3_);
    builtins.scale(t1_, t1_, -1.0f);
    builtins.add_products(centre_.y, t2_, a.cosine, t1_, a.sine, t3_);
    builtins.add_products(t1_, b.cosine, a.cosine, b.sine, a.sine, t3_);  // cosine of the angle between them
    builtins.scale(t4_, b.cosine, -1.0f);
    builtins.add_products(t2_, b.sine, a.cosine, t4_, a.sine, t3_);
    builtins.mul(along_.x, b.w, t1_);
    builtins.mul(along_.y, b.w, t2_);
    builtins.mul(across_.y, b.h, t1_);
    builtins.mul(across_.x, b.h, t2_);
    builtins.scale(across_.x, across_.x, -1.0f);
  }

  /// Counterclockwise, number 4 is number 0 again.
  void corner(const Builtins& builtins, const Point& to, int index) const {
    const bool right = index % 4 == 1 || index % 4 == 2, up = index % 4 >= 2;
    right ? builtins.add(to.x, centre_.x, along_.x) : builtins.sub(to.x, centre_.x, along_.x);
    right ? builtins.add(to.y, centre_.y, along_.y) : builtins.sub(to.y, centre_.y, along_.y);
    up ? builtins.add(to.x, to.x, across_.x) : builtins.sub(to.x, to.x, across_.x);
    up ? builtins.add(to.y, to.y, across_.y) : builtins.sub(to.y, to.y, across_.y);
  }

  /// Adds twice the integral of -clamp(y) along a side: with its ends at (a, y_a) and (b, y_b) after the clamp of x,
  /// and l and r those of y, that is (a - b) ((l + r) + (r - l) / (y_b - y_a) ((y_a - l) + (y_b - r))).
  void add_side(const Builtins& builtins, const Point& p, const Point& q, const Boxes& frame) const {
    builtins.clamp(a_, p.x, frame.w, low_w_);
    builtins.clamp(b_, q.x, frame.w, low_w_);
    builtins.sub(t1_, q.x, p.x);
    builtins.sub(t2_, q.y, p.y);
    builtins.divide(t2_, t1_, t3_);  // the slope
    const auto height = [&](float* to, const float* at, const Point& end) {
      builtins.sub(t3_, at, end.x);
      builtins.mul(t3_, t3_, t2_);
      builtins.add(to, t3_, end.y);
    };
    height(y_a_, a_, p);
    height(y_b_, b_, q);
    builtins.clamp(l_, y_a_, frame.h, low_h_);
    builtins.clamp(r_, y_b_, frame.h, low_h_);
    builtins.sub(t1_, y_b_, y_a_);
    builtins.sub(t2_, r_, l_);
    builtins.divide(t2_, t1_, t3_);
    builtins.sub(y_a_, y_a_, l_);
    builtins.sub(y_b_, y_b_, r_);
    builtins.add(y_a_, y_a_, y_b_);
    builtins.mul(t2_, t2_, y_a_);
    builtins.add(t2_, t2_, l_);
    builtins.add(t2_, t2_, r_);
    builtins.sub(a_, a_, b_);
    builtins.mul(t2_, t2_, a_);
    builtins.add(sum_, sum_, t2_);
  }

  float* next_;
  std::int64_t lanes_;
  Point centre_{take(), take()}, along_{take(), take()}, across_{take(), take()}, from_{take(), take()},
      to_{take(), take()};
  float *low_w_ = take(), *low_h_ = take(), *sum_ = take();
  float *a_ = take(), *b_ = take(), *l_ = take(), *r_ = take(), *y_a_ = take(), *y_b_ = take();
  float *t1_ = take(), *t2_ = take(), *t3_ = take(), *t4_ = take();
};

class Kernel {
 public:
  Kernel(const mluopsBoxIouProblem& problem, const plan::BoxIouRotatedPlan& plan, char* nram)
      : plan_(plan),
        shape_(problem.shape),
        bbox1_(static_cast<const float*>(problem.bbox1)),
        bbox2_(static_cast<const float*>(problem.bbox2)),
        ious_(static_cast<float*>(problem.ious)),
        work_(reinterpret_cast<float*>(nram + plan.work)),
        first_(reinterpret_cast<float*>(nram + plan.first), plan.lanes),
        second_(reinterpret_cast<float*>(nram + plan.second), plan.lanes) {}

  void run() const {
    const plan::Share boxes = plan::contiguous_share(shape_.n, taskDim, taskId);
    if (boxes.size() == 0) return;
    shape_.aligned != 0 ? run_aligned(boxes) : run_crossed(boxes);
  }

 private:
  void run_aligned(plan::Share pairs) const {
    for (std::int64_t at = pairs.begin; at < pairs.end; at += plan_.lanes) {
      const std::int64_t count = std::min(plan_.lanes, pairs.end - at);
      load(first_, bbox1_ + at * kNumbers, count);
      load(second_, bbox2_ + at * kNumbers, count);
      pair(ious_ + at, count);
    }
  }

  void run_crossed(plan::Share boxes) const {
    for (std::int64_t at = 0; at < shape_.m; at += plan_.lanes) {
      const std::int64_t count = std::min(plan_.lanes, shape_.m - at);
      load(second_, bbox2_ + at * kNumbers, count);
      for (std::int64_t box = boxes.begin; box < boxes.end; ++box) {
        spread(bbox1_ + box * kNumbers, count);
        pair(ious_ + box * shape_.m + at, count);
      }
    }
  }

  static Builtins builtins_on(std::int64_t count) { return {round_up(count, plan::kNfuAlign / bytes_of<float>(1))}; }

  /// `count` boxes, one a lane.
  void load(const Boxes& boxes, const float* from, std::int64_t count) const {
    const Builtins builtins = builtins_on(count);
    const std::int64_t pitch = plan_.pitch;
    float* const transposed = work_ + plan_.lanes * pitch;
    __bang_write_value(work_, builtins.n * pitch, 0.0f);
    __sync();
    copy_rows(work_, from, bytes_of<float>(kNumbers), count, {bytes_of<float>(pitch), bytes_of<float>(kNumbers)},
              GDRAM2NRAM);
    __bang_transpose(transposed, work_, builtins.n, pitch);
    float* const numbers[] = {boxes.x, boxes.y, boxes.w, boxes.h, boxes.sine};
    for (int i = 0; i < kNumbers; ++i) {
      __bang_move(numbers[i], transposed + i * builtins.n, bytes_of<float>(builtins.n));
    }
    boxes.prepare(builtins);
  }

  /// One box in all lanes of the first.
  void spread(const float* from, std::int64_t count) const {
    const Builtins builtins = builtins_on(count);
    __memcpy(work_, from, bytes_of<float>(kNumbers), GDRAM2NRAM);
    float* const numbers[] = {first_.x, first_.y, first_.w, first_.h, first_.sine};
    for (int i = 0; i < kNumbers; ++i) __bang_write_value(numbers[i], builtins.n, work_[i]);
    first_.prepare(builtins);
  }

  /// Shared area over the documented divisor, of pairs that count and share something; else 0.
  void pair(float* to, std::int64_t count) const {
    const Builtins builtins = builtins_on(count);
    Overlap overlap(work_, plan_.lanes);
    overlap.run(builtins, first_, second_);
    float* const spare = work_;
    float* const ratio = spare + plan_.lanes;
    float* const mask = ratio + plan_.lanes;
    builtins.scale(spare, first_.area, kRounding);
    __bang_gt(mask, overlap.result(), spare, builtins.n);
    __bang_and(mask, mask, first_.counts, builtins.n);
    __bang_and(mask, mask, second_.counts, builtins.n);
    __bang_move(spare, first_.area, bytes_of<float>(builtins.n));
    if (shape_.mode == 0) {
      builtins.add(spare, spare, second_.area);
      builtins.sub(spare, spare, overlap.result());
    }
    __bang_div(ratio, overlap.result(), spare, builtins.n);
    __bang_write_value(spare, builtins.n, 0.0f);
    __bang_maskmove(spare, ratio, mask, builtins.n);
    __memcpy(to, spare, bytes_of<float>(count), NRAM2GDRAM);
  }

  const plan::BoxIouRotatedPlan& plan_;
  const mluopsBoxIouShape& shape_;
  const float *bbox1_, *bbox2_;
  float* ious_;
  float* work_;
  Boxes first_, second_;
};

}  // namespace

mluOpStatus_t box_iou_rotated(Context& context, const mluopsCall& call, const mluopsBoxIouProblem& p) {
  const mluopsBoxIouShape& s = p.shape;
  const auto plan = plan::plan_box_iou_rotated(s, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "box_iou_rotated", plan,
                {reads("bbox1", p.bbox1, bytes_of<float>(s.n * kNumbers)),
                 reads("bbox2", p.bbox2, bytes_of<float>(s.m * kNumbers)),
                 writes("ious", p.ious, bytes_of<float>(s.aligned != 0 ? s.n : s.n * s.m))},
                [&](char* nram) { Kernel(p, plan, nram).run(); });
}

}  // namespace mluops::emu
