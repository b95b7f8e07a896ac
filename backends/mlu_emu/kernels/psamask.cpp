// PSAMask as device code. x [n,h,w,h_mask*w_mask], y [n,h,w,h*w]; float values are moved, never computed with.
//
// A task owns the pixels (images and rows) of its share and writes their channels (collect, and dx) or their column of
// every position's channels (distribute): no two tasks write the same bytes.
#include <algorithm>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/kernels/copy.h"
#include "backends/mlu_emu/operators.h"
#include "backends/mlu_emu/plan/psamask.h"
#include "common/shape.h"
#include "mluops/problem/psamask.h"

namespace mluops::emu {
namespace {

/// Whole lines of 128 B, in floats.
std::int64_t up_line(std::int64_t elements) {
  return round_up(elements, plan::kNfuAlign / bytes_of<float>(1));
}

/// Cells of the mask's rows or columns that fall on the feature map, for the pixel at `at`.
struct Cells {
  std::int64_t begin, end;
  std::int64_t target;  // feature coordinate of cell `begin`

  Cells(std::int64_t at, std::int64_t size, std::int64_t mask)
      : begin(std::max<std::int64_t>(0, (mask - 1) / 2 - at)),
        end(std::min(mask, size + (mask - 1) / 2 - at)),
        target(begin + at - (mask - 1) / 2) {}
};

/// One segment of a core's share, and the steps both directions are made of.
class Segment {
 public:
  Segment(const mluopsPsamaskShape& shape, const plan::PsamaskPlan& plan, plan::Share n, plan::Share h, plan::Share w,
          char* nram)
      : s_(shape),
        n_(n),
        h_(h),
        w_(w),
        ci_(shape.h_mask * shape.w_mask),
        co_(shape.h * shape.w),
        pixels_(h.size() * w.size()),
        lanes_(plan.lanes),
        narrow_(reinterpret_cast<float*>(nram + plan.narrow_offset)),
        wide_(reinterpret_cast<float*>(nram + plan.wide_offset)),
        temp_(reinterpret_cast<float*>(nram + plan.wide_temp_offset)) {}

  void collect_forward(const float* x, float* y);
  void distribute_forward(const float* x, float* y);
  void collect_backward(const float* dy, float* dx);
  void distribute_backward(const float* dy, float* dx);

 private:
  std::int64_t first_pixel() const { return h_.begin * s_.w + w_.begin; }

  /// Channels of the segment's pixels, `channels` each, dense in NRAM.
  void load(float* nram, const float* gdram, std::int64_t channels);
  void store(float* gdram, const float* nram, std::int64_t channels);
  /// Moves every pixel's covered cells between the narrow buffer and a wide one of the given pitches.
  template <bool kToWide>
  void move_cells(float* wide, std::int64_t pixel_pitch, std::int64_t image_pitch);

  const mluopsPsamaskShape& s_;
  plan::Share n_, h_, w_;
  std::int64_t ci_, co_, pixels_, lanes_;
  float *narrow_, *wide_, *temp_;
};

void Segment::load(float* nram, const float* gdram, std::int64_t channels) {
  const std::int64_t image = s_.h * s_.w * channels, part = pixels_ * channels;
  copy_rows(nram, gdram + n_.begin * image + first_pixel() * channels, bytes_of<float>(part), n_.size(),
            {bytes_of<float>(part), bytes_of<float>(image)}, GDRAM2NRAM);
}

void Segment::store(float* gdram, const float* nram, std::int64_t channels) {
  const std::int64_t image = s_.h * s_.w * channels, part = pixels_ * channels;
  copy_rows(gdram + n_.begin * image + first_pixel() * channels, nram, bytes_of<float>(part), n_.size(),
            {bytes_of<float>(image), bytes_of<float>(part)}, NRAM2GDRAM);
}

template <bool kToWide>
void Segment::move_cells(float* wide, std::int64_t pixel_pitch, std::int64_t image_pitch) {
  for (std::int64_t n = 0; n < n_.size(); ++n)
    for (std::int64_t p = 0; p < pixels_; ++p) {
      const Cells rows(h_.begin + p / w_.size(), s_.h, s_.h_mask), columns(w_.begin + p % w_.size(), s_.w, s_.w_mask);
      float* to = wide + n * image_pitch + p * pixel_pitch + rows.target * s_.w + columns.target;
      float* from = narrow_ + (n * pixels_ + p) * ci_ + rows.begin * s_.w_mask + columns.begin;
      const std::int64_t bytes = bytes_of<float>(columns.end - columns.begin), count = rows.end - rows.begin;
      const std::int64_t wide_stride = bytes_of<float>(s_.w), narrow_stride = bytes_of<float>(s_.w_mask);
      if constexpr (kToWide)
        copy_rows(to, from, bytes, count, {wide_stride, narrow_stride}, NRAM2NRAM);
      else
        copy_rows(from, to, bytes, count, {narrow_stride, wide_stride}, NRAM2NRAM);
    }
}

void Segment::collect_forward(const float* x, float* y) {
  load(narrow_, x, ci_);
  __bang_write_value(wide_, up_line(n_.size() * pixels_ * co_), 0.0f);
  move_cells<true>(wide_, co_, pixels_ * co_);
  store(y, wide_, co_);
}

/// Collects into [pixel][position], transposes to [position][pixel], stores a run of channels per position.
void Segment::distribute_forward(const float* x, float* y) {
  const std::int64_t positions = round_up(co_, lanes_), columns = round_up(pixels_, lanes_),
                     image = positions * columns;
  load(narrow_, x, ci_);
  __bang_write_value(temp_, n_.size() * image, 0.0f);
  move_cells<true>(temp_, positions, image);
  for (std::int64_t n = 0; n < n_.size(); ++n) {
    __bang_transpose(wide_ + n * image, temp_ + n * image, columns, positions);
    copy_rows(y + (n_.begin + n) * co_ * co_ + first_pixel(), wide_ + n * image, bytes_of<float>(pixels_), co_,
              {bytes_of<float>(co_), bytes_of<float>(columns)}, NRAM2GDRAM);
  }
}

void Segment::collect_backward(const float* dy, float* dx) {
  load(wide_, dy, co_);
  __bang_write_value(narrow_, up_line(n_.size() * pixels_ * ci_), 0.0f);
  move_cells<false>(wide_, co_, pixels_ * co_);
  store(dx, narrow_, ci_);
}

void Segment::distribute_backward(const float* dy, float* dx) {
  const std::int64_t positions = round_up(co_, lanes_), columns = round_up(pixels_, lanes_),
                     image = positions * columns;
  // The transpose reads whole lines, so lanes nobody loads need a value.
  if (positions != co_ || columns != pixels_) __bang_write_value(temp_, n_.size() * image, 0.0f);
  for (std::int64_t n = 0; n < n_.size(); ++n) {
    copy_rows(temp_ + n * image, dy + (n_.begin + n) * co_ * co_ + first_pixel(), bytes_of<float>(pixels_), co_,
              {bytes_of<float>(columns), bytes_of<float>(co_)}, GDRAM2NRAM);
    __bang_transpose(wide_ + n * image, temp_ + n * image, positions, columns);
  }
  __bang_write_value(narrow_, up_line(n_.size() * pixels_ * ci_), 0.0f);
  move_cells<false>(wide_, positions, image);
  store(dx, narrow_, ci_);
}

/// Calls run(segment) for every segment of the task's share: images outermost, then rows, then pixels of a row.
template <class Run>
void for_segments(const mluopsPsamaskShape& s, const plan::PsamaskPlan& p, char* nram, const Run& run) {
  const auto [n, h] = plan::psamask_share(p, s, taskIdX, taskIdY);
  if (n.size() == 0 || h.size() == 0) return;
  for (std::int64_t n0 = n.begin; n0 < n.end; n0 += p.segment_n)
    for (std::int64_t h0 = h.begin; h0 < h.end; h0 += p.segment_h)
      for (std::int64_t w0 = 0; w0 < s.w; w0 += p.segment_w)
        run(Segment(s, p, {n0, std::min(n.end, n0 + p.segment_n)}, {h0, std::min(h.end, h0 + p.segment_h)},
                    {w0, std::min(s.w, w0 + p.segment_w)}, nram));
}

void psamask_forward_kernel(const mluopsPsamaskForwardProblem& problem, const plan::PsamaskPlan& plan, char* nram) {
  const auto* x = static_cast<const float*>(problem.x);
  auto* y = static_cast<float*>(problem.y);
  for_segments(problem.shape, plan, nram, [&](Segment segment) {
    if (problem.shape.psa_type == 0)
      segment.collect_forward(x, y);
    else
      segment.distribute_forward(x, y);
  });
}

void psamask_backward_kernel(const mluopsPsamaskBackwardProblem& problem, const plan::PsamaskPlan& plan, char* nram) {
  const auto* dy = static_cast<const float*>(problem.dy);
  auto* dx = static_cast<float*>(problem.dx);
  for_segments(problem.shape, plan, nram, [&](Segment segment) {
    if (problem.shape.psa_type == 0)
      segment.collect_backward(dy, dx);
    else
      segment.distribute_backward(dy, dx);
  });
}

std::int64_t narrow_bytes(const mluopsPsamaskShape& s) {
  return bytes_of<float>(s.n * s.h * s.w * s.h_mask * s.w_mask);
}
std::int64_t wide_bytes(const mluopsPsamaskShape& s) {
  return bytes_of<float>(s.n * s.h * s.w * s.h * s.w);
}

}  // namespace

mluOpStatus_t psamask_forward(Context& context, const mluopsCall& call, const mluopsPsamaskForwardProblem& p) {
  const auto plan = plan::plan_psamask(p.shape, plan::Direction::kForward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "psamask_forward", plan,
                {reads("x", p.x, narrow_bytes(p.shape)), writes("y", p.y, wide_bytes(p.shape))},
                [&](char* nram) { psamask_forward_kernel(p, plan, nram); });
}

mluOpStatus_t psamask_backward(Context& context, const mluopsCall& call, const mluopsPsamaskBackwardProblem& p) {
  const auto plan = plan::plan_psamask(p.shape, plan::Direction::kBackward, machine_of(context));
  if (!plan.ok()) return not_supported(call, plan.refusal);
  return launch(context, call, "psamask_backward", plan,
                {reads("dy", p.dy, wide_bytes(p.shape)), writes("dx", p.dx, narrow_bytes(p.shape))},
                [&](char* nram) { psamask_backward_kernel(p, plan, nram); });
}

}  // namespace mluops::emu
