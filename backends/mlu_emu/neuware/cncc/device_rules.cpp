#include "backends/mlu_emu/neuware/cncc/device_rules.h"

#include <algorithm>

namespace cncc {

void DeviceRules::block() {
  if (place_.scope() != Scope::kNamespace || place_.parens() != 0 || seen_ == place_.statement()) return;
  seen_ = place_.statement();
  std::size_t name = 0;
  for (std::size_t i = place_.statement(); i < place_.at; ++i) {
    const Token& t = source_[i];
    if (one_of(t.text, {"class", "struct", "union", "enum", "namespace", "=", "operator", "constexpr"})) return;
    if (is_device(t.text)) return;
    if (one_of(t.text, {"__attribute__", "decltype", "alignas"})) {
      i = source_.closing(i + 1);
    } else if (name == 0 && t.is("(") && source_[i - 1].kind == Kind::kWord && !source_[i - 2].is("::")) {
      name = i - 1;
    }
  }
  if (name > place_.statement()) host_.insert(source_[name].text);
}

void DeviceRules::device_code() {
  const Token& t = source_[place_.at];
  const Token& before = source_[place_.at - 1];
  const Token& next = source_[place_.at + 1];
  if (t.kind != Kind::kWord || one_of(before.text, {".", "->", "operator"})) return;
  if (t.is("new") && !next.is("(")) return warn(place_.at, "device code uses new: a core has no heap");
  if (t.is("delete") && !before.is("=")) return warn(place_.at, "device code uses delete: a core has no heap");
  if (t.is("throw") || t.is("try")) {
    return warn(place_.at, "device code uses " + std::string(t.text) + ": the device has no exceptions");
  }
  if (t.is("std") && next.is("::")) {
    const std::string_view type = source_[place_.at + 2].text;
    const bool heap = one_of(type, {"vector", "string", "map", "unordered_map", "set", "unordered_set", "list", "deque",
                                    "unique_ptr", "shared_ptr", "function", "cout", "cerr", "thread", "mutex"});
    if (heap) warn(place_.at, "device code uses std::" + std::string(type) + ": it belongs to the host's library");
    return;
  }
  if (next.is("(") && !before.is("::") &&
      (before.kind != Kind::kWord || one_of(before.text, {"return", "else", "do"}))) {
    calls_.push_back(place_.at);
  }
}

void DeviceRules::kernel(std::size_t open) {
  for (std::size_t i = place_.statement(); i < open; ++i) {
    if (source_[i].is("void")) return;
  }
  warn(open - 1, "kernel '" + std::string(source_[open - 1].text) + "' returns a value: a kernel returns void");
}

void DeviceRules::warn(std::size_t at, const std::string& text) {
  warnings_.push_back({source_.offset(at), text});
}

std::vector<Warning> DeviceRules::warnings() const {
  std::vector<Warning> all = warnings_;
  for (const std::size_t at : calls_) {
    const std::string_view name = source_[at].text;
    if (host_.count(name) == 0 || device_.count(name) != 0) continue;
    all.push_back({source_.offset(at), "device code calls the host function '" + std::string(name) +
                                           "': functions of the device are marked __mlu_func__"});
  }
  std::sort(all.begin(), all.end(), [](const Warning& a, const Warning& b) { return a.at < b.at; });
  return all;
}

}  // namespace cncc
