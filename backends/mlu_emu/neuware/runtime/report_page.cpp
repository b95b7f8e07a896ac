#include "backends/mlu_emu/neuware/runtime/report_page.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backends/mlu_emu/neuware/runtime/machine.h"

namespace neuware {
namespace {

using namespace mluops::emu;  // NOLINT: the device's names

constexpr std::size_t kEventsOfPage = 40000, kEventsOfLaunch = 4000;
constexpr double kKilo = 1e3;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Launches on the emulated MLU</title>
<style>
body { font: 14px sans-serif; margin: 2em; max-width: 1200px }
table { border-collapse: collapse; margin: .5em 0 } td, th { border: 1px solid #bbb; padding: 2px 8px; text-align: right }
td:first-child, th:first-child { text-align: left } .fault { color: #a00; white-space: pre-wrap }
.e0 { fill: #4a7ab5 } .e1 { fill: #c98a2b } .e2 { fill: #5a9e5a } rect { stroke: none } svg { border: 1px solid #bbb }
</style></head><body>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

std::string type_of(const LaunchSpec& spec) {
  return spec.clusters == 0 ? "BLOCK" : "UNION" + std::to_string(spec.clusters);
}

void put_traffic(std::ostream& out, const LaunchReport& launch) {
  out << "<table><tr><th>memory</th><th>bytes</th><th>read</th><th>written</th></tr>\n";
  for (const LaunchReport::Traffic& t : launch.traffic) {
    if (t.read + t.written == 0) continue;
    out << "<tr><td>" << escaped(t.name) << "</td><td>" << t.bytes << "</td><td>" << t.read << "</td><td>" << t.written
        << "</td></tr>\n";
  }
  out << "</table>\n";
}

/// The objects of a core's NRAM, to scale.
void put_nram(std::ostream& out, const LaunchReport& launch, std::int64_t nram_bytes) {
  constexpr double kWidth = 1100;
  if (launch.spec.nram.empty()) return;
  out << "<p>NRAM, " << nram_bytes << " bytes of a core</p>\n<svg width=\"1100\" height=\"24\">";
  int shade = 0;
  for (const NramRegion& r : launch.spec.nram) {
    const double scale = kWidth / static_cast<double>(nram_bytes);
    out << "<rect class=\"e" << shade++ % kEngines << "\" x=\"" << static_cast<double>(r.offset) * scale
        << "\" width=\"" << std::max(1.0, static_cast<double>(r.bytes) * scale) << "\" height=\"24\"><title>"
        << escaped(r.name) << ": " << r.bytes << " bytes at " << r.offset << "</title></rect>";
  }
  out << "</svg>\n<p>";
  for (const NramRegion& r : launch.spec.nram) out << escaped(r.name) << " " << r.bytes << " B at " << r.offset << "; ";
  out << "</p>\n";
}

/// One line for each engine of each core that did something.
void put_timeline(std::ostream& out, const LaunchReport& launch) {
  constexpr int kLine = 9;
  constexpr double kLeft = 90, kWidth = 1000;
  std::ostringstream bars;
  int y = 0;
  for (std::size_t core = 0; core < launch.events.size(); ++core) {
    for (int engine = 0; engine < kEngines; ++engine) {
      bool any = false;
      for (const Event& e : launch.events[core]) {
        if (static_cast<int>(e.engine) != engine) continue;
        any = true;
        const double scale = kWidth / std::max(launch.time, 1.0);
        bars << "<rect class=\"e" << engine << "\" x=\"" << kLeft + e.start * scale << "\" y=\"" << y << "\" width=\""
             << std::max(0.5, e.duration * scale) << "\" height=\"" << kLine - 1 << "\"><title>" << escaped(e.word)
             << ", task " << e.task << ", " << e.bytes << " bytes, " << e.start / kKilo << " us + "
             << e.duration / kKilo << " us</title></rect>\n";
      }
      if (!any) continue;
      bars << "<text x=\"2\" y=\"" << y + kLine - 2 << "\" font-size=\"8\">core " << core << " "
           << kEngineNames[static_cast<std::size_t>(engine)] << "</text>\n";
      y += kLine;
    }
  }
  if (y == 0) return;
  out << "<p>Timeline, modelled: " << launch.time / kKilo << " us";
  if (launch.dropped_events > 0) out << "; the first events, " << launch.dropped_events << " are left out";
  out << "</p>\n<svg width=\"1100\" height=\"" << y << "\">\n" << bars.str() << "</svg>\n";
}

}  // namespace

ReportPage& ReportPage::instance() {
  static auto* page = new ReportPage();  // lives until the program's end, whoever launches then
  return *page;
}

ReportPage::ReportPage() {
  const char* path = std::getenv("MLUOP_EMU_REPORT");
  if (path == nullptr || *path == '\0') return;
  path_ = path;
  std::atexit([] { instance().write(); });
}

std::size_t ReportPage::events_wanted() const {
  if (!wanted()) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::min(kEventsOfLaunch, kEventsOfPage - std::min(kEventsOfPage, events_));
}

void ReportPage::add(const std::string& file, LaunchReport launch, const std::vector<NramRegion>& objects,
                     const std::string& fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  launch.spec.nram = objects;
  for (const auto& events : launch.events) events_ += events.size();
  entries_.push_back({file, fault, std::move(launch)});
}

std::string ReportPage::html() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Arch& arch = Machine::instance().arch();
  std::ostringstream out;
  out << kHead << "<h1>" << entries_.size() << " launches on an emulated " << arch.name << "</h1>\n";
  out << "<p>Times are modelled, never measured.</p>\n<table><tr><th>launch</th><th>type</th><th>tasks</th><th>us</th>"
         "<th>file</th><th>fault</th></tr>\n";
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    out << "<tr><td><a href=\"#l" << i << "\">" << i << " " << escaped(e.launch.spec.kernel) << "</a></td><td>"
        << type_of(e.launch.spec) << "</td><td>" << e.launch.spec.tasks() << "</td><td>" << e.launch.time / kKilo
        << "</td><td>" << escaped(e.file) << "</td><td>" << (e.fault.empty() ? "" : "yes") << "</td></tr>\n";
  }
  out << "</table>\n";
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const LaunchSpec& spec = e.launch.spec;
    out << "<h2 id=\"l" << i << "\">" << i << " " << escaped(spec.kernel) << "</h2>\n<p>" << type_of(spec) << ", {"
        << spec.x << ", " << spec.y << ", " << spec.z << "}, " << escaped(e.file) << "</p>\n";
    if (!e.fault.empty()) out << "<p class=\"fault\">" << escaped(e.fault) << "</p>\n";
    put_traffic(out, e.launch);
    put_nram(out, e.launch, arch.nram_bytes);
    put_timeline(out, e.launch);
  }
  out << "</body></html>\n";
  return out.str();
}

void ReportPage::write() const {
  std::ofstream file(path_, std::ios::binary);
  file << html();
  if (!file.flush()) std::fprintf(stderr, "[cnrt] [Error] MLUOP_EMU_REPORT: cannot write %s\n", path_.c_str());
}

}  // namespace neuware
