// SyncBatchNorm's sums over the rows of x [rows,c]: mean and variance of each channel, and the sums of gradients.
//
// A part of the rows (sums.h) is a task. It takes piece after piece: sums of a piece in float along lines of channels
// (rows-inl.h), then into the part's sums in double. Variances take a second look at a piece, which is in the cache,
// against the piece's own mean, and are joined by Chan's formula: no cancellation, whatever the mean. x is read once
// from memory: bound by it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sync_batch_norm/reduce.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "backends/cpu/kernels/sync_batch_norm/rows-inl.h"
#include "backends/cpu/kernels/sync_batch_norm/sums.h"
#include "mluops/problem/sync_batch_norm.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE {
namespace {

/// sums[i] += the vectors f(d, first element of the line, i) of lines [begin, end).
template <class A, class F>
HWY_INLINE void add_lines(const Lines& lines, std::int64_t begin, std::int64_t end, A* sums, F f) {
  std::fill_n(sums, lines.width, A{});
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t first = line * lines.width;
    for_lanes<A>(lines.length(line), [&](auto d, std::int64_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, sums + i), f(d, first, i)), d, sums + i);
    });
  }
}

/// The sum over the pixels of a line of its channel.
template <class A>
double channel_sum(const Lines& lines, const A* sums, std::int64_t channel) {
  double sum = 0;
  for (std::int64_t i = channel; i < lines.width; i += lines.c) sum += static_cast<double>(sums[i]);
  return sum;
}

/// Memory of a call: two sums of each channel and part, in double; lines of each slot.
template <class A>
struct Sums {
  std::int64_t width, c;
  double* parts = nullptr;
  A* lines = nullptr;

  Sums(Context& context, const Lines& of, const Cut& cut, int slots, int lines_each) : width(of.width), c(of.c) {
    const std::int64_t doubles = size_product(cut.parts, 2 * c);
    const std::int64_t bytes = size_sum(size_product(doubles, 8), size_product(slots, lines_each, width, sizeof(A)));
    parts = reinterpret_cast<double*>(context.arena.reserve(bytes));
    if (parts != nullptr) lines = reinterpret_cast<A*>(parts + doubles);
  }
  double* of_part(std::int64_t part, int which) const { return parts + (part * 2 + which) * c; }
};

/// body(part's lines, piece by piece): visit(begin, end) of lines.
template <class Visit>
void for_pieces(const Lines& lines, const Cut& cut, std::int64_t part, Visit visit) {
  const std::int64_t last = std::min(cut.pieces, (part + 1) * cut.part_pieces);
  for (std::int64_t piece = part * cut.part_pieces; piece < last; ++piece) {
    visit(piece * cut.piece_lines, std::min(lines.lines(), (piece + 1) * cut.piece_lines));
  }
}

std::int64_t rows_in(const Lines& lines, std::int64_t begin, std::int64_t end) {
  return (std::min(end * lines.width, lines.count) - begin * lines.width) / lines.c;
}

/// Joins `more` rows of another mean and sum of squared differences to `rows` of these (Chan et al., 1979).
void join(double rows, double& mean, double& squares, double more, double other_mean, double other_squares) {
  const double total = rows + more, difference = other_mean - mean;
  mean += difference * (more / total);
  squares += other_squares + difference * difference * (rows * more / total);
}

/// Mean and sum of squared differences of each channel over a part.
template <class T, class A>
HWY_INLINE void take_part(const Lines& lines, const Cut& cut, std::int64_t part, const T* x, const Sums<A>& sums,
                          A* line_sums, A* line_means) {
  double *const means = sums.of_part(part, 0), *const squares = sums.of_part(part, 1);
  std::fill_n(means, 2 * lines.c, 0.0);
  double rows = 0;
  for_pieces(lines, cut, part, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    const auto more = static_cast<double>(rows_in(lines, begin, end));
    add_lines(lines, begin, end, line_sums,
              [&](auto d, std::int64_t first, std::int64_t i) HWY_ATTR { return load(d, x + first + i); });
    repeat(lines, line_means, [&](std::int64_t ch) { return channel_sum(lines, line_sums, ch) / more; });
    add_lines(lines, begin, end, line_sums, [&](auto d, std::int64_t first, std::int64_t i) HWY_ATTR {
      const auto difference = hn::Sub(load(d, x + first + i), hn::LoadU(d, line_means + i));
      return hn::Mul(difference, difference);
    });
    for (std::int64_t ch = 0; ch < lines.c; ++ch) {
      join(rows, means[ch], squares[ch], more, static_cast<double>(line_means[ch]), channel_sum(lines, line_sums, ch));
    }
    rows += more;
  });
}

template <class T>
mluOpStatus_t stats(Context& context, const mluopsCall& call, const mluopsSyncBatchNormStatsProblem& p) {
  using A = Acc<T>;
  const Lines lines(p.shape.rows, p.shape.c);
  const Cut cut(lines.lines(), lines.width);
  const double part_ns = 3 * cost::kElement * static_cast<double>(lines.count) / static_cast<double>(cut.parts);
  const Loop loop(context, call, cut.parts, part_ns);
  const Sums<A> sums(context, lines, cut, loop.slots(), 2);
  if (sums.parts == nullptr) return no_memory(call);
  const T* const x = static_cast<const T*>(p.x);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    A* const own = sums.lines + slot * 2 * lines.width;
    for (std::int64_t part = begin; part < end; ++part) take_part(lines, cut, part, x, sums, own, own + lines.width);
  });
  A *const mean = static_cast<A*>(p.mean), *const invstd = static_cast<A*>(p.invstd);
  for (std::int64_t ch = 0; ch < lines.c; ++ch) {
    double all_mean = 0, squares = 0, rows = 0;
    for (std::int64_t part = 0; part < cut.parts; ++part) {
      const std::int64_t first = part * cut.part_pieces * cut.piece_lines;
      const std::int64_t end = std::min(lines.lines(), first + cut.part_pieces * cut.piece_lines);
      const auto more = static_cast<double>(rows_in(lines, first, end));
      join(rows, all_mean, squares, more, sums.of_part(part, 0)[ch], sums.of_part(part, 1)[ch]);
      rows += more;
    }
    mean[ch] = static_cast<A>(all_mean);
    invstd[ch] = static_cast<A>(1 / std::sqrt(squares / rows + p.exact_eps));
  }
  return MLUOP_STATUS_SUCCESS;
}

// ---- sums of gradients ----

/// Sums of dz and of dz (x - mean) over a part.
template <class T, class A>
HWY_INLINE void take_gradients(const Lines& lines, const Cut& cut, std::int64_t part, const T* dz, const T* x,
                               const A* line_means, const Sums<A>& sums, A* line_sums) {
  double *const of_dz = sums.of_part(part, 0), *const of_products = sums.of_part(part, 1);
  std::fill_n(of_dz, 2 * lines.c, 0.0);
  for_pieces(lines, cut, part, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    add_lines(lines, begin, end, line_sums,
              [&](auto d, std::int64_t first, std::int64_t i) HWY_ATTR { return load(d, dz + first + i); });
    for (std::int64_t ch = 0; ch < lines.c; ++ch) of_dz[ch] += channel_sum(lines, line_sums, ch);
    add_lines(lines, begin, end, line_sums, [&](auto d, std::int64_t first, std::int64_t i) HWY_ATTR {
      const auto difference = hn::Sub(load(d, x + first + i), hn::LoadU(d, line_means + i));
      return hn::Mul(load(d, dz + first + i), difference);
    });
    for (std::int64_t ch = 0; ch < lines.c; ++ch) of_products[ch] += channel_sum(lines, line_sums, ch);
  });
}

template <class A>
void put(void* to, std::int64_t channel, double value) {
  if (to != nullptr) static_cast<A*>(to)[channel] = static_cast<A>(value);
}

template <class T>
mluOpStatus_t backward_reduce(Context& context, const mluopsCall& call,
                              const mluopsSyncBatchNormBackwardReduceProblem& p) {
  using A = Acc<T>;
  const Lines lines(p.shape.rows, p.shape.c);
  const Cut cut(lines.lines(), lines.width);
  const double part_ns = 4 * cost::kElement * static_cast<double>(lines.count) / static_cast<double>(cut.parts);
  const Loop loop(context, call, cut.parts, part_ns);
  const Sums<A> sums(context, lines, cut, loop.slots() + 1, 1);
  if (sums.parts == nullptr) return no_memory(call);
  A* const line_means = sums.lines + loop.slots() * lines.width;
  const A *const mean = static_cast<const A*>(p.mean), *const invstd = static_cast<const A*>(p.invstd);
  repeat(lines, line_means, [&](std::int64_t ch) { return mean[ch]; });
  const T *const dz = static_cast<const T*>(p.dz), *const x = static_cast<const T*>(p.x);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) HWY_ATTR {
    for (std::int64_t part = begin; part < end; ++part) {
      take_gradients(lines, cut, part, dz, x, line_means, sums, sums.lines + slot * lines.width);
    }
  });
  for (std::int64_t ch = 0; ch < lines.c; ++ch) {
    double of_dz = 0, of_products = 0;
    for (std::int64_t part = 0; part < cut.parts; ++part) {
      of_dz += sums.of_part(part, 0)[ch];
      of_products += sums.of_part(part, 1)[ch];
    }
    put<A>(p.sum_dy, ch, of_dz);
    put<A>(p.sum_dy_xmu, ch, of_products);
    put<A>(p.dbias, ch, of_dz);
    put<A>(p.dfilter, ch, of_products * static_cast<double>(invstd[ch]));
  }
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::sync_batch_norm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(sync_batch_norm_stats, sync_batch_norm, stats, mluopsSyncBatchNormStatsProblem, with_element)
MLUOPS_CPU_ENTRY(sync_batch_norm_backward_reduce, sync_batch_norm, backward_reduce,
                 mluopsSyncBatchNormBackwardReduceProblem, with_element)
