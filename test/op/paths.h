// The paths of the cpu backend.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "mlu_op_ext.h"
#include "test/support/run.h"

namespace mluops::test {

inline std::string property(const Handle& handle, const char* key) {
  char text[256] = "";
  EXPECT_EQ(mluOpExtQuery(handle.get(), "cpu", key, text, sizeof text, nullptr), MLUOP_STATUS_SUCCESS) << key;
  return text;
}

inline std::vector<std::string> words(const std::string& list) {
  std::istringstream in(list);
  std::vector<std::string> all;
  for (std::string word; std::getline(in >> std::ws, word, ',');) all.push_back(word);
  return all;
}

/// Every path that can run the problem, forced.
inline void check_every_path(const Handle& handle, Problem& problem, const Tolerance& t) {
  const auto choose = [&](const std::string& path) {
    ASSERT_EQ(mluOpExtSetOption(handle.get(), "cpu", "path", path.c_str()), MLUOP_STATUS_SUCCESS);
  };
  choose("auto");
  const auto expected = problem.expect(t.coordinates);
  const Report chosen = run_and_check(problem, handle, "cpu", expected, t);
  if (chosen.outcome != Outcome::kRan) return;  // beyond a documented limit: operator_test judges
  for (const std::string& path : words(property(handle, "last_paths"))) {
    choose(path);
    const Report report = run_and_check(problem, handle, "cpu", expected, t);
    EXPECT_EQ(report.outcome, Outcome::kRan) << report.text << how_to_repeat(problem, "cpu, path=" + path);
    EXPECT_EQ(property(handle, "last_path"), path);
  }
}

}  // namespace mluops::test
