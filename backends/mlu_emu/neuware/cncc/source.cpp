#include "backends/mlu_emu/neuware/cncc/source.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace cncc {

std::size_t unicode_space(std::string_view text) {
  for (const std::string_view space : {"\u00a0", "\u202f", "\u205f", "\u3000"}) {
    if (text.substr(0, space.size()) == space) return space.size();
  }
  const bool general = text.size() > 2 && text.substr(0, 2) == "\xe2\x80";
  const auto last = general ? static_cast<unsigned char>(text[2]) : 0;
  return last >= 0x80 && last <= 0x8a ? 3 : 0;  // of fixed widths
}

bool has_unicode_space(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0x80) != 0 && unicode_space(text.substr(i)) != 0) return true;
  }
  return false;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool continues_word(char c) {
  return starts_word(c) || is_digit(c);
}

/// Cuts a preprocessed text into tokens; white space of Unicode in it becomes spaces.
class Scanner {
 public:
  explicit Scanner(std::string& text) : text_(text) {}

  bool next(Token& token) {
    const std::size_t before = at_;
    skip_space();
    token.space = part(before, at_ - before);
    token.user = user_;
    if (at_ == text_.size()) return false;
    const std::size_t begin = at_;
    token.kind = scan();
    token.text = token.spelling = part(begin, at_ - begin);
    if (token.kind == Kind::kSymbol) token.text = without_digraph(token.text);
    after_operator_ = token.text == "operator";
    line_start_ = false;
    return true;
  }

 private:
  std::string_view part(std::size_t begin, std::size_t size = std::string_view::npos) const {
    return std::string_view(text_).substr(begin, size);
  }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        line_start_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_[at_] == '#' && line_start_) {
        directive();
      } else if (const std::size_t bytes = unicode_space(part(at_)); bytes != 0) {
        text_.replace(at_, bytes, bytes, ' ');
      } else {
        return;
      }
    }
  }

  /// A line marker says which file follows; 3 among its flags: a system header. Pragmas stay as they are.
  void directive() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = part(at_, end - at_);
    const std::size_t quote = line.rfind('"');
    const bool marker = line.size() > 2 && is_digit(line[2]);
    if (marker && quote != std::string_view::npos) user_ = line.find('3', quote) == std::string_view::npos;
    at_ = end;
  }

  Kind scan() {
    const char c = peek();
    if (starts_word(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return quoted(c);
    return symbol();
  }

  Kind word() {
    const std::size_t begin = at_;
    while (continues_word(peek()) && unicode_space(part(at_)) == 0) ++at_;
    const std::string_view prefix = part(begin, at_ - begin);
    const bool literal = peek() == '"' || peek() == '\'';
    if (literal && (prefix == "R" || prefix == "LR" || prefix == "u8R" || prefix == "uR" || prefix == "UR"))
      return raw();
    if (literal && (prefix == "L" || prefix == "u8" || prefix == "u" || prefix == "U")) return quoted(peek());
    return Kind::kWord;
  }

  Kind number() {
    while (
        continues_word(peek()) || peek() == '.' || (peek() == '\'' && continues_word(peek(1))) ||
        ((peek() == '+' || peek() == '-') && std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos)) {
      ++at_;
    }
    return Kind::kNumber;
  }

  Kind quoted(char quote) {
    for (++at_; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    return Kind::kText;
  }

  Kind raw() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return quoted('"');
    std::string end(")");
    end.append(part(at_ + 1, open - at_ - 1)).append("\"");
    const std::size_t close = text_.find(end, open);
    at_ = close == std::string_view::npos ? text_.size() : close + end.size();
    return Kind::kText;
  }

  static std::string_view without_digraph(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> kDigraphs[] = {
        {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}};
    for (const auto& [digraph, symbol] : kDigraphs) {
      if (text == digraph) return symbol;
    }
    return text;
  }

  Kind symbol() {
    // Only what the rewriting looks at is kept together; ">" stays single because it may close template arguments.
    const std::string_view rest = part(at_);
    const bool angle_then_scope = rest.substr(0, 3) == "<::" && peek(3) != ':' && peek(3) != '>';
    for (const std::string_view s : {"<<<", "::", "->", "<<", "<=", "==", "!=", "&&", "||", "<%", "%>", "<:", ":>"}) {
      if (rest.substr(0, s.size()) != s || (s == "<:" && angle_then_scope)) continue;
      if (s == "<<<" && after_operator_) continue;  // operator<< <T>
      return at_ += s.size(), Kind::kSymbol;
    }
    return ++at_, Kind::kSymbol;
  }

  std::string& text_;
  std::size_t at_ = 0;
  bool user_ = true, line_start_ = true, after_operator_ = false;
};

bool opens(const Token& t) {
  return t.is("(") || t.is("[") || t.is("{");
}
bool closes(const Token& t) {
  return t.is(")") || t.is("]") || t.is("}");
}

std::string only_lines(std::string_view space) {
  return std::string(space.find('\n') == std::string_view::npos ? std::string_view() : space);
}

}  // namespace

Source::Source(std::string text) : text_(std::move(text)) {
  Scanner scanner(text_);
  Token token;
  while (scanner.next(token)) tokens.push_back(token);
  tail_ = token.space;
  match_brackets();
}

void Source::match_brackets() {
  partner_.assign(size(), size());
  enclosing_.assign(size(), size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!open.empty()) enclosing_[i] = open.back();
    if (opens(tokens[i])) open.push_back(i);
    if (!closes(tokens[i]) || open.empty()) continue;
    partner_[i] = open.back();
    partner_[open.back()] = i;
    open.pop_back();
  }
}

const Token& Source::operator[](std::size_t i) const {
  static const Token none{Kind::kSymbol, {}, {}, {}, false, false, {}, {}, {}, {}};
  return i < tokens.size() ? tokens[i] : none;
}

std::string Source::text(std::size_t begin, std::size_t end) const {
  std::string out;
  for (std::size_t i = begin; i < std::min(end, size()); ++i) {
    if (!out.empty() && !tokens[i].space.empty()) out += ' ';
    if (i != begin) out += tokens[i].before;
    out += tokens[i].replaced ? tokens[i].replacement : std::string(tokens[i].spelling);
    if (i + 1 != end) out += tokens[i].behind;
  }
  return out;
}

void Source::replace(std::size_t i, std::string with) {
  if (i >= size()) return;
  tokens[i].replaced = true;
  tokens[i].replacement = std::move(with);
}

void Source::replace(std::size_t begin, std::size_t end, std::string with) {
  for (std::size_t i = begin; i < std::min(end, size()); ++i) {
    replace(i, {});
    if (i != begin && only_lines(tokens[i].space).empty()) tokens[i].space = {};
  }
  replace(begin, std::move(with));
}

void Source::enclose(std::size_t begin, std::size_t end, const std::string& head) {
  if (begin >= end || end > size()) return;
  tokens[begin].block = "{ " + head + tokens[begin].block;
  tokens[end - 1].behind += " }";
}

std::string Source::str(std::vector<Moved>* moved) const {
  std::string out;
  out.reserve(text_.size() + text_.size() / 8);
  for (std::size_t i = 0; i < size(); ++i) {
    const Token& t = tokens[i];
    out += t.space;
    out += t.block + t.before;
    if (moved != nullptr && t.user) moved->push_back({out.size(), offset(i), t.spelling.size(), t.replaced});
    out += t.replaced ? std::string_view(t.replacement) : t.spelling;
    out += t.behind;
  }
  out += tail_;
  return out;
}

std::size_t Source::closing(std::size_t open) const {
  while (open < size() && !opens(tokens[open])) {
    if (closes(tokens[open++])) return size();
  }
  return open < size() ? partner_[open] : size();
}

std::size_t Source::opening(std::size_t close) const {
  return close < size() && closes(tokens[close]) ? partner_[close] : size();
}

std::size_t Source::opening_angle(std::size_t close) const {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (one_of(tokens[i].text, {")", "]", "}"}) && (i = opening(i)) == size()) break;
    const std::string_view t = tokens[i].text;
    if (t == ";") break;
    if (t == ">") ++depth;
    if (t == "<" && --depth == 0) return i;
  }
  return size();
}

bool one_of(std::string_view t, std::initializer_list<std::string_view> list) {
  for (const std::string_view s : list) {
    if (t == s) return true;
  }
  return false;
}

std::size_t Source::behind_angle(std::size_t open, std::size_t end) const {
  if (!(*this)[open].is("<") || open == 0 || (*this)[open - 1].kind != Kind::kWord) return open;
  int depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    if (one_of((*this)[i].text, {"(", "[", "{"})) i = closing(i);
    if (one_of((*this)[i].text, {";", "&&", "||"})) return open;
    if ((*this)[i].is("<")) ++depth;
    if (!(*this)[i].is(">") || --depth != 0) continue;
    return one_of((*this)[i + 1].text, {"(", "{", "::", ",", ")"}) || i + 1 == end ? i + 1 : open;
  }
  return open;
}

std::vector<std::pair<std::size_t, std::size_t>> Source::split(std::size_t begin, std::size_t end) const {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  if (begin == end) return parts;
  std::size_t from = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (one_of((*this)[i].text, {"(", "[", "{"})) i = closing(i);
    if (const std::size_t behind = behind_angle(i, end); behind != i) i = behind - 1;
    if ((*this)[i].is(",")) {
      parts.emplace_back(from, i);
      from = i + 1;
    }
  }
  parts.emplace_back(from, end);
  return parts;
}

}  // namespace cncc
