#include "bench/output/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace bench {
namespace {

std::vector<std::string> figures(const Row& row) {
  if (!row.measured()) return {"-", "-", "-", "-", "-", "-", "-"};
  const double s = row.median();
  return {format("%.3f", s * 1e3),
          format("%.3f", row.least() * 1e3),
          format("%.3f", row.bound() * 1e3),
          format("%.2f", row.bytes() / s * 1e-9),
          row.flops > 0 ? format("%.2f", row.flops / s * 1e-9) : "-",
          format("%.1f", row.share() * 100),
          row.limit()};
}

std::vector<std::string> accuracy(const Row& row) {
  if (!row.checked) return {"-", "-", "-"};
  return {format("%.1e", row.accuracy.diff1), format("%.1e", row.accuracy.diff2), format("%.1e", row.accuracy.diff3)};
}

std::string verdict(const Row& row) {
  const std::string name = verdict_name(row.verdict);
  if (row.verdict != Verdict::ok) return name + ": " + row.reason;
  if (!row.checked) return "not judged";
  return row.threshold == 0 ? "ok (exact)" : format("ok (%.0e)", row.threshold);
}

const std::vector<std::string> kHeading = {"operator", "case",  "dtype", "backend", "thr",     "ms",
                                           "least",    "bound", "GB/s",  "GFLOP/s", "% bound", "by",
                                           "diff1",    "diff2", "diff3", "verdict"};
const char* const kAlign = "llllrrrrrrrlrrrl";
const char* const kReduced = " (reduced)";

std::vector<std::string> cells_of(const Row& row) {
  std::vector<std::string> cells = {row.op, row.shape + (row.reduced ? kReduced : ""), row.dtype, row.backend,
                                    std::to_string(row.threads)};
  for (std::string& cell : figures(row)) cells.push_back(std::move(cell));
  for (std::string& cell : accuracy(row)) cells.push_back(std::move(cell));
  cells.push_back(verdict(row));
  return cells;
}

}  // namespace

void progress(const std::string& text) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) std::fprintf(stderr, "\r\033[K%.120s", text.c_str());
}

Grid machine_grid(const Machine& machine) {
  Grid grid{processor_name() + ", " + vector_target(),
            {"threads", "read GB/s", "non-temporal fill GB/s", "the same with zeros", "copy GB/s", "fma GFLOP/s"},
            "rrrrrr",
            {},
            ""};
  for (std::size_t i = 0; i < machine.roofs().size(); ++i) {
    std::vector<std::string> cells = {std::to_string(machine.roofs()[i].threads)};
    for (double Roof::*figure : {&Roof::read, &Roof::fill, &Roof::zero, &Roof::copy, &Roof::flops}) {
      double low = 1e30, high = 0;
      for (const Roof& r : machine.samples(i)) low = std::min(low, r.*figure), high = std::max(high, r.*figure);
      cells.push_back(format("%.1f (%.1f..%.1f)", machine.roofs()[i].*figure * 1e-9, low * 1e-9, high * 1e-9));
    }
    grid.add(std::move(cells));
  }
  std::size_t samples = 0;
  for (std::size_t i = 0; i < machine.roofs().size(); ++i) samples += machine.samples(i).size();
  grid.note = format(
      "Upper quartile (least..most) of %zu measurements in this run. The bound of a row comes from the\n"
      "best of those between its own calls. %d of %d looks at the cores between calls found them with less than %.0f "
      "%%\n"
      "of the most multiply-adds of the run: calls beside those count only in rows that have no others.",
      samples, machine.disturbed_looks(), machine.looks(), Machine::kUndisturbed * 100);
  return grid;
}

Grid result_grid(const std::vector<Row>& rows) {
  Grid grid{"", kHeading, kAlign, {}, ""};
  for (const Row& row : rows) grid.add(cells_of(row));
  return grid;
}

LiveTable::LiveTable(std::size_t operator_width, std::size_t case_width)
    : widths_{operator_width, case_width + std::strlen(kReduced), 5, 7, 3, 9, 9, 9, 6, 7, 7, 5, 7, 7, 7, 7} {}

std::string LiveTable::heading() const {
  return text_line(kHeading, widths_, kAlign);
}

std::string LiveTable::line(const Row& row) const {
  return text_line(cells_of(row), widths_, kAlign);
}

std::string again_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    if (row.verdict != Verdict::wrong && row.verdict != Verdict::failed) continue;
    text += format("again: ./run bench --op %s --case '%s' --dtype %s --backend %s --threads %d\n", row.op.c_str(),
                   row.shape.c_str(), row.dtype.c_str(), row.backend.c_str(), row.threads);
  }
  return text;
}

Totals count(const std::vector<Row>& rows) {
  Totals t;
  std::map<std::string, int> ran, has;  // rows of each backend
  for (const Row& row : rows) {
    int* const counters[] = {&t.ok, &t.wrong, &t.failed, &t.declined, &t.absent};
    ++*(row.verdict == Verdict::ok && !row.checked ? &t.not_judged : counters[static_cast<int>(row.verdict)]);
    ran[row.backend] += row.measured();
    has[row.backend] += row.verdict != Verdict::absent;
    t.checked += row.accuracy.checked;
    if (!row.measured() || row.backend != "cpu") continue;
    ++t.measured_cpu;
    t.half_roof += row.share() >= 0.5;
    t.high_roof += row.share() >= 0.8;
  }
  const bool nothing = std::all_of(ran.begin(), ran.end(), [](const auto& of) { return of.second == 0; });
  for (const auto& [backend, count] : ran) {
    if (count == 0 && (nothing || has[backend] > 0)) t.idle_backends.push_back(backend);
  }
  return t;
}

std::string totals_text(const Totals& t) {
  std::string text = format("%d rows: %d ok, %d wrong, %d failed, %d declined",
                            t.ok + t.not_judged + t.wrong + t.failed + t.declined, t.ok, t.wrong, t.failed, t.declined);
  if (t.not_judged > 0) text += format(", %d not judged", t.not_judged);
  text += format("; cpu: %d of %d at >= 50 %% of the bound, %d at >= 80 %%; %.1f million elements compared",
                 t.half_roof, t.measured_cpu, t.high_roof, static_cast<double>(t.checked) * 1e-6);
  for (const std::string& backend : t.idle_backends) text += "; " + backend + " ran nothing";
  if (!t.good()) return text + "\nNOT all verdicts hold\n";
  return text + (t.ok == 0 ? "\nnothing was judged\n" : "\nall verdicts hold\n");
}

}  // namespace bench
