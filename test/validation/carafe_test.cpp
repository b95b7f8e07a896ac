#include <gtest/gtest.h>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

/// A CARAFE descriptor that is set as far as the setter allows, for the length of one call.
class CarafeDesc {
 public:
  explicit CarafeDesc(const OpCall& c) {
    if (c.params.count("no_carafe_desc") != 0) return;
    EXPECT_EQ(mluOpCreateCarafeDescriptor(&desc_), MLUOP_STATUS_SUCCESS);
    if (c.params.count("unset") != 0) return;
    EXPECT_EQ(mluOpSetCarafeDescriptor(desc_, 4, c.integer("kernel_size"), c.integer("group_size"),
                                       c.integer("scale_factor")),
              MLUOP_STATUS_SUCCESS);
  }
  ~CarafeDesc() {
    if (desc_ == nullptr) return;
    EXPECT_EQ(mluOpDestroyCarafeDescriptor(desc_), MLUOP_STATUS_SUCCESS);
  }
  mluOpCarafeDescriptor_t get() const { return desc_; }

 private:
  mluOpCarafeDescriptor_t desc_ = nullptr;
};

const Params kParams = {{"kernel_size", 3}, {"group_size", 2}, {"scale_factor", 2}};

OpCall forward() {
  return {"mluOpCarafeForward",
          [](const OpCall& c, Prepared& p) {
            const CarafeDesc d(c);
            return mluOpCarafeForward(p.handle, d.get(), p.desc["input"], p.data["input"], p.desc["mask"],
                                      p.data["mask"], p.desc["output"], p.data["output"]);
          },
          {{.name = "input", .dims = {2, 3, 4, 6}},
           {.name = "mask", .dims = {2, 6, 8, 18}},
           {.name = "output", .output = true, .dims = {2, 6, 8, 6}}},
          kParams};
}

OpCall backward() {
  return {"mluOpCarafeBackward",
          [](const OpCall& c, Prepared& p) {
            const CarafeDesc d(c);
            return mluOpCarafeBackward(p.handle, d.get(), p.desc["input"], p.data["input"], p.desc["mask"],
                                       p.data["mask"], p.desc["grad_output"], p.data["grad_output"],
                                       p.desc["grad_input"], p.data["grad_input"], p.desc["grad_mask"],
                                       p.data["grad_mask"]);
          },
          {{.name = "input", .dims = {2, 3, 4, 6}},
           {.name = "mask", .dims = {2, 6, 8, 18}},
           {.name = "grad_output", .dims = {2, 6, 8, 6}},
           {.name = "grad_input", .output = true, .dims = {2, 3, 4, 6}},
           {.name = "grad_mask", .output = true, .dims = {2, 6, 8, 18}}},
          kParams};
}

std::function<void(OpCall&)> batch(std::int64_t n) {
  return [=](OpCall& c) {
    for (Arg& a : c.args) a.dims[0] = n;
  };
}

/// Kernel size and scale with shapes that fit them.
std::function<void(OpCall&)> sized(int kernel, int scale, mluOpExtContract_t contract) {
  return [=](OpCall& c) {
    c.contract = contract;
    c.params["kernel_size"] = kernel;
    c.params["scale_factor"] = scale;
    for (Arg& a : c.args) {
      const bool low = a.name == "input" || a.name == "grad_input";
      a.dims[0] = 1;
      a.dims[1] = low ? 1 : scale;
      a.dims[2] = low ? 1 : scale;
      if (a.name == "mask" || a.name == "grad_mask") a.dims[3] = 2 * kernel * kernel;
    }
  };
}

CommonRules rules(mluOpStatus_t strided) {
  return {.strided = strided, .huge = batch(std::int64_t{1} << 27), .overflow = batch(std::int64_t{1} << 61)};
}

std::vector<Wrong> own_wrongs() {
  return {
      {"no carafe descriptor", [](OpCall& c) { c.params["no_carafe_desc"] = 1; }, MLUOP_STATUS_BAD_PARAM,
       "carafe_desc: wanted a pointer"},
      {"carafe descriptor never set", [](OpCall& c) { c.params["unset"] = 1; }, MLUOP_STATUS_BAD_PARAM, "dimNb"},
      {"channels not divisible by groups",
       [](OpCall& c) {
         c.params["group_size"] = 4;
         for (Arg& a : c.args) {
           if (a.name.find("mask") != std::string::npos) a.dims[3] = 36;
         }
       },
       MLUOP_STATUS_BAD_PARAM, "input: wanted channels divisible by group_size 4, got 6"},
      {"groups that the mask has not", [](OpCall& c) { c.params["group_size"] = 3; }, MLUOP_STATUS_BAD_PARAM,
       "group_size * kernel_size * kernel_size"},
      {"kernel size that the mask has not", [](OpCall& c) { c.params["kernel_size"] = 5; }, MLUOP_STATUS_BAD_PARAM,
       "group_size * kernel_size * kernel_size"},
      {"scale that the output has not", [](OpCall& c) { c.params["scale_factor"] = 3; }, MLUOP_STATUS_BAD_PARAM,
       "scale_factor * height of input"},
      {"mixed dtypes", [](OpCall& c) { c.arg("mask").dtype = MLUOP_DTYPE_HALF; }, MLUOP_STATUS_BAD_PARAM,
       "mask: wanted the dtype of input, DTYPE_FLOAT, got DTYPE_HALF"},
      {"double under STRICT",
       [](OpCall& c) {
         for (Arg& a : c.args) a.dtype = MLUOP_DTYPE_DOUBLE;
       },
       MLUOP_STATUS_BAD_PARAM, "input: wanted dtype DTYPE_HALF or DTYPE_FLOAT, got DTYPE_DOUBLE"},
      {"empty batch", batch(0), MLUOP_STATUS_SUCCESS, ""},
      {"empty batch without data",
       [](OpCall& c) {
         batch(0)(c);
         for (Arg& a : c.args) a.no_data = true;
       },
       MLUOP_STATUS_SUCCESS, ""},
  };
}

TEST(CarafeValidation, Forward) {
  const OpCall base = forward();
  check_table(base, common_wrongs(base, rules(MLUOP_STATUS_BAD_PARAM)));
  check_table(base, own_wrongs());
  check_table(base, {{"kernel_size 47", sized(47, 2, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "kernel_size: wanted <= 45, got 47"},
                     {"scale_factor 6", sized(3, 6, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "scale_factor: wanted <= 5, got 6"}});
}

TEST(CarafeValidation, Backward) {
  const OpCall base = backward();
  check_table(base, common_wrongs(base, rules(MLUOP_STATUS_NOT_SUPPORTED)));
  check_table(base, own_wrongs());
  check_table(base, {{"kernel_size 139", sized(139, 1, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_NOT_SUPPORTED,
                      "kernel_size: wanted <= 137, got 139"}});
}

TEST(CarafeValidation, ExtendedGoesBeyondTheLimitsOfTheApi) {
  OpCall larger = forward();
  sized(47, 6, MLUOP_EXT_CONTRACT_EXTENDED)(larger);
  EXPECT_EQ(larger.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_TRUE(larger.outputs_touched());
  OpCall largest = backward();
  sized(139, 1, MLUOP_EXT_CONTRACT_EXTENDED)(largest);
  EXPECT_EQ(largest.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
}

TEST(CarafeValidation, Descriptor) {
  EXPECT_EQ(mluOpCreateCarafeDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpDestroyCarafeDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetCarafeDescriptor(nullptr, 4, 3, 1, 2), MLUOP_STATUS_BAD_PARAM);
  mluOpCarafeDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateCarafeDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const struct {
    int dim_nb, kernel, group, scale;
    const char* text;
  } wrong[] = {{3, 3, 1, 2, "dimNb"},         {4, 0, 1, 2, "kernel_size"}, {4, -3, 1, 2, "kernel_size"},
               {4, 4, 1, 2, "an odd number"}, {4, 3, 0, 2, "group_size"},  {4, 3, 1, 0, "scale_factor"}};
  for (const auto& w : wrong) {
    EXPECT_EQ(mluOpSetCarafeDescriptor(desc, w.dim_nb, w.kernel, w.group, w.scale), MLUOP_STATUS_BAD_PARAM);
    EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find(w.text), std::string::npos) << mluOpExtGetLastErrorText();
  }
  EXPECT_EQ(mluOpSetCarafeDescriptor(desc, 4, 137, 1, 1), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroyCarafeDescriptor(desc), MLUOP_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mluops::test
