#include "backends/mlu_emu/neuware/cncc/place.h"

namespace cncc {

bool is_device(std::string_view word) {
  return one_of(word, {"__mlu_func__", "__mlu_device__", "__mlu_vector__", "__mlu_global__", "__mlu_entry__"});
}

void Place::follow() {
  const std::string_view t = source_[at].text;
  if (t == "(" || t == "[") ++parens_;
  if (t == ")" || t == "]") --parens_;
  if (t == "{") {
    levels_.push_back({scope_, statement_, parens_, device_});
    device_ = device_ || names_device();
    scope_ = scope_of_block();
    parens_ = 0;
    statement_ = at + 1;
  }
  if (t == "}" && !levels_.empty()) {
    scope_ = levels_.back().scope;
    parens_ = levels_.back().parens;
    device_ = levels_.back().device;
    statement_ = parens_ > 0 || statement_goes_on() ? levels_.back().statement : at + 1;
    levels_.pop_back();
  }
  if (t == ";" && parens_ == 0) statement_ = at + 1;
}

/// Behind the "}" at hand: it closed an initialiser of a variable or of a constructor's member.
bool Place::statement_goes_on() const {
  return source_[at + 1].is(",") || (source_[at + 1].is("{") && scope_ != Scope::kCode);
}

bool Place::names_device() const {
  for (std::size_t i = statement_; i < at; ++i) {
    if (is_device(source_[i].text)) return true;
  }
  return false;
}

/// First token of the statement that is not its template <...> head.
std::size_t Place::behind_template(std::size_t i) const {
  while (i < at && source_[i].is("template") && source_[i + 1].is("<")) {
    int depth = 0;
    for (++i; i < at; ++i) {
      if (one_of(source_[i].text, {"(", "[", "{"})) i = source_.closing(i);
      if (source_[i].is("<")) ++depth;
      if (source_[i].is(">") && --depth == 0) break;
    }
    ++i;
  }
  return i;
}

Scope Place::scope_of_block() const {
  if (scope_ == Scope::kCode || levels_.back().parens > 0) {
    return local_class() ? Scope::kClass : Scope::kCode;
  }
  bool names_class = false;
  for (std::size_t i = behind_template(statement_); i < at; ++i) {
    const Token& t = source_[i];
    if (t.is("namespace") || (t.is("extern") && source_[i + 1].kind == Kind::kText)) return Scope::kNamespace;
    if (t.is("__attribute__") || t.is("alignas")) {
      i = source_.closing(i + 1);
      continue;
    }
    if (one_of(t.text, {"class", "struct", "union"})) names_class = true;
    if (one_of(t.text, {"enum", "(", "="})) return Scope::kCode;
  }
  return names_class ? Scope::kClass : Scope::kCode;
}

bool Place::local_class() const {
  for (std::size_t i = statement_; i < at; ++i) {
    if (one_of(source_[i].text, {"(", "=", "return"})) return false;
    if (one_of(source_[i].text, {"class", "struct", "union"})) return true;
  }
  return false;
}

}  // namespace cncc
