// Defects of scalar code in on-chip memory are told however an array's element is spelled; what is right is not.
#include <string>
#include <vector>

#include "test/neuware/device_memory.h"
#include "test/neuware/kernels.h"

namespace neuware_test {
namespace {

class Spelled : public WithQueue {
 protected:
  /// `run(right)` in that form tells nothing where it is right, and these parts where it is not.
  template <class Run>
  void expect_told(int form, bool fault, const std::vector<std::string>& parts, Run&& run) {
    SCOPED_TRACE("form " + std::to_string(form));
    run(true);
    expect_success();
    EXPECT_STREQ(cnrtExtGetLastWarning(), "");
    run(false);
    const std::string text = fault ? cnrtExtGetLastFault() : cnrtExtGetLastWarning();
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
    EXPECT_EQ(cnrtGetLastError() != cnrtSuccess, fault);
    cnrtQueueDestroy(queue);
    EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);  // one that met no fault
  }

  OnDevice<float> g{1024, 1.0f};
};

TEST_F(Spelled, AnUndefinedNumberInASum) {
  for (int form = 0; form < 20; ++form) {
    expect_told(form, false, {"scalar code at ", "computed from what never was"},
                [&](bool right) { sum_padding_spelled(queue, g.data(), form, right); });
  }
}

TEST_F(Spelled, ARaceInSram) {
  for (int form = 0; form < 10; ++form) {
    expect_told(form, true, {"scalar code at ", "(SRAM offset ", "by core ", "no __sync_cluster()"},
                [&](bool right) { race_in_sram_spelled(queue, form, right); });
  }
}

TEST_F(Spelled, ANumberOfSramThatIsNeverStored) {
  for (int form = 0; form < 4; ++form) {
    expect_told(form, false, {"scalar code at ", "(SRAM offset ", "never written"},
                [&](bool right) { forget_last_spelled(queue, g.data(), form, right); });
  }
}

TEST_F(Spelled, ACopyOverWhatScalarCodeReads) {
  for (int form = 0; form < 3; ++form) {
    expect_told(form, false, {"__memcpy_async at ", "loaded by scalar code at ", "no __sync()"},
                [&](bool right) { load_over_read_spelled(queue, g.data(), form, right); });
  }
}

TEST_F(Spelled, AnUndefinedNumberOutsideOfArrays) {
  for (int form = 0; form < 20; ++form) {
    expect_told(form, false, {"scalar code at ", "computed from what never was"},
                [&](bool right) { use_number_spelled(queue, g.data(), form, right); });
  }
}

TEST_F(Spelled, ARaceOfNumbersInSram) {
  for (int form = 0; form < 8; ++form) {
    expect_told(form, true, {"scalar code at ", "(SRAM offset ", "by core ", "no __sync_cluster()"},
                [&](bool right) { race_of_numbers_spelled(queue, form, right); });
  }
}

TEST_F(Spelled, ANumberAloneInSramThatIsNeverStored) {
  for (int form = 0; form < 3; ++form) {
    expect_told(form, false, {"scalar code at ", "(SRAM offset ", "never written"},
                [&](bool right) { forget_number_spelled(queue, g.data(), form, right); });
  }
}

/// A block that nobody has written yet.
class Fresh {
 public:
  explicit Fresh(std::size_t count) { EXPECT_EQ(cnrtMalloc(&data_, count * sizeof(float)), cnrtSuccess); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  ~Fresh() { cnrtFree(data_); }
  float* data() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
};

TEST_F(Spelled, AStoreThroughAReferenceIsNoLoad) {
  for (int form = 0; form < 13; ++form) {
    const Fresh fresh(8);
    race_by_reference_on(queue, fresh.data(), form, true);
    expect_success();
    std::vector<float> out(4);
    EXPECT_EQ(cnrtMemcpy(out.data(), fresh.data(), 4 * sizeof(float), cnrtMemcpyDevToHost), cnrtSuccess);
    EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4})) << form;
    expect_told(form, true, {"scalar code at ", "was written by another task"},
                [&](bool right) { race_by_reference_on(queue, g.data(), form, right); });
  }
}

TEST_F(Spelled, ALoadThroughAReference) {
  const Fresh fresh(8);
  for (int form = 0; form < 7; ++form) {
    expect_told(form, true, {"scalar code at ", "never written since cnrtMalloc"},
                [&](bool right) { load_fresh_by_reference_on(queue, fresh.data(), g.data(), form, right); });
  }
}

TEST_F(Spelled, ReferencesOfOtherThings) {
  OnDevice<float> numbers{std::vector<float>{0, 1, 2, 3}};
  mere_references_on(queue, numbers.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  const std::vector<float> out = numbers.values();
  // x: 2, then 2 + 3 + 4 of the array, then 10; 2 of the bits, 3 of the pair, 3 at the address, 10, 1
  EXPECT_EQ(out, (std::vector<float>{(2 + 2 + 3 + 4 + 10) + 2 + 3 + 3 + 10 + 1, 5, 3, 2}));
}

TEST_F(Spelled, WhatHasTheNameOfANumberIsNone) {
  no_numbers_of(queue, g.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  const std::vector<float> out = g.values();
  EXPECT_EQ(out[0], 8 + 5 + 1.5f + 1);
  // sum: 3 + 3 + 1 + 3 + 4 + 4, 3 + 1 of the lambda, then put() adds 5 + 3 to it, then 1
  EXPECT_EQ(out[1], (18 + 4 + 5 + 3 + 1) + 16 + 5);
}

TEST_F(Spelled, AddressesAndSizesAreNoAccesses) {
  no_accesses_of(queue, g.data());
  expect_success();
  EXPECT_STREQ(cnrtExtGetLastWarning(), "");
  const std::vector<float> out = g.values();
  EXPECT_EQ(out[0], 64 + 64 + 3 + 0 + 1 + (4 + 256 + 256 + 256));
  EXPECT_EQ(out[1], 3 + 3 + 4 + 5 + 0 + 2 + 1);
}

}  // namespace
}  // namespace neuware_test
