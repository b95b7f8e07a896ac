// The sweep of hard suppression: each box, best score first, is kept or belongs to a better box that was kept.
//
// Kept boxes lie in strips of a key (strip_key-inl.h), each about as full as the others, and a box is compared with
// those in the strips that near, a vector of them at a time. By one thread: each box waits for those before it. By
// several, in blocks, each half as long as all before it. All boxes of a block look at once for one kept before the
// block that suppresses them. Those left go into the strips, and look at once for one before them in the block that
// suppresses them, a rival. Then one thread goes through the block in order: a box whose rival was kept falls, one
// whose rival fell looks for another. Both forms decide the same.
#if defined(MLUOPS_CPU_NMS_SWEEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_NMS_SWEEP_INL_H_
#else
#define MLUOPS_CPU_NMS_SWEEP_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/kernels/nms/strip_key-inl.h"
#include "backends/cpu/simd/simd-inl.h"
#include "backends/cpu/spatial/box_pairs-inl.h"
#include "backends/cpu/spatial/ranges.h"
#include "backends/cpu/spatial/score_order.h"
#include "mluops/problem/nms.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::nms::HWY_NAMESPACE {

constexpr std::int32_t kNone = -1;

/// Strips for so many boxes: as many as leave some vectors of kept boxes in each; one where a sample costs more.
inline std::int64_t strips_of(std::int64_t boxes) {
  return boxes < 512 ? 1 : std::clamp<std::int64_t>(boxes / 128, 1, 256);
}

/// Boxes that are looked at to choose the strips.
inline std::int64_t sample_of(std::int64_t boxes) {
  return std::min(boxes, 4 * strips_of(boxes));
}

/// Slots of the strips for so many boxes.
inline std::int64_t slots_of(std::int64_t boxes) {
  return boxes + strips_of(boxes) * kPad;
}

/// The kept boxes whose keys are at least `low` and below that of the next strip. Those from `decided` on belong to the
/// block that is being looked at.
struct Strip {
  double low;
  std::int64_t begin, decided, end;  ///< in the list of kept boxes
};

template <class A>
struct SweepArrays {
  spatial::Order<A> order;
  Lists<Upright<A>> boxes;        ///< in this order
  std::int32_t *owner, *keepers;  ///< of each box; ranks of those kept, in order
  Lists<Upright<A>> kept;         ///< strip by strip; whole vectors, the rest of which is empty
  std::int32_t *ranks, *slot;     ///< of those kept; where a box is among them
  std::int32_t* strip;            ///< of each box, kNone of one that cannot meet others
  std::int32_t* members;          ///< of a block, strip by strip
  Strip* strips;
  std::int64_t* counts;  ///< [threads, strips]
  double* samples;       ///< [keys, sample]

  SweepArrays(Allocator& allocator, const mluopsCall& call, std::int64_t most)
      : order(allocator, call, most),
        boxes(allocator, most),
        owner(allocator.allocate<std::int32_t>(most)),
        keepers(allocator.allocate<std::int32_t>(most)),
        kept(allocator, slots_of(most)),
        ranks(allocator.allocate<std::int32_t>(slots_of(most))),
        slot(allocator.allocate<std::int32_t>(most)),
        strip(allocator.allocate<std::int32_t>(most)),
        members(allocator.allocate<std::int32_t>(most)),
        strips(allocator.allocate<Strip>(strips_of(most))),
        counts(allocator.allocate<std::int64_t>(std::int64_t{call.threads}, strips_of(most))),
        samples(allocator.allocate<double>(StripKey<A>::kKeys, sample_of(most))) {}

  /// Sorts what was added to `order` and reads the boxes.
  template <class T>
  void read(const Context& context, const mluopsCall& call, const BoxSource<T>& source, A offset) {
    order.sort(context, call);
    Loop(context, call, order.size(), 3 * cost::kStep).run([&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t rank = first; rank < last; ++rank) boxes.read(rank, source[order[rank]].data(), offset);
    });
  }
};

/// Compares boxes with those in the strips. kFirst: tells which kept box is the first to suppress a box, not only that
/// there is one, and equality with the threshold suppresses.
template <class A, bool kFirst>
class StripSearch {
 protected:
  StripSearch(const mluopsNmsShape& s, SweepArrays<A>& arrays)
      : arrays_(arrays),
        offset_(static_cast<A>(s.offset)),
        threshold_(static_cast<A>(s.iou_threshold)),
        low_threshold_(threshold_ * static_cast<A>(kALittleLess)),
        limited_(kFirst ? threshold_ > 0 : threshold_ >= 0),
        key_(arrays.boxes, arrays.order.size(), offset_, threshold_, limited_),
        strips_(limited_ ? strips_of(arrays.order.size()) : 1) {}

  /// The owner of box i among those in the strips; kRivals: among those of its own block that are before it.
  template <bool kRivals>
  HWY_INLINE std::int32_t owner_of(std::int64_t i) const {
    const std::int64_t own = arrays_.strip[i];
    if (own == kNone) return kNone;
    const Lanes box = Lanes::all(D(), arrays_.boxes, i);
    std::int32_t owner = owner_in<kRivals>(box, i, own);
    if (strips_ == 1) return owner;
    const double key = key_.of(i), far = key_.near(i), low = key - far, high = key + far;
    const auto ended = [&] { return !kFirst && owner != kNone; };
    for (std::int64_t strip = own; strip > 0 && arrays_.strips[strip].low >= low && !ended(); --strip) {
      owner = first_of(owner, owner_in<kRivals>(box, i, strip - 1));
    }
    for (std::int64_t strip = own + 1; strip < strips_ && arrays_.strips[strip].low <= high && !ended(); ++strip) {
      owner = first_of(owner, owner_in<kRivals>(box, i, strip));
    }
    return owner;
  }
  SweepArrays<A>& arrays_;

 private:
  using D = hn::ScalableTag<A>;
  using Kind = Upright<A>;
  using Lanes = Boxes<Kind, D>;

  static std::int32_t first_of(std::int32_t a, std::int32_t b) {
    return a == kNone || b == kNone ? std::max(a, b) : std::min(a, b);
  }
  template <bool kRivals>
  HWY_INLINE std::int32_t owner_in(const Lanes& box, std::int64_t i, std::int64_t number) const {
    const Strip& strip = arrays_.strips[number];
    if (kRivals && strip.decided == strip.end) return kNone;
    const std::int64_t slot = first_hit(box, kRivals ? round_down(strip.decided, kPad) : strip.begin, strip.end);
    return slot < 0 || (kRivals && arrays_.ranks[slot] >= i) ? kNone : arrays_.ranks[slot];
  }

  /// The first of slots [begin, end), in whole vectors, that suppresses the box, -1 for none.
  HWY_INLINE std::int64_t first_hit(const Lanes& box, std::int64_t begin, std::int64_t end) const {
    const D d;
    const auto threshold = hn::Set(d, threshold_), offset = hn::Set(d, offset_), low = hn::Set(d, low_threshold_);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t i = begin; i < end; i += lanes) {
      const Lanes others = Lanes::of(d, arrays_.kept, i);
      const auto shared = Kind::shared(d, box, others, offset);
      const auto whole = hn::Sub(hn::Add(box[Kind::kArea], others[Kind::kArea]), shared);
      const auto much = hn::And(hn::Gt(shared, hn::Zero(d)), hn::Ge(shared, hn::Mul(low, whole)));
      if (limited_ && hn::AllFalse(d, much)) continue;
      const auto iou = hn::Div(shared, whole);
      const std::intptr_t lane = hn::FindFirstTrue(d, kFirst ? hn::Ge(iou, threshold) : hn::Gt(iou, threshold));
      if (lane >= 0) return i + lane;
    }
    return -1;
  }

  A offset_, threshold_;
  A low_threshold_;  ///< a little less: what shares less than that much has no quotient above the threshold
  bool limited_;

 protected:
  StripKey<A> key_;
  std::int64_t strips_;
};

template <class A, bool kFirst>
class Sweep : StripSearch<A, kFirst> {
 public:
  Sweep(const Context& context, const mluopsCall& call, const mluopsNmsShape& s, SweepArrays<A>& arrays)
      : StripSearch<A, kFirst>(s, arrays), context_(context), call_(call), size_(arrays.order.size()) {}

  /// Gives every box its owner, the rank of a box that suppresses it, or kNone where it is kept, and lists the ranks of
  /// those kept in arrays.keepers. Returns how many these are. Ends early when they are max_kept: boxes behind the last
  /// of them have no owner then.
  std::int64_t run(std::int64_t max_kept) {
    max_kept_ = max_kept;
    lay_out_strips();
    const std::int64_t first = first_block();
    const bool alone = size_ <= 2 * first || Loop(context_, call_, size_, box_ns()).slots() == 1;
    one_by_one(alone ? size_ : first);
    for (std::int64_t i = first; !alone && i < size_ && kept_ < max_kept_;) {
      const std::int64_t end = std::min(size_, i + i / 2);
      block(i, end);
      i = end;
    }
    return kept_;
  }

 private:
  using StripSearch<A, kFirst>::arrays_;
  using StripSearch<A, kFirst>::key_;
  using StripSearch<A, kFirst>::strips_;

  /// Boxes before the first block: the loops of one cost more CPU time than its boxes one by one, so it is long enough
  /// to repay them.
  std::int64_t first_block() const {
    constexpr std::int64_t kLeast = 1024;
    return std::max(kLeast, static_cast<std::int64_t>(2 * cost::kOneOfMany / box_ns()));
  }

  // ---- strips ----

  std::int32_t strip_of(std::int64_t i) const {
    if (strips_ == 1) return 0;
    return static_cast<std::int32_t>(spatial::range_of(arrays_.strips, strips_, key_.of(i), &Strip::low));
  }

  void cut_strips() {
    const Sample sample = key_.choose(context_, call_, sample_of(size_), arrays_.samples);
    if (sample.drawn == 0) strips_ = 1;
    for (std::int64_t strip = 0; strip < strips_; ++strip)
      arrays_.strips[strip].low = sample.keys[strip * sample.drawn / strips_];
    share_near_ = sample.share_near;
  }

  void lay_out_strips() {
    if (strips_ > 1) cut_strips();
    const Loop loop(context_, call_, size_, 5 * cost::kStep);
    std::fill_n(arrays_.counts, loop.slots() * strips_, std::int64_t{0});
    loop.run([&](std::int64_t first, std::int64_t last, int slot) {
      for (std::int64_t i = first; i < last; ++i) {
        arrays_.strip[i] = key_.meets_others(i) ? strip_of(i) : kNone;
        if (arrays_.strip[i] != kNone) ++arrays_.counts[slot * strips_ + arrays_.strip[i]];
      }
    });
    std::int64_t place = 0;
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      arrays_.strips[strip].begin = arrays_.strips[strip].end = place;
      for (int slot = 0; slot < loop.slots(); ++slot) place += arrays_.counts[slot * strips_ + strip];
      place = round_up(place, kPad);
    }
  }

  /// Behind the kept boxes of its strip. Begins each vector as an empty one.
  void put(std::int64_t i) {
    const std::int64_t slot = arrays_.strips[arrays_.strip[i]].end++;
    if (slot % kPad == 0) arrays_.kept.clear(slot, slot + kPad);
    arrays_.kept.copy(slot, arrays_.boxes, i);
    arrays_.ranks[slot] = static_cast<std::int32_t>(i);
    arrays_.slot[i] = static_cast<std::int32_t>(slot);
  }

  // ---- order ----

  void list(std::int64_t i) { arrays_.keepers[kept_++] = static_cast<std::int32_t>(i); }

  void one_by_one(std::int64_t end) {
    for (std::int64_t i = 0; i < end && kept_ < max_kept_; ++i) {
      arrays_.owner[i] = this->template owner_of<false>(i);
      if (arrays_.owner[i] != kNone) continue;
      list(i);
      if (arrays_.strip[i] != kNone) put(i);
    }
  }

  /// Nanoseconds to look for a box's owner.
  double box_ns() const {
    const double strips = static_cast<double>(strips_), boxes = static_cast<double>(size_) / 2;
    return 15 * cost::kStep + share_near_ * (strips * cost::kStep + boxes * Upright<A>::kPairCost);
  }

  /// Boxes [first, last) at once; each waits for those of its own block in settle().
  void block(std::int64_t first, std::int64_t last) {
    const std::int64_t n = gather(first, last);
    each(n, [&](std::int64_t i) { arrays_.owner[i] = this->template owner_of<false>(i); });
    for (std::int64_t strip = 0; strip < strips_; ++strip) arrays_.strips[strip].decided = arrays_.strips[strip].end;
    for (std::int64_t k = 0; k < n; ++k) {
      if (arrays_.owner[arrays_.members[k]] == kNone) put(arrays_.members[k]);
    }
    each(n, [&](std::int64_t i) {
      if (arrays_.owner[i] == kNone) arrays_.owner[i] = this->template owner_of<true>(i);
    });
    settle(first, last);
  }
  /// Lists those of boxes [first, last) that meet others strip by strip: neighbours look into the same strips.
  std::int64_t gather(std::int64_t first, std::int64_t last) {
    std::fill_n(arrays_.counts, strips_, std::int64_t{0});
    for (std::int64_t i = first; i < last; ++i) {
      arrays_.owner[i] = kNone;
      if (arrays_.strip[i] != kNone) ++arrays_.counts[arrays_.strip[i]];
    }
    std::int64_t n = 0;
    for (std::int64_t strip = 0; strip < strips_; ++strip) n += std::exchange(arrays_.counts[strip], n);
    for (std::int64_t i = first; i < last; ++i) {
      if (arrays_.strip[i] != kNone) arrays_.members[arrays_.counts[arrays_.strip[i]]++] = static_cast<std::int32_t>(i);
    }
    return n;
  }
  template <class Body>
  void each(std::int64_t n, const Body& body) const {
    Loop(context_, call_, n, box_ns()).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t k = begin; k < end; ++k) body(arrays_.members[k]);
    });
  }

  /// Takes those out of the strips that fall to one of their own block.
  void settle(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last && kept_ < max_kept_; ++i) {
      std::int32_t& owner = arrays_.owner[i];
      if (owner >= first && arrays_.owner[owner] != kNone) owner = this->template owner_of<true>(i);
      if (owner == kNone) list(i);
      if (owner >= first) arrays_.kept.clear(arrays_.slot[i], arrays_.slot[i] + 1);
    }
  }

  const Context& context_;
  const mluopsCall& call_;
  std::int64_t size_, max_kept_ = 0, kept_ = 0;
  double share_near_ = 1;
};

}  // namespace mluops::cpu::nms::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
