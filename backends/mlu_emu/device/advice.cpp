#include "backends/mlu_emu/device/advice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/round.h"

namespace mluops::emu {
namespace {

constexpr std::size_t kMostSentences = 3;
constexpr double kLeastShare = 0.05;  // of the time, to be spoken of
constexpr double kLeastCause = 0.1;   // of an engine's time, to be changed
constexpr double kWorthwhile = 0.97;  // of the time, after a change

/// Three digits, without exponents.
std::string number(double x) {
  constexpr double kWhole = 100;
  char text[32];  // not printf: its decimal point is the locale's
  char* const end = text + sizeof(text);
  return {text, x < kWhole ? std::to_chars(text, end, x, std::chars_format::general, 3).ptr
                           : std::to_chars(text, end, round_half_away(x), std::chars_format::fixed, 0).ptr};
}

std::string times(double ratio) {
  const auto hundredths = std::lround(ratio * 100);
  const std::string cents = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (cents.size() < 2 ? "0" : "") + cents + "x";
}

std::string place(const HotLine& line) {
  const std::string name = line.file.substr(line.file.rfind('/') + 1);
  return line.file.empty() ? "" : name + ":" + std::to_string(line.line);
}

std::string at(const HotLine& line, const char* preposition) {
  return line.file.empty() ? "" : std::string(" ") + preposition + " " + place(line);
}

std::string subject(const HotLine& line) {
  if (line.word == kTaskStart) return "goes to the start of tasks";
  if (line.word == kBarrier) return "waits for other cores at the barrier" + at(line, "in");
  switch (line.engine) {
    case Engine::kIo:
      if (line.direction == Direction::kWithin) return "waits for " + line.word + at(line, "in");
      return std::string("waits for ") + (line.direction == Direction::kLoad ? "loads from" : "stores to") +
             " GDRAM, " + line.word + at(line, "in");
    case Engine::kMove:
      return "waits for copies within the chip, " + line.word + at(line, "in");
    case Engine::kVector:
      return "is " + line.word + at(line, "in");
    case Engine::kScalar:
      break;
  }
  const ScalarWork& work = line.scalar;
  return "is scalar code" + at(line, "up to") + " (" + std::to_string(work.operations) + " operations, " +
         std::to_string(work.nram_loads + work.nram_stores) + " accesses of NRAM, " +
         std::to_string(work.gdram_loads + work.gdram_stores) + " of GDRAM on all cores)";
}

/// The objects leave room for as many bytes again.
bool fits_twice(const LaunchReport& launch, const Settings& settings) {
  const auto add = [](std::int64_t sum, const NramRegion& r) { return sum + r.bytes; };
  return 2 * std::accumulate(launch.spec.nram.begin(), launch.spec.nram.end(), std::int64_t{0}, add) <=
         settings.arch.nram_bytes;
}

struct Remedy {
  Change change;
  const char* text;
};

/// The change that could remove that line's time.
std::vector<Remedy> remedies(const HotLine& line) {
  std::vector<Remedy> all;
  if (line.engine == Engine::kIo && line.direction != Direction::kWithin) {
    all.push_back({Change::kTwoBuffers, "two buffers in turn, so that copies run beside the computing"});
    if (line.in_pieces > kLeastCause * line.busy) all.push_back({Change::kWholeCopies, "copies in one piece"});
  }
  if (line.busy > 0 && line.starts > kLeastCause * line.busy) {
    all.push_back({Change::kLargerTiles, "tiles twice as large, with half as many builtins"});
  }
  return all;
}

/// Each change is told once: where it was, the text is empty.
std::string remedy(const HotLine& line, const LaunchReport& launch, const Settings& settings,
                   std::array<bool, kChanges>& told) {
  const Remedy* best = nullptr;
  const std::vector<Remedy> all = remedies(line);
  double least = kWorthwhile;
  for (const Remedy& r : all) {
    const double after = launch.changed[static_cast<std::size_t>(r.change)];
    if (after <= 0 || after / launch.time >= least) continue;
    least = after / launch.time;
    best = &r;
  }
  if (best == nullptr || std::exchange(told[static_cast<std::size_t>(best->change)], true)) return {};
  const bool more_nram = best->change != Change::kWholeCopies && !fits_twice(launch, settings);
  return "; " + std::string(best->text) + ": " + times(least) +
         (more_nram ? ", for which NRAM has no room as it is" : "");
}

}  // namespace

std::vector<std::string> sentences(const LaunchReport& launch, const Settings& settings) {
  std::vector<const HotLine*> by_time;
  for (const HotLine& line : launch.lines) {
    if (line.held > kLeastShare * launch.time) by_time.push_back(&line);
  }
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const HotLine* a, const HotLine* b) { return a->held > b->held; });
  if (by_time.size() > kMostSentences) by_time.resize(kMostSentences);
  std::vector<std::string> said;
  std::array<bool, kChanges> told = {};
  for (const HotLine* line : by_time) {
    said.push_back(std::to_string(std::lround(100 * line->held / launch.time)) + " % of the time (" +
                   number(line->held / 1e3) + " of " + number(launch.time / 1e3) + " us) " + subject(*line) +
                   remedy(*line, launch, settings, told));
  }
  return said;
}

}  // namespace mluops::emu
