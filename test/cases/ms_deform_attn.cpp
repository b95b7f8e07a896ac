#include "test/reference/ms_deform_attn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

using Shape = mluopsMsDeformAttnShape;

const std::vector<Parameter> kParameters = {
    {"b", "1", "images"},
    {"q", "900", "queries"},
    {"m", "8", "heads"},
    {"d", "32", "channels of a head"},
    {"l", "4", "levels"},
    {"p", "4", "points of a level"},
    {"h", "25", "height of the finest level; each has half the size of the one before"},
    {"w", "42", "width of the finest level"},
    {"shapes", "pyramid", "pyramid (h x w, halved from level to level), or the levels' own: 25x42+13x21"},
    {"keys", "0", "pixels of value; 0: those of levels and gaps"},
    {"gap", "0", "pixels of value before each level that belong to none"},
    {"loc", "network",
     "network (within 4 pixels of the query's own place) | around (map and surroundings) | edge (on pixels, borders, "
     "one "
     "pixel outside) | same (one place) | special (NaN, infinite, far)"},
};

std::int64_t halved(std::int64_t size, std::int64_t level) {
  for (; level > 0; --level) size = (size + 1) / 2;
  return size;
}

struct Pyramid {
  Values shapes, starts;
  std::int64_t keys = 0;

  explicit Pyramid(const Case& t) {
    std::istringstream levels(t.word("shapes"));
    const bool own = levels.str() != "pyramid";
    for (std::int64_t level = 0; level < t.size("l"); ++level) {
      std::int64_t h = halved(t.size("h"), level), w = halved(t.size("w"), level);
      if (own) {
        std::string sizes;
        std::getline(levels, sizes, '+');
        const std::vector<int> both = Case().set("shapes", sizes).per_axis("shapes", 2, 1, 1 << 20);
        h = both[0], w = both[1];
      }
      keys += t.count("gap");
      shapes.push_back(static_cast<double>(h));
      shapes.push_back(static_cast<double>(w));
      starts.push_back(static_cast<double>(keys));
      keys += h * w;
    }
    if (t.count("keys") > 0) keys = t.count("keys");
  }
};

Shape shape_of(const Case& t, mluOpDataType_t dtype) {
  return {dtype, t.size("b"), Pyramid(t).keys, t.size("m"), t.size("d"), t.size("l"), t.size("q"), t.size("p")};
}

// ---- locations ----

// A coordinate of a sample, in pixels of its level.
double edge_place(double size, double share) {
  const double places[] = {-1, -0.5, 0, 0.25, 1, size - 1, size - 0.5, size, size / 2};
  return places[static_cast<std::size_t>(share * 9)];
}

double special_place(double size, double share) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double places[] = {std::nan(""), infinity, -infinity, 3e4, -3e4, size / 3};
  return places[static_cast<std::size_t>(share * 6)];
}

Fill locations(const Case& t, const Shape& s) {
  const std::string kind = t.word("loc");
  const Pyramid pyramid(t);
  const std::uint64_t seed = t.seed("loc"), query_seed = t.seed("query");
  const double w = pyramid.shapes[1], h = pyramid.shapes[0];
  return [=](std::int64_t i) {
    const std::int64_t axis = i % 2, level = i / 2 / s.points % s.levels;
    const std::int64_t query = i / 2 / s.points / s.levels / s.heads % s.queries;
    const double size = pyramid.shapes[static_cast<std::size_t>(2 * level + 1 - axis)], share = unit_random(seed, i);
    if (kind == "edge") return (edge_place(size, share) + 0.5) / size;
    if (kind == "special") return (special_place(size, share) + 0.5) / size;
    if (kind == "same") return 0.4;
    if (kind == "around") return -0.3 + 1.6 * share;
    // Queries in the order of the pixels of the finest level.
    const double place = std::floor(static_cast<double>(query) / static_cast<double>(s.queries) * h * w);
    const double own = axis == 0 ? (std::fmod(place, w) + 0.5) / w : (std::floor(place / w) + 0.5) / h;
    return own + (8 * share - 4 + 0.1 * unit_random(query_seed, query)) / size;
  };
}

// ---- calls ----

TensorSpec tensor(const char* name, mluOpDataType_t dtype, std::vector<std::int64_t> dims, Fill fill = {}) {
  return {.name = name, .dtype = dtype, .dims = std::move(dims), .fill = std::move(fill)};
}

struct Names {
  const char *value, *shapes, *starts, *loc, *weight;
};

std::vector<TensorSpec> inputs(const Case& t, const Shape& s, const Names& n) {
  const Pyramid pyramid(t);
  const double most = 2 / static_cast<double>(s.levels * s.points);  // in the mean they sum up to 1
  return {
      tensor(n.value, s.dtype, {s.batch, s.keys, s.heads, s.channels}, uniform(-1, 1, t.seed("value"))),
      tensor(n.shapes, MLUOP_DTYPE_INT32, {s.levels, 2}, given(pyramid.shapes)),
      tensor(n.starts, MLUOP_DTYPE_INT32, {s.levels}, given(pyramid.starts)),
      tensor(n.loc, s.dtype, {s.batch, s.queries, s.heads, s.levels, s.points, 2}, locations(t, s)),
      tensor(n.weight, s.dtype, {s.batch, s.queries, s.heads, s.levels, s.points}, uniform(0, most, t.seed("weight")))};
}

double samples_of(const Shape& s) {
  return static_cast<double>(s.batch * s.queries * s.heads * s.levels * s.points);
}

const std::int32_t* ints(const void* data) {
  return static_cast<const std::int32_t*>(data);
}

Description forward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.tensors =
      inputs(text, s,
             {"data_value", "data_spatial_shapes", "data_level_start_index", "data_sampling_loc", "data_attn_weight"});
  d.tensors.push_back(tensor("data_col", dtype, {s.batch, s.queries, s.heads, s.channels}));
  d.tensors.back().term_size = 0.25;
  d.flops = 8 * samples_of(s) * static_cast<double>(s.channels);
  d.call = [step = static_cast<int>(s.batch)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMsDeformAttnForward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, t[3].desc,
                                    t[3].data, t[4].desc, t[4].data, step, t[5].desc, t[5].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    return std::vector<Values>{
        reference::ms_deform_attn_forward({s, in[0], ints(in[1]), ints(in[2]), in[3], in[4], nullptr}, coordinates)};
  };
  return d;
}

Description backward(const Case& text, mluOpDataType_t dtype) {
  const Shape s = shape_of(text, dtype);
  Description d;
  d.tensors = inputs(text, s, {"value", "spatial_shapes", "level_start_index", "sampling_loc", "attn_weight"});
  d.tensors.push_back(
      tensor("grad_output", dtype, {s.batch, s.queries, s.heads, s.channels}, uniform(-1, 1, text.seed("grad"))));
  d.tensors.push_back(tensor("grad_value", dtype, d.tensors[0].dims));
  d.tensors.push_back(tensor("grad_sampling_loc", dtype, d.tensors[3].dims));
  d.tensors.push_back(tensor("grad_attn_weight", dtype, d.tensors[4].dims));
  d.tensors[6].term_size = 0.25;
  d.tensors[7].term_size = std::max(text.real("h"), text.real("w")) / static_cast<double>(s.levels * s.points);
  d.tensors[8].term_size = 1;
  d.flops = 24 * samples_of(s) * static_cast<double>(s.channels);
  d.call = [step = static_cast<int>(s.batch)](mluOpHandle_t handle, const Arguments& t) {
    return mluOpMsDeformAttnBackward(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                     t[3].desc, t[3].data, t[4].desc, t[4].data, t[5].desc, t[5].data, step, t[6].desc,
                                     t[6].data, t[7].desc, t[7].data, t[8].desc, t[8].data);
  };
  d.reference = [s](const Inputs& in, Coordinates coordinates) {
    auto g = reference::ms_deform_attn_backward(
        {s, in[0], ints(in[1]), ints(in[2]), in[3], in[4], in[5], nullptr, nullptr, nullptr}, coordinates);
    return std::vector<Values>{std::move(g.value), std::move(g.sampling_loc), std::move(g.attn_weight)};
  };
  return d;
}

// ---- lists ----

Cases smallest() {
  return list({"b=1 q=1 m=1 d=1 l=1 p=1 h=1 w=1", "b=2 q=4 m=1 d=3 l=2 p=1 h=3 w=5"});
}

Cases document() {
  return list({
      "b=1 q=2 m=2 d=2 l=2 p=2 h=6 w=4 loc=around",    // mmcv's test
      "b=1 q=2 m=2 d=30 l=2 p=2 h=6 w=4 loc=around",   // mmcv's test of channels
      "b=1 q=2 m=2 d=64 l=2 p=2 h=6 w=4 loc=around",   // mmcv's test of channels
      "b=1 q=300 m=8 d=32 h=25 w=34",                  // Deformable DETR's decoder, maps a quarter as high and wide
      "b=2 q=450 m=8 d=32 l=4 p=4 h=20 w=17",          // its encoder, reduced
      "b=2 q=60 m=4 d=48 l=3 p=5 h=13 w=9 loc=around"  // vendor's tests, reduced
  });
}

Cases edge() {
  return list({
      "b=1 q=40 m=2 d=5 l=1 p=3 h=1 w=1 loc=edge",
      "b=1 q=40 m=1 d=8 l=2 p=3 h=1 w=9 loc=edge",
      "b=2 q=60 m=2 d=17 l=3 p=4 h=8 w=5 loc=edge",
      "b=1 q=30 m=3 d=9 l=2 p=2 h=7 w=6 loc=special",
      "b=1 q=30 m=3 d=4 l=3 p=1 h=7 w=6 gap=5 loc=around",
      "b=1 q=200 m=1 d=6 l=1 p=4 h=4 w=4 loc=same",
      "b=3 q=7 m=5 d=33 l=1 p=40 h=9 w=3 loc=around",
      "b=1 q=50 m=1 d=130 l=2 p=2 h=6 w=5 loc=around",
      "b=2 q=1 m=16 d=16 l=5 p=8 h=30 w=31",
  });
}

Case random_case(Random& random, double effort) {
  const char* const kinds[] = {"network", "network", "around", "edge", "special", "same"};
  const std::int64_t most = effort < 1 ? 8 : 16;
  Case c;
  c.set("b", random.integer(1, 3)).set("q", odd_size(random, effort < 1 ? 20 : 60)).set("m", random.integer(1, 5));
  c.set("d", odd_size(random, effort < 1 ? 16 : 70)).set("l", random.integer(1, 4)).set("p", random.integer(1, 5));
  c.set("h", random.integer(1, most)).set("w", random.integer(1, most));
  return c.set("gap", random.chance(0.2) ? random.integer(1, 9) : 0).set("loc", random.pick(kinds));
}

Cases large() {
  return list({"b=1 q=600 m=8 d=32 h=25 w=34", "b=2 q=700 m=3 d=37 l=3 p=5 h=30 w=20", "b=1 q=900 m=1 d=64 h=20 w=30"});
}

Cases network() {
  return list({"q=300 h=100 w=167", "q=22223 h=100 w=167", "b=2 q=900 h=100 w=167"});
}

std::vector<Growth> growth() {
  const Case base = list({"b=1 q=500 m=4 d=16 l=2 p=2 h=20 w=30"})[0];
  return {growth_of(base, "b"), growth_of(base, "q"), growth_of(base, "m"), growth_of(base, "d"), growth_of(base, "p")};
}

}  // namespace

std::vector<OperatorCases> ms_deform_attn_operators() {
  OperatorCases sum = {.op = "ms_deform_attn_forward",
                       .function = "mluOpMsDeformAttnForward",
                       .parameters = kParameters,
                       .describe = forward,
                       .smallest = smallest,
                       .document = document,
                       .edge = edge,
                       .random = random_case,
                       .large = large,
                       .network = network,
                       .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                                  .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
                       .coordinates = true,
                       .reducible = {"q", "h", "w"},
                       .growth = growth};
  OperatorCases gradient = sum;
  gradient.op = "ms_deform_attn_backward";
  gradient.function = "mluOpMsDeformAttnBackward";
  gradient.describe = backward;
  return {sum, gradient};
}

}  // namespace mluops::cases
