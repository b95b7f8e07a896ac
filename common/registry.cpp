#include "common/registry.h"

#include <dlfcn.h>

#include "common/env.h"

namespace mluops {
namespace {

bool valid_name(const char* name) {
  if (name == nullptr || *name == '\0') return false;
  return std::string_view(name).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace

Registry::Registry(const std::vector<const mluopsBackend*>& builtins, std::string_view plugin_paths)
    : backends_(builtins) {
  while (!plugin_paths.empty()) {
    const std::size_t colon = plugin_paths.find(':');
    const std::string_view path = plugin_paths.substr(0, colon);
    if (!path.empty()) add_plugin(std::string(path));
    plugin_paths.remove_prefix(colon == std::string_view::npos ? plugin_paths.size() : colon + 1);
  }
}

const Registry& Registry::instance() {
  static const Registry registry(builtin_backends(), env_text("MLUOP_BACKEND_PATH").value_or(""));
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
  if (path.front() != '/') return leave_out("MLUOP_BACKEND_PATH takes absolute paths only");
  // Never closed: a backend's code must outlive every handle.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return leave_out(dlerror());
  const auto* backend = static_cast<const mluopsBackend*>(dlsym(library, MLUOPS_BACKEND_SYMBOL));
  if (backend == nullptr) return leave_out("it exports no symbol " MLUOPS_BACKEND_SYMBOL);
  const std::string why = refusal(*backend);
  if (!why.empty()) return leave_out(why);
  backends_.push_back(backend);
}

std::string Registry::refusal(const mluopsBackend& b) const {
  // The version decides what the rest of the struct means, so it is read first.
  if (b.abi_version != MLUOPS_BACKEND_ABI_VERSION) {
    return "its plugin ABI is version " + std::to_string(b.abi_version) + ", this library's is " +
           std::to_string(MLUOPS_BACKEND_ABI_VERSION);
  }
  if (b.struct_size != sizeof(mluopsBackend)) {
    return "its struct has " + std::to_string(b.struct_size) + " bytes, wanted " +
           std::to_string(sizeof(mluopsBackend));
  }
  if (!valid_name(b.name)) return "its name is not of the form [a-z0-9_]+";
  if (find(b.name) != nullptr) return "the name \"" + std::string(b.name) + "\" is taken";
  return {};
}

}  // namespace mluops
