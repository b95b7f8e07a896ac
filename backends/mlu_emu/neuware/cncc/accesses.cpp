#include "backends/mlu_emu/neuware/cncc/accesses.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "backends/mlu_emu/device/scalar_spans.h"
#include "backends/mlu_emu/neuware/cncc/scalar_cost.h"
#include "backends/mlu_emu/neuware/cncc/touch.h"

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

/// A statement begins here: a call needs no parentheses to stand behind a comma, which would make a call of what stands
/// before it where a ";" is missing.
bool begins_statement(const Source& source, std::size_t at) {
  const Token& before = source[at - 1];
  if (before.is("{")) return begins_body(source, at - 1);
  if (before.is(")")) {
    const Token& head = source[source.opening(at - 1) - 1];
    return is_word(head.text) || one_of(head.text, {"if", "for", "while", "switch"});
  }
  return before.kind == Kind::kNumber || one_of(before.text, {";", "}", "]", "else", "do"});
}

/// The statement has begun as none that declares something: a "*" or ">" before `at` is an operator.
bool is_operand(const Source& source, std::size_t at, std::size_t statement) {
  for (std::size_t i = statement; i + 1 < at; ++i) {
    if (one_of(source[i].text, {"=", "(", "return", "+=", "-=", "*=", "/=", "[", "?"})) return true;
  }
  return false;
}

/// The parentheses hold more than a type's name.
bool holds_expression(const Source& source, std::size_t open, std::size_t close) {
  for (std::size_t i = open + 1; i < close; ++i) {
    if (source[i].kind == Kind::kNumber ||
        one_of(source[i].text, {"+", "-", "/", "[", "(", "?", "==", "!=", "&&", "||"}))
      return !source[close - 1].is("*");
  }
  return false;
}

/// The "&" at `at` stands between two operands. It may take an address where it does not.
bool is_binary_and(const Source& source, std::size_t at) {
  const Token& left = source[at - 1];
  if (left.is(")")) return holds_expression(source, source.opening(at - 1), at - 1);
  if (left.kind == Kind::kWord) return !one_of(left.text, {"return", "else", "do", "case", "co_return"});
  return left.kind == Kind::kNumber || left.is("]");
}

/// The address of what begins at `at` is taken.
bool takes_address(const Source& source, std::size_t at) {
  while (at > 1 && source[at - 1].is("(") && one_of(source[at - 2].text, {"(", "&"})) --at;
  return at > 0 && source[at - 1].is("&") && !is_binary_and(source, at - 1);
}

}  // namespace

void locate_word(Source& source, std::size_t at) {
  if (at == 0 || !is_word(source[at].text) || !begins_expression(source, at)) return;
  const std::size_t open = source.behind_angle(at + 1, source.size());
  if (!source[open].is("(")) return;
  const std::size_t close = source.closing(open);
  if (close >= source.size() || source[open].replaced || source[close].replaced) return;
  if (begins_statement(source, at)) {
    source.tokens[at].before += "::neuware::at(neuware_unit), ";
    return;
  }
  source.tokens[at].before += "(::neuware::at(neuware_unit), ";
  source.tokens[close].behind = ")" + source.tokens[close].behind;
}

void check_subscripts(Source& source, std::size_t at) {
  if (at == 0 || one_of(source[at - 1].text, {".", "->", "::"})) return;
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

// ---- parameters ----------------------------------------------------------------------------------------------------

namespace {

bool qualifies(const Token& t) {
  return one_of(t.text, {"const", "volatile", "__restrict__", "__restrict", "restrict"});
}

/// The name of a parameter [begin, end) that is a pointer; `end` for others.
std::size_t pointer_name(const Source& source, std::size_t begin, std::size_t end) {
  std::size_t star = end;
  for (std::size_t i = begin; i < end && !source[i].is("="); ++i) {
    if (source[i].is("*")) star = i;
  }
  std::size_t name = star == end ? end : star + 1;
  while (name < end && qualifies(source[name])) ++name;
  const bool ends = name + 1 == end || source[name + 1].is("=");
  return name < end && ends && source[name].kind == Kind::kWord ? name : end;
}

/// Lines from the token to another one behind it; 0 where the file changes between them.
std::ptrdiff_t lines_between(const Source& source, std::size_t from, std::size_t to) {
  std::ptrdiff_t lines = 0;
  for (std::size_t i = from + 1; i <= to; ++i) {
    const std::string_view space = source[i].space;
    if (space.find('#') != std::string_view::npos) return 0;
    lines += std::count(space.begin(), space.end(), '\n');
  }
  return lines;
}

}  // namespace

void name_parameters(Source& source, std::size_t open) {
  const std::size_t close = source.closing(open), body = close + 1;
  if (body >= source.size() || !source[body].is("{")) return;
  for (const auto& [begin, end] : source.split(open + 1, close)) {
    const std::size_t name = pointer_name(source, begin, end);
    if (name == end) continue;
    const std::string text(source[name].text);
    source.tokens[body].behind += "::neuware::parameter(\"" + text + "\", " + text + ", " +
                                  std::to_string(lines_between(source, name, body)) + ");";
  }
}

// ---- pointers ------------------------------------------------------------------------------------------------------

namespace {

/// A keyword that no type's name can be.
bool is_statement_word(const Token& t) {
  return one_of(t.text, {"return", "else", "do", "case", "co_return", "throw", "sizeof", "delete", "goto"});
}

/// A declarator whose name is between these tokens: T &name, T (&name)[n] or T (*name)[n]. It may be an array's.
bool names_reference(const Source& source, std::size_t before, std::size_t behind) {
  if (one_of(source[before].text, {"&", "*"}) && source[before - 1].is("(")) {
    return source[behind].is(")") && source[behind + 1].is("[");
  }
  if (!one_of(source[before].text, {"&", "&&"}) || !one_of(source[behind].text, {",", ")", "="})) return false;
  const Token& type = source[before - 1];
  return type.is(">") || (type.kind == Kind::kWord && !is_statement_word(type));
}

/// What stands in parentheses behind such a word is no condition and no type to convert to.
bool heads_declaration(const Token& word) {
  return one_of(word.text, {"decltype", "typeof", "__typeof__", "alignas", "__attribute__"});
}

}  // namespace

Pointers::Pointers(Source& source, const Place& place, const OnChip& on_chip)
    : source_(source), place_(place), on_chip_(on_chip), references_(source) {
  for (std::size_t i = 2; i < source.size(); ++i) {
    if (!source[i].user || source[i].kind != Kind::kWord || qualifies(source[i])) continue;
    packed_ |= one_of(source[i].text, {"packed", "__packed__"});
    std::size_t before = i - 1;
    while (before > 0 && qualifies(source[before])) --before;
    const bool initialised = source[i + 1].is("=");
    if (source[before].is("auto") && initialised) names_.emplace(source[i].text);
    if (names_reference(source, before, i + 1)) names_.emplace(source[i].text);
    if (!source[before].is("*") || !one_of(source[i + 1].text, {",", ")", "=", ";", "[", "{"})) continue;
    while (before > 0 && (source[before].is("*") || qualifies(source[before]))) --before;
    const Token& type = source[before];
    const bool names_type = type.kind == Kind::kWord && !is_statement_word(type);
    if (names_type || one_of(type.text, {">", "const", ","})) names_.emplace(source[i].text);
  }
}

/// What the expression [begin, behind) is for, as the arguments of a template. A reference to it is no access yet; what
/// is exchanged is loaded and stored.
std::string Pointers::touch_at(std::size_t begin, std::size_t behind) {
  const bool inner = source_[behind].is("[");
  if (!inner) climb(source_, begin, behind);
  const bool exchanged = one_of(source_[begin - 1].text, {"(", ","}) && one_of(source_[behind].text, {",", ")"}) &&
                         source_[source_.enclosing(begin) - 1].is("swap");
  const char* touch = inner                              ? "kLoad"
                      : references_.binds(begin, behind) ? "kPlace"
                      : exchanged                        ? "kUpdate"
                                                         : touch_of(source_, begin, behind);
  return std::string("<::neuware::Touch::") + touch + ", " +
         std::to_string(slots_++ % mluops::emu::ScalarSpans::kSlots) + ">(";
}

bool Pointers::declares(std::size_t at) const {
  if (place_.scope() != Scope::kCode) return true;
  if (one_of(source_[place_.statement()].text, {"using", "typedef", "static_assert", "template"})) return true;
  while (at > 1 && source_[at - 1].is("*")) --at;
  if (at < 2 || !source_[at - 1].is(",")) return false;
  walk_found_ = follows_declarator(at - 2);
  walked_from_ = at - 2;
  return walk_found_;
}

/// Back from `i`, which is before a ",", to where the list begins, or to where the last walk over the list began.
bool Pointers::follows_declarator(std::size_t i) const {
  for (; i > 0 && i != walked_from_; --i) {
    if (one_of(source_[i].text, {")", "]", "}"})) {
      if ((i = source_.opening(i)) >= source_.size()) return true;
      continue;
    }
    if (one_of(source_[i].text, {";", "{"})) return true;
    if (one_of(source_[i].text, {"(", "["})) return source_[i - 1].is("for");
  }
  return i == 0 || walk_found_;
}

/// The "*" stands between two factors: before it is no type.
bool Pointers::multiplies(std::size_t at) const {
  const Token& left = source_[at - 1];
  if (left.kind == Kind::kNumber || one_of(left.text, {"]"})) return true;
  if (left.is(")")) return !heads_declaration(source_[source_.opening(at - 1) - 1]);
  if (left.kind != Kind::kWord || is_statement_word(left) || qualifies(left)) return false;
  return one_of(source_[at - 2].text,
                {"=", "+", "-", "*", "/", "%", "?", "[", "return", "<", "<<", "==", "!=", "<=", ">=", "&&", "||", "."});
}

/// The value of the expression at `begin` is used: that is no declarator, and its address is not taken.
bool Pointers::is_used(std::size_t begin) const {
  const Token& before = source_[begin - 1];
  if (before.kind == Kind::kWord) return one_of(before.text, {"return", "else", "do", "case", "co_return"});
  if (one_of(before.text, {".", "->", "::"}) || takes_address(source_, begin)) return false;
  if (before.is(")")) {
    const std::size_t open = source_.opening(begin - 1);
    if (closes_head(source_, begin - 1)) return true;
    return open > 0 && source_[begin].kind == Kind::kWord && !heads_declaration(source_[open - 1]);
  }
  const bool goes_on = is_operand(source_, begin, place_.statement());
  if (before.is(">")) return goes_on;
  const std::string_view name = source_[begin].text;
  const bool on_chip = on_chip_.names_array(name) || on_chip_.names_scalar(name);
  return !before.is("*") || multiplies(begin - 1) || applies_star(begin - 1) || (on_chip && goes_on);
}

bool Pointers::subscript(std::size_t at) {
  if (references_.is_indexed_for_reference(source_[at].text) && !on_chip_.names_array(source_[at].text)) return false;
  std::size_t begin = at;
  while (begin >= 2 && one_of(source_[begin - 1].text, {".", "->"}) && source_[begin - 2].kind == Kind::kWord)
    begin -= 2;
  const std::size_t open = at + 1, close = source_.closing(open);
  if (begin == 0 || close >= source_.size() || close == open + 1 || declares(begin) || !is_used(begin)) return false;
  if (source_[open + 1].replaced || source_[close].replaced) return false;
  std::string base;  // names and members alone: how they are used is no matter of their address
  for (std::size_t i = begin; i < open; ++i) {
    base += source_[i].replaced ? source_[i].replacement : std::string(source_[i].spelling);
  }
  source_.tokens[open].behind +=
      "::neuware::element" + touch_at(begin, close + 1) + base + ", \"" + std::string(source_[at].text) + "\", (";
  source_.tokens[close].before = "))" + source_.tokens[close].before;
  watched_ = open;
  return true;
}

bool Pointers::applies_star(std::size_t at) const {
  const Token& left = source_[at - 1];
  if (left.is(")")) {
    const std::size_t open = source_.opening(at - 1);
    return open > 0 && open < source_.size() && one_of(source_[open - 1].text, {"if", "while", "for"});
  }
  return one_of(left.text, {"(", ",", ";", "{", "}", "=", "==", "!=", "<=", "<",      "<<",   "+",
                            "-", "/", "%", "?", ":", "[", "!",  "&&", "||", "return", "else", "do"});
}

/// Where the expression begins whose last token is at `last`: names, calls, subscripts and members in a row. `last + 1`
/// for what may be none.
std::size_t Pointers::begin_of(std::size_t last) const {
  const std::size_t none = last + 1;
  std::size_t i = last;
  while (true) {
    while (source_[i].is("]")) {
      const std::size_t open = source_.opening(i);
      if (open == 0 || open >= source_.size()) return none;
      i = open - 1;
    }
    if (source_[i].is(")")) {
      const std::size_t open = source_.opening(i);
      if (open == 0 || open >= source_.size()) return none;
      const Token& callee = source_[open - 1];
      const bool angle = callee.is(">") && source_.opening_angle(open - 1) < source_.size();
      if (callee.kind == Kind::kWord && !is_statement_word(callee)) {
        if (one_of(callee.text, {"if", "while", "for", "switch", "decltype", "alignas"})) return none;
        if (one_of(source_[open + 1].text, {"*", "&"})) return none;  // T (*name)[n]
        i = open - 1;
      } else if (angle) {
        i = source_.opening_angle(open - 1) - 1;
      } else {
        const bool goes_on = one_of(callee.text, {"]", ")"}) && !closes_head(source_, open - 1);
        return goes_on ? none : open;
      }
    }
    if (source_[i].kind != Kind::kWord || i < 2) return none;
    if (!one_of(source_[i - 1].text, {".", "->", "::"})) return i;
    i -= 2;
  }
}

/// Any other expression before a "[": a conversion's, a call's or a member's.
void Pointers::subscript_of_expression(std::size_t open) {
  if (open < 2 || open == watched_) return;
  if (!one_of(source_[open - 1].text, {")", "]"})) {
    const bool member = source_[open - 1].kind == Kind::kWord && one_of(source_[open - 2].text, {".", "->"});
    const bool object = references_.is_indexed_for_reference(source_[open - 1].text);
    if (!object && (!member || packed_)) return;  // nothing can refer to a packed class's array
  }
  const std::size_t close = source_.closing(open), begin = begin_of(open - 1);
  if (close >= source_.size() || close == open + 1 || begin >= open || begin == 0) return;
  if (declares(begin) || source_[begin].replaced || source_[open - 1].replaced || !is_used(begin)) return;
  source_.tokens[begin].before = "::neuware::elements" + touch_at(begin, close + 1) + source_.tokens[begin].before;
  const bool name = begin + 1 == open && source_[begin].kind == Kind::kWord;
  source_.tokens[open - 1].behind += name ? ", \"" + std::string(source_[begin].text) + "\")" : ")";
}

/// The last token of a conversion to a pointer that begins at `first`, with what is converted; 0 for none.
std::size_t Pointers::end_of_conversion(std::size_t first) const {
  std::size_t last = 0;
  if (one_of(source_[first].text, {"reinterpret_cast", "static_cast", "const_cast"})) {
    last = source_.closing(source_.behind_angle(first + 1, source_.size()));
  } else if (source_[first].is("(")) {
    const std::size_t close = source_.closing(first);
    if (close >= source_.size() || !source_[close - 1].is("*")) return 0;
    const bool operand = source_[close + 1].kind == Kind::kWord || source_[close + 1].is("(");
    last = !operand ? 0 : source_[close + 1].is("(") ? source_.closing(close + 1) : close + 1;
  }
  while (last != 0 && last < source_.size()) {
    const Token& next = source_[last + 1];
    if (one_of(next.text, {"(", "["})) {
      last = source_.closing(last + 1);
    } else if (one_of(next.text, {".", "->"}) && source_[last + 2].kind == Kind::kWord) {
      last += 2;
    } else if (is_operator(source_, last + 1, "++") || is_operator(source_, last + 1, "--")) {
      last += 2;
    } else {
      return last;
    }
  }
  return 0;
}

void Pointers::dereference(std::size_t at) {
  if (at == 0 || declares(at) || !applies_star(at)) return;
  const std::size_t first = at + 1;
  if (const std::size_t end = end_of_conversion(first); end != 0) return point(at, first, end, end + 1);
  std::size_t last = first;
  const auto points = [&](std::size_t i) { return names(i) || on_chip_.names_array(source_[i].text); };
  bool known = points(first);
  if (source_[first].is("(")) {
    last = source_.closing(first);
    for (std::size_t i = first + 1; i < last && last < source_.size(); ++i) known |= points(i);
    if (!known || last >= source_.size() || source_.split(first + 1, last).size() != 1) return;
  } else if (is_operator(source_, first + 1, "++") || is_operator(source_, first + 1, "--")) {
    last += 2;
  }
  std::size_t behind = last + 1;
  const Token& next = source_[behind];
  // Behind a type in parentheses stands what is converted; behind a function's name its arguments.
  if (!known || next.kind != Kind::kSymbol || one_of(next.text, {"(", "[", ".", "->", "::", "{", "&", "*", "~", "!"}))
    return;
  point(at, first, last, behind);
}

/// The "*" at `at` is applied to [first, last].
void Pointers::point(std::size_t at, std::size_t first, std::size_t last, std::size_t behind) {
  if (takes_address(source_, at)) return;
  const bool enclosed = source_[behind].is(")") && source_[at - 1].is("(");
  if (enclosed && one_of(source_[behind + 1].text, {"(", "[", ".", "->"})) return;
  source_.tokens[first].before += "::neuware::pointee" + touch_at(at, behind);
  source_.tokens[last].behind = ")" + source_.tokens[last].behind;
}

// ---- on-chip objects that are no arrays ----------------------------------------------------------------------------

namespace {

/// What stands in parentheses behind such a word is a value: no argument of a function.
bool takes_value(const Token& word) {
  return is_word(word.text) || is_statement_word(word) ||
         one_of(word.text, {"if", "while", "for", "switch", "int", "float", "half", "bool", "double", "unsigned",
                            "long", "short", "char", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t"});
}

/// The "[" at `open` stands behind what it indexes: it begins no list of a lambda's captures and names no parts.
bool indexes(const Source& source, std::size_t open) {
  const Token& before = source[open - 1];
  const bool name = before.kind == Kind::kWord && !is_statement_word(before) && !before.is("auto");
  return name || one_of(before.text, {")", "]"});
}

}  // namespace

/// The bracket of the statement that encloses what is at `at`; 0 for none.
std::size_t Pointers::holder(std::size_t at) const {
  for (std::size_t i = at; i-- > place_.statement();) {
    if (one_of(source_[i].text, {")", "]", "}"})) {
      i = source_.opening(i);
      if (i >= source_.size()) return 0;
    } else if (one_of(source_[i].text, {"(", "[", "{"})) {
      return i;
    } else if (source_[i].is(";")) {
      return 0;
    }
  }
  return 0;
}

/// T &name, T *name, T<U> name: a variable of its own, in the statement or in the head of a loop or a lambda.
bool Pointers::declares_another(std::size_t at, std::size_t open) const {
  if (!one_of(source_[at - 1].text, {"*", "&", "&&", ">"})) return false;
  if (!is_operand(source_, at, place_.statement())) return true;
  if (open == 0 || !source_[open].is("(")) return false;
  const Token& head = source_[open - 1];
  return head.is("]") || (head.is("for") && one_of(source_[at + 1].text, {":", "="}));
}

/// The name is handed on whole where a reference to the object may be made: that is no access yet.
bool Pointers::binds(std::size_t at, std::size_t open) const {
  if (source_[at - 1].is("=") && at > 3 && one_of(source_[at - 3].text, {"&", "&&"})) return true;
  const bool whole = one_of(source_[at - 1].text, {"(", ","}) && one_of(source_[at + 1].text, {")", ","});
  if (!whole || open == 0 || !source_[open].is("(")) return false;
  const Token& head = source_[open - 1];
  if (head.kind == Kind::kWord) return !takes_value(head);
  if (!head.is(">")) return head.is("]");
  const std::size_t angle = source_.opening_angle(open - 1);
  return angle >= source_.size() || source_[angle - 1].text.find("_cast") == std::string_view::npos;
}

void Pointers::scalar(std::size_t at) {
  if (at < 2 || one_of(source_[at + 1].text, {"[", "(", "{", ".", "->", "::"}) || declares(at) || !is_used(at)) return;
  const std::size_t open = holder(at);
  if (open != 0 && source_[open].is("[") && !indexes(source_, open)) return;
  if (declares_another(at, open) || binds(at, open)) return;
  enclose_object(at, at, at + 1);
}

void Pointers::enclose_object(std::size_t begin, std::size_t last, std::size_t behind) {
  source_.tokens[begin].before = "::neuware::object" + touch_at(begin, behind) + source_.tokens[begin].before;
  source_.tokens[last].behind += ")";
}

void Pointers::reference(std::size_t at) {
  if (one_of(source_[at + 1].text, {"[", "(", "{", "->", "::", "..."}) || declares(at) || !is_used(at)) return;
  const std::size_t open = holder(at);
  if (open != 0 && source_[open].is("[") && !indexes(source_, open)) return;
  if (open != 0 && heads_declaration(source_[open - 1])) return;
  if (declares_another(at, open) || references_.binds(at, at + 1)) return;
  enclose_object(at, at, at + 1);
}

void Pointers::call(std::size_t at) {
  const std::string_view name = source_[at].text;
  if (!references_.returns(name) && !references_.is_called_for_reference(name)) return;
  const std::size_t close = source_.closing(source_.behind_angle(at + 1, source_.size()));
  if (close >= source_.size() || source_[close + 1].is("[")) return;
  const std::size_t begin = begin_of(close);
  if (begin >= close || begin == 0 || source_[begin].replaced || declares(begin) || !is_used(begin)) return;
  if (!references_.binds(begin, close + 1)) enclose_object(begin, close, close + 1);
}

}  // namespace cncc
