#include "test/replay/options.h"

#include <charconv>
#include <stdexcept>

namespace mluops::replay {

const char* const kHelp = R"(usage: mluops_replay FILE.. | --case TEXT [options]
Runs recorded calls (MLUOP_CAPTURE=DIR, mluops.capture) on each backend. Compares the outputs with the recorded ones
(equal, within the tolerance of the dtype, DIFFERS, refused by the backend, left out: data too large to keep) and with
the float64 reference (right, WRONG; - if there is none). A case's text, as MLUOP_VERBOSE=2 prints it, runs on made-up
numbers. Times are the minimum of the calls. Files may come from anybody. Exit status: 0; 1 if an output is wrong or,
without a reference, differs from the recording; 2 if a file cannot be used or takes too long.
  --backend NAME,..  cpu,mlu_emu; plugins of MLUOP_BACKEND_PATH
  --threads N        default: as recorded
  --calls N          3
  --no-reference     compare with the recording only: the reference may take long
  --seconds N        60: per file or case, for all backends and the reference together
  --memory MIB       256: for tensors whose data are not in the file
  --json FILE        the results for programs
  --keep FOLDER      copy the files there as test cases (small ones; test/replay/cases of the source tree has them)
)";

namespace {

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

int number(const std::string& word, const std::string& value) {
  constexpr int kMost = 1'000'000;
  int n = 0;
  const char* const end = value.data() + value.size();
  const auto [last, error] = std::from_chars(value.data(), end, n);
  if (error == std::errc() && last == end && n >= 1 && n <= kMost) return n;
  throw std::invalid_argument(word + ": wanted a number from 1 to " + std::to_string(kMost) + ", got \"" + value +
                              "\"");
}

void set(Options& o, const std::string& word, const std::string& value) {
  if (word == "--backend") {
    o.backends = split(value);
  } else if (word == "--threads") {
    o.threads = number(word, value);
  } else if (word == "--calls") {
    o.calls = number(word, value);
  } else if (word == "--seconds") {
    o.seconds = number(word, value);
  } else if (word == "--memory") {
    o.limits.bytes = static_cast<std::uintmax_t>(number(word, value)) << 20;
  } else if (word == "--case") {
    o.cases.push_back(value);
  } else if (word == "--json") {
    o.json = value;
  } else if (word == "--keep") {
    o.keep = value;
  } else {
    throw std::invalid_argument("unknown option " + word + ": see --help");
  }
}

}  // namespace

Options parse(const std::vector<std::string>& words) {
  Options o;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-reference") {
      o.reference = false;
    } else if (!words[i].starts_with("--")) {
      o.files.push_back(words[i]);
    } else {
      if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " wants a value");
      set(o, words[i], words[i + 1]);
      ++i;
    }
  }
  if (o.files.empty() && o.cases.empty()) throw std::invalid_argument("which files? See --help");
  return o;
}

}  // namespace mluops::replay
