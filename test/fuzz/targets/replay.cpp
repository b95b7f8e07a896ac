// Recordings of every operator's smallest call, with lines, words, numbers and bytes changed: what mluops_replay reads.
// Each is refused with a text, or is a case that runs on both backends and against the reference.
#include "test/replay/replay.h"

#include <algorithm>
#include <sstream>

#include "test/fuzz/hostile.h"
#include "test/fuzz/targets/target.h"

namespace mluops::test {
namespace {

using Lines = std::vector<std::string>;

/// A recording in parts: the lines of its header, and what stands behind "data".
struct File {
  Lines header;
  std::string data;

  std::string text() const {
    std::string all;
    for (const std::string& line : header) all += line + "\n";
    return all + "data\n" + data;
  }
};

std::string dims_word(const std::vector<std::int64_t>& dims) {
  std::string word;
  for (const std::int64_t size : dims) word.append(word.empty() ? "" : "x").append(std::to_string(size));
  return word;
}

/// As common/capture.cpp writes a call: the inputs, the outputs before and after it.
File recorded(Problem& problem, mluOpHandle_t handle) {
  File file = {{"mluops-capture 1", "version 0", "operator " + problem.text().op(),
                "case " + problem.text().text() + " dtype=" + cases::dtype_name(problem.dtype()), "backend cpu",
                "threads 1", "atomics 1", "contract 1", "ms 0.5", "problem 8"},
               "problem!"};
  std::vector<std::string> bytes;
  const auto all = [&](const auto& group, bool output, auto visit) {
    for (const auto& t : group) visit(*t, output);
  };
  const auto note = [&](const Tensor& t, bool output) {
    const std::vector<unsigned char> b = t.bytes();
    file.header.push_back(std::string("tensor ") + (output ? "out " : "in ") + t.name() + " F L " +
                          dims_word(t.dims()) + " 0 " + std::to_string(b.size()) + " data 0");
    bytes.emplace_back(b.begin(), b.end());
  };
  all(problem.inputs, false, note);
  all(problem.outputs, true, note);
  problem.call(handle);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    file.data += bytes[i];
    if (i < problem.inputs.size()) continue;
    const std::vector<unsigned char> after = problem.outputs[i - problem.inputs.size()]->bytes();
    file.data.append(after.begin(), after.end());
  }
  return file;
}

/// The two smallest calls of every operator.
const std::vector<File>& files() {
  static const std::vector<File> all = [] {
    std::vector<File> made;
    const Handle handle("cpu");
    for (const cases::OperatorCases& op : cases::all_operators()) {
      for (const cases::Case& text : cases::cases_of(op, op.smallest)) {
        Problem problem = make_problem(text, op.dtypes.strict.back());
        made.push_back(recorded(problem, handle.get()));
      }
    }
    return made;
  }();
  return all;
}

Lines words_of(const std::string& line) {
  std::istringstream in(line);
  Lines words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string line_of(const Lines& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// In place of a number or a word.
const std::string& any_word(Choices& choices) {
  static const Lines words = {"0",       "1",          "2",          "3",    "5",
                              "8",       "16",         "33",         "-1",   "-7",
                              "0.5",     "-0.5",       "1e8",        "1e30", "nan",
                              "inf",     "2147483648", "4294967297", "1e18", "99999999999999999999",
                              "",        "x",          "1x",         "1x2",  "2x1x3",
                              "4x7+3x3", "in",         "out",        "data", "hash",
                              "half",    "bfloat16",   "double",     "nchw", "extended",
                              "none",    "wild",       "\x1b[2J",    "\xff", "4096"};
  return choices.pick(words);
}

/// A word, or the value of "key=value".
void change_word(std::string& line, Choices& choices) {
  Lines words = words_of(line);
  if (words.empty()) return;
  std::string& word = words[static_cast<std::size_t>(choices.integer(0, std::ssize(words) - 1))];
  const std::size_t equals = word.find('=');
  word.replace(equals == std::string::npos ? 0 : equals + 1, std::string::npos, any_word(choices));
  line = line_of(words);
}

void change_data(std::string& data, Choices& choices) {
  static const std::string numbers[] = {std::string("\0\0\xc0\x7f", 4),     std::string("\0\0\x80\x7f", 4),
                                        std::string("\xff\xff\xff\xff", 4), std::string("\xff\xff\x7f\x7f", 4),
                                        std::string("\0\0\0\x80", 4),       std::string("\0\0\x80\x4b", 4)};
  const std::int64_t elements = std::ssize(data) / 4;
  const std::string& number = choices.pick(numbers);
  const auto at = static_cast<std::size_t>(choices.integer(0, std::max<std::int64_t>(elements - 1, 0))) * 4;
  if (at + 4 <= data.size()) data.replace(at, 4, number);
}

void change(File& file, Choices& choices) {
  const auto at = static_cast<std::size_t>(choices.integer(0, std::ssize(file.header) - 1));
  switch (choices.integer(0, 7)) {
    case 0:
      file.header.erase(file.header.begin() + static_cast<std::ptrdiff_t>(at));
      if (file.header.empty()) file.header.emplace_back();
      return;
    case 1:
      file.header.push_back(file.header[at]);
      return;
    case 2:
      file.data.resize(static_cast<std::size_t>(choices.integer(0, std::ssize(file.data))));
      return;
    case 3:
      return change_data(file.data, choices);
    case 4:
      file.header[at].insert(static_cast<std::size_t>(choices.integer(0, std::ssize(file.header[at]))), 1,
                             static_cast<char>(choices.integer(0, 255)));
      return;
    case 5:
      return change_word(file.header[std::min<std::size_t>(3, file.header.size() - 1)], choices);  // the case
    default:
      return change_word(file.header[at], choices);
  }
}

/// What the description or the reference of a case may cost here.
constexpr replay::Limits kLimits = {.bytes = 1 << 20, .work = 1 << 17};

void replay_one(const std::string& text) {
  try {
    std::istringstream in(text);
    const replay::Recording recording = replay::read_recording(in, text.size());
    replay::RecordedCase made(recording, kLimits);
    for (const char* const backend : {"cpu", "mlu_emu"}) {
      const replay::Outcome outcome = replay::replay(recording, made, backend, 1, 1, true);
      const bool silent = outcome.comparison == replay::Comparison::kRefused && outcome.text.empty();
      require_harmless(silent ? std::string("refused without a text by ") + backend : "", text);
    }
  } catch (const std::exception& refused) {
    require_harmless(*refused.what() == '\0' ? "refused without a text" : "", text);
  }
}

}  // namespace

void fuzz_replay(const std::uint8_t* data, std::size_t size) {
  ByteChoices choices(data, size);
  File file = files()[static_cast<std::size_t>(choices.integer(0, 255)) % files().size()];
  for (std::int64_t i = choices.integer(0, 7); i > 0; --i) change(file, choices);
  replay_one(file.text());
}

}  // namespace mluops::test
