// The descriptor of CARAFE.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

/// The call with another CARAFE descriptor than the case's.
std::function<void(OpCall&)> described_by(mluOpCarafeDescriptor_t desc) {
  return [=](OpCall& c) {
    c.call = [forward = c.args.size() == 3, desc](mluOpHandle_t handle, const Arguments& t) {
      return forward
                 ? mluOpCarafeForward(handle, desc, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data)
                 : mluOpCarafeBackward(handle, desc, t[0].desc, t[0].data, t[1].desc, t[1].data, t[2].desc, t[2].data,
                                       t[3].desc, t[3].data, t[4].desc, t[4].data);
    };
  };
}

std::function<void(OpCall&)> never_set() {
  return [](OpCall& c) {
    mluOpCarafeDescriptor_t desc = nullptr;
    EXPECT_EQ(mluOpCreateCarafeDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    described_by(desc)(c);
    c.call = [call = c.call, owner = std::shared_ptr<mluOpCarafeStruct>(desc, mluOpDestroyCarafeDescriptor)](
                 mluOpHandle_t handle, const Arguments& t) { return call(handle, t); };
  };
}

TEST(CarafeValidation, TheDescriptorIsThereAndSet) {
  for (const std::string op : {"carafe_forward", "carafe_backward"}) {
    check_table(OpCall(Case::parse(op + " n=2 h=3 w=4 c=6 k=3 g=2 s=2")),
                {{"none", described_by(nullptr), MLUOP_STATUS_BAD_PARAM, "carafe_desc: wanted a pointer"},
                 {"never set", never_set(), MLUOP_STATUS_BAD_PARAM, "dimNb"}});
  }
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
