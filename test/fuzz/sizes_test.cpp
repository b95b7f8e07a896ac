// Calls whose sizes reach 2^60, on tensors without memory: large tensors are address space that nobody may touch,
// small ones are filled as ever. Each call runs in a process of its own, until it ends, touches a large tensor (then
// its sizes have been found good), runs out of a gigabyte or of its time. Any other fault is a finding.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "mlu_op_ext.h"
#include "test/cases/base/random.h"
#include "test/fuzz/absent.h"
#include "test/support/handle.h"
#include "test/support/lists.h"
#include "test/support/sanitized.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kMicroseconds = 300'000;

struct Made {
  std::vector<std::unique_ptr<Tensor>> here;
  std::vector<std::unique_ptr<Descriptor>> descs;
  cases::Arguments arguments;

  explicit Made(const cases::Description& d) {
    for (const cases::TensorSpec& t : d.tensors) {
      std::int64_t count = 1;
      bool small = true;
      for (const std::int64_t dim : t.dims)
        small = small && !__builtin_mul_overflow(count, dim, &count) && count <= kMostPresent;
      if (small) {
        here.push_back(std::make_unique<Tensor>(t.name, t.layout, t.dtype, t.dims));
        if (t.fill) cases::write(t.fill, t.dtype, count, here.back()->data());
        arguments.push_back({here.back()->desc(), here.back()->data()});
      } else {
        descs.push_back(std::make_unique<Descriptor>(t.layout, t.dtype, t.dims));
        void* const data = absent_memory(t.elements(), 8);
        if (data == nullptr) _exit(kNotDescribed);
        arguments.push_back({descs.back()->get(), data});
      }
    }
  }
};

[[noreturn]] void call_in_child(const cases::Case& text, mluOpDataType_t dtype, mluOpExtContract_t contract) {
  faults_of_this_process_tell_where(kMicroseconds);
  try {
    const cases::Description d = cases::describe(text, dtype);
    const Made made(d);
    Handle handle("cpu", 2, {"threading=threads"});
    handle.contract(contract);
    the_library_is_called();
    const mluOpStatus_t status = d.call(handle.get(), made.arguments);
    _exit(status != MLUOP_STATUS_SUCCESS && *mluOpExtGetLastErrorText() == '\0' ? kNoText : kAnswered);
  } catch (const std::exception&) {
    _exit(kNotDescribed);
  }
}

/// One or two of the sizes of a small case become a power of two, three times one, or the neighbour of such a number:
/// times a few more, as kernels round sizes up, it is 0 in 64 bits.
cases::Case enormous(const cases::OperatorCases& op, cases::Random& random) {
  const cases::Cases small = cases::cases_of(op, op.smallest);
  cases::Case text = cases::with_defaults(small[static_cast<std::size_t>(random.integer(0, std::ssize(small) - 1))]);
  std::vector<std::string> keys;
  for (const auto& [key, value] : text.values()) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (*end == '\0' && number >= 1 && number == std::floor(number) && key != "seed") keys.push_back(key);
  }
  for (std::int64_t i = random.integer(1, 2); i > 0; --i) {
    const std::int64_t size =
        (random.chance(0.3) ? std::int64_t{3} << random.integer(9, 58) : std::int64_t{1} << random.integer(10, 60)) +
        random.integer(-1, 1);
    text.set(keys[static_cast<std::size_t>(random.integer(0, std::ssize(keys) - 1))], std::to_string(size));
  }
  return text;
}

int end_of_call(const cases::Case& text, mluOpDataType_t dtype, mluOpExtContract_t contract) {
  const pid_t child = fork();
  if (child == 0) call_in_child(text, dtype, contract);
  return child < 0 ? kNotDescribed : end_of(child);
}

class Enormous : public ::testing::TestWithParam<std::string> {};

TEST_P(Enormous, SizesAreRefusedOrReachTheirTensors) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer has no address space to spare";
  const char* const rounds = std::getenv("MLUOP_FUZZ_ROUNDS");
  const char* const seed = std::getenv("MLUOP_FUZZ_SEED");
  cases::Random random(GetParam() + (seed != nullptr ? seed : "1"));
  std::map<int, int> ends;
  for (int i = rounds != nullptr ? std::atoi(rounds) / 10 : 12; i > 0; --i) {
    const cases::Case text = enormous(cases::find_operator(GetParam()), random);
    const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE};
    const mluOpDataType_t dtype = random.pick(dtypes);
    const auto contract = random.chance(0.5) ? MLUOP_EXT_CONTRACT_STRICT : MLUOP_EXT_CONTRACT_EXTENDED;
    const int end = end_of_call(text, dtype, contract);
    ++ends[end];
    EXPECT_TRUE(end == kAnswered || end == kTouched || end == kNotDescribed || end == SIGALRM)
        << "ended by " << end << ": " << text.text() << " (" << dtype_name(dtype) << ", contract " << contract << ")";
  }
  EXPECT_GT(ends[kAnswered] + ends[kTouched], 0);
}

// Its sums, 6 rows and 16 columns at least, take 0 bytes in 64 bits.
TEST(EnormousSums, OfDeformableConvolutionAreRefused) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "a sanitizer has no address space to spare";
  cases::Case text =
      cases::Case::parse("dcn_backward_weight n=1 h=1 w=1 ci=1 co=1 kh=1 kw=1 stride=1 pad=0 dilation=1 g=1 dg=1");
  text.set("co", "432345564227567616");
  EXPECT_EQ(end_of_call(text, MLUOP_DTYPE_DOUBLE, MLUOP_EXT_CONTRACT_EXTENDED), kAnswered);
}

INSTANTIATE_TEST_SUITE_P(All, Enormous, ::testing::ValuesIn(operators()), [](const auto& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
