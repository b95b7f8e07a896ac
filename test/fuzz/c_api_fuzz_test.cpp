// Seeded mutations of valid calls: descriptors that lie, hostile sizes, wild data. Whatever the status: no crash,
// inputs unchanged, fences intact, and a refused call leaves its outputs alone. MLUOP_FUZZ_SEED and MLUOP_FUZZ_ROUNDS
// widen it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "test/support/cases/cases.h"
#include "test/support/coverage.h"
#include "test/support/handle.h"
#include "test/support/problem.h"
#include "test/support/run.h"

namespace mluops::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

// What was done to the call, for the failure message.
using Log = std::string;

constexpr const char* kShapeLie = " dims of ";

Tensor& any_tensor(Problem& p, Random& random) {
  const std::int64_t inputs = static_cast<std::int64_t>(p.inputs.size());
  const std::int64_t i = random.integer(0, inputs + static_cast<std::int64_t>(p.outputs.size()) - 1);
  return i < inputs ? *p.inputs[static_cast<std::size_t>(i)] : *p.outputs[static_cast<std::size_t>(i - inputs)];
}

// A shape that is refused or needs no more memory than the tensor has: smaller, empty, negative, or 2^31 elements and
// up.
void lie_about_shape(Tensor& t, Random& random, Log& log) {
  const std::int64_t hostile[] = {0,
                                  -1,
                                  std::int64_t{1} << 31,
                                  std::int64_t{1} << 40,
                                  std::int64_t{1} << 62,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()};
  std::vector<std::int64_t> dims = t.dims();
  std::int64_t& dim = dims[random.bits() % dims.size()];
  dim = random.chance(0.3) && dim > 1 ? random.integer(1, dim - 1) : random.pick(hostile);
  if (random.chance(0.2)) dims.pop_back();
  log += kShapeLie + t.name() + ";";
  mluOpSetTensorDescriptor_v2(t.desc(), MLUOP_LAYOUT_NHWC, t.dtype(), static_cast<int>(dims.size()), dims.data());
}

void lie_about_type(Tensor& t, Random& random, Log& log) {
  const mluOpDataType_t narrow[] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_INT8, MLUOP_DTYPE_BOOL, MLUOP_DTYPE_INVALID,
                                    MLUOP_DTYPE_BFLOAT16};  // none wider than what the memory holds
  const mluOpTensorLayout_t layout = static_cast<mluOpTensorLayout_t>(random.integer(0, 10));
  log += " type of " + t.name() + ";";
  mluOpSetTensorDescriptor_v2(t.desc(), layout, random.pick(narrow), static_cast<int>(t.dims().size()),
                              t.dims().data());
}

void stride(Tensor& t, Random& random, Log& log) {
  const std::vector<std::int64_t>& dims = t.dims();
  std::vector<std::int64_t> strides(dims.size());
  for (std::int64_t& s : strides) s = random.integer(-2, 5);
  log += " strides of " + t.name() + ";";
  mluOpSetTensorDescriptorEx_v2(t.desc(), MLUOP_LAYOUT_NHWC, t.dtype(), static_cast<int>(dims.size()), dims.data(),
                                strides.data());
}

// Any bits in the floats; wild integers.
void poison(Tensor& t, Random& random, Log& log) {
  const double values[] = {kInfinity, -kInfinity, NAN, 1e30, -1e30, 65504, -65504, 1e-40, -1.0, 0.0};
  const double wild[] = {-1, -2147483648.0, 2147483647.0, 1e6};
  reference::Values v = t.values();
  for (double& x : v) {
    if (random.chance(0.2)) x = t.dtype() == MLUOP_DTYPE_INT32 ? random.pick(wild) : random.pick(values);
  }
  log += " data of " + t.name() + ";";
  t.fill(v);
}

void mutate(Problem& p, Random& random, Log& log) {
  Tensor& t = any_tensor(p, random);
  switch (random.integer(0, 6)) {
    case 0:
      return lie_about_shape(t, random, log);
    case 1:
      return lie_about_type(t, random, log);
    case 2:
      return stride(t, random, log);
    case 3:
      log += " no data of " + t.name() + ";";
      return t.lose_data();
    default:
      return poison(*p.inputs[random.bits() % p.inputs.size()], random, log);
  }
}

Problem hostile_problem(const std::string& op, Random& random, Log& log) {
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
  const mluOpDataType_t dtype = random.pick(dtypes);
  const Case text = random_case(op, random, 0.2);
  Problem p = make_problem(text, dtype);
  log = text.text() + " (" + dtype_name(dtype) + ")";
  for (std::int64_t i = random.integer(0, 2); i >= 0; --i) mutate(p, random, log);
  return p;
}

bool fences_intact(const Problem& p) {
  bool intact = true;
  for (const auto& t : p.inputs) intact = intact && t->buffer().fences_intact();
  for (const auto& t : p.outputs) intact = intact && t->buffer().fences_intact();
  return intact;
}

std::vector<std::vector<unsigned char>> bytes_of(const std::vector<std::unique_ptr<Tensor>>& tensors) {
  std::vector<std::vector<unsigned char>> all;
  for (const auto& t : tensors) all.push_back(t->bytes());
  return all;
}

void fuzz_once(const std::string& op, Handle& handle, Random& random, std::map<mluOpStatus_t, int>& seen) {
  Log log;
  Problem p = hostile_problem(op, random, log);
  // EXTENDED takes tensors of any size at their word, so a lie about 2^31 elements can only be told under STRICT.
  const bool strict = log.find(kShapeLie) != Log::npos || random.chance(0.5);
  handle.contract(strict ? MLUOP_EXT_CONTRACT_STRICT : MLUOP_EXT_CONTRACT_EXTENDED);
  for (const auto& out : p.outputs) out->buffer().fill_with_garbage();
  const auto inputs = bytes_of(p.inputs), garbage = bytes_of(p.outputs);
  const mluOpStatus_t status = p.call(handle.get());
  ++seen[status];
  ASSERT_TRUE(fences_intact(p)) << log;
  ASSERT_TRUE(bytes_of(p.inputs) == inputs) << log;
  if (status == MLUOP_STATUS_SUCCESS) return;
  ASSERT_TRUE(status == MLUOP_STATUS_BAD_PARAM || status == MLUOP_STATUS_NOT_SUPPORTED)
      << log << " " << mluOpGetErrorString(status) << ": " << mluOpExtGetLastErrorText();
  ASSERT_STRNE(mluOpExtGetLastErrorText(), "") << log;
  ASSERT_TRUE(bytes_of(p.outputs) == garbage) << log;
}

struct Target {
  std::string backend, op;
};

std::ostream& operator<<(std::ostream& out, const Target& t) {
  return out << t.backend << " " << t.op;
}

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const char* backend : {"cpu", "mlu_emu"}) {
    for (const std::string& op : operators()) all.push_back({backend, op});
  }
  return all;
}

class FuzzTest : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzTest, HostileCallsAreHarmless) {
  const Target& t = GetParam();
  if (duty(t.backend, t.op, MLUOP_DTYPE_FLOAT) == Duty::kMissing) GTEST_SKIP() << t << " is not there yet";
  Random random(t.op + std::to_string(setting("MLUOP_FUZZ_SEED", 1)));
  Handle handle(t.backend, 2);
  std::map<mluOpStatus_t, int> seen;
  const int rounds = std::max(scaled(400), 200);  // fewer may meet no legal call
  for (std::int64_t i = setting("MLUOP_FUZZ_ROUNDS", rounds); i > 0 && !HasFatalFailure(); --i) {
    fuzz_once(t.op, handle, random, seen);
  }
  EXPECT_GT(seen[MLUOP_STATUS_SUCCESS], 0);
  EXPECT_GT(seen[MLUOP_STATUS_BAD_PARAM], 0);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTest, ::testing::ValuesIn(targets()),
                         [](const ::testing::TestParamInfo<Target>& target) {
                           return target.param.backend + "_" + target.param.op;
                         });

}  // namespace
}  // namespace mluops::test
