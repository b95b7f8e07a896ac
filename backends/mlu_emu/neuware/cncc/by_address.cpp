#include "backends/mlu_emu/neuware/cncc/by_address.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace cncc {
namespace {

bool is_type_word(const Token& t) {
  return one_of(t.text, {"int", "char", "short", "long", "float", "double", "bool", "unsigned", "signed", "half",
                         "auto", "const", "volatile"});
}

/// The type of a parameter [begin, end), without its name and its default; empty for forms that are not taken apart.
std::string type_of(const Source& source, std::size_t begin, std::size_t end) {
  std::size_t last = begin;
  while (last < end && !source[last].is("=")) {
    if (one_of(source[last].text, {"(", "[", ".", "&", "&&"})) return {};
    ++last;
  }
  if (last == begin) return {};
  const Token &name = source[last - 1], &before = source[last - 2];
  const bool named = last - begin > 1 && name.kind == Kind::kWord && !is_type_word(name) && !before.is("::") &&
                     !(before.is("const") && last - begin == 2);
  return source.text(begin, named ? last - 1 : last);
}

/// The types of parameters [begin, end) as a list; false for others.
bool types_of(const Source& source, std::size_t begin, std::size_t end, std::string& types) {
  if (end == begin + 1 && source[begin].is("void")) return true;
  for (const auto& [from, to] : source.split(begin, end)) {
    const std::string type = type_of(source, from, to);
    if (type.empty()) return false;
    types += (types.empty() ? "" : ", ") + type;
  }
  return true;
}

/// In no namespace and no extern "C" { ... }.
bool is_global(const Source& source, std::size_t at) {
  for (std::size_t i = at; i-- > 0;) {
    if (source[i].is("{")) return false;
    if (source[i].is("}") && (i = source.opening(i)) >= source.size()) return false;
  }
  return true;
}

/// A declaration before the definition says what language's name the function at `at` has.
bool is_declared_before(const Source& source, std::size_t at) {
  for (std::size_t i = 0; i < at; ++i) {
    if (source[i].text == source[at].text && source[i + 1].is("(")) return true;
  }
  return false;
}

/// Names without a capital letter may be those of the library of C, whose functions a program means that calls them.
bool has_capital(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

void know_by_address(Source& source, std::size_t open, bool entry) {
  const std::size_t close = source.closing(open), body = close + 1, end = source.closing(body);
  const bool defined = source[body].is("{") && end < source.size();
  if (!defined || source[open - 1].kind != Kind::kWord || !source[open - 2].is("void")) return;
  std::string types;
  if (!types_of(source, open + 1, close, types)) return;
  const std::string name(source[open - 1].text), known = "neuware_known" + std::to_string(end) + "_" + name;
  std::string alias;
  if (entry && is_global(source, open) && !is_declared_before(source, open - 1) && has_capital(name)) {
    alias = "neuware_alias" + std::to_string(end) + "_" + name;
    source.tokens[end].behind +=
        " __attribute__((weak)) void " + alias + "() __asm__(\"" + name + "\"); void " + alias + "() {}";
  }
  source.tokens[end].behind += " [[maybe_unused]] static const bool " + known + " = ::neuware::know(neuware_unit, \"" +
                               name + "\", static_cast<void (*)(" + types + ")>(&" + name + ")" +
                               (alias.empty() ? "" : ", &" + alias) + ");";
}

}  // namespace cncc
