#include "plugins/device/forward.h"

namespace mluops::device {
namespace {

thread_local Scope* scope_of_thread = nullptr;

}  // namespace

Scope::Scope(const Library& library) : library_(library) {
  scope_of_thread = this;
}

Scope::~Scope() {
  scope_of_thread = nullptr;
}

Scope& Scope::current() {
  return *scope_of_thread;
}

void* Scope::find(const char* function) {
  void* const found = library_.find(function);
  if (found == nullptr && lacking_.empty()) lacking_ = function;
  return found;
}

void* Scope::workspace(std::size_t bytes) {
  workspaces_.emplace_back(library_.runtime(), bytes);
  return workspaces_.back().get();
}

}  // namespace mluops::device
