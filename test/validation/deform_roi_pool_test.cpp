#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

const Params kParams = {{"pooled_height", 3},  {"pooled_width", 2}, {"spatial_scale", 1},
                        {"sampling_ratio", 2}, {"gamma", 1},        {"batch_index", 0}};

/// Writes the batch index of the second RoI, which the check of the data reads.
void put_batch_index(const OpCall& c, Prepared& p) {
  const float index = static_cast<float>(c.params.at("batch_index"));
  if (p.data["rois"] != nullptr && index != 0) {
    std::memcpy(static_cast<char*>(p.data["rois"]) + 5 * sizeof(float), &index, sizeof(float));
  }
}

// 2 images of 5x6x4, 3 RoIs, 3x2 bins.
OpCall forward() {
  return {"mluOpDeformRoiPoolForward",
          [](const OpCall& c, Prepared& p) {
            put_batch_index(c, p);
            return mluOpDeformRoiPoolForward(p.handle, p.desc["input"], p.data["input"], p.desc["rois"], p.data["rois"],
                                             p.desc["offset"], p.data["offset"], c.integer("pooled_height"),
                                             c.integer("pooled_width"), 1.0f, c.integer("sampling_ratio"), 1.0f,
                                             p.desc["output"], p.data["output"]);
          },
          {{.name = "input", .dims = {2, 5, 6, 4}},
           {.name = "rois", .layout = MLUOP_LAYOUT_ARRAY, .dims = {3, 5}},
           {.name = "offset", .layout = MLUOP_LAYOUT_NCHW, .dims = {3, 2, 3, 2}},
           {.name = "output", .output = true, .dims = {3, 3, 2, 4}}},
          kParams};
}

OpCall backward() {
  return {"mluOpDeformRoiPoolBackward",
          [](const OpCall& c, Prepared& p) {
            put_batch_index(c, p);
            return mluOpDeformRoiPoolBackward(p.handle, p.desc["grad_output"], p.data["grad_output"], p.desc["input"],
                                              p.data["input"], p.desc["rois"], p.data["rois"], p.desc["offset"],
                                              p.data["offset"], c.integer("pooled_height"), c.integer("pooled_width"),
                                              1.0f, c.integer("sampling_ratio"), 1.0f, p.desc["grad_input"],
                                              p.data["grad_input"], p.desc["grad_offset"], p.data["grad_offset"]);
          },
          {{.name = "grad_output", .dims = {3, 3, 2, 4}},
           {.name = "input", .dims = {2, 5, 6, 4}},
           {.name = "rois", .layout = MLUOP_LAYOUT_ARRAY, .dims = {3, 5}},
           {.name = "offset", .layout = MLUOP_LAYOUT_ARRAY, .dims = {3, 2, 3, 2}},
           {.name = "grad_input", .output = true, .dims = {2, 5, 6, 4}},
           {.name = "grad_offset", .output = true, .layout = MLUOP_LAYOUT_ARRAY, .dims = {3, 2, 3, 2}}},
          kParams};
}

std::function<void(OpCall&)> dims(std::initializer_list<std::string> names, std::size_t axis, std::int64_t n) {
  const std::vector<std::string> list = names;
  return [=](OpCall& c) {
    for (Arg& a : c.args) {
      if (std::find(list.begin(), list.end(), a.name) != list.end()) a.dims[axis] = n;
    }
  };
}

std::function<void(OpCall&)> images(std::size_t axis, std::int64_t n) {
  return dims({"input", "grad_input"}, axis, n);
}

/// Height and width of the bins of every tensor that has them.
std::function<void(OpCall&)> set(const std::string& name, double value) {
  return [=](OpCall& c) { c.params[name] = value; };
}

std::function<void(OpCall&)> absent(std::initializer_list<std::string> names) {
  const std::vector<std::string> list = names;
  return [=](OpCall& c) {
    for (const std::string& n : list) c.arg(n).no_desc = c.arg(n).no_data = true;
  };
}

CommonRules rules(std::vector<std::string> optional) {
  return {.optional = optional,
          .any_layout = {"rois", "offset", "grad_offset"},
          .free_dims = {"input:0", "input:1", "input:2"},
          .huge = images(0, std::int64_t{1} << 29),
          .overflow = images(0, std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs(const std::string& pooled) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {
      {"pooled_height 0", set("pooled_height", 0), MLUOP_STATUS_BAD_PARAM, "pooled_height: wanted >= 1, got 0"},
      {"pooled_height -1", set("pooled_height", -1), MLUOP_STATUS_BAD_PARAM, "pooled_height"},
      {"pooled_width 0", set("pooled_width", 0), MLUOP_STATUS_BAD_PARAM, "pooled_width: wanted >= 1, got 0"},
      {"other pooled_height", set("pooled_height", 4), MLUOP_STATUS_BAD_PARAM, "(pooled_height)"},
      {"other pooled_width", set("pooled_width", 4), MLUOP_STATUS_BAD_PARAM, "(pooled_width)"},
      {"mixed dtypes", [](OpCall& c) { c.arg("rois").dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "rois: wanted the dtype of input"},
      {"batch index 2", set("batch_index", 2), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index in [0, 1], got 2"},
      {"batch index -1", set("batch_index", -1), MLUOP_STATUS_BAD_PARAM, "in RoI 1"},
      {"batch index NaN", set("batch_index", nan), MLUOP_STATUS_BAD_PARAM, "rois: wanted batch index"},
      {"B = 0", images(0, 0), MLUOP_STATUS_BAD_PARAM, "input: wanted a non-empty tensor"},
      {"R = 0", dims({"rois", "offset", "grad_offset", pooled}, 0, 0), MLUOP_STATUS_BAD_PARAM,
       "rois: wanted a non-empty tensor"},
      {"C = 0", dims({"input", "grad_input", pooled}, 3, 0), MLUOP_STATUS_BAD_PARAM, pooled},
      {"H = 0", images(1, 0), MLUOP_STATUS_SUCCESS, ""},
      {"W = 0", images(2, 0), MLUOP_STATUS_SUCCESS, ""},
  };
}

TEST(DeformRoiPoolValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules({"offset"})));
  check_table(base, own_wrongs("output"));
}

TEST(DeformRoiPoolValidation, Backward) {
  const OpCall base = backward();
  CommonRules r = rules({"offset", "grad_offset"});
  r.free_dims.clear();
  check_table(base, common_wrongs(base, r));
  check_table(base, own_wrongs("grad_output"));
  check_table(base, {{"offset without grad_offset", absent({"grad_offset"}), MLUOP_STATUS_BAD_PARAM,
                      "grad_offset: wanted it exactly when offset is given, got only offset"},
                     {"grad_offset without offset", absent({"offset"}), MLUOP_STATUS_BAD_PARAM,
                      "grad_offset: wanted it exactly when offset is given, got only grad_offset"}});
}

TEST(DeformRoiPoolValidation, OffsetMayBeAbsent) {
  OpCall fwd = forward();
  absent({"offset"})(fwd);
  EXPECT_EQ(fwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  OpCall bwd = backward();
  absent({"offset", "grad_offset"})(bwd);
  EXPECT_EQ(bwd.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

}  // namespace
}  // namespace mluops::test
