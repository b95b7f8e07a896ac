#include "backends/mlu_emu/neuware/cncc/references.h"

#include <algorithm>

#include "backends/mlu_emu/neuware/cncc/statement.h"

namespace cncc {
namespace {

bool heads_statement(const Token& t) {
  return one_of(t.text,
                {"if", "for", "while", "switch", "catch", "constexpr", "return", "sizeof", "else", "do", "case"});
}

/// What stands before a "&" or "*" of a declarator may be a type.
bool ends_type(const Token& t) {
  return t.is(">") || (t.kind == Kind::kWord && !heads_statement(t));
}

}  // namespace

References::References(const Source& source) : s_(source) {
  for (std::size_t i = 1; i + 1 < s_.size(); ++i) {
    if (!s_[i].user || !one_of(s_[i].text, {"&", "&&"})) continue;
    const bool in_list = s_[i - 1].is(",") && s_[i + 2].is("=") && !s_[i + 3].is("=");  // T &a = x, &b = y;
    if (!in_list && !ends_type(s_[i - 1])) continue;
    std::size_t name = i + 1;
    while (s_[name].kind == Kind::kWord && s_[name + 1].is("::")) name += 2;
    if (s_[name].kind == Kind::kWord) declarator(name);
  }
  objects();
}

/// T &name: a function's or a variable's.
void References::declarator(std::size_t name) {
  if (s_[name].is("operator")) {
    const std::size_t close = name + 2;
    if (one_of(s_[name + 1].text, {"[", "("}) && s_[close + 1].is("(")) function(name, close + 1);
    return;
  }
  const Token& next = s_[name + 1];
  if (next.is("(")) return function(name, name + 1);
  const std::size_t open = s_.enclosing(name);
  const bool in_parentheses = open < s_.size() && s_[open].is("(");
  if (next.is(":") && in_parentheses && s_[open - 1].is("for")) {
    const std::size_t body = s_.closing(open) + 1;
    names_[s_[name].text].emplace_back(body, behind_statement(s_, body));
  } else if (in_parentheses && one_of(next.text, {",", ")", "="})) {
    parameter(name, open);
  } else if (next.is("=") && open < s_.size() && s_[open].is("{")) {
    initialisers_.insert(name + 2);
    names_[s_[name].text].emplace_back(name + 2, s_.closing(open));
  }
}

/// The "{" of the body behind a list of parameters; size() for none.
std::size_t References::body_behind(std::size_t close) const {
  for (std::size_t i = close + 1; i < s_.size(); ++i) {
    if (s_[i].is("{")) return i;
    const bool goes_on = s_[i].kind == Kind::kWord || one_of(s_[i].text, {"->", "::", "<", ">", "&", "*"});
    if (!goes_on || heads_statement(s_[i])) break;
  }
  return s_.size();
}

/// The commas between a bracket and `at` that part its arguments; at most `most`, so that long lists are not counted.
std::size_t References::position(std::size_t open, std::size_t at, std::size_t most) const {
  std::size_t n = 0;
  for (std::size_t i = open + 1; i < at && n < most; ++i) {
    if (const std::size_t behind = s_.behind_angle(i, at); behind != i) i = behind;
    if (one_of(s_[i].text, {"(", "[", "{"})) i = s_.closing(i);
    n += s_[i].is(",");
  }
  return n;
}

/// The argument at `at`, of those behind `open`, is one that such a function takes by reference.
bool References::takes(std::string_view function, std::size_t open, std::size_t at) const {
  const auto found = taking_.find(function);
  if (found == taking_.end()) return false;
  const std::set<std::size_t>& places = found->second;
  return places.count(position(open, at, *places.rbegin() + 1)) != 0;
}

void References::parameter(std::size_t name, std::size_t open) {
  const std::size_t body = body_behind(s_.closing(open));
  if (body >= s_.size() || heads_statement(s_[open - 1])) return;
  names_[s_[name].text].emplace_back(body, s_.closing(body));
  std::string_view function = s_[open - 1].text;
  if (s_[open - 1].is("]")) {  // auto function = [](T &name) {
    const std::size_t captures = s_.opening(open - 1);
    if (captures < 2 || captures >= s_.size() || !s_[captures - 1].is("=")) return;
    function = s_[captures - 2].text;
  }
  taking_[function].insert(position(open, name));
}

void References::function(std::size_t name, std::size_t open) {
  const std::size_t body = body_behind(s_.closing(open));
  if (body >= s_.size()) return;
  returning_bodies_.insert(body);
  const bool is_operator = s_[name].is("operator");
  if (!is_operator) returning_.insert(s_[name].text);
  if (!is_operator) return;
  returning_.insert(s_[name + 1].is("[") ? "operator[]" : "operator()");
  for (std::size_t i = s_.enclosing(name); i > 0 && i < s_.size() && !one_of(s_[i].text, {";", "}"}); --i) {
    if (one_of(s_[i].text, {"struct", "class", "union"})) return void(classes_.insert(s_[i + 1].text));
  }
}

/// Behind the initialiser that may stand at `i`.
std::size_t References::behind_initialiser(std::size_t i) const {
  if (one_of(s_[i].text, {"{", "("})) return s_.closing(i) + 1;
  while (i < s_.size() && !one_of(s_[i].text, {",", ";", ")", "}"})) {
    i = one_of(s_[i].text, {"(", "[", "{"}) ? s_.closing(i) + 1 : i + 1;
  }
  return i;
}

/// Class name, Class<T> &name, Class name{x}, other; and what is declared by auto.
void References::objects() {
  if (returning_.count("operator[]") == 0 && returning_.count("operator()") == 0) return;
  for (std::size_t i = 0; i + 1 < s_.size(); ++i) {
    if (!s_[i].user || (classes_.count(s_[i].text) == 0 && !s_[i].is("auto"))) continue;
    std::size_t name = s_.behind_angle(i + 1, s_.size());
    while (one_of(s_[name].text, {"&", "const", "&&"})) ++name;
    if (s_[name].kind != Kind::kWord) continue;
    (s_[i].is("auto") ? autos_ : objects_).insert(s_[name].text);
    std::size_t at = behind_initialiser(name + 1);
    while (s_[at].is(",") && s_[at + 1].kind == Kind::kWord && s_[at + 2].kind == Kind::kSymbol) {
      objects_.insert(s_[at + 1].text);
      at = behind_initialiser(at + 2);
    }
  }
}

bool References::names(std::size_t at) const {
  const auto found = names_.find(s_[at].text);
  if (found == names_.end() || one_of(s_[at - 1].text, {".", "->", "::"})) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [=](const auto& range) { return range.first <= at && at < range.second; });
}

bool References::is_returned_by_reference(std::size_t at) const {
  for (std::size_t i = s_.enclosing(at); i < s_.size(); i = s_.enclosing(i)) {
    if (returning_bodies_.count(i) != 0) return true;
    const bool lambda = s_[i].is("{") && s_[i - 1].is(")") && s_[s_.opening(i - 1) - 1].is("]");
    if (lambda) return false;
  }
  return false;
}

bool References::binds(std::size_t begin, std::size_t behind) const {
  const Token& before = s_[begin - 1];
  if (before.is("return")) return s_[behind].is(";") && is_returned_by_reference(begin);
  if (before.is("=")) return one_of(s_[behind].text, {";", ","}) && initialisers_.count(begin) != 0;
  if (!one_of(before.text, {"(", ","}) || !one_of(s_[behind].text, {")", ","})) return false;
  const std::size_t open = s_.enclosing(begin);
  if (open >= s_.size() || !s_[open].is("(")) return false;
  const bool angle = s_[open - 1].is(">") && s_.opening_angle(open - 1) < s_.size();
  const std::size_t head = angle ? s_.opening_angle(open - 1) - 1 : open - 1;
  return takes(s_[head].text, open, begin);
}

}  // namespace cncc
