// Choosing a backend through the C API: MLUOP_BACKEND, chains, mluOpExtSetBackend, plugins of MLUOP_BACKEND_PATH.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace {

/// Sets MLUOP_BACKEND for its lifetime; nullptr unsets it.
class BackendEnv {
 public:
  explicit BackendEnv(const char* value) {
    if (value == nullptr) {
      unsetenv("MLUOP_BACKEND");
    } else {
      setenv("MLUOP_BACKEND", value, 1);
    }
  }
  ~BackendEnv() { unsetenv("MLUOP_BACKEND"); }
};

struct Handle {
  mluOpHandle_t get = nullptr;
  mluOpStatus_t created = mluOpCreate(&get);
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (get != nullptr) (void)mluOpDestroy(get);
  }
};

std::string chain_of(mluOpHandle_t handle) {
  const char* chain = nullptr;
  EXPECT_EQ(mluOpExtGetBackend(handle, &chain), MLUOP_STATUS_SUCCESS);
  return chain;
}

std::string last_run(mluOpHandle_t handle) {
  const char* name = nullptr;
  EXPECT_EQ(mluOpExtGetLastRunBackend(handle, &name), MLUOP_STATUS_SUCCESS);
  return name;
}

mluOpTensorDescriptor_t nhwc(std::vector<int> dims) {
  mluOpTensorDescriptor_t desc = nullptr;
  EXPECT_EQ(mluOpCreateTensorDescriptor(&desc), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpSetTensorDescriptor(desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, 4, dims.data()), MLUOP_STATUS_SUCCESS);
  return desc;
}

/// The 2x2 map with a 3x3 mask of the worked example.
mluOpStatus_t psamask(mluOpHandle_t handle, int psa_type, std::vector<float>& y) {
  std::vector<float> x(36);
  for (int p = 0; p < 4; ++p) {
    for (int k = 0; k < 9; ++k) x[static_cast<std::size_t>(p * 9 + k)] = static_cast<float>(10 * p + k);
  }
  y.assign(16, -1.0f);
  mluOpTensorDescriptor_t x_desc = nhwc({1, 2, 2, 9}), y_desc = nhwc({1, 2, 2, 4});
  const mluOpStatus_t status = mluOpPsamaskForward(handle, psa_type, x_desc, x.data(), 3, 3, y_desc, y.data());
  EXPECT_EQ(mluOpDestroyTensorDescriptor(x_desc), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpDestroyTensorDescriptor(y_desc), MLUOP_STATUS_SUCCESS);
  return status;
}

const std::vector<float> kCollected = {4, 5, 7, 8, 13, 14, 16, 17, 21, 22, 24, 25, 30, 31, 33, 34};

TEST(Selection, DefaultIsCpu) {
  const BackendEnv env(nullptr);
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(chain_of(handle.get), "cpu");
}

TEST(Selection, EmptyMeansDefault) {
  const BackendEnv env("");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(chain_of(handle.get), "cpu");
}

TEST(Selection, KnownName) {
  const BackendEnv env("mlu_emu");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(chain_of(handle.get), "mlu_emu");
}

TEST(Selection, UnknownNameListsTheKnownOnes) {
  const BackendEnv env("gpu");
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(handle, nullptr);
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find("backend \"gpu\" is unknown; known: cpu, mlu_emu, mine"), std::string::npos) << text;
  EXPECT_NE(text.find("wrong_abi"), std::string::npos) << "the plugin that was left out is named: " << text;
}

TEST(Selection, UnusableBackendSaysWhy) {
  const BackendEnv env("cpu,unusable");
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(mluOpCreate(&handle), MLUOP_STATUS_NOT_INITIALIZED);
  const std::string text = mluOpExtGetLastErrorText();
  EXPECT_NE(text.find("\"unusable\" cannot be used: the part this backend drives is not plugged in"), std::string::npos)
      << text;
}

TEST(Selection, AForcedPluginRunsAloneAndLacksTheRest) {
  const BackendEnv env("mine");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<float> y;
  EXPECT_EQ(psamask(handle.get, 0, y), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(y, kCollected);
  EXPECT_EQ(last_run(handle.get), "mine");
  EXPECT_EQ(psamask(handle.get, 1, y), MLUOP_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(y, std::vector<float>(16, -1.0f));
  EXPECT_STREQ(mluOpExtGetLastErrorText(), "mluOpPsamaskForward: backend mine: psa_type: wanted 0 (collect)");
}

TEST(Selection, APluginWithFewerMembersRuns) {
  const BackendEnv env("older,cpu");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<float> y;
  EXPECT_EQ(psamask(handle.get, 0, y), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(y, kCollected);
  EXPECT_EQ(last_run(handle.get), "older");
}

TEST(Selection, AStatusThatIsNoneIsAnInternalError) {
  const BackendEnv env("no_status,cpu");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<float> y;
  EXPECT_EQ(psamask(handle.get, 0, y), MLUOP_STATUS_INTERNAL_ERROR);
  EXPECT_STREQ(mluOpExtGetLastErrorText(),
               "mluOpPsamaskForward: backend no_status: wanted a status, got 77 it lost count");
}

TEST(Selection, TheLibraryTellsWhatABackendHas) {
  const BackendEnv env("mine,cpu");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  char small[8] = "";
  std::size_t length = 0;
  EXPECT_EQ(mluOpExtQuery(handle.get, "mine", "operators", small, sizeof small, &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(length, std::string("psamask_forward").size());
  EXPECT_STREQ(small, "psamask") << "cut, with its end";
  std::string all;
#define MLUOPS_OPERATOR(name, Problem) all += (all.empty() ? "" : " ") + std::string(#name);
#include "mluops/operators.inc"
  std::string has(all.size() + 1, '?');
  EXPECT_EQ(mluOpExtQuery(handle.get, "cpu", "operators", has.data(), has.size(), &length), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(has.substr(0, length), all) << "cpu has the whole list";
}

TEST(Selection, AChainFallsBackInOrder) {
  const BackendEnv env("mine,cpu");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  std::vector<float> y;
  EXPECT_EQ(psamask(handle.get, 0, y), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(last_run(handle.get), "mine");
  EXPECT_EQ(psamask(handle.get, 1, y), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(last_run(handle.get), "cpu");
}

TEST(Selection, AnExplicitCallWinsOverTheEnvironment) {
  const BackendEnv env("mine");
  const Handle handle;
  ASSERT_EQ(handle.created, MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(mluOpExtSetBackend(handle.get, "cpu"), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(chain_of(handle.get), "cpu");
  EXPECT_EQ(mluOpExtSetBackend(handle.get, "gpu"), MLUOP_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(chain_of(handle.get), "cpu") << "a failed choice changes nothing";
  std::vector<float> y;
  EXPECT_EQ(psamask(handle.get, 0, y), MLUOP_STATUS_SUCCESS) << mluOpExtGetLastErrorText();
  EXPECT_EQ(y, kCollected);
  EXPECT_EQ(mluOpExtSetBackend(handle.get, nullptr), MLUOP_STATUS_SUCCESS);
  EXPECT_EQ(chain_of(handle.get), "mine");
}

TEST(Selection, BackendsAreListed) {
  std::string all;
  for (int i = 0; i < mluOpExtGetBackendCount(); ++i) {
    all += std::string(mluOpExtGetBackendName(i)) + " ";
    EXPECT_STRNE(mluOpExtGetBackendDescription(i), "");
  }
  EXPECT_EQ(all, "cpu mlu_emu mine unusable older no_status takes_nhwc takes_both ");
  EXPECT_EQ(mluOpExtGetBackendName(-1), nullptr);
  EXPECT_EQ(mluOpExtGetBackendName(mluOpExtGetBackendCount()), nullptr);
  EXPECT_EQ(mluOpExtGetBackendDescription(99), nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  // The library reads the path once, so it is set before the first handle.
  const std::string dir = PLUGIN_DIR;
  std::string path;
  for (const char* name : {"mine", "wrong_abi", "unusable", "older", "no_status", "takes_nhwc", "takes_both"})
    path += dir + "/plugin_" + name + ".so:";
  setenv("MLUOP_BACKEND_PATH", path.c_str(), 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
