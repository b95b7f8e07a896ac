// Fills of bool, char and long long: a public kernel gathers rows of each type and zeroes the missing ones.
#include <cstdint>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

class Fills : public WithQueue {};

TEST_F(Fills, OfEachTypeOfCpp) {
  OnDevice<std::uint8_t> flags{5, std::uint8_t{0}};
  OnDevice<char> letters{5, '-'};
  OnDevice<long long> numbers{5, 1};
  OnDevice<unsigned long long> sizes{5, 1};
  fill_types(queue, flags.data(), letters.data(), numbers.data(), sizes.data());
  expect_success();
  EXPECT_EQ(flags.values(), (std::vector<std::uint8_t>{1, 1, 1, 1, 0}));
  EXPECT_EQ(letters.values(), (std::vector<char>{'x', 'x', 'x', 'x', '-'}));
  EXPECT_EQ(numbers.values(), (std::vector<long long>{-5, -5, -5, -5, 1}));
  EXPECT_EQ(sizes.values(), (std::vector<unsigned long long>{6, 6, 6, 6, 1}));
}

}  // namespace
}  // namespace neuware_test
