// What the kernels of deformable convolution have in common beside arithmetic: sizes, slices of channels, the image
// tensors of its problems.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "backends/cpu/layout/nchw.h"
#include "common/shape.h"
#include "mluops/problem/dcn.h"

namespace mluops::cpu::dcn {

using Shape = mluopsDcnShape;

inline std::int64_t count_taps(const Shape& s) {
  return s.kernel_h * s.kernel_w;
}
inline std::int64_t out_pixels(const Shape& s) {
  return s.out_h * s.out_w;
}
inline std::int64_t group_inputs(const Shape& s) {
  return s.ci / s.groups;
}
inline std::int64_t group_outputs(const Shape& s) {
  return s.co / s.groups;
}

/// Neighbouring channels of one group of the convolution and one deformable group.
struct Slice {
  std::int64_t first, count;
  std::int64_t group, deform_group;
};

/// f(number, slice) for the slices, of `most` channels or less, that channels [begin, end) are; returns how many.
template <class F>
std::int64_t for_slices(const Shape& s, std::int64_t begin, std::int64_t end, std::int64_t most, F&& f) {
  const std::int64_t in = group_inputs(s), part = s.ci / s.deform_groups;
  std::int64_t number = 0;
  for (std::int64_t c = begin, next = 0; c < end; c = next, ++number) {
    next = std::min({c + most, (c / in + 1) * in, (c / part + 1) * part, end});
    f(number, Slice{c, next - c, c / in, c / part});
  }
  return number;
}
inline std::int64_t count_slices(const Shape& s, std::int64_t begin, std::int64_t end, std::int64_t most) {
  return for_slices(s, begin, end, most, [](std::int64_t, const Slice&) {});
}

/// Channels of a slice that a gradient's task works on at a time.
inline constexpr std::int64_t kSliceChannels = 64;

/// Output pixels, of one image, that are worked on together.
struct Tile {
  std::int64_t image, first, count;  ///< `first` among the pixels of the image
};
inline std::int64_t count_tiles_of(const Shape& s, std::int64_t tile_pixels) {
  return ceil_div(out_pixels(s), tile_pixels);
}
inline Tile tile_at(const Shape& s, std::int64_t image, std::int64_t number, std::int64_t tile_pixels) {
  const std::int64_t first = number * tile_pixels;
  return {image, first, std::min(tile_pixels, out_pixels(s) - first)};
}

}  // namespace mluops::cpu::dcn

namespace mluops::cpu::layout {

/// The image tensors of DCN's problems.
class DcnImages {
 public:
  explicit DcnImages(const mluopsDcnShape& s) : s_(s) {}
  Image input() const { return {s_.batch, s_.h * s_.w, s_.ci, size()}; }
  Image of_taps(std::int64_t numbers) const {
    return {s_.batch, dcn::out_pixels(s_), s_.deform_groups * dcn::count_taps(s_) * numbers, size()};
  }
  Image filter() const { return {s_.co, dcn::count_taps(s_), dcn::group_inputs(s_), size()}; }
  Image output() const { return {s_.batch, dcn::out_pixels(s_), s_.co, size()}; }

 private:
  std::int64_t size() const { return element_bytes(s_.dtype); }
  const mluopsDcnShape& s_;
};

template <class Problem, class Visit>
requires std::same_as<decltype(Problem::shape), mluopsDcnShape>
void visit_images(Problem& p, Visit&& visit) {
  const DcnImages images(p.shape);
  visit(p.input, images.input());
  visit(p.offset, images.of_taps(2));
  if (p.mask != nullptr) visit(p.mask, images.of_taps(1));
  if constexpr (
      requires { p.filter; } && !requires { p.filter_is_nchw; })
    visit(p.filter, images.filter());
  if constexpr (requires { p.output; }) visit(p.output, images.output());
  if constexpr (requires { p.grad_output; }) visit(p.grad_output, images.output());
  if constexpr (requires { p.grad_filter; }) visit(p.grad_filter, images.filter());
  if constexpr (requires { p.grad_input; }) {
    visit(p.grad_input, images.input());
    visit(p.grad_offset, images.of_taps(2));
    if (p.grad_mask != nullptr) visit(p.grad_mask, images.of_taps(1));
  }
}

}  // namespace mluops::cpu::layout
