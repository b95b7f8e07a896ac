#include "backends/mlu_emu/neuware/cncc/calls.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace cncc {
namespace {

/// Where the postfix expression that names the kernel begins: `k`, `ns::k<int>`, `object.kernels[i]`, `(*pointer)`.
std::size_t kernel_begin(const Source& source, std::size_t at) {
  const auto wrong = [] { return std::runtime_error("a launch needs a kernel name before <<<"); };
  for (std::size_t i = at; i-- > 0;) {
    if (source[i].is(">")) {
      i = source.opening_angle(i);
      if (i == 0 || i >= source.size()) throw wrong();
      --i;
    }
    while (i < source.size() && one_of(source[i].text, {")", "]"})) {
      const bool parenthesised = source[i].is(")");
      i = source.opening(i);
      if (i == 0 || i >= source.size()) throw wrong();
      const Token& before = source[i - 1];
      if (parenthesised && before.kind != Kind::kWord && !one_of(before.text, {")", "]", ">"})) return i;
      --i;
    }
    if (i >= source.size() || source[i].kind != Kind::kWord) throw wrong();
    if (i >= 1 && source[i - 1].is("template")) --i;
    if (i == 0 || !one_of(source[i - 1].text, {"::", ".", "->"})) return i;
    const bool qualified = i >= 2 && (source[i - 2].kind == Kind::kWord || source[i - 2].is(">"));
    if (source[i - 1].is("::") && (!qualified || one_of(source[i - 2].text, {"return", "else", "do"}))) return i - 1;
    --i;
  }
  throw wrong();
}

/// Three ">" in a row at the launch's own depth.
std::size_t configuration_end(const Source& source, std::size_t at) {
  for (std::size_t i = at + 1; i + 2 < source.size(); ++i) {
    if (one_of(source[i].text, {"(", "[", "{"})) i = source.closing(i);
    const bool three = source[i].is(">") && source[i + 1].is(">") && source[i + 2].is(">");
    if (three && source[i + 1].space.empty() && source[i + 2].space.empty()) return i;
    if (source[i].is(";")) break;
  }
  throw std::runtime_error("a launch whose <<< is not closed by >>>");
}

/// A null pointer or an initialiser in braces has no type of its own: it stands in the kernel's call as it is.
bool untyped(const Source& source, std::size_t begin, std::size_t end) {
  if (source[begin].is("{")) return true;
  return end == begin + 1 && one_of(source[begin].text, {"0", "__null", "NULL"});
}

/// The text of a lambda that calls the kernel, and what it is to be called with.
std::string call_of(const Source& source, const std::string& kernel, std::size_t begin, std::size_t end,
                    std::string* arguments) {
  std::string parameters, call;
  int count = 0;
  for (const auto& [from, to] : source.split(begin, end)) {
    const std::string text = source.text(from, to);
    call += call.empty() ? "" : ", ";
    if (untyped(source, from, to)) {
      call += text;
      continue;
    }
    const bool pack = source[to - 1].is(".");  // "..." behind a pack
    const std::string name = "neuware_argument" + std::to_string(count++);
    parameters += (parameters.empty() ? "" : ", ") + std::string(pack ? "auto... " : "auto ") + name;
    call += name + (pack ? "..." : "");
    *arguments += ", " + text;
  }
  return "[=](" + parameters + ") { " + kernel + "(" + call + "); }";
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

std::size_t rewrite_launch(Source& source, std::size_t at) {
  const std::size_t kernel = kernel_begin(source, at), close = configuration_end(source, at), open = close + 3;
  if (open >= source.size() || !source[open].is("(")) throw std::runtime_error("a launch without arguments behind >>>");
  const std::size_t end = source.closing(open);
  if (end == source.size()) throw std::runtime_error("a launch whose arguments are not closed");
  if (source.split(at + 1, close).size() != 3) {
    throw std::runtime_error("a launch needs <<<dimensions, type, queue>>>");
  }
  const std::string name = source.text(kernel, at);
  std::string arguments;
  const std::string call = call_of(source, name, open + 1, end, &arguments);
  source.replace(kernel, end + 1,
                 "::neuware::launch(neuware_unit, \"" + escaped(name) + "\", " + source.text(at + 1, close) + ", " +
                     call + arguments + ")");
  return end;
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
  source.replace(at, end + 1, "(::neuware::at(neuware_unit), " + out + ".run())");
}

}  // namespace cncc
