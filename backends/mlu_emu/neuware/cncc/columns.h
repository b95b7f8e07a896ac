// Where the tokens of a rewritten file stand in the author's files: diagnostics of the host's compiler are about the
// rewritten text, and the author reads them beside the text as it was written.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cncc {

/// A token of the author: its offset in the rewritten text and in the preprocessed one, and its length there.
struct Moved {
  std::size_t to, from, length;
  bool replaced;
};

class Columns {
 public:
  /// `moved` is in order.
  Columns(std::string rewritten, std::string preprocessed, std::vector<Moved> moved);

  struct Place {
    std::size_t column;      ///< in bytes, from 1, of the author's line
    std::string_view token;  ///< that stands there
    std::string_view next;   ///< the one that comes behind the column
  };
  /// The author's place for a column of the rewritten line `line` of `file`; nothing for lines without such tokens.
  std::optional<Place> author(const std::string& file, std::size_t line, std::size_t column) const;
  /// The author's place of the token at this offset of the preprocessed text.
  struct Position {
    std::string file;
    std::size_t line, column, length;
  };
  Position position(std::size_t preprocessed) const;
  /// A line of a file of the author, empty if there is none.
  const std::string& text(const std::string& file, std::size_t line) const;

 private:
  struct Region {  // the lines behind a line marker
    std::string file;
    std::size_t line, begin, end;
  };
  static std::vector<Region> regions_of(const std::string& text);
  static std::size_t line_begin(const std::string& text, std::size_t offset);
  std::vector<std::size_t> starts(const std::string& file, std::size_t line) const;
  std::size_t index_at(std::size_t offset, std::size_t begin, std::size_t end) const;
  std::size_t author_column(std::size_t index, std::size_t from, const std::string& line) const;
  std::string_view spelling(std::size_t index) const;

  std::string rewritten_, preprocessed_;
  std::vector<Moved> moved_;
  std::vector<Region> regions_;
  mutable std::map<std::string, std::vector<std::string>> files_;
};

/// How many columns of a terminal the bytes [0, bytes) of a line take, and how many bytes so many columns are: tabs end
/// at multiples of 8.
std::size_t columns_of(std::string_view line, std::size_t bytes);
std::size_t bytes_of(std::string_view line, std::size_t columns);

}  // namespace cncc
