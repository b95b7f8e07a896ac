#include "backends/mlu_emu/neuware/cncc/scalar_cost.h"

#include <string>
#include <string_view>

#include "backends/mlu_emu/neuware/cncc/statement.h"

namespace cncc {
namespace {

// Costs in additions; assumed.
constexpr std::int64_t kDivision = 10, kDivisionByConstant = 2, kFunction = 20;

bool is_function_of_mathematics(std::string_view name) {
  return one_of(name, {"sqrt", "sqrtf", "exp", "expf", "exp2", "exp2f", "log",   "logf",  "log2", "log2f",
                       "pow",  "powf",  "sin", "sinf", "cos",  "cosf",  "tan",   "tanf",  "tanh", "tanhf",
                       "fmod", "fmodf", "erf", "erff", "cbrt", "cbrtf", "rsqrt", "rsqrtf"});
}

std::int64_t cost_of_symbol(const Source& s, std::size_t i) {
  const std::string_view t = s[i].text;
  if (one_of(t, {"/", "%", "/=", "%="})) return s[i + 1].kind == Kind::kNumber ? kDivisionByConstant : kDivision;
  return one_of(t, {"+", "-",  "*",  "<",  ">",  "<=", ">=", "==", "!=", "&&",  "||",  "!",  "~",  "&", "|",
                    "^", "<<", ">>", "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "?", "["})
             ? 1
             : 0;
}

}  // namespace

std::int64_t operations(const Source& s, std::size_t begin, std::size_t end) {
  std::int64_t sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& t = s[i];
    if (t.is("{") && begins_body(s, i)) {
      i = s.closing(i);
    } else if (one_of(t.text, {"for", "while"}) && s[i + 1].is("(")) {
      const std::size_t head = s.closing(i + 1);
      i = s[head + 1].is(";") ? head : behind_statement(s, head + 1) - 1;
    } else if (one_of(t.text, {"if", "else"})) {
      const Branch branch = branch_at(s, i);
      sum += branch.cost;
      i = branch.end - 1;
    } else if (t.kind == Kind::kWord && s[i + 1].is("(")) {
      sum += is_function_of_mathematics(t.text) ? kFunction : t.is("switch") ? 1 : 0;
    } else if (t.kind == Kind::kSymbol) {
      sum += cost_of_symbol(s, i);
    }
  }
  return sum;
}

Branch branch_at(const Source& s, std::size_t i) {
  Branch b;
  b.begin = i + 1;
  if (s[i].is("if")) {
    std::size_t open = i + 1;
    while (open < s.size() && !one_of(s[open].text, {"(", "{", ";"})) ++open;
    b.begin = s[open].is("(") ? s.closing(open) + 1 : open;
    b.cost = 1 + operations(s, open + 1, b.begin - 1);
  }
  const bool next_if = s[i].is("else") && s[b.begin].is("if");
  b.end = next_if ? b.begin : behind_statement(s, b.begin);
  b.single = !next_if && !one_of(s[b.begin].text, {"{", ";", "["});
  return b;
}

bool begins_body(const Source& s, std::size_t open) {
  const Token& before = s[open - 1];
  if (one_of(before.text, {"else", "do", "try"})) return true;
  if (!before.is(")")) return false;
  const std::size_t parameters = s.opening(open - 1);
  return parameters < s.size() && !one_of(s[parameters - 1].text, {"switch", "decltype", "sizeof", "]"});
}

std::string count_of_body(const Source& s, std::size_t open) {
  const std::int64_t count = operations(s, open + 1, s.closing(open));
  return count == 0 ? std::string() : " ::neuware::count_operations(" + std::to_string(count) + ");";
}

}  // namespace cncc
