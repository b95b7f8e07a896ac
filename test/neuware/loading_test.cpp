// libcnrt may be loaded when a program has run for long, by Python beside torch for one.
#include <cnrt.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstddef>
#include <cstring>

#include "test/support/sanitized.h"

namespace neuware_test {
namespace {

/// Bytes of its thread-local variables, and whether it was found.
struct ThreadLocals {
  std::size_t bytes = 0;
  bool found = false;
};

int look(dl_phdr_info* info, std::size_t, void* found) {
  if (std::strstr(info->dlpi_name, "libcnrt") == nullptr) return 0;
  auto& thread_locals = *static_cast<ThreadLocals*>(found);
  thread_locals.found = true;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_TLS) thread_locals.bytes += info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

// Kernels reach some of them as those of the program itself (initial-exec), for which glibc has 1664 bytes for all
// libraries that are loaded later; then all of them lie there.
TEST(Loading, LeavesRoomForThreadLocalsOfOthers) {
  if (MLUOPS_TEST_SANITIZED) GTEST_SKIP() << "sanitizers have variables of their own";
  unsigned devices = 0;
  ASSERT_EQ(cnrtGetDeviceCount(&devices), cnrtSuccess);
  ThreadLocals found;
  dl_iterate_phdr(look, &found);
  ASSERT_TRUE(found.found);
  EXPECT_LE(found.bytes, 1024u);
}

}  // namespace
}  // namespace neuware_test
