#include "bench/explain/text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

namespace explain {
namespace {

constexpr int kBarWidth = 72;

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof(line), pattern, arguments);
  va_end(arguments);
  return line;
}

/// Smallest, mean and largest of a number over the cores.
struct Spread {
  double least = 0, mean = 0, most = 0, sum = 0;

  Spread(const Json& cores, const std::function<double(const Json&)>& get) {
    for (const Json& core : cores) {
      const double x = get(core);
      least = sum == 0 && mean == 0 && &core == &cores.front() ? x : std::min(least, x);
      most = std::max(most, x);
      sum += x;
    }
    if (!cores.empty()) mean = sum / static_cast<double>(cores.size());
  }
};

char letter(std::size_t region) {
  return static_cast<char>(region < 26 ? 'a' + region : 'A' + region % 26);
}

/// Bar drawn to scale: each column shows the part that holds the middle of its bytes.
std::string nram_bar(const Json& regions, double nram) {
  std::string bar(kBarWidth, '.');
  for (int column = 0; column < kBarWidth; ++column) {
    const double at = (column + 0.5) / kBarWidth * nram;
    for (std::size_t r = 0; r < regions.size(); ++r) {
      const double offset = regions[r].at("offset").get<double>();
      if (at >= offset && at < offset + regions[r].at("bytes").get<double>())
        bar[static_cast<std::size_t>(column)] = letter(r);
    }
  }
  return "  |" + bar + "|\n";
}

std::string nram_map(const Json& regions, double nram) {
  std::string text = "NRAM of one core, " + bytes_text(nram) + ":\n" + nram_bar(regions, nram);
  double end = 0;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const Json& region = regions[r];
    const double bytes = region.at("bytes").get<double>();
    end = std::max(end, region.at("offset").get<double>() + bytes);
    text += format("  %c %-22s offset %9lld  bytes %9lld  %5.1f %%\n", letter(r),
                   region.at("name").get<std::string>().c_str(), region.at("offset").get<long long>(),
                   region.at("bytes").get<long long>(), 100 * bytes / nram);
  }
  return text +
         format("  . %-22s offset %9.0f  bytes %9.0f  %5.1f %%\n", "free", end, nram - end, 100 * (nram - end) / nram);
}

std::string spread_line(const char* name, const Spread& s) {
  return format("  %-26s min %12.1f  mean %12.1f  max %12.1f\n", name, s.least, s.mean, s.most);
}

std::string work(const Json& cores) {
  const auto member = [](const char* key) { return [key](const Json& c) { return c.at(key).get<double>(); }; };
  const auto busy = [](const char* key) {
    return [key](const Json& c) { return c.at("busy_us").at(key).get<double>(); };
  };
  return format("work per core, %zu cores:\n", cores.size()) + spread_line("tasks", {cores, member("tasks")}) +
         spread_line("time, us", {cores, member("time_us")}) +
         spread_line("  IO-DMA busy, us", {cores, busy("IO-DMA")}) +
         spread_line("  Move-DMA busy, us", {cores, busy("Move-DMA")}) +
         spread_line("  vector busy, us", {cores, busy("vector")});
}

std::string traffic(const Json& tensors) {
  std::string text = "GDRAM traffic:\n";
  for (const Json& t : tensors) {
    const double bytes = t.at("bytes").get<double>(),
                 moved = t.at("read").get<double>() + t.at("written").get<double>();
    text += format("  %-14s %-6s tensor %10s  read %10s  written %10s  %6.2fx\n",
                   t.at("name").get<std::string>().c_str(), t.at("access").get<std::string>().c_str(),
                   bytes_text(bytes).c_str(), bytes_text(t.at("read").get<double>()).c_str(),
                   bytes_text(t.at("written").get<double>()).c_str(), moved / bytes);
  }
  return text;
}

std::string engines(const Json& launch) {
  const Json& cores = launch.at("cores");
  const auto sum = [&](const char* key) {
    return Spread(cores, [&](const Json& c) { return c.at(key).get<double>(); }).sum;
  };
  const auto each = [](double total, double count) { return count > 0 ? total / count : 0.0; };
  double read = 0, written = 0, io = 0;
  for (const Json& t : launch.at("tensors"))
    read += t.at("read").get<double>(), written += t.at("written").get<double>();
  for (const Json& c : cores) io += c.at("busy_us").at("IO-DMA").get<double>();
  written -= sum("atomic_bytes");
  return "engines:\n" +
         format("  IO-DMA    %9.0f loads of %s on average, %.0f stores of %s\n", sum("loads"),
                bytes_text(each(read, sum("loads"))).c_str(), sum("stores"),
                bytes_text(each(written, sum("stores"))).c_str()) +
         format("  atomics   %9.0f adds of %s on average\n", sum("atomics"),
                bytes_text(each(sum("atomic_bytes"), sum("atomics"))).c_str()) +
         format("  Move-DMA  %9.0f copies of %s on average\n", sum("moves"),
                bytes_text(each(sum("move_bytes"), sum("moves"))).c_str()) +
         format("  vector    %9.0f words of %.0f lanes on average, %s of results\n", sum("vector_words"),
                each(sum("vector_lanes"), sum("vector_words")), bytes_text(sum("vector_bytes")).c_str()) +
         format("  overlap   %8.1f %% of the IO time lies behind on-chip work\n", 100 * each(sum("hidden_io_us"), io));
}

/// What a launch's time goes to and what would change it; launches without words of kernels have none.
std::string advice(const Json& launch) {
  std::string text, changes;
  for (const auto& [key, value] : launch.items()) {
    if (key == "sentences") {
      for (const Json& sentence : value) text += "  " + sentence.get<std::string>() + "\n";
    } else if (key == "what_if") {
      for (const auto& [change, us] : value.items()) {
        changes += format("%s %s %.2fx", changes.empty() ? "" : ",", change.c_str(),
                          us.get<double>() / launch.at("time_us").get<double>());
      }
    }
  }
  std::replace(changes.begin(), changes.end(), '_', ' ');
  return text.empty() ? "" : "time:\n" + text + "  what if:" + changes + "\n";
}

std::string describe_launch(const Json& launch, double nram) {
  const auto& dim = launch.at("dim");
  std::string text =
      format("\nlaunch %s: %s {%lld, %lld, %lld}, %.1f us\n", launch.at("kernel").get<std::string>().c_str(),
             launch.at("type").get<std::string>().c_str(), dim[0].get<long long>(), dim[1].get<long long>(),
             dim[2].get<long long>(), launch.at("time_us").get<double>());
  if (!launch.at("cores").empty()) text += nram_map(launch.at("nram"), nram) + work(launch.at("cores"));
  text += traffic(launch.at("tensors"));
  if (!launch.at("cores").empty()) text += engines(launch);
  return text + advice(launch);
}

std::string totals_text(const Json& totals) {
  const double io = 100 * totals.at("io_efficiency").get<double>(),
               compute = 100 * totals.at("compute_efficiency").get<double>();
  const double minimum = totals.at("gdram_minimum_bytes").get<double>(),
               moved = totals.at("gdram_moved_bytes").get<double>();
  return format("\nall launches: %.1f us modelled (%.1f us with the launches themselves)\n",
                totals.at("time_us").get<double>(), totals.at("time_with_launches_us").get<double>()) +
         format("GDRAM: %s moved, %s are the minimum: %.2fx\n", bytes_text(moved).c_str(), bytes_text(minimum).c_str(),
                moved / minimum) +
         format(
             "IO efficiency %.1f %%, compute efficiency %.1f %% (modelled; the design goal is one of them >= 50 %%)\n",
             io, compute);
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr double kKiB = 1024;
  if (bytes < 10 * kKiB) return format("%.0f B", bytes);
  if (bytes < kKiB * kKiB) return format("%.1f KiB", bytes / kKiB);
  return format("%.1f MiB", bytes / (kKiB * kKiB));
}

std::string describe(const Json& report) {
  const Json& arch = report.at("arch");
  const double nram = arch.at("nram_bytes").get<double>();
  const auto alignment = arch.at("vector_alignment").get<long long>();
  std::string text = format("%s on %s: %lld clusters x %lld cores", report.at("op").get<std::string>().c_str(),
                            arch.at("name").get<std::string>().c_str(), arch.at("clusters").get<long long>(),
                            arch.at("cores_per_cluster").get<long long>());
  text += alignment > 1 ? format(", vector alignment %lld bytes\n", alignment) : "\n";
  for (const Json& launch : report.at("launches")) text += describe_launch(launch, nram);
  return text + totals_text(report.at("totals"));
}

}  // namespace explain
