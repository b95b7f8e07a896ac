// The gradient of value where there are more threads than heads: a task owns some keys of a head of an image, looks for
// the samples of all queries that fall on them, and adds what these give in the order of the queries. Results are
// bitwise equal for every number of threads. Include after foreach_target.h.
#include <algorithm>
#include <bit>

#include "backends/cpu/kernels/ms_deform_attn/samples-inl.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/bits-inl.h"
#include "mluops/problem/ms_deform_attn.h"

#if defined(MLUOPS_CPU_MS_DEFORM_ATTN_VALUE_OWNER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_MS_DEFORM_ATTN_VALUE_OWNER_INL_H_
#else
#define MLUOPS_CPU_MS_DEFORM_ATTN_VALUE_OWNER_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;

using BackwardProblem = mluopsMsDeformAttnBackwardProblem;

/// Where a head of a query has its elements.
struct HeadRow {
  std::int64_t output, sample;

  HeadRow(const Shape& s, std::int64_t row, std::int64_t head)
      : output((row * s.heads + head) * s.channels), sample((row * s.heads + head) * samples_of(s)) {}
};

inline double sample_ns(const Shape& s, double channel_ns) {
  return cost::kStep + 4 * channel_ns * static_cast<double>(s.channels);
}

inline std::int64_t pixels_of(const BackwardProblem& p, std::int64_t level) {
  return std::int64_t{p.spatial_shapes[2 * level]} * p.spatial_shapes[2 * level + 1];
}

/// The keys of a head in bands, of which a task owns one. Samples fall on every level equally often, so each level has
/// equally many bands.
struct Bands {
  std::int64_t per_level;
  std::int32_t* border;  ///< band i: keys [border[i], border[i + 1])
  std::int64_t count = 0;

  Bands(Allocator& allocator, const mluopsCall& call, const Shape& s)
      : per_level(bands_per_level(call, s)), border(allocator.allocate<std::int32_t>(s.levels + 2, per_level + 1)) {}

  void cut(const BackwardProblem& p) {
    std::int32_t* last = border;
    *last++ = 0;
    for (std::int64_t level = 0; level < p.shape.levels; ++level) {
      for (std::int64_t i = 0; i <= per_level; ++i) {
        *last++ = static_cast<std::int32_t>(p.level_start_index[level] + pixels_of(p, level) * i / per_level);
      }
    }
    *last++ = static_cast<std::int32_t>(p.shape.keys);
    std::sort(border, last);
    count = std::unique(border, last) - border - 1;
  }

  /// Most keys of a band on which samples can fall.
  static std::int64_t longest(const mluopsCall& call, const BackwardProblem& p) {
    std::int64_t most = 0;
    for (std::int64_t level = 0; level < p.shape.levels; ++level) most = std::max(most, pixels_of(p, level));
    return std::min(p.shape.keys, ceil_div(most, bands_per_level(call, p.shape)));
  }

 private:
  /// Two tasks for each thread, unless a band's share of a level's samples is too few to look through all of them.
  static std::int64_t bands_per_level(const mluopsCall& call, const Shape& s) {
    constexpr std::int64_t kTasksPerThread = 2, kLeastSamples = 2048;
    const std::int64_t wanted =
        ceil_div(kTasksPerThread * call.threads, std::max<std::int64_t>(1, s.batch * s.heads * s.levels));
    return std::clamp<std::int64_t>(s.queries * s.points / kLeastSamples, 1, wanted);
  }
};

/// A task: keys [begin, end) of a head of an image, and the samples of a query that can fall on them. `whole`: all of
/// these must be looked at; otherwise those on the rows [first_row, end_row) of `width` pixels of one level.
struct HeadPart {
  std::int64_t image, head;
  std::int32_t begin, end;
  std::int64_t first_sample, samples = 0;
  bool whole = true;
  std::int64_t first_row = 0, end_row = 0;

  HeadPart(const BackwardProblem& p, const Bands& bands, std::int64_t task)
      : image(task / bands.count / p.shape.heads),
        head(task / bands.count % p.shape.heads),
        begin(bands.border[task % bands.count]),
        end(bands.border[task % bands.count + 1]),
        first_sample(samples_of(p.shape)) {
    for (std::int64_t level = 0; level < p.shape.levels; ++level) {
      const std::int64_t start = p.level_start_index[level], pixels = pixels_of(p, level);
      if (start >= end || start + pixels <= begin) continue;
      first_sample = std::min(first_sample, level * p.shape.points);
      samples = (level + 1) * p.shape.points - first_sample;
      const std::int64_t width = p.spatial_shapes[2 * level + 1];
      first_row = (begin - start) / width;
      end_row = ceil_div(end - start, width);
      whole = samples > p.shape.points || end - begin == pixels;
    }
  }
};

/// What a thread that owns keys has: samples of several queries, found together.
template <class A>
struct OwnerScratch {
  SampleLevels<A> levels;
  Samples<A> all;    ///< locations and weights of every sample
  Samples<A> found;  ///< those that can fall on the keys
  std::int32_t* query;
  A* sums;

  OwnerScratch(Allocator& allocator, const Shape& s, std::int64_t keys)
      : levels(allocator, most(s)),
        all(allocator, most(s)),
        found(allocator, most(s)),
        query(allocator.allocate<std::int32_t>(most(s))),
        sums(allocator.allocate<A>(keys, s.channels)) {}

  static std::int64_t queries_together(const HeadPart& part) {
    return std::max<std::int64_t>(1, kTogether / part.samples);
  }

 private:
  static constexpr std::int64_t kTogether = 256;
  static std::int64_t most(const Shape& s) { return std::max(kTogether, samples_of(s)); }
};

/// Copies samples from scratch.all to scratch.found, in their order: of the first `count`, each that can fall on the
/// part's rows. Returns how many it copied.
template <class A>
HWY_INLINE std::int64_t choose(const HeadPart& part, std::int64_t count, const OwnerScratch<A>& scratch) {
  const hn::ScalableTag<A> d;
  const auto first = hn::Set(d, static_cast<A>(part.first_row - 1)), end = hn::Set(d, static_cast<A>(part.end_row));
  const Samples<A>&from = scratch.all, &to = scratch.found;
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; i += kLanes<A>) {
    hn::Vec<decltype(d)> x, y;
    hn::LoadInterleaved2(d, from.loc + 2 * i, x, y);
    y = hn::Sub(hn::Mul(y, hn::LoadU(d, scratch.levels.h + i)), hn::Set(d, A{0.5}));
    std::uint32_t on_rows = bits_of(d, hn::And(hn::Ge(y, first), hn::Le(y, end)));
    for (; on_rows != 0; on_rows &= on_rows - 1) {
      const std::int64_t sample = i + std::countr_zero(on_rows);
      if (sample >= count) break;
      to.loc[2 * found] = from.loc[2 * sample];
      to.loc[2 * found + 1] = from.loc[2 * sample + 1];
      to.attn[found] = from.attn[sample];
      scratch.query[found++] = static_cast<std::int32_t>(sample / part.samples);
    }
  }
  return found;
}

/// Finds the samples of the part for queries [row, end); returns how many.
template <class T>
std::int64_t find_samples_of_part(const BackwardProblem& p, const HeadPart& part, std::int64_t row, std::int64_t end,
                                  const OwnerScratch<Acc<T>>& scratch) {
  const Samples<Acc<T>>& to = part.whole ? scratch.found : scratch.all;
  const std::int64_t rows_end = (part.image + 1) * p.shape.queries;
  for (std::int64_t i = 0; row + i < end; ++i) {
    const HeadRow later(p.shape, std::min(end + i, rows_end - 1), part.head);
    prefetch<2>(value_barrier(static_cast<const T*>(p.sampling_loc) + 2 * (later.sample + part.first_sample)),
                2 * part.samples);
    prefetch<2>(value_barrier(static_cast<const T*>(p.attn_weight) + later.sample + part.first_sample), part.samples);
    prefetch<2>(value_barrier(static_cast<const T*>(p.grad_output) + later.output), p.shape.channels);
    const std::int64_t first = HeadRow(p.shape, row + i, part.head).sample + part.first_sample;
    load_row(static_cast<const T*>(p.sampling_loc) + 2 * first, to.loc + 2 * i * part.samples, 2 * part.samples);
    load_row(static_cast<const T*>(p.attn_weight) + first, to.attn + i * part.samples, part.samples);
  }
  const std::int64_t all = (end - row) * part.samples, count = part.whole ? all : choose(part, all, scratch);
  const FullTag<T> d;
  for (std::int64_t i = 0; i < count; i += kLanes<Acc<T>>) find_vector(d, scratch.levels, i, scratch.found);
  return count;
}

/// Adds what the samples found for the queries from `row` on give. kWide: vectors of a head, 0 for any.
template <int kWide, class T>
void add_wide(const BackwardProblem& p, const HeadPart& part, std::int64_t row, std::int64_t count,
              const OwnerScratch<Acc<T>>& scratch) {
  using A = Acc<T>;
  const hn::ScalableTag<A> d;
  const Samples<A>& samples = scratch.found;
  const std::int64_t channels = kWide == 0 ? p.shape.channels : kWide * kLanes<A>;
  const auto keys = static_cast<std::uint32_t>(part.end - part.begin);
  const T* const grads = static_cast<const T*>(p.grad_output) + HeadRow(p.shape, row, part.head).output;
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const grad = grads + scratch.query[i] * p.shape.heads * channels;
    for (int k = 0; k < 4; ++k) {
      const auto key = static_cast<std::uint32_t>(samples.key[k][i] - part.begin);
      if (key >= keys) continue;
      const A weight = samples.weight[k][i] * samples.attn[i];
      A* const sum = scratch.sums + key * channels;
      if constexpr (kWide == 0) {
        axpy(weight, grad, sum, channels);
      } else {
        MLUOPS_UNROLL
        for (int v = 0; v < kWide; ++v) {
          const std::int64_t c = v * kLanes<A>;
          hn::StoreU(hn::MulAdd(hn::Set(d, weight), load(d, grad + c), hn::LoadU(d, sum + c)), d, sum + c);
        }
      }
    }
  }
}

template <class T>
void add_samples(const BackwardProblem& p, const HeadPart& part, std::int64_t row, std::int64_t count,
                 const OwnerScratch<Acc<T>>& scratch) {
  switch (p.shape.channels) {
    case kLanes<Acc<T>>:
      return add_wide<1, T>(p, part, row, count, scratch);
    case 2 * kLanes<Acc<T>>:
      return add_wide<2, T>(p, part, row, count, scratch);
    case 4 * kLanes<Acc<T>>:
      return add_wide<4, T>(p, part, row, count, scratch);
    default:
      return add_wide<0, T>(p, part, row, count, scratch);
  }
}

/// sums[key - begin][channel]: what all queries give to the keys of the part, in their order.
template <class T>
void add_queries(const BackwardProblem& p, const HeadPart& part, const OwnerScratch<Acc<T>>& scratch) {
  std::fill_n(scratch.sums, (part.end - part.begin) * p.shape.channels, Acc<T>{0});
  const std::int64_t together = scratch.queries_together(part);
  scratch.levels.fill(p, part.first_sample, part.first_sample + part.samples, together);
  for (std::int64_t i = 0; i < together * part.samples; ++i) {
    scratch.query[i] = static_cast<std::int32_t>(i / part.samples);
  }
  const std::int64_t rows_end = (part.image + 1) * p.shape.queries;
  for (std::int64_t row = part.image * p.shape.queries; row < rows_end; row += together) {
    const std::int64_t count = find_samples_of_part<T>(p, part, row, std::min(row + together, rows_end), scratch);
    add_samples<T>(p, part, row, count, scratch);
  }
}

/// The gradient of the keys of a part: zeros where no sample can fall.
template <class T>
void value_of_part(const BackwardProblem& p, const HeadPart& part, const OwnerScratch<Acc<T>>& scratch) {
  const Shape& s = p.shape;
  const std::int64_t step = s.heads * s.channels;
  T* const gradient = static_cast<T*>(p.grad_value) + part.image * s.keys * step + part.head * s.channels;
  if (part.samples > 0) add_queries<T>(p, part, scratch);
  for (std::int64_t key = part.begin; key < part.end; ++key) {
    T* const to = gradient + key * step;
    if (part.samples > 0) {
      store_row(scratch.sums + (key - part.begin) * s.channels, to, s.channels);
    } else {
      std::fill_n(to, s.channels, T{});
    }
  }
}

template <class A>
struct OwnerArrays {
  Bands bands;
  SlotScratch<OwnerScratch<A>> scratch;

  OwnerArrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t keys)
      : bands(allocator, call, s), scratch(allocator, call.threads, s, keys) {}
};

template <class T>
bool value_by_owner(Context& context, const mluopsCall& call, const BackwardProblem& p) {
  const Shape& s = p.shape;
  const std::int64_t keys = Bands::longest(call, p);
  auto arrays = allocate<OwnerArrays<Acc<T>>>(context.arena, call, s, keys);
  if (!arrays) return false;
  arrays->bands.cut(p);
  const double task_ns = static_cast<double>(s.queries * samples_of(s)) * sample_ns(s, cost::kMultiplyAdd) /
                         static_cast<double>(arrays->bands.count);
  const Loop loop(context, call, s.batch * s.heads * arrays->bands.count, task_ns);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const OwnerScratch<Acc<T>> scratch = arrays->scratch.of(slot, s, keys);
    for (std::int64_t task = begin; task < end; ++task) value_of_part<T>(p, HeadPart(p, arrays->bands, task), scratch);
  });
  return true;
}

}  // namespace mluops::cpu::ms_deform_attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
