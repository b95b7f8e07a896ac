#include "bench/output/brief.h"

#include <algorithm>
#include <map>

#include "bench/output/grid.h"

namespace bench {
namespace {

constexpr const char* kAlign = "llrrrrlrrll";

bool emulated(const Row& row) {
  return row.backend.ends_with("_emu");
}

std::string percent(double share) {
  return format("%.0f", share * 100);
}

/// "12 to 34", or one of them where both read the same.
std::string range(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

/// "ok", or how many are what.
std::string verdicts(const std::vector<const Row*>& rows) {
  std::map<std::string, int> counts;
  for (const Row* row : rows) ++counts[verdict_name(row->verdict)];
  if (counts.size() == 1 && counts.begin()->first == "ok") return "ok";
  std::string text;
  for (const auto& [name, number] : counts) {
    text += format("%s%d of %zu %s", text.empty() ? "" : ", ", number, rows.size(), name.c_str());
  }
  return text;
}

/// Least to most of a figure over the rows that have it, with words around; "" when none has.
template <class Figure, class Text>
std::string spread(const std::vector<const Row*>& rows, Figure figure, Text text, const char* before,
                   const char* after) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (const double value = row->measured() ? figure(*row) : 0; value > 0) values.push_back(value);
  }
  if (values.empty()) return "";
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return format("%s%s%s", before, range(text(*least), text(*most)).c_str(), after);
}

std::string backend_text(const std::string& backend, const std::vector<const Row*>& rows) {
  std::string text = backend + " " + verdicts(rows);
  if (emulated(*rows.front())) return text;
  text += spread(
      rows, [](const Row& r) { return r.roof.flops > 0 ? r.share() : 0; }, percent, ", ", " % of the bound");
  return text + spread(
                    rows, [](const Row& r) { return r.peer / r.median(); },
                    [](double ratio) { return format(ratio < 10 ? "%.1f" : "%.0f", ratio); }, ", ",
                    " times as fast as PyTorch");
}

std::vector<std::string> figures(const Row& row) {
  if (!row.measured()) return {"-", "-", "-", "-", "", "-"};
  const double s = row.median();
  const std::string ms = format("%.3f", s * 1e3);
  if (emulated(row)) return {ms, "", "", "", "", ""};  // times of another machine than the one it imitates
  return {ms,
          format("%.2f", row.bytes() / s * 1e-9),
          row.flops > 0 ? format("%.2f", row.flops / s * 1e-9) : "-",
          percent(row.share()),
          row.limit(),
          row.peer > 0 ? format("%.2f", row.peer * 1e3) : "-"};
}

}  // namespace

std::string machine_line(const Roof& roof) {
  return format("%s, %s, %d threads: read %.1f, fill %.1f, copy %.1f GB/s, fma %.0f GFLOP/s", processor_name().c_str(),
                vector_target().c_str(), roof.threads, roof.read * 1e-9, roof.fill * 1e-9, roof.copy * 1e-9,
                roof.flops * 1e-9);
}

std::string family_line(const std::string& family, const std::vector<Row>& rows) {
  std::vector<std::string> backends;  // in the order of the rows
  std::map<std::string, std::vector<const Row*>> own;
  for (const Row& row : rows) {
    if (row.verdict == Verdict::absent) continue;
    if (own[row.backend].empty()) backends.push_back(row.backend);
    own[row.backend].push_back(&row);
  }
  std::string text;
  for (const std::string& backend : backends) {
    text.append(text.empty() ? "" : "; ").append(backend_text(backend, own[backend]));
  }
  return family + ": " + (text.empty() ? "no backend here has it" : text);
}

BriefTable::BriefTable(std::size_t operator_width) : widths_{operator_width, 7, 9, 6, 7, 7, 4, 10, 7, 8, 4} {}

std::string BriefTable::heading() const {
  return "  " + text_line({"operator", "backend", "ms", "GB/s", "GFLOP/s", "% bound", "by", "PyTorch ms", "diff1",
                           "verdict", "case"},
                          widths_, kAlign);
}

std::string BriefTable::line(const Row& row) const {
  std::vector<std::string> cells = {row.op, row.backend};
  for (std::string& cell : figures(row)) cells.push_back(std::move(cell));
  cells.push_back(row.checked ? format("%.1e", row.accuracy.diff1) : "-");
  cells.push_back(row.verdict == Verdict::ok && !row.checked ? "not judged" : verdict_name(row.verdict));
  cells.push_back(row.shape + (row.reduced ? " (reduced)" : "") + (row.reason.empty() ? "" : ": " + row.reason));
  return "  " + text_line(cells, widths_, kAlign);
}

std::string absent_text(const std::vector<Row>& rows) {
  std::map<std::string, int> lacks, asked;
  for (const Row& row : rows) {
    ++asked[row.backend];
    lacks[row.backend] += row.verdict == Verdict::absent;
  }
  std::string text;
  for (const auto& [backend, number] : lacks) {
    if (number > 0) text += format("%s has no kernel of %d of these %d\n", backend.c_str(), number, asked[backend]);
  }
  return text;
}

}  // namespace bench
