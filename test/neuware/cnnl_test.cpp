// The compute library: each function against numbers worked out by hand or by a plain loop, and its refusals.
#include <algorithm>

#include "test/neuware/cnnl_tensors.h"

namespace neuware_test {
namespace {

TEST_F(Cnnl, Fill) {
  OnDevice<std::uint16_t> half(6, 7);
  const std::uint16_t value = 0x3c00;
  const Desc every_other(CNNL_DTYPE_HALF, {3}, {2});
  ASSERT_EQ(cnnlFill_v3(handle, CNNL_POINTER_MODE_HOST, &value, every_other, half.data()), CNNL_STATUS_SUCCESS);
  EXPECT_EQ(half.values(), (std::vector<std::uint16_t>{value, 7, value, 7, value, 7}));
  float host[3] = {1, 2, 3};
  EXPECT_EQ(cnnlFill_v3(handle, CNNL_POINTER_MODE_HOST, host, floats({3}), host), CNNL_STATUS_BAD_PARAM)
      << "host memory";
  EXPECT_EQ(cnnlFill_v3(handle, CNNL_POINTER_MODE_HOST, &value, Desc(CNNL_DTYPE_HALF, {7}), half.data()),
            CNNL_STATUS_BAD_PARAM)
      << "one element too many";
}

TEST_F(Cnnl, Transpose) {
  OnDevice<float> x(counting(24)), y(24);
  cnnlTransposeDescriptor_t order = nullptr;
  ASSERT_EQ(cnnlCreateTransposeDescriptor(&order), CNNL_STATUS_SUCCESS);
  const int permute[] = {2, 0, 1}, twice[] = {0, 0, 1};
  EXPECT_EQ(cnnlSetTransposeDescriptor(order, 3, twice), CNNL_STATUS_BAD_PARAM);
  ASSERT_EQ(cnnlSetTransposeDescriptor(order, 3, permute), CNNL_STATUS_SUCCESS);
  std::size_t bytes = 1;
  ASSERT_EQ(cnnlGetTransposeWorkspaceSize(handle, floats({2, 3, 4}), order, &bytes), CNNL_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  ASSERT_EQ(cnnlTranspose_v2(handle, order, floats({2, 3, 4}), x.data(), floats({4, 2, 3}), y.data(), nullptr, 0),
            CNNL_STATUS_SUCCESS);
  const std::vector<float> out = y.values();
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(out[i], static_cast<float>(i % 6 * 4 + i / 6));
  EXPECT_EQ(cnnlDestroyTransposeDescriptor(order), CNNL_STATUS_SUCCESS);
}

TEST_F(Cnnl, CopyBetweenStrides) {
  OnDevice<float> x(counting(6)), y(12, -1.0f);
  ASSERT_EQ(cnnlCopy_v2(handle, floats({2, 3}), x.data(), Desc(CNNL_DTYPE_FLOAT, {2, 3}, {1, 4}), y.data(), nullptr, 0),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(y.values(), (std::vector<float>{0, 3, -1, -1, 1, 4, -1, -1, 2, 5, -1, -1}));
  EXPECT_EQ(cnnlCopy_v2(handle, floats({5}), x.data(), floats({6}), y.data(), nullptr, 0), CNNL_STATUS_BAD_PARAM);
}

TEST_F(Cnnl, ConcatSliceAndPad) {
  OnDevice<float> a(counting(4)), b(counting(2)), joined(6), part(2), padded(12);
  const Desc a_desc = floats({2, 2}), b_desc = floats({2, 1});
  const cnnlTensorDescriptor_t descs[] = {a_desc, b_desc};
  const void* const inputs[] = {a.data(), b.data()};
  ASSERT_EQ(cnnlConcat(handle, 2, -1, descs, inputs, nullptr, 0, floats({2, 3}), joined.data()), CNNL_STATUS_SUCCESS);
  EXPECT_EQ(joined.values(), (std::vector<float>{0, 1, 0, 2, 3, 1}));
  const std::int64_t begin[] = {1, -1}, end[] = {2, -4}, stride[] = {1, -2};
  ASSERT_EQ(cnnlStridedSlice_v2(handle, floats({2, 3}), joined.data(), begin, end, stride, floats({1, 2}), part.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(part.values(), (std::vector<float>{1, 2}));
  const int paddings[] = {1, 0, 0, 2};
  const float value = 9;
  ASSERT_EQ(cnnlPad(handle, floats({2, 2}), a.data(), paddings, &value, floats({3, 4}), padded.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(padded.values(), (std::vector<float>{9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}));
}

TEST_F(Cnnl, SumsAndDifferences) {
  OnDevice<float> a(counting(6)), row(std::vector<float>{10, 20, 30}), out(6, 1.0f), sums(2);
  const Desc a_desc = floats({2, 3}), row_desc = floats({3});
  const cnnlTensorDescriptor_t descs[] = {a_desc, row_desc};
  const void* const inputs[] = {a.data(), row.data()};
  ASSERT_EQ(cnnlAddN_v2(handle, descs, inputs, 2, a_desc, out.data(), nullptr, 0), CNNL_STATUS_SUCCESS);
  EXPECT_EQ(out.values(), (std::vector<float>{10, 21, 32, 13, 24, 35}));
  cnnlOpTensorDescriptor_t op = nullptr;
  ASSERT_EQ(cnnlCreateOpTensorDescriptor(&op), CNNL_STATUS_SUCCESS);
  ASSERT_EQ(cnnlSetOpTensorDescriptor(op, CNNL_OP_TENSOR_SUB, CNNL_DTYPE_FLOAT, CNNL_NOT_PROPAGATE_NAN),
            CNNL_STATUS_SUCCESS);
  const float two = 2, one = 1;
  ASSERT_EQ(cnnlOpTensor(handle, op, &two, a_desc, a.data(), nullptr, row_desc, row.data(), nullptr, 0, &one, a_desc,
                         out.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(out.values(), (std::vector<float>{0, 3, 6, 9, 12, 15})) << "2 a - row + what was there";
  cnnlDestroyOpTensorDescriptor(op);
  cnnlReduceDescriptor_t reduce = nullptr;
  ASSERT_EQ(cnnlCreateReduceDescriptor(&reduce), CNNL_STATUS_SUCCESS);
  const int axis[] = {-1};
  ASSERT_EQ(cnnlSetReduceDescriptor_v2(reduce, axis, 1, CNNL_REDUCE_ADD, CNNL_DTYPE_FLOAT, CNNL_PROPAGATE_NAN,
                                       CNNL_REDUCE_NO_INDICES, CNNL_32BIT_INDICES, 0),
            CNNL_STATUS_SUCCESS);
  ASSERT_EQ(cnnlReduce_v2(handle, reduce, a_desc, a.data(), nullptr, nullptr, nullptr, 0, floats({2, 1}), sums.data(),
                          nullptr, nullptr),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(sums.values(), (std::vector<float>{3, 12}));
  cnnlDestroyReduceDescriptor(reduce);
  const float scale = 3;
  ASSERT_EQ(cnnlTransform_v2(handle, CNNL_POINTER_MODE_HOST, &scale, a_desc, a.data(), &one, a_desc, out.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(out.values(), (std::vector<float>{1, 4, 7, 10, 13, 16}));
}

TEST_F(Cnnl, TopKAndUnique) {
  OnDevice<float> x(std::vector<float>{3, 9, 9, 1, 5, 2, 2, 8}), best(4);
  OnDevice<std::int32_t> index(4);
  ASSERT_EQ(cnnlTopKTensor_v3(handle, floats({2, 4}), x.data(), 2, 1, true, true, true, nullptr, 0, floats({2, 2}),
                              best.data(), ints({2, 2}), index.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(best.values(), (std::vector<float>{9, 9, 8, 5}));
  EXPECT_EQ(index.values(), (std::vector<std::int32_t>{1, 2, 3, 0}));
  EXPECT_EQ(cnnlTopKTensor_v3(handle, floats({2, 4}), x.data(), 5, 1, true, true, true, nullptr, 0, floats({2, 5}),
                              best.data(), ints({2, 5}), index.data()),
            CNNL_STATUS_BAD_PARAM);
  OnDevice<std::int32_t> rows(std::vector<std::int32_t>{2, 1, 0, 5, 2, 1, 0, 4}), distinct(8, -7), place(4),
      times(4, -7), number(1);
  cnnlUniqueDescriptor_t unique = nullptr;
  ASSERT_EQ(cnnlCreateUniqueDescriptor(&unique), CNNL_STATUS_SUCCESS);
  ASSERT_EQ(cnnlSetUniqueDescriptor(unique, CNNL_SORT_ASCEND, 0, true, true), CNNL_STATUS_SUCCESS);
  ASSERT_EQ(cnnlUnique_v2(handle, unique, ints({4, 2}), rows.data(), nullptr, 0, number.data(), ints({4, 2}),
                          distinct.data(), ints({4}), place.data(), ints({4}), times.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(number.values(), std::vector<std::int32_t>{3});
  EXPECT_EQ(distinct.values(), (std::vector<std::int32_t>{0, 4, 0, 5, 2, 1, -7, -7}));
  EXPECT_EQ(place.values(), (std::vector<std::int32_t>{2, 1, 2, 0}));
  EXPECT_EQ(times.values(), (std::vector<std::int32_t>{1, 1, 2, -7}));
  cnnlDestroyUniqueDescriptor(unique);
}

TEST_F(Cnnl, GatherAndScatter) {
  OnDevice<float> table(counting(12)), got(6), sums(12, 100.0f);
  OnDevice<std::int32_t> index(std::vector<std::int32_t>{2, 0}), outside(std::vector<std::int32_t>{2, 4});
  ASSERT_EQ(
      cnnlGatherNd_v2(handle, 0, floats({4, 3}), table.data(), ints({2, 1}), index.data(), floats({2, 3}), got.data()),
      CNNL_STATUS_SUCCESS);
  EXPECT_EQ(got.values(), (std::vector<float>{6, 7, 8, 0, 1, 2}));
  EXPECT_EQ(cnnlGatherNd_v2(handle, 0, floats({4, 3}), table.data(), ints({2, 1}), outside.data(), floats({2, 3}),
                            got.data()),
            CNNL_STATUS_EXECUTION_FAILED);
  ASSERT_EQ(cnnlScatterNd_v2(handle, CNNL_SCATTERND_ADD, ints({2, 1}), outside.data(), floats({2, 3}), got.data(),
                             floats({4, 3}), sums.data(), floats({4, 3}), sums.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(sums.values(), (std::vector<float>{100, 100, 100, 100, 100, 100, 106, 107, 108, 100, 100, 100}));
  ASSERT_EQ(cnnlScatterNd_v2(handle, CNNL_SCATTERND_UPDATE, ints({2, 1}), index.data(), floats({2, 3}), got.data(),
                             nullptr, nullptr, floats({4, 3}), sums.data()),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(sums.values(), (std::vector<float>{0, 1, 2, 0, 0, 0, 6, 7, 8, 0, 0, 0}));
}

TEST_F(Cnnl, MatrixProducts) {
  OnDevice<float> a(counting(6)), b(counting(12)), d(8, 1.0f);
  cnnlMatMulDescriptor_t desc = nullptr;
  cnnlMatMulAlgo_t algo = nullptr;
  ASSERT_EQ(cnnlCreateMatMulDescriptor(&desc), CNNL_STATUS_SUCCESS);
  ASSERT_EQ(cnnlCreateMatMulAlgo(&algo), CNNL_STATUS_SUCCESS);
  const std::int32_t yes = 1;
  ASSERT_EQ(cnnlSetMatMulDescAttr(desc, CNNL_MATMUL_DESC_TRANSB, &yes, sizeof(yes)), CNNL_STATUS_SUCCESS);
  const float two = 2, one = 1;
  ASSERT_EQ(cnnlMatMul_v2(handle, desc, algo, &two, floats({2, 3}), a.data(), floats({4, 3}), b.data(), &one,
                          floats({2, 4}), d.data(), nullptr, 0, floats({2, 4}), d.data()),
            CNNL_STATUS_SUCCESS);
  const std::vector<float> out = d.values();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      float sum = 1;
      for (int k = 0; k < 3; ++k) sum += 2.0f * static_cast<float>((i * 3 + k) * (j * 3 + k));
      EXPECT_EQ(out[static_cast<std::size_t>(i * 4 + j)], sum);
    }
  }
  EXPECT_EQ(cnnlMatMul_v2(handle, desc, algo, &two, floats({3, 2}), a.data(), floats({4, 3}), b.data(), nullptr,
                          floats({2, 4}), d.data(), nullptr, 0, floats({2, 4}), d.data()),
            CNNL_STATUS_BAD_PARAM);
  // A batch of two against one matrix: [2,1,3] x [1,4,3]^T.
  ASSERT_EQ(cnnlBatchMatMulEx(handle, desc, algo, nullptr, floats({2, 1, 3}), a.data(), floats({1, 4, 3}), b.data(),
                              nullptr, floats({2, 1, 4}), d.data(), nullptr, 0),
            CNNL_STATUS_SUCCESS);
  EXPECT_EQ(d.values()[7], 3 * 9.0f + 4 * 10 + 5 * 11);
  cnnlDestroyMatMulAlgo(algo);
  cnnlDestroyMatMulDescriptor(desc);
}

}  // namespace
}  // namespace neuware_test
