// Out of memory at every point: the n-th allocation of a step fails, once or from then on, for every n. The step says
// ALLOC_FAILED, loses no memory, leaves outputs alone, and works when it is tried again.
#include <functional>
#include <memory>

#include "test/calls/suite.h"
#include "test/calls/tally.h"

namespace mluops::test {
namespace {

/// What a process makes or lets go of at its first failures, as the runtime of some compilers does, is not a step's.
void fail_for_the_first_time() {
  constexpr int kFailures = 8;
  static const bool done = [] {
    for (int n = 1; n <= kFailures; ++n) {
      const FailingAllocation failing(n, false);
      mluOpHandle_t handle = nullptr;
      if (mluOpCreate(&handle) == MLUOP_STATUS_SUCCESS) mluOpDestroy(handle);
    }
    return true;
  }();
  static_cast<void>(done);
}

/// Tries step() with its n-th allocation failing, for n = 1, 2, ... until there is no n-th. prepare() comes before each
/// try; check(status) after a failure. Returns how many points failed.
int fail_at_every_point(bool for_ever, const std::function<void()>& prepare, const std::function<mluOpStatus_t()>& step,
                        const std::function<void(std::int64_t)>& check) {
  constexpr int kPatience = 100'000;
  fail_for_the_first_time();
  for (int n = 1; n < kPatience; ++n) {
    prepare();
    mluOpStatus_t status{};
    bool happened = false;
    {
      const FailingAllocation failing(n, for_ever);
      status = step();
      happened = failing.happened();
    }
    if (!happened) {
      EXPECT_EQ(status, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
      return n - 1;
    }
    // An allocation that a runtime can do without may fail unnoticed.
    if (status != MLUOP_STATUS_SUCCESS) {
      EXPECT_EQ(status, MLUOP_STATUS_ALLOC_FAILED) << "point " << n << ": " << mluOpExtGetLastErrorText();
      EXPECT_STRNE(mluOpExtGetLastErrorText(), "");
    }
    check(status == MLUOP_STATUS_SUCCESS ? 0 : n);
    if (::testing::Test::HasFailure()) return n;
  }
  ADD_FAILURE() << "still failing";
  return kPatience;
}

class OutOfMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    MLUOPS_SKIP_WITHOUT_TALLY();
    fail_for_the_first_time();
  }
  static std::int64_t live() { return tally().live_bytes; }
};

TEST_P(OutOfMemory, CreatingAHandle) {
  for (const char* chain : {"cpu", "mlu_emu", "mlu_emu,cpu"}) {
    setenv("MLUOP_BACKEND", chain, 1);
    mluOpHandle_t handle = nullptr;
    ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);  // what is made once per process
    ASSERT_EQ(mluOpDestroy(handle), MLUOP_STATUS_SUCCESS);
    std::int64_t before = 0;
    const auto prepare = [&] {
      handle = nullptr;
      before = live();
    };
    const auto check = [&](std::int64_t failed_at) {
      if (failed_at == 0) mluOpDestroy(handle);
      EXPECT_TRUE(failed_at == 0 || handle == nullptr) << "point " << failed_at;
      EXPECT_EQ(live(), before) << chain << ", point " << failed_at;
    };
    EXPECT_GT(fail_at_every_point(
                  GetParam(), prepare, [&] { return mluOpCreate(&handle); }, check),
              0);
    mluOpDestroy(handle);
  }
  unsetenv("MLUOP_BACKEND");
}

TEST_P(OutOfMemory, SettingABackendOrAnOption) {
  mluOpHandle_t handle = nullptr;
  ASSERT_EQ(mluOpCreate(&handle), MLUOP_STATUS_SUCCESS);
  const auto nothing = [](std::int64_t) {};
  const auto name_is = [&](const std::string& wanted) {
    const char* chain = nullptr;
    EXPECT_EQ(mluOpExtGetBackend(handle, &chain), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(chain, wanted);
  };
  const auto to_cpu = [&] { ASSERT_EQ(mluOpExtSetBackend(handle, "cpu"), MLUOP_STATUS_SUCCESS); };
  const auto keeps_cpu = [&](std::int64_t failed_at) {
    if (failed_at > 0) name_is("cpu");
  };
  const char* const chain = "mlu_emu,cpu,mlu_emu,cpu";
  EXPECT_GT(fail_at_every_point(
                GetParam(), to_cpu, [&] { return mluOpExtSetBackend(handle, chain); }, keeps_cpu),
            0);
  name_is(chain);
  fail_at_every_point(
      GetParam(), [] {}, [&] { return mluOpExtSetOption(handle, "mlu_emu", "check", "memory,init,race,overlap"); },
      nothing);
  mluOpDestroy(handle);
}

TEST_P(OutOfMemory, DescriptorsStayWhatTheyWere) {
  constexpr int kRank = 5;
  const std::int64_t dims[kRank] = {2, 3, 4, 5, 6};
  mluOpTensorDescriptor_t desc = nullptr;
  std::int64_t before = live();
  const auto gone = [&](std::int64_t failed_at) {
    if (failed_at == 0) mluOpDestroyTensorDescriptor(desc);
    EXPECT_EQ(live(), before);
  };
  EXPECT_GT(fail_at_every_point(
                GetParam(), [] {}, [&] { return mluOpCreateTensorDescriptor(&desc); }, gone),
            0);
  const auto as_before = [&](std::int64_t failed_at) {
    int rank = 0;
    std::int64_t got[kRank] = {}, strides[kRank] = {};
    mluOpTensorLayout_t layout{};
    mluOpDataType_t dtype{};
    ASSERT_EQ(mluOpGetTensorDescriptorEx_v2(desc, &layout, &dtype, &rank, got, strides), MLUOP_STATUS_SUCCESS);
    if (failed_at == 0) return;
    EXPECT_EQ(rank, 1);
    EXPECT_EQ(got[0], 7);
    EXPECT_EQ(strides[0], 1);
    EXPECT_EQ(mluOpGetTensorElementNum(desc), 7u);
  };
  const auto one_dim = [&] {
    const int seven = 7;
    mluOpResetTensorDescriptor(desc);
    ASSERT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 1, &seven), MLUOP_STATUS_SUCCESS);
  };
  const auto set = [&] { return mluOpSetTensorDescriptor_v2(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_HALF, kRank, dims); };
  EXPECT_GT(fail_at_every_point(GetParam(), one_dim, set, as_before), 0);
  mluOpDestroyTensorDescriptor(desc);
}

TEST_P(OutOfMemory, AGroupOfDescriptorsIsMadeWholeOrNotAtAll) {
  constexpr int kCount = 4;
  mluOpTensorDescriptor_t made[kCount];
  mluOpTensorDescriptor_t* group[kCount];
  for (int i = 0; i < kCount; ++i) group[i] = &made[i];
  std::int64_t before = 0;
  const auto prepare = [&] {
    std::fill(std::begin(made), std::end(made), nullptr);
    before = live();
  };
  const auto check = [&](std::int64_t failed_at) {
    if (failed_at == 0) return;
    for (const auto desc : made) EXPECT_EQ(desc, nullptr);
    EXPECT_EQ(live(), before);
  };
  EXPECT_GT(fail_at_every_point(
                GetParam(), prepare, [&] { return mluOpCreateGroupTensorDescriptors(group, kCount); }, check),
            0);
  EXPECT_EQ(mluOpDestroyGroupTensorDescriptors(group, kCount), MLUOP_STATUS_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Allocation, OutOfMemory, ::testing::Bool(),
                         [](const auto& for_ever) { return for_ever.param ? "for_ever" : "once"; });

class OutOfMemoryCall : public OperatorCallTest {};

std::vector<std::vector<unsigned char>> output_bytes(const Problem& problem) {
  std::vector<std::vector<unsigned char>> all;
  for (const auto& output : problem.outputs) all.push_back(output->bytes());
  return all;
}

/// The first call of a handle, or a later one, out of memory at every point. Returns the number of points.
int starve(const std::string& backend, const CallVariant& v, bool for_ever, bool first) {
  Problem problem = make_problem(v.text, v.dtype);
  std::unique_ptr<Handle> handle;
  std::vector<std::vector<unsigned char>> garbage;
  std::int64_t before = 0;
  const auto make = [&] {
    const auto options = backend == "cpu" ? std::vector<std::string>{v.atomic ? "scatter=atomic" : "scatter=owner"}
                                          : std::vector<std::string>{};
    handle = std::make_unique<Handle>(backend, 1, options);
    handle->contract(MLUOP_EXT_CONTRACT_EXTENDED);
    handle->atomics(v.atomic ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED);
  };
  make();
  if (run(problem, *handle) != MLUOP_STATUS_SUCCESS) return 0;  // the device lacks the dtype
  const auto expected = output_bytes(problem);
  const auto prepare = [&] {
    for (const auto& output : problem.outputs) output->buffer().fill_with_garbage();
    garbage = output_bytes(problem);
    if (first) {
      handle.reset();
      before = tally().live_bytes;
      make();
    }
  };
  const auto check = [&](std::int64_t failed_at) {
    EXPECT_TRUE(failed_at == 0 || output_bytes(problem) == garbage) << v << ": outputs touched, point " << failed_at;
    EXPECT_EQ(problem.call(handle->get()), MLUOP_STATUS_SUCCESS) << v << ", after point " << failed_at;
    EXPECT_TRUE(output_bytes(problem) == expected) << v << ", after point " << failed_at;
    if (!first) return;
    handle.reset();
    EXPECT_EQ(tally().live_bytes, before) << v << ": lost memory, point " << failed_at;
    make();
  };
  return fail_at_every_point(
      for_ever, prepare, [&] { return problem.call(handle->get()); }, check);
}

TEST_P(OutOfMemoryCall, FailsWholeAndWorksAgain) {
  MLUOPS_SKIP_WITHOUT_TALLY();
  int points = 0;
  for (const std::string backend : {"cpu", "mlu_emu"}) {
    for (const CallVariant& v : small_calls(GetParam())) {
      if (backend == "mlu_emu" && (v.atomic || v.dtype != MLUOP_DTYPE_FLOAT)) continue;  // they allocate alike
      for (const bool for_ever : {false, true}) {
        points += starve(backend, v, for_ever, true) + starve(backend, v, for_ever, false);
        if (HasFailure()) return;
      }
    }
  }
  RecordProperty("points", points);  // 0 for an operator that allocates nothing on any backend
}

INSTANTIATE_TEST_SUITE_P(All, OutOfMemoryCall, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
