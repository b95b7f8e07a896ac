#include "backends/mlu_emu/neuware/runtime/errors.h"

#include <cstdio>

#include "common/text.h"

namespace neuware {
namespace {

thread_local cnrtRet_t last_error = cnrtSuccess;
thread_local std::string last_fault, last_warning;

}  // namespace

cnrtRet_t keep(cnrtRet_t error) {
  if (error != cnrtSuccess) last_error = error;
  return error;
}

cnrtRet_t keep_fault(cnrtRet_t error, const std::string& text) {
  last_fault = text;
  std::fprintf(stderr, "[cnrt] [Error] %s: %s\n", cnrtGetErrorStr(error), mluops::printable(text, true).c_str());
  return keep(error);
}

void keep_warning(const std::string& text) {
  last_warning = text;
}

}  // namespace neuware

extern "C" {

const char* cnrtGetErrorName(cnrtRet_t error) {
  switch (error) {
    case cnrtSuccess:
      return "cnrtSuccess";
    case cnrtErrorNotReady:
      return "cnrtErrorNotReady";
    case cnrtErrorArgsInvalid:
      return "cnrtErrorArgsInvalid";
    case cnrtErrorInvalidSymbol:
      return "cnrtErrorInvalidSymbol";
    case cnrtErrorNoDevice:
      return "cnrtErrorNoDevice";
    case cnrtErrorKernelFault:
      return "cnrtErrorKernelFault";
    case cnrtErrorLaunchInvalid:
      return "cnrtErrorLaunchInvalid";
    case cnrtErrorNoMem:
      return "cnrtErrorNoMem";
  }
  return "unknown cnrt error";
}

const char* cnrtGetErrorStr(cnrtRet_t error) {
  return cnrtGetErrorName(error);
}

cnrtRet_t cnrtGetLastError(void) {
  const cnrtRet_t error = neuware::last_error;
  neuware::last_error = cnrtSuccess;
  return error;
}

cnrtRet_t cnrtPeekAtLastError(void) {
  return neuware::last_error;
}

const char* cnrtExtGetLastFault(void) {
  return neuware::last_fault.c_str();
}

const char* cnrtExtGetLastWarning(void) {
  return neuware::last_warning.c_str();
}
}
