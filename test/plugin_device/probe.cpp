// probe CASE...: runs cases on one handle of the chain that MLUOP_BACKEND names, in another thread than the one that
// made it, and prints for each which backend ran it, the first element of each output, or why there is none.
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "mlu_op_ext.h"
#include "test/support/problem.h"

namespace {

using namespace mluops;  // NOLINT: the program is this

bool untouched(const test::Tensor& tensor) {
  for (const unsigned char byte : tensor.bytes()) {
    if (byte != 0xff) return false;
  }
  return true;
}

std::string outputs_of(const test::Problem& problem) {
  std::string text;
  for (const auto& output : problem.outputs) {
    text.append(" ").append(output->name());
    text.append(untouched(*output) ? " untouched" : "=");
    if (!untouched(*output)) text.append(std::to_string(output->values()[0]));
  }
  return text;
}

void run(mluOpHandle_t handle, const std::string& text) {
  test::Problem problem = test::make_problem(cases::Case::parse(text), MLUOP_DTYPE_FLOAT);
  for (const auto& output : problem.outputs) output->buffer().fill_with_garbage();
  const mluOpStatus_t status = problem.call(handle);
  const char* backend = "";
  (void)mluOpExtGetLastRunBackend(handle, &backend);
  const bool ran = status == MLUOP_STATUS_SUCCESS;
  std::printf("%s: %s%s:%s%s%s\n", text.substr(0, text.find(' ')).c_str(), mluOpGetErrorString(status),
              (ran ? std::string(" on ") + backend : "").c_str(), outputs_of(problem).c_str(), ran ? "" : ": ",
              ran ? "" : mluOpExtGetLastErrorText());
}

int run_all(int count, char** texts) {
  mluOpHandle_t handle = nullptr;
  if (const mluOpStatus_t status = mluOpCreate(&handle); status != MLUOP_STATUS_SUCCESS) {
    std::printf("mluOpCreate: %s: %s\n", mluOpGetErrorString(status), mluOpExtGetLastErrorText());
    return 1;
  }
  char library[1024] = "none";
  (void)mluOpExtQuery(handle, "device", "library", library, sizeof library, nullptr);
  std::printf("library %s\n", library);
  std::thread([&] {
    for (int i = 0; i < count; ++i) run(handle, texts[i]);
  }).join();
  return mluOpDestroy(handle) == MLUOP_STATUS_SUCCESS ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "probe: %s\n", error.what());
    return 2;
  }
}
