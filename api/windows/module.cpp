// Where Windows enters a DLL of this project. It stays until the process ends, and then nothing of it runs: Windows has
// ended the other threads, some of them with a lock of the C++ runtime, and a destructor that waits for it would never
// return. Unloading would hang likewise where a thread that has objects of its own in the DLL drops its last reference.
#include <windows.h>

extern "C" BOOL WINAPI DllMainCRTStartup(HINSTANCE module, DWORD reason, LPVOID process);

namespace {

/// Apart from the entry, whose stack may have no guard: the guard's value is chosen on the way.
[[gnu::noinline]] bool stays(HINSTANCE module) {
  constexpr DWORD kStays = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  HMODULE own = nullptr;
  return GetModuleHandleExA(kStays, reinterpret_cast<const char*>(module), &own) != 0;
}

}  // namespace

extern "C" BOOL WINAPI mluops_entry(HINSTANCE module, DWORD reason, LPVOID process) {
  if (reason == DLL_PROCESS_DETACH) return TRUE;
  if (reason == DLL_PROCESS_ATTACH && !stays(module)) return FALSE;
  return DllMainCRTStartup(module, reason, process);
}
