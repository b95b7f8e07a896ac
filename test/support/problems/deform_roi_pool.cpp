// deform_roi_pool_*: b h w c r ph pw scale ratio gamma offset(0|1); rois=inside (default) | far | thin | inverted |
// mixed | edge (corners on dyadic positions from -1.5 to size+0.5); size=largest RoI side in pixels of the map.
#include <algorithm>
#include <cmath>

#include "test/support/problem.h"

namespace mluops::test {
namespace {

struct Extent {
  double low, high;  // in pixels of the map
};

// One axis of one RoI.
Extent extent(const std::string& kind, double size, double largest, Random& random) {
  if (kind == "far") {
    const double start = random.real(-3 * size - 8, 4 * size + 8);
    return {start, start + random.real(0, largest)};
  }
  if (kind == "edge") {
    const double low = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    const double high = static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 1)) / 2;
    return {std::min(low, high), std::max(low, high)};
  }
  const double start = random.real(-0.5, size - 0.5);
  if (kind == "thin") return {start, random.chance(0.5) ? start : start + random.real(0, 0.2)};
  if (kind == "inverted") return {start, start - random.real(0, largest)};
  return {start, std::min(size, start + random.real(0, largest))};
}

reference::Values make_rois(const Problem& p, const mluopsDeformRoiPoolShape& s, Random& random) {
  const std::string kinds[] = {"inside", "inside", "far", "thin", "inverted", "edge"};
  const std::string kind = p.text.text_or("rois", "inside");
  reference::Values rois;
  for (std::int64_t r = 0; r < s.rois; ++r) {
    const std::string own = kind == "mixed" ? random.pick(kinds) : kind;
    const double height = static_cast<double>(s.h), width = static_cast<double>(s.w);
    const Extent x = extent(own, width, p.text.real_or("size", width), random);
    const Extent y = extent(own, height, p.text.real_or("size", height), random);
    rois.push_back(static_cast<double>(random.integer(0, s.batch - 1)));
    for (double corner : {x.low, y.low, x.high, y.high}) {
      rois.push_back((corner + 0.5) / static_cast<double>(s.spatial_scale));
    }
  }
  return admissible(p, std::move(rois));
}

mluopsDeformRoiPoolShape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype,
          t.size("b"),
          t.size("h"),
          t.size("w"),
          t.size("c"),
          t.size("r"),
          t.size("ph"),
          t.size("pw"),
          static_cast<float>(t.real_or("scale", 1)),
          static_cast<float>(t.real_or("gamma", 0.1)),
          static_cast<int>(t.size("ratio"))};
}

struct Inputs {
  Tensor& input;
  Tensor& rois;
  Tensor* offset;  // may be NULL
  mluOpTensorDescriptor_t offset_desc() const { return offset == nullptr ? nullptr : offset->desc(); }
  void* offset_data() const { return offset == nullptr ? nullptr : offset->data(); }
};

Inputs add_inputs(Problem& p, const mluopsDeformRoiPoolShape& s, Random& random) {
  Tensor& input = p.add_input("input", MLUOP_LAYOUT_NHWC, s.dtype, {s.batch, s.h, s.w, s.c});
  Tensor& rois = p.add_input("rois", MLUOP_LAYOUT_ARRAY, s.dtype, {s.rois, 5});
  input.fill(uniform(p, random, input.count()));
  rois.fill(make_rois(p, s, random));
  if (p.text.size("offset") == 0) return {input, rois, nullptr};
  Tensor& offset = p.add_input("offset", MLUOP_LAYOUT_NCHW, s.dtype, {s.rois, 2, s.pooled_h, s.pooled_w});
  offset.fill(uniform(p, random, offset.count(), -1.5, 1.5));
  return {input, rois, &offset};
}

Problem make_forward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsDeformRoiPoolShape s = shape_of(text, dtype);
  Random random(text.text());
  const Inputs in = add_inputs(p, s, random);
  // Pixels are at most 1, a fraction of that where some are averaged; a few of them may cancel.
  constexpr double kTerm = 0.25;
  Tensor& output = p.add_output("output", MLUOP_LAYOUT_NHWC, dtype, {s.rois, s.pooled_h, s.pooled_w, s.c},
                                Comparison::kNumeric, kTerm);
  p.call = [in, s, &output](mluOpHandle_t handle) {
    return mluOpDeformRoiPoolForward(handle, in.input.desc(), in.input.data(), in.rois.desc(), in.rois.data(),
                                     in.offset_desc(), in.offset_data(), static_cast<int>(s.pooled_h),
                                     static_cast<int>(s.pooled_w), s.spatial_scale, s.sampling_ratio, s.gamma,
                                     output.desc(), output.data());
  };
  p.expect = [in, s, &output](reference::Coordinates coordinates) {
    return std::vector<reference::Values>{reference::deform_roi_pool_forward(
        {s, in.input.data(), in.rois.data(), in.offset_data(), output.data()}, coordinates)};
  };
  return p;
}

// Pixels and gradients are at most 1; the sum over channels grows like its root, and so do the errors of its additions.
// Rows that coincide cancel, and so do columns: then rounding errors of terms this large are all there is.
double offset_term(const mluopsDeformRoiPoolShape& s, const Tensor& rois) {
  const reference::Values v = rois.values();
  double size = 0;
  for (std::size_t r = 0; r + 5 <= v.size(); r += 5) {
    size = std::max({size, std::fabs(v[r + 3] - v[r + 1]), std::fabs(v[r + 4] - v[r + 2])});
  }
  const double root = std::sqrt(static_cast<double>(s.c));
  return std::fabs(static_cast<double>(s.gamma) * s.spatial_scale) * size * root * std::max(1.0, root / 2);
}

Problem make_backward(const Case& text, mluOpDataType_t dtype) {
  Problem p{text, dtype, {}, {}, {}, {}, {}, {}, {}};
  const mluopsDeformRoiPoolShape s = shape_of(text, dtype);
  Random random(text.text());
  const Inputs in = add_inputs(p, s, random);
  Tensor& grad = p.add_input("grad_output", MLUOP_LAYOUT_NHWC, dtype, {s.rois, s.pooled_h, s.pooled_w, s.c});
  grad.fill(uniform(p, random, grad.count()));
  Tensor& grad_input = p.add_output("grad_input", MLUOP_LAYOUT_NHWC, dtype, in.input.dims());
  Tensor* grad_offset = in.offset == nullptr ? nullptr
                                             : &p.add_output("grad_offset", MLUOP_LAYOUT_NCHW, dtype, in.offset->dims(),
                                                             Comparison::kNumeric, offset_term(s, in.rois));
  p.call = [in, s, &grad, &grad_input, grad_offset](mluOpHandle_t handle) {
    return mluOpDeformRoiPoolBackward(
        handle, grad.desc(), grad.data(), in.input.desc(), in.input.data(), in.rois.desc(), in.rois.data(),
        in.offset_desc(), in.offset_data(), static_cast<int>(s.pooled_h), static_cast<int>(s.pooled_w), s.spatial_scale,
        s.sampling_ratio, s.gamma, grad_input.desc(), grad_input.data(),
        grad_offset == nullptr ? nullptr : grad_offset->desc(), grad_offset == nullptr ? nullptr : grad_offset->data());
  };
  p.expect = [in, s, &grad, &grad_input](reference::Coordinates coordinates) {
    reference::DeformRoiPoolGradients g = reference::deform_roi_pool_backward(
        {s, grad.data(), in.input.data(), in.rois.data(), in.offset_data(), grad_input.data(), nullptr}, coordinates);
    std::vector<reference::Values> expected{std::move(g.input)};
    if (in.offset != nullptr) expected.push_back(std::move(g.offset));
    return expected;
  };
  return p;
}

}  // namespace

Problem make_deform_roi_pool(const Case& text, mluOpDataType_t dtype) {
  return text.op() == "deform_roi_pool_forward" ? make_forward(text, dtype) : make_backward(text, dtype);
}

}  // namespace mluops::test
