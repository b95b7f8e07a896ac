#include "test/cases/operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"n", "1", "images"},
    {"h", "32", "height of input"},
    {"w", "32", "width of input"},
    {"c", "256", "channels"},
    {"k", "5", "kernel size, odd"},
    {"g", "1", "groups of channels, each with weights of its own"},
    {"s", "2", "scale: output pixels along an axis of an input pixel"},
    {"data", "signed", "signed | positive | nan_padding (NaN in the mask at taps outside the map)"},
};

mluopsCarafeShape shape_of(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t h = t.size("h"), w = t.size("w"), s = t.size("s");
  return {dtype, t.size("n"), h, w, t.size("c"), s * h, s * w, t.size("k"), t.size("g"), s};
}

// Whether weight number i belongs to a tap outside the map.
bool is_padding(const mluopsCarafeShape& s, std::int64_t i) {
  const std::int64_t radius = (s.kernel - 1) / 2, taps = s.kernel * s.kernel;
  const std::int64_t tap = i % taps, pixel = i / taps / s.group;
  const std::int64_t y = pixel / s.wo % s.ho / s.scale + tap / s.kernel - radius;
  const std::int64_t x = pixel % s.wo / s.scale + tap % s.kernel - radius;
  return y < 0 || y >= s.h || x < 0 || x >= s.w;
}

Fill weights(const Case& t, const mluopsCarafeShape& s, double low) {
  const Fill numbers = uniform(low, 1, t.seed("mask"));
  if (t.word("data") != "nan_padding") return numbers;
  return [=](std::int64_t i) { return is_padding(s, i) ? std::numeric_limits<double>::quiet_NaN() : numbers(i); };
}

// Taps that fall on the map, summed over all pixels of one axis.
std::int64_t taps_inside(std::int64_t size, std::int64_t kernel) {
  std::int64_t taps = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t at = i + k - (kernel - 1) / 2;
      taps += at >= 0 && at < size;
    }
  }
  return taps;
}

// One multiply-add per tap and channel.
double flops_of(const mluopsCarafeShape& s) {
  const std::int64_t taps = taps_inside(s.h, s.kernel) * taps_inside(s.w, s.kernel) * s.scale * s.scale;
  return 2.0 * static_cast<double>(s.n * taps * s.c);
}

// Shared by every copy of the call.
std::shared_ptr<mluOpCarafeStruct> descriptor_of(const mluopsCarafeShape& s) {
  mluOpCarafeDescriptor_t desc = nullptr;
  mluOpCreateCarafeDescriptor(&desc);
  mluOpSetCarafeDescriptor(desc, 4, static_cast<int>(s.kernel), static_cast<int>(s.group), static_cast<int>(s.scale));
  return {desc, [](auto* made) { mluOpDestroyCarafeDescriptor(made); }};
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const mluopsCarafeShape s = shape_of(text, dtype);
  const double low = text.word("data") == "positive" ? 0 : -1;
  Description d;
  d.tensors = {{.name = "input",
                .layout = MLUOP_LAYOUT_NHWC,
                .dtype = dtype,
                .dims = {s.n, s.h, s.w, s.c},
                .fill = uniform(low, 1, text.seed("input"))},
               {.name = "mask",
                .layout = MLUOP_LAYOUT_NHWC,
                .dtype = dtype,
                .dims = {s.n, s.ho, s.wo, s.group * s.kernel * s.kernel},
                .fill = weights(text, s, low)},
               {.name = "output", .layout = MLUOP_LAYOUT_NHWC, .dtype = dtype, .dims = {s.n, s.ho, s.wo, s.c}}};
  d.flops = flops_of(s);
  d.call = [desc = descriptor_of(s)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpCarafeForward(handle, desc.get(), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::carafe_forward({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const mluopsCarafeShape s = shape_of(text, dtype);
  const double low = text.word("data") == "positive" ? 0 : -1;
  Description d = forward(text, dtype);
  TensorSpec grad_output = d.tensors[2], grad_input = d.tensors[0], grad_mask = d.tensors[1];
  grad_output.name = "grad_output";
  grad_output.fill = uniform(low, 1, text.seed("grad_output"));
  grad_input.name = "grad_input";
  grad_mask.name = "grad_mask";
  grad_input.fill = grad_mask.fill = {};
  d.tensors = {d.tensors[0], d.tensors[1], grad_output, grad_input, grad_mask};
  d.flops *= 2;  // a product for each of the gradients
  d.call = [desc = descriptor_of(s)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpCarafeBackward(handle, desc.get(), t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                               t[3].desc, t[3].data, t[4].desc, t[4].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    reference::CarafeGradients g = reference::carafe_backward({s, in[0], in[1], in[2], nullptr, nullptr});
    return std::vector<Values>{std::move(g.input), std::move(g.mask)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 h=1 w=1 c=1 k=1 g=1 s=1", "n=1 h=2 w=3 c=5 k=3 g=1 s=2"});
}

Cases document() {
  return list({
      "n=1 h=25 w=38 c=256 k=5 g=1 s=2",               // FPN level, batch 1 of 2
      "n=1 h=50 w=76 c=64 k=5 g=1 s=2",                // FPN level, a quarter of the channels
      "n=1 h=100 w=152 c=16 k=5 g=1 s=2",              // FPN level, a sixteenth of the channels
      "n=1 h=32 w=32 c=256 k=5 g=1 s=2",               // design document
      "n=1 h=128 w=128 c=8 k=5 g=1 s=2",               // design document, 8 of 256 channels
      "n=1 h=3 w=3 c=1 k=5 g=1 s=2",                   // vendor's forward test
      "n=1 h=3 w=3 c=2148 k=5 g=1 s=3 data=positive",  // vendor's backward test
      "n=2 h=3 w=3 c=64 k=5 g=4 s=2",                  // mmcv
  });
}

Cases forward_document() {
  return joined(document(), list({"n=1 h=3 w=2 c=8 k=45 g=4 s=5"}));  // the documented limits
}

Cases backward_document() {
  return joined(document(), list({"n=1 h=2 w=2 c=6 k=137 g=2 s=1"}));  // the documented limit
}

Cases edge() {
  return list({
      "n=1 h=1 w=1 c=1 k=1 g=1 s=1",
      "n=1 h=1 w=1 c=1 k=7 g=1 s=4",                   // the map is one tap
      "n=3 h=1 w=9 c=5 k=3 g=5 s=2",                   // one channel per group
      "n=2 h=7 w=1 c=6 k=5 g=2 s=1",                   // no upsampling
      "n=1 h=2 w=3 c=4 k=11 g=1 s=2",                  // kernel larger than the map
      "n=1 h=4 w=5 c=6 k=3 g=3 s=2 data=nan_padding",  // padded taps are skipped, not multiplied by 0
      "n=1 h=2 w=2 c=5 k=7 g=1 s=3 data=nan_padding",
      "n=1 h=2 w=2 c=1031 k=3 g=1 s=2",  // a prime number of channels
      "n=1 h=4 w=4 c=129 k=3 g=3 s=4 data=positive",
      "n=5 h=2 w=3 c=34 k=3 g=17 s=1",
  });
}

Cases forward_edge() {
  return joined(edge(), list({"n=1 h=2 w=2 c=20000 k=1 g=1 s=1"}));
}

Case random_case(Random& random, double effort) {
  const std::int64_t kernels[] = {1, 3, 3, 5, 5, 7}, groups[] = {1, 1, 2, 3, 4, 7};
  const std::int64_t g = random.pick(groups), k = random.pick(kernels), s = random.integer(1, 4);
  const std::int64_t most = effort < 1 ? 6 : 11;
  const std::int64_t per_group = odd_size(random, effort < 1 ? 33 : 131);
  Case c;
  c.set("n", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, most));
  c.set("c", g * per_group).set("k", k).set("g", g).set("s", s);
  if (random.chance(0.3)) c.set("data", "nan_padding");
  return c;
}

Cases large() {
  return list({"n=2 h=24 w=20 c=64 k=5 g=1 s=2", "n=1 h=17 w=70 c=48 k=3 g=2 s=3"});
}

Cases network() {
  return list(
      {"n=2 h=25 w=38 c=256 k=5 g=1 s=2", "n=2 h=50 w=76 c=256 k=5 g=1 s=2", "n=2 h=100 w=152 c=256 k=5 g=1 s=2"});
}

// Sums of up to 300 terms.
bool forward_in_half(const Case& t) {
  return t.real("k") * t.real("k") <= 300;
}
bool backward_in_half(const Case& t) {
  return std::max(t.real("c") / t.real("g"), t.real("k") * t.real("k") * t.real("s") * t.real("s")) <= 300;
}

std::vector<Growth> growth() {
  const Case base = list({"n=2 h=24 w=32 c=64 k=5 g=1 s=2"})[0];
  return {growth_of(base, "n"),
          growth_of(base, "h"),
          growth_of(base, "w"),
          growth_of(base, "c"),
          growth_of(base, "s", {"1", "2", "4", "5"}),  // 5 is the largest scale of the contract
          growth_of(base, "k", {"1", "3", "7", "15"})};
}

// Geometry fixes the contention: every input pixel gets (k * s)^2 additions.
std::vector<Contention> contention() {
  std::vector<Contention> levels;
  const auto add = [&](const char* text, const char* what) { levels.push_back({text, list({what})[0]}); };
  add("196 adds per pixel", "n=2 h=50 w=76 c=256 k=7 g=1 s=2");
  add("100 adds per pixel", "n=2 h=50 w=76 c=256 k=5 g=1 s=2");
  add("36 adds per pixel", "n=2 h=50 w=76 c=256 k=3 g=1 s=2");
  add("4 adds per pixel", "n=2 h=50 w=76 c=256 k=1 g=1 s=2");
  add("1 add per pixel", "n=2 h=50 w=76 c=256 k=1 g=1 s=1");
  return levels;
}

}  // namespace

std::vector<OperatorCases> carafe_operators() {
  return {{.op = "carafe_forward",
           .function = "mluOpCarafeForward",
           .parameters = kParameters,
           .describe = forward,
           .smallest = smallest,
           .document = forward_document,
           .edge = forward_edge,
           .random = random_case,
           .large = large,
           .network = network,
           .meaningful_in_half = forward_in_half,
           .reducible = {"n", "h"},
           .growth = growth},
          {.op = "carafe_backward",
           .function = "mluOpCarafeBackward",
           .parameters = kParameters,
           .describe = backward,
           .smallest = smallest,
           .document = backward_document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .scatters = true,
           .meaningful_in_half = backward_in_half,
           .reducible = {"n", "h"},
           .growth = growth,
           .contention = contention}};
}

}  // namespace mluops::cases
