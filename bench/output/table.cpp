#include "bench/output/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

namespace bench {
namespace {

std::string figures(const Row& row, const Machine& machine) {
  if (!row.measured()) return format("%10s %7s %8s %7s %-5s", "-", "-", "-", "-", "");
  const Roof& roof = machine.at(row.threads);
  const double s = row.median();
  return format("%10.3f %7.2f %8.2f %6.1f%% %-5s", s * 1e3, row.bytes() / s * 1e-9, row.flops / s * 1e-9,
                row.share(roof) * 100, roof.limit(row.read_bytes, row.write_bytes, row.flops));
}

std::string accuracy(const Row& row) {
  if (!row.checked) return format("%8s %8s %8s", "-", "-", "-");
  return format("%8.1e %8.1e %8.1e", row.accuracy.diff1, row.accuracy.diff2, row.accuracy.diff3);
}

std::string verdict(const Row& row) {
  const std::string name = verdict_name(row.verdict);
  if (row.verdict != Verdict::ok) return name + ": " + row.reason;
  if (!row.checked) return "ran";
  return row.threshold == 0 ? "ok exact" : format("ok <=%.0e", row.threshold);
}

// The command that runs a bad row again.
std::string again(const Row& row) {
  if (row.verdict != Verdict::wrong && row.verdict != Verdict::failed) return "";
  return format("    again: ./run bench --op %s --case '%s' --dtype %s --backend %s --threads %d\n", row.op.c_str(),
                row.shape.c_str(), row.dtype.c_str(), row.backend.c_str(), row.threads);
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

void progress(const std::string& text) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) std::fprintf(stderr, "\r\033[K%.120s", text.c_str());
}

std::string machine_text(const Machine& machine) {
  std::string text = processor_name() + ", " + vector_target() + "\n";
  for (const Roof& r : machine.roofs()) {
    text += format("%3d thread%s  read %6.1f GB/s  non-temporal fill %6.1f GB/s  copy %6.1f GB/s  fma %7.1f GFLOP/s\n",
                   r.threads, r.threads == 1 ? " " : "s", r.read * 1e-9, r.fill * 1e-9, r.copy * 1e-9, r.flops * 1e-9);
  }
  return text;
}

std::string table_text(const std::vector<Row>& rows, const Machine& machine) {
  std::string text =
      format("%-26s %-33s %-5s %-8s %3s %10s %7s %8s %7s %-5s %8s %8s %8s  %s\n", "operator", "case", "dtype",
             "backend", "thr", "ms", "GB/s", "GFLOP/s", "% bound", "by", "diff1", "diff2", "diff3", "verdict");
  for (const Row& row : rows) {
    text +=
        format("%-26s %-33s %-5s %-8s %3d ", row.op.c_str(), (row.shape + (row.reduced ? " (reduced)" : "")).c_str(),
               row.dtype.c_str(), row.backend.c_str(), row.threads);
    text += figures(row, machine) + " " + accuracy(row) + "  " + verdict(row) + "\n" + again(row);
  }
  return text;
}

Totals count(const std::vector<Row>& rows, const Machine& machine) {
  Totals t;
  std::map<std::string, int> ran;
  for (const Row& row : rows) {
    int* const counters[] = {&t.ok, &t.wrong, &t.failed, &t.declined, &t.absent};
    ++*counters[static_cast<int>(row.verdict)];
    ran[row.backend] += row.measured();
    t.checked += row.accuracy.checked;
    if (!row.measured() || row.backend != "cpu") continue;
    ++t.measured_cpu;
    t.half_roof += row.share(machine.at(row.threads)) >= 0.5;
    t.high_roof += row.share(machine.at(row.threads)) >= 0.8;
  }
  for (const auto& [backend, count] : ran) {
    if (count == 0) t.idle_backends.push_back(backend);
  }
  return t;
}

std::string totals_text(const Totals& t) {
  std::string text =
      format("%d rows: %d ok, %d wrong, %d failed, %d declined, %d absent; ",
             t.ok + t.wrong + t.failed + t.declined + t.absent, t.ok, t.wrong, t.failed, t.declined, t.absent);
  text += format("cpu: %d of %d at >= 50 %% of the bound, %d at >= 80 %%; %.1f million elements compared", t.half_roof,
                 t.measured_cpu, t.high_roof, static_cast<double>(t.checked) * 1e-6);
  for (const std::string& backend : t.idle_backends) text += "; " + backend + " ran nothing";
  return text + (t.good() ? "\nall verdicts hold\n" : "\nNOT all verdicts hold\n");
}

}  // namespace bench
