// Elementwise functions of tensors with strides: every element as in a dense call, gaps untouched, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mlu_op_ext.h"
#include "test/cases/base/element.h"

namespace mluops::test {
namespace {

using Sizes = std::vector<std::int64_t>;

/// A tensor in memory of its own, whose gaps have a pattern.
struct Strided {
  mluOpDataType_t dtype;
  Sizes dims, strides;
  std::vector<unsigned char> memory;
  mluOpTensorDescriptor_t desc = nullptr;

  Strided(mluOpDataType_t type, const Sizes& sizes, const Sizes& steps) : dtype(type), dims(sizes), strides(steps) {
    std::int64_t reach = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) reach += strides[i] * (dims[i] - 1);
    memory.assign(static_cast<std::size_t>(reach * bytes()), 0xa5);
    EXPECT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpSetTensorDescriptorEx_v2(desc, MLUOP_LAYOUT_ARRAY, dtype, static_cast<int>(dims.size()), dims.data(),
                                            strides.data()),
              MLUOP_STATUS_SUCCESS);
  }
  Strided(const Strided&) = delete;
  Strided& operator=(const Strided&) = delete;
  ~Strided() { mluOpDestroyTensorDescriptor(desc); }

  std::int64_t bytes() const { return static_cast<std::int64_t>(cases::element_size(dtype)); }
  std::int64_t count() const {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<std::int64_t>());
  }
  unsigned char* element(std::int64_t i) {
    std::int64_t place = 0;
    for (std::size_t axis = dims.size(); axis-- > 0; i /= dims[axis]) place += i % dims[axis] * strides[axis];
    return memory.data() + place * bytes();
  }
  /// Its elements in row-major order.
  std::vector<unsigned char> elements() {
    std::vector<unsigned char> made(static_cast<std::size_t>(count() * bytes()));
    for (std::int64_t i = 0; i < count(); ++i) {
      std::memcpy(made.data() + i * bytes(), element(i), static_cast<std::size_t>(bytes()));
    }
    return made;
  }
  void put(const std::vector<unsigned char>& made) {
    for (std::int64_t i = 0; i < count(); ++i) {
      std::memcpy(element(i), made.data() + i * bytes(), static_cast<std::size_t>(bytes()));
    }
  }
};

Sizes dense(const Sizes& dims) {
  Sizes strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

struct Function {
  const char* name;
  int inputs;
  std::function<mluOpStatus_t(mluOpHandle_t, std::vector<Strided*>)> call;
};

template <class F>
Function unary(const char* name, F f) {
  return {name, 1, [f](mluOpHandle_t handle, const std::vector<Strided*>& t) {
            return f(handle, t[0]->desc, t[0]->memory.data(), t[1]->desc, t[1]->memory.data());
          }};
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      unary("abs", mluOpAbs),
      unary("lgamma", mluOpLgamma),
      unary("sqrt",
            [](mluOpHandle_t handle, auto... rest) { return mluOpSqrt(handle, MLUOP_COMPUTATION_FAST, rest...); }),
      unary("log", [](mluOpHandle_t handle,
                      auto... rest) { return mluOpLog(handle, MLUOP_COMPUTATION_FAST, MLUOP_LOG_10, rest...); }),
      {"sqrt_backward", 2,
       [](mluOpHandle_t handle, const std::vector<Strided*>& t) {
         return mluOpSqrtBackward(handle, t[0]->desc, t[0]->memory.data(), t[1]->desc, t[1]->memory.data(), t[2]->desc,
                                  t[2]->memory.data());
       }},
      {"div", 2, [](mluOpHandle_t handle, const std::vector<Strided*>& t) {
         return mluOpDiv(handle, MLUOP_COMPUTATION_FAST, t[0]->desc, t[0]->memory.data(), t[1]->desc,
                         t[1]->memory.data(), t[2]->desc, t[2]->memory.data());
       }}};
  return all;
}

class ElementwiseStrides : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_EXTENDED), MLUOP_STATUS_SUCCESS);
  }
  void TearDown() override { mluOpDestroy(handle_); }

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  void fill(Strided& t) {
    std::vector<unsigned char> made(static_cast<std::size_t>(t.count() * t.bytes()));
    const bool complex = t.dtype == MLUOP_DTYPE_COMPLEX_FLOAT;
    cases::store(
        complex ? MLUOP_DTYPE_FLOAT : t.dtype,
        [&](std::int64_t) { return static_cast<double>(number(-4000, 9000)) / 64; }, 0, t.count() * (complex ? 2 : 1),
        made.data());
    t.put(made);
  }
  /// Axes in any order, some with gaps; those of an input may overlap or repeat.
  Sizes any_strides(const Sizes& dims, bool input) {
    Sizes order(dims.size()), strides(dims.size());
    std::iota(order.begin(), order.end(), 0);
    if (number(0, 3) != 0) std::shuffle(order.begin(), order.end(), random_);
    std::int64_t step = number(0, 3) == 0 ? 2 : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[i]);
      strides[axis] = input && number(0, 5) == 0 ? number(0, 2) : step;
      step = step * dims[axis] + (number(0, 4) == 0 ? number(1, 5) : 0);
    }
    return strides;
  }
  /// The call on tensors with strides against one on dense tensors of the same elements.
  void compare(const Function& f, mluOpDataType_t in, mluOpDataType_t out, const Sizes& dims,
               const std::vector<Sizes>& strides) {
    std::vector<std::unique_ptr<Strided>> given, packed;
    std::vector<Strided*> call, dense_call;
    for (int i = 0; i <= f.inputs; ++i) {
      const mluOpDataType_t dtype = i == f.inputs ? out : in;
      given.push_back(std::make_unique<Strided>(dtype, dims, strides[static_cast<std::size_t>(i)]));
      packed.push_back(std::make_unique<Strided>(dtype, dims, dense(dims)));
      if (i < f.inputs) fill(*given.back()), packed.back()->put(given.back()->elements());
      call.push_back(given.back().get()), dense_call.push_back(packed.back().get());
    }
    Strided wanted(out, dims, strides.back());
    ASSERT_EQ(f.call(handle_, dense_call), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    wanted.put(packed.back()->memory);
    ASSERT_EQ(f.call(handle_, call), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
    EXPECT_EQ(given.back()->memory, wanted.memory) << f.name;
  }

  mluOpHandle_t handle_ = nullptr;
  std::mt19937 random_{7};
};

TEST_F(ElementwiseStrides, GiveWhatDenseTensorsGive) {
  const mluOpDataType_t types[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
  for (int round = 0; round < 400; ++round) {
    Sizes dims(static_cast<std::size_t>(number(1, 5)));
    for (std::int64_t& size : dims) size = number(0, 3) == 0 ? 1 : number(1, 9);
    const Function& f = functions()[static_cast<std::size_t>(round) % functions().size()];
    std::vector<Sizes> strides;
    for (int i = 0; i <= f.inputs; ++i) strides.push_back(any_strides(dims, i < f.inputs));
    if (number(0, 2) == 0) strides.front() = strides.back();
    const mluOpDataType_t dtype = types[number(0, 3)];
    SCOPED_TRACE(round);
    compare(f, dtype, dtype, dims, strides);
    if (f.name != std::string("abs")) continue;
    compare(f, MLUOP_DTYPE_INT32, MLUOP_DTYPE_INT32, dims, strides);
    compare(f, MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_FLOAT, dims, strides);
  }
}

/// Permuted axes, an input whose elements overlap, only the input permuted.
TEST_F(ElementwiseStrides, AbsOfTensorsOfFourDimensions) {
  const Sizes dims = {10, 10, 10, 10}, permuted = {100, 1000, 1, 10}, overlapping = {1, 1, 1, 4};
  for (const auto& [in, out] :
       {std::pair(permuted, permuted), std::pair(overlapping, permuted), std::pair(permuted, dense(dims))}) {
    Strided x(MLUOP_DTYPE_FLOAT, dims, in), y(MLUOP_DTYPE_FLOAT, dims, out);
    fill(x);
    ASSERT_EQ(mluOpAbs(handle_, x.desc, x.memory.data(), y.desc, y.memory.data()), MLUOP_STATUS_SUCCESS);
    for (std::int64_t i = 0; i < x.count(); ++i) {
      float from = 0, to = 0;
      std::memcpy(&from, x.element(i), sizeof from), std::memcpy(&to, y.element(i), sizeof to);
      ASSERT_EQ(to, std::fabs(from)) << i;
    }
  }
  compare(functions()[0], MLUOP_DTYPE_COMPLEX_FLOAT, MLUOP_DTYPE_FLOAT, dims, {permuted, permuted});
}

TEST_F(ElementwiseStrides, WorkInPlaceWithTheSameStrides) {
  const Sizes dims = {7, 1, 11}, gaps = {40, 5, 3};
  for (const Sizes& strides : {gaps, Sizes{1, 99, 7}}) {
    Strided x(MLUOP_DTYPE_FLOAT, dims, strides), y(MLUOP_DTYPE_FLOAT, dims, strides),
        z(MLUOP_DTYPE_FLOAT, dims, strides);
    fill(x), fill(y);
    ASSERT_EQ(mluOpDiv(handle_, MLUOP_COMPUTATION_FAST, x.desc, x.memory.data(), y.desc, y.memory.data(), z.desc,
                       z.memory.data()),
              MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpDiv(handle_, MLUOP_COMPUTATION_FAST, x.desc, x.memory.data(), y.desc, y.memory.data(), x.desc,
                       x.memory.data()),
              MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(x.memory, z.memory);
  }
}

TEST_F(ElementwiseStrides, RefuseWhatCannotBeWritten) {
  const Sizes dims = {4, 6};
  std::vector<float> memory(4096, 3);
  Strided plain(MLUOP_DTYPE_FLOAT, dims, {6, 1}), turned(MLUOP_DTYPE_FLOAT, dims, {1, 4});
  const auto abs = [&](const Strided& x, std::ptrdiff_t from, const Strided& y, std::ptrdiff_t to) {
    return mluOpAbs(handle_, x.desc, memory.data() + from, y.desc, memory.data() + to);
  };
  for (const Sizes& strides : {Sizes{0, 1}, Sizes{6, 0}, Sizes{1, 1}, Sizes{5, 1}, Sizes{2, 3}}) {
    const Strided y(MLUOP_DTYPE_FLOAT, dims, strides);
    EXPECT_EQ(abs(plain, 0, y, 1000), MLUOP_STATUS_NOT_SUPPORTED);
    EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("y: wanted elements that share no memory"),
              std::string::npos);
    EXPECT_EQ(abs(y, 0, plain, 1000), MLUOP_STATUS_SUCCESS);
  }
  EXPECT_EQ(abs(plain, 0, turned, 0), MLUOP_STATUS_BAD_PARAM);  // in place, in another order
  EXPECT_EQ(abs(plain, 0, plain, 23), MLUOP_STATUS_BAD_PARAM);  // the last element of x is the first of y
  EXPECT_EQ(abs(plain, 0, plain, 24), MLUOP_STATUS_SUCCESS);
  const Strided spread(MLUOP_DTYPE_FLOAT, dims, {100, 2});
  EXPECT_EQ(abs(spread, 0, plain, 310), MLUOP_STATUS_BAD_PARAM);
  EXPECT_EQ(abs(spread, 0, plain, 311), MLUOP_STATUS_SUCCESS);
}

TEST_F(ElementwiseStrides, RefuseStridesBelowZeroAndTooLargeOnes) {
  const Sizes dims = {4, 6};
  float memory[24] = {};
  const Strided plain(MLUOP_DTYPE_FLOAT, dims, {6, 1});
  const auto abs = [&](const Sizes& strides) {
    mluOpTensorDescriptor_t x = nullptr;
    EXPECT_EQ(mluOpCreateTensorDescriptor(&x), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpSetTensorDescriptorEx_v2(x, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims.data(), strides.data()),
              MLUOP_STATUS_SUCCESS);
    const mluOpStatus_t status = mluOpAbs(handle_, x, memory, plain.desc, memory);
    mluOpDestroyTensorDescriptor(x);
    return status;
  };
  EXPECT_EQ(abs({-6, 1}), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_NE(std::string(mluOpExtGetLastErrorText()).find("x: wanted strides >= 0"), std::string::npos);
  EXPECT_EQ(abs({INT64_MAX / 2, 1}), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(abs({INT64_MAX / 64, 1}), MLUOP_STATUS_BAD_PARAM);  // shares memory with y
  ASSERT_EQ(mluOpExtSetContract(handle_, MLUOP_EXT_CONTRACT_STRICT), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(abs({std::int64_t{1} << 30, 1}), MLUOP_STATUS_NOT_SUPPORTED);
}

}  // namespace
}  // namespace mluops::test
