// A preprocessed file as tokens that can be replaced one by one: whitespace and lines stay, so diagnostics, debuggers
// and coverage keep the user's file and line.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/columns.h"

namespace cncc {

enum class Kind { kWord, kNumber, kText, kSymbol };

struct Token {
  Kind kind;
  std::string_view text;      // of a digraph what it stands for
  std::string_view spelling;  // as the file has it
  std::string_view space;     // whitespace and line markers before it
  bool user;                  // not from a system header
  bool replaced = false;
  std::string replacement;
  std::string block;           // begins a block here, before what stands round the token
  std::string before, behind;  // put round the token, replaced or not

  bool is(std::string_view t) const { return text == t; }
};

bool one_of(std::string_view t, std::initializer_list<std::string_view> list);
/// Bytes of the white space of Unicode that a text begins with, or 0. The vendor's compiler takes it for white space.
std::size_t unicode_space(std::string_view text);
bool has_unicode_space(std::string_view text);

class Source {
 public:
  explicit Source(std::string text);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::vector<Token> tokens;

  std::size_t size() const { return tokens.size(); }
  /// Before the first and behind the last token: one without text, so that rewriting may look round in any file.
  const Token& operator[](std::size_t i) const;
  /// The tokens [begin, end), as far as there are any, as one line of text, with the replacements made so far, but
  /// without what stands round them.
  std::string text(std::size_t begin, std::size_t end) const;
  void replace(std::size_t i, std::string with);
  /// Replaces [begin, end), as far as there are tokens, by one text; the lines between them stay.
  void replace(std::size_t begin, std::size_t end, std::string with);
  /// Puts the tokens [begin, end) into a block that begins with `head`.
  void enclose(std::size_t begin, std::size_t end, const std::string& head);
  /// The place of a token in the preprocessed text.
  std::size_t offset(std::size_t i) const { return static_cast<std::size_t>(tokens[i].spelling.data() - text_.data()); }
  /// The text with all replacements; `moved` gets where the tokens of the user's files went.
  std::string str(std::vector<Moved>* moved = nullptr) const;

  /// Index of the token that closes the bracket at `open`, or size().
  std::size_t closing(std::size_t open) const;
  /// Index of the bracket that the one at `close` closes, or size().
  std::size_t opening(std::size_t close) const;
  /// Index of the bracket that encloses the token at `at`, or size().
  std::size_t enclosing(std::size_t at) const { return at < size() ? enclosing_[at] : size(); }
  /// Index of the "<" that the ">" at `close` closes, or size(); looks at most a statement back.
  std::size_t opening_angle(std::size_t close) const;
  /// Index behind the ">" of the template arguments that begin at `open`, or `open` when those are none.
  std::size_t behind_angle(std::size_t open, std::size_t end) const;
  /// The parts of [begin, end) between its commas, as [begin, end) each; none of an empty list.
  std::vector<std::pair<std::size_t, std::size_t>> split(std::size_t begin, std::size_t end) const;

 private:
  void match_brackets();

  std::string text_;
  std::string_view tail_;
  std::vector<std::size_t> partner_;    // of each bracket the one that belongs to it, size() where there is none
  std::vector<std::size_t> enclosing_;  // of each token the bracket round it
};

}  // namespace cncc
