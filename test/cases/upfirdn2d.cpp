#include "test/reference/upfirdn2d.h"

#include <algorithm>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsUpfirdn2dShape;

const std::vector<Parameter> kParameters = {
    {"n", "2", "images"},
    {"h", "129", "height of an image"},
    {"w", "129", "width of an image"},
    {"c", "128", "channels"},
    {"fh", "4", "height of the filter"},
    {"fw", "4", "width of the filter"},
    {"ux", "1", "pixels that each becomes across"},
    {"uy", "1", "pixels that each becomes down"},
    {"dx", "1", "pixels across of which one is kept"},
    {"dy", "1", "pixels down of which one is kept"},
    {"x0", "0", "padding on the left, cut where negative"},
    {"x1", "0", "padding on the right"},
    {"y0", "0", "padding above"},
    {"y1", "0", "padding below"},
    {"flip", "0", "1: a correlation in place of a convolution"},
    {"gain", "1", "what the filter is multiplied by"},
    {"data", "uniform", "uniform | wild (some NaN, infinite)"},
};

/// Rows or columns of the output; 1 at least, so that a case which does not fit is a call that is refused.
std::int64_t filtered(std::int64_t size, int up, int down, std::int64_t pads, std::int64_t filter) {
  return std::max<std::int64_t>(0, size * up + pads - filter) / std::max(1, down) + 1;
}

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  Shape s = {};
  s.dtype = dtype, s.n = t.size("n"), s.h = t.size("h"), s.w = t.size("w"), s.c = t.size("c");
  s.fh = t.size("fh"), s.fw = t.size("fw");
  s.up_x = t.integer("ux"), s.up_y = t.integer("uy"), s.down_x = t.integer("dx"), s.down_y = t.integer("dy");
  s.pad_x0 = t.integer("x0"), s.pad_x1 = t.integer("x1"), s.pad_y0 = t.integer("y0"), s.pad_y1 = t.integer("y1");
  s.flip_filter = t.integer("flip");
  s.out_h = filtered(s.h, s.up_y, s.down_y, std::int64_t{s.pad_y0} + s.pad_y1, s.fh);
  s.out_w = filtered(s.w, s.up_x, s.down_x, std::int64_t{s.pad_x0} + s.pad_x1, s.fw);
  return s;
}

Fill numbers(const Case& t) {
  const std::uint64_t seed = t.seed("input");
  const Fill plain = uniform(-1, 1, seed);
  if (t.word("data") != "wild") return plain;
  return [=](std::int64_t i) {
    const double luck = unit_random(seed + 1, i);
    if (luck < 0.01) return std::numeric_limits<double>::quiet_NaN();
    return luck < 0.02 ? std::numeric_limits<double>::infinity() : plain(i);
  };
}

TensorSpec image(const char* name, const Shape& s, std::int64_t h, std::int64_t w, Fill fill = {}) {
  return {.name = name,
          .layout = MLUOP_LAYOUT_NHWC,
          .dtype = s.dtype,
          .dims = {s.n, h, w, s.c},
          .fill = std::move(fill),
          .term_size = 1};
}

Description describe_call(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const double gain = scalar_of(text, "gain", dtype);
  Description d;
  d.tensors = {image("input", s, s.h, s.w, numbers(text)),
               {.name = "filter", .dtype = dtype, .dims = {s.fh, s.fw}, .fill = uniform(-0.5, 1, text.seed("filter"))},
               image("output", s, s.out_h, s.out_w)};
  d.scalars = {gain};
  const double taps = static_cast<double>(s.fh) / std::max(1, s.up_y) * static_cast<double>(s.fw) / std::max(1, s.up_x);
  d.flops = 2 * std::max(1.0, taps) * static_cast<double>(s.n * s.out_h * s.out_w * s.c);
  d.call = [s, gain](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtUpfirdn2d(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, s.up_x, s.up_y, s.down_x, s.down_y,
                             s.pad_x0, s.pad_x1, s.pad_y0, s.pad_y1, s.flip_filter != 0, static_cast<float>(gain),
                             t[2].desc, t[2].data);
  };
  d.reference = [s, gain](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::upfirdn2d({s, in[0], in[1], nullptr, MLUOP_LAYOUT_NHWC, gain})};
  };
  return d;
}

Cases smallest() {
  return list(
      {"n=1 h=1 w=1 c=1 fh=1 fw=1", "n=2 h=6 w=7 c=5 fh=3 fw=4 ux=2 uy=3 dx=3 dy=2 x0=2 x1=1 y0=1 y1=3 gain=1.5"});
}

Cases document() {
  return list({
      "n=2 h=33 w=33 c=32",                                       // StyleGAN2's blur behind a transposed convolution
      "n=1 h=16 w=16 c=24 ux=2 uy=2 x0=2 x1=1 y0=2 y1=1 gain=4",  // its skip connections
      "n=1 h=32 w=32 c=24 dx=2 dy=2 x0=1 x1=1 y0=1 y1=1 flip=1",  // and the discriminator's
      "n=1 h=36 w=36 c=8 fh=1 fw=12 ux=2 x0=6 x1=5 gain=2",       // StyleGAN3, one axis
      "n=1 h=36 w=36 c=8 fh=12 fw=1 dy=2 y0=5 y1=6",
      "n=1 h=24 w=24 c=3 fh=12 fw=12 ux=2 uy=2 dx=2 dy=2 x0=5 x1=6 y0=5 y1=6",
  });
}

Cases edge() {
  return list({
      "n=2 h=9 w=35 c=3 x0=1 x1=2 y0=3",                     // odd padding
      "n=1 h=9 w=37 c=3 x0=-1 x1=2 y0=3 y1=-2",              // negative padding
      "n=1 h=9 w=37 c=18 ux=2 uy=2 x0=-3 x1=-5 y0=-2 y1=1",  // that cuts zeros and pixels
      "n=1 h=4 w=5 c=3 fh=3 fw=3 x0=-9 x1=20 y0=-7 y1=12",   // nothing of the image is left
      "n=1 h=3 w=4 c=5 fh=9 fw=11 x0=5 x1=6 y0=4 y1=5",      // a filter larger than the image
      "n=1 h=3 w=40 c=2 fh=40 fw=90 ux=3 uy=5 dx=2 x0=50 x1=51 y0=40 y1=41",
      "n=2 h=7 w=6 c=4 fh=1 fw=2 ux=5 uy=4 dx=3 dy=7 x0=3 x1=2 y0=1 y1=9",  // steps larger than the filter
      "n=1 h=12 w=70 c=1 fh=2 fw=3 dx=6 dy=5 x0=1",
      "n=1 h=12 w=70 c=3 fh=5 fw=7 ux=6 dx=4 uy=2 dy=6 x0=6 x1=2 y0=3 y1=3",
      "n=1 h=12 w=300 c=2 fh=5 fw=6 dx=3 ux=2 x0=3 x1=3 y0=2 y1=2 flip=1 gain=-0.3",
      "n=1 h=1 w=1 c=40 fh=3 fw=3 x0=1 x1=1 y0=1 y1=1",
      "n=3 h=33 w=1 c=2 fh=2 fw=1",
      "n=1 h=1 w=2 c=1 fh=1 fw=2 ux=2147483647 dx=2147483647 x0=1",
      "n=1 h=2 w=1 c=1 fh=2 fw=1 uy=3 dy=2147483647 y0=2147483647",
      "n=1 h=5 w=6 c=3 fh=2 fw=2 dx=1000003 x1=2147483647 y0=1 gain=2",
      "n=1 h=9 w=41 c=17 data=wild",
      "n=1 h=9 w=41 c=5 ux=2 dx=3 x0=2 x1=2 data=wild",
      "n=1 h=6 w=21 c=3 gain=0",
  });
}

/// Padding of one end: mostly small, sometimes negative.
int pad(Random& random) {
  return static_cast<int>(random.integer(-2, 4));
}

Case random_case(Random& random, double effort) {
  const std::int64_t most = effort < 1 ? 12 : 40;
  Case c;
  c.set("n", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", odd_size(random, 3 * most));
  c.set("c", odd_size(random, most)).set("flip", random.integer(0, 1)).set("gain", random.chance(0.5) ? "1" : "1.7");
  for (const std::string axis : {"x", "y"}) {
    const std::int64_t size = c.size(axis == "x" ? "w" : "h"), up = random.integer(1, 3);
    const int before = pad(random), behind = pad(random);
    const std::int64_t room = size * up + before + behind;
    const bool cut_to_nothing = room < 1;
    c.set("u" + axis, up).set("d" + axis, random.integer(1, 3));
    c.set(axis + "0", cut_to_nothing ? 0 : before).set(axis + "1", cut_to_nothing ? 0 : behind);
    c.set(axis == "x" ? "fw" : "fh", random.integer(1, std::min<std::int64_t>(8, cut_to_nothing ? size * up : room)));
  }
  return c;
}

Cases large() {
  return list({"n=2 h=65 w=65 c=48 x0=1 x1=1 y0=1 y1=1", "n=1 h=64 w=66 c=40 ux=2 uy=2 x0=2 x1=1 y0=2 y1=1 gain=4",
               "n=1 h=128 w=130 c=33 dx=2 dy=2 x0=1 x1=1 y0=1 y1=1",
               "n=1 h=60 w=70 c=24 fh=5 fw=7 ux=3 uy=2 dx=2 dy=3 x0=4 x1=4 y0=2 y1=2"});
}

Cases network() {
  return list({
      "x0=1 x1=1 y0=1 y1=1 gain=4",                                // StyleGAN2: the blur
      "h=64 w=64 ux=2 uy=2 x0=2 x1=1 y0=2 y1=1 gain=4",            // twice the size
      "h=128 w=128 dx=2 dy=2 x0=1 x1=1 y0=1 y1=1",                 // half the size
      "n=4 h=128 w=128 c=3 ux=2 uy=2 x0=2 x1=1 y0=2 y1=1 gain=4",  // of an image
      "n=1 h=148 w=148 c=64 fh=1 fw=12 ux=2 x0=10 x1=9 gain=2",    // StyleGAN3: one axis of an activation
  });
}

std::vector<Growth> growth() {
  const Case base = list({"n=1 h=32 w=32 c=32 x0=1 x1=1 y0=1 y1=1"})[0];
  return {growth_of(base, "n"), growth_of(base, "h"), growth_of(base, "c"), growth_of(base, "w")};
}

}  // namespace

std::vector<OperatorCases> upfirdn2d_operators() {
  return {{.op = "upfirdn2d",
           .function = "mluOpExtUpfirdn2d",
           .parameters = kParameters,
           .describe = describe_call,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .reducible = {"c", "n"},
           .growth = growth}};
}

}  // namespace mluops::cases
