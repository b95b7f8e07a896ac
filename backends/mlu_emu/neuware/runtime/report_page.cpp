#include "backends/mlu_emu/neuware/runtime/report_page.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "backends/mlu_emu/device/json.h"
#include "backends/mlu_emu/neuware/runtime/machine.h"
#include "common/trust.h"
#include "page/page.h"

namespace neuware {
namespace {

using namespace mluops::emu;  // NOLINT: the device's names

constexpr std::size_t kEventsOfPage = 40000, kEventsOfLaunch = 4000;

}  // namespace

ReportPage& ReportPage::instance() {
  static auto* page = new ReportPage();  // lives until the program's end, whoever launches then
  return *page;
}

ReportPage::ReportPage() {
  const char* path = mluops::secure_variable("MLUOP_EMU_REPORT");
  if (path == nullptr || *path == '\0') return;
  if (const std::string why = mluops::why_not_writable(mluops::folder_of(path)); !why.empty()) {
    std::fprintf(stderr, "[cnrt] [Error] MLUOP_EMU_REPORT: cannot write %s: %s\n", path, why.c_str());
    return;
  }
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
  launches_.push_back(std::move(launch));
  notes_.push_back({file, fault});
}

std::string ReportPage::html() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string title = program_invocation_short_name;
  const CallReport report{title, Machine::instance().settings(), launches_};
  Json notes;
  notes.open('[');
  for (const Note& note : notes_) notes.open('{').member("file", note.file).member("fault", note.fault).close('}');
  notes.close(']');
  return mluops::page::html(title, "{\"kind\": \"launches\", \"report\": " + report_json(report) +
                                       ", \"trace\": " + trace_json(report) + ", \"notes\": " + notes.text() + "}");
}

std::string ReportPage::json() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return report_json({program_invocation_short_name, Machine::instance().settings(), launches_});
}

void ReportPage::write() const {
  const std::string suffix = ".json";
  const bool numbers =
      path_.size() > suffix.size() && path_.compare(path_.size() - suffix.size(), suffix.size(), suffix) == 0;
  mluops::OutputFile file = mluops::OutputFile::named(path_);
  file.write(numbers ? json() : html());
  const std::string problem = file.close();
  if (problem.empty()) return;
  std::fprintf(stderr, "[cnrt] [Error] MLUOP_EMU_REPORT: cannot write %s: %s\n", path_.c_str(), problem.c_str());
}

}  // namespace neuware
