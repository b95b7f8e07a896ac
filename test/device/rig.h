// A machine to run small kernels on.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/device/context.h"

namespace mluops::emu::test {

class Rig {
 public:
  Context context;
  LaunchSpec spec;

  explicit Rig(const std::string& arch = "mtp_372") {
    spec.kernel = "test_kernel";
    set("arch", arch);
  }
  Rig& set(const std::string& key, const std::string& value) {
    EXPECT_EQ(context.settings.set(key, value), "") << key << "=" << value;
    return *this;
  }
  template <class T>
  Rig& tensor(const char* name, std::vector<T>& data, Access access) {
    spec.tensors.push_back(
        {name, reinterpret_cast<char*>(data.data()), static_cast<std::int64_t>(data.size() * sizeof(T)), access});
    return *this;
  }
  Rig& dims(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1) {
    spec.x = x, spec.y = y, spec.z = z;
    return *this;
  }
  /// The fault's text, "" for none.
  std::string run(const KernelBody& body, int threads = 1) {
    context.begin_call("test");
    return context.run(spec, threads, body);
  }
  const LaunchReport& report() const { return context.report().launches.back(); }
};

/// Fault texts name kernel, task, word, buffer and offset: all `parts` must be there.
inline void expect_fault(const std::string& text, const std::vector<std::string>& parts) {
  EXPECT_NE(text, "") << "no fault, wanted one about: " << parts.front();
  if (text.empty()) return;
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

}  // namespace mluops::emu::test
