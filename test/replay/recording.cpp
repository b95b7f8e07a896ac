#include "test/replay/recording.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mluops::replay {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 40;

[[noreturn]] void wrong(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

RecordedTensor tensor_of(const std::string& path, std::istringstream& words, std::size_t problem) {
  RecordedTensor t;
  std::string direction, kept;
  std::size_t bytes = 0;
  words >> direction >> t.name >> t.dtype >> t.layout >> t.dims >> t.offset >> bytes >> kept;
  if (!words || (direction != "in" && direction != "out") || (kept != "data" && kept != "hash")) {
    wrong(path, "a tensor's line is not understood");
  }
  if (bytes > kMostBytes || problem < sizeof(void*) || t.offset > problem - sizeof(void*)) {
    wrong(path, "tensor " + t.name + " lies outside the problem");
  }
  t.output = direction == "out";
  t.kept = kept == "data";
  t.before.resize(bytes);
  return t;
}

void read_header(const std::string& path, std::istream& file, Recording& r) {
  std::string line, key;
  std::getline(file, line);
  if (line != "mluops-capture 1") wrong(path, "wanted a file that starts with \"mluops-capture 1\"");
  while (std::getline(file, line) && line != "data") {
    std::istringstream words(line);
    words >> key;
    int number = 0;
    std::size_t size = 0;
    if (key == "version") words >> r.version;
    if (key == "operator") words >> r.op;
    if (key == "case") std::getline(words >> std::ws, r.text);
    if (key == "backend") words >> r.backend;
    if (key == "threads") words >> r.threads;
    if (key == "ms") words >> r.ms;
    if (key == "atomics" && words >> number) r.atomics = static_cast<mluOpAtomicsMode_t>(number);
    if (key == "contract" && words >> number) r.contract = static_cast<mluOpExtContract_t>(number);
    if (key == "problem" && words >> size && size < 65536) r.problem.resize(size);
    if (key == "tensor") r.tensors.push_back(tensor_of(path, words, r.problem.size()));
  }
  if (line != "data") wrong(path, "its header has no end");
}

void read_bytes(const std::string& path, std::istream& file, std::vector<unsigned char>& bytes) {
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) wrong(path, "it ends too early");
}

}  // namespace

std::string Recording::shapes() const {
  std::string line;
  for (const RecordedTensor& t : tensors) {
    if (!t.output) line.append(line.empty() ? "" : " ").append(t.name).append("=").append(t.dims);
  }
  return line;
}

Recording read_recording(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) wrong(path, "cannot be read");
  Recording r;
  read_header(path, file, r);
  read_bytes(path, file, r.problem);
  for (RecordedTensor& t : r.tensors) {
    if (!t.kept) continue;
    read_bytes(path, file, t.before);
    if (!t.output) continue;
    t.after.resize(t.before.size());
    read_bytes(path, file, t.after);
  }
  return r;
}

}  // namespace mluops::replay
