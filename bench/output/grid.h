// Rows of cells, printed as aligned text or as Markdown.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// printf into a string.
std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));

/// One line of cells, each at least as wide as its column. align: one letter per column, l or r.
std::string text_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                      const std::string& align);

struct Grid {
  std::string title;
  std::vector<std::string> heading;
  std::string align;  ///< as of text_line
  std::vector<std::vector<std::string>> rows;
  std::string note;  ///< below the table

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  std::string text() const;
  std::string markdown() const;
};

}  // namespace bench
