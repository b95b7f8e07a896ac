// RotatedIou: IoU of rotated rectangles or boxes, one by one, and its gradients by both.
//
// box1, box2, grad_box1, grad_box2 [count,5|7]; ious, grad_ious [count]. An item is a pair and owns what is written of
// it. In double: four sines and cosines a pair, the shared area of a pair in each lane, some 150 flops; backward, 2 x 4
// sides cut by four others, which branch.
#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rotated_iou/rotated_iou.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/rotated_iou/pair.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "mluops/problem/rotated_iou.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::rotated_iou::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;
namespace {

constexpr double kForwardCost = Rotated::kPairCost + 60 * cost::kStep;
constexpr double kBackwardCost = kForwardCost + 200 * cost::kStep;

/// Pairs next to each other, the centre of the first box of each at (0, 0).
class Block {
 public:
  static constexpr std::int64_t kPairs = 32;

  template <class T>
  void read(const T* first, const T* second, std::int64_t pairs, std::int64_t numbers) {
    const bool flat = numbers == 5;
    for (std::int64_t j = 0; j < pairs; ++j) {
      Box &a = box_[0][j], &b = box_[1][j];
      a = Box::read(first + j * numbers, flat);
      b = Box::read(second + j * numbers, flat);
      if (!a.is_finite() || !b.is_finite()) a = b = {};  // of no size
      put(lists_[0], j, a, {a.x, a.y});
      put(lists_[1], j, b, {a.x, a.y});
    }
    for_lanes<double>(pairs, [&](auto d, std::int64_t j) HWY_ATTR {
      using Lanes = Boxes<Rotated, decltype(d)>;
      const auto area = Rotated::shared(d, Lanes::of(d, lists_[0], j), Lanes::of(d, lists_[1], j), hn::Zero(d));
      hn::StoreU(area, d, shared_ + j);
    });
  }
  const Box& box(int of, std::int64_t j) const { return box_[of][j]; }
  Rectangle rectangle(int of, std::int64_t j) const {
    const auto& f = lists_[of].field;
    return {{f[Rotated::kX][j], f[Rotated::kY][j]},
            {f[Rotated::kHalfW][j], f[Rotated::kHalfH][j]},
            f[Rotated::kCos][j],
            f[Rotated::kSin][j]};
  }
  Iou iou(std::int64_t j) const { return Iou(box_[0][j], box_[1][j], shared_[j]); }

 private:
  static void put(const Lists<Rotated>& lists, std::int64_t j, const Box& box, Point origin) {
    const double half_w = std::abs(box.w) / 2, half_h = std::abs(box.h) / 2;
    const double fields[Rotated::kFields] = {4 * half_w * half_h,
                                             box.x - origin.x,
                                             box.y - origin.y,
                                             half_w,
                                             half_h,
                                             std::cos(box.angle),
                                             std::sin(box.angle),
                                             std::sqrt(half_w * half_w + half_h * half_h)};
    for (std::size_t k = 0; k < Rotated::kFields; ++k) lists.field[k][j] = fields[k];
  }

  double fields_[2][Rotated::kFields * kPairs];
  Lists<Rotated> lists_[2] = {{fields_[0], kPairs}, {fields_[1], kPairs}};
  Box box_[2][kPairs];
  double shared_[kPairs];
};

/// pair(block, j, i) for pair j of a block, which is pair i of all.
template <class T, class Problem, class Pair>
mluOpStatus_t for_pairs(Context& context, const mluopsCall& call, const Problem& p, double ns, const Pair& pair) {
  const auto *first = static_cast<const T*>(p.box1), *second = static_cast<const T*>(p.box2);
  const std::int64_t numbers = p.shape.numbers;
  Loop(context, call, p.shape.count, ns).run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    Block block;
    for (std::int64_t i = begin; i < end; i += Block::kPairs) {
      const std::int64_t pairs = std::min(Block::kPairs, end - i);
      block.read(first + i * numbers, second + i * numbers, pairs, numbers);
      for (std::int64_t j = 0; j < pairs; ++j) pair(block, j, i + j);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsRotatedIouForwardProblem& p) {
  T* const ious = static_cast<T*>(p.ious);
  return for_pairs<T>(context, call, p, kForwardCost, [=](const Block& block, std::int64_t j, std::int64_t i) {
    ious[i] = from_acc<T>(static_cast<Acc<T>>(block.iou(j).value));
  });
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsRotatedIouBackwardProblem& p) {
  const T* const grad_ious = static_cast<const T*>(p.grad_ious);
  T *const grad_box1 = static_cast<T*>(p.grad_box1), *const grad_box2 = static_cast<T*>(p.grad_box2);
  const std::int64_t numbers = p.shape.numbers;
  return for_pairs<T>(context, call, p, kBackwardCost, [=](const Block& block, std::int64_t j, std::int64_t i) {
    const Iou iou = block.iou(j);
    const double grad = static_cast<double>(to_acc(grad_ious[i]));
    const Rectangle a = block.rectangle(0, j), b = block.rectangle(1, j);
    const Box of_a = iou.gradient(block.box(0, j), shared_area_gradient(a, b), iou.height.by_z, iou.height.by_l);
    const Box of_b = iou.gradient(block.box(1, j), shared_area_gradient(b, a), -iou.height.by_z, iou.height.by_other_l);
    of_a.times(grad).write(grad_box1 + i * numbers, numbers == 5);
    of_b.times(grad).write(grad_box2 + i * numbers, numbers == 5);
  });
}

}  // namespace
}  // namespace mluops::cpu::rotated_iou::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(rotated_iou_forward, rotated_iou, forward, mluopsRotatedIouForwardProblem, with_element)
MLUOPS_CPU_ENTRY(rotated_iou_backward, rotated_iou, backward, mluopsRotatedIouBackwardProblem, with_element)
