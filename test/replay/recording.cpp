#include "test/replay/recording.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mluops::replay {
namespace {

constexpr std::size_t kMostTensors = 64, kMostLetters = 8192;  ///< of a header's line

[[noreturn]] void wrong(const std::string& what) {
  throw std::runtime_error(what);
}

/// A number in digits alone, nothing behind it.
template <class Number>
Number number_of(const std::string& key, const std::string& digits, Number least, Number most) {
  Number number{};
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, number);
  if (error == std::errc() && last == end && number >= least && number <= most) return number;
  wrong(key + ": wanted a number from " + std::to_string(least) + " to " + std::to_string(most) + ", got \"" + digits +
        "\"");
}

template <class Number>
Number number_in(const std::string& key, std::istringstream& words, Number least, Number most) {
  std::string digits;
  words >> digits;
  return number_of(key, digits, least, most);
}

class Header {
 public:
  Header(std::istream& file, std::uintmax_t size) : file_(file), size_(size) {}

  /// Returns the size of the problem, which nobody reads.
  std::uintmax_t read(Recording& r) {
    if (line() != "mluops-capture 1") wrong("wanted a file that starts with \"mluops-capture 1\"");
    for (std::string text = line(); text != "data"; text = line()) {
      std::istringstream words(text);
      std::string key;
      words >> key;
      take(key, words, r);
    }
    return problem_;
  }

 private:
  /// Throws where the file ends, or a line is none of a header.
  std::string line() {
    std::string text;
    for (char c = 0; file_.get(c) && c != '\n'; text += c) {
      if (text.size() == kMostLetters) wrong("a line of its header is longer than " + std::to_string(kMostLetters));
    }
    if (!file_) wrong("its header has no end");
    return text;
  }

  void take(const std::string& key, std::istringstream& words, Recording& r) {
    constexpr int kMostThreads = 4096, kMostOfAnEnum = 255;
    if (key == "version") words >> r.version;
    if (key == "operator") words >> r.op;
    if (key == "case") std::getline(words >> std::ws, r.text);
    if (key == "backend") words >> r.backend;
    if (key == "threads") r.threads = number_in(key, words, 1, kMostThreads);
    if (key == "ms") r.ms = number_in(key, words, 0.0, 1e12);
    if (key == "atomics") r.atomics = static_cast<mluOpAtomicsMode_t>(number_in(key, words, 0, kMostOfAnEnum));
    if (key == "contract") r.contract = static_cast<mluOpExtContract_t>(number_in(key, words, 0, kMostOfAnEnum));
    if (key == "problem") problem_ = number_in(key, words, std::uintmax_t{0}, size_);
    if (key == "tensor") add_tensor(words, r);
  }

  /// A kept one has its bytes in the file, whoever is larger has not.
  static void add_tensor(std::istringstream& words, Recording& r) {
    RecordedTensor t;
    std::string direction, offset, bytes, kept;
    words >> direction >> t.name >> t.dtype >> t.layout >> t.dims >> offset >> bytes >> kept;
    if (!words || (direction != "in" && direction != "out") || (kept != "data" && kept != "hash")) {
      wrong("a tensor's line is not understood");
    }
    if (r.find(t.name) != nullptr) wrong("tensor " + t.name + " is there twice");
    if (r.tensors.size() == kMostTensors)
      wrong("wanted at most " + std::to_string(kMostTensors) + " tensors, got more");
    t.bytes = number_of(t.name + ": bytes", bytes, std::uintmax_t{0}, std::uintmax_t{1} << 46);
    t.output = direction == "out";
    t.kept = kept == "data";
    r.tensors.push_back(std::move(t));
  }

  std::istream& file_;
  std::uintmax_t size_, problem_ = 0;
};

/// No more than are left of the file.
void read_bytes(std::istream& file, std::uintmax_t count, std::uintmax_t& left, std::vector<unsigned char>& bytes) {
  if (count > left) wrong("it ends too early");
  left -= count;
  bytes.resize(count);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) wrong("it ends too early");
}

}  // namespace

const RecordedTensor* Recording::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &RecordedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Recording read_recording(std::istream& file, std::uintmax_t size) {
  Recording r;
  const std::uintmax_t of_problem = Header(file, size).read(r);
  std::uintmax_t left = size;
  std::vector<unsigned char> problem;
  read_bytes(file, of_problem, left, problem);
  for (RecordedTensor& t : r.tensors) {
    if (!t.kept) continue;
    read_bytes(file, t.bytes, left, t.before);
    if (t.output) read_bytes(file, t.bytes, left, t.after);
  }
  return r;
}

Recording read_recording(const std::string& path) {
  try {
    if (!std::filesystem::is_regular_file(path)) wrong("cannot be read: no regular file");
    std::ifstream file(path, std::ios::binary);
    if (!file) wrong("cannot be read");
    return read_recording(file, std::filesystem::file_size(path));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace mluops::replay
