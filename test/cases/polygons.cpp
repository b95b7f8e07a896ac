#include "test/reference/polygons.h"

#include "test/cases/base/quadrilaterals.h"
#include "test/cases/operator.h"

namespace mluops::cases {
namespace {

const std::vector<Parameter> kQuadriParameters = {
    {"n", "200", "quadrilaterals on one side"}, {"m", "300", "those on the other; aligned: as many as n"},
    {"mode", "0", "0: IoU | 1: IoF"},           {"aligned", "0", "1: pairs, one by one"},
    {"boxes", "random", kQuadrilateralKinds},
};
const std::vector<Parameter> kConvexIouParameters = {
    {"n", "200", "point sets"},
    {"k", "300", "quadrilaterals"},
    {"sets", "random", kPointsetKinds},
    {"boxes", "random", kQuadrilateralKinds},
};
const std::vector<Parameter> kGiouParameters = {
    {"n", "1000", "pairs"},
    {"sets", "random", kPointsetKinds},
    {"boxes", "random", kQuadrilateralKinds},
};
const std::vector<Parameter> kMinAreaParameters = {
    {"n", "1000", "point sets"},
    {"sets", "random", kPointsetKinds},
};
const std::vector<Parameter> kPointsParameters = {
    {"n", "1000", "points"},
    {"m", "100", "quadrilaterals"},
    {"boxes", "random", kQuadrilateralKinds},
};

TensorSpec sets_of(const Case& text, mluOpDataType_t dtype) {
  return {.name = "pointsets",
          .dtype = dtype,
          .dims = {text.size("n"), 18},
          .fill = pointsets(text.word("sets"), text.seed("pointsets"))};
}

TensorSpec boxes_of(const Case& text, const char* name, mluOpDataType_t dtype, std::int64_t count) {
  return {
      .name = name, .dtype = dtype, .dims = {count, 8}, .fill = quadrilaterals(text.word("boxes"), 8, text.seed(name))};
}

Description describe_quadri(const Case& text, mluOpDataType_t dtype) {
  const bool aligned = text.integer("aligned") != 0;
  const std::int64_t n = text.size("n"), m = aligned ? n : text.size("m");
  const mluopsBoxIouShape s{dtype, n, m, text.integer("mode"), aligned ? 1 : 0, 0};
  Description d;
  d.tensors = {boxes_of(text, "bbox1", dtype, n),
               boxes_of(text, "bbox2", dtype, m),
               {.name = "ious", .dtype = dtype, .dims = aligned ? std::vector{n} : std::vector{n, m}, .term_size = 1}};
  d.flops = 4.0 * static_cast<double>(aligned ? n : n * m);  // that two are far apart; what others cost is the data's
  d.call = [s](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtBoxIouQuadri(handle, s.mode, s.aligned != 0, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc,
                                t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::box_iou_quadri({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_convex_iou(const Case& text, mluOpDataType_t dtype) {
  const mluopsConvexIouShape s{dtype, text.size("n"), text.size("k")};
  Description d;
  d.tensors = {sets_of(text, dtype),
               boxes_of(text, "polygons", dtype, s.k),
               {.name = "ious", .dtype = dtype, .dims = {s.n, s.k}, .term_size = 1}};
  d.flops = 4.0 * static_cast<double>(s.n * s.k);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtConvexIou(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::convex_iou({s, in[0], in[1], nullptr})};
  };
  return d;
}

Description describe_giou(const Case& text, mluOpDataType_t dtype) {
  const mluopsPointsetsShape s{dtype, text.size("n")};
  Description d;
  d.tensors = {sets_of(text, dtype),
               boxes_of(text, "polygons", dtype, s.n),
               {.name = "giou", .dtype = dtype, .dims = {s.n}, .term_size = 1},
               {.name = "grad_pointsets", .dtype = dtype, .dims = {s.n, 18}}};
  d.flops = 1000.0 * static_cast<double>(s.n);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtConvexGiou(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data, t[3].desc,
                              t[3].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    auto r = reference::convex_giou({s, in[0], in[1], nullptr, nullptr});
    return std::vector<Values>{std::move(r.giou), std::move(r.grad_pointsets)};
  };
  return d;
}

Description describe_min_area(const Case& text, mluOpDataType_t dtype) {
  const mluopsPointsetsShape s{dtype, text.size("n")};
  Description d;
  d.tensors = {sets_of(text, dtype), {.name = "polygons", .dtype = dtype, .dims = {s.n, 8}, .term_size = 100}};
  d.flops = 500.0 * static_cast<double>(s.n);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtMinAreaPolygons(handle, t[0].desc, t[0].data, t[1].desc, t[1].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::min_area_polygons({s, in[0], nullptr})};
  };
  return d;
}

Description describe_points(const Case& text, mluOpDataType_t dtype) {
  const mluopsPointsInPolygonsShape s{dtype, text.size("n"), text.size("m")};
  const std::string kind = text.word("boxes");
  const Fill unit = uniform(0, 1, text.seed("points"));
  const Fill points = [=](std::int64_t i) { return kind == "grid" ? std::floor(13 * unit(i)) : 100 * unit(i); };
  Description d;
  d.tensors = {{.name = "points",
                .dtype = dtype,
                .dims = {s.n, 2},
                .fill = now_and_then_wild(kind, text.seed("points"), points)},
               boxes_of(text, "polygons", dtype, s.m),
               {.name = "inside", .dtype = MLUOP_DTYPE_FLOAT, .dims = {s.n, s.m}, .comparison = Comparison::kBits}};
  d.flops = 2.0 * static_cast<double>(s.n * s.m);
  d.call = [](mluOpHandle_t handle, const Arguments& t) {
    return mluOpExtPointsInPolygons(handle, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data);
  };
  d.reference = [s](const Inputs& in, Coordinates) {
    return std::vector<Values>{reference::points_in_polygons({s, in[0], in[1], nullptr})};
  };
  return d;
}

Cases pairs_smallest() {
  return list({"n=1 m=1", "n=3 m=5"});
}
Cases convex_iou_smallest() {
  return list({"n=1 k=1", "n=3 k=5"});
}
Cases list_smallest() {
  return list({"n=1", "n=9"});
}

// mmcv's tests, and an image's: all predicted sets or boxes with its objects.
Cases quadri_document() {
  return each(list({"n=3 m=3", "n=3 aligned=1", "n=300 m=60 boxes=small"}), "mode", {"0", "1"});
}
Cases convex_iou_document() {
  return list({"n=2 k=2", "n=400 k=40", "n=300 k=50 sets=small boxes=small"});
}
Cases list_document() {
  return list({"n=2", "n=400"});
}
Cases points_document() {
  return list({"n=5 m=3", "n=400 m=40"});
}

Cases quadri_edge() {
  return each(list({
                  "n=40 m=60 boxes=concave",
                  "n=70 m=90 boxes=grid",
                  "n=5 m=7 boxes=same",
                  "n=60 m=80 boxes=wild",
                  "n=60 m=80 boxes=flat",
                  "n=1 m=301",
                  "n=299 m=1 boxes=small",
                  "n=333 aligned=1",
              }),
              "mode", {"0", "1"});
}
Cases convex_iou_edge() {
  return list({"n=40 k=60 boxes=concave", "n=60 k=50 sets=grid boxes=grid", "n=40 k=50 sets=wild boxes=wild",
               "n=30 k=40 sets=line", "n=30 k=40 sets=point", "n=30 k=40 boxes=flat", "n=1 k=301", "n=299 k=1"});
}
Cases giou_edge() {
  return list(
      {"n=300 boxes=concave", "n=300 sets=wild boxes=wild", "n=300 sets=small boxes=small", "n=200 boxes=flat"});
}
Cases min_area_edge() {
  return list({"n=300 sets=grid", "n=300 sets=wild", "n=200 sets=point", "n=300 sets=small"});
}
Cases points_edge() {
  return list({"n=300 m=40 boxes=grid",  // points on sides and corners
               "n=200 m=60 boxes=concave", "n=200 m=60 boxes=wild", "n=90 m=50 boxes=flat", "n=1 m=301", "n=301 m=1"});
}

Case random_quadri(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "concave", "small", "same", "grid"};
  const std::int64_t most = effort < 1 ? 40 : 100;
  Case c;
  c.set("n", odd_size(random, most)).set("m", odd_size(random, most)).set("mode", random.integer(0, 1));
  return c.set("aligned", random.integer(0, 3) / 3).set("boxes", random.pick(kinds));
}
Case random_convex_iou(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "concave", "small", "same"};
  const std::int64_t most = effort < 1 ? 30 : 70;
  Case c;
  c.set("n", odd_size(random, most)).set("k", odd_size(random, most));
  return c.set("boxes", random.pick(kinds));
}
Case random_list(Random& random, double effort) {
  Case c;
  return c.set("n", odd_size(random, effort < 1 ? 60 : 300));
}
Case random_points(Random& random, double effort) {
  const char* const kinds[] = {"random", "random", "concave", "grid", "same"};
  const std::int64_t most = effort < 1 ? 40 : 100;
  Case c;
  c.set("n", odd_size(random, most)).set("m", odd_size(random, most));
  return c.set("boxes", random.pick(kinds));
}

Cases quadri_large() {
  return list({"n=200 m=300", "n=500 m=400 boxes=small", "n=5000 aligned=1"});
}
Cases convex_iou_large() {
  return list({"n=200 k=150", "n=500 k=200 sets=small boxes=small"});
}
Cases list_large() {
  return list({"n=3000"});
}
Cases points_large() {
  return list({"n=2000 m=200"});
}

Cases quadri_network() {
  return list({"n=512 m=64", "n=2000 m=2000 boxes=small", "n=20000 aligned=1"});
}
Cases convex_iou_network() {
  return list({"n=2000 k=50 sets=small boxes=small", "n=21824 k=100 sets=small boxes=small", "n=2000 k=50"});
}
Cases list_network() {
  return list({"n=1000", "n=20000"});
}
Cases points_network() {
  return list({"n=20000 m=100", "n=21824 m=100 boxes=small"});
}

std::vector<Growth> quadri_growth() {
  const Case base = list({"n=200 m=200"})[0];
  return {growth_of(base, "n"), growth_of(base, "m")};
}
std::vector<Growth> convex_iou_growth() {
  const Case base = list({"n=200 k=100"})[0];
  return {growth_of(base, "n"), growth_of(base, "k")};
}
std::vector<Growth> list_growth() {
  return {growth_of(list({"n=500"})[0], "n")};
}
std::vector<Growth> points_growth() {
  const Case base = list({"n=1000 m=50"})[0];
  return {growth_of(base, "n"), growth_of(base, "m")};
}

const Dtypes kOfFloat = {{MLUOP_DTYPE_FLOAT}, {MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16}};

}  // namespace

std::vector<OperatorCases> polygons_operators() {
  OperatorCases giou = {.op = "convex_giou",
                        .function = "mluOpExtConvexGiou",
                        .parameters = kGiouParameters,
                        .describe = describe_giou,
                        .smallest = list_smallest,
                        .document = list_document,
                        .edge = giou_edge,
                        .random = random_list,
                        .large = list_large,
                        .network = list_network,
                        .dtypes = kOfFloat,
                        .reducible = {"n"},
                        .growth = list_growth};
  OperatorCases min_area = giou;
  min_area.op = "min_area_polygons";
  min_area.function = "mluOpExtMinAreaPolygons";
  min_area.parameters = kMinAreaParameters;
  min_area.describe = describe_min_area;
  min_area.edge = min_area_edge;
  return {{.op = "box_iou_quadri",
           .function = "mluOpExtBoxIouQuadri",
           .parameters = kQuadriParameters,
           .describe = describe_quadri,
           .smallest = pairs_smallest,
           .document = quadri_document,
           .edge = quadri_edge,
           .random = random_quadri,
           .large = quadri_large,
           .network = quadri_network,
           .dtypes = kOfFloat,
           .reducible = {"n", "m"},
           .growth = quadri_growth},
          {.op = "convex_iou",
           .function = "mluOpExtConvexIou",
           .parameters = kConvexIouParameters,
           .describe = describe_convex_iou,
           .smallest = convex_iou_smallest,
           .document = convex_iou_document,
           .edge = convex_iou_edge,
           .random = random_convex_iou,
           .large = convex_iou_large,
           .network = convex_iou_network,
           .dtypes = kOfFloat,
           .reducible = {"n", "k"},
           .growth = convex_iou_growth},
          giou,
          min_area,
          {.op = "points_in_polygons",
           .function = "mluOpExtPointsInPolygons",
           .parameters = kPointsParameters,
           .describe = describe_points,
           .smallest = pairs_smallest,
           .document = points_document,
           .edge = points_edge,
           .random = random_points,
           .large = points_large,
           .network = points_network,
           .dtypes = kOfFloat,
           .reducible = {"n", "m"},
           .growth = points_growth}};
}

}  // namespace mluops::cases
