#include "backends/mlu_emu/device/settings.h"

#include <cerrno>
#include <cstdlib>

namespace mluops::emu {
namespace {

constexpr std::int64_t kNramUnit = 128;
constexpr std::int64_t kSmallestNram = 1024, kLargestNram = std::int64_t{1} << 26;

std::string wanted(const std::string& what, const std::string& got) {
  return "wanted " + what + ", got \"" + got + "\"";
}

bool whole_number(const std::string& text, std::int64_t& value) {
  char* end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && errno == 0;
}

std::string set_number(const std::string& text, std::int64_t low, std::int64_t high, int& out) {
  std::int64_t value = 0;
  if (!whole_number(text, value) || value < low || value > high) {
    return wanted("a whole number in [" + std::to_string(low) + ", " + std::to_string(high) + "]", text);
  }
  out = static_cast<int>(value);
  return {};
}

std::string set_nram(const std::string& text, Arch& arch) {
  std::int64_t value = 0;
  if (!whole_number(text, value) || value < kSmallestNram || value > kLargestNram || value % kNramUnit != 0) {
    return wanted("a multiple of " + std::to_string(kNramUnit) + " in [" + std::to_string(kSmallestNram) + ", " +
                      std::to_string(kLargestNram) + "]",
                  text);
  }
  arch.nram_bytes = value;
  return {};
}

std::string set_arch(const std::string& text, Settings& settings) {
  const Arch* arch = find_arch(text);
  if (arch == nullptr) return wanted("one of " + known_archs(), text);
  settings.arch = *arch;
  settings.rates = default_rates(*arch);
  return {};
}

std::string set_card(const std::string& text, Settings& settings) {
  const Arch* card = find_card(text);
  if (card == nullptr) return wanted("one of " + known_cards(), text);
  settings.arch = *card;
  settings.rates = default_rates(*card);
  return {};
}

bool enable_check(std::string_view name, Checks& checks) {
  if (name == "memory") return checks.memory = true;
  if (name == "init") return checks.init = true;
  if (name == "race") return checks.race = true;
  if (name == "overlap") return checks.overlap = true;
  return false;
}

std::string set_checks(const std::string& text, Checks& checks) {
  Checks chosen{false, false, false, false};
  if (text == "all") chosen = Checks{};
  std::string_view rest = text == "all" || text == "off" ? std::string_view() : std::string_view(text);
  if (text.empty()) return wanted("off, all, or some of memory,init,race,overlap", text);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (!enable_check(rest.substr(0, comma), chosen)) {
      return wanted("off, all, or some of memory,init,race,overlap", text);
    }
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  checks = chosen;
  return {};
}

std::string set_order(const std::string& text, Settings& settings) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::int64_t seed = 0;
  const bool good_seed = colon == std::string::npos || whole_number(text.substr(colon + 1), seed);
  const bool shuffled = name == "shuffled" && good_seed;
  if (!shuffled && text != "serial" && text != "parallel") {
    return wanted("serial, parallel, shuffled or shuffled:SEED", text);
  }
  settings.order = shuffled ? Order::kShuffled : text == "serial" ? Order::kSerial : Order::kParallel;
  settings.seed = static_cast<std::uint64_t>(seed);
  return {};
}

std::string set_trace(const std::string& text, std::int64_t& events) {
  constexpr std::int64_t kDefault = 1 << 20, kMost = 1 << 26;
  std::int64_t value = 0;
  if (text == "on") {
    value = kDefault;
  } else if (text != "off" && (!whole_number(text, value) || value < 0 || value > kMost)) {
    return wanted("on, off, or the most events to keep of a launch", text);
  }
  events = value;
  return {};
}

/// "1000": words of a task; "10s": seconds of a launch.
std::string set_limit(const std::string& text, Settings& settings) {
  std::int64_t value = 0;
  const bool seconds = text.size() > 1 && text.back() == 's';
  if (text != "off" && (!whole_number(seconds ? text.substr(0, text.size() - 1) : text, value) || value < 1)) {
    return wanted("off, how many builtins a task may call, or how many seconds a launch may take (10s)", text);
  }
  settings.word_limit = seconds ? 0 : value;
  settings.seconds_limit = seconds ? value : 0;
  return {};
}

struct Variable {
  const char* name;
  const char* key;
};
// The architecture first, then the card: they set what the others then change.
constexpr Variable kVariables[] = {
    {"MLUOP_EMU_ARCH", "arch"},
    {"MLUOP_EMU_DEVICE", "device"},
    {"MLUOP_EMU_NRAM_BYTES", "nram_bytes"},
    {"MLUOP_EMU_CLUSTERS", "clusters"},
    {"MLUOP_EMU_CORES_PER_CLUSTER", "cores_per_cluster"},
    {"MLUOP_EMU_CHECK", "check"},
    {"MLUOP_EMU_ORDER", "order"},
    {"MLUOP_EMU_TRACE", "trace"},
    {"MLUOP_EMU_LIMIT", "limit"},
    {"MLUOP_EMU_RATES", "rates"},
};

}  // namespace

std::string Settings::set(std::string_view key, const std::string& value) {
  constexpr int kMostClusters = 1024, kMostCores = 64;
  if (key == "arch") return set_arch(value, *this);
  if (key == "device") return set_card(value, *this);
  if (key == "nram_bytes") return set_nram(value, arch);
  if (key == "clusters") return set_number(value, 1, kMostClusters, arch.clusters);
  if (key == "cores_per_cluster") return set_number(value, 1, kMostCores, arch.cores_per_cluster);
  if (key == "check") return set_checks(value, checks);
  if (key == "order") return set_order(value, *this);
  if (key == "trace") return set_trace(value, trace_events);
  if (key == "limit") return set_limit(value, *this);
  if (key == "rates") return override_rates(rates, value);
  return "unknown option; known: arch, device, nram_bytes, clusters, cores_per_cluster, check, order, trace, limit, "
         "rates";
}

std::string Settings::read_environment(std::string_view ignored) {
  for (const Variable& variable : kVariables) {
    const char* value = std::getenv(variable.name);
    if (value == nullptr || *value == '\0' || variable.key == ignored) continue;
    const std::string problem = set(variable.key, value);
    if (!problem.empty()) return std::string(variable.name) + ": " + problem;
  }
  return {};
}

}  // namespace mluops::emu
