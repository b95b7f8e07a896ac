// mluops_replay FILE..: calls that MLUOP_CAPTURE kept, again.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "test/replay/replay.h"

namespace mluops::replay {
namespace {

constexpr const char* kHelp = R"(usage: mluops_replay FILE.. [--backend NAME,..] [--threads N] [--calls N]
Runs recorded calls (MLUOP_CAPTURE=DIR) on each backend (cpu,mlu_emu; plugins of MLUOP_BACKEND_PATH) and compares the outputs with what
was recorded: equal, within the tolerance of the dtype, DIFFERS, refused (by a backend, with its reason), or left out (data
too large to keep). Times are the least of the calls (3). Exit status: 0, 1 when one differs, 2 when a file cannot be used.
)";

struct Options {
  std::vector<std::string> files, backends = {"cpu", "mlu_emu"};
  int threads = 0, calls = 3;  ///< threads 0: as recorded
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Options parse(const std::vector<std::string>& words) {
  Options o;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      o.files.push_back(word);
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument(word + " wants a value");
    const std::string& value = words[++i];
    if (word == "--backend") {
      o.backends = split(value);
    } else if (word == "--threads") {
      o.threads = std::max(1, std::stoi(value));
    } else if (word == "--calls") {
      o.calls = std::max(1, std::stoi(value));
    } else {
      throw std::invalid_argument("unknown option " + word + ": see --help");
    }
  }
  if (o.files.empty()) throw std::invalid_argument("which files? See --help");
  return o;
}

int run(const Options& o) {
  int differ = 0;
  for (const std::string& path : o.files) {
    const Recording r = read_recording(path);
    std::printf("%s: %s on %s, %.3f ms, %s\n", path.c_str(), r.op.c_str(), r.backend.c_str(), r.ms, r.shapes().c_str());
    for (const std::string& backend : o.backends) {
      const Outcome outcome = replay(r, backend, o.threads > 0 ? o.threads : r.threads, o.calls);
      std::printf("  %-8s %-8s %10.3f ms  %s\n", backend.c_str(), name_of(outcome.comparison), outcome.seconds * 1e3,
                  outcome.text.c_str());
      differ += outcome.comparison == Comparison::kDiffers;
    }
  }
  return differ > 0 ? 1 : 0;
}

}  // namespace
}  // namespace mluops::replay

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    std::fputs(mluops::replay::kHelp, stdout);
    return 0;
  }
  try {
    return mluops::replay::run(mluops::replay::parse(words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mluops_replay: %s\n", error.what());
    return 2;
  }
}
