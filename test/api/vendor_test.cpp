// Sets of tensors, sequences and case files: descriptors hold what they are given, bad arguments change nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "mlu_op_ext.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

class TensorSet : public ::testing::Test {
 protected:
  void SetUp() override {
    const int sizes[] = {2, 3};
    ASSERT_EQ(mluOpCreateTensorSetDescriptor(&set_, 2, sizes), MLUOP_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(mluOpDestroyTensorSetDescriptor(set_), MLUOP_STATUS_SUCCESS); }
  mluOpStatus_t init(int i, int j, std::vector<int> dims, mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT) {
    const int index[] = {i, j};
    return mluOpInitTensorSetMemberDescriptor(set_, 2, index, MLUOP_LAYOUT_ARRAY, dtype, static_cast<int>(dims.size()),
                                              dims.data());
  }

  mluOpTensorSetDescriptor_t set_ = nullptr;
};

TEST_F(TensorSet, TellsSizesAndMembers) {
  int rank = 0, sizes[2] = {};
  ASSERT_EQ(mluOpGetTensorSetDescriptor(set_, &rank, sizes), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(std::vector<int>({rank, sizes[0], sizes[1]}), std::vector<int>({2, 2, 3}));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) ASSERT_EQ(init(i, j, {i + 1, j + 2}), MLUOP_STATUS_SUCCESS);
  }
  ASSERT_EQ(init(0, 1, {5}, MLUOP_DTYPE_HALF), MLUOP_STATUS_SUCCESS);  // again: 10 bytes in the place of 12
  int bytes = 0;
  ASSERT_EQ(mluOpGetTensorSetDescriptorSize(set_, &bytes), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 4 * (2 + 4) + 10 + 4 * 2 * (2 + 3 + 4));
  char data[256];
  const int index[] = {1, 0};
  mluOpTensorDescriptor_t member = nullptr;
  void* at = nullptr;
  ASSERT_EQ(mluOpGetTensorAndDataFromTensorSet(set_, 2, index, data, &member, &at), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<char*>(at) - data, 4 * (2 + 4) + 10);
  EXPECT_EQ(mluOpGetTensorElementNum(member), 4u);
  ASSERT_EQ(mluOpInitTensorSetMemberDescriptorPositionAndScale(set_, 2, index, 3, 0.5f), MLUOP_STATUS_SUCCESS);
  int position = 0;
  float scale = 0;
  ASSERT_EQ(mluOpGetTensorDescriptorPositionAndScale(member, &position, &scale), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(position, 3);
  EXPECT_EQ(scale, 0.5f);
}

TEST_F(TensorSet, RefusesWhatIsNotThere) {
  EXPECT_EQ(init(2, 0, {1}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("tensorIndex"), std::string::npos);
  EXPECT_EQ(init(0, -1, {1}), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(init(0, 0, {-1}), MLUOP_STATUS_BAD_PARAM);
  mluOpTensorSetDescriptor_t other = nullptr;
  const int huge[] = {1 << 20, 2}, none[] = {0};
  EXPECT_EQ(mluOpCreateTensorSetDescriptor(&other, 2, huge), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateTensorSetDescriptor(&other, 1, none), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpCreateTensorSetDescriptor(&other, 0, none), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(other, nullptr);
  int bytes = 7;
  EXPECT_EQ(init(1, 2, {1 << 15, 1 << 16}), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpGetTensorSetDescriptorSize(set_, &bytes), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(bytes, 7);
  EXPECT_EQ(mluOpDestroyTensorSetDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
}

TEST(SeqData, HoldsWhatItIsGiven) {
  mluOpSeqDataDescriptor_t seq = nullptr;
  ASSERT_EQ(mluOpCreateSeqDataDescriptor(&seq), MLUOP_STATUS_SUCCESS);
  const std::int64_t sizes[] = {3, 2, 9, 16};
  const int lengths[] = {1, 2, 3, 4, 5, 9};
  float padding = -1;
  ASSERT_EQ(mluOpSetSeqDataDescriptor_v2(seq, MLUOP_SEQDATA_NBTC, MLUOP_DTYPE_FLOAT, 4, sizes, 6, lengths, &padding),
            MLUOP_STATUS_SUCCESS);
  const std::int64_t bad[] = {3, -1};
  EXPECT_EQ(mluOpSetSeqDataDescriptor_v2(seq, MLUOP_SEQDATA_NC, MLUOP_DTYPE_HALF, 2, bad, 0, nullptr, nullptr),
            MLUOP_STATUS_BAD_PARAM);
  mluOpSeqDataLayout_t layout = MLUOP_SEQDATA_TN;
  mluOpDataType_t dtype = MLUOP_DTYPE_INVALID;
  int rank = 0;
  std::int64_t got_sizes[4] = {}, count = 0, got_lengths[6] = {};
  float got_padding = 0;
  ASSERT_EQ(mluOpGetSeqDataDescriptor_v2(seq, &layout, &dtype, &rank, got_sizes, &count, got_lengths, &got_padding),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(layout, MLUOP_SEQDATA_NBTC);
  EXPECT_EQ(dtype, MLUOP_DTYPE_FLOAT);
  EXPECT_EQ(rank, 4);
  EXPECT_TRUE(std::equal(sizes, sizes + 4, got_sizes));
  EXPECT_EQ(count, 6);
  EXPECT_TRUE(std::equal(lengths, lengths + 6, got_lengths));
  EXPECT_EQ(got_padding, -1);
  EXPECT_EQ(mluOpGetSeqDataDescriptor_v2(seq, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetSeqDataDescriptorPositionAndScale(seq, 1, 2.0f), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroySeqDataDescriptor(seq), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroySeqDataDescriptor(nullptr), MLUOP_STATUS_BAD_PARAM);
}

/// A folder of its own, gone at the end.
class GenCase : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = "mluops-gen-case-" + std::to_string(std::random_device{}());
    folder_ = (std::filesystem::temp_directory_path() / name).string();
    ASSERT_TRUE(std::filesystem::create_directory(folder_)) << folder_;
  }
  void TearDown() override {
    mluOpSetGenCaseMode(0);
    EXPECT_EQ(mluOpSetGenCaseDirectory("."), MLUOP_STATUS_SUCCESS);
    std::filesystem::remove_all(folder_);
  }
  void call_once() {
    mluOpHandle_t handle = nullptr;
    ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
    Tensor x("x", MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, {1, 1, 1, 1}),
        y("y", MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, {1, 1, 1, 1});
    x.fill({1});
    ASSERT_EQ(mluOpPsamaskForward(handle, 0, x.desc(), x.data(), 1, 1, y.desc(), y.data()), MLUOP_STATUS_SUCCESS);
    mluOpDestroy(handle);
  }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::string folder_;
};

TEST_F(GenCase, KeepsCallsInTheFolder) {
  ASSERT_EQ(mluOpSetGenCaseDirectory(folder_.c_str()), MLUOP_STATUS_SUCCESS);
  call_once();
  EXPECT_EQ(files(), 0);
  mluOpSetGenCaseMode(2);
  call_once();
  EXPECT_EQ(files(), 1);
  mluOpSetGenCaseMode(0);
  call_once();
  EXPECT_EQ(files(), 1);
}

TEST_F(GenCase, TellsItsFolder) {
  ASSERT_EQ(mluOpSetGenCaseDirectory(folder_.c_str()), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetGenCaseDirectory((folder_ + "/none").c_str()), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(mluOpSetGenCaseDirectory(nullptr), MLUOP_STATUS_BAD_PARAM);
  char buffer[512] = "";
  std::size_t length = 0;
  mluOpStatus_t status = MLUOP_STATUS_INTERNAL_ERROR;
  EXPECT_EQ(mluOpGetGenCaseDirectory(buffer, sizeof buffer, &length, &status), buffer);
  EXPECT_EQ(status, MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(std::string(buffer, length), folder_);
  EXPECT_EQ(mluOpGetGenCaseDirectory(buffer, 2, nullptr, &status), nullptr);
  EXPECT_EQ(status, MLUOP_STATUS_BAD_PARAM);
  const char* const own = mluOpGetGenCaseDirectory(nullptr, 0, nullptr, nullptr);
  EXPECT_EQ(own, folder_);
  std::free(const_cast<char*>(own));
}

}  // namespace
}  // namespace mluops::test
