// Nothing of something: each size of each operator at zero, on a handle that has worked before and on a fresh one.
#include <set>

#include "test/op/suite.h"

namespace mluops::test {
namespace {

class Empty : public ::testing::TestWithParam<std::string> {};

/// All dimensions of that size are made zero: in the last of the smallest cases all sizes differ.
void empty_dims(Tensor& t, std::int64_t size) {
  if (t.desc() == nullptr) return;
  mluOpTensorLayout_t layout;
  mluOpDataType_t dtype;
  int rank = 0;
  std::int64_t dims[8] = {}, strides[8] = {};
  ASSERT_EQ(mluOpGetTensorDescriptorEx_v2(t.desc(), &layout, &dtype, &rank, dims, strides), MLUOP_STATUS_SUCCESS);
  std::replace(dims, dims + rank, size, std::int64_t{0});
  ASSERT_EQ(mluOpSetTensorDescriptor_v2(t.desc(), layout, dtype, rank, dims), MLUOP_STATUS_SUCCESS);
}

struct Outcome {
  mluOpStatus_t status;
  std::string text;
  std::vector<std::vector<unsigned char>> outputs;
};

Outcome run_empty(const Case& text, std::int64_t size, const Handle& handle) {
  Problem problem = make_problem(text, MLUOP_DTYPE_FLOAT);
  for (const auto& tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& t : *tensors) empty_dims(*t, size);
  }
  for (const auto& out : problem.outputs) out->buffer().fill_with_garbage();
  Outcome outcome{problem.call(handle.get()), mluOpExtGetLastErrorText(), {}};
  for (const auto& out : problem.outputs) {
    EXPECT_TRUE(out->buffer().fences_intact()) << text.text();
    outcome.outputs.push_back(out->bytes());
  }
  return outcome;
}

TEST_P(Empty, SizesOfZeroAreTheSameOnAFreshHandle) {
  const Case text = with_defaults(cases_of(find_operator(GetParam()), find_operator(GetParam()).smallest).back());
  std::set<std::int64_t> sizes;
  {
    Problem problem = make_problem(text, MLUOP_DTYPE_FLOAT);
    for (const auto& tensors : {&problem.inputs, &problem.outputs}) {
      for (const auto& t : *tensors) sizes.insert(t->dims().begin(), t->dims().end());
    }
  }
  Handle used("cpu", 2);
  ASSERT_EQ(make_problem(text, MLUOP_DTYPE_FLOAT).call(used.get()), MLUOP_STATUS_SUCCESS);
  for (const mluOpExtContract_t contract : {MLUOP_EXT_CONTRACT_STRICT, MLUOP_EXT_CONTRACT_EXTENDED}) {
    for (const std::int64_t size : sizes) {
      Handle fresh("cpu", 2);
      const Outcome first = run_empty(text, size, fresh.contract(contract));
      const Outcome later = run_empty(text, size, used.contract(contract));
      const std::string what = text.text() + ", " + std::to_string(size) + " made 0: " + first.text;
      EXPECT_TRUE(first.status == MLUOP_STATUS_SUCCESS || first.status == MLUOP_STATUS_BAD_PARAM ||
                  first.status == MLUOP_STATUS_NOT_SUPPORTED)
          << what;
      EXPECT_EQ(first.status, later.status) << what << " / " << later.text;
      EXPECT_EQ(first.text, later.text) << what;
      EXPECT_EQ(first.outputs, later.outputs) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Empty, ::testing::ValuesIn(operators()),
                         [](const auto& op) { return std::string(op.param); });

}  // namespace
}  // namespace mluops::test
