// One handle in several threads, and a pool that comes back to the handle it works for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "mlu_op_ext.h"

namespace {

/// A handle and an operator that is large enough for several threads.
class SharedHandle : public ::testing::Test {
 public:
  static constexpr int kSide = 16, kMask = 31;

  void SetUp() override {
    ASSERT_EQ(mluOpCreate(&handle_), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpExtSetNumThreads(handle_, 4), MLUOP_STATUS_SUCCESS);
    describe(x_, kMask * kMask);
    describe(y_, kSide * kSide);
  }
  void TearDown() override {
    EXPECT_EQ(mluOpDestroyTensorDescriptor(x_), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpDestroyTensorDescriptor(y_), MLUOP_STATUS_SUCCESS);
    EXPECT_EQ(mluOpDestroy(handle_), MLUOP_STATUS_SUCCESS);
  }
  mluOpStatus_t call(std::vector<float>& output) const {
    return mluOpPsamaskForward(handle_, 0, x_, input_.data(), kMask, kMask, y_, output.data());
  }
  static std::vector<float> fresh_output() {
    return std::vector<float>(std::size_t{kSide} * kSide * kSide * kSide, -1.0f);
  }

  mluOpHandle_t handle_ = nullptr;

 private:
  static void describe(mluOpTensorDescriptor_t& desc, int channels) {
    const int dims[] = {1, kSide, kSide, channels};
    ASSERT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
    ASSERT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, dims), MLUOP_STATUS_SUCCESS);
  }

  std::vector<float> input_ = std::vector<float>(std::size_t{kSide} * kSide * kMask * kMask, 0.5f);
  mluOpTensorDescriptor_t x_ = nullptr, y_ = nullptr;
};

void run_in_turn(void*, int64_t tasks, void (*body)(void*, int64_t), void* arg) {
  for (int64_t i = 0; i < tasks; ++i) body(arg, i);
}

/// Changes and reads every setting of the handle until told to end; false when one of them failed.
bool change_settings(mluOpHandle_t handle, const std::atomic<bool>& end) {
  const mluOpExtExecutor_t executor{nullptr, run_in_turn};
  bool well = true;
  const auto expect = [&](mluOpStatus_t status) { well = well && status == MLUOP_STATUS_SUCCESS; };
  for (int i = 1; !end; ++i) {
    int threads = 0;
    const char* text = nullptr;
    mluOpExtContract_t contract{};
    mluOpAtomicsMode_t atomics{};
    expect(mluOpExtSetExecutor(handle, i % 2 == 0 ? &executor : nullptr));
    expect(mluOpExtSetNumThreads(handle, i % 5));
    expect(mluOpExtGetNumThreads(handle, &threads));
    expect(mluOpExtSetContract(handle, i % 2 == 0 ? MLUOP_EXT_CONTRACT_STRICT : MLUOP_EXT_CONTRACT_EXTENDED));
    expect(mluOpExtGetContract(handle, &contract));
    expect(mluOpSetAtomicsMode(handle, i % 2 == 0 ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED));
    expect(mluOpGetAtomicsMode(handle, &atomics));
    expect(mluOpExtGetLastRunBackend(handle, &text));
    well = well && threads > 0 && (std::string(text).empty() || std::string(text) == "cpu");
  }
  return well;
}

TEST_F(SharedHandle, SettingsMayChangeWhileOtherThreadsCall) {
  std::atomic<bool> end{false}, settings_well{true};
  std::atomic<int> failures{0};
  std::thread setter([&] { settings_well = change_settings(handle_, end); });
  std::vector<std::thread> callers;
  std::vector<float> expected = fresh_output();
  ASSERT_EQ(call(expected), MLUOP_STATUS_SUCCESS);
  for (int t = 0; t < 2; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        std::vector<float> output = fresh_output();
        if (call(output) != MLUOP_STATUS_SUCCESS || output != expected) ++failures;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  end = true;
  setter.join();
  EXPECT_EQ(failures, 0);
  EXPECT_TRUE(settings_well);
}

TEST_F(SharedHandle, OptionsAndBackendsMayChangeWhileOtherThreadsCall) {
  std::atomic<int> failures{0};
  std::thread setter([&] {
    for (int i = 0; i < 100; ++i) {
      char text[32];
      if (mluOpExtSetOption(handle_, "cpu", "threading", i % 2 == 0 ? "threads" : "auto") != MLUOP_STATUS_SUCCESS ||
          mluOpExtQuery(handle_, "cpu", "threading", text, sizeof text, nullptr) != MLUOP_STATUS_SUCCESS ||
          mluOpExtSetBackend(handle_, "cpu") != MLUOP_STATUS_SUCCESS) {
        ++failures;
      }
    }
  });
  std::vector<float> output = fresh_output();
  for (int i = 0; i < 100; ++i) failures += call(output) != MLUOP_STATUS_SUCCESS ? 1 : 0;
  setter.join();
  EXPECT_EQ(failures, 0);
}

/// While a call of the handle is in its loop, no other thread's call or option gets in.
TEST_F(SharedHandle, CallsAndOptionsOfOtherThreadsWait) {
  struct Busy {
    SharedHandle* test;
    std::atomic<int> finished{0};
    int finished_inside = -1;
    std::thread caller, setter;
  } busy{this, {}, -1, {}, {}};
  const mluOpExtExecutor_t executor{
      &busy, [](void* context, int64_t tasks, auto body, void* arg) {
        auto& self = *static_cast<Busy*>(context);
        const mluOpHandle_t handle = self.test->handle_;
        mluOpExtSetExecutor(handle, nullptr);  // the other call runs on the library's threads
        self.caller = std::thread([&self] {
          std::vector<float> output = fresh_output();
          EXPECT_EQ(self.test->call(output), MLUOP_STATUS_SUCCESS);
          ++self.finished;
        });
        self.setter = std::thread([&self, handle] {
          EXPECT_EQ(mluOpExtSetOption(handle, "cpu", "scatter", "atomic"), MLUOP_STATUS_SUCCESS);
          ++self.finished;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        self.finished_inside = self.finished;
        run_in_turn(nullptr, tasks, body, arg);
      }};
  ASSERT_EQ(mluOpExtSetExecutor(handle_, &executor), MLUOP_STATUS_SUCCESS);
  std::vector<float> output = fresh_output();
  EXPECT_EQ(call(output), MLUOP_STATUS_SUCCESS);
  ASSERT_TRUE(busy.caller.joinable()) << "the call had a parallel loop";
  busy.caller.join();
  busy.setter.join();
  EXPECT_EQ(busy.finished_inside, 0);
  EXPECT_EQ(busy.finished, 2);
}

/// A pool that, before it works, uses the handle it was called for.
struct Intruder {
  mluOpHandle_t handle;
  std::vector<mluOpStatus_t> refused, allowed;
  std::string text;

  static void parallel_for(void* context, int64_t tasks, void (*body)(void*, int64_t), void* arg) {
    auto& self = *static_cast<Intruder*>(context);
    char buffer[8];
    int threads = 0;
    self.allowed = {mluOpExtSetNumThreads(self.handle, 2), mluOpExtGetNumThreads(self.handle, &threads),
                    mluOpExtSetExecutor(self.handle, nullptr)};
    self.refused = {mluOpExtSetBackend(self.handle, "cpu"), mluOpExtSetOption(self.handle, "cpu", "scatter", "owner"),
                    mluOpExtQuery(self.handle, "cpu", "isa", buffer, sizeof buffer, nullptr),
                    mluOpDestroy(self.handle)};
    self.text = mluOpExtGetLastErrorText();
    run_in_turn(nullptr, tasks, body, arg);
  }
};

TEST_F(SharedHandle, APoolThatUsesTheHandleOfItsCallIsRefused) {
  Intruder intruder{handle_, {}, {}, {}};
  const mluOpExtExecutor_t executor{&intruder, Intruder::parallel_for};
  ASSERT_EQ(mluOpExtSetExecutor(handle_, &executor), MLUOP_STATUS_SUCCESS);
  std::vector<float> output = fresh_output(), expected = fresh_output();
  EXPECT_EQ(call(output), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(intruder.allowed, std::vector<mluOpStatus_t>(3, MLUOP_STATUS_SUCCESS));
  EXPECT_EQ(intruder.refused, std::vector<mluOpStatus_t>(4, MLUOP_STATUS_BAD_PARAM));
  EXPECT_NE(intruder.text.find("handle is busy"), std::string::npos) << intruder.text;
  EXPECT_EQ(call(expected), MLUOP_STATUS_SUCCESS) << "the handle is free again";
  EXPECT_EQ(output, expected);
}

TEST_F(SharedHandle, AnOperatorCallFromInsideItsOwnLoopIsRefused) {
  struct Nested {
    SharedHandle* test;
    mluOpStatus_t status = MLUOP_STATUS_SUCCESS;
    bool untouched = false;
  } nested{this};
  const mluOpExtExecutor_t executor{&nested, [](void* context, int64_t tasks, auto body, void* arg) {
                                      auto& self = *static_cast<Nested*>(context);
                                      std::vector<float> output = fresh_output();
                                      self.status = self.test->call(output);
                                      self.untouched = output == fresh_output();
                                      run_in_turn(nullptr, tasks, body, arg);
                                    }};
  ASSERT_EQ(mluOpExtSetExecutor(handle_, &executor), MLUOP_STATUS_SUCCESS);
  std::vector<float> output = fresh_output();
  EXPECT_EQ(call(output), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(nested.status, MLUOP_STATUS_BAD_PARAM);
  EXPECT_TRUE(nested.untouched);
}

TEST_F(SharedHandle, TheLastErrorTextOutlivesCallsThatSucceed) {
  EXPECT_EQ(mluOpExtSetNumThreads(handle_, -1), MLUOP_STATUS_BAD_PARAM);
  const std::string text = mluOpExtGetLastErrorText();
  std::vector<float> output = fresh_output();
  EXPECT_EQ(call(output), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetOption(handle_, "cpu", "scatter", "owner"), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetBackend(handle_, "mlu_emu,cpu"), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtGetLastErrorText(), text);
}

}  // namespace
