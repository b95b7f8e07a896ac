// Soft non-maximum suppression: the box of the greatest score is taken, the scores of the others fall with their IoU.
//
// Boxes are lists of numbers, those taken in front. As in mmcv, a box that is taken changes places with the first one
// left, and one that is dropped is replaced by the last: so equal scores are taken in the same order. A step is one
// vector pass over the boxes left, which lowers scores and finds the greatest.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/nms/soft_nms.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "mluops/problem/nms.h"

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;
namespace {

template <class A>
struct SoftArrays {
  Lists<Upright<A>> boxes;
  A* score;
  std::int32_t* index;

  SoftArrays(Allocator& allocator, std::int64_t most)
      : boxes(allocator, most + kPad),
        score(allocator.allocate<A>(most + kPad)),
        index(allocator.allocate<std::int32_t>(most)) {}

  void copy(std::int64_t to, std::int64_t from) {
    boxes.copy(to, boxes, from);
    score[to] = score[from];
    index[to] = index[from];
  }
  void swap(std::int64_t i, std::int64_t k) {
    for (A* const list : boxes.field) std::swap(list[i], list[k]);
    std::swap(score[i], score[k]);
    std::swap(index[i], index[k]);
  }
};

/// The first box of [begin, end) with the greatest score; `begin` where its score is NaN, else no NaN.
template <class A>
std::int64_t greatest(const A* score, std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<A> d;
  if (score[begin] != score[begin]) return begin;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  A most = score[begin];
  auto most_of = hn::Set(d, most);
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    const auto v = hn::LoadU(d, score + i);
    most_of = hn::IfThenElse(hn::Gt(v, most_of), v, most_of);
  }
  most = hn::GetLane(hn::MaxOfLanes(d, most_of));
  for (; i < end; ++i) most = score[i] > most ? score[i] : most;
  return std::find(score + begin, score + end, most) - score;
}

template <class T>
class SoftSweep {
 public:
  using A = Acc<T>;

  SoftSweep(const mluopsSoftNmsProblem& p, SoftArrays<A>& arrays)
      : p_(p), arrays_(arrays), size_(p.shape.boxes), threshold_(static_cast<A>(p.shape.iou_threshold)) {}

  /// Returns how many boxes are taken; they are the first ones then.
  std::int64_t run() {
    for (std::int64_t taken = 0; taken < size_; ++taken) {
      const std::int64_t best = greatest(arrays_.score, taken, size_);
      if (best != taken) arrays_.swap(taken, best);
      lower_scores(taken);
      drop(taken + 1);
    }
    return size_;
  }

 private:
  using D = hn::ScalableTag<A>;
  using Kind = Upright<A>;
  using Lanes = Boxes<Kind, D>;

  /// Lowers the scores behind `taken` by the boxes' IoU with it. Vectors of boxes that share nothing with it keep
  /// theirs, unless the threshold is one that 0 reaches.
  void lower_scores(std::int64_t taken) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto offset = hn::Set(d, static_cast<A>(p_.shape.offset));
    const Lanes box = Lanes::all(d, arrays_.boxes, taken);
    const bool skips = p_.method == MLUOP_EXT_SOFT_NMS_GAUSSIAN ? p_.exact_sigma != 0 : threshold_ > 0;
    low_ = hn::MaskFromVec(hn::Zero(d));
    for (std::int64_t i = taken + 1; i < size_; i += lanes) {
      const auto left = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, size_ - i)));
      const Lanes others = Lanes::of(d, arrays_.boxes, i);
      const auto shared = Kind::shared(d, box, others, offset);
      const auto whole = hn::Sub(hn::Add(box[Kind::kArea], others[Kind::kArea]), shared);
      auto score = hn::LoadU(d, arrays_.score + i);
      // Nothing of nothing, or of NaN, is NaN.
      const auto apart = hn::And(hn::Eq(shared, hn::Zero(d)), hn::Gt(hn::Abs(whole), hn::Zero(d)));
      if (!skips || !hn::AllTrue(d, hn::Or(apart, hn::Not(left)))) {
        const auto weight = weight_of(hn::Div(shared, whole));
        score = hn::Mul(score, weight);
        hn::BlendedStore(score, left, d, arrays_.score + i);
      }
      low_ = hn::Or(low_, hn::And(left, hn::Lt(score, hn::Set(d, static_cast<A>(p_.exact_min_score)))));
    }
  }

  HWY_INLINE hn::Vec<D> weight_of(hn::Vec<D> iou) const {
    const D d;
    const auto one = hn::Set(d, A{1});
    if (p_.method == MLUOP_EXT_SOFT_NMS_GAUSSIAN) {
      const auto exponent = hn::Div(hn::Neg(hn::Mul(iou, iou)), hn::Set(d, static_cast<A>(p_.exact_sigma)));
      const auto number = hn::Eq(iou, iou);  // Exp of NaN is not defined at every level
      return hn::IfThenElse(number, hn::Exp(d, hn::IfThenElseZero(number, exponent)), iou);
    }
    const auto weight = p_.method == MLUOP_EXT_SOFT_NMS_LINEAR ? hn::Sub(one, iou) : hn::Zero(d);
    return hn::IfThenElse(hn::Ge(iou, hn::Set(d, threshold_)), weight, one);
  }

  /// The boxes from `first` on whose score is too low, if there are any.
  void drop(std::int64_t first) {
    if (hn::AllFalse(D(), low_)) return;
    for (std::int64_t i = first; i < size_;) {
      if (!(arrays_.score[i] < static_cast<A>(p_.exact_min_score))) {
        ++i;
      } else {
        arrays_.copy(i, --size_);
      }
    }
  }

  const mluopsSoftNmsProblem& p_;
  SoftArrays<A>& arrays_;
  std::int64_t size_;  ///< boxes taken or left
  A threshold_;
  hn::Mask<D> low_;  ///< lanes where the last step left a score that is too low
};

/// The boxes taken, in front of all, then zeros.
template <class T>
void write_taken(const mluopsSoftNmsProblem& p, const SoftArrays<Acc<T>>& arrays, std::int64_t taken) {
  T* out = static_cast<T*>(p.dets);
  for (std::int64_t i = 0; i < taken; ++i) {
    out = std::copy_n(static_cast<const T*>(p.boxes) + 4 * std::int64_t{arrays.index[i]}, 4, out);
    *out++ = from_acc<T>(arrays.score[i]);
  }
  std::fill(out, static_cast<T*>(p.dets) + 5 * p.shape.boxes, from_acc<T>(0));
  with_indices(p.shape, p.indices, [&]<class I>(I* indices) {
    std::fill(std::copy_n(arrays.index, taken, indices), indices + p.shape.boxes, I{0});
  });
  *p.output_size = static_cast<std::int32_t>(taken);
}

template <class T>
mluOpStatus_t soft(Context& context, const mluopsCall& call, const mluopsSoftNmsProblem& p) {
  using A = Acc<T>;
  if (const char* const reason = declined(p.shape)) return fail(call, MLUOP_STATUS_NOT_SUPPORTED, reason);
  auto arrays = allocate<SoftArrays<A>>(context.arena, p.shape.boxes);
  if (!arrays) return no_memory(call);
  const BoxSource<T> source{static_cast<const T*>(p.boxes), 4, 1, false};
  arrays->boxes.clear(p.shape.boxes, p.shape.boxes + kPad);
  std::fill_n(arrays->score + p.shape.boxes, kPad, A{0});
  for (std::int64_t i = 0; i < p.shape.boxes; ++i) {
    arrays->boxes.read(i, source[i].data(), static_cast<A>(p.shape.offset));
    arrays->score[i] = to_acc(static_cast<const T*>(p.scores)[i]);
    arrays->index[i] = static_cast<std::int32_t>(i);
  }
  write_taken<T>(p, *arrays, SoftSweep<T>(p, *arrays).run());
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(soft_nms, nms, soft, mluopsSoftNmsProblem, with_element)
