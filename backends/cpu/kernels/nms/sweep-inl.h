// The sweep of hard suppression: each box, best score first, is kept or belongs to a better box that was kept.
//
// Kept boxes lie in strips of a key (strip_key-inl.h), each about as full as the others, and a box is compared with
// those in the strips that near, a vector of them at a time. By one thread: each box waits for those before it. By
// several, in blocks, each as long as all before it. All boxes of a block look at once for one kept before the block
// that suppresses them. Those left are rivals. They lie strip by strip in a list of the block, and each looks at once
// for a rival before it that suppresses it: near strips are one piece of this list. Then one thread goes through the
// block in order: a box whose rival was kept falls, one whose rival fell looks for another. The rivals that are kept go
// into the strips. Both forms decide the same.
#if defined(MLUOPS_CPU_NMS_SWEEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_NMS_SWEEP_INL_H_
#else
#define MLUOPS_CPU_NMS_SWEEP_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/kernels/nms/boxes.h"
#include "backends/cpu/kernels/nms/strip_key-inl.h"
#include "backends/cpu/simd/bits-inl.h"
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
  return std::min(boxes, 2 * strips_of(boxes));
}

/// Slots of the strips for so many boxes.
inline std::int64_t slots_of(std::int64_t boxes) {
  return boxes + strips_of(boxes) * kPad;
}

/// The most boxes of a block, of so many in all.
inline std::int64_t block_of(std::int64_t boxes) {
  return boxes / 2;
}

/// The kept boxes whose keys are at least `low` and below that of the next strip.
struct Strip {
  double low;
  std::int64_t begin, end;  ///< in the list of kept boxes
};

/// The strips whose kept boxes may suppress a box.
struct Span {
  std::int32_t begin, end;
};

template <class A>
struct SweepArrays {
  spatial::Order<A> order;
  Lists<Upright<A>> boxes;        ///< in this order
  std::int32_t *owner, *keepers;  ///< of each box; ranks of those kept, in order
  Lists<Upright<A>> kept;         ///< strip by strip; whole vectors, the rest of which is empty
  std::int32_t* ranks;            ///< of those kept
  std::int32_t* strip;            ///< of each box, kNone of one that cannot meet others
  hwy::MakeSigned<A>* members;    ///< of a block, strip by strip
  Lists<Upright<A>> rivals;       ///< the members that no kept box suppresses, the others empty
  Span* near;                     ///< of each rival; empty of the other members
  std::int32_t* place;            ///< of each box of the block among its members
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
        strip(allocator.allocate<std::int32_t>(most)),
        members(allocator.allocate<hwy::MakeSigned<A>>(block_of(most) + kPad)),
        rivals(allocator, block_of(most) + kPad),
        near(allocator.allocate<Span>(block_of(most))),
        place(allocator.allocate<std::int32_t>(most)),
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

  /// The owner of box i among those in the strips. If there is none, `near` becomes the strips it could have been in.
  HWY_INLINE std::int32_t owner_of(std::int64_t i, Span& near) const {
    const std::int32_t own = arrays_.strip[i];
    if (own == kNone) return kNone;
    const Lanes box = Lanes::all(D(), arrays_.boxes, i);
    std::int32_t owner = owner_in(box, own);
    near = {own, own + 1};
    if (strips_ == 1) return owner;
    const double key = key_.of(i), far = key_.near(i), low = key - far, high = key + far;
    const auto ended = [&] { return !kFirst && owner != kNone; };
    for (; near.begin > 0 && arrays_.strips[near.begin].low >= low && !ended(); --near.begin) {
      owner = first_of(owner, owner_in(box, near.begin - 1));
    }
    for (; near.end < strips_ && arrays_.strips[near.end].low <= high && !ended(); ++near.end) {
      owner = first_of(owner, owner_in(box, near.end));
    }
    return owner;
  }

  /// The owner of member k of a block among the rivals before it.
  HWY_INLINE std::int32_t rival_of(std::int64_t k) const {
    const D d;
    const hn::RebindToSigned<D> dr;
    const Span near = arrays_.near[k];
    const std::int64_t* const ends = arrays_.counts;
    const std::int64_t begin = near.begin == 0 ? 0 : ends[near.begin - 1], end = ends[near.end - 1];
    const auto rank = hn::Set(dr, arrays_.members[k]);
    const Lanes box = Lanes::all(d, arrays_.rivals, k);
    std::int32_t owner = kNone;
    for (std::int64_t m = round_down(begin, kPad); m < end; m += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto before = hn::RebindMask(d, hn::Lt(hn::LoadU(dr, arrays_.members + m), rank));
      const auto hits = suppressing(box, Lanes::of(d, arrays_.rivals, m), before);
      if (hn::AllFalse(d, hits)) continue;
      for (std::uint32_t bits = bits_of(d, hits); bits != 0; bits &= bits - 1) {
        owner = first_of(owner, static_cast<std::int32_t>(arrays_.members[m + std::countr_zero(bits)]));
        if (!kFirst) return owner;
      }
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
  HWY_INLINE std::int32_t owner_in(const Lanes& box, std::int64_t number) const {
    const D d;
    const Strip& strip = arrays_.strips[number];
    const auto all = hn::FirstN(d, hn::Lanes(d));
    for (std::int64_t i = strip.begin; i < strip.end; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const std::intptr_t lane = hn::FindFirstTrue(d, suppressing(box, Lanes::of(d, arrays_.kept, i), all));
      if (lane >= 0) return arrays_.ranks[i + lane];
    }
    return kNone;
  }

  /// Which of some boxes of a vector suppress the box.
  HWY_INLINE hn::Mask<D> suppressing(const Lanes& box, const Lanes& others, hn::Mask<D> some) const {
    const D d;
    const auto offset = hn::Set(d, offset_);
    const auto shared = Kind::shared(d, box, others, offset);
    const auto whole = hn::Sub(hn::Add(box[Kind::kArea], others[Kind::kArea]), shared);
    const auto low = hn::Mul(hn::Set(d, low_threshold_), whole);
    const auto much = hn::And(some, hn::And(hn::Gt(shared, hn::Zero(d)), hn::Ge(shared, low)));
    if (limited_ && hn::AllFalse(d, much)) return much;
    const auto iou = hn::Div(shared, whole), threshold = hn::Set(d, threshold_);
    return hn::And(some, kFirst ? hn::Ge(iou, threshold) : hn::Gt(iou, threshold));
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
    const std::int64_t two_blocks = 4 * first;  // fewer gain nothing
    const bool alone = size_ <= two_blocks || Loop(context_, call_, size_, box_ns()).slots() == 1;
    one_by_one(alone ? size_ : first);
    for (std::int64_t i = first; !alone && i < size_ && kept_ < max_kept_;) {
      const std::int64_t end = std::min(size_, 2 * i);
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
    constexpr std::int64_t kLeast = 512;
    return std::max(kLeast, static_cast<std::int64_t>(cost::kOneOfMany / box_ns()));
  }

  // ---- strips ----

  /// Finds the strips of boxes [first, last).
  void find_strips(std::int64_t first, std::int64_t last) const {
    constexpr std::int64_t kTogether = 8;
    for (std::int64_t i = first; i < last; i += kTogether) {
      const std::int64_t count = std::min(kTogether, last - i);
      std::array<double, kTogether> keys = {};
      for (std::int64_t k = 0; k < count; ++k) keys[static_cast<std::size_t>(k)] = key_.of(i + k);
      const auto strips = spatial::ranges_of(arrays_.strips, strips_, keys, &Strip::low);
      for (std::int64_t k = 0; k < count; ++k) {
        arrays_.strip[i + k] =
            key_.meets_others(i + k) ? static_cast<std::int32_t>(strips[static_cast<std::size_t>(k)]) : kNone;
      }
    }
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
      find_strips(first, last);
      for (std::int64_t i = first; i < last; ++i) {
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
  }

  // ---- order ----

  void one_by_one(std::int64_t end) {
    for (std::int64_t i = 0; i < end && kept_ < max_kept_; ++i) {
      Span near;
      arrays_.owner[i] = this->owner_of(i, near);
      if (arrays_.owner[i] != kNone) continue;
      arrays_.keepers[kept_++] = static_cast<std::int32_t>(i);
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
    each(n, [&](std::int64_t k) {
      const std::int64_t i = arrays_.members[k];
      arrays_.owner[i] = this->owner_of(i, arrays_.near[k]);
      arrays_.place[i] = static_cast<std::int32_t>(k);
      if (arrays_.owner[i] == kNone) {
        arrays_.rivals.copy(k, arrays_.boxes, i);
      } else {
        fall(k);
      }
    });
    arrays_.rivals.clear(n, round_up(n, kPad));
    each(n, [&](std::int64_t k) {
      if (arrays_.near[k].end == 0) return;
      const std::int32_t owner = this->rival_of(k);
      if (owner != kNone) arrays_.owner[arrays_.members[k]] = owner;
    });
    settle(first, last);
    if (last < size_ && kept_ < max_kept_) put_kept();
  }
  /// Member k is no rival any more.
  void fall(std::int64_t k) {
    arrays_.rivals.clear(k, k + 1);
    arrays_.near[k] = {0, 0};
  }
  void put_kept() {
    const std::int64_t* const ends = arrays_.counts;
    const double strip_ns = 5 * cost::kStep * static_cast<double>(ends[strips_ - 1]) / static_cast<double>(strips_);
    Loop(context_, call_, strips_, strip_ns).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t k = begin == 0 ? 0 : ends[begin - 1]; k < ends[end - 1]; ++k) {
        const std::int64_t i = arrays_.members[k];
        if (arrays_.owner[i] == kNone) put(i);
      }
    });
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
      if (arrays_.strip[i] == kNone) continue;
      arrays_.members[arrays_.counts[arrays_.strip[i]]++] = static_cast<hwy::MakeSigned<A>>(i);
    }
    return n;
  }
  template <class Body>
  void each(std::int64_t n, const Body& body) const {
    Loop(context_, call_, n, box_ns()).run([&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t k = begin; k < end; ++k) body(k);
    });
  }

  /// Takes those out of the rivals that fall to one of their own block.
  void settle(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last && kept_ < max_kept_; ++i) {
      std::int32_t& owner = arrays_.owner[i];
      if (owner >= first && arrays_.owner[owner] != kNone) owner = this->rival_of(arrays_.place[i]);
      arrays_.keepers[kept_] = static_cast<std::int32_t>(i);  // for the moment: nobody could predict which are kept
      kept_ += owner == kNone ? 1 : 0;
      if (owner >= first) fall(arrays_.place[i]);
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
