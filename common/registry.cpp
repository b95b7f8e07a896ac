#include "common/registry.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "common/env.h"
#include "common/shared_object.h"
#include "common/trust.h"

#ifndef MLUOPS_PART
#define MLUOPS_PART ""
#endif

namespace mluops {
namespace {

bool valid_name(const char* name) {
  if (name == nullptr || *name == '\0') return false;
  return std::string_view(name).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// The least a plugin's struct may have: all but operators, which come last.
constexpr std::size_t kLeastSize = offsetof(mluopsBackend, carafe_forward);

/// Whether a plugin was compiled with this member in the struct.
bool has_member(const mluopsBackend& plugin, std::size_t offset) {
  return plugin.struct_size > offset;
}

/// The struct as this library knows it: what an older plugin lacks is NULL, what a newer one adds is left out. So is an
/// operator whose problem has grown since by a member that must be looked at: `box_numbers` of nms came with upfirdn2d.
mluopsBackend as_known_here(const mluopsBackend& plugin) {
  mluopsBackend known = {};
  std::memcpy(&known, &plugin, std::min<std::size_t>(plugin.struct_size, sizeof known));
  if (!has_member(plugin, offsetof(mluopsBackend, upfirdn2d))) known.nms = nullptr;
  return known;
}

}  // namespace

std::string operators_of(const mluopsBackend& backend) {
  std::string names;
  const auto add = [&](const char* name) { names.append(names.empty() ? "" : " ").append(name); };
#define MLUOPS_OPERATOR(name, Problem) \
  if (backend.name != nullptr) add(#name);
#include "mluops/operators.inc"
  return names;
}

std::string lacks_text(const std::string& backend) {
  const std::string part = MLUOPS_PART;  // MLUOPS_OPERATORS of the build
  const std::string text = "backend " + backend + " does not provide it";
  return part.empty() ? text : "this library was built for " + part + " alone: " + text;
}

Registry::Registry(const std::vector<const mluopsBackend*>& builtins, std::string_view plugin_paths)
    : backends_(builtins) {
  while (!plugin_paths.empty()) {
    const std::size_t end = plugin_paths.find(kBetweenPaths);
    const std::string_view path = plugin_paths.substr(0, end);
    if (!path.empty()) add_plugin(std::string(path));
    plugin_paths.remove_prefix(end == std::string_view::npos ? plugin_paths.size() : end + 1);
  }
}

const Registry& Registry::instance() {
  static const Registry registry(builtin_backends(), secure_env_text("MLUOP_BACKEND_PATH").value_or(""));
  return registry;
}

const mluopsBackend* Registry::find(std::string_view name) const {
  for (const mluopsBackend* b : backends_) {
    if (name == b->name) return b;
  }
  return nullptr;
}

std::string Registry::known_text() const {
  std::string text;
  for (const mluopsBackend* b : backends_) text += (text.empty() ? "" : ", ") + std::string(b->name);
  for (const std::string& p : problems_) text += "; " + p;
  return text;
}

void Registry::add_plugin(const std::string& path) {
  const auto leave_out = [&](const std::string& why) { problems_.push_back("plugin " + path + ": " + why); };
  if (!is_absolute(path)) return leave_out("MLUOP_BACKEND_PATH takes absolute paths only");
  const std::string distrust = why_not_trusted(path);
  if (!distrust.empty()) return leave_out(distrust);
  // Never closed: a backend's code must outlive every handle.
  std::string why;
  void* const library = load_shared_object(path, why);
  if (library == nullptr) return leave_out(why);
  const auto* backend = static_cast<const mluopsBackend*>(symbol_of(library, MLUOPS_BACKEND_SYMBOL));
  if (backend == nullptr) return leave_out("it exports no symbol " MLUOPS_BACKEND_SYMBOL);
  why = refusal(*backend);
  if (!why.empty()) return leave_out(why);
  plugins_.push_back(as_known_here(*backend));
  backends_.push_back(&plugins_.back());
}

std::string Registry::refusal(const mluopsBackend& b) const {
  // The version decides what the rest of the struct means, so it is read first.
  if (b.abi_version != MLUOPS_BACKEND_ABI_VERSION) {
    return "its plugin ABI is version " + std::to_string(b.abi_version) + ", this library's is " +
           std::to_string(MLUOPS_BACKEND_ABI_VERSION);
  }
  if (b.struct_size < kLeastSize) {
    return "its struct has " + std::to_string(b.struct_size) + " bytes, wanted at least " + std::to_string(kLeastSize);
  }
  if (!valid_name(b.name)) return "its name is not of the form [a-z0-9_]+";
  if (find(b.name) != nullptr) return "the name \"" + std::string(b.name) + "\" is taken";
  return {};
}

}  // namespace mluops
