// ThreeInterpolate backward: the gradient of every output point goes to three feature points, weighted.
//
// A block of channels of one image has one owner, who adds the points in order: no atomics, the same bits every time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/three_interpolate_backward.cpp"
#include <hwy/foreach_target.h>

#include "backends/cpu/atomic_sums.h"
#include "backends/cpu/entry.h"
#include "backends/cpu/operators.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "backends/cpu/three_interpolate_rows.h"
#include "backends/cpu/three_interpolate_squares.h"
#include "backends/cpu/three_interpolate_steps.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::HWY_NAMESPACE {
namespace {

using three_interpolate::Arrays, three_interpolate::Cut, three_interpolate::Item;

/// One point's three additions. sums is channel c of row 0.
template <class D, class A>
HWY_INLINE void scatter_point(D d, hn::Vec<D> grad, const std::uint32_t* HWY_RESTRICT rows,
                              const A* HWY_RESTRICT weights, A* HWY_RESTRICT sums) {
  HWY_UNROLL(3)
  for (int j = 0; j < 3; ++j) {
    A* const sum = sums + rows[j];
    hn::Store(hn::MulAdd(hn::Set(d, weights[j]), grad, hn::Load(d, sum)), d, sum);
  }
}

#if HWY_TARGET <= HWY_AVX3
/// As scatter_block for the first round(points, 16) points, at least 16, of 16 channels: a square of gradients is
/// turned between the additions of the one before. Returns how many. Meanwhile the gradients of the next block are
/// asked for, in the order of memory, which it likes best, for the second cache: rows are often a multiple of 4 KB
/// apart and displace each other in the first.
template <class T>
HWY_NOINLINE std::int64_t scatter_squares(Rows<const T> in, const std::uint32_t* HWY_RESTRICT rows,
                                          const float* HWY_RESTRICT weights, std::int64_t points,
                                          float* HWY_RESTRICT sums) {
  using Square = SquareIn<T>;
  constexpr std::int64_t lanes = kLanes<float>;
  const FullTag<T> d;
  const char* ahead = reinterpret_cast<const char*>(in.first + lanes * in.pitch);
  typename Square::V square[Square::kVectors], next[Square::kVectors];
  hn::Vec<FullTag<T>> v[4];
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) Square::load(in.first, in.pitch, part, square);
  const auto add = [&](int first) HWY_ATTR {
    asm volatile("" : "+r"(ahead));  // in place: else all lines of a square are asked for at once
    HWY_UNROLL(2)
    for (int k = first; k < first + 2; ++k, rows += 3, weights += 3, ahead += lanes * sizeof(T)) {
      __builtin_prefetch(ahead, 0, 2);
      scatter_point(d, v[k], rows, weights, sums);
    }
  };
  std::int64_t i = lanes;
  for (; i + lanes <= points; i += lanes) {
    const std::int64_t pitch = hidden(in.pitch);
    HWY_UNROLL(4)
    for (int part = 0; part < kParts; ++part) {
      Square::points(part, square, v);
      add(0);
      Square::load(in.first + i, pitch, part, next);
      add(2);
    }
    HWY_UNROLL(16)
    for (int k = 0; k < Square::kVectors; ++k) square[k] = next[k];
  }
  HWY_UNROLL(4)
  for (int part = 0; part < kParts; ++part) {
    Square::points(part, square, v);
    add(0);
    add(2);
  }
  return i;
}
#endif

/// Adds `points` points of one block of channels into sums[point, kBlock], in order of the points.
template <class T>
void scatter_block(const Rows<const T>& from, const std::uint32_t* HWY_RESTRICT near_rows,
                   const Acc<T>* HWY_RESTRICT near_weights, std::int64_t points, Acc<T>* HWY_RESTRICT sums) {
  using A = Acc<T>;
  const FullTag<T> d;
  constexpr int lanes = kLanes<A>;
  const Rows<const T> grad_output = from;
  const std::int64_t used = std::min(grad_output.channels, kBlock<A>);
  const std::uint32_t* rows = near_rows;
  const A* weights = near_weights;
  hn::Vec<FullTag<T>> v[lanes];
  std::int64_t i = 0;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<A, float>) {
    if (used == lanes && points >= lanes) i = scatter_squares(grad_output, rows, weights, points, sums);
    rows += 3 * i, weights += 3 * i;
  }
#endif
  for (; i + lanes <= points; i += lanes, rows += 3 * lanes, weights += 3 * lanes) {
    prefetch_bytes<2>(grad_output.first + kBlock<A> * (grad_output.pitch + i), kBlock<A> * lanes * sizeof(T));
    for (std::int64_t c = 0; c < used; c += lanes) {
      load_turned(grad_output, c, i, v);
      HWY_UNROLL(16)
      for (int k = 0; k < lanes; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
    }
  }
  for (std::int64_t c = 0; c < used && i < points; c += lanes) {
    load_turned_tail(grad_output, c, i, points - i, v);
    for (int k = 0; k < points - i; ++k) scatter_point(d, v[k], rows + 3 * k, weights + 3 * k, sums + c);
  }
}

/// Sums of a block to grad_features, and zeros for the next.
template <class T>
HWY_INLINE void put_and_clear(Acc<T>* sums, std::int64_t m, bool streams, const Rows<T>& to) {
  if (streams) return turn_out_streaming(sums, m, to);
  turn_out(sums, m, to);
  std::fill_n(sums, m * kBlock<Acc<T>>, Acc<T>{0});
}

/// Working memory of backward_by_rows: neighbours of an image and a row of sums, M for neighbours out of range, per
/// slot.
template <class T>
struct RowArrays {
  std::int64_t points;
  std::uint32_t* rows;
  Acc<T>* weights;
  Acc<T>* sums;

  RowArrays(Carver& carver, const Shape& s, std::int64_t slots)
      : points(s.n),
        rows(carver.take<std::uint32_t>(slots * 3 * s.n)),
        weights(carver.take<Acc<T>>(slots * 3 * s.n)),
        sums(carver.take<Acc<T>>(slots * (s.m + 1))) {}

  Neighbours<Acc<T>> near(std::int64_t slot) const { return {rows + slot * 3 * points, weights + slot * 3 * points}; }
};

/// grad_features of every block of channels has one owner. Where there are fewer blocks than threads could use, the
/// points are cut into parts, as many as the shape says, whose sums are added in order afterwards.
template <class T>
mluOpStatus_t backward_by_owner(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const Shape& s = p.shape;
  const Cut<A> cut(s, 32, 8 * call.threads);
  const double item_ns = static_cast<double>(cut.group * kBlock<A>) *
                         (static_cast<double>(cut.points) * 2 + static_cast<double>(s.m)) * three_interpolate::kBlockNs;
  const Loop loop(context, call, cut.items(s), item_ns);
  const std::int64_t slots = loop.slots(), block_count = cut.parts == 1 ? slots : cut.items(s);
  const auto arrays = carve<Arrays<A>>(context.scratch, s, cut.points, slots, block_count);
  if (!arrays) return no_memory(call);

  const bool streams = may_stream<T>(s.b * s.c, s.m, p.grad_features);
  const auto put = [&](A* sums, const Rows<T>& to) HWY_ATTR { put_and_clear(sums, s.m, streams, to); };
  const auto gradient = [&](std::int64_t b, std::int64_t c) {
    return Rows<T>{static_cast<T*>(p.grad_features) + (b * s.c + c) * s.m, s.m, std::min(s.c - c, kBlock<A>)};
  };
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    NeighboursOfRun<T, kBlock<A>> run(s, p.indices, p.weights, arrays->near(slot));
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(cut, s, i);
      const Neighbours<A>& near = run.move_to(item.b, item.first, item.last);
      A* const sums = arrays->block(cut.parts == 1 ? slot : i);
      if (cut.parts > 1 || i == begin) std::fill_n(sums, arrays->block_size, A{0});
      for (std::int64_t c = item.first_block * kBlock<A>; c < std::min(s.c, item.last_block * kBlock<A>);
           c += kBlock<A>) {
        run.ask_for_next(c / kBlock<A> - item.first_block, item.last_block - item.first_block);
        const Rows<const T> in{static_cast<const T*>(p.grad_output) + (item.b * s.c + c) * s.n + item.first, s.n,
                               std::min(s.c - c, kBlock<A>)};
        scatter_block(in, near.rows, near.weights, item.last - item.first, sums);
        if (cut.parts == 1) put(sums, gradient(item.b, c));
      }
    }
    if (streams) stream_fence();
  });
  if (cut.parts == 1) return MLUOP_STATUS_SUCCESS;
  const std::int64_t size = arrays->block_size;
  const Loop merge(context, call, s.b * cut.blocks, static_cast<double>(size * cut.parts) * 0.1);
  merge.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    for (std::int64_t which = begin; which < end; ++which) {
      A* const sums = arrays->block(which * cut.parts);
      for (std::int64_t part = 1; part < cut.parts; ++part) axpy<A>(1, sums + part * size, sums, size);
      put(sums, gradient(which / cut.blocks, which % cut.blocks * kBlock<A>));
    }
    if (streams) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}

#if HWY_TARGET <= HWY_AVX3
/// For up to 16 features. An item is some blocks of channels of one image, as in backward_by_owner; an image that steps
/// do not suit is added up as there. The additions are the same, in the same order.
template <class T>
mluOpStatus_t backward_by_steps(Context& context, const mluopsCall& call,
                                const mluopsThreeInterpolateBackwardProblem& p) {
  const Shape& s = p.shape;
  const Cut<float> cut(s, 1, 8 * call.threads);
  const double channels = static_cast<double>(cut.group * kBlock<float>);
  const Loop loop(context, call, cut.items(s),
                  static_cast<double>(s.n) * (1.0 + channels * three_interpolate::kBlockNs));
  const auto arrays = carve<StepArrays>(context.scratch, s, std::int64_t{loop.slots()});
  if (!arrays) return no_memory(call);
  const bool streams = may_stream<T>(s.b * s.c, s.m, p.grad_features);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    const Steps steps = arrays->of(slot);
    NeighboursOfRun<T, kBlock<float>> rest(s, p.indices, p.weights, arrays->rest.near(slot));
    std::int64_t image = -1;
    bool suited = false;
    for (std::int64_t i = begin; i < end; ++i) {
      const Item item(cut, s, i);
      const std::int64_t near = 3 * item.b * s.n;
      if (item.b != image) {
        suited = make_image_steps(s, p.indices + near, static_cast<const T*>(p.weights) + near, steps);
      }
      image = item.b;
      for (std::int64_t block = item.first_block; block < item.last_block; ++block) {
        const std::int64_t c = block * kBlock<float>, row = item.b * s.c + c, used = std::min(s.c - c, kBlock<float>);
        ask_for_neighbours(p.indices, static_cast<const T*>(p.weights), (item.b + 1) * s.n, s.n,
                           block - item.first_block, item.last_block - item.first_block);
        const Rows<const T> in{static_cast<const T*>(p.grad_output) + row * s.n, s.n, used};
        const Rows<T> out{static_cast<T*>(p.grad_features) + row * s.m, s.m, used};
        if (suited) {
          gather_by_steps(in, s.n, steps, streams, out);
        } else {
          const Neighbours<float>& all = rest.move_to(item.b, 0, s.n);
          float* const sums = arrays->rest.block(slot);
          std::fill_n(sums, arrays->rest.block_size, 0.0f);
          scatter_block(in, all.rows, all.weights, s.n, sums);
          turn_out(sums, s.m, out);
        }
      }
    }
    if (streams) stream_fence();
  });
  return MLUOP_STATUS_SUCCESS;
}
#endif

/// For very few channels: point by point into one row of sums. What the next row reads and writes is asked for
/// meanwhile.
template <class T>
mluOpStatus_t backward_by_rows(Context& context, const mluopsCall& call,
                               const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  const hn::CappedTag<A, 1> d1;
  const Shape& s = p.shape;
  constexpr std::int64_t kStep = 16;
  const double row_ns = 3 * static_cast<double>(s.n) * three_interpolate::kAddNs + static_cast<double>(s.m) * 0.1;
  const Loop loop(context, call, s.b, row_ns * static_cast<double>(s.c));
  const bool few = s.m * static_cast<std::int64_t>(sizeof(T)) <= 64 * s.n;  // lines of a row, beside its points
  const std::int64_t slots = loop.slots();
  const auto rows = carve<RowArrays<T>>(context.scratch, s, slots);
  if (!rows) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    NeighboursOfRun<T, 1> run(s, p.indices, p.weights, rows->near(slot));
    for (std::int64_t row = begin * s.c; row < end * s.c; ++row) {
      const Neighbours<A>& near = run.move_to(row / s.c, 0, s.n);
      const T* const grad = static_cast<const T*>(p.grad_output) + row * s.n;
      T* const out = static_cast<T*>(p.grad_features) + row * s.m;
      A* const sums = rows->sums + slot * (s.m + 1);
      std::fill_n(sums, s.m, A{0});
      const std::int64_t steps = ceil_div(s.n, kStep), share = ceil_div(3 * s.n, s.c);
      const std::int64_t next = 3 * (row / s.c + 1) * s.n + row % s.c * share;
      Requests requests[] = {{grad + s.n, s.n, steps},
                             {out + s.m, few ? s.m : 0, steps},
                             {p.indices + next, share, steps},
                             {static_cast<const T*>(p.weights) + next, share, steps}};
      for (std::int64_t first = 0; first < s.n; first += kStep) {
        for (Requests& some : requests) some.step();
        for (std::int64_t i = first; i < std::min(s.n, first + kStep); ++i) {
          const auto g = load(d1, grad + i);
          for (std::int64_t k = 3 * i; k < 3 * i + 3; ++k) {
            A* const sum = sums + near.rows[k];
            hn::Store(hn::MulAdd(hn::Set(d1, near.weights[k]), g, hn::Load(d1, sum)), d1, sum);
          }
        }
      }
      store_row(sums, out, s.m);
    }
  });
  return MLUOP_STATUS_SUCCESS;
}

/// Tasks over runs of points of one row; every task adds into the whole row of M sums.
template <class T>
mluOpStatus_t backward_by_atomics(Context& context, const mluopsCall& call,
                                  const mluopsThreeInterpolateBackwardProblem& p) {
  using A = Acc<T>;
  constexpr std::int64_t at_once = three_interpolate::kPointsAtOnce;
  const Shape& s = p.shape;
  const std::int64_t total = s.b * s.c * s.m, runs = ceil_div(s.n, at_once);
  T* const gradient = static_cast<T*>(p.grad_features);
  A* const sums = reserve_sums(context, gradient, total);
  if (sums == nullptr) return no_memory(call);
  clear_sums(context, call, sums, total);
  const Loop loop(context, call, s.b * runs, static_cast<double>(std::min(s.n, at_once) * s.c) * 20.0);
  loop.run([&](std::int64_t begin, std::int64_t end, int) HWY_ATTR {
    std::uint32_t rows[3 * at_once];
    A weights[3 * at_once];
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t b = item / runs, n = item % runs * at_once, points = std::min(at_once, s.n - n);
      const std::int64_t near = 3 * (b * s.n + n);
      check_neighbours<1>(s.m, p.indices + near, static_cast<const T*>(p.weights) + near, 3 * points, rows, weights);
      for (std::int64_t c = b * s.c; c < (b + 1) * s.c; ++c) {
        const T* const grad = static_cast<const T*>(p.grad_output) + c * s.n + n;
        for (std::int64_t i = 0; i < 3 * points; ++i) {
          if (rows[i] < s.m) atomic_add(sums + c * s.m + rows[i], weights[i] * widen(grad + i / 3));
        }
      }
    }
  });
  store_sums(context, call, sums, gradient, total);
  return MLUOP_STATUS_SUCCESS;
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsThreeInterpolateBackwardProblem& p) {
  if (choose_scatter(context, call) == Scatter::kAtomic) return backward_by_atomics<T>(context, call, p);
  // Decided by the shape alone: owner's parts add in another order.
  const Shape& s = p.shape;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<Acc<T>, float>) {
    if (three_interpolate::steps_pay<T>(s)) return backward_by_steps<T>(context, call, p);
  }
#endif
  const bool few = s.c <= three_interpolate::kFewChannels && (s.b >= 8 || s.b * s.c * s.n <= 65536);
  return few || !three_interpolate::may_turn<Acc<T>>(s) ? backward_by_rows<T>(context, call, p)
                                                        : backward_by_owner<T>(context, call, p);
}

MLUOPS_CPU_KERNEL(three_interpolate_backward, mluopsThreeInterpolateBackwardProblem, backward, with_element)

}  // namespace
}  // namespace mluops::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mluops::cpu {

MLUOPS_CPU_ENTRY(three_interpolate_backward, mluopsThreeInterpolateBackwardProblem)

}  // namespace mluops::cpu
#endif
