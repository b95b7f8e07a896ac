// What functions tell of workspaces.
#include <gtest/gtest.h>

#include <string>

#include "test/support/handle.h"
#include "test/support/tensor.h"
#include "test/validation/op_call.h"

namespace mluops::test {
namespace {

using Sizes = std::vector<std::int64_t>;

Descriptor floats(const Sizes& dims) {
  return {MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, dims};
}

Descriptor halves(const Sizes& dims) {
  return {MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_HALF, dims};
}

/// tell(handle, address) gives so many bytes; without a handle or an address it refuses and tells nothing.
template <typename Tell>
void expect_bytes(std::size_t bytes, const Tell& tell) {
  const Handle handle("cpu");
  std::size_t size = 7;
  EXPECT_EQ(tell(nullptr, &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(tell(handle.get(), nullptr), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
  EXPECT_EQ(tell(handle.get(), &size), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, bytes);
}

/// A descriptor that is missing, or of other dimensions.
template <typename Tell>
void expect_refused(const Tell& tell) {
  const Handle handle("cpu");
  std::size_t size = 7;
  EXPECT_EQ(tell(handle.get(), &size), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(size, 7u);
}

TEST(Workspace, RoiAwarePool3d) {
  const Descriptor rois = halves({4, 7}), points = halves({9, 3}), features = halves({9, 5});
  expect_bytes(4u * 9 * 4 + 9u * (3 + 5) * 2, [&](mluOpHandle_t handle, std::size_t* size) {
    return mluOpGetRoiAwarePool3dForwardWorkspaceSize(handle, rois.get(), points.get(), features.get(), size);
  });
}

TEST(Workspace, BeyondInt64IsRefused) {
  const std::int64_t many = std::int64_t{1} << 40;
  const Descriptor rois = floats({many, 7}), points = floats({many, 3}), features = floats({many, 1});
  Handle handle("cpu");
  handle.contract(MLUOP_EXT_CONTRACT_EXTENDED);
  std::size_t size = 7;
  EXPECT_EQ(mluOpGetRoiAwarePool3dForwardWorkspaceSize(handle.get(), rois.get(), points.get(), features.get(), &size),
            MLUOP_STATUS_NOT_SUPPORTED);
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find("workspace_size: wanted fewer than 2^63 bytes"), std::string::npos) << text;
  EXPECT_EQ(size, 7u);
}

TEST(Workspace, ThreeNN) {
  const Descriptor known = halves({2, 7, 3}), flat = halves({2, 7});
  const auto of = [](mluOpTensorDescriptor_t desc) {
    return [=](mluOpHandle_t handle, std::size_t* size) {
      return mluOpGetThreeNNForwardWorkspaceSize(handle, desc, size);
    };
  };
  expect_bytes(2u * 7 * 3 * 2, of(known.get()));
  expect_refused(of(nullptr));
  expect_refused(of(flat.get()));
}

TEST(Workspace, Voxelization) {
  OpCall call(Case::parse("voxelization n=9 f=5 points=2 voxels=6"));
  std::size_t size = 1;
  call.call = [&size](mluOpHandle_t handle, const Arguments& t) {
    return mluOpGetVoxelizationWorkspaceSize(handle, t[0].desc, t[1].desc, t[2].desc, 2, 6, 3, true, t[3].desc,
                                             t[4].desc, t[5].desc, t[6].desc, &size);
  };
  EXPECT_EQ(call.make(), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(size, 9u * 6 * 4);
}

TEST(Workspace, OfMaskedIm2colIsEmpty) {
  const Descriptor d = floats({9, 5});
  for (const bool columns : {true, false}) {
    const auto of = [&](mluOpTensorDescriptor_t first) {
      return [&d, first, columns](mluOpHandle_t handle, std::size_t* size) {
        return columns ? mluOpGetMaskedIm2colForwardWorkspaceSize(handle, first, d.get(), d.get(), 3, 3, d.get(), size)
                       : mluOpGetMaskedCol2imForwardWorkspaceSize(handle, first, d.get(), d.get(), d.get(), size);
      };
    };
    expect_bytes(0, of(d.get()));
    expect_refused(of(nullptr));
  }
}

/// Functions of one descriptor: none, or one of other dimensions, is refused.
TEST(Workspace, OfBoxesIsEmpty) {
  const Descriptor nine = floats({9, 9}), five = floats({9, 5}), image = floats({1, 1, 1, 1}), flat = floats({4});
  const auto check = [](auto function, const Descriptor& right, const Descriptor* wrong) {
    const auto of = [=](mluOpTensorDescriptor_t desc) {
      return [=](mluOpHandle_t handle, std::size_t* size) { return function(handle, desc, size); };
    };
    expect_bytes(0, of(right.get()));
    expect_refused(of(nullptr));
    if (wrong != nullptr) expect_refused(of(wrong->get()));
  };
  check(mluOpGetPolyNmsWorkspaceSize, nine, &five);
  check(mluOpGetNmsRotatedWorkspaceSize, five, nullptr);
  check(mluOpGetGenerateProposalsV2WorkspaceSize, image, &flat);
  check([](mluOpHandle_t handle, mluOpTensorDescriptor_t desc,
           std::size_t* size) { return mluOpGetGenerateProposalsV2WorkspaceSize_v2(handle, desc, 6000, size); },
        image, &flat);
}

TEST(Workspace, SparseConvolutions) {
  const Descriptor features = halves({9, 5}), filters = halves({1, 1, 2, 5, 3}), out = halves({7, 3}),
                   pairs(MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_INT32, {2, 2, 9});
  const std::int64_t num[] = {4, 6};
  expect_bytes((6u * (5 + 3) + 7u * 3) * 2, [&](mluOpHandle_t handle, std::size_t* size) {
    return mluOpGetIndiceConvolutionForwardWorkspaceSize(handle, features.get(), filters.get(), pairs.get(), out.get(),
                                                         num, 7, 0, 0, size);
  });
  expect_bytes((6u * (5 + 3) + 2u * 5 * 3 + 9u * 5) * 2, [&](mluOpHandle_t handle, std::size_t* size) {
    return mluOpGetIndiceConvolutionBackwardDataWorkspaceSize(handle, out.get(), filters.get(), pairs.get(),
                                                              features.get(), num, 0, size);
  });
  expect_bytes((6u * (5 + 3) + 2u * 5 * 3) * 2, [&](mluOpHandle_t handle, std::size_t* size) {
    return mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(handle, features.get(), out.get(), pairs.get(),
                                                                filters.get(), num, 0, 0, size);
  });
}

/// They check what the calls check: a descriptor that was never set is refused.
TEST(Workspace, OfDcnIsEmpty) {
  const auto image = [](const Sizes& dims) { return Descriptor(MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, dims); };
  const Descriptor in = image({1, 3, 3, 2}), offset = image({1, 3, 3, 2}), mask = image({1, 3, 3, 1}),
                   filter = image({4, 1, 1, 2}), out = image({1, 3, 3, 4});
  mluOpDCNDescriptor_t desc = nullptr;
  ASSERT_EQ(mluOpCreateDCNDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  const std::function<mluOpStatus_t(mluOpHandle_t, std::size_t*)> functions[] = {
      [&](mluOpHandle_t handle, std::size_t* size) {
        return mluOpGetDCNForwardWorkspaceSize(handle, desc, in.get(), offset.get(), mask.get(), filter.get(), nullptr,
                                               out.get(), size);
      },
      [&](mluOpHandle_t handle, std::size_t* size) {
        return mluOpGetDCNBackwardWeightWorkspaceSize(handle, desc, in.get(), offset.get(), nullptr, out.get(),
                                                      filter.get(), nullptr, size);
      },
      [&](mluOpHandle_t handle, std::size_t* size) {
        return mluOpGetDCNBakcwardDataWorkspaceSize(handle, desc, in.get(), offset.get(), mask.get(), filter.get(),
                                                    out.get(), in.get(), offset.get(), mask.get(), size);
      }};
  for (const auto& tell : functions) expect_refused(tell);
  const int pad[] = {0, 0, 0, 0}, one[] = {1, 1};
  ASSERT_EQ(mluOpSetDCNDescriptor(desc, 4, pad, one, one, 1, 1, 1, MLUOP_DTYPE_FLOAT), MLUOP_STATUS_SUCCESS);
  for (const auto& tell : functions) expect_bytes(0, tell);
  mluOpDestroyDCNDescriptor(desc);
}

}  // namespace
}  // namespace mluops::test
