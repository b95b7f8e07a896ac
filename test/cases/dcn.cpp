#include "test/reference/dcn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "test/cases/base/contract.h"
#include "test/cases/base/images.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsDcnShape;

const std::vector<Parameter> kParameters = {
    {"n", "1", "images"},
    {"h", "50", "height of the input"},
    {"w", "84", "width of the input"},
    {"ci", "256", "input channels"},
    {"co", "256", "output channels"},
    {"kh", "3", "height of the filter"},
    {"kw", "3", "width of the filter"},
    {"stride", "1", "pixels from an output pixel to the next; HxW where they differ"},
    {"pad", "1", "pixels around the map; or four numbers, 1x1x0x2: top, bottom, left, right"},
    {"dilation", "1", "pixels from a tap to the next; HxW where they differ"},
    {"g", "1", "groups of the convolution"},
    {"dg", "1", "deformable groups"},
    {"mask", "1", "1: with mask (v2); 0: without (v1)"},
    {"bias", "1", "1: with bias, or its gradient"},
    {"offsets", "network",
     "network (up to 2 pixels) | zero | whole (taps on pixels) | far (many outside) | special (NaN, infinite, far)"},
};

struct Window {
  std::vector<int> pad, stride, dilation;  ///< top, bottom, left, right; h, w

  explicit Window(const Case& t)
      : pad(t.per_axis("pad", 4, 0, 9999)),
        stride(t.per_axis("stride", 2, 1, 9999)),
        dilation(t.per_axis("dilation", 2, 1, 9999)) {}

  std::int64_t out_size(std::size_t axis, std::int64_t size, std::int64_t kernel) const {
    return (size + pad[2 * axis] + pad[2 * axis + 1] - dilation[axis] * (kernel - 1) - 1) / stride[axis] + 1;
  }
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  const Window window(t);
  return {dtype,
          t.size("n"),
          t.size("h"),
          t.size("w"),
          t.size("ci"),
          t.size("co"),
          t.size("kh"),
          t.size("kw"),
          window.out_size(0, t.size("h"), t.size("kh")),
          window.out_size(1, t.size("w"), t.size("kw")),
          window.pad[0],
          window.pad[2],
          window.stride[0],
          window.stride[1],
          window.dilation[0],
          window.dilation[1],
          t.size("g"),
          t.size("dg")};
}

double special(double share) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double offsets[] = {std::nan(""), infinity, -infinity, 3e4, -3e4, 1e30, 0.3, -0.7};
  return offsets[static_cast<std::size_t>(share * 8)];
}

Fill offsets(const Case& t) {
  const std::string kind = t.word("offsets");
  const std::uint64_t seed = t.seed("offset");
  const double reach = kind == "far" ? 2 * std::max(t.real("h"), t.real("w")) : 2;
  return [=](std::int64_t i) {
    const double share = unit_random(seed, i);
    if (kind == "zero") return 0.0;
    if (kind == "special") return special(share);
    return kind == "whole" ? std::floor(5 * share) - 2 : reach * (2 * share - 1);
  };
}

std::int64_t taps(const Shape& s) {
  return s.kernel_h * s.kernel_w;
}

TensorSpec image(const char* name, const Shape& s, std::vector<std::int64_t> dims, Fill fill = {}) {
  return nhwc(name, s.dtype, std::move(dims), std::move(fill));
}
TensorSpec input(const char* name, const Shape& s, Fill fill = {}) {
  return image(name, s, {s.batch, s.h, s.w, s.ci}, std::move(fill));
}
TensorSpec of_taps(const char* name, const Shape& s, std::int64_t numbers, Fill fill = {}) {
  return image(name, s, {s.batch, s.out_h, s.out_w, s.deform_groups * taps(s) * numbers}, std::move(fill));
}
TensorSpec filter(const char* name, const Shape& s, Fill fill = {}) {
  return image(name, s, {s.co, s.kernel_h, s.kernel_w, s.ci / s.groups}, std::move(fill));
}
TensorSpec output(const char* name, const Shape& s, Fill fill = {}) {
  return image(name, s, {s.batch, s.out_h, s.out_w, s.co}, std::move(fill));
}
TensorSpec bias(const char* name, const Shape& s, Fill fill = {}) {
  return {.name = name, .dtype = s.dtype, .dims = {s.co}, .fill = std::move(fill)};
}

Fill numbers(const Case& t, const char* name) {
  return uniform(-1, 1, t.seed(name));
}

/// The tensors of a call by their names, and where they stand among its arguments; absent ones are NULL.
class Tensors {
 public:
  void add(TensorSpec spec, double term_size = 0) {
    spec.term_size = term_size;
    specs_.push_back(std::move(spec));
  }
  const std::vector<TensorSpec>& specs() const { return specs_; }
  Argument operator()(const Arguments& all, const std::string& name) const {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (specs_[i].name == name) return all[i];
    }
    return {};
  }
  /// The data of an input among those a reference is given.
  const void* operator()(const Inputs& all, const std::string& name) const {
    for (std::size_t i = 0, number = 0; i < specs_.size(); ++i) {
      if (specs_[i].is_output()) continue;
      if (specs_[i].name == name) return all[number];
      ++number;
    }
    return nullptr;
  }

 private:
  std::vector<TensorSpec> specs_;
};

Tensors sampled(const Case& t, const Shape& s) {
  Tensors tensors;
  tensors.add(input("input", s, numbers(t, "input")));
  tensors.add(of_taps("offset", s, 2, offsets(t)));
  if (t.integer("mask") != 0) tensors.add(of_taps("mask", s, 1, uniform(0, 1, t.seed("mask"))));
  return tensors;
}

std::shared_ptr<mluOpDCNStruct> descriptor_of(const Case& t) {
  mluOpDCNDescriptor_t desc = nullptr;
  mluOpCreateDCNDescriptor(&desc);
  const Window w(t);
  mluOpSetDCNDescriptor(desc, 4, w.pad.data(), w.stride.data(), w.dilation.data(), t.integer("dg"), t.integer("g"),
                        t.integer("n"), MLUOP_DTYPE_FLOAT);
  return {desc, [](auto* each) { mluOpDestroyDCNDescriptor(each); }};
}

/// Samples of all taps, for one channel each.
double samples_of(const Shape& s) {
  return static_cast<double>(s.batch * s.out_h * s.out_w * taps(s) * s.ci);
}
double product_flops(const Shape& s) {
  return 2 * samples_of(s) * static_cast<double>(s.co / s.groups);
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Tensors t = sampled(text, s);
  t.add(filter("filter", s, numbers(text, "filter")));
  if (text.integer("bias") != 0) t.add(bias("bias", s, numbers(text, "bias")));
  t.add(output("output", s), 0.25);
  Description d;
  d.tensors = t.specs();
  d.flops = product_flops(s) + 8 * samples_of(s);
  d.call = [t, desc = descriptor_of(text)](mluOpHandle_t handle, const Arguments& a) {
    const Argument m = t(a, "mask"), b = t(a, "bias"), f = t(a, "filter"), o = t(a, "output");
    return mluOpDCNForward(handle, desc.get(), a[0].desc, a[0].data, a[1].desc, a[1].data, m.desc, m.data, f.desc,
                           f.data, b.desc, b.data, nullptr, missing_workspace, o.desc, o.data);
  };
  d.reference = [t, s](const Inputs& in, Coordinates coordinates) {
    return std::vector<Values>{reference::dcn_forward(
        {s, in[0], in[1], t(in, "mask"), t(in, "filter"), t(in, "bias"), nullptr, MLUOP_LAYOUT_NHWC}, coordinates)};
  };
  return d;
}

Description backward_data(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Tensors t = sampled(text, s);
  const bool masked = text.integer("mask") != 0;
  t.add(filter("filter", s, numbers(text, "filter")));
  t.add(output("grad_output", s, numbers(text, "grad_output")));
  t.add(input("grad_input", s), 0.25);
  t.add(of_taps("grad_offset", s, 2), 0.25);
  if (masked) t.add(of_taps("grad_mask", s, 1), 0.25);
  Description d;
  d.tensors = t.specs();
  d.flops = product_flops(s) + 16 * samples_of(s);
  d.call = [t, desc = descriptor_of(text)](mluOpHandle_t handle, const Arguments& a) {
    const Argument m = t(a, "mask"), f = t(a, "filter"), o = t(a, "grad_output");
    const Argument gi = t(a, "grad_input"), go = t(a, "grad_offset"), gm = t(a, "grad_mask");
    return mluOpDCNBackwardData(handle, desc.get(), a[0].desc, a[0].data, a[1].desc, a[1].data, m.desc, m.data, f.desc,
                                f.data, o.desc, o.data, nullptr, missing_workspace, gi.desc, gi.data, go.desc, go.data,
                                gm.desc, gm.data);
  };
  d.reference = [t, s, masked](const Inputs& in, Coordinates coordinates) {
    auto g = reference::dcn_backward_data({s, in[0], in[1], t(in, "mask"), t(in, "filter"), t(in, "grad_output"),
                                           nullptr, nullptr, nullptr, MLUOP_LAYOUT_NHWC},
                                          coordinates);
    std::vector<Values> results = {std::move(g.input), std::move(g.offset)};
    if (masked) results.push_back(std::move(g.mask));
    return results;
  };
  return d;
}

Description backward_weight(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Tensors t = sampled(text, s);
  const bool biased = text.integer("bias") != 0;
  t.add(output("grad_output", s, numbers(text, "grad_output")));
  t.add(filter("grad_filter", s), 0.25);
  if (biased) t.add(bias("grad_bias", s), 0.5);
  Description d;
  d.tensors = t.specs();
  d.flops = product_flops(s) + 8 * samples_of(s);
  d.call = [t, desc = descriptor_of(text)](mluOpHandle_t handle, const Arguments& a) {
    const Argument m = t(a, "mask"), o = t(a, "grad_output"), gf = t(a, "grad_filter"), gb = t(a, "grad_bias");
    return mluOpDCNBackwardWeight(handle, desc.get(), a[0].desc, a[0].data, a[1].desc, a[1].data, m.desc, m.data,
                                  o.desc, o.data, nullptr, missing_workspace, gf.desc, gf.data, gb.desc, gb.data);
  };
  d.reference = [t, s, biased](const Inputs& in, Coordinates coordinates) {
    auto g = reference::dcn_backward_weight(
        {s, in[0], in[1], t(in, "mask"), t(in, "grad_output"), nullptr, nullptr, MLUOP_LAYOUT_NHWC}, coordinates);
    std::vector<Values> results = {std::move(g.filter)};
    if (biased) results.push_back(std::move(g.bias));
    return results;
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"n=1 h=1 w=1 ci=1 co=1 kh=1 kw=1 pad=0", "n=2 h=5 w=6 ci=4 co=6 kh=2 kw=3 g=2 dg=1 stride=2"});
}

Cases document() {
  return list({
      "n=1 h=16 w=16 ci=60 co=60 g=3 dg=2",                       // the vendor's test, a fifth of its channels
      "n=1 h=3 w=3 ci=2 co=2 kh=1 kw=1 pad=0",                    // the vendor's example
      "n=1 h=3 w=3 ci=1 co=1 kh=2 kw=2 pad=0 mask=0 bias=0",      // mmcv's test of v1
      "n=3 h=16 w=16 ci=3 co=4 dg=1 pad=0 bias=0",                // mmcv's test of v2, reduced
      "n=1 h=25 w=42 ci=32 co=24 mask=0 bias=0",                  // ResNet-50's last stage, a sixteenth of its channels
      "n=2 h=13 w=17 ci=16 co=16 dilation=2 pad=2 stride=2 dg=4"  // torchvision's kind of test
  });
}

Cases edge() {
  return list({
      "n=1 h=1 w=1 ci=3 co=5 pad=1 offsets=zero", "n=2 h=7 w=1 ci=17 co=1 kh=3 kw=1 pad=1",
      "n=1 h=8 w=9 ci=16 co=33 offsets=whole", "n=1 h=8 w=9 ci=20 co=7 offsets=far mask=0",
      "n=2 h=6 w=5 ci=12 co=18 g=3 dg=2 offsets=special", "n=1 h=6 w=5 ci=6 co=6 g=6 dg=6",
      "n=1 h=9 w=4 ci=24 co=8 g=2 dg=3 bias=0", "n=1 h=12 w=11 ci=5 co=130 kh=5 kw=2 stride=3 pad=4 dilation=2",
      "n=3 h=2 w=2 ci=97 co=3 kh=2 kw=2 pad=0 mask=0 bias=0", "n=1 h=5 w=70 ci=8 co=64 kh=1 kw=7 pad=3",
      "n=1 h=4 w=5 ci=600 co=9 kh=1 kw=2", "n=1 h=4 w=3 ci=9 co=12 kh=7 kw=7 pad=5 dilation=1",
      "n=2 h=5 w=6 ci=102 co=6 g=2 kh=1",  // groups end within the channels that a task owns
      "n=3 h=5 w=7 ci=300 co=21",          // pixels in lanes: runs over two images, a row of factors in two blocks
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"network", "network", "network", "whole", "far", "special"};
  const std::int64_t most = effort < 1 ? 8 : 14, g = random.integer(1, 3), dg = random.integer(1, 2);
  const std::int64_t kh = random.integer(1, 3), kw = random.integer(1, 3);
  Case c;
  c.set("n", random.integer(1, 3)).set("g", g).set("dg", dg).set("kh", kh).set("kw", kw);
  c.set("ci", g * dg * odd_size(random, effort < 1 ? 5 : 17)).set("co", g * odd_size(random, effort < 1 ? 9 : 30));
  c.set("stride", random.integer(1, 2)).set("pad", random.integer(0, 2));
  const std::int64_t dilation = random.integer(1, 2);
  c.set("dilation", dilation).set("h", dilation * (kh - 1) + random.integer(1, most));
  c.set("w", dilation * (kw - 1) + random.integer(1, most)).set("mask", random.integer(0, 1));
  return c.set("bias", random.integer(0, 1)).set("offsets", random.pick(kinds));
}

Cases large() {
  return list({"n=1 h=23 w=31 ci=64 co=40", "n=2 h=17 w=20 ci=36 co=50 g=2 dg=3 mask=0",
               "n=3 h=15 w=16 ci=24 co=130 stride=2 kh=5 pad=2"});
}

Cases network() {
  return list({"h=100 w=167 ci=128 co=128", "h=50 w=84 ci=256 co=256", "h=25 w=42 ci=512 co=512",
               "n=2 h=50 w=84 ci=256 co=256 mask=0 bias=0", "h=50 w=84 ci=256 co=256 g=32 dg=4"});
}

std::vector<Growth> growth() {
  const Case base = list({"n=1 h=20 w=30 ci=32 co=32"})[0];
  return {growth_of(base, "n"), growth_of(base, "h"), growth_of(base, "w"), growth_of(base, "ci"),
          growth_of(base, "co")};
}

}  // namespace

std::vector<OperatorCases> dcn_operators() {
  OperatorCases sum = {.op = "dcn_forward",
                       .function = "mluOpDCNForward",
                       .parameters = kParameters,
                       .describe = forward,
                       .smallest = smallest,
                       .document = document,
                       .edge = edge,
                       .random = random_case,
                       .large = large,
                       .network = network,
                       .coordinates = true,
                       .reducible = {"h", "w"},
                       .growth = growth};
  OperatorCases data = sum, weight = sum;
  data.op = "dcn_backward_data";
  data.function = "mluOpDCNBackwardData";
  data.describe = backward_data;
  weight.op = "dcn_backward_weight";
  weight.function = "mluOpDCNBackwardWeight";
  weight.describe = backward_weight;
  return {sum, data, weight};
}

}  // namespace mluops::cases
