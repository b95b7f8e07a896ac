// Deformable convolution forward with output pixels in the lanes of vectors. Include after foreach_target.h, like
// simd-inl.h.
//
// The filter is read as it lies, in either layout: a row of factors for each output. That suits few pixels, where
// packing the filter costs more than the product, and groups of few outputs, which leave lanes of packed filters empty.
// input [N,H,W,Ci], filter [Co,Kh,Kw,Ci/g] or [Co,Ci/g,Kh,Kw], output [N,Ho,Wo,Co]. A task owns a run of pixels: it
// samples their columns [taps * Ci, width] and makes all outputs. Where there are more threads than runs, or a run's
// columns exceed the second cache, the columns of some runs are sampled first, a tap's slice of channels by each task;
// then a task owns outputs of a run. Blocks of the depth whose columns fit the second cache pass all rows of the
// filter, which is read once for each run.
// Sums are made stripe by stripe, in the same order for every number of threads.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/dcn/samples-inl.h"
#include "backends/cpu/runtime/arena.h"
#include "backends/cpu/runtime/machine.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/panel-inl.h"
#include "mluops/problem/dcn.h"

#if defined(MLUOPS_CPU_DCN_PIXEL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef MLUOPS_CPU_DCN_PIXEL_LANES_INL_H_
#else
#define MLUOPS_CPU_DCN_PIXEL_LANES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::dcn::HWY_NAMESPACE {
using namespace cpu::HWY_NAMESPACE;
namespace lanes {

constexpr std::int64_t kMostPixels = 64, kLeastPixels = 32, kLeastOutputs = 48;
/// Factors whose products are summed before they are added: keeps the rounding of long sums small.
template <class A>
constexpr std::int64_t kStripe = 512 / static_cast<std::int64_t>(sizeof(A));
/// Rows of the filter that are multiplied together; more for columns of few vectors.
constexpr std::int64_t kMostRows = 8;

/// How the work is cut.
struct Plan {
  std::int64_t pixels;          ///< of all images
  std::int64_t depth;           ///< columns of all groups
  std::int64_t run, runs;       ///< pixels of a run, and how many runs
  bool whole;                   ///< a task samples the columns of a run and multiplies them
  std::int64_t width;           ///< of a column: the pixels of a run in whole vectors
  std::int64_t block;           ///< factors of a row that are multiplied before the next row
  std::int64_t together;        ///< runs whose columns are in memory; `whole`: for each slot
  std::int64_t outputs, parts;  ///< outputs that are made together, and how many times that is a run
  std::int64_t slices;          ///< of the channels of a deformable group

  Plan(const Shape& s, int threads, std::int64_t size)
      : pixels(s.batch * out_pixels(s)),
        depth(s.ci * count_taps(s)),
        run(run_for(pixels, threads, depth * size)),
        runs(ceil_div(pixels, run)),
        whole(threads == 1 || (runs >= threads && fits(run, depth * size))),
        width(padded_columns(std::min(pixels, run))),
        block(round_down(std::clamp<std::int64_t>(second_cache(16) / (width * size), 256, 2048), 256)),
        together(whole ? 1 : std::clamp<std::int64_t>(threads * second_cache(32) / (depth * width * size), 1, runs)),
        outputs(std::min(s.co, round_up(ceil_div(s.co * together, 4 * threads), kLeastOutputs))),
        parts(ceil_div(s.co, outputs)),
        slices(ceil_div(s.ci / s.deform_groups, kSliceChannels)) {}

 private:
  static bool fits(std::int64_t pixels, std::int64_t pixel_bytes) { return pixels * pixel_bytes <= second_cache(64); }
  /// Fewer where a thread then has a run of its own, and would not have four of the most pixels.
  static std::int64_t run_for(std::int64_t pixels, int threads, std::int64_t pixel_bytes) {
    const bool enough = pixels >= 4 * threads * kMostPixels && fits(kMostPixels, pixel_bytes);
    const bool fewer = pixels >= threads * kLeastPixels && fits(kLeastPixels, pixel_bytes);
    return threads > 1 && fewer && !enough ? kLeastPixels : kMostPixels;
  }
};

template <class T>
struct Arrays {
  using A = Acc<T>;
  static constexpr bool kWide = !std::is_same_v<T, A>;
  Plan plan;
  T* zeros;    ///< a pixel beyond the map
  A* columns;  ///< [together,depth,width]; `whole`: for each slot
  // One for each slot.
  Tap<A>* taps;  ///< [run]
  A* rows;       ///< samples [width,kSliceChannels]
  A* sums;       ///< [outputs,width]
  A* turned;     ///< sums as [run,outputs], where they are no elements yet
  A* wide;       ///< factors [kMostRows,block] as the type of the sums, where they are not

  Arrays(Allocator& allocator, const Shape& s, const Plan& p, int slots)
      : plan(p),
        zeros(allocator.allocate<T>(s.ci)),
        columns(allocator.allocate<A>(p.whole ? slots : p.together, p.depth, p.width)),
        taps(allocator.allocate<Tap<A>>(slots, p.run)),
        rows(allocator.allocate<A>(slots, p.width, kSliceChannels)),
        sums(allocator.allocate<A>(slots, p.outputs, p.width)),
        turned(allocator.allocate<A>(kWide ? slots : 0, p.run, p.outputs)),
        wide(allocator.allocate<A>(kWide ? slots : 0, kMostRows, p.block)) {}

  A* columns_of(std::int64_t run, int slot) const {
    return columns + (plan.whole ? slot : run % plan.together) * plan.depth * plan.width;
  }
};

/// f(tile, at) for the pixels of a run, image by image; `at` is the tile's first pixel counted in the run.
template <class F>
HWY_INLINE void for_tiles_of_run(const Shape& s, std::int64_t first, std::int64_t count, F&& f) {
  for (std::int64_t at = 0, next = 0; at < count; at = next) {
    const std::int64_t in_image = (first + at) % out_pixels(s);
    next = std::min(count, at + out_pixels(s) - in_image);
    f(Tile{(first + at) / out_pixels(s), in_image, next - at}, at);
  }
}

/// Whether the factors of a filter's row lie tap by tap for each channel.
template <class Problem>
bool has_taps_inside(const Problem& p) {
  return p.filter_is_nchw || group_inputs(p.shape) == 1;
}

/// The samples of a tap, rows [width,kSliceChannels] of channels [first, first + count), to their columns.
template <class A, class Problem>
void put_columns(const Problem& p, std::int64_t width, const A* rows, std::int64_t tap, std::int64_t first,
                 std::int64_t count, A* columns) {
  const Shape& s = p.shape;
  const std::int64_t in = group_inputs(s), taps = count_taps(s);
  if (has_taps_inside(p)) {
    return transpose_panel(rows, kSliceChannels, width, count, columns + (first * taps + tap) * width, taps * width);
  }
  for (std::int64_t c = first, next = 0; c < first + count; c = next) {
    next = std::min(first + count, (c / in + 1) * in);
    A* const to = columns + (c / in * in * taps + tap * in + c % in) * width;
    transpose_panel(rows + (c - first), kSliceChannels, width, next - c, to, width);
  }
}

/// Samples a slice of channels for a tap and the pixels of a run. `item` counts taps and slices.
template <class T, class Problem>
void sample(const Problem& p, const Arrays<T>& arrays, std::int64_t run, std::int64_t item, int slot) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Plan& plan = arrays.plan;
  const std::int64_t tap = item % count_taps(s), slice = item / count_taps(s) % plan.slices;
  const std::int64_t deform_group = item / count_taps(s) / plan.slices, part = s.ci / s.deform_groups;
  const std::int64_t channel = deform_group * part + slice * kSliceChannels;
  const std::int64_t count = std::min(kSliceChannels, (deform_group + 1) * part - channel);
  const std::int64_t first = run * plan.run, pixels = std::min(plan.run, plan.pixels - first);
  A* const rows = arrays.rows + slot * plan.width * kSliceChannels;
  Tap<A>* const taps = arrays.taps + slot * plan.run;
  for_tiles_of_run(s, first, pixels, [&](const Tile& tile, std::int64_t at) HWY_ATTR {
    const T* const image = static_cast<const T*>(p.input) + tile.image * s.h * s.w * s.ci;
    const ImageSlice<T> channels = {image + channel, s.ci, arrays.zeros};
    find_taps<T>(p, tile, deform_group, tap, tap + 1, taps);
    for (std::int64_t i = 0; i < tile.count; ++i) {
      sample_channels(channels, taps[i], 0, count, rows + (at + i) * kSliceChannels);
    }
  });
  std::fill_n(rows + pixels * kSliceChannels, (plan.width - pixels) * kSliceChannels, A{0});
  put_columns(p, plan.width, rows, tap, channel, count, arrays.columns_of(run, slot));
}

/// sums[r][0, width) += factors[r][0, depth) * columns [depth,width].
template <int kRows, class A>
HWY_INLINE void add_rows(const A* const* factors, std::int64_t depth, const A* columns, std::int64_t width, A* sums) {
  const hn::ScalableTag<A> d;
  for_tiles<A>(width, [&](auto vectors, std::int64_t n) HWY_ATTR {
    constexpr int kVectors = decltype(vectors)::value;
    for (std::int64_t first = 0; first < depth; first += kStripe<A>) {
      hn::Vec<decltype(d)> part[kRows][kVectors];
      MLUOPS_UNROLL
      for (int r = 0; r < kRows; ++r) {
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) part[r][v] = hn::Zero(d);
      }
      multiply<A>(
          std::min(kStripe<A>, depth - first), [&](std::int64_t i, int r) HWY_ATTR { return factors[r][first + i]; },
          [&](std::int64_t i) HWY_ATTR { return columns + (first + i) * width + n; }, part);
      MLUOPS_UNROLL
      for (int r = 0; r < kRows; ++r) {
        MLUOPS_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          A* const sum = sums + r * width + n + v * kLanes<A>;
          hn::StoreU(hn::Add(hn::LoadU(d, sum), part[r][v]), d, sum);
        }
      }
    }
  });
}

/// A task's part of the arrays and of the problem: outputs of a run.
template <class T, class Problem>
class Task {
 public:
  using A = Acc<T>;

  Task(const Problem& p, const Arrays<T>& arrays, int slot)
      : p_(p),
        s_(p.shape),
        plan_(arrays.plan),
        arrays_(arrays),
        slot_(slot),
        sums_(arrays.sums + slot * plan_.outputs * plan_.width),
        turned_(arrays.turned + slot * plan_.run * plan_.outputs),
        wide_(arrays.wide + slot * kMostRows * plan_.block) {}

  /// The outputs of one part, for the pixels of a run.
  void run(std::int64_t run, std::int64_t part) const {
    const std::int64_t first = part * plan_.outputs, end = std::min(s_.co, first + plan_.outputs);
    const auto* const bias = static_cast<const T*>(p_.bias);
    for (std::int64_t o = first; o < end; ++o) {
      std::fill_n(sums_ + (o - first) * plan_.width, plan_.width, bias == nullptr ? A{0} : to_acc(bias[o]));
    }
    const A* const columns = arrays_.columns_of(run, slot_);
    for (std::int64_t o = first, next = 0; o < end; o = next) {
      next = std::min(end, (o / group_outputs(s_) + 1) * group_outputs(s_));
      multiply_group(columns + o / group_outputs(s_) * depth() * plan_.width, o, next,
                     sums_ + (o - first) * plan_.width);
    }
    store(run, first, end - first);
  }

 private:
  std::int64_t depth() const { return group_inputs(s_) * count_taps(s_); }

  /// Outputs [first, end) of one group.
  void multiply_group(const A* columns, std::int64_t first, std::int64_t end, A* sums) const {
    constexpr int kWideRows = HWY_TARGET <= HWY_AVX3 ? kMostRows : kMatrixRows;
    const bool narrow = plan_.width <= 2 * kLanes<A>;
    for (std::int64_t k = 0; k < depth(); k += plan_.block) {
      std::int64_t o = first;
      const auto add = [&](auto rows) HWY_ATTR {
        constexpr int kRows = decltype(rows)::value;
        for (; o + kRows <= end; o += kRows) add_block<kRows>(columns, o, k, sums + (o - first) * plan_.width);
      };
      narrow ? add(std::integral_constant<int, kWideRows>()) : add(std::integral_constant<int, kMatrixRows>());
      add(std::integral_constant<int, 1>());
    }
  }

  template <int kRows>
  HWY_INLINE void add_block(const A* columns, std::int64_t output, std::int64_t k, A* sums) const {
    const std::int64_t count = std::min(plan_.block, depth() - k);
    const T* const filter = static_cast<const T*>(p_.filter) + output * depth() + k;
    const A* factors[kRows];
    for (int r = 0; r < kRows; ++r) {
      if constexpr (std::is_same_v<T, A>) {
        factors[r] = filter + r * depth();
      } else {
        load_row(filter + r * depth(), wide_ + r * plan_.block, count);
        factors[r] = wide_ + r * plan_.block;
      }
    }
    add_rows<kRows>(factors, count, columns + k * plan_.width, plan_.width, sums);
  }

  void store(std::int64_t run, std::int64_t first, std::int64_t outputs) const {
    const std::int64_t pixel = run * plan_.run, pixels = std::min(plan_.run, plan_.pixels - pixel);
    T* const to = static_cast<T*>(p_.output) + pixel * s_.co + first;
    if constexpr (std::is_same_v<T, A>) {
      transpose_panel(sums_, plan_.width, outputs, pixels, to, s_.co);
    } else {
      transpose_panel(sums_, plan_.width, outputs, pixels, turned_, outputs);
      for (std::int64_t i = 0; i < pixels; ++i) store_row(turned_ + i * outputs, to + i * s_.co, outputs);
    }
  }

  const Problem& p_;
  const Shape& s_;
  const Plan& plan_;
  const Arrays<T>& arrays_;
  int slot_;
  A *sums_, *turned_, *wide_;
};

/// Problem: that of the forward, with `filter_is_nchw`.
template <class T, class Problem>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const Problem& p) {
  const Shape& s = p.shape;
  const Plan plan(s, call.threads, sizeof(Acc<T>));
  const std::int64_t samples = s.deform_groups * plan.slices * count_taps(s);
  const double sample_ns = cost::kElement * static_cast<double>(plan.width * kSliceChannels);
  const double task_ns = cost::kMultiplyAdd * static_cast<double>(plan.outputs * plan.width * (plan.depth / s.groups));
  const Loop runs(context, call, plan.runs,
                  static_cast<double>(samples) * sample_ns + static_cast<double>(plan.parts) * task_ns);
  const Loop sampling(context, call, plan.together * samples, sample_ns);
  const Loop products(context, call, plan.together * plan.parts, task_ns);
  const int slots = plan.whole ? runs.slots() : std::max(sampling.slots(), products.slots());
  const auto arrays = allocate<Arrays<T>>(context.arena, s, plan, slots);
  if (!arrays) return no_memory(call);
  std::fill_n(arrays->zeros, s.ci, T{});
  if (plan.whole) {
    runs.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      const Task<T, Problem> task(p, *arrays, slot);
      for (std::int64_t run = begin; run < end; ++run) {
        for (std::int64_t i = 0; i < samples; ++i) sample<T>(p, *arrays, run, i, slot);
        for (std::int64_t part = 0; part < plan.parts; ++part) task.run(run, part);
      }
    });
    return MLUOP_STATUS_SUCCESS;
  }
  for (std::int64_t first = 0; first < plan.runs; first += plan.together) {
    const std::int64_t count = std::min(plan.together, plan.runs - first);
    Loop(context, call, count * samples, sample_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      for (std::int64_t i = begin; i < end; ++i) sample<T>(p, *arrays, first + i / samples, i % samples, slot);
    });
    Loop(context, call, count * plan.parts, task_ns).run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
      const Task<T, Problem> task(p, *arrays, slot);
      for (std::int64_t i = begin; i < end; ++i) task.run(first + i / plan.parts, i % plan.parts);
    });
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace lanes
}  // namespace mluops::cpu::dcn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
