// All backends of the process: built in (generated list) and plugins; filled once, then frozen.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "mluops/backend_types.h"

namespace mluops {

/// Generated from the folders of backends/ (backends/CMakeLists.txt).
const std::vector<const mluopsBackend*>& builtin_backends();

/// Names of the operators it provides, in the order of the list, with a space between two.
std::string operators_of(const mluopsBackend& backend);

/// Why a call gets no further at a backend whose member for it is NULL.
std::string lacks_text(const std::string& backend);

class Registry {
 public:
  /// Built-in backends, then the plugins of a colon-separated list of absolute paths. Never throws for a bad plugin:
  /// it is left out and problems() says why.
  Registry(const std::vector<const mluopsBackend*>& builtins, std::string_view plugin_paths);

  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// The process's registry: builtin_backends() and MLUOP_BACKEND_PATH, read at the first call.
  static const Registry& instance();

  const std::vector<const mluopsBackend*>& backends() const { return backends_; }
  const mluopsBackend* find(std::string_view name) const;
  /// One line per plugin that was left out.
  const std::vector<std::string>& problems() const { return problems_; }
  /// "cpu, mlu_emu" and, if any, the problems: for error texts.
  std::string known_text() const;

 private:
  void add_plugin(const std::string& path);
  /// Empty when b may join, else why not.
  std::string refusal(const mluopsBackend& b) const;

  std::vector<const mluopsBackend*> backends_;
  std::deque<mluopsBackend> plugins_;  // a copy of each plugin's struct, members that it lacks NULL
  std::vector<std::string> problems_;
};

}  // namespace mluops
