#include "page/page.h"

namespace mluops::page {
namespace {

constexpr std::string_view kSource =
#include "source.inc"
    ;
constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string out;
  for (const char& c : text) out += c == what ? by : std::string_view(&c, 1);
  return out;
}

}  // namespace

std::string html(std::string_view title, std::string_view json) {
  std::string page(kSource);
  // In JSON a "<" stands in strings only; written otherwise, no string ends the script.
  page.replace(page.find(kData), kData.size(), replaced(json, '<', "\\u003c"));
  page.replace(page.find(kTitle), kTitle.size(), replaced(replaced(title, '&', "&amp;"), '<', "&lt;"));
  return page;
}

}  // namespace mluops::page
