// DeformRoiPool as device code. input [batch,h,w,c], rois [rois,5], offset [rois,2,ph,pw], output [rois,ph,pw,c].
//
// A task owns the bins (roi, ph, pw) taskId, taskId + taskDim, ... and writes their output or grad_offset alone;
// grad_input is shared and added to atomically. Per bin: channel segment > sample row > sample; the four input rows of
// the next sample are loaded into pong while ping is computed with. Coordinates are computed in T. Two operations per
// element read: bound by memory.
#include <algorithm>
#include <utility>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/bilinear.h"
#include "backends/mlu_emu/kernels/reductions.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/deform_roi_pool.h"
#include "mluops/problem/deform_roi_pool.h"

namespace mluops::emu {
namespace {

using Shape = mluopsDeformRoiPoolShape;

/// A RoI on the feature map and the grid of samples in each of its bins.
template <class T>
struct Roi {
  std::int64_t batch;
  T x, y, width, height;
  T bin_width, bin_height;
  std::int64_t grid_w, grid_h;

  /// `corners` is a row of rois: batch, x1, y1, x2, y2.
  Roi(const Shape& shape, const T* corners) {
    const T scale(shape.spatial_scale);
    batch = to_int32(corners[0]);
    x = corners[1] * scale - T(0.5f);
    y = corners[2] * scale - T(0.5f);
    width = corners[3] * scale - T(0.5f) - x;
    height = corners[4] * scale - T(0.5f) - y;
    bin_width = width / from_integer<T>(shape.pooled_w);
    bin_height = height / from_integer<T>(shape.pooled_h);
    grid_w = grid(shape, width, bin_width);
    grid_h = grid(shape, height, bin_height);
    if (grid_w <= 0 || grid_h <= 0) grid_w = grid_h = 0;  // an axis without samples: no walk along the other
  }

  /// Samples of a bin along one axis; not positive: none, as when the RoI is not finite.
  static std::int64_t grid(const Shape& shape, T size, T bin_size) {
    if (shape.sampling_ratio > 0) return shape.sampling_ratio;
    if (!std::isfinite(static_cast<float>(size))) return std::numeric_limits<std::int32_t>::min();
    return to_int32(std::ceil(static_cast<float>(bin_size)));
  }
};

/// One bin: which one, and where its samples lie.
template <class T>
class Bin {
 public:
  Bin(const Shape& shape, std::int64_t index, const T* corners, const T* offset)
      : shape_(shape),
        pw_(index % shape.pooled_w),
        ph_(index / shape.pooled_w % shape.pooled_h),
        roi_index_(roi_of(shape, index)),
        roi_(shape, corners),
        gamma_width_(T(shape.gamma) * roi_.width),
        gamma_height_(T(shape.gamma) * roi_.height) {
    if (offset == nullptr) return;
    roi_.x = roi_.x + gamma_width_ * offset[offset_x()];
    roi_.y = roi_.y + gamma_height_ * offset[offset_y()];
  }

  static std::int64_t roi_of(const Shape& shape, std::int64_t bin) { return bin / shape.pooled_w / shape.pooled_h; }

  std::int64_t batch() const { return roi_.batch; }
  std::int64_t grid_h() const { return roi_.grid_h; }
  std::int64_t grid_w() const { return roi_.grid_w; }
  T gamma_width() const { return gamma_width_; }
  T gamma_height() const { return gamma_height_; }
  /// Element of offset and grad_offset that belongs to this bin.
  std::int64_t offset_x() const { return (roi_index_ * 2 * shape_.pooled_h + ph_) * shape_.pooled_w + pw_; }
  std::int64_t offset_y() const { return offset_x() + shape_.pooled_h * shape_.pooled_w; }

  /// 1 / number of samples, those outside the map included.
  T reciprocal() const {
    const T count = from_integer<T>(std::max<std::int64_t>(grid_h() * grid_w(), 1));
    return T(1.0f / static_cast<float>(count));
  }
  AxisSample<T> sample_y(std::int64_t iy) const {
    return sample_axis(at(roi_.y, ph_, roi_.bin_height, iy, roi_.grid_h), shape_.h);
  }
  AxisSample<T> sample_x(std::int64_t ix) const {
    return sample_axis(at(roi_.x, pw_, roi_.bin_width, ix, roi_.grid_w), shape_.w);
  }
  /// Sample number `index` of the bin, rows first.
  Sample<T> sample(std::int64_t index) const { return {sample_y(index / grid_w()), sample_x(index % grid_w())}; }

 private:
  static T at(T start, std::int64_t bin, T bin_size, std::int64_t i, std::int64_t grid) {
    return start + from_integer<T>(bin) * bin_size + T(static_cast<float>(i) + 0.5f) * bin_size / from_integer<T>(grid);
  }

  const Shape& shape_;
  std::int64_t pw_, ph_, roi_index_;
  Roi<T> roi_;
  T gamma_width_, gamma_height_;
};

/// The four input rows round a sample, twice: computed with in ping, loaded ahead into pong.
template <class T>
class PingPong {
 public:
  /// `channels` of input from `channel` on; rows lie `padded` apart.
  PingPong(const Shape& shape, const T* input, std::int64_t channel, std::int64_t channels, std::int64_t padded,
           T* ping, T* pong)
      : shape_(shape),
        input_(input),
        channel_(channel),
        channels_(channels),
        padded_(padded),
        ping_(ping),
        pong_(pong) {
    clear(ping_);
    clear(pong_);
    __sync();
  }

  T* row(int neighbour) const { return ping_ + neighbour * padded_; }
  /// Ping does not hold the next sample that will be asked for.
  void invalidate() { valid_ = false; }

  /// Makes sure ping holds this sample, then starts to load the one after it.
  void load(const Bin<T>& bin, const Sample<T>& sample, std::int64_t index) {
    if (!valid_) load_now(bin, sample);
    valid_ = true;
    if (index + 1 < bin.grid_h() * bin.grid_w()) prefetch(bin, bin.sample(index + 1));
  }
  void swap() {
    std::swap(ping_, pong_);
    __sync();
  }

 private:
  static constexpr int kNeighbours = 4;

  void clear(T* buffer) { __bang_write_value(buffer, kNeighbours * padded_, T(0.0f)); }
  const T* pixel(const Bin<T>& bin, const Sample<T>& sample, int i) const {
    return input_ + ((bin.batch() * shape_.h + sample.neighbour_y(i)) * shape_.w + sample.neighbour_x(i)) * shape_.c +
           channel_;
  }
  void load_now(const Bin<T>& bin, const Sample<T>& sample) {
    clear(ping_);
    __sync();
    for (int i = 0; i < kNeighbours; ++i) {
      __memcpy(row(i), pixel(bin, sample, i), channels_ * sizeof(T), GDRAM2NRAM);
    }
  }
  void prefetch(const Bin<T>& bin, const Sample<T>& next) {
    clear(pong_);
    __sync();
    if (next.outside()) return;
    for (int i = 0; i < kNeighbours; ++i) {
      __memcpy_async(pong_ + i * padded_, pixel(bin, next, i), channels_ * sizeof(T), GDRAM2NRAM);
    }
  }

  const Shape& shape_;
  const T* input_;
  std::int64_t channel_, channels_, padded_;
  T *ping_, *pong_;
  bool valid_ = false;
};

/// Walks a bin's samples, rows first: visit(sample, index) for those inside the map, skip() for the others and for
/// whole rows outside.
template <class T, class Visit, class Skip>
void for_samples(const Bin<T>& bin, const Visit& visit, const Skip& skip) {
  for (std::int64_t iy = 0; iy < bin.grid_h(); ++iy) {
    const AxisSample<T> y = bin.sample_y(iy);
    if (y.outside) {
      skip();
      continue;
    }
    for (std::int64_t ix = 0; ix < bin.grid_w(); ++ix) {
      const Sample<T> sample{y, bin.sample_x(ix)};
      if (sample.x.outside) {
        skip();
      } else {
        visit(sample, iy * bin.grid_w() + ix);
      }
    }
  }
}

/// The row of rois a bin needs, copied to the start of NRAM and read from there before anything else is placed.
template <class T>
Bin<T> load_bin(const Shape& shape, const T* rois, const T* offset, std::int64_t bin, char* nram) {
  T* corners = reinterpret_cast<T*>(nram);
  __memcpy(corners, rois + Bin<T>::roi_of(shape, bin) * 5, 5 * sizeof(T), GDRAM2NRAM);
  return Bin<T>(shape, bin, corners, offset);
}

template <class T>
class Forward {
 public:
  Forward(const mluopsDeformRoiPoolForwardProblem& problem, const plan::DeformRoiPoolPlan& plan, char* nram)
      : shape_(problem.shape),
        plan_(plan),
        input_(static_cast<const T*>(problem.input)),
        rois_(static_cast<const T*>(problem.rois)),
        offset_(static_cast<const T*>(problem.offset)),
        output_(static_cast<T*>(problem.output)),
        nram_(nram) {}

  void run(std::int64_t index) const {
    const Bin<T> bin = load_bin(shape_, rois_, offset_, index, nram_);
    for (std::int64_t i = 0; i < plan_.segments(); ++i) run_segment(bin, plan_.segment(i), output_ + index * shape_.c);
  }

 private:
  void run_segment(const Bin<T>& bin, plan::Share channels, T* output) const {
    const plan::DeformForwardTile tile = plan_.forward_tile(channels.size());
    T* base = reinterpret_cast<T*>(nram_);
    T* sum = base + tile.output;
    __bang_write_value(sum, tile.padded, T(0.0f));
    PingPong<T> rows(shape_, input_, channels.begin, channels.size(), tile.padded, base + tile.ping, base + tile.pong);
    const auto visit = [&](const Sample<T>& sample, std::int64_t index) {
      rows.load(bin, sample, index);
      interpolate(sum, rows, sample, tile.padded);
      rows.swap();
    };
    for_samples(bin, visit, [&] { rows.invalidate(); });
    __bang_mul_scalar(sum, sum, bin.reciprocal(), tile.padded);
    __memcpy(output + channels.begin, sum, channels.size() * sizeof(T), NRAM2GDRAM);
  }

  /// sum += ((w1 v1 + w2 v2) + w3 v3) + w4 v4, in ping.
  static void interpolate(T* sum, const PingPong<T>& rows, const Sample<T>& sample, std::int64_t n) {
    T* value = rows.row(0);
    __bang_mul_scalar(value, value, sample.weight(0), n);
    for (int i = 1; i < 4; ++i) {
      __bang_mul_scalar(rows.row(i), rows.row(i), sample.weight(i), n);
      __bang_add(value, value, rows.row(i), n);
    }
    __bang_add(sum, sum, value, n);
  }

  const Shape& shape_;
  const plan::DeformRoiPoolPlan& plan_;
  const T *input_, *rois_, *offset_;
  T* output_;
  char* nram_;
};

/// What backward does with one channel segment of one bin.
template <class T>
class BackwardSegment {
 public:
  BackwardSegment(const mluopsDeformRoiPoolBackwardProblem& problem, const plan::DeformRoiPoolPlan& plan,
                  const Bin<T>& bin, plan::Share channels, char* nram)
      : shape_(problem.shape),
        bin_(bin),
        channels_(channels),
        tile_(plan.backward_tile(channels.size())),
        nram_(reinterpret_cast<T*>(nram)),
        input_(static_cast<const T*>(problem.input)),
        grad_input_(static_cast<T*>(problem.grad_input)),
        grad_offset_(static_cast<T*>(problem.grad_offset)),
        lanes_(plan.lanes) {}

  /// `grad_output` points at the bin's first channel.
  void run(const T* grad_output) const {
    load_grad_output(grad_output);
    if (grad_offset_ == nullptr) {
      for_samples(
          bin_, [&](const Sample<T>& sample, std::int64_t) { scatter(sample); }, [] {});
      return;
    }
    __bang_write_value(nram_ + tile_.sum_tmp, lanes_, T(0.0f));
    PingPong<T> rows(shape_, input_, channels_.begin, channels_.size(), tile_.padded, nram_ + tile_.ping,
                     nram_ + tile_.pong);
    const auto visit = [&](const Sample<T>& sample, std::int64_t index) {
      scatter(sample);
      rows.load(bin_, sample, index);
      add_offset_gradients(rows, sample);
      rows.swap();
    };
    for_samples(bin_, visit, [&] { rows.invalidate(); });
  }

 private:
  T* tmp(int i) const { return nram_ + tile_.tmp + i * tile_.padded; }
  T* gradient() const { return nram_ + tile_.grad_output; }

  void load_grad_output(const T* grad_output) const {
    __bang_write_value(gradient(), tile_.padded, T(0.0f));
    __sync();
    __memcpy(gradient(), grad_output + channels_.begin, channels_.size() * sizeof(T), GDRAM2NRAM);
    __bang_mul_scalar(gradient(), gradient(), bin_.reciprocal(), tile_.padded);
  }

  /// Adds the gradient times each neighbour's weight to grad_input; the real channels only.
  void scatter(const Sample<T>& sample) const {
    for (int i = 0; i < 4; ++i) __bang_mul_scalar(tmp(i), gradient(), sample.weight(i), tile_.padded);
    __sync();
    for (int i = 0; i < 4; ++i) {
      const std::int64_t pixel = (bin_.batch() * shape_.h + sample.neighbour_y(i)) * shape_.w + sample.neighbour_x(i);
      __bang_atomic_reduce_add(grad_input_ + pixel * shape_.c + channels_.begin, tmp(i), channels_.size());
    }
  }

  /// The coordinates are the unclamped ones, the neighbours those of the clamped ones: that is the device's rule.
  void add_offset_gradients(const PingPong<T>& rows, const Sample<T>& sample) const {
    const auto distance = [](T a, std::int64_t b) { return a - from_integer<T>(b); };
    const auto distance_to = [](std::int64_t a, T b) { return from_integer<T>(a) - b; };
    const AxisSample<T>&y = sample.y, &x = sample.x;
    const T of_y[] = {distance(y.raw, y.low), distance_to(y.high, y.raw), distance_to(y.low, y.raw),
                      distance(y.raw, y.high)};
    add_offset_gradient(rows, {3, 1, 2, 0}, of_y, bin_.gamma_width(), grad_offset_ + bin_.offset_x());
    __bang_write_value(nram_ + tile_.sum_tmp, lanes_, T(0.0f));
    const T of_x[] = {distance(x.raw, x.low), distance_to(x.high, x.raw), distance_to(x.low, x.raw),
                      distance(x.raw, x.high)};
    add_offset_gradient(rows, {3, 2, 1, 0}, of_x, bin_.gamma_height(), grad_offset_ + bin_.offset_y());
  }

  /// *grad += sum over channels of (sum of neighbours[i] * coefficients[i]) * factor * gradient.
  void add_offset_gradient(const PingPong<T>& rows, const int (&neighbours)[4], const T (&coefficients)[4], T factor,
                           T* grad) const {
    const std::int64_t n = tile_.padded;
    __bang_mul_scalar(tmp(0), rows.row(neighbours[0]), coefficients[0], n);
    for (int i = 1; i < 4; ++i) {
      __bang_mul_scalar(tmp(1), rows.row(neighbours[i]), coefficients[i], n);
      __bang_add(tmp(0), tmp(0), tmp(1), n);
    }
    __bang_mul_scalar(tmp(0), tmp(0), factor, n);
    __bang_mul(tmp(0), gradient(), tmp(0), n);
    __bang_atomic_reduce_add(grad, sum_of_lanes(nram_ + tile_.sum_tmp, tmp(0), n, lanes_));
  }

  const Shape& shape_;
  const Bin<T>& bin_;
  plan::Share channels_;
  plan::DeformBackwardTile tile_;
  T* nram_;
  const T* input_;
  T *grad_input_, *grad_offset_;
  std::int64_t lanes_;
};

template <class T>
void forward_kernel(const mluopsDeformRoiPoolForwardProblem& problem, const plan::DeformRoiPoolPlan& plan, char* nram) {
  const Forward<T> forward(problem, plan, nram);
  for (std::int64_t bin = taskId; bin < plan.bins; bin += taskDim) forward.run(bin);
}

template <class T>
void backward_kernel(const mluopsDeformRoiPoolBackwardProblem& problem, const plan::DeformRoiPoolPlan& plan,
                     char* nram) {
  const auto* grad_output = static_cast<const T*>(problem.grad_output);
  for (std::int64_t index = taskId; index < plan.bins; index += taskDim) {
    const Bin<T> bin = load_bin(problem.shape, static_cast<const T*>(problem.rois),
                                static_cast<const T*>(problem.offset), index, nram);
    for (std::int64_t i = 0; i < plan.segments(); ++i) {
      BackwardSegment<T>(problem, plan, bin, plan.segment(i), nram).run(grad_output + index * problem.shape.c);
    }
  }
}

/// Looks at the RoIs before anything is written: the reason why their grids are too large, or an empty text.
template <class T>
std::string refuse_grids(const Shape& shape, const void* rois) {
  std::int64_t samples = 0;
  for (std::int64_t r = 0; r < shape.rois; ++r) {
    const Roi<T> roi(shape, static_cast<const T*>(rois) + r * 5);
    std::string reason = plan::count_samples(shape.pooled_h * shape.pooled_w, roi.grid_h, roi.grid_w, samples);
    if (!reason.empty()) return "roi " + std::to_string(r) + ": " + reason;
  }
  return {};
}

struct Sizes {
  std::int64_t element, input, rois, bins, offset;

  explicit Sizes(const Shape& s)
      : element(s.dtype == MLUOP_DTYPE_HALF ? 2 : 4),
        input(s.batch * s.h * s.w * s.c * element),
        rois(s.rois * 5 * element),
        bins(s.rois * s.pooled_h * s.pooled_w * s.c * element),
        offset(s.rois * 2 * s.pooled_h * s.pooled_w * element) {}
};

template <class T>
mluOpStatus_t run_forward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolForwardProblem& p,
                          const plan::DeformRoiPoolPlan& plan) {
  const std::string refusal = refuse_grids<T>(p.shape, p.rois);
  if (!refusal.empty()) return not_supported(call, refusal);
  const Sizes bytes(p.shape);
  return launch(
      context, call, "deform_roi_pool_forward", plan,
      {reads("input", p.input, bytes.input), reads("rois", p.rois, bytes.rois),
       reads("offset", p.offset, p.offset == nullptr ? 0 : bytes.offset), writes("output", p.output, bytes.bins)},
      [&](char* nram) { forward_kernel<T>(p, plan, nram); });
}

template <class T>
mluOpStatus_t run_backward(Context& context, const mluopsCall& call, const mluopsDeformRoiPoolBackwardProblem& p,
                           const plan::DeformRoiPoolPlan& plan) {
  const std::string refusal = refuse_grids<T>(p.shape, p.rois);
  if (!refusal.empty()) return not_supported(call, refusal);
  const Sizes bytes(p.shape);
  const std::int64_t offset_bytes = p.offset == nullptr ? 0 : bytes.offset;
  fill_zero(context, "grad_input", p.grad_input, bytes.input);
  if (p.grad_offset != nullptr) fill_zero(context, "grad_offset", p.grad_offset, offset_bytes);
  return launch(context, call, "deform_roi_pool_backward", plan,
                {reads("grad_output", p.grad_output, bytes.bins), reads("input", p.input, bytes.input),
                 reads("rois", p.rois, bytes.rois), reads("offset", p.offset, offset_bytes),
                 updates("grad_input", p.grad_input, bytes.input), updates("grad_offset", p.grad_offset, offset_bytes)},
                [&](char* nram) { backward_kernel<T>(p, plan, nram); });
}

}  // namespace

mluOpStatus_t deform_roi_pool_forward(Context& context, const mluopsCall& call,
                                      const mluopsDeformRoiPoolForwardProblem& problem) {
  const auto plan = plan::plan_deform_roi_pool_forward(problem.shape, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return problem.shape.dtype == MLUOP_DTYPE_HALF ? run_forward<half>(context, call, problem, plan)
                                                 : run_forward<float>(context, call, problem, plan);
}

mluOpStatus_t deform_roi_pool_backward(Context& context, const mluopsCall& call,
                                       const mluopsDeformRoiPoolBackwardProblem& problem) {
  const auto plan = plan::plan_deform_roi_pool_backward(problem.shape, problem.offset != nullptr, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return problem.shape.dtype == MLUOP_DTYPE_HALF ? run_backward<half>(context, call, problem, plan)
                                                 : run_backward<float>(context, call, problem, plan);
}

}  // namespace mluops::emu
