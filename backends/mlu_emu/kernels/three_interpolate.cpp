// ThreeInterpolate as device code. features [b,c,m], indices and weights [b,n,3], output [b,c,n].
//
// Forward: a task owns blocks of points of one batch; backward: blocks of features. Nothing is shared, sums live in
// NRAM and are stored once. Sums are taken block after block, in a block neighbour after neighbour: the bits depend on
// the plan's limits. A neighbour outside the block is pointed at one extra row behind it: zeros forward, a row nobody
// stores backward.
#include <algorithm>
#include <cstdint>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/three_interpolate.h"
#include "common/shape.h"
#include "mluops/problem/three_interpolate.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kNeighbours = 3;

/// A block of an axis: elements in it, and lanes they take (whole lines).
struct Block {
  std::int64_t begin, size, lanes;

  Block(std::int64_t axis, std::int64_t limit, std::int64_t index, std::int64_t line)
      : begin(index * limit), size(std::min(limit, axis - begin)), lanes(round_up(size, line)) {}
};

/// Where a block [c, columns] of one batch of a tensor [b, C, width] starts.
template <class T>
T* block_start(T* tensor, std::int64_t channel, std::int64_t width, const Block& columns) {
  return tensor + channel * width + columns.begin;
}

/// Such a block, from its start, into NRAM. What reads it reads whole lines, so lanes nobody loads become zero.
template <class T>
void load_block(T* nram, const T* start, std::int64_t width, const Block& c, const Block& columns) {
  if (c.size != c.lanes || columns.size != columns.lanes) __bang_write_value(nram, c.lanes * columns.lanes, T(0));
  copy_rows(nram, start, bytes_of<T>(columns.size), c.size, {bytes_of<T>(columns.lanes), bytes_of<T>(width)},
            GDRAM2NRAM);
}

template <class T>
void store_block(T* start, const T* nram, std::int64_t width, const Block& c, const Block& columns) {
  copy_rows(start, nram, bytes_of<T>(columns.size), c.size, {bytes_of<T>(width), bytes_of<T>(columns.lanes)},
            NRAM2GDRAM);
}

/// What both directions share: the neighbours of a block of points, split by neighbour.
template <class T>
class Neighbours {
 public:
  Neighbours(const plan::ThreeInterpolatePlan& plan, char* nram)
      : no_(plan.no),
        mo_(static_cast<std::int32_t>(plan.mo)),
        weights_(reinterpret_cast<T*>(nram + plan.weights_offset)),
        weights_t_(reinterpret_cast<T*>(nram + plan.weights_t_offset)),
        indices_(reinterpret_cast<std::int32_t*>(nram + plan.indices_offset)),
        indices_t_(reinterpret_cast<std::int32_t*>(nram + plan.indices_t_offset)),
        inside_(reinterpret_cast<std::int32_t*>(nram + plan.rows_offset)),
        work_(inside_ + plan.no),
        shift_(work_ + plan.no) {}

  /// Loads the block's [size, 3] indices and weights and splits them into three rows, padded with index -1, weight 0.
  void load(const std::int32_t* indices, const T* weights, const Block& points);
  /// Finds out which points have neighbour j in [m_begin, m_end) and the row of the block it is.
  void select(std::int64_t j, std::int64_t m_begin, std::int64_t m_end, const Block& points);

  /// Row in the selected block of point n's neighbour; mo when it is elsewhere.
  std::int32_t row(std::int64_t n) const { return indices_[n]; }
  const T* weights(std::int64_t j) const { return weights_t_ + j * no_; }
  /// Weights of neighbour j with those of neighbours outside the selected block cleared, whatever they hold.
  const T* weights_inside(std::int64_t j, const Block& points);

 private:
  std::int64_t no_;
  std::int32_t mo_;
  T *weights_, *weights_t_;
  std::int32_t *indices_, *indices_t_;
  std::int32_t *inside_, *work_, *shift_;
};

template <class T>
void Neighbours<T>::load(const std::int32_t* indices, const T* weights, const Block& points) {
  const std::int64_t count = points.size * kNeighbours;
  __memcpy(indices_, indices, bytes_of<std::int32_t>(count), GDRAM2NRAM);
  __memcpy(weights_, weights, bytes_of<T>(count), GDRAM2NRAM);
  for (std::int64_t j = 0; j < kNeighbours; ++j) {
    __bang_write_value(indices_t_ + j * no_, points.lanes, std::int32_t{-1});
    __bang_write_value(weights_t_ + j * no_, points.lanes, T(0));
    copy_rows(indices_t_ + j * no_, indices_ + j, bytes_of<std::int32_t>(1), points.size,
              {bytes_of<std::int32_t>(1), bytes_of<std::int32_t>(kNeighbours)}, NRAM2NRAM);
    copy_rows(weights_t_ + j * no_, weights_ + j, bytes_of<T>(1), points.size,
              {bytes_of<T>(1), bytes_of<T>(kNeighbours)}, NRAM2NRAM);
  }
}

template <class T>
void Neighbours<T>::select(std::int64_t j, std::int64_t m_begin, std::int64_t m_end, const Block& points) {
  const std::int32_t* index = indices_t_ + j * no_;
  const auto begin = static_cast<std::int32_t>(m_begin), end = static_cast<std::int32_t>(m_end);
  __bang_ge_scalar(inside_, index, begin, points.lanes);
  __bang_ge_scalar(work_, index, end, points.lanes);
  __bang_not(work_, work_, points.lanes);
  __bang_and(inside_, inside_, work_, points.lanes);
  // index - begin inside, mo outside; indices may be anything, so they are cleared before they are shifted.
  __bang_mul(work_, index, inside_, points.lanes);
  __bang_mul_scalar(shift_, inside_, -begin - mo_, points.lanes);
  __bang_add(work_, work_, shift_, points.lanes);
  __bang_sub_scalar(indices_, work_, -mo_, points.lanes);
}

template <class T>
const T* Neighbours<T>::weights_inside(std::int64_t j, const Block& points) {
  __bang_mul_scalar(work_, inside_, std::int32_t{-1}, points.lanes);  // all bits of an inside lane
  const void* mask = work_;
  if constexpr (sizeof(T) == sizeof(std::int16_t)) {
    __bang_int322int16(reinterpret_cast<std::int16_t*>(shift_), work_, points.lanes, 0, 0);
    mask = shift_;
  }
  __bang_band(weights_, weights(j), static_cast<const T*>(mask), points.lanes);
  return weights_;
}

template <class T>
class ThreeInterpolateForward {
 public:
  ThreeInterpolateForward(const mluopsThreeInterpolateForwardProblem& problem, const plan::ThreeInterpolatePlan& plan,
                          char* nram)
      : p_(problem),
        s_(problem.shape),
        plan_(plan),
        features_(reinterpret_cast<T*>(nram + plan.source_offset)),
        features_t_(reinterpret_cast<T*>(nram + plan.source_t_offset)),
        selected_(reinterpret_cast<T*>(nram + plan.target_offset)),
        output_(reinterpret_cast<T*>(nram + plan.target_t_offset)),
        neighbours_(plan, nram) {}

  void run(std::int64_t index);

 private:
  static constexpr std::int64_t kLine = plan::kNfuAlign / sizeof(T);

  void load_features(const Block& c, const Block& m);
  void add_neighbour(std::int64_t j, const Block& c, const Block& m, const Block& n);
  void gather(const Block& c, const Block& n);
  void store(const Block& c, const Block& n);

  const mluopsThreeInterpolateForwardProblem& p_;
  const mluopsThreeInterpolateShape& s_;
  const plan::ThreeInterpolatePlan& plan_;
  T *features_, *features_t_, *selected_, *output_;
  Neighbours<T> neighbours_;
  std::int64_t batch_ = 0;
};

template <class T>
void ThreeInterpolateForward<T>::run(std::int64_t index) {
  batch_ = index / plan_.blocks_per_batch;
  const Block n(s_.n, plan_.no, index % plan_.blocks_per_batch, kLine);
  const std::int64_t first = (batch_ * s_.n + n.begin) * kNeighbours;
  neighbours_.load(p_.indices + first, static_cast<const T*>(p_.weights) + first, n);
  for (std::int64_t i = 0; i * plan_.co < s_.c; ++i) {
    const Block c(s_.c, plan_.co, i, kLine);
    __bang_write_value(output_, c.lanes * n.lanes, T(0));
    for (std::int64_t k = 0; k * plan_.mo < s_.m; ++k) {
      const Block m(s_.m, plan_.mo, k, kLine);
      load_features(c, m);
      for (std::int64_t j = 0; j < kNeighbours; ++j) add_neighbour(j, c, m, n);
    }
    store(c, n);
  }
}

/// A block [c][m] of features, transposed to [m][c].
template <class T>
void ThreeInterpolateForward<T>::load_features(const Block& c, const Block& m) {
  const T* start = block_start(static_cast<const T*>(p_.features), batch_ * s_.c + c.begin, s_.m, m);
  load_block(features_, start, s_.m, c, m);
  __bang_transpose(features_t_, features_, c.lanes, m.lanes);
}

/// output += weight * feature of neighbour j, for the neighbours in this block of features.
template <class T>
void ThreeInterpolateForward<T>::add_neighbour(std::int64_t j, const Block& c, const Block& m, const Block& n) {
  neighbours_.select(j, m.begin, m.begin + m.size, n);
  gather(c, n);
  __bang_transpose(selected_, features_, n.lanes, c.lanes);
  __bang_cycle_mul(selected_, selected_, neighbours_.weights_inside(j, n), c.lanes * n.lanes, n.lanes);
  __bang_add(output_, selected_, output_, c.lanes * n.lanes);
}

/// Rows of c, one per point, into the features' place. The row of zeros lies behind the block, where `selected` starts
/// when the block is full.
template <class T>
void ThreeInterpolateForward<T>::gather(const Block& c, const Block& n) {
  __bang_write_value(features_t_ + plan_.mo * c.lanes, c.lanes, T(0));
  if (n.size != n.lanes) __bang_write_value(features_ + n.size * c.lanes, (n.lanes - n.size) * c.lanes, T(0));
  for (std::int64_t i = 0; i < n.size; ++i)
    __memcpy(features_ + i * c.lanes, features_t_ + neighbours_.row(i) * c.lanes, bytes_of<T>(c.lanes), NRAM2NRAM);
}

template <class T>
void ThreeInterpolateForward<T>::store(const Block& c, const Block& n) {
  T* start = block_start(static_cast<T*>(p_.output), batch_ * s_.c + c.begin, s_.n, n);
  store_block(start, output_, s_.n, c, n);
}

template <class T>
class ThreeInterpolateBackward {
 public:
  ThreeInterpolateBackward(const mluopsThreeInterpolateBackwardProblem& problem, const plan::ThreeInterpolatePlan& plan,
                           char* nram)
      : p_(problem),
        s_(problem.shape),
        plan_(plan),
        grad_output_(reinterpret_cast<T*>(nram + plan.source_offset)),
        grad_output_t_(reinterpret_cast<T*>(nram + plan.source_t_offset)),
        grad_features_(reinterpret_cast<T*>(nram + plan.target_offset)),
        grad_features_t_(reinterpret_cast<T*>(nram + plan.target_t_offset)),
        neighbours_(plan, nram) {}

  void run(std::int64_t index);

 private:
  static constexpr std::int64_t kLine = plan::kNfuAlign / sizeof(T);

  void add_points(const Block& c, const Block& m, const Block& n);
  void load_grad_output(const Block& c, const Block& n);
  void scatter(std::int64_t j, const Block& c, const Block& m, const Block& n);
  void store(const Block& c, const Block& m);

  const mluopsThreeInterpolateBackwardProblem& p_;
  const mluopsThreeInterpolateShape& s_;
  const plan::ThreeInterpolatePlan& plan_;
  T *grad_output_, *grad_output_t_, *grad_features_, *grad_features_t_;
  Neighbours<T> neighbours_;
  std::int64_t batch_ = 0;
};

template <class T>
void ThreeInterpolateBackward<T>::run(std::int64_t index) {
  batch_ = index / plan_.blocks_per_batch;
  const Block m(s_.m, plan_.mo, index % plan_.blocks_per_batch, kLine);
  for (std::int64_t i = 0; i * plan_.co < s_.c; ++i) {
    const Block c(s_.c, plan_.co, i, kLine);
    __bang_write_value(grad_features_, c.lanes * m.lanes, T(0));
    for (std::int64_t k = 0; k * plan_.no < s_.n; ++k) add_points(c, m, Block(s_.n, plan_.no, k, kLine));
    store(c, m);
  }
}

template <class T>
void ThreeInterpolateBackward<T>::add_points(const Block& c, const Block& m, const Block& n) {
  const std::int64_t first = (batch_ * s_.n + n.begin) * kNeighbours;
  neighbours_.load(p_.indices + first, static_cast<const T*>(p_.weights) + first, n);
  load_grad_output(c, n);
  for (std::int64_t j = 0; j < kNeighbours; ++j) scatter(j, c, m, n);
}

template <class T>
void ThreeInterpolateBackward<T>::load_grad_output(const Block& c, const Block& n) {
  const T* start = block_start(static_cast<const T*>(p_.grad_output), batch_ * s_.c + c.begin, s_.n, n);
  load_block(grad_output_, start, s_.n, c, n);
}

/// Adds weight * grad_output, a row of c per point, to the row of the point's neighbour j.
template <class T>
void ThreeInterpolateBackward<T>::scatter(std::int64_t j, const Block& c, const Block& m, const Block& n) {
  neighbours_.select(j, m.begin, m.begin + m.size, n);
  T* product = grad_features_t_;  // free until the block is stored
  __bang_cycle_mul(product, grad_output_, neighbours_.weights(j), c.lanes * n.lanes, n.lanes);
  __bang_transpose(grad_output_t_, product, c.lanes, n.lanes);
  // Rows of other blocks collect behind this one, where the product was when the block is full.
  __bang_write_value(grad_features_ + plan_.mo * c.lanes, c.lanes, T(0));
  for (std::int64_t i = 0; i < n.size; ++i) {
    T* row = grad_features_ + neighbours_.row(i) * c.lanes;
    __bang_add(row, row, grad_output_t_ + i * c.lanes, c.lanes);
  }
}

template <class T>
void ThreeInterpolateBackward<T>::store(const Block& c, const Block& m) {
  __bang_transpose(grad_features_t_, grad_features_, m.lanes, c.lanes);
  T* start = block_start(static_cast<T*>(p_.grad_features), batch_ * s_.c + c.begin, s_.m, m);
  store_block(start, grad_features_t_, s_.m, c, m);
}

template <class Kernel, class Problem>
void three_interpolate_kernel(const Problem& problem, const plan::ThreeInterpolatePlan& plan, char* nram) {
  Kernel kernel(problem, plan, nram);
  const plan::Share share = plan::contiguous_share(plan.blocks, taskDim, taskId);
  for (std::int64_t block = share.begin; block < share.end; ++block) kernel.run(block);
}

/// Bytes of each tensor.
struct TensorBytes {
  std::int64_t features, indices, weights, output;

  explicit TensorBytes(const mluopsThreeInterpolateShape& s) {
    const std::int64_t element = s.dtype == MLUOP_DTYPE_HALF ? bytes_of<half>(1) : bytes_of<float>(1);
    features = s.b * s.c * s.m * element;
    indices = bytes_of<std::int32_t>(s.b * s.n * kNeighbours);
    weights = s.b * s.n * kNeighbours * element;
    output = s.b * s.c * s.n * element;
  }
};

}  // namespace

mluOpStatus_t three_interpolate_forward(Context& context, const mluopsCall& call,
                                        const mluopsThreeInterpolateForwardProblem& p) {
  const auto plan = plan::plan_three_interpolate(p.shape, plan::Direction::kForward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const TensorBytes bytes(p.shape);
  return launch(context, call, "three_interpolate_forward", plan,
                {reads("features", p.features, bytes.features), reads("indices", p.indices, bytes.indices),
                 reads("weights", p.weights, bytes.weights), writes("output", p.output, bytes.output)},
                [&](char* nram) {
                  p.shape.dtype == MLUOP_DTYPE_HALF
                      ? three_interpolate_kernel<ThreeInterpolateForward<half>>(p, plan, nram)
                      : three_interpolate_kernel<ThreeInterpolateForward<float>>(p, plan, nram);
                });
}

mluOpStatus_t three_interpolate_backward(Context& context, const mluopsCall& call,
                                         const mluopsThreeInterpolateBackwardProblem& p) {
  const auto plan = plan::plan_three_interpolate(p.shape, plan::Direction::kBackward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const TensorBytes bytes(p.shape);
  return launch(context, call, "three_interpolate_backward", plan,
                {reads("grad_output", p.grad_output, bytes.output), reads("indices", p.indices, bytes.indices),
                 reads("weights", p.weights, bytes.weights), writes("grad_features", p.grad_features, bytes.features)},
                [&](char* nram) {
                  p.shape.dtype == MLUOP_DTYPE_HALF
                      ? three_interpolate_kernel<ThreeInterpolateBackward<half>>(p, plan, nram)
                      : three_interpolate_kernel<ThreeInterpolateBackward<float>>(p, plan, nram);
                });
}

}  // namespace mluops::emu
