#include "test/fuzz/targets/counts.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "test/cases/operator.h"

namespace mluops::test {
namespace {

constexpr std::uint64_t kCallsBetweenFiles = 1 << 16;

void write_counts() {
  const char* const path = std::getenv("MLUOP_FUZZ_COUNTS");
  if (path == nullptr) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
  if (file == nullptr) return;
  const auto& operators = cases::all_operators();
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const CallCounts& c = call_counts()[i];
    std::fprintf(file.get(), "%s %llu %llu %llu %llu %llu\n", operators[i].op,
                 static_cast<unsigned long long>(c.computed), static_cast<unsigned long long>(c.refused),
                 static_cast<unsigned long long>(c.raw), static_cast<unsigned long long>(c.giant),
                 static_cast<unsigned long long>(c.giant_touched));
  }
}

}  // namespace

std::vector<CallCounts>& call_counts() {
  static std::vector<CallCounts>& all = *new std::vector<CallCounts>(cases::all_operators().size());  // outlives exit
  return all;
}

void count_call() {
  static std::uint64_t calls = 0;
  if (calls == 0) {
    call_counts();
    std::atexit(write_counts);
  }
  if (++calls % kCallsBetweenFiles == 0) write_counts();
}

}  // namespace mluops::test
