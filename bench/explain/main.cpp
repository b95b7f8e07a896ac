// ./run explain: how an operator is laid out on the emulated MLU.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/explain/emulate.h"
#include "bench/explain/json.h"
#include "bench/explain/options.h"
#include "bench/explain/svg.h"
#include "bench/explain/text.h"
#include "page/page.h"

namespace explain {
namespace {

constexpr const char* kEventsToDraw = "32768";

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string title(const cases::Description& d) {
  return cases::with_defaults(d.text).text() + " " + cases::dtype_name(d.dtype);
}

std::string page(const cases::Description& c, const Emulation& run) {
  const std::string data = "{\"kind\": \"launches\", \"title\": \"" + title(c) + "\", \"report\": " + run.report +
                           ", \"trace\": " + run.trace + "}";
  return mluops::page::html(title(c), data);
}

Options with_trace(Options options, const char* events) {
  options.emplace_back("trace", events);
  return options;
}

void explain_one(const CommandLine& line) {
  const cases::Description c = cases::describe(line.text, line.dtype);
  const char* events = !line.trace.empty() ? "on" : !line.svg.empty() || !line.html.empty() ? kEventsToDraw : "off";
  const Emulation run = emulate(c, with_trace(line.options, events));
  if (!run.provided) throw std::invalid_argument(line.text.op() + ": the emulated MLU has no kernel of it");
  const Json report = Json::parse(run.report);
  std::printf("%s\n%s", title(c).c_str(), describe(report).c_str());
  if (!line.json.empty()) write(line.json, run.report);
  if (!line.trace.empty()) write(line.trace, run.trace);
  if (!line.html.empty()) write(line.html, page(c, run));
  if (!line.svg.empty()) write(line.svg, draw(report, Json::parse(run.trace), title(c)));
}

/// One section of a page: the text and the picture of one operator; "" for one the emulated MLU lacks.
std::string section(const std::string& op, const CommandLine& line) {
  const cases::Description c = cases::describe(cases::Case::read(op), line.dtype);
  const Emulation run = emulate(c, with_trace(line.options, kEventsToDraw));
  if (!run.provided) return "";
  const Json report = Json::parse(run.report);
  const std::filesystem::path picture = std::filesystem::path("img") / (op + ".svg");
  write(std::filesystem::path(line.docs) / picture, draw(report, Json::parse(run.trace), title(c)));
  return "## " + op + "\n\n![NRAM map and timeline](" + picture.string() + ")\n\n```\n" + title(c) + "\n" +
         describe(report) + "```\n\n";
}

void explain_all(const CommandLine& line) {
  const std::filesystem::path folder = line.docs;
  std::filesystem::create_directories(folder / "img");
  std::map<std::string, std::string> sections;
  for (const cases::OperatorCases& op : cases::all_operators()) sections[op.family] += section(op.op, line);
  for (const auto& [family, text] : sections) {
    if (text.empty()) continue;
    const std::string page = "# " + family +
                             " on the emulated MLU\n\nTimes come from the "
                             "[cost model](../docs/device_model.md), all else is counted.\n\n" +
                             text;
    write(folder / (family + ".md"), page.substr(0, page.size() - 1));
  }
}

int run(int argc, char** argv) {
  const CommandLine line = parse_command_line(argc, argv);
  if (line.help) return std::fputs(help_text().c_str(), stdout), 0;
  line.docs.empty() ? explain_one(line) : explain_all(line);
  return 0;
}

}  // namespace
}  // namespace explain

int main(int argc, char** argv) {
  try {
    return explain::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "explain: %s\n", error.what());
    return 2;
  }
}
