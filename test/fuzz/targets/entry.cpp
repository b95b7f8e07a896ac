// libFuzzer's door to one target: FUZZ_TARGET.
#include "test/fuzz/targets/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mluops::test::FUZZ_TARGET(data, size);
  return 0;
}
