#include "backends/mlu_emu/neuware/cncc/touch.h"

namespace cncc {
namespace {

bool assigns_compound(const Source& source, std::size_t i) {
  for (const std::string_view text : {"+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", ">>=", "++", "--"}) {
    if (is_operator(source, i, text)) return true;
  }
  return source[i].is("<<") && is_operator(source, i + 1, "=") && source[i + 1].space.empty();
}

/// "=" alone or behind another operator, but for those that compare.
bool assigns(const Source& source, std::size_t i) {
  const bool compares = source[i].space.empty() && one_of(source[i - 1].text, {"<", ">", "=", "!"});
  return source[i].is("=") && !compares;
}

/// (c ? [begin, behind) : other) and (c ? other : [begin, behind)) become the whole conditional.
bool climb_conditional(const Source& source, std::size_t& begin, std::size_t& behind) {
  const bool first = source[begin - 1].is("?") && source[behind].is(":");
  if (!first && !(source[begin - 1].is(":") && one_of(source[behind].text, {")", ";", ","}))) return false;
  std::size_t open = begin - 1, close = behind;
  bool conditional = first;
  for (; !assigns(source, open) && !one_of(source[open].text, {"(", "{", "}", ";", ",", "return"}); --open) {
    if (one_of(source[open].text, {")", "]"})) open = source.opening(open);
    if (open == 0 || open >= source.size()) return false;
    conditional |= source[open].is("?");
  }
  while (close < source.size() && !one_of(source[close].text, {")", "}", ";", ","})) {
    close = one_of(source[close].text, {"(", "[", "{"}) ? source.closing(close) + 1 : close + 1;
  }
  if (!conditional) return false;
  begin = open + 1;
  behind = close;
  return true;
}

}  // namespace

bool is_operator(const Source& source, std::size_t i, std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const Token& t = source[i + k];
    if (!t.is(text.substr(k, 1)) || (k > 0 && !t.space.empty())) return false;
  }
  return true;
}

bool closes_head(const Source& source, std::size_t close) {
  const std::size_t open = source[close].is(")") ? source.opening(close) : 0;
  return open > 0 && open < source.size() && one_of(source[open - 1].text, {"if", "for", "while", "switch"});
}

const char* touch_of(const Source& source, std::size_t begin, std::size_t behind) {
  const bool member = source[behind].is(".");
  while (source[behind].is(".") && source[behind + 1].kind == Kind::kWord) behind += 2;
  if (member && source[behind].is("[")) return "kPlace";
  if (source[behind].is("->") || (member && source[behind].is("("))) return "kPart";
  if (source[behind].is("=")) return member ? "kStoredPart" : "kStore";
  const bool prefixed = begin >= 2 && (is_operator(source, begin - 2, "++") || is_operator(source, begin - 2, "--"));
  if (prefixed || assigns_compound(source, behind)) return member ? "kUpdatedPart" : "kUpdate";
  return member ? "kPart" : "kLoad";
}

void climb(const Source& source, std::size_t& begin, std::size_t& behind) {
  while (begin > 1) {
    if (climb_conditional(source, begin, behind)) continue;
    const Token& head = source[begin - 2];
    if (!source[begin - 1].is("(") || !source[behind].is(")")) return;
    if (one_of(head.text, {")", "]", ">"}) && !closes_head(source, begin - 2)) return;
    if (head.kind == Kind::kWord && !head.is("return")) return;
    --begin, ++behind;
  }
}

}  // namespace cncc
