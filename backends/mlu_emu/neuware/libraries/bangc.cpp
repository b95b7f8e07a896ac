// libbangc: programs link it for the vendor's device library; the words are in libcnrt.
extern "C" const char* bangcGetVersion(void);

const char* bangcGetVersion(void) {
  return "1.0.0 (emulated)";
}
