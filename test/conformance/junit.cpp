#include "test/conformance/junit.h"

#include <algorithm>
#include <cstdio>

#include "common/text.h"

namespace mluops::conformance {
namespace {

/// Characters that XML 1.0 does not have are shown as \\xNN.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : printable(text, true)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string test_text(const JunitTest& t) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.6f", t.seconds);
  std::string text =
      "  <testcase classname=\"" + xml(t.group) + "\" name=\"" + xml(t.name) + "\" time=\"" + seconds + "\">\n";
  if (!t.skipped.empty()) text += "    <skipped message=\"" + xml(t.skipped) + "\"/>\n";
  if (!t.failures.empty()) {
    text += "    <failure message=\"" + xml(t.failures[0]) + "\">";
    for (const std::string& failure : t.failures) text += xml(failure) + "\n";
    text += "</failure>\n";
  }
  return text + "  </testcase>\n";
}

}  // namespace

std::string junit_text(const std::vector<JunitTest>& tests) {
  const auto number = [&](auto which) { return std::to_string(std::count_if(tests.begin(), tests.end(), which)); };
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mluops_conformance\" tests=\"" +
                     std::to_string(tests.size()) + "\" failures=\"" +
                     number([](const JunitTest& t) { return !t.failures.empty(); }) + "\" errors=\"0\" skipped=\"" +
                     number([](const JunitTest& t) { return !t.skipped.empty(); }) + "\">\n";
  for (const JunitTest& t : tests) text += test_text(t);
  return text + "</testsuite>\n";
}

}  // namespace mluops::conformance
