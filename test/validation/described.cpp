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

const std::map<std::string, mluOpDataType_t> kDtypes = {{"HALF", MLUOP_DTYPE_HALF},     {"FLOAT", MLUOP_DTYPE_FLOAT},
                                                        {"DOUBLE", MLUOP_DTYPE_DOUBLE}, {"INT8", MLUOP_DTYPE_INT8},
                                                        {"INT32", MLUOP_DTYPE_INT32},   {"INT64", MLUOP_DTYPE_INT64}};
const std::map<std::string, mluOpTensorLayout_t> kLayouts = {{"NCHW", MLUOP_LAYOUT_NCHW},
                                                             {"NHWC", MLUOP_LAYOUT_NHWC},
                                                             {"HWCN", MLUOP_LAYOUT_HWCN},
                                                             {"NTC", MLUOP_LAYOUT_NTC},
                                                             {"NDHWC", MLUOP_LAYOUT_NDHWC}};

/// A word of a change: x.axis, x[place] or x; one of + = : @ # ! ~; a value.
bool parse(const std::string& word, std::smatch& parts) {
  static const std::regex form(R"((\w+)(?:\.(\d+)|\[(\d+)\])?([+=:@#!~])(.*))");
  return std::regex_match(word, parts, form);
}

void change_number(Arg& a, std::size_t place, double value) {
  const auto integer = static_cast<std::int32_t>(a.dtype == MLUOP_DTYPE_INT32 ? value : 0);
  const auto number = static_cast<float>(value);
  const void* const bytes = a.dtype == MLUOP_DTYPE_INT32 ? static_cast<const void*>(&integer) : &number;
  std::memcpy(a.data.data() + place * sizeof number, bytes, sizeof number);
}

Dims sizes(const std::string& listed) {
  Dims dims;
  std::istringstream text(listed);
  for (std::string size; std::getline(text, size, ',');) dims.push_back(std::stoll(size));
  return dims;
}

void change_tensor(Arg& a, const std::smatch& parts) {
  const std::string value = parts[5];
  if (parts[3].matched) return change_number(a, std::stoul(parts[3]), std::stod(value));
  if (parts[4] == ":") a.dtype = kDtypes.at(value);
  if (parts[4] == "@") a.layout = kLayouts.at(value);
  if (parts[4] == "#") a.dims = sizes(value);
  if (parts[4] == "!") (value == "data" ? a.no_data : a.no_desc) = true;
  if (parts[4] == "~") add_gaps(a);
  if (!parts[2].matched) return;
  std::int64_t& size = a.dims.at(std::stoul(parts[2]));
  size = (parts[4] == "+" ? size : 0) + std::stoll(value);
}

void change(OpCall& call, const std::string& word) {
  std::smatch parts;
  if (word == "EXTENDED") {
    call.contract = MLUOP_EXT_CONTRACT_EXTENDED;
  } else if (word == "WORKSPACE") {
    call.missing_workspace = 16;
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

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

}  // namespace

std::function<void(OpCall&)> changes(const std::string& words) {
  return [listed = words_of(words)](OpCall& call) {
    for (const std::string& word : listed) change(call, word);
  };
}

std::vector<Wrong> described(const OpCall& base) {
  std::vector<Wrong> table;
  for (const Line& line : kLines) {
    if (base.function != line.function || !applies(base, words_of(line.changes))) continue;
    table.push_back({line.changes, changes(line.changes), line.status, with_sizes(base, line.text)});
  }
  return table;
}

}  // namespace mluops::test
