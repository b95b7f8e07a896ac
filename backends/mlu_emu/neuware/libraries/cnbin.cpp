// libcnbin: programs link it for the vendor's binary tools; here there are no device binaries.
extern "C" const char* cnbinGetVersion(void);

const char* cnbinGetVersion(void) {
  return "1.0.0 (emulated)";
}
