#include "test/reference/diff_iou_rotated.h"

#include <array>
#include <cmath>
#include <limits>

#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kParameters = {
    {"b", "2", "batch"},
    {"n", "500", "pairs of rectangles"},
    {"boxes", "random",
     "random | same (both the same) | grid (upright, sides that lie on each other) | wild (any vertices, NaN, any "
     "mask)"},
};

struct Point {
  double x, y;
};
using Corners = std::array<Point, 4>;

Corners corners_of(const std::string& kind, std::uint64_t seed, std::int64_t box) {
  const auto unit = [=](int i) { return unit_random(seed, 8 * box + i); };
  const auto quarter = [=](int i, double most) { return std::floor(unit(i) * most * 4) / 4; };
  const bool grid = kind == "grid";
  const double x = grid ? quarter(0, 2) : unit(0), y = grid ? quarter(1, 2) : unit(1);
  const double w = grid ? 0.5 + quarter(2, 1) : 0.4 + unit(2), h = grid ? 0.5 + quarter(3, 1) : 0.4 + unit(3);
  const double angle = grid ? 0 : 6.3 * unit(4), cos = std::cos(angle), sin = std::sin(angle);
  Corners c;
  const double sx[] = {0.5, -0.5, -0.5, 0.5}, sy[] = {0.5, 0.5, -0.5, -0.5};
  for (std::size_t i = 0; i < 4; ++i) {
    const double dx = sx[i] * w, dy = sy[i] * h;
    c[i] = {x + dx * cos - dy * sin, y + dx * sin + dy * cos};
  }
  return c;
}

double cross(Point a, Point b, Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}
bool inside(Point p, const Corners& c) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (cross(c[i], c[(i + 1) % 4], p) < -1e-9) return false;
  }
  return true;
}

/// What mmcv's Python code makes of pairs of rectangles.
struct Vertices {
  Values points, mask, valid;

  void add(const Corners& one, const Corners& other) {
    std::array<Point, 24> all;
    std::array<bool, 24> in;
    std::size_t last = 0;
    const auto put = [&](Point p, bool counts) { all[last] = p, in[last++] = counts; };
    for (const Point& p : one) put(p, inside(p, other));
    for (const Point& p : other) put(p, inside(p, one));
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const Point a = one[i], b = one[(i + 1) % 4], c = other[j], d = other[(j + 1) % 4];
        const double area = (a.x - b.x) * (c.y - d.y) - (a.y - b.y) * (c.x - d.x);
        const double t = ((a.x - c.x) * (c.y - d.y) - (a.y - c.y) * (c.x - d.x)) / area;
        const double u = -((a.x - b.x) * (a.y - c.y) - (a.y - b.y) * (a.x - c.x)) / area;
        const bool meet = area != 0 && t > 0 && t < 1 && u > 0 && u < 1;
        put(meet ? Point{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)} : Point{0, 0}, meet);
      }
    }
    Point mean = {0, 0};
    double count = 0;
    for (std::size_t i = 0; i < 24; ++i) {
      if (in[i]) mean.x += all[i].x, mean.y += all[i].y, ++count;
    }
    for (std::size_t i = 0; i < 24; ++i) {
      points.push_back(all[i].x - (count > 0 ? mean.x / count : 0));
      points.push_back(all[i].y - (count > 0 ? mean.y / count : 0));
      mask.push_back(in[i] ? 1 : 0);
    }
    valid.push_back(count);
  }
};

Vertices vertices_of(const Case& t) {
  const std::string kind = t.word("boxes");
  const std::uint64_t seed = t.seed("boxes");
  const std::int64_t n = t.size("b") * t.size("n");
  Vertices v;
  for (std::int64_t i = 0; kind != "wild" && i < n; ++i) {
    v.add(corners_of(kind, seed, 2 * i), corners_of(kind, seed, 2 * i + (kind == "same" ? 0 : 1)));
  }
  for (std::int64_t i = 0; kind == "wild" && i < 48 * n; ++i) {
    const double luck = unit_random(seed, i), value = 2 * unit_random(seed + 1, i) - 1;
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    v.points.push_back(luck < 0.02 ? nan : luck < 0.03 ? infinity : luck < 0.1 ? 0 : value);
    if (i % 2 == 0) v.mask.push_back(unit_random(seed + 2, i) < unit_random(seed + 3, i / 48) ? 1 : 0);
    if (i % 48 == 0) v.valid.push_back(std::floor(unit_random(seed + 4, i) * 14) - 2);
  }
  return v;
}

Description describe_sort(const Case& t, mluOpDataType_t dtype) {
  const std::int64_t b = t.size("b"), n = t.size("n");
  const Vertices v = vertices_of(t);
  Description d;
  d.tensors = {{.name = "vertices", .dtype = dtype, .dims = {b, n, 24, 2}, .fill = given(v.points)},
               {.name = "mask", .dtype = MLUOP_DTYPE_BOOL, .dims = {b, n, 24}, .fill = given(v.mask)},
               {.name = "num_valid", .dtype = MLUOP_DTYPE_INT32, .dims = {b, n}, .fill = given(v.valid)},
               {.name = "idx", .dtype = MLUOP_DTYPE_INT32, .dims = {b, n, 9}, .comparison = Comparison::kBits}};
  d.flops = 100.0 * static_cast<double>(b * n);
  d.call = [](mluOpHandle_t handle, const Arguments& a) {
    return mluOpDiffIouRotatedSortVerticesForward(handle, a[0].desc, a[0].data, a[1].desc, a[1].data, a[2].desc,
                                                  a[2].data, a[3].desc, a[3].data);
  };
  d.reference = [shape = mluopsDiffIouRotatedSortVerticesShape{dtype, b * n}](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::diff_iou_rotated_sort_vertices(
        {shape, in[0], static_cast<const std::uint8_t*>(in[1]), static_cast<const std::int32_t*>(in[2]), nullptr})};
  };
  return d;
}

Cases smallest() {
  return list({"b=1 n=1", "b=2 n=5"});
}
Cases document() {
  return list({"b=1 n=7", "b=16 n=250"});  // mmcv's test, and a batch of training
}
Cases edge() {
  return list({"b=2 n=50 boxes=same", "b=1 n=200 boxes=grid", "b=3 n=150 boxes=wild", "b=1 n=700"});
}
Case random_case(Random& random, double effort) {
  Case c;
  c.set("b", random.integer(1, 3)).set("n", odd_size(random, effort < 1 ? 100 : 900));
  return c.set("boxes", random.pick({"random", "random", "same", "grid", "wild"}));
}
Cases large() {
  return list({"b=4 n=3000", "b=2 n=2000 boxes=wild"});
}
Cases network() {
  return list({"b=4 n=1000", "b=1 n=100000"});
}
std::vector<Growth> growth() {
  return {growth_of(list({"b=1 n=5000"})[0], "n")};
}

}  // namespace

std::vector<OperatorCases> diff_iou_rotated_operators() {
  return {{.op = "diff_iou_rotated_sort_vertices_forward",
           .function = "mluOpDiffIouRotatedSortVerticesForward",
           .parameters = kParameters,
           .describe = describe_sort,
           .smallest = smallest,
           .document = document,
           .edge = edge,
           .random = random_case,
           .large = large,
           .network = network,
           .dtypes = {.strict = {MLUOP_DTYPE_FLOAT},
                      .extended = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}},
           .reducible = {"n"},
           .growth = growth}};
}

}  // namespace mluops::cases
