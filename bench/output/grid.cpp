#include "bench/output/grid.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace bench {
namespace {

std::string padded(const std::string& cell, std::size_t width, bool right) {
  const std::string space(width - std::min(width, cell.size()), ' ');
  return right ? space + cell : cell + space;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line.append(" ").append(cell).append(" |");
  return line + "\n";
}

}  // namespace

std::string format(const char* text, ...) {
  std::va_list args, again;
  va_start(args, text);
  va_copy(again, args);
  std::string out(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, text, args)), '\0');
  std::vsnprintf(out.data(), out.size() + 1, text, again);
  va_end(again);
  va_end(args);
  return out;
}

std::string text_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                      const std::string& align) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += padded(cells[i], widths[i], align[i] == 'r');
    line += i + 1 < cells.size() ? "  " : "";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Grid::text() const {
  std::vector<std::size_t> widths;
  for (const std::string& cell : heading) widths.push_back(cell.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out = title.empty() ? "" : title + "\n";
  out += text_line(heading, widths, align);
  for (const auto& row : rows) out += text_line(row, widths, align);
  return note.empty() ? out : out + note + "\n";
}

std::string Grid::markdown() const {
  std::string out = title.empty() ? "" : "### " + title + "\n\n";
  out += markdown_line(heading) + "|";
  for (const char a : align) out += a == 'r' ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : rows) out += markdown_line(row);
  return note.empty() ? out : out + "\n" + note + "\n";
}

}  // namespace bench
