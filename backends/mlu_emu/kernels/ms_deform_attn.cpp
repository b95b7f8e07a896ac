// MsDeformAttn as device code. value [batch,keys,heads,channels], sampling_loc [batch,queries,heads,levels,points,2],
// attn_weight without the 2, output [batch,queries,heads,channels]; float.
//
// Forward: a task owns outputs and walks their samples; the pixels of the next one are loaded while those of this one
// are computed with. Backward: a task owns (batch, query, head, level); each sample adds atomically to grad_value, and
// the sums over its channels to the two other gradients. Locations and weights are read by the scalar core. Two
// operations per element read, backward eight: bound by memory.
#include <algorithm>
#include <cmath>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/kernels/pipeline.h"
#include "backends/mlu_emu/kernels/reductions.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/ms_deform_attn.h"
#include "common/shape.h"
#include "mluops/problem/ms_deform_attn.h"

namespace mluops::emu {
namespace {

using Shape = mluopsMsDeformAttnShape;
constexpr int kNeighbours = 4;
constexpr std::int64_t kLine = plan::kNfuAlign / bytes_of<float>(1);

struct Level {
  std::int64_t start, h, w;
};

/// A sample and the four pixels round it, (low, low), (low, high), (high, low), (high, high), y first; those beside
/// the map count as zeros.
struct Sample {
  Level level;
  std::int64_t index;  // of its weight
  float weight;        // attn_weight
  std::int64_t low_y, low_x;
  float y, x;  // distances from the low pixel

  std::int64_t pixel_y(int i) const { return low_y + i / 2; }
  std::int64_t pixel_x(int i) const { return low_x + i % 2; }
  bool has(int i) const { return pixel_y(i) >= 0 && pixel_y(i) < level.h && pixel_x(i) >= 0 && pixel_x(i) < level.w; }
  float share_y(int i) const { return i < 2 ? 1.0f - y : y; }
  float share_x(int i) const { return i % 2 == 0 ? 1.0f - x : x; }
  float share(int i) const { return share_y(i) * share_x(i); }
};

/// What both directions read of the tensors.
class Reader {
 public:
  template <class Problem>
  Reader(const Problem& p, const plan::MsDeformAttnPlan& plan, char* nram)
      : shape_(p.shape),
        value_(static_cast<const float*>(p.value)),
        shapes_(p.spatial_shapes),
        starts_(p.level_start_index),
        locations_(static_cast<const float*>(p.sampling_loc)),
        weights_(static_cast<const float*>(p.attn_weight)),
        nram_shapes_(reinterpret_cast<std::int32_t*>(nram + plan.shapes)) {}

  Level level(std::int64_t index) const {
    __memcpy(nram_shapes_, shapes_ + 2 * index, bytes_of<std::int32_t>(2), GDRAM2NRAM);
    return {starts_[index], nram_shapes_[0], nram_shapes_[1]};
  }
  /// False when the sample lies a pixel or more beside the map, or nowhere.
  bool sample(const Level& level, std::int64_t index, Sample& found) const {
    const float x = locations_[2 * index] * static_cast<float>(level.w) - 0.5f;
    const float y = locations_[2 * index + 1] * static_cast<float>(level.h) - 0.5f;
    if (!(y > -1.0f && x > -1.0f && y < static_cast<float>(level.h) && x < static_cast<float>(level.w))) return false;
    const float low_y = std::floor(y), low_x = std::floor(x);
    found = {level,     index,    weights_[index], static_cast<std::int64_t>(low_y), static_cast<std::int64_t>(low_x),
             y - low_y, x - low_x};
    return true;
  }
  /// First element, in value and grad_value, of a sample's pixel for a row (batch, query, head).
  std::int64_t pixel(const Sample& s, int i, std::int64_t row) const {
    const std::int64_t batch = row / shape_.heads / shape_.queries, head = row % shape_.heads;
    const std::int64_t key = s.level.start + s.pixel_y(i) * s.level.w + s.pixel_x(i);
    return ((batch * shape_.keys + key) * shape_.heads + head) * shape_.channels;
  }
  const float* value() const { return value_; }

 private:
  const Shape& shape_;
  const float* value_;
  const std::int32_t *shapes_, *starts_;
  const float *locations_, *weights_;
  std::int32_t* nram_shapes_;
};

class Forward {
 public:
  Forward(const mluopsMsDeformAttnForwardProblem& p, const plan::MsDeformAttnPlan& plan, char* nram)
      : shape_(p.shape), plan_(plan), reader_(p, plan, nram), output_(static_cast<float*>(p.output)), nram_(nram) {}

  void run(std::int64_t row) const {
    for (std::int64_t i = 0; i < plan_.segments(); ++i) run_segment(row, plan_.segment(i));
  }

 private:
  enum { kCol = 2 * kNeighbours, kSample, kProduct };
  float* array(int i) const { return reinterpret_cast<float*>(nram_ + plan_.arrays[i]); }
  float* pixel(int side, int i) const { return array(side * kNeighbours + i); }

  /// The samples of a row, level after level.
  class Walk {
   public:
    Walk(const Shape& s, const Reader& reader, std::int64_t row)
        : reader_(reader), points_(s.points), first_(row * s.levels * s.points), count_(s.levels * s.points) {}

    bool next(Sample& sample) {
      while (at_ < count_) {
        if (at_ % points_ == 0) level_ = reader_.level(at_ / points_);
        if (reader_.sample(level_, first_ + at_++, sample)) return true;
      }
      return false;
    }

   private:
    const Reader& reader_;
    std::int64_t points_, first_, count_, at_ = 0;
    Level level_ = {};
  };

  void run_segment(std::int64_t row, plan::Share channels) const {
    const std::int64_t n = round_up(channels.size(), kLine), bytes = bytes_of<float>(channels.size());
    __bang_write_value(array(kCol), n, 0.0f);
    Walk walk(shape_, reader_, row);
    run_ahead<Sample>([&](Sample& sample) { return walk.next(sample); },
                      [&](const Sample& sample, int side) {
                        for (int i = 0; i < kNeighbours; ++i) {
                          if (!sample.has(i)) continue;
                          const float* from = reader_.value() + reader_.pixel(sample, i, row) + channels.begin;
                          __memcpy_async(pixel(side, i), from, bytes, GDRAM2NRAM);
                        }
                      },
                      [&](const Sample& sample, int side) { add(sample, side, n); });
    __memcpy(output_ + row * shape_.channels + channels.begin, array(kCol), bytes, NRAM2GDRAM);
  }

  void add(const Sample& sample, int side, std::int64_t n) const {
    __bang_write_value(array(kSample), n, 0.0f);
    for (int i = 0; i < kNeighbours; ++i) {
      if (!sample.has(i)) continue;
      __bang_mul_scalar(array(kProduct), pixel(side, i), sample.share(i), n);
      __bang_add(array(kSample), array(kSample), array(kProduct), n);
    }
    __bang_mul_scalar(array(kSample), array(kSample), sample.weight, n);
    __bang_add(array(kCol), array(kCol), array(kSample), n);
  }

  const Shape& shape_;
  const plan::MsDeformAttnPlan& plan_;
  Reader reader_;
  float* output_;
  char* nram_;
};

class Backward {
 public:
  Backward(const mluopsMsDeformAttnBackwardProblem& p, const plan::MsDeformAttnPlan& plan, char* nram)
      : shape_(p.shape),
        plan_(plan),
        reader_(p, plan, nram),
        grad_output_(static_cast<const float*>(p.grad_output)),
        grad_value_(static_cast<float*>(p.grad_value)),
        grad_location_(static_cast<float*>(p.grad_sampling_loc)),
        grad_weight_(static_cast<float*>(p.grad_attn_weight)),
        nram_(nram) {}

  void run(std::int64_t unit) const {
    const Level level = reader_.level(unit % shape_.levels);
    for (std::int64_t point = 0; point < shape_.points; ++point) {
      Sample sample;
      if (!reader_.sample(level, unit * shape_.points + point, sample)) continue;
      for (std::int64_t i = 0; i < plan_.segments(); ++i) {
        run_segment(sample, unit / shape_.levels, plan_.segment(i));
      }
    }
  }

 private:
  enum { kValue, kProduct, kInterpolated, kAlongY, kAlongX, kTopGrad, kWeighted, kPart };
  float* array(int i) const { return reinterpret_cast<float*>(nram_ + plan_.arrays[i]); }

  void run_segment(const Sample& sample, std::int64_t row, plan::Share channels) const {
    const std::int64_t n = round_up(channels.size(), kLine);
    // Lanes behind the channels are added up, too.
    for (int i : {kValue, kTopGrad, kInterpolated, kAlongY, kAlongX}) __bang_write_value(array(i), n, 0.0f);
    __sync();
    __memcpy(array(kTopGrad), grad_output_ + row * shape_.channels + channels.begin, bytes_of<float>(channels.size()),
             GDRAM2NRAM);
    __bang_mul_scalar(array(kWeighted), array(kTopGrad), sample.weight, n);
    for (int i = 0; i < kNeighbours; ++i) {
      if (sample.has(i)) take_pixel(sample, i, reader_.pixel(sample, i, row) + channels.begin, channels.size());
    }
    add_sum(grad_weight_ + sample.index, kInterpolated, kTopGrad, 1.0f, n);
    add_sum(grad_location_ + 2 * sample.index, kAlongX, kWeighted, static_cast<float>(sample.level.w), n);
    add_sum(grad_location_ + 2 * sample.index + 1, kAlongY, kWeighted, static_cast<float>(sample.level.h), n);
  }

  void take_pixel(const Sample& sample, int i, std::int64_t pixel, std::int64_t channels) const {
    const std::int64_t n = round_up(channels, kLine);
    __memcpy(array(kValue), reader_.value() + pixel, bytes_of<float>(channels), GDRAM2NRAM);
    add_product(kAlongY, i < 2 ? -sample.share_x(i) : sample.share_x(i), n);
    add_product(kAlongX, i % 2 == 0 ? -sample.share_y(i) : sample.share_y(i), n);
    add_product(kInterpolated, sample.share(i), n);
    __bang_mul_scalar(array(kPart), array(kWeighted), sample.share(i), n);
    __bang_atomic_reduce_add(grad_value_ + pixel, array(kPart), channels);
  }

  /// sum += value * factor.
  void add_product(int sum, float factor, std::int64_t n) const {
    __bang_mul_scalar(array(kProduct), array(kValue), factor, n);
    __bang_add(array(sum), array(sum), array(kProduct), n);
  }

  /// *gradient += the sum of values * gradients * factor.
  void add_sum(float* gradient, int values, int gradients, float factor, std::int64_t n) const {
    __bang_mul(array(values), array(values), array(gradients), n);
    __bang_mul_scalar(array(values), array(values), factor, n);
    __bang_atomic_reduce_add(gradient, sum_of_lanes(array(kPart), array(values), n, kLine));
  }

  const Shape& shape_;
  const plan::MsDeformAttnPlan& plan_;
  Reader reader_;
  const float* grad_output_;
  float *grad_value_, *grad_location_, *grad_weight_;
  char* nram_;
};

void forward_kernel(const mluopsMsDeformAttnForwardProblem& p, const plan::MsDeformAttnPlan& plan, char* nram) {
  const Forward forward(p, plan, nram);
  for (std::int64_t row = taskId; row < plan.units; row += taskDim) forward.run(row);
}

void backward_kernel(const mluopsMsDeformAttnBackwardProblem& p, const plan::MsDeformAttnPlan& plan, char* nram) {
  const Backward backward(p, plan, nram);
  const plan::Share units = plan::contiguous_share(plan.units, taskDim, taskId);
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) backward.run(unit);
}

struct Sizes {
  std::int64_t value, shapes, starts, rows, samples;

  explicit Sizes(const Shape& s)
      : value(bytes_of<float>(s.batch * s.keys * s.heads * s.channels)),
        shapes(bytes_of<std::int32_t>(s.levels * 2)),
        starts(bytes_of<std::int32_t>(s.levels)),
        rows(bytes_of<float>(s.batch * s.queries * s.heads * s.channels)),
        samples(bytes_of<float>(s.batch * s.queries * s.heads * s.levels * s.points)) {}
};

template <class Problem>
std::vector<Tensor> inputs(const Problem& p, const Sizes& bytes) {
  return {reads("value", p.value, bytes.value), reads("spatial_shapes", p.spatial_shapes, bytes.shapes),
          reads("level_start_index", p.level_start_index, bytes.starts),
          reads("sampling_loc", p.sampling_loc, 2 * bytes.samples), reads("attn_weight", p.attn_weight, bytes.samples)};
}

}  // namespace

mluOpStatus_t ms_deform_attn_forward(Context& context, const mluopsCall& call,
                                     const mluopsMsDeformAttnForwardProblem& p) {
  const auto plan = plan::plan_ms_deform_attn(p.shape, plan::Direction::kForward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(p.shape);
  std::vector<Tensor> tensors = inputs(p, bytes);
  tensors.push_back(writes("data_col", p.output, bytes.rows));
  return launch(context, call, "ms_deform_attn_forward", plan, tensors,
                [&](char* nram) { forward_kernel(p, plan, nram); });
}

mluOpStatus_t ms_deform_attn_backward(Context& context, const mluopsCall& call,
                                      const mluopsMsDeformAttnBackwardProblem& p) {
  const auto plan = plan::plan_ms_deform_attn(p.shape, plan::Direction::kBackward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  const Sizes bytes(p.shape);
  std::vector<Tensor> tensors = inputs(p, bytes);
  tensors.push_back(reads("grad_output", p.grad_output, bytes.rows));
  for (const Tensor& gradient : {updates("grad_value", p.grad_value, bytes.value),
                                 updates("grad_sampling_loc", p.grad_sampling_loc, 2 * bytes.samples),
                                 updates("grad_attn_weight", p.grad_attn_weight, bytes.samples)}) {
    if (gradient.bytes > 0) fill_zero(context, gradient.name, gradient.data, gradient.bytes);
    tensors.push_back(gradient);
  }
  return launch(context, call, "ms_deform_attn_backward", plan, tensors,
                [&](char* nram) { backward_kernel(p, plan, nram); });
}

}  // namespace mluops::emu
