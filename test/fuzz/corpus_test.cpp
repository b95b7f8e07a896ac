// What fuzzing found worth keeping, once more in every build: test/fuzz/corpus holds the inputs that reach code no
// other input of it reaches. An input that finds something ends the program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/fuzz/targets/target.h"

namespace mluops::test {
namespace {

struct FuzzTarget {
  const char* name;
  void (*run)(const std::uint8_t* data, std::size_t size);
};

class CorpusTest : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(CorpusTest, IsHarmless) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CORPUS "/") + GetParam().name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
    GetParam().run(data.data(), data.size());
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CorpusTest,
                         ::testing::Values(FuzzTarget{"api", fuzz_api}, FuzzTarget{"operators", fuzz_operators},
                                           FuzzTarget{"calls", fuzz_calls},
                                           FuzzTarget{"differential", fuzz_differential}, FuzzTarget{"cncc", fuzz_cncc},
                                           FuzzTarget{"mlisa", fuzz_mlisa}),
                         [](const ::testing::TestParamInfo<FuzzTarget>& target) { return target.param.name; });

}  // namespace
}  // namespace mluops::test
