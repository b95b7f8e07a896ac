#include "backends/mlu_emu/neuware/cncc/calls.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace cncc {
namespace {

std::size_t kernel_begin(const Source& source, std::size_t at) {
  std::size_t i = at - 1;
  if (source[i].is(">")) {
    i = source.opening_angle(i);
    if (i >= source.size() || i == 0) throw std::runtime_error("a launch without a kernel's name before <<<");
    --i;
  }
  if (source[i].kind != Kind::kWord) throw std::runtime_error("a launch without a kernel's name before <<<");
  while (i >= 2 && source[i - 1].is("::") && source[i - 2].kind == Kind::kWord) i -= 2;
  if (i >= 1 && source[i - 1].is("::")) --i;
  return i;
}

/// Three ">" in a row at the launch's own depth.
std::size_t configuration_end(const Source& source, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at + 1; i + 2 < source.size(); ++i) {
    if (one_of(source[i].text, {"(", "["})) ++depth;
    if (one_of(source[i].text, {")", "]"})) --depth;
    const bool three = source[i].is(">") && source[i + 1].is(">") && source[i + 2].is(">");
    if (depth == 0 && three && source[i + 1].space.empty() && source[i + 2].space.empty()) return i;
  }
  throw std::runtime_error("a launch whose <<< is not closed by >>>");
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string operands(const Source& source, std::size_t begin, std::size_t end) {
  std::string out;
  for (const auto& [from, to] : source.split(begin, end)) {
    std::size_t i = from;
    std::string name;
    if (source[i].is("[")) {
      name = source[i + 1].text;
      i += 3;
    }
    out += ".operand(\"" + name + "\", " + std::string(source[i].text) + ", " + source.text(i + 1, to) + ")";
  }
  return out;
}

}  // namespace

void rewrite_launch(Source& source, std::size_t at) {
  const std::size_t kernel = kernel_begin(source, at), close = configuration_end(source, at), open = close + 3;
  if (open >= source.size() || !source[open].is("(")) throw std::runtime_error("a launch without arguments behind >>>");
  const std::size_t end = source.closing(open);
  if (end == source.size()) throw std::runtime_error("a launch whose arguments are not closed");
  const auto config = source.split(at + 1, close);
  if (config.size() != 3) throw std::runtime_error("a launch needs <<<dimensions, type, queue>>>");
  const std::string name = source.text(kernel, at);
  for (const auto& [begin, stop] : source.split(open + 1, end)) {
    if (stop == begin + 1 && one_of(source[begin].text, {"__null", "NULL"})) source.replace(begin, "nullptr");
  }
  std::string head = "::neuware::launch(neuware_unit, \"" + escaped(name) + "\", ";
  for (const auto& [begin, stop] : config) head.append("(").append(source.text(begin, stop)).append("), ");
  head += "[=](auto... neuware_argument) { " + name + "(neuware_argument...); }";
  source.replace(kernel, open, head);
  source.replace(open, open + 1 == end ? "" : ", ");
}

void rewrite_assembly(Source& source, std::size_t at) {
  if (at + 2 >= source.size() || !one_of(source[at + 1].text, {"volatile", "__volatile__", "__volatile"})) return;
  if (!source[at + 2].is("(")) return;
  const std::size_t open = at + 2, end = source.closing(open);
  if (end == source.size()) throw std::runtime_error("asm volatile(...) that is not closed");
  std::vector<std::size_t> colons;
  int depth = 0;
  for (std::size_t i = open + 1; i < end; ++i) {
    if (one_of(source[i].text, {"(", "["})) ++depth;
    if (one_of(source[i].text, {")", "]"})) --depth;
    if (depth == 0 && source[i].is(":")) colons.push_back(i);
    if (depth == 0 && source[i].is("::")) colons.insert(colons.end(), {i, i});
  }
  const std::size_t text_end = colons.empty() ? end : colons[0];
  std::string out = "::neuware::Mlisa(" + source.text(open + 1, text_end) + ")";
  for (std::size_t section = 0; section < 2 && section < colons.size(); ++section) {
    const std::size_t begin = std::min(colons[section] + 1, end);
    const std::size_t stop = section + 1 < colons.size() ? colons[section + 1] : end;
    if (begin < stop) out += operands(source, begin, stop);
  }
  source.replace(at, end + 1, out + ".run()");
}

}  // namespace cncc
