// The owner of lines of pixels (border_align backward): sums what borders give to them and writes grad_input.
#if defined(MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_
#else
#define MLUOPS_CPU_BORDER_ALIGN_OWNER_INL_H_
#endif

#include "backends/cpu/kernels/border_align/avx512/short_lines-inl.h"
#include "backends/cpu/kernels/border_align/line_sums-inl.h"
#include "backends/cpu/kernels/border_align/lines.h"
#include "backends/cpu/kernels/border_align/scatter_terms-inl.h"
#include "backends/cpu/simd/prefetch.h"
#include "backends/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::border_align::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

/// The first n channels of additions count; the others go to sums that nobody reads.
template <class A>
HWY_INLINE void add_terms(const ScatterTerms<A>& additions, const A* weights, std::int64_t n, A* HWY_RESTRICT sums) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(A) == 4) {
    if (n > kBlock / 4) return add_all(additions, weights, sums);
  }
#endif
  add_some(additions, weights, n, sums);
}

/// For the last rows there are, behind which nothing may be read.
template <class T, class A = Acc<T>>
HWY_NOINLINE void prepare_last(const ScatterAddresses<T>& prepare, const LineBorder<A>& border, const T* grad_output,
                               const std::int32_t* argmax, std::int64_t n, ScatterTerms<A>& to) {
  T gradient[kBlock] = {};
  std::int32_t index[kBlock] = {};
  std::copy_n(grad_output, n, gradient);
  std::copy_n(argmax, n, index);
  prepare(border, gradient, index, to);
}

/// Some lines of the borders of all images, and all that is added to them.
template <class T>
class LineAccumulator {
  using A = Acc<T>;
  static constexpr std::int64_t kCacheLine = 64 / sizeof(T);
  static constexpr std::int64_t kPrefetchBoxes = 16;
  /// Channels of a line that leave together.
  static constexpr std::int64_t kWriteChannels = std::max<std::int64_t>(kCacheLine, kBlock);

 public:
  LineAccumulator(const mluopsBorderAlignBackwardProblem& p, const BackwardArrays<A>& arrays, int slot,
                  bool non_temporal)
      : p_(p),
        s_(p.shape),
        sorted_(arrays.lines),
        chunks_(p.shape),
        sums_(arrays.sums + slot * chunks_.sums(s_)),
        room_(arrays.group + slot * (kGroup + kPrefetchTerms)),
        non_temporal_(non_temporal),
        lines_(sums_, non_temporal) {}

  /// Works on tensors of one image with borders placed before: in the order of the buckets, with kPrefetchTerms behind
  /// the last one.
  void take_image(std::int64_t image, const LineBorder<A>* placed) {
    image_ = image;
    placed_ = placed;
  }
  /// Prefetches this with each line.
  void prefetch(PrefetchStream gradient, PrefetchStream index) {
    gradient_ = gradient;
    index_ = index;
  }

  /// Lines [begin, end). The line before is summed again, for what it gives to the first one.
  void run(std::int64_t begin, std::int64_t end) {
    for (first_ = 0; first_ < s_.c; first_ += chunks_.chunk) {
      channels_ = std::min(chunks_.chunk, s_.c - first_);
      carried_ = false;
      if (begin % Lines(s_).each != 0 && !sorted_[begin - 1].empty()) own(begin - 1, false);
      for (std::int64_t line = begin; line < end; ++line) {
        gradient_.step();
        index_.step();
        own(line, true);
      }
    }
  }

 private:
  /// Whether a group of borders is the first of its line, and the last.
  struct GroupPlace {
    bool first, last;
  };

  void own(std::int64_t index, bool write) {
    const std::int64_t each = Lines(s_).each, line = index % each, which = index / each;
    const BorderAxes axes(s_, which % 2 == 0);
    if (line >= axes.lines) return;
    T* const image = static_cast<T*>(p_.grad_input) + (which / 4 - image_) * s_.h * s_.w * 4 * s_.c;
    T* const out = write ? image + which % 4 * s_.c + first_ + line * axes.line_pitch : nullptr;
    const auto rows = sorted_[index];
    if (rows.empty() && !carried_) {
      if (write) lines_.write_zeros(axes, channels_, out);
      return;
    }
    if (!carried_ && !is_short(axes)) {
      std::fill_n(sums_, round_up(channels_, kWriteChannels) * ChannelChunks<A>::pitch(axes.length), A{0});
    }
    add_rows(rows, axes, out);
    carried_ = !rows.empty() && line + 1 < axes.lines;
  }

  /// Adds what the borders of a line give to it and writes it.
  void add_rows(std::span<const std::int64_t> rows, const BorderAxes& axes, T* out) {
    const auto all = static_cast<std::int64_t>(rows.size());
    const std::int64_t row_bytes = channels_ * static_cast<std::int64_t>(sizeof(T) + 4);
    std::int64_t most = std::clamp(group_bytes() / row_bytes, std::int64_t{1}, kGroup);
    if (is_short(axes)) most = ShortLines<T>::kBorders;
    const std::int64_t groups = std::max(ceil_div(all, most), std::int64_t{1});
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t begin = all * i / groups, end = all * (i + 1) / groups;
      const GroupPlace place = {i == 0, i + 1 == groups};
      if (placed_ != nullptr) {
        group_ = placed_ + (rows.data() + begin - sorted_.all().data());
      } else {
        place_borders(rows.data() + begin, end - begin, axes);
      }
      if constexpr (kShortLines<T>) {
        if (is_short(axes)) {
          add_to_short_line(end - begin, axes, place, out);
          continue;
        }
      }
      add_group(end - begin, axes, place, out);
    }
  }

  bool is_short(const BorderAxes& axes) const { return kShortLines<T> && ShortLines<T>::fits(s_, axes.length); }

  /// Adds a group of borders to a line of few pixels. Of half, a cache line for a non-temporal store is complete only
  /// after two blocks.
  void add_to_short_line(std::int64_t count, const BorderAxes& axes, GroupPlace which, T* out) {
    const ShortLines<T> line(s_, group_, count, axes.length);
    const LineState state = {which.first && !carried_, which.first, which.last};
    const bool staged = non_temporal_ && sizeof(T) < sizeof(A);
    alignas(64) T stage[ShortLines<T>::kPixels * kWriteChannels];
    for (std::int64_t c = 0; c < channels_; c += kBlock) {
      T* const to = out == nullptr ? nullptr : staged ? stage + c % kWriteChannels : out + c;
      const LineOutput<T> output = {to, staged ? kWriteChannels : axes.pixel_pitch, axes.length,
                                    non_temporal_ && !staged};
      line.add(static_cast<const T*>(p_.grad_output) + origin() + c, p_.argmax + origin() + c, state,
               sums_ + c * ChannelChunks<A>::pitch(axes.length), output);
      if (!staged || to == nullptr || !which.last || (c + kBlock) % kWriteChannels != 0) continue;
      for (std::int64_t i = 0; i < axes.length; ++i) {
        copy_lines_non_temporal<64>(stage + i * kWriteChannels,
                                    out + c + kBlock - kWriteChannels + i * axes.pixel_pitch);
      }
    }
  }

  /// While a group is summed, the rows of the next one come into the second cache.
  void add_group(std::int64_t count, const BorderAxes& axes, GroupPlace which, T* out) {
    const std::int64_t pitch = ChannelChunks<A>::pitch(axes.length);
    const ScatterAddresses<T> prepare(s_, axes.length, pitch);
    for (std::int64_t first = 0; first < channels_; first += kWriteChannels) {
      const std::int64_t n = std::min(kWriteChannels, channels_ - first);
      for (std::int64_t c = first; c < first + n && count > 0; c += kBlock) {
        if (first + n - c >= kBlock) {
          add_block<true>(prepare, count, c, kBlock, sums_ + c * pitch);
        } else {
          add_block<false>(prepare, count, c, first + n - c, sums_ + c * pitch);
        }
      }
      if (which.last) lines_.take_line(axes, first, n, out);
    }
  }

  /// Fills in the group, with its last border again behind it.
  void place_borders(const std::int64_t* rows, std::int64_t count, const BorderAxes& axes) {
    const auto all = sorted_.all();
    const std::int64_t left = all.data() + all.size() - rows;
    const auto row = [&](std::int64_t i) { return rows[std::min(i, left - 1)]; };
    for (std::int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(static_cast<const T*>(p_.boxes) + row(i + kPrefetchBoxes) / 4 * 4);
      room_[i] = place_border<T>(s_, p_.boxes, rows[i], axes.lines, element(rows[i]), element(row(count + i)));
    }
    if (count > 0) std::fill_n(room_ + count, kPrefetchTerms, room_[count - 1]);
    group_ = room_;
  }

  /// Borders placed here begin at the first channel of the chunk, those placed before at the first of all.
  std::int64_t origin() const { return placed_ != nullptr ? first_ : 0; }
  std::int64_t element(std::int64_t row) const { return row * s_.c + first_; }

  /// n channels from c on, of all borders of the group. Where a block is not whole, it reads on into the next row.
  template <bool kWhole>
  HWY_NOINLINE void add_block(const ScatterAddresses<T>& preparer, std::int64_t count, std::int64_t c, std::int64_t n,
                              A* HWY_RESTRICT sums) {
    constexpr int kRing = 2 * kPrepared;
    const ScatterAddresses<T> prepare = preparer;  // a copy: nobody else writes to it
    const LineBorder<A>* const group = group_;
    const T* const gradient = static_cast<const T*>(p_.grad_output) + origin() + c;
    const std::int32_t* const index = p_.argmax + origin() + c;
    const std::int64_t end = s_.n * s_.k * 4 * s_.c - c - kBlock;
    ScatterTerms<A> ring[kRing];
    const auto fill = [&](std::int64_t i) HWY_ATTR {
      const std::int64_t at = group[i].at;
      if (kWhole || at <= end) {
        prepare(group[i], gradient + at, index + at, ring[i % kRing]);
      } else {
        prepare_last(prepare, group[i], gradient + at, index + at, n, ring[i % kRing]);
      }
    };
    for (int i = 0; i < kPrepared; ++i) fill(i);
    for (std::int64_t i = 0; i < count; ++i) {
      prefetch_terms(gradient, index, group, i);
      fill(i + kPrepared);
      add_terms(ring[i % kRing], group[i].weights, kWhole ? kBlock : n, sums);
    }
  }

  const mluopsBorderAlignBackwardProblem& p_;
  const Shape& s_;
  const Buckets& sorted_;
  const ChannelChunks<A> chunks_;
  A* const sums_;
  LineBorder<A>* const room_;
  const LineBorder<A>* placed_ = nullptr;
  std::int64_t image_ = 0;
  PrefetchStream gradient_{static_cast<const T*>(nullptr), 0, 1}, index_ = gradient_;
  const LineBorder<A>* group_ = nullptr;
  const bool non_temporal_;
  LineSums<T> lines_;

  std::int64_t first_ = 0, channels_ = 0;  // of the chunk
  bool carried_ = false;                   // whether the sums hold something for the line that comes
};

}  // namespace mluops::cpu::border_align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
