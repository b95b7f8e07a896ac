// The loader of the system: plugins, and functions that somebody else may have brought into the process.
#pragma once

#include <string>

namespace mluops {

/// What stands between two paths of a list, as in the system's PATH.
#ifdef _WIN32
constexpr char kBetweenPaths = ';';
#else
constexpr char kBetweenPaths = ':';
#endif

/// Whether a path means the same file in whatever folder the process is.
bool is_absolute(const std::string& path);

/// Loads a shared object that stays until the process ends, its symbols seen by nobody else. nullptr: `why` is the
/// loader's reason.
void* load_shared_object(const std::string& path, std::string& why);

/// Loads a shared object as load_shared_object does; calls between its functions stay inside, also where the process
/// has functions of the same names.
void* load_isolated_object(const std::string& path, std::string& why);

/// Address of a symbol that the object exports, nullptr for none.
void* symbol_of(void* object, const char* name);

/// Address of a symbol that any object of the process exports, nullptr for none.
void* symbol_of_process(const char* name);

}  // namespace mluops
