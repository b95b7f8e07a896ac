#include "bench/explain/svg.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/explain/text.h"

namespace explain {
namespace {

constexpr double kWidth = 960, kMargin = 20, kInner = kWidth - 2 * kMargin;
constexpr const char* kColours[] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
                                    "#b07aa1", "#ff9da7", "#9c755f", "#bab0ac", "#86bcb6", "#d37295"};
constexpr const char* kEngineColours[] = {"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1"};
constexpr const char* kEngineNames[] = {"IO-DMA", "Move-DMA", "vector", "scalar"};

std::string number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.2f", x);
  return digits;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

class Svg {
 public:
  void text(double x, double y, const std::string& words, double size = 12, const char* anchor = "start") {
    body_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(size) + "\" text-anchor=\"" +
             anchor + "\">" + escaped(words) + "</text>\n";
  }
  void box(double x, double y, double width, double height, const std::string& fill, const std::string& tip) {
    body_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
             number(height) + "\" fill=\"" + fill + "\"><title>" + escaped(tip) + "</title></rect>\n";
  }
  std::string finish(double height) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(kWidth) + "\" height=\"" + number(height) +
           "\" font-family=\"sans-serif\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
           body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

double draw_map(Svg& svg, const Json& regions, double nram, double y) {
  constexpr double kBar = 36, kLine = 18;
  svg.text(kMargin, y, "NRAM of one core, " + bytes_text(nram) + ", to scale", 14);
  y += 10;
  svg.box(kMargin, y, kInner, kBar, "#eee", "free");
  double end = 0, line = y + kBar + kLine;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const Json& region = regions[r];
    const double offset = region.at("offset").get<double>(), bytes = region.at("bytes").get<double>();
    const std::string colour = kColours[r % std::size(kColours)];
    const std::string label = region.at("name").get<std::string>() + ": offset " +
                              std::to_string(region.at("offset").get<long long>()) + ", " +
                              std::to_string(region.at("bytes").get<long long>()) + " bytes";
    svg.box(kMargin + offset / nram * kInner, y, bytes / nram * kInner, kBar, colour, label);
    const double column = kMargin + static_cast<double>(r % 2) * kInner / 2;
    svg.box(column, line - 10, 12, 12, colour, label);
    svg.text(column + 18, line, label);
    if (r % 2 == 1) line += kLine;
    end = std::max(end, offset + bytes);
  }
  const double last = kMargin + static_cast<double>(regions.size() % 2) * kInner / 2;
  svg.box(last, line - 10, 12, 12, "#eee", "free");
  svg.text(last + 18, line, "free: " + std::to_string(static_cast<long long>(nram - end)) + " bytes");
  return line + 2 * kLine;
}

double draw_cores(Svg& svg, const Json& cores, double y) {
  constexpr double kHeight = 80;
  double longest = 0;
  for (const Json& c : cores) longest = std::max(longest, c.at("time_us").get<double>());
  if (longest == 0) return y;
  svg.text(kMargin, y, "Modelled time of each core: longest " + number(longest) + " us", 14);
  const double slot = kInner / static_cast<double>(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const Json& c = cores[i];
    const double height = c.at("time_us").get<double>() / longest * kHeight;
    svg.box(kMargin + static_cast<double>(i) * slot + 1, y + 10 + kHeight - height, std::max(1.0, slot - 2), height,
            "#4e79a7",
            "core " + std::to_string(i) + ": " + std::to_string(c.at("tasks").get<long long>()) + " tasks, " +
                number(c.at("time_us").get<double>()) + " us");
  }
  return y + kHeight + 40;
}

struct Event {
  long long core, engine;
  double start, duration;
  std::string label;
};

std::vector<Event> events_of(const Json& trace) {
  std::vector<Event> events;
  for (const Json& e : trace.at("traceEvents")) {
    if (e.at("ph").get<std::string>() != "X") continue;
    events.push_back({e.at("pid").get<long long>(), e.at("tid").get<long long>(), e.at("ts").get<double>(),
                      e.at("dur").get<double>(),
                      e.at("name").get<std::string>() + ", task " +
                          std::to_string(e.at("args").at("task").get<long long>()) + ", " +
                          std::to_string(e.at("args").at("bytes").get<long long>()) + " bytes, " +
                          number(e.at("dur").get<double>()) + " us"});
  }
  return events;
}

/// The window that shows the first words of core 0.
std::pair<double, double> window_of(const std::vector<Event>& events) {
  constexpr int kWords = 90;
  double begin = 0, end = 0;
  int words = 0;
  for (const Event& e : events) {
    if (e.core != 0 || words == kWords) continue;
    if (words++ == 0) begin = e.start;
    end = std::max(end, e.start + e.duration);
  }
  return {begin, end};
}

double draw_timeline(Svg& svg, const std::vector<Event>& events, double y) {
  constexpr double kLane = 16, kLabel = 150;
  constexpr long long kCores = 4;
  const auto [begin, end] = window_of(events);
  if (end <= begin) return y;
  const double scale = (kInner - kLabel) / (end - begin);
  svg.text(kMargin, y, "Timeline by the cost model: the first " + number(end - begin) + " us", 14);
  y += 12;
  std::map<std::pair<long long, long long>, double> lanes;
  for (const Event& e : events) {
    if (e.core < kCores) lanes[{e.core, e.engine}] = 0;
  }
  for (auto& [lane, top] : lanes) {
    top = y;
    svg.text(kMargin, y + kLane - 4, "core " + std::to_string(lane.first) + " " + kEngineNames[lane.second], 11);
    svg.box(kMargin + kLabel, y, kInner - kLabel, kLane - 2, "#f4f4f4", "");
    y += kLane;
  }
  for (const Event& e : events) {
    if (e.core >= kCores || e.start >= end) continue;
    const double width = (std::min(end, e.start + e.duration) - e.start) * scale;
    svg.box(kMargin + kLabel + (e.start - begin) * scale, lanes[{e.core, e.engine}], std::max(0.4, width - 0.3),
            kLane - 2, kEngineColours[e.engine], e.label);
  }
  return y + kLane;
}

const Json& main_launch(const Json& report) {
  const auto& launches = report.at("launches");
  return *std::max_element(launches.begin(), launches.end(),
                           [](const Json& a, const Json& b) { return a.at("cores").size() < b.at("cores").size(); });
}

}  // namespace

std::string draw(const Json& report, const Json& trace, const std::string& title) {
  Svg svg;
  const Json& launch = main_launch(report);
  const auto& dim = launch.at("dim");
  double y = 30;
  svg.text(kMargin, y, title, 18);
  y += 22;
  svg.text(kMargin, y,
           launch.at("type").get<std::string>() + " {" + std::to_string(dim[0].get<long long>()) + ", " +
               std::to_string(dim[1].get<long long>()) + ", " + std::to_string(dim[2].get<long long>()) + "} on " +
               report.at("arch").at("name").get<std::string>() + ": IO efficiency " +
               number(100 * report.at("totals").at("io_efficiency").get<double>()) + " %, compute efficiency " +
               number(100 * report.at("totals").at("compute_efficiency").get<double>()) + " % (modelled)");
  y = draw_map(svg, launch.at("nram"), report.at("arch").at("nram_bytes").get<double>(), y + 36);
  y = draw_cores(svg, launch.at("cores"), y);
  y = draw_timeline(svg, events_of(trace), y);
  return svg.finish(y + kMargin);
}

}  // namespace explain
