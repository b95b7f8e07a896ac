#include "backends/mlu_emu/device/guide.h"

#include <iterator>
#include <unordered_map>
#include <utility>

#include "common/per_thread.h"

namespace mluops::emu {
namespace {

struct Group {
  GuideRow row;
  std::string_view names;
};

constexpr Group kGroups[] = {
#define MLUOPS_GUIDE(least, without, bytes, lanes, aliasing, pipeline, names) \
  {{least, without, bytes, lanes, Aliasing::aliasing, Pipeline::pipeline}, names},
#include "backends/mlu_emu/device/guide.inc"
#undef MLUOPS_GUIDE
};

/// Calls visit(word) for each of the words between spaces.
template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    visit(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

using Rows = std::unordered_map<std::string_view, const GuideRow*>;

Rows read_rows() {
  Rows rows;
  for (const Group& group : kGroups) {
    for_each_word(group.names, [&](std::string_view name) { rows.emplace(name, &group.row); });
  }
  return rows;
}

}  // namespace

bool GuideRow::runs_on(int arch) const {
  if (arch < least_arch) return false;
  bool runs = true;
  for_each_word(without, [&](std::string_view lacking) { runs = runs && lacking != std::to_string(arch); });
  return runs;
}

std::string GuideRow::machines() const {
  std::string text = "mtp_" + std::to_string(least_arch) + " or later";
  if (!without.empty()) text += ", but not " + std::string(without);
  return text;
}

const GuideRow* guide_row(std::string_view builtin) {
  static const Rows& rows = *new Rows(read_rows());  // static destructors may still launch
  const auto found = rows.find(builtin);
  return found == rows.end() ? nullptr : found->second;
}

const GuideRow* guide_row_of_literal(const char* builtin) {
  struct Known {
    std::string name;  // another module's literal may come to lie there
    const GuideRow* row = nullptr;
  };
  auto& known = of_this_thread<std::unordered_map<const void*, Known>>();
  const auto [entry, fresh] = known.try_emplace(builtin);
  if (fresh || entry->second.name != builtin) entry->second = {builtin, guide_row(builtin)};
  return entry->second.row;
}

}  // namespace mluops::emu
