// GenerateProposalsV2: of the anchors of the best scores of each image, moved by their deltas, those that greedy
// suppression keeps.
//
// scores [N,K], deltas [N,K,4], anchors and variances [K,4]; rois [N*post,4], probs [N*post]. One image after the
// other: its scores are sorted, the first boxes decoded, each item owning its place in the lists; then blocks of 256
// are decided on one thread and held against the later boxes near to them, whose groups own the marks. In double, so
// that what is decided does not depend on the order of operations. At most pre * post pairs: bound by arithmetic.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/generate_proposals/generate_proposals.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/spatial/score_order.h"
#include "backends/cpu/spatial/suppression-inl.h"
#include "mluops/problem/generate_proposals.h"

HWY_BEFORE_NAMESPACE();
namespace mluops::cpu::generate_proposals::HWY_NAMESPACE {
using namespace box_pairs::HWY_NAMESPACE;
using namespace spatial::HWY_NAMESPACE;
namespace {

using Problem = mluopsGenerateProposalsProblem;
using Shape = mluopsGenerateProposalsShape;
using Kind = Upright<double>;
using Box = std::array<double, 4>;

/// A side grows at most by this power of e: 1000 / 16.
const double kMostGrowth = std::log(1000.0 / 16.0);

std::int64_t anchors_of(const Shape& s) {
  return s.h * s.w * s.a;
}

std::int64_t most_looked_at(const Problem& p) {
  const std::int64_t all = anchors_of(p.shape);
  return p.pre_nms_top_n <= 0 ? all : std::min(p.pre_nms_top_n, all);
}

template <class A>
struct Arrays {
  spatial::Order<A> order;
  Lists<Kind> boxes;  ///< in this order
  spatial::BoxGroups groups;
  std::uint8_t* dropped;

  Arrays(Allocator& allocator, const mluopsCall& call, const Shape& s, std::int64_t most)
      : order(allocator, call, anchors_of(s)),
        boxes(allocator, most),
        groups(allocator, most),
        dropped(allocator.allocate<std::uint8_t>(most)) {}
};

template <class T>
double number(const void* data, std::int64_t i) {
  return static_cast<double>(to_acc(static_cast<const T*>(data)[i]));
}

/// An anchor moved by its deltas and clipped to the image; false where it is too small.
template <class T>
bool decode(const Problem& p, std::int64_t image, std::int64_t anchor, Box& box) {
  const double offset = p.pixel_offset, least = p.min_size > 1 ? p.min_size : 1;
  bool counts = true;
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const std::int64_t own = 4 * anchor + axis, moved = 4 * image * anchors_of(p.shape) + own;
    const double from = number<T>(p.anchors, own), size = number<T>(p.anchors, own + 2) - from + offset;
    const double shift = number<T>(p.bbox_deltas, moved) * size * number<T>(p.variances, own);
    const double growth = number<T>(p.bbox_deltas, moved + 2) * number<T>(p.variances, own + 2);
    const double centre = from + 0.5 * size + shift, half = std::exp(std::min(growth, kMostGrowth)) * size * 0.5;
    const double end = number<T>(p.im_shape, 2 * image + 1 - axis);
    const auto clip = [&](double v) { return std::max(std::min(v, end - offset), 0.0); };
    const auto low = static_cast<std::size_t>(axis);
    box[low] = clip(centre - half);
    box[low + 2] = clip(centre + half - offset);
    const double side = box[low + 2] - box[low] + offset;
    counts = counts && side >= least && (p.pixel_offset == 0 || box[low] + side / 2 <= end);
  }
  return counts;
}

/// The proposals of an image from row `first` on; returns how many.
template <class T>
std::int64_t propose(const Context& context, const mluopsCall& call, const Problem& p, std::int64_t image,
                     Arrays<Acc<T>> arrays, std::int64_t first) {
  const std::int64_t all = anchors_of(p.shape), n = most_looked_at(p);
  const T* const scores = static_cast<const T*>(p.scores) + image * all;
  const double offset = p.pixel_offset;
  arrays.order.add_all(context, call, all, [&](std::int64_t i) { return to_acc(scores[i]); });
  arrays.order.sort(context, call);
  Loop::one_of_many(context, call, n, 30 * cost::kStep).run([&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      Box box;
      arrays.dropped[i] = decode<T>(p, image, arrays.order[i], box) ? 0 : 1;
      arrays.boxes.read(i, box.data(), offset);
      arrays.groups[i] = p.nms_thresh >= 0
                             ? spatial::Rectangle{{box[0], box[1]}, {box[2] + 2 * offset, box[3] + 2 * offset}}
                             : spatial::Rectangle();
    }
  });
  arrays.groups.arrange();
  std::int64_t row = first;
  const auto keep = [&](std::int64_t i) {
    T* const roi = static_cast<T*>(p.rpn_rois) + 4 * row;
    for (std::size_t k = 0; k < 4; ++k) roi[k] = from_acc<T>(static_cast<Acc<T>>(arrays.boxes.field[k + Kind::kX1][i]));
    static_cast<T*>(p.rpn_roi_probs)[row++] = scores[arrays.order[i]];
  };
  suppress_boxes(context, call, n, p.post_nms_top_n, arrays.boxes, offset, p.nms_thresh, arrays.dropped, arrays.groups,
                 3 * cost::kElement, keep);
  return row - first;
}

template <class T>
void clear(const Problem& p, std::int64_t first, std::int64_t rows) {
  std::fill_n(static_cast<T*>(p.rpn_rois) + 4 * first, 4 * rows, T{});
  std::fill_n(static_cast<T*>(p.rpn_roi_probs) + first, rows, T{});
}

template <class T>
mluOpStatus_t generate(Context& context, const mluopsCall& call, const Problem& p) {
  const auto arrays = allocate<Arrays<Acc<T>>>(context.arena, call, p.shape, most_looked_at(p));
  if (!arrays) return no_memory(call);
  std::int64_t rows = 0;
  for (std::int64_t image = 0; image < p.shape.n; ++image) {
    std::int64_t found = propose<T>(context, call, p, image, *arrays, rows);
    if (found == 0) clear<T>(p, rows, found = 1);  // a proposal of zeros
    p.rpn_rois_num[image] = static_cast<std::int32_t>(found);
    rows += found;
  }
  clear<T>(p, rows, p.shape.n * p.post_nms_top_n - rows);
  *p.rpn_rois_batch_size = static_cast<std::int32_t>(rows);
  return MLUOP_STATUS_SUCCESS;
}

}  // namespace
}  // namespace mluops::cpu::generate_proposals::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

MLUOPS_CPU_ENTRY(generate_proposals_v2, generate_proposals, generate, mluopsGenerateProposalsProblem, with_element)
