#include "test/replay/keep.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/trust.h"
#include "test/replay/reference.h"

namespace mluops::replay {

std::string keep(const std::string& path, const std::string& folder) {
  constexpr std::uintmax_t kMostBytes = 256 << 10;
  const std::uintmax_t size = std::filesystem::file_size(path);
  if (size > kMostBytes) {
    throw std::runtime_error(path + ": wanted at most 256 KiB for a test case, got " + std::to_string(size >> 10) +
                             " KiB: find a smaller call that shows the same");
  }
  const Recording recording = read_recording(path);
  if (!RecordedCase(recording).complete()) {
    throw std::runtime_error(path + ": wanted the data of all inputs (MLUOP_CAPTURE_BYTES)");
  }
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[24];
  std::snprintf(digits, sizeof digits, "-%08x.mluops", static_cast<unsigned>(hash & 0xffffffff));
  const std::string kept = (std::filesystem::path(folder) / (recording.op + digits)).string();
  std::filesystem::create_directories(folder);
  OutputFile out = OutputFile::made_new(kept);
  out.write(bytes);
  const std::string problem = out.close();
  if (!problem.empty()) throw std::runtime_error(kept + ": cannot be written: " + problem);
  return kept;
}

}  // namespace mluops::replay
