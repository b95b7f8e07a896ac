#include "test/replay/recording.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mluops::replay {
namespace {

[[noreturn]] void wrong(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

RecordedTensor tensor_of(const std::string& path, std::istringstream& words) {
  RecordedTensor t;
  std::string direction, offset, kept;
  words >> direction >> t.name >> t.dtype >> t.layout >> t.dims >> offset >> t.bytes >> kept;
  if (!words || (direction != "in" && direction != "out") || (kept != "data" && kept != "hash")) {
    wrong(path, "a tensor's line is not understood");
  }
  t.output = direction == "out";
  t.kept = kept == "data";
  return t;
}

/// Returns the size of the problem, which nobody reads.
std::uintmax_t read_header(const std::string& path, std::istream& file, Recording& r) {
  std::string line, key;
  std::uintmax_t problem = 0;
  std::getline(file, line);
  if (line != "mluops-capture 1") wrong(path, "wanted a file that starts with \"mluops-capture 1\"");
  while (std::getline(file, line) && line != "data") {
    std::istringstream words(line);
    words >> key;
    int number = 0;
    if (key == "version") words >> r.version;
    if (key == "operator") words >> r.op;
    if (key == "case") std::getline(words >> std::ws, r.text);
    if (key == "backend") words >> r.backend;
    if (key == "threads") words >> r.threads;
    if (key == "ms") words >> r.ms;
    if (key == "atomics" && words >> number) r.atomics = static_cast<mluOpAtomicsMode_t>(number);
    if (key == "contract" && words >> number) r.contract = static_cast<mluOpExtContract_t>(number);
    if (key == "problem") words >> problem;
    if (key == "tensor") r.tensors.push_back(tensor_of(path, words));
  }
  if (line != "data") wrong(path, "its header has no end");
  return problem;
}

/// Asks for no more memory than the file has bytes.
void read_bytes(const std::string& path, std::istream& file, std::uintmax_t count, std::vector<unsigned char>& bytes) {
  if (count > std::filesystem::file_size(path)) wrong(path, "it ends too early");
  bytes.resize(count);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) wrong(path, "it ends too early");
}

}  // namespace

const RecordedTensor* Recording::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &RecordedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Recording read_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) wrong(path, "cannot be read");
  Recording r;
  std::vector<unsigned char> problem;
  read_bytes(path, file, read_header(path, file, r), problem);
  for (RecordedTensor& t : r.tensors) {
    if (!t.kept) continue;
    read_bytes(path, file, t.bytes, t.before);
    if (t.output) read_bytes(path, file, t.bytes, t.after);
  }
  return r;
}

}  // namespace mluops::replay
