#include "test/support/recorded.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "test/cases/base/element.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kElements = 6;

constexpr std::uint64_t kEmpty = 0xcbf29ce484222325u;

std::uint64_t hash_of(const Tensor& tensor, std::int64_t elements, std::uint64_t hash = kEmpty) {
  const std::vector<unsigned char> bytes = tensor.bytes();
  const std::size_t count = static_cast<std::size_t>(elements) * cases::element_size(tensor.dtype());
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/// Elements of the output that every library defines: of voxel_feats, voxel_coors and voxel_points_count the rows of
/// the voxels there are. The vendor's kernels leave other rows as they prepared them.
std::int64_t defined_elements(const Problem& problem, const Tensor& output) {
  if (!output.name().starts_with("voxel_") || output.name() == "voxel_num" || output.count() == 0)
    return output.count();
  for (const auto& other : problem.outputs) {
    if (other->name() != "voxel_num") continue;
    const auto rows = static_cast<std::int64_t>(other->values()[0]);
    return std::clamp<std::int64_t>(rows, 0, output.dims()[0]) * (output.count() / output.dims()[0]);
  }
  return output.count();
}

/// In equal steps; all of them where there are few.
Values few_of(const Values& all, std::int64_t count) {
  const std::int64_t taken = std::min(count, kElements);
  Values few;
  for (std::int64_t i = 0; i < taken; ++i)
    few.push_back(all[static_cast<std::size_t>((2 * i + 1) * count / (2 * taken))]);
  return few;
}

std::string hexadecimal(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::vector<std::string> fields_of(const std::string& line) {
  const std::string between = " | ";
  std::vector<std::string> fields;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = line.find(between, from)) != std::string::npos; from = at + between.size())
    fields.push_back(line.substr(from, at - from));
  fields.push_back(line.substr(from));
  return fields;
}

RecordedOutput read_output(const std::string& field) {
  std::istringstream in(field);
  RecordedOutput output;
  std::string word;
  in >> output.name >> word;
  output.hash = std::stoull(word, nullptr, 16);
  while (in >> word) output.elements.push_back(std::stod(word));
  return output;
}

}  // namespace

Record record_of(const Problem& problem) {
  Record record = {cases::dtype_name(problem.dtype()), problem.text().text(), kEmpty, {}};
  for (const auto& input : problem.inputs) record.inputs = hash_of(*input, input->count(), record.inputs);
  for (const auto& output : problem.outputs) {
    const std::int64_t count = defined_elements(problem, *output);
    record.outputs.push_back({output->name(), hash_of(*output, count), few_of(output->values(), count)});
  }
  return record;
}

std::string line_of(const Record& record) {
  std::string line = record.dtype + " " + record.text + " | " + hexadecimal(record.inputs);
  for (const RecordedOutput& output : record.outputs) {
    line += " | " + output.name + " " + hexadecimal(output.hash);
    for (const double element : output.elements) {
      char text[32];
      std::snprintf(text, sizeof text, " %.10g", element);
      line += text;
    }
  }
  return line;
}

Record read_record(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  const std::size_t space = line.find(' ');
  if (fields.size() < 3 || space >= fields[0].size()) throw std::invalid_argument("no record: " + line);
  Record record = {fields[0].substr(0, space), fields[0].substr(space + 1), std::stoull(fields[1], nullptr, 16), {}};
  for (std::size_t i = 2; i < fields.size(); ++i) record.outputs.push_back(read_output(fields[i]));
  return record;
}

}  // namespace mluops::test
