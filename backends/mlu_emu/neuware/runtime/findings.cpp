#include "backends/mlu_emu/neuware/runtime/findings.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "backends/mlu_emu/device/json.h"
#include "common/trust.h"

namespace neuware {

using mluops::printable;
using mluops::emu::Finding;
using mluops::emu::Json;
using mluops::emu::Severity;

Findings& Findings::instance() {
  static auto* findings = new Findings();  // lives until the program's end, whoever launches then
  return *findings;
}

Findings::Findings() {
  const char* paths = mluops::secure_variable("MLUOP_EMU_FINDINGS");
  if (paths == nullptr || *paths == '\0') return;
  paths_ = paths;
  std::istringstream each(paths_);
  for (std::string path; std::getline(each, path, ':');) {  // before hours of work, not behind them
    const std::string why = mluops::why_not_writable(mluops::folder_of(path));
    if (why.empty()) continue;
    std::fprintf(stderr, "[cnrt] [Error] MLUOP_EMU_FINDINGS: cannot write %s: %s\n", path.c_str(), why.c_str());
  }
  write(false);
  std::atexit([] {
    const std::lock_guard<std::mutex> lock(instance().mutex_);
    instance().write(true);
  });
}

const char* Findings::level(const Kept& k) {
  return k.severity == Severity::kFault ? "error" : k.severity == Severity::kWarning ? "warning" : "note";
}

void Findings::add(const Finding& f) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (keep(f)) write(false);
}

/// Whether the reports are to be written again: a program may end without telling. Rarely where there are many.
bool Findings::keep(const Finding& f) {
  constexpr std::size_t kFew = 64;
  const auto place = [](const mluops::emu::CallSite& s) { return Place{s.known() ? s.file : "", s.line}; };
  Kept added{f.severity, f.kernel, f.word, f.text, place(f.site), place(f.other), 1};
  const auto same = [](const Place& a, const Place& b) { return a.line == b.line && a.file == b.file; };
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) {
    return !k.site.file.empty() && same(k.site, added.site) && same(k.other, added.other) && k.word == added.word &&
           k.severity == added.severity;
  });
  if (known != kept_.end()) {
    ++known->times;
    return false;
  }
  if (f.severity != Severity::kFault) {
    std::fprintf(stderr, "[cnrt] [%s] %s\n", f.severity == Severity::kNote ? "Note" : "Warning",
                 printable(f.text, true).c_str());
  }
  kept_.push_back(std::move(added));
  return kept_.size() < kFew || std::has_single_bit(kept_.size());
}

std::string Findings::text() const {
  std::ostringstream out;
  const auto count = [&](Severity s) {
    return std::count_if(kept_.begin(), kept_.end(), [=](const Kept& k) { return k.severity == s; });
  };
  for (const Kept& k : kept_) {
    out << (k.site.file.empty() ? "" : printable(k.site.file) + ":" + std::to_string(k.site.line) + ": ") << level(k)
        << ": " << printable(k.text, true);
    if (k.times > 1) out << " (" << k.times << " times)";
    out << "\n";
    if (!k.other.file.empty()) out << printable(k.other.file) << ":" << k.other.line << ": note: the other place\n";
  }
  out << count(Severity::kFault) << " faults, " << count(Severity::kWarning) << " warnings";
  if (const auto notes = count(Severity::kNote); notes > 0) out << ", " << notes << " notes";
  out << "\n";
  return out.str();
}

std::string Findings::json() const {
  Json out;
  out.open('[');
  for (const Kept& k : kept_) {
    out.newline().open('{').member("level", level(k)).member("kernel", k.kernel).member("word", k.word);
    out.member("file", k.site.file).member("line", k.site.line);
    out.member("other_file", k.other.file).member("other_line", k.other.line);
    out.member("times", k.times).member("text", k.text).close('}');
  }
  out.newline().close(']');
  return out.text() + "\n";
}

/// SARIF 2.1.0, as editors and code hosts read it.
std::string Findings::sarif() const {
  Json out;
  const auto location = [&](const char* role, const Place& p) {
    if (p.file.empty()) return;
    out.key(role).open('[').open('{').key("physicalLocation").open('{');
    out.key("artifactLocation").open('{').member("uri", mluops::uri_of_path(p.file)).close('}');
    out.key("region").open('{').member("startLine", std::max(p.line, 1)).close('}').close('}').close('}').close(']');
  };
  out.open('{').member("version", "2.1.0").member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  out.key("runs").open('[').open('{').key("tool").open('{').key("driver").open('{');
  out.member("name", "mluops_check").close('}').close('}').key("results").open('[');
  for (const Kept& k : kept_) {
    out.newline().open('{').member("level", level(k)).member("ruleId", k.word);
    out.key("message").open('{').member("text", k.text).close('}');
    location("locations", k.site);
    location("relatedLocations", k.other);
    out.close('}');
  }
  out.newline().close(']').close('}').close(']').close('}');
  return out.text() + "\n";
}

void Findings::write(bool tell) const {
  std::istringstream paths(paths_);
  for (std::string path; std::getline(paths, path, ':');) {
    const std::string ending = std::filesystem::path(path).extension().string();
    mluops::OutputFile file = mluops::OutputFile::named(path);
    file.write(ending == ".json" ? json() : ending == ".sarif" ? sarif() : text());
    const std::string problem = file.close();
    if (problem.empty() || !tell) continue;
    std::fprintf(stderr, "[cnrt] [Error] MLUOP_EMU_FINDINGS: cannot write %s: %s\n", path.c_str(), problem.c_str());
  }
}

}  // namespace neuware
