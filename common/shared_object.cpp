#include "common/shared_object.h"

#ifdef _WIN32
#include <windows.h>
// after windows.h, whose types it uses
#include <psapi.h>

#include <algorithm>
#include <iterator>
#else
#include <dlfcn.h>
#endif

namespace mluops {

#ifdef _WIN32

bool is_absolute(const std::string& path) {
  const bool drive = path.size() > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\');
  return drive || path.starts_with("\\\\");  // or a folder that a server shares
}

void* load_shared_object(const std::string& path, std::string& why) {
  const HMODULE module = LoadLibraryA(path.c_str());
  if (module == nullptr) why = path + ": cannot be loaded, error " + std::to_string(GetLastError());
  return module;
}

void* load_isolated_object(const std::string& path, std::string& why) {
  return load_shared_object(path, why);  // calls name the file that they go to
}

void* symbol_of(void* object, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(object), name));
}

void* symbol_of_process(const char* name) {
  HMODULE modules[1024];
  DWORD bytes = 0;
  if (!K32EnumProcessModules(GetCurrentProcess(), modules, sizeof(modules), &bytes)) return nullptr;
  const std::size_t count = std::min<std::size_t>(bytes / sizeof(HMODULE), std::size(modules));
  for (std::size_t i = 0; i < count; ++i) {
    if (void* const found = symbol_of(modules[i], name)) return found;
  }
  return nullptr;
}

#else

bool is_absolute(const std::string& path) {
  return path.starts_with('/');
}

namespace {

#ifndef RTLD_DEEPBIND  // the loader has no such flag
#define RTLD_DEEPBIND 0
#endif

void* load(const std::string& path, int flags, std::string& why) {
  void* const object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
  if (object == nullptr) why = dlerror();
  return object;
}

}  // namespace

void* load_shared_object(const std::string& path, std::string& why) {
  return load(path, 0, why);
}

void* load_isolated_object(const std::string& path, std::string& why) {
  return load(path, RTLD_DEEPBIND, why);
}

void* symbol_of(void* object, const char* name) {
  return dlsym(object, name);
}

void* symbol_of_process(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

#endif

}  // namespace mluops
