// Settings of the emulated machine where numbers are written with a decimal comma: on systems with localedef.
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/mlu_emu/device/report.h"
#include "backends/mlu_emu/device/settings.h"

namespace mluops::emu::test {
namespace {

/// While it lives, numbers are written with a decimal comma: a locale of its own, which every system can make.
class DecimalComma {
 public:
  DecimalComma() {
    folder_ = (std::filesystem::temp_directory_path() / "mluops_locale_XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr) << folder_;
    std::ofstream(folder_ + "/source")
        << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n";
    // It warns, and says so in its status, of all the categories that are off.
    static_cast<void>(
        !std::system(("cd " + folder_ + " && localedef -c --no-archive -i ./source ./comma 2>/dev/null").c_str()));
    setenv("LOCPATH", folder_.c_str(), 1);
    in_force_ = std::setlocale(LC_NUMERIC, "comma") != nullptr;
  }
  DecimalComma(const DecimalComma&) = delete;
  DecimalComma& operator=(const DecimalComma&) = delete;
  ~DecimalComma() {
    std::setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }
  bool in_force() const { return in_force_; }

 private:
  std::string folder_;
  bool in_force_ = false;
};

TEST(Settings, NumbersDoNotDependOnTheLocale) {
  const DecimalComma comma;
  if (!comma.in_force()) GTEST_SKIP() << "no localedef here";
  EXPECT_EQ(std::localeconv()->decimal_point, std::string(","));
  Settings s;
  const std::string problem = s.set("rates", "clock_ghz=1.5");
  const std::string json = arch_json(s);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(s.rates.clock_ghz, 1.5);
  EXPECT_NE(json.find("\"clock_ghz\": 1.5,"), std::string::npos) << json;
}

}  // namespace
}  // namespace mluops::emu::test
