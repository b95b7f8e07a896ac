#include <algorithm>
#include <limits>
#include <memory>

#include "test/cases/base/images.h"
#include "test/cases/base/touched.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsBorderAlignShape;

const std::vector<Parameter> kParameters = {
    {"n", "2", "images"},
    {"h", "10", "height of the map"},
    {"w", "7", "width of the map"},
    {"c", "128", "channels of one border; the map has four times as many"},
    {"k", "70", "boxes of an image"},
    {"p", "10", "pool size: samples of a border beside its first"},
    {"boxes", "network",
     "network (about the centre) | inside | beyond | inverted | edge (dyadic corners from -1.5 to size+1) | mixed"},
    {"spread", "1", "of network boxes: 1 all over the map, towards 0 all on one spot"},
    {"data", "signed", "signed | ties (few distinct values) | negative (samples outside win with 0)"},
    {"argmax", "forward", "what backward is given: forward (the reference's) | uniform | wild (some out of range)"},
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("n"), t.size("h"), t.size("w"), t.size("c"), t.size("k"), t.size("p")};
}

double corner(const std::string& kind, double size, Random& random) {
  if (kind == "beyond") return random.real(-size - 3, 2 * size + 3);
  if (kind == "edge") return static_cast<double>(random.integer(-3, 2 * static_cast<std::int64_t>(size) + 2)) / 2;
  return random.real(0, size - 1);
}

void add_box(Values& boxes, const std::string& kind, const Shape& s, Random& random) {
  double x[2], y[2];
  for (double& v : x) v = corner(kind, static_cast<double>(s.w), random);
  for (double& v : y) v = corner(kind, static_cast<double>(s.h), random);
  std::sort(x, x + 2);
  std::sort(y, y + 2);
  const int first = kind == "inverted" ? 1 : 0;
  boxes.insert(boxes.end(), {x[first], y[first], x[1 - first], y[1 - first]});
}

// First corner in the upper left half, second in the lower right one.
void add_network_box(Values& boxes, double spread, const Shape& s, Random& random) {
  const double h = static_cast<double>(s.h), w = static_cast<double>(s.w);
  const auto distance = [&] { return random.unit() * 0.5 * spread; };
  const double x1 = w * (0.5 - distance()), y1 = h * (0.5 - distance());
  const double x2 = w * (0.5 + distance()) - 1, y2 = h * (0.5 + distance()) - 1;
  boxes.insert(boxes.end(), {x1, y1, x2, y2});
}

// Boxes as the tensor holds them.
Values make_boxes(const Case& t, const Shape& s) {
  const std::string kinds[] = {"inside", "beyond", "inverted", "edge"}, kind = t.word("boxes");
  Random random(t.seed("boxes"));
  Values boxes;
  for (std::int64_t box = 0; box < s.n * s.k; ++box) {
    if (kind == "network") {
      add_network_box(boxes, t.real("spread"), s, random);
    } else {
      add_box(boxes, kind == "mixed" ? random.pick(kinds) : kind, s, random);
    }
  }
  boxes = admissible(t, std::move(boxes));
  for (double& v : boxes) v = rounded(s.dtype, v);
  return boxes;
}

Fill map_values(const Case& t) {
  const std::string data = t.word("data");
  if (data == "negative") return uniform(-1, -0.01, t.seed("map"));
  const Fill plain = uniform(-1, 1, t.seed("map"));
  if (data != "ties") return plain;
  return [plain](std::int64_t i) { return static_cast<double>(static_cast<int>(plain(i) * 2.999)); };
}

// Each border has its own channels, so its own plane.
TouchedPixels touch(const Shape& s, const Values& boxes) {
  TouchedPixels touched(s.n * 4, s.h, s.w);
  const double samples = static_cast<double>(s.pool_size);
  for (std::int64_t i = 0; i < s.n * s.k; ++i) {
    const double* b = &boxes[static_cast<std::size_t>(4 * i)];
    const double dx = (b[2] - b[0]) / samples, dy = (b[3] - b[1]) / samples;
    for (std::int64_t j = 0; j <= s.pool_size; ++j) {
      const double at = static_cast<double>(j);
      touched.sample(i / s.k * 4 + 0, b[1], b[0] + dx * at);
      touched.sample(i / s.k * 4 + 1, b[1] + dy * at, b[0]);
      touched.sample(i / s.k * 4 + 2, b[3], b[2] - dx * at);
      touched.sample(i / s.k * 4 + 3, b[3] - dy * at, b[2]);
    }
  }
  return touched;
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values boxes = make_boxes(text, s);
  const TouchedPixels touched = touch(s, boxes);
  const std::vector<std::int64_t> borders = {s.n, s.k, 4, s.c};
  Description d;
  d.tensors = {nhwc("input", dtype, {s.n, s.h, s.w, 4 * s.c}, map_values(text)),
               {.name = "boxes", .dtype = dtype, .dims = {s.n, s.k, 4}, .fill = given(boxes)},
               nhwc("output", dtype, borders),
               nhwc("argmax_idx", MLUOP_DTYPE_INT32, borders)};
  d.tensors[3].comparison = Comparison::kChoice;
  d.tensors[0].touched = touched.share();
  d.tensors[0].runs = runs_of(touched, s.n, 4, s.c);
  d.flops = 9.0 * static_cast<double>(touched.samples_inside() * s.c);  // four multiply-adds and a comparison
  d.call = [pool = text.integer("p")](mluOpHandle_t handle, const Arguments& t) {
    return mluOpBorderAlignForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, pool, t[2].desc, t[2].data,
                                   t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    reference::BorderAlignResult r = reference::border_align_forward({s, in[0], in[1], nullptr, nullptr}, coordinates);
    return std::vector<Values>{std::move(r.output), Values(r.argmax.begin(), r.argmax.end())};
  };
  d.samples = [s](const Inputs& in, Coordinates coordinates) -> SampleValue {
    const mluopsBorderAlignForwardProblem problem = {s, in[0], in[1], nullptr, nullptr};
    return [last = s.pool_size, values = std::make_shared<const reference::BorderAlignSamples>(problem, coordinates)](
               std::int64_t i, int choice) {
      return choice >= 0 && choice <= last ? (*values)(i, choice) : std::numeric_limits<double>::quiet_NaN();
    };
  };
  return d;
}

// The winners of the reference on a map of its own.
Fill forward_argmax(const Case& t, const Shape& s, const Values& boxes) {
  Shape wide = s;
  wide.dtype = MLUOP_DTYPE_DOUBLE;
  const Values map = values_of(uniform(-1, 1, t.seed("argmax")), s.n * s.h * s.w * 4 * s.c);
  const auto r = reference::border_align_forward({wide, map.data(), boxes.data(), nullptr, nullptr},
                                                 reference::Coordinates::kFloat);
  return given({r.argmax.begin(), r.argmax.end()});
}

Fill argmax(const Case& t, const Shape& s, const Values& boxes) {
  const std::string kind = t.word("argmax");
  if (kind == "forward") return forward_argmax(t, s, boxes);
  const Fill valid = integers(0, s.pool_size, t.seed("argmax"));
  if (kind == "uniform") return valid;
  return [=, seed = t.seed("wild"), pool = static_cast<double>(s.pool_size)](std::int64_t i) {
    const double outside[] = {-1, pool + 1, static_cast<double>(std::numeric_limits<std::int32_t>::max()),
                              static_cast<double>(std::numeric_limits<std::int32_t>::min())};
    const double share = unit_random(seed, i) / 0.3;
    return share < 1 ? outside[static_cast<int>(share * 4)] : valid(i);
  };
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  const Values boxes = make_boxes(text, s);
  const std::vector<std::int64_t> borders = {s.n, s.k, 4, s.c};
  Description d;
  d.tensors = {nhwc("grad_output", dtype, borders, uniform(-1, 1, text.seed("grad_output"))),
               {.name = "boxes", .dtype = dtype, .dims = {s.n, s.k, 4}, .fill = given(boxes)},
               nhwc("argmax_idx", MLUOP_DTYPE_INT32, borders, argmax(text, s, boxes)),
               nhwc("grad_input", dtype, {s.n, s.h, s.w, 4 * s.c})};
  d.flops = 8.0 * static_cast<double>(s.n * s.k * 4 * s.c);  // four multiply-adds for the one winning sample
  d.call = [pool = text.integer("p")](mluOpHandle_t handle, const Arguments& t) {
    return mluOpBorderAlignBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, pool,
                                    t[3].desc, t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    const auto* winners = static_cast<const std::int32_t*>(in[2]);
    return std::vector<Values>{reference::border_align_backward({s, in[0], in[1], winners, nullptr}, coordinates)};
  };
  return d;
}

Cases smallest() {
  return list({"n=1 h=1 w=1 c=1 k=1 p=1 boxes=inside", "n=1 h=4 w=3 c=5 k=3 p=2 boxes=inside"});
}

Cases document() {
  return list({
      "n=2 h=7 w=10 c=256 k=70 p=10 boxes=inside",
      "n=1 h=25 w=38 c=64 k=950 p=10 boxes=inside",  // batch 1 of 2, 64 of 256 channels
      "n=2 h=10 w=7 c=128 k=70 p=10 boxes=inside",
      "n=3 h=10 w=10 c=1 k=5 p=8 boxes=inside",
      "n=3 h=8 w=10 c=103 k=80 p=2 boxes=inside",   // 412 channels for the document's 410, batch 3
      "n=3 h=8 w=100 c=2 k=800 p=1 boxes=inside",   // batch 3
      "n=1 h=10 w=7 c=129 k=70 p=10 boxes=inside",  // vendor's test
      "n=2 h=10 w=10 c=5 k=100 p=3 boxes=mixed",
      "n=1 h=3 w=4 c=1 k=12 p=1 boxes=inside",  // mmcv
      "n=1 h=3 w=4 c=1 k=12 p=2 boxes=inside",
  });
}

Cases edge() {
  return list({
      "n=1 h=1 w=1 c=1 k=1 p=1 boxes=inside",
      "n=1 h=1 w=1 c=3 k=9 p=4 boxes=edge",
      "n=1 h=8 w=8 c=3 k=64 p=4 boxes=edge",  // samples exactly on -1, H and W
      "n=2 h=4 w=16 c=7 k=33 p=8 boxes=edge data=negative",
      "n=2 h=6 w=5 c=5 k=21 p=7 boxes=beyond",
      "n=2 h=6 w=5 c=5 k=21 p=7 boxes=beyond data=negative",
      "n=1 h=9 w=9 c=6 k=15 p=10 boxes=inverted",
      "n=2 h=61 w=67 c=7 k=2 p=10 boxes=network",  // a few boxes on a large map
      "n=2 h=61 w=67 c=21 k=3 p=10 boxes=edge data=negative",
      "n=2 h=61 w=67 c=1 k=3 p=4 boxes=inverted",
      "n=2 h=8 w=8 c=17 k=16 p=8 boxes=inside data=ties",
      "n=2 h=8 w=8 c=9 k=16 p=4 boxes=edge data=ties",
      "n=1 h=5 w=6 c=4 k=30 p=3 boxes=mixed argmax=wild",
      "n=1 h=3 w=3 c=1031 k=2 p=2 boxes=mixed",
      "n=3 h=2 w=7 c=33 k=1 p=1 boxes=mixed",
      "n=1 h=4 w=4 c=2 k=3 p=100 boxes=mixed",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"inside", "inside", "mixed", "beyond", "inverted", "edge"};
  const std::int64_t most = effort < 1 ? 9 : 20;
  Case c;
  c.set("n", random.integer(1, 3)).set("h", random.integer(1, most)).set("w", random.integer(1, most));
  c.set("c", odd_size(random, effort < 1 ? 33 : 131)).set("k", random.integer(1, 40)).set("p", random.integer(1, 10));
  c.set("boxes", random.pick(kinds));
  if (random.chance(0.25)) c.set("data", random.chance(0.5) ? "ties" : "negative");
  if (random.chance(0.3)) c.set("argmax", "wild");
  return c;
}

Cases large() {
  return list({"n=1 h=25 w=30 c=64 k=200 p=10 boxes=inside", "n=2 h=20 w=16 c=33 k=300 p=4 boxes=inside"});
}

Cases network() {
  return list({"n=2 h=25 w=38 c=256 k=950", "n=2 h=7 w=10 c=256 k=70", "n=2 h=10 w=7 c=128 k=70",
               "n=2 h=100 w=152 c=256 k=15200"});
}

// Any winner costs the same, and the reference's take long on the largest map.
Cases backward_network() {
  return each(network(), "argmax", {"uniform"});
}

// Coordinates below 64, where the spacing is 1/32.
bool meaningful(const Case& t) {
  return std::max(t.real("h"), t.real("w")) <= 64;
}

std::vector<Growth> growth() {
  const Case base = list({"n=2 h=25 w=38 c=32 k=475 p=5 argmax=uniform"})[0];
  return {growth_of(base, "n"), growth_of(base, "h"), growth_of(base, "w"),
          growth_of(base, "c"), growth_of(base, "k"), growth_of(base, "p")};
}

std::vector<Contention> contention() {
  std::vector<Contention> levels;
  for (const int percent : {2, 10, 30, 100}) {
    levels.push_back({"boxes over " + std::to_string(percent) + " % of the map",
                      Case(list({"n=2 h=50 w=76 c=256 k=3800 argmax=uniform"})[0]).set("spread", percent / 100.0)});
  }
  levels.push_back({"one box per image", list({"n=2 h=50 w=76 c=256 k=1 p=1 argmax=uniform"})[0]});
  return levels;
}

OperatorCases entry(const char* op, const char* function) {
  return {.op = op,
          .function = function,
          .parameters = kParameters,
          .describe = forward,
          .smallest = smallest,
          .document = document,
          .edge = edge,
          .random = random_case,
          .large = large,
          .network = network,
          .coordinates = true,
          .meaningful_in_half = meaningful,
          .reducible = {"k"},
          .growth = growth};
}

}  // namespace

std::vector<OperatorCases> border_align_operators() {
  OperatorCases gradient = entry("border_align_backward", "mluOpBorderAlignBackward");
  gradient.describe = backward;
  gradient.network = backward_network;
  gradient.scatters = true;
  gradient.contention = contention;
  return {entry("border_align_forward", "mluOpBorderAlignForward"), gradient};
}

}  // namespace mluops::cases
