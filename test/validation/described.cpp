#include "test/validation/described.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace mluops::test {
namespace {

struct Line {
  const char *function, *changes;
  mluOpStatus_t status;
  const char* text;
};

constexpr Line kLines[] = {
#define MLUOPS_WRONG(function, changes, status, text) {#function, changes, MLUOP_STATUS_##status, text},
#include "test/validation/described.inc"
};

const std::map<std::string, mluOpDataType_t> kDtypes = {
    {"HALF", MLUOP_DTYPE_HALF}, {"DOUBLE", MLUOP_DTYPE_DOUBLE}, {"INT64", MLUOP_DTYPE_INT64}};
const std::map<std::string, mluOpTensorLayout_t> kLayouts = {{"NCHW", MLUOP_LAYOUT_NCHW}, {"NHWC", MLUOP_LAYOUT_NHWC}};

/// A word of a change: x.axis, x[0] or x; one of + = : @ ~; a value.
bool parse(const std::string& word, std::smatch& parts) {
  static const std::regex form(R"((\w+)(?:\.(\d+)|(\[0\]))?([+=:@~])(.*))");
  return std::regex_match(word, parts, form);
}

void change_number(Arg& a, float value) {
  std::memcpy(a.data.data(), &value, sizeof value);
}

void change_tensor(Arg& a, const std::smatch& parts) {
  const std::string value = parts[5];
  if (parts[3].matched) return change_number(a, std::stof(value));
  if (parts[4] == ":") a.dtype = kDtypes.at(value);
  if (parts[4] == "@") a.layout = kLayouts.at(value);
  if (parts[4] == "~") add_gaps(a);
  if (!parts[2].matched) return;
  std::int64_t& size = a.dims.at(std::stoul(parts[2]));
  size = (parts[4] == "+" ? size : 0) + std::stoll(value);
}

void change(OpCall& call, const std::string& word) {
  std::smatch parts;
  if (word == "EXTENDED") {
    call.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  } else if (parse(word, parts) && parts[4] == "=" && !parts[2].matched && !parts[3].matched) {
    call.set(parts[1], std::stod(parts[5]));
  } else {
    change_tensor(call.arg(parts[1]), parts);
  }
}

/// Whether the call has the tensors of a line, and they have strides that tell.
bool applies(const OpCall& base, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    std::smatch parts;
    if (!parse(word, parts) || (parts[4] == "=" && !parts[2].matched && !parts[3].matched)) return true;
    const auto a = std::find_if(base.args.begin(), base.args.end(), [&](const Arg& x) { return x.name == parts[1]; });
    if (a == base.args.end()) return false;
    return parts[4] != "~" || std::any_of(a->dims.begin(), a->dims.end(), [](std::int64_t size) { return size != 1; });
  });
}

/// A text with the sizes that the call has.
std::string with_sizes(OpCall base, std::string text) {
  static const std::regex form(R"(\{(\w+)\.(\d+)\})");
  for (std::smatch size; std::regex_search(text, size, form);) {
    const std::int64_t is = base.arg(size[1]).dims.at(std::stoul(size[2]));
    text = size.prefix().str() + std::to_string(is) + size.suffix().str();
  }
  return text;
}

}  // namespace

std::vector<Wrong> described(const OpCall& base) {
  std::vector<Wrong> table;
  for (const Line& line : kLines) {
    std::istringstream stream(line.changes);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream),
                                         std::istream_iterator<std::string>()};
    if (base.function != line.function || !applies(base, words)) continue;
    const auto all = [words](OpCall& c) {
      for (const std::string& word : words) change(c, word);
    };
    table.push_back({line.changes, all, line.status, with_sizes(base, line.text)});
  }
  return table;
}

}  // namespace mluops::test
