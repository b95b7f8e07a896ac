// Option "path": every operator of cpu says which way it took, takes it by name, and knows no other name.
#include <algorithm>
#include <string>
#include <vector>

#include "test/calls/suite.h"

namespace mluops::test {
namespace {

class PathOption : public OperatorCallTest {
 protected:
  static std::string asked(const Handle& handle, const char* key) {
    char text[256] = "";
    EXPECT_EQ(mluOpExtQuery(handle.get(), "cpu", key, text, sizeof(text), nullptr), MLUOP_STATUS_SUCCESS);
    return text;
  }
  static void take(const Handle& handle, const std::string& path) {
    ASSERT_EQ(mluOpExtSetOption(handle.get(), "cpu", "path", path.c_str()), MLUOP_STATUS_SUCCESS);
  }
};

TEST_P(PathOption, TheOneThatWasTakenHasAName) {
  for (const CallVariant& v : small_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    const auto handle = make_handle(v, 1);
    ASSERT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
    const std::string path = asked(*handle, "last_path"), all = ", " + asked(*handle, "last_paths") + ", ";
    ASSERT_NE(path, "") << v;
    EXPECT_NE(all.find(", " + path + ", "), std::string::npos) << v << ": " << path << " is none of " << all;
    take(*handle, path);
    EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_SUCCESS) << v << ": " << mluOpExtGetLastErrorText();
    EXPECT_EQ(asked(*handle, "last_path"), path) << v;
  }
}

TEST_P(PathOption, OneThatIsNotThereIsRefused) {
  for (const CallVariant& v : small_calls(GetParam())) {
    Problem problem = make_problem(v.text, v.dtype);
    const auto handle = make_handle(v, 1);
    take(*handle, "none_of_them");
    EXPECT_EQ(run(problem, *handle), MLUOP_STATUS_NOT_SUPPORTED) << v;
    const std::string text = mluOpExtGetLastErrorText();
    EXPECT_NE(text.find("option path: wanted one of "), std::string::npos) << v << ": " << text;
    EXPECT_NE(text.find("got \"none_of_them\""), std::string::npos) << v << ": " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, PathOption, ::testing::ValuesIn(operators()), operator_name);

}  // namespace
}  // namespace mluops::test
