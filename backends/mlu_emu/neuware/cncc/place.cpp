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
    look();
    const Scope inside = scope_of_block();
    levels_.push_back({scope_, statement_, parens_, device_, seen_});
    device_ = device_ || seen_.device;
    scope_ = inside;
    parens_ = 0;
    statement_ = at + 1;
  }
  if (t == "}" && !levels_.empty()) {
    scope_ = levels_.back().scope;
    parens_ = levels_.back().parens;
    device_ = levels_.back().device;
    statement_ = parens_ > 0 || statement_goes_on() ? levels_.back().statement : at + 1;
    seen_ = levels_.back().seen;
    levels_.pop_back();
  }
  if (t == ";" && parens_ == 0) statement_ = at + 1;
}

/// Behind the "}" at hand: it closed an initialiser of a variable or of a constructor's member.
bool Place::statement_goes_on() const {
  return source_[at + 1].is(",") || (source_[at + 1].is("{") && scope_ != Scope::kCode);
}

void Place::look() {
  if (seen_.statement != statement_) seen_ = Seen{}, seen_.statement = seen_.behind = statement_;
  for (; seen_.behind < at; ++seen_.behind) {
    const std::string_view t = source_[seen_.behind].text;
    seen_.device = seen_.device || is_device(t);
    seen_.decided = seen_.decided || one_of(t, {"(", "=", "return"});
    seen_.names_class = seen_.names_class || (!seen_.decided && one_of(t, {"class", "struct", "union"}));
  }
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

Scope Place::scope_of_block() {
  if (scope_ == Scope::kCode || parens_ > 0) return seen_.names_class ? Scope::kClass : Scope::kCode;
  if (seen_.next < statement_) seen_.next = behind_template(statement_);
  for (std::size_t& i = seen_.next; i < at && !seen_.scope; ++i) {
    const Token& t = source_[i];
    if (t.is("namespace") || (t.is("extern") && source_[i + 1].kind == Kind::kText)) seen_.scope = Scope::kNamespace;
    if (one_of(t.text, {"class", "struct", "union"})) seen_.heads_class = true;
    if (one_of(t.text, {"enum", "(", "="})) seen_.scope = Scope::kCode;
    if (t.is("__attribute__") || t.is("alignas")) i = source_.closing(i + 1);
  }
  return seen_.scope.value_or(seen_.heads_class ? Scope::kClass : Scope::kCode);
}

}  // namespace cncc
