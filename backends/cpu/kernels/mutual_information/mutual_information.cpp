// MutualInformation: sums over the paths through a lattice of S symbols and T frames, and their gradients.
//
// px [B,S,T+1], py [B,S+1,T], p [B,S+1,T+1]. An item is a sequence of the batch: each step needs the one before. It is
// taken by bands of rows, with the last row in double: an exponential and a logarithm a cell, bound by those.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/cpu/dispatch.h"
#include "mluops/problem/mutual_information.h"

namespace mluops::cpu::mutual_information {
namespace {

inline constexpr double kLeastP = -1e30;

/// The part of the lattice that a sequence has, ends included.
struct Part {
  std::int64_t s0, t0, s1, t1;
};

Part part_of(const mluopsMutualInformationShape& s, const void* boundaries, std::int64_t b) {
  if (boundaries == nullptr) return {0, 0, s.s, s.t};
  const std::int64_t* const row = static_cast<const std::int64_t*>(boundaries) + 4 * b;
  return {row[0], row[1], row[2], row[3]};
}

/// log(exp(x) + exp(y)).
double log_add(double x, double y) {
  const double most = x < y ? y : x, least = x < y ? x : y;
  if (std::isinf(most)) return std::isnan(least) ? least : most;
  return most + std::log1p(std::exp(least - most));
}

/// Rows of the tensors of one sequence.
template <class T>
struct Rows {
  const mluopsMutualInformationShape& s;
  std::int64_t b;

  T* px(void* data, std::int64_t row) const { return static_cast<T*>(data) + (b * s.s + row) * (s.t + 1); }
  T* py(void* data, std::int64_t row) const { return static_cast<T*>(data) + (b * (s.s + 1) + row) * s.t; }
  T* p(void* data, std::int64_t row) const { return static_cast<T*>(data) + (b * (s.s + 1) + row) * (s.t + 1); }
  const T* px(const void* data, std::int64_t row) const { return px(const_cast<void*>(data), row); }
  const T* py(const void* data, std::int64_t row) const { return py(const_cast<void*>(data), row); }
  const T* p(const void* data, std::int64_t row) const { return p(const_cast<void*>(data), row); }
};

template <class T>
double value(T x) {
  return static_cast<double>(to_acc(x));
}

template <class T>
T element(double x) {
  return from_acc<T>(static_cast<Acc<T>>(x));
}

inline constexpr std::int64_t kBandRows = 8;

/// Rows of sums from `first` on, at most kBandRows. Each is a cell behind the row above, so that the cells of a step do
/// not wait for each other. `row` holds the row above the band, and then the band's last one.
template <class T>
void sum_band(const mluopsMutualInformationForwardProblem& problem, const Rows<T>& rows, const Part& part,
              std::int64_t first, double* row) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const std::int64_t count = std::min(kBandRows, part.s1 - first + 1), width = part.t1 - part.t0 + 1;
  double latest[kBandRows];
  for (std::int64_t step = 0; step < width + count - 1; ++step) {
    for (std::int64_t r = std::min(count - 1, step); r >= 0 && step - r < width; --r) {
      const std::int64_t s = first + r, t = part.t0 + step - r;
      double above = kNothing, before = kNothing;
      if (s > part.s0) above = (r > 0 ? latest[r - 1] : row[t]) + value(rows.px(problem.px, s - 1)[t]);
      if (t > part.t0) before = latest[r] + value(rows.py(problem.py, s)[t - 1]);
      latest[r] = s == part.s0 && t == part.t0 ? 0 : log_add(above, before);
      rows.p(problem.p, s)[t] = element<T>(latest[r]);
      if (r == count - 1) row[t] = latest[r];
    }
  }
}

template <class T>
void sum_paths(const mluopsMutualInformationForwardProblem& problem, std::int64_t b, double* row) {
  const Part part = part_of(problem.shape, problem.opt_boundary, b);
  for (std::int64_t first = part.s0; first <= part.s1; first += kBandRows) {
    sum_band<T>(problem, {problem.shape, b}, part, first, row);
  }
  static_cast<T*>(problem.ans)[b] = element<T>(row[part.t1]);
}

template <class T>
mluOpStatus_t forward(Context& context, const mluopsCall& call, const mluopsMutualInformationForwardProblem& p) {
  const std::int64_t width = p.shape.t + 1;
  const double cells = static_cast<double>(p.shape.s + 1) * static_cast<double>(width);
  const Loop loop(context, call, p.shape.b, 10 * cost::kStep * cells);
  double* const rows = context.arena.reserve_array<double>(loop.slots(), width);
  if (rows == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) sum_paths<T>(p, b, rows + slot * width);
  });
  return MLUOP_STATUS_SUCCESS;
}

// ---- gradients ----

/// exp(x); 0 where T's sums cannot hold it.
template <class T>
double bounded_exp(double x) {
  const double power = std::exp(x);
  return power <= static_cast<double>(std::numeric_limits<Acc<T>>::max()) && !std::isinf(x) ? power : 0;
}

/// A row of the gradients of px and py; `row` holds p_grad of the row below, and then of this one.
template <class T>
void pass_back(const mluopsMutualInformationBackwardProblem& problem, const Rows<T>& rows, const Part& part,
               std::int64_t s, double* row) {
  const auto at = [](const T* p, std::int64_t t) { return std::max(value(p[t]), kLeastP); };
  const bool last = s == part.s1;
  const T *const p = rows.p(problem.p, s), *const below = last ? nullptr : rows.p(problem.p, s + 1);
  for (std::int64_t t = part.t1; t >= part.t0; --t) {
    double sum = last && t == part.t1 ? row[t] : 0;
    if (!last) {
      const double gradient = row[t] * bounded_exp<T>(at(p, t) + value(rows.px(problem.px, s)[t]) - at(below, t));
      rows.px(problem.px_grad, s)[t] = element<T>(gradient);
      sum += gradient;
    }
    if (t < part.t1) {
      const double gradient = row[t + 1] * bounded_exp<T>(at(p, t) + value(rows.py(problem.py, s)[t]) - at(p, t + 1));
      rows.py(problem.py_grad, s)[t] = element<T>(gradient);
      sum += gradient;
    }
    row[t] = sum;
  }
}

template <class T>
void pass_back_all(const mluopsMutualInformationBackwardProblem& problem, std::int64_t b, double* row) {
  const mluopsMutualInformationShape& shape = problem.shape;
  const Rows<T> rows{shape, b};
  const Part part = part_of(shape, problem.opt_boundary, b);
  T& ans_grad = static_cast<T*>(problem.ans_grad)[b];
  if (shape.s > 0) std::fill_n(rows.px(problem.px_grad, 0), shape.s * (shape.t + 1), T{});
  if (shape.t > 0) std::fill_n(rows.py(problem.py_grad, 0), (shape.s + 1) * shape.t, T{});
  row[part.t1] = value(ans_grad);
  for (std::int64_t s = part.s1; s >= part.s0; --s) pass_back(problem, rows, part, s, row);
  if (problem.overwrite_ans_grad != 0) ans_grad = element<T>(row[part.t0]);
}

template <class T>
mluOpStatus_t backward(Context& context, const mluopsCall& call, const mluopsMutualInformationBackwardProblem& p) {
  const std::int64_t width = p.shape.t + 1;
  const double cells = static_cast<double>(p.shape.s + 1) * static_cast<double>(width);
  const Loop loop(context, call, p.shape.b, 10 * cost::kStep * cells);
  double* const rows = context.arena.reserve_array<double>(loop.slots(), width);
  if (rows == nullptr) return no_memory(call);
  loop.run([&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t b = begin; b < end; ++b) pass_back_all<T>(p, b, rows + slot * width);
  });
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::mutual_information

MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(mutual_information_forward, mutual_information, forward,
                              mluopsMutualInformationForwardProblem, with_element)
MLUOPS_CPU_ENTRY_OF_ONE_LEVEL(mutual_information_backward, mutual_information, backward,
                              mluopsMutualInformationBackwardProblem, with_element)
