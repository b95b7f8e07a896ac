// The sweep of hard suppression: each box, best score first, is kept or belongs to a better box that was kept.
//
// Boxes go by in blocks. First each box of a block is compared with those kept before the block, a vector of them at a
// time; then, one after the other, with those kept in the block. A box is compared with whole lists only where its
// strip is near (strips.h), so the cost grows with the boxes that are near, not with all pairs. One thread: a block
// takes some ten microseconds, too little to share out.
#if defined(MLUOPS_CPU_NMS_SWEEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_NMS_SWEEP_INL_H_
#else
#define MLUOPS_CPU_NMS_SWEEP_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/kernels/nms/strips.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// Boxes after which those kept join the strips.
constexpr std::int64_t kBlock = 256;

constexpr std::int32_t kNone = -1, kUnknown = -2;

/// Strips for so many boxes: as many as leave some vectors of kept boxes in each.
inline std::int64_t strips_of(std::int64_t boxes) {
  return std::clamp<std::int64_t>(boxes / 128, 1, 256);
}

template <class A>
struct SweepArrays {
  Order<A> order;
  BoxLists<A> boxes;  ///< in this order
  std::int32_t* owner;
  KeptBoxes<A> kept;
  BoxLists<A> fresh;  ///< kept in the block at hand

  SweepArrays(Allocator& allocator, std::int64_t most)
      : order(allocator, most),
        boxes(allocator, most),
        owner(allocator.allocate<std::int32_t>(most)),
        kept(allocator, most, strips_of(most)),
        fresh(allocator, kBlock + kPad) {}

  /// Sorts what was added to `order` and reads the boxes.
  template <class T>
  void read(const BoxSource<T>& source) {
    order.sort();
    for (std::int64_t rank = 0; rank < order.size(); ++rank) boxes.put(rank, source[order[rank]]);
  }
};

/// IoU of one box with a vector of others, as mmcv computes it.
template <class A>
class Overlap {
 public:
  using D = hn::ScalableTag<A>;
  using V = hn::Vec<D>;

  Overlap(const BoxLists<A>& boxes, std::int64_t i, A offset)
      : x1_(hn::Set(D(), boxes.x1[i])),
        y1_(hn::Set(D(), boxes.y1[i])),
        x2_(hn::Set(D(), boxes.x2[i])),
        y2_(hn::Set(D(), boxes.y2[i])),
        area_(hn::Set(D(), boxes.area[i])),
        offset_(hn::Set(D(), offset)) {}

  HWY_INLINE V intersection(const BoxLists<A>& others, std::int64_t from) const {
    const D d;
    const V left = hn::Max(x1_, hn::LoadU(d, others.x1 + from)), right = hn::Min(x2_, hn::LoadU(d, others.x2 + from));
    const V top = hn::Max(y1_, hn::LoadU(d, others.y1 + from)), bottom = hn::Min(y2_, hn::LoadU(d, others.y2 + from));
    const V width = hn::Max(hn::Add(hn::Sub(right, left), offset_), hn::Zero(d));
    const V height = hn::Max(hn::Add(hn::Sub(bottom, top), offset_), hn::Zero(d));
    return hn::Mul(width, height);
  }
  HWY_INLINE V union_of(V intersection, const BoxLists<A>& others, std::int64_t from) const {
    return hn::Sub(hn::Add(area_, hn::LoadU(D(), others.area + from)), intersection);
  }
  HWY_INLINE V iou(V intersection, const BoxLists<A>& others, std::int64_t from) const {
    return hn::Div(intersection, union_of(intersection, others, from));
  }

 private:
  V x1_, y1_, x2_, y2_, area_, offset_;
};

/// kFirst: tells which kept box is the first to suppress a box, not only that there is one, and equality with the
/// threshold suppresses.
template <class A, bool kFirst>
class Sweep {
 public:
  Sweep(const mluopsNmsShape& s, SweepArrays<A>& arrays)
      : offset_(static_cast<A>(s.offset)),
        threshold_(static_cast<A>(s.iou_threshold)),
        boxes_(arrays.boxes),
        kept_(arrays.kept),
        fresh_(arrays.fresh),
        owner_(arrays.owner),
        size_(arrays.order.size()),
        reach_(threshold_, offset_, kFirst),
        strips_(reach_.limited() ? strips_of(size_) : 1) {}

  /// Gives every box its owner: the rank of a box that suppresses it, or kNone where it is kept. Ends early when
  /// max_kept boxes are kept; owners of boxes behind the last of these are then kUnknown.
  void run(std::int64_t max_kept) {
    lay_out_strips();
    std::int64_t kept = 0, begin = 0;
    while (begin < size_ && kept < max_kept) {
      const std::int64_t end = std::min(size_, begin + kBlock);
      for (std::int64_t i = begin; i < end; ++i) owner_[i] = owner_in_strips(i);
      begin = sweep_block(begin, end, kept, max_kept);
    }
    std::fill(owner_ + begin, owner_ + size_, kUnknown);
  }

 private:
  using D = hn::ScalableTag<A>;

  void lay_out_strips() {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::int64_t i = 0; i < size_; ++i) {
      if (!reach_.limited() || !reach_.has(boxes_, i)) continue;
      low = std::min(low, reach_.centre(boxes_, i));
      high = std::max(high, reach_.centre(boxes_, i));
    }
    strips_.span(low, high);
    kept_.lay_out(strips_.count(), [&](auto&& put) {
      for (std::int64_t i = 0; i < size_; ++i) {
        if (reach_.has(boxes_, i)) put(strip_of(i));
      }
    });
  }
  std::int64_t strip_of(std::int64_t i) const { return reach_.limited() ? strips_.at(reach_.centre(boxes_, i)) : 0; }

  /// The rest of the block, in order. Returns behind the last box that was looked at.
  std::int64_t sweep_block(std::int64_t begin, std::int64_t end, std::int64_t& kept, std::int64_t max_kept) {
    std::int64_t fresh = 0, i = begin;
    fresh_.clear(0, kBlock + kPad);
    for (; i < end && kept < max_kept; ++i) {
      if (owner_[i] != kNone || !reach_.has(boxes_, i)) {
        kept += owner_[i] == kNone;
        continue;
      }
      const std::int64_t slot = first_hit(Overlap<A>(boxes_, i, offset_), fresh_, 0, fresh);
      if (slot >= 0) {
        owner_[i] = ranks_[slot];
        continue;
      }
      fresh_.copy(fresh, boxes_, i);
      ranks_[fresh++] = static_cast<std::int32_t>(i);
      ++kept;
    }
    for (std::int64_t k = 0; k < fresh; ++k) kept_.add(strip_of(ranks_[k]), boxes_, ranks_[k]);
    return i;
  }

  HWY_INLINE std::int32_t owner_in_strips(std::int64_t i) const {
    if (!reach_.has(boxes_, i)) return kNone;
    std::int64_t strip = 0, last = strips_.count() - 1;
    if (reach_.limited()) {
      const double centre = reach_.centre(boxes_, i), distance = reach_.distance(boxes_, i);
      strip = strips_.at(centre - distance);
      last = strips_.at(centre + distance);
    }
    const Overlap<A> overlap(boxes_, i, offset_);
    std::int32_t owner = kNone;
    for (; strip <= last; ++strip) {
      const std::int64_t slot = first_hit(overlap, kept_.boxes, kept_.begin(strip), kept_.end(strip));
      if (slot < 0) continue;
      const std::int32_t rank = kept_.ranks[slot];
      owner = owner == kNone ? rank : std::min(owner, rank);
      if constexpr (!kFirst) break;
    }
    return owner;
  }

  /// The first of slots [begin, end) that suppresses the box, -1 for none. Whole vectors: slots behind the end that are
  /// read are empty.
  HWY_INLINE std::int64_t first_hit(const Overlap<A>& overlap, const BoxLists<A>& others, std::int64_t begin,
                                    std::int64_t end) const {
    const D d;
    const auto threshold = hn::Set(d, threshold_);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = begin; i < end; i += lanes) {
      const auto intersection = overlap.intersection(others, i);
      if (reach_.limited() && hn::AllFalse(d, hn::Gt(intersection, hn::Zero(d)))) continue;
      const auto iou = overlap.iou(intersection, others, i);
      const std::intptr_t lane = hn::FindFirstTrue(d, kFirst ? hn::Ge(iou, threshold) : hn::Gt(iou, threshold));
      if (lane >= 0) return i + lane;
    }
    return -1;
  }

  A offset_, threshold_;
  const BoxLists<A>& boxes_;
  KeptBoxes<A>& kept_;
  BoxLists<A>& fresh_;
  std::int32_t* owner_;
  std::int64_t size_;
  Reach<A> reach_;
  StripMap strips_;
  std::int32_t ranks_[kBlock];
};

}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
