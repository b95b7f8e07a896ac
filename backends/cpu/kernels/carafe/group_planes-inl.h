// CARAFE in NCHW where a group has few channels: vectors of neighbouring output pixels of a plane.
//
// A task owns some input rows of a group and their output rows. Rows of the map are widened first: each pixel `scale`
// times, between `radius` pixels of room, so that output pixel x finds the pixel under tap (i, j) at x + j * scale of
// row i of its window. Two flops on two loads, one of them of a mask that is read once where a group has one channel:
// bound by memory then.
#if defined(MLUOPS_CPU_CARAFE_GROUP_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_CARAFE_GROUP_PLANES_INL_H_
#else
#define MLUOPS_CPU_CARAFE_GROUP_PLANES_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/carafe/geometry.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/path.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::carafe::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

inline std::int64_t group_channels(const Shape& s) {
  return s.c / s.group;
}

/// Input rows of a group of an image.
struct GroupRows {
  std::int64_t n, group;
  Range rows;
};

/// The groups cut into so few rows that all threads have work and a task's stay in the second-level cache.
class GroupBands {
 public:
  GroupBands(const Shape& s, int threads, std::int64_t bytes_of_sum) : shape_(s) {
    const std::int64_t row = group_channels(s) * wide_pitch(s) * bytes_of_sum, groups = s.n * s.group;
    const std::int64_t fitting = second_cache(24) / row - 2 * radius(s), wanted = ceil_div(2 * threads, groups);
    rows_ = std::clamp(std::min(fitting, s.h / wanted), std::min<std::int64_t>(s.h, 2 * s.kernel), s.h);
    bands_ = ceil_div(s.h, rows_);
  }

  std::int64_t count() const { return shape_.n * shape_.group * bands_; }
  std::int64_t rows() const { return rows_; }
  GroupRows at(std::int64_t item) const {
    const std::int64_t group = item / bands_, first = item % bands_ * rows_;
    return {group / shape_.group, group % shape_.group, {first, std::min(shape_.h, first + rows_)}};
  }
  static std::int64_t wide_pitch(const Shape& s) { return (s.w + 2 * radius(s)) * s.scale; }

 private:
  const Shape& shape_;
  std::int64_t rows_, bands_;
};

/// Widened rows of all channels of a group.
template <class A>
class WideRows {
 public:
  WideRows(const Shape& s, std::int64_t rows, Allocator& allocator)
      : s_(s),
        rows_(rows),
        pitch_(GroupBands::wide_pitch(s)),
        sums_(allocator.allocate<A>(group_channels(s), rows, pitch_)) {}

  /// The rows of the map that are meant from now on; all are 0.
  void clear(Range rows) {
    first_ = rows.begin;
    std::fill_n(sums_, group_channels(s_) * rows_ * pitch_, A{0});
  }
  /// Places before the first pixel.
  std::int64_t room() const { return radius(s_) * s_.scale; }
  A* row(std::int64_t channel, std::int64_t row) const { return sums_ + (channel * rows_ + row - first_) * pitch_; }

  /// Reads rows of the map; `planes` is where the first channel of the group begins.
  template <class T>
  void widen(const T* planes, Range rows) {
    clear(rows);
    for (std::int64_t c = 0; c < group_channels(s_); ++c) {
      for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        const T* const from = planes + (c * s_.h + y) * s_.w;
        A* to = row(c, y) + room();
        for (std::int64_t x = 0; x < s_.w; ++x, to += s_.scale) std::fill_n(to, s_.scale, to_acc(from[x]));
      }
    }
  }
  /// The sums of the `scale` places of each pixel.
  void narrow(const A* from, A* to) const {
    from += room();
    for (std::int64_t x = 0; x < s_.w; ++x, from += s_.scale) {
      to[x] = from[0];
      for (std::int64_t i = 1; i < s_.scale; ++i) to[x] += from[i];
    }
  }

 private:
  const Shape& s_;
  std::int64_t rows_, pitch_, first_ = 0;
  A* sums_;
};

/// The lanes of a vector from element `at` on that are in [begin, end).
template <class D>
HWY_INLINE hn::Mask<D> lanes_in(D d, std::int64_t at, std::int64_t begin, std::int64_t end) {
  constexpr auto kMost = static_cast<std::int64_t>(hn::MaxLanes(d));
  const auto first = [d, at, kMost](std::int64_t from) {
    return hn::FirstN(d, static_cast<std::size_t>(std::clamp<std::int64_t>(from - at, 0, kMost)));
  };
  return hn::AndNot(first(begin), first(end));
}

/// visit(tap, target, x, shift) for each tap of the output rows over input row `row`: output pixels x have it on row
/// `target` of `targets`, `shift` elements further in a widened row. No x where it is off them.
template <class Visit>
HWY_INLINE void for_taps(const Shape& s, std::int64_t row, Range targets, Visit&& visit) {
  const Range on_rows = taps_into(s, row, targets);
  for (std::int64_t i = 0; i < s.kernel; ++i) {
    const bool on_row = i >= on_rows.begin && i < on_rows.end;
    for (std::int64_t j = 0; j < s.kernel; ++j) {
      const std::int64_t begin = std::clamp<std::int64_t>(radius(s) - j, 0, s.w);
      const std::int64_t end = on_row ? std::clamp<std::int64_t>(s.w + radius(s) - j, begin, s.w) : begin;
      visit(i * s.kernel + j, row + i - radius(s), Range{begin * s.scale, end * s.scale}, j * s.scale);
    }
  }
}

/// Where planes of a group begin.
struct GroupOf {
  std::int64_t pixels, input, output, mask;  ///< pixels of the output; elements before the group's first plane

  GroupOf(const Shape& s, const GroupRows& at)
      : pixels(s.ho * s.wo),
        input((at.n * s.c + at.group * group_channels(s)) * s.h * s.w),
        output((at.n * s.c + at.group * group_channels(s)) * pixels),
        mask((at.n * s.group + at.group) * taps(s) * pixels) {}
};

template <class T>
class GroupForward {
 public:
  using A = Acc<T>;
  using Problem = mluopsCarafeForwardProblem;

  GroupForward(Allocator& allocator, const Problem& p, const GroupBands& bands)
      : p_(p), s_(p.shape), input_(s_, bands.rows() + 2 * radius(s_), allocator) {}

  void run(const GroupRows& at) {
    const GroupOf of(s_, at);
    const Range under = at.rows.widened(radius(s_), s_.h);
    const T* const input = static_cast<const T*>(p_.input) + of.input;
    input_.widen(input, under);
    for (std::int64_t row = at.rows.begin; row < at.rows.end; ++row) {
      for (std::int64_t y = row * s_.scale; y < (row + 1) * s_.scale; ++y) run_row(of, row, y);
    }
  }

 private:
  void run_row(const GroupOf& of, std::int64_t row, std::int64_t y) {
    const std::int64_t border = radius(s_) * s_.scale;
    const T* const mask = static_cast<const T*>(p_.mask) + of.mask + y * s_.wo;
    T* const out = static_cast<T*>(p_.output) + of.output + y * s_.wo;
    for (std::int64_t c = 0; c < group_channels(s_); ++c) {
      for_lanes<A>(s_.wo, [&](auto d, std::int64_t x) HWY_ATTR {
        const bool inside = x >= border && x + static_cast<std::int64_t>(hn::Lanes(d)) <= s_.wo - border;
        const auto sum =
            inside ? window<true>(d, row, c, x, mask + x, of.pixels) : window<false>(d, row, c, x, mask + x, of.pixels);
        store(sum, d, out + c * of.pixels + x);
      });
    }
  }

  /// Output pixels from x on; their masks lie `tap` elements apart. Where they are not `inside`, masks of taps that are
  /// off the map are taken for 0.
  template <bool inside, class D>
  HWY_INLINE hn::Vec<D> window(D d, std::int64_t row, std::int64_t c, std::int64_t x, const T* mask,
                               std::int64_t tap) const {
    const Range rows = taps_into(s_, row, {0, s_.h});
    const std::int64_t room = input_.room();
    auto sum = hn::Zero(d);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const A* in = input_.row(c, row + i - radius(s_)) + x;
      const T* weights = mask + i * s_.kernel * tap;
      for (std::int64_t j = 0; j < s_.kernel; ++j, in += s_.scale, weights += tap) {
        auto weight = load(d, weights);
        if constexpr (!inside) weight = hn::IfThenElseZero(lanes_in(d, x + j * s_.scale, room, room + s_.wo), weight);
        sum = hn::MulAdd(weight, hn::LoadU(d, in), sum);
        __builtin_prefetch(weights + s_.wo, 0, 2);  // of the next row
      }
    }
    return sum;
  }

  const Problem& p_;
  const Shape& s_;
  WideRows<A> input_;
};

/// Adds to grad_input in the order of source rows and taps, so the bits do not depend on how the map is cut.
template <class T>
class GroupBackward {
 public:
  using A = Acc<T>;
  using Problem = mluopsCarafeBackwardProblem;

  GroupBackward(Allocator& allocator, const Problem& p, const GroupBands& bands)
      : p_(p),
        s_(p.shape),
        input_(s_, bands.rows() + 2 * radius(s_), allocator),
        gradient_(s_, bands.rows(), allocator),
        narrow_(allocator.allocate<A>(s_.w)) {}

  void run(const GroupRows& at) {
    const GroupOf of(s_, at);
    const Range around = at.rows.widened(radius(s_), s_.h);
    const T* const input = static_cast<const T*>(p_.input) + of.input;
    input_.widen(input, around);
    gradient_.clear(at.rows);
    for (std::int64_t row = around.begin; row < around.end; ++row) {
      const bool own = row >= at.rows.begin && row < at.rows.end;
      for (std::int64_t y = row * s_.scale; y < (row + 1) * s_.scale; ++y) {
        if (own) grad_mask(of, row, y);
        grad_input(of, at.rows, row, y);
      }
    }
    write(of, at.rows);
  }

 private:
  const T* grad_output(const GroupOf& of, std::int64_t c, std::int64_t y) const {
    return static_cast<const T*>(p_.grad_output) + of.output + c * of.pixels + y * s_.wo;
  }

  void grad_mask(const GroupOf& of, std::int64_t row, std::int64_t y) {
    T* const to = static_cast<T*>(p_.grad_mask) + of.mask + y * s_.wo;
    for_taps(s_, row, {0, s_.h}, [&](std::int64_t tap, std::int64_t target, Range x, std::int64_t shift) HWY_ATTR {
      T* const out = to + tap * of.pixels;
      std::fill(out, out + x.begin, T{});
      std::fill(out + x.end, out + s_.wo, T{});
      for_lanes<A>(x.size(), [&](auto d, std::int64_t i) HWY_ATTR {
        i += x.begin;
        auto sum = hn::Zero(d);
        for (std::int64_t c = 0; c < group_channels(s_); ++c)
          sum = hn::MulAdd(load(d, grad_output(of, c, y) + i), hn::LoadU(d, input_.row(c, target) + shift + i), sum);
        store(sum, d, out + i);
      });
    });
  }

  /// What the output pixels of row y give to input rows `targets`.
  void grad_input(const GroupOf& of, Range targets, std::int64_t row, std::int64_t y) {
    const T* const mask = static_cast<const T*>(p_.mask) + of.mask + y * s_.wo;
    for_taps(s_, row, targets, [&](std::int64_t tap, std::int64_t target, Range x, std::int64_t shift) HWY_ATTR {
      const T* const weights = mask + tap * of.pixels;
      prefetch<2>(weights + s_.wo + x.begin, x.size());
      for (std::int64_t c = 0; c < group_channels(s_) && x.size() > 0; ++c) {
        const T* const gradient = grad_output(of, c, y);
        A* const sums = gradient_.row(c, target) + shift;
        for_lanes<A>(x.size(), [&](auto d, std::int64_t i) HWY_ATTR {
          i += x.begin;
          hn::StoreU(hn::MulAdd(load(d, weights + i), load(d, gradient + i), hn::LoadU(d, sums + i)), d, sums + i);
        });
      }
    });
  }

  void write(const GroupOf& of, Range rows) {
    T* const to = static_cast<T*>(p_.grad_input) + of.input;
    for (std::int64_t c = 0; c < group_channels(s_); ++c) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        gradient_.narrow(gradient_.row(c, row), narrow_);
        store_row(narrow_, to + (c * s_.h + row) * s_.w, s_.w);
      }
    }
  }

  const Problem& p_;
  const Shape& s_;
  WideRows<A> input_, gradient_;
  A* narrow_;
};

/// Task is GroupForward<T> or GroupBackward<T>.
template <class Task, class Problem>
mluOpStatus_t by_group_planes(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const GroupBands bands(s, call.threads, sizeof(typename Task::A));
  const double work = static_cast<double>(group_channels(s) * bands.rows() * phases(s) * s.w * taps(s));
  const Loop loop(context, call, bands.count(), 2 * cost::kElement * work);
  const auto tasks = allocate<SlotScratch<Task>>(context.arena, loop.slots(), p, bands);
  if (!tasks) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    Task task = tasks->of(slot, p, bands);
    for (std::int64_t item = begin; item < end; ++item) task.run(bands.at(item));
  });
  return MLUOP_STATUS_SUCCESS;
}

/// With as few channels in a group as a vector has parts of `kPart` lanes, or fewer.
template <class T, int kPart, class Problem>
Fit few_group_channels(const Context&, const mluopsCall&, const Problem& p) {
  return fit(p.layout == MLUOP_LAYOUT_NCHW, kPart * group_channels(p.shape) <= kLanes<Acc<T>>);
}

}  // namespace mluops::cpu::carafe::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
