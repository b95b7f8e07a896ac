// Handles on both backends in the settings that change which code runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "test/support/handle.h"

namespace mluops::test {

struct Rig {
  std::string backend, settings;
  std::unique_ptr<Handle> handle;
};

/// Made once; the emulated machines are small, so that problems of a few elements are split.
inline const std::vector<Rig>& rigs() {
  static const std::vector<Rig> all = [] {
    struct Settings {
      const char* backend;
      int threads;
      bool atomics;
      std::vector<std::string> options;
    };
    const Settings settings[] = {
        {"cpu", 1, false, {}},
        {"cpu", 3, false, {"threading=threads"}},
        {"cpu", 3, true, {"scatter=atomic"}},
        {"mlu_emu", 1, false, {"clusters=2", "cores_per_cluster=2"}},
        {"mlu_emu", 1, false, {"clusters=3", "cores_per_cluster=3", "nram_bytes=65536", "order=shuffled:5"}},
        {"mlu_emu", 1, false, {"clusters=1", "cores_per_cluster=2", "nram_bytes=40960"}},
    };
    std::vector<Rig> made;
    for (const Settings& s : settings) {
      std::string text = std::string(s.backend) + ", " + std::to_string(s.threads) + " threads";
      for (const std::string& option : s.options) text += ", " + option;
      made.push_back({s.backend, text, std::make_unique<Handle>(s.backend, s.threads, s.options)});
      if (s.atomics) made.back().handle->atomics(MLUOP_ATOMICS_ALLOWED);
    }
    return made;
  }();
  return all;
}

/// The ways in which the cpu kernel of the handle's last call could have run it.
inline std::vector<std::string> last_paths(mluOpHandle_t handle) {
  char text[512] = "";
  mluOpExtQuery(handle, "cpu", "last_paths", text, sizeof text, nullptr);
  std::vector<std::string> paths(1);
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == ',') {
      paths.emplace_back();
    } else if (*c != ' ') {
      paths.back() += *c;
    }
  }
  return paths;
}

}  // namespace mluops::test
