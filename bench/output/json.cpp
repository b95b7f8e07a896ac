#include "bench/output/json.h"

#include <fstream>
#include <stdexcept>
#include <utility>

#include "bench/engine/cases.h"
#include "bench/output/limits.h"
#include "bench/output/table.h"
#include "page/page.h"

namespace bench {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string roof_json(const Roof& r) {
  return format(
      "{\"threads\": %d, \"read\": %.6g, \"fill\": %.6g, \"zero_fill\": %.6g, \"copy\": %.6g, \"flops\": %.6g}",
      r.threads, r.read, r.fill, r.zero, r.copy, r.flops);
}

std::string figures_json(const Row& row) {
  std::string text = format(", \"read_bytes\": %.0f, \"write_bytes\": %.0f, \"flops\": %.0f", row.read_bytes,
                            row.write_bytes, row.flops);
  if (row.measured()) {
    text += format(", \"calls\": %zu, \"median_ms\": %.6g, \"min_ms\": %.6g, \"bound_ms\": %.6g, \"share\": %.4g",
                   row.seconds.size(), row.median() * 1e3, row.least() * 1e3, row.bound() * 1e3, row.share());
    text += ", \"limit\": " + quoted(row.limit());
  }
  if (row.floor > 0) {
    text += format(", \"line_bytes\": %.0f, \"floor_ms\": %.6g", row.line_bytes, row.floor * 1e3);
    text += ", \"limited_by\": " + quoted(limited_by(row));
  }
  if (row.peer > 0) text += format(", \"peer_ms\": %.6g", row.peer * 1e3);
  if (row.warm > 0) text += format(", \"warm_ms\": %.6g", row.warm * 1e3);
  if (!row.checked || !row.accuracy.finite) return text;
  return text + format(", \"diff1\": %.6g, \"diff2\": %.6g, \"diff3\": %.6g, \"checked\": %lld", row.accuracy.diff1,
                       row.accuracy.diff2, row.accuracy.diff3, static_cast<long long>(row.accuracy.checked));
}

std::string row_json(const Row& row) {
  std::string text = "{\"operator\": " + quoted(row.op) + ", \"family\": " + quoted(find_operator(row.op).family) +
                     ", \"case\": " + quoted(row.shape) + ", \"dtype\": " + quoted(row.dtype) +
                     ", \"backend\": " + quoted(row.backend);
  text += format(", \"threads\": %d, \"reduced\": %s", row.threads, row.reduced ? "true" : "false");
  text += figures_json(row) + ", \"verdict\": " + quoted(verdict_name(row.verdict));
  return text + ", \"reason\": " + quoted(row.reason) + "}";
}

std::string growth_json(const GrowthRow& row) {
  std::string text = "{\"operator\": " + quoted(row.op) + ", \"parameter\": " + quoted(row.parameter) + ", \"ms\": [";
  const char* separator = "";
  for (const double seconds : row.seconds) text += std::exchange(separator, ", ") + format("%.6g", seconds * 1e3);
  return text + format("], \"exponent\": %.4g, \"of_work\": %.4g, \"linear\": %s}", row.exponent, row.of_work,
                       row.linear() ? "true" : "false");
}

/// "machine": ..., "rows": ...
std::string members(const std::vector<Row>& rows, const Machine& machine) {
  std::string text = "\"machine\": {\"processor\": " + quoted(processor_name()) +
                     ", \"vectors\": " + quoted(vector_target()) + ", \"roofs\": [";
  const char* separator = "\n  ";
  for (const Roof& r : machine.roofs()) text += std::exchange(separator, ",\n  ") + roof_json(r);
  text += "]},\n\"rows\": [";
  separator = "\n  ";
  for (const Row& row : rows) text += std::exchange(separator, ",\n  ") + row_json(row);
  return text + "\n]";
}

}  // namespace

std::string json_text(const std::vector<Row>& rows, const Machine& machine) {
  std::string text = "{";
  return text.append(members(rows, machine)).append("}\n");
}

std::string page_text(const std::vector<Row>& rows, const Machine& machine, const std::vector<GrowthRow>& growth) {
  std::string text = "{\"kind\": \"bench\", " + members(rows, machine) + ",\n\"growth\": [";
  const char* separator = "\n  ";
  for (const GrowthRow& row : growth) text += std::exchange(separator, ",\n  ") + growth_json(row);
  return mluops::page::html("mluop-host bench: " + processor_name(), text + "\n]}");
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace bench
