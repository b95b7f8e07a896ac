// Calls whose sizes reach 2^60, on memory that is not there: large tensors are address space that nobody may touch,
// small ones are filled as ever. Each call runs in a process of its own, until it ends, touches a large tensor (then
// its sizes have been found good), runs out of a gigabyte or of its time. Any other fault is a finding.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "mlu_op_ext.h"
#include "test/cases/base/random.h"
#include "test/support/handle.h"
#include "test/support/lists.h"
#include "test/support/sanitized.h"
#include "test/support/tensor.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kSmall = 1 << 16;                         ///< elements of a tensor that is there
constexpr std::int64_t kMostMapped = std::int64_t{1} << 43;      ///< bytes of address space for one that is not
constexpr std::uintptr_t kAddressEnd = std::uintptr_t{1} << 47;  ///< of a process on x86-64
constexpr suseconds_t kMicroseconds = 300'000;

/// How a child ends.
enum End { kAnswered = 0, kTouched = 10, kNotDescribed = 11, kFault = 12, kNoText = 13 };

struct Region {
  std::uintptr_t begin, end;
};
constexpr std::size_t kMostRegions = 16;
Region regions[kMostRegions];
std::size_t region_count = 0;
bool calling = false;  ///< the library; before, it is the description that cannot bear the sizes

void look_where(int, siginfo_t* info, void*) {
  if (!calling) _exit(kNotDescribed);
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  // x86 tells no address when it is one that no process can have.
  const bool untold = info->si_code == SI_KERNEL && at == 0;
  for (std::size_t i = 0; i < region_count; ++i) {
    if (untold ? regions[i].end > kAddressEnd : at >= regions[i].begin && at < regions[i].end) _exit(kTouched);
  }
  _exit(kFault);
}

/// Address space for `count` elements; its faults are no findings.
void* absent(std::int64_t count, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) bytes = kMostMapped;
  const auto mapped = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes, 1, kMostMapped));
  void* const memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) _exit(kNotDescribed);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(begin, static_cast<std::uintptr_t>(bytes), &end)) end = ~std::uintptr_t{0};
  regions[region_count++] = {begin, end};
  return memory;
}

void limit_this_process() {
  const rlimit memory{std::size_t{1} << 30, std::size_t{1} << 30}, no_core{0, 0};
  setrlimit(RLIMIT_DATA, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_sigaction = look_where;
  action.sa_flags = SA_SIGINFO;
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) sigaction(fault, &action, nullptr);
  const itimerval timer{{}, {0, kMicroseconds}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

struct Made {
  std::vector<std::unique_ptr<Tensor>> here;
  std::vector<std::unique_ptr<Descriptor>> descs;
  cases::Arguments arguments;

  explicit Made(const cases::Description& d) {
    for (const cases::TensorSpec& t : d.tensors) {
      std::int64_t count = 1;
      bool small = true;
      for (const std::int64_t dim : t.dims)
        small = small && !__builtin_mul_overflow(count, dim, &count) && count <= kSmall;
      if (small) {
        here.push_back(std::make_unique<Tensor>(t.name, t.layout, t.dtype, t.dims));
        if (t.fill) cases::write(t.fill, t.dtype, count, here.back()->data());
        arguments.push_back({here.back()->desc(), here.back()->data()});
      } else {
        descs.push_back(std::make_unique<Descriptor>(t.layout, t.dtype, t.dims));
        arguments.push_back({descs.back()->get(), absent(t.elements(), 8)});
      }
    }
  }
};

[[noreturn]] void call_in_child(const cases::Case& text, mluOpDataType_t dtype, mluOpExtContract_t contract) {
  limit_this_process();
  try {
    const cases::Description d = cases::describe(text, dtype);
    const Made made(d);
    Handle handle("cpu", 2, {"threading=threads"});
    handle.contract(contract);
    calling = true;
    const mluOpStatus_t status = d.call(handle.get(), made.arguments);
    _exit(status != MLUOP_STATUS_SUCCESS && *mluOpExtGetLastErrorText() == '\0' ? kNoText : kAnswered);
  } catch (const std::exception&) {
    _exit(kNotDescribed);
  }
}

/// One or two of the sizes of a small case become a power of two or its neighbour.
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
    const std::int64_t size = (std::int64_t{1} << random.integer(10, 60)) + random.integer(-1, 1);
    text.set(keys[static_cast<std::size_t>(random.integer(0, std::ssize(keys) - 1))], std::to_string(size));
  }
  return text;
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
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) call_in_child(text, dtype, contract);
    int status = 0;
    waitpid(child, &status, 0);
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    const int end = WIFEXITED(status) ? WEXITSTATUS(status) : late ? SIGALRM : -WTERMSIG(status);
    ++ends[end];
    EXPECT_TRUE(end == kAnswered || end == kTouched || end == kNotDescribed || late)
        << "ended by " << end << ": " << text.text() << " (" << dtype_name(dtype) << ", contract " << contract << ")";
  }
  EXPECT_GT(ends[kAnswered] + ends[kTouched], 0);
}

INSTANTIATE_TEST_SUITE_P(All, Enormous, ::testing::ValuesIn(operators()), [](const auto& op) { return op.param; });

}  // namespace
}  // namespace mluops::test
