#include "backends/mlu_emu/neuware/cncc/statement.h"

#include <stdexcept>

namespace cncc {
namespace {

/// Behind the ":" that ends a case label, or no label of a switch.
std::size_t behind_colon(const Source& s, std::size_t i) {
  for (int questions = 0; i < s.size(); ++i) {
    if (one_of(s[i].text, {"(", "[", "{"})) i = s.closing(i);
    if (s[i].is("?")) ++questions;
    if (s[i].is(":") && questions-- == 0) return i + 1;
  }
  return i;
}

/// Behind attributes and labels.
std::size_t behind_labels(const Source& s, std::size_t i) {
  while (i < s.size()) {
    const bool case_label = s[i].is("case");
    if (s[i].is("[") && s[i + 1].is("[")) {
      i = s.closing(i) + 1;
    } else if (s[i].is("__attribute__")) {
      i = s.closing(i + 1) + 1;
    } else if (case_label || (s[i].kind == Kind::kWord && s[i + 1].is(":"))) {
      i = behind_colon(s, i + (case_label ? 1 : 0));
    } else {
      break;
    }
  }
  return i;
}

std::size_t behind_semicolon(const Source& s, std::size_t i) {
  for (; i < s.size() && !s[i].is(";"); ++i) {
    if (one_of(s[i].text, {"(", "[", "{"})) i = s.closing(i);
  }
  return i + 1;
}

std::size_t behind_handlers(const Source& s, std::size_t i) {
  while (s[i].is("catch")) i = s.closing(s.closing(i + 1) + 1) + 1;
  return i;
}

/// The "(" of a condition: behind `constexpr` and the like.
std::size_t condition(const Source& s, std::size_t i) {
  while (i < s.size() && !one_of(s[i].text, {"(", "{", ";"})) ++i;
  return i;
}

std::size_t behind(const Source& s, std::size_t i, int depth) {
  constexpr int kDeepest = 1000;
  if (depth > kDeepest) throw std::runtime_error("statements are nested too deeply");
  while (i < s.size()) {
    i = behind_labels(s, i);
    if (s[i].is("{")) return s.closing(i) + 1;
    if (s[i].is("try")) return behind_handlers(s, s.closing(i + 1) + 1);
    if (s[i].is("do")) return behind_semicolon(s, behind(s, i + 1, depth + 1));
    if (s[i].is("if")) {
      const std::size_t open = condition(s, i + 1);
      i = behind(s, s[open].is("(") ? s.closing(open) + 1 : open, depth + 1);
      if (!s[i].is("else")) return i;
      ++i;
    } else if (one_of(s[i].text, {"for", "while", "switch"})) {
      i = s.closing(condition(s, i + 1)) + 1;
    } else {
      return behind_semicolon(s, i);
    }
  }
  return i;
}

}  // namespace

std::size_t behind_statement(const Source& source, std::size_t i) {
  return behind(source, i, 0);
}

}  // namespace cncc
