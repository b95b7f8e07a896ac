#include "backends/mlu_emu/neuware/cncc/accesses.h"

#include <string>
#include <string_view>

namespace cncc {
namespace {

bool is_word(std::string_view name) {
  for (const std::string_view prefix :
       {"__bang_", "__memcpy", "__memset_nram", "__nramset", "__sync", "__gdramset", "__sramset", "__load_", "__store_",
        "__gather", "__scatter", "__cn_", "__vv_"}) {
    if (name.substr(0, prefix.size()) == prefix) return name != "__bang_printf";
  }
  return name == "__extension";
}

/// An expression may begin here: what stands before it is no type, and no object it is a member of.
bool begins_expression(const Source& source, std::size_t at) {
  const Token& before = source[at - 1];
  if (before.kind == Kind::kWord) return one_of(before.text, {"return", "else", "do", "case", "co_return"});
  return !one_of(before.text, {".", "->", "::", ">", "&", "~"});
}

/// A "*" or ">" before it is an operator: the statement has begun as none that declares something.
bool is_operand(const Source& source, std::size_t at, std::size_t statement) {
  if (!one_of(source[at - 1].text, {"*", ">"})) return begins_expression(source, at);
  for (std::size_t i = statement; i + 1 < at; ++i) {
    if (one_of(source[i].text, {"=", "(", "return", "+=", "-=", "*=", "/=", "[", "?"})) return true;
  }
  return false;
}

/// What is done to the element before the token at `behind`.
std::string_view access_before(const Source& source, std::size_t behind) {
  const std::string_view t = source[behind].text;
  if (t == "=") return "kStore";
  const bool updates = one_of(t, {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"});
  return updates ? "kUpdate" : "kLoad";
}

}  // namespace

void locate_word(Source& source, std::size_t at) {
  if (at == 0 || !is_word(source[at].text) || !begins_expression(source, at)) return;
  const std::size_t open = source.behind_angle(at + 1, source.size());
  if (!source[open].is("(")) return;
  const std::size_t close = source.closing(open);
  if (close >= source.size() || source[open].replaced || source[close].replaced) return;
  source.tokens[at].before += "(::neuware::at(neuware_unit), ";
  source.tokens[close].behind = ")" + source.tokens[close].behind;
}

void check_subscripts(Source& source, std::size_t at) {
  if (at == 0 || !begins_expression(source, at) || source[at - 1].is("*")) return;
  std::string array(source[at].text);
  const std::string name = array;
  for (std::size_t open = at + 1; source[open].is("[");) {
    const std::size_t close = source.closing(open);
    if (close >= source.size() || close == open + 1 || source[open + 1].replaced || source[close].replaced) return;
    source.tokens[open].behind += "::neuware::index(" + array + ", \"" + name + "\", (";
    source.tokens[close].before = "))" + source.tokens[close].before;
    array += "[0]";
    open = close + 1;
  }
}

void count_access(Source& source, std::size_t at, std::size_t statement) {
  if (at == 0 || !source[at + 1].is("[") || !is_operand(source, at, statement)) return;
  std::size_t brackets = 0, behind = at + 1;
  while (source[behind].is("[")) {
    const std::size_t close = source.closing(behind);
    if (close >= source.size() || close == behind + 1) return;
    behind = close + 1;
    ++brackets;
  }
  if (one_of(source[behind].text, {".", "->", "("})) return;
  const std::size_t close = source.closing(at + 1);
  if (source[at + 2].replaced || source[close].replaced) return;
  source.tokens[at + 1].behind += "::neuware::access<::neuware::Access::" + std::string(access_before(source, behind)) +
                                  ", " + std::to_string(brackets) + ">(" + std::string(source[at].text) + ", (";
  source.tokens[close].before = "))" + source.tokens[close].before;
}

}  // namespace cncc
