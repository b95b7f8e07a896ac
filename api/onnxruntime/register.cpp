// RegisterCustomOps, which onnxruntime looks for in a library of custom operators.
#include <memory>
#include <mutex>
#include <vector>

#include "api/onnxruntime/abi.h"
#include "api/onnxruntime/operators.h"

namespace mluops::ort {
namespace {

constexpr const char* kDomains[] = {"mmdeploy", "mmcv", "mluops"};

/// The domains, made once: sessions keep pointers to them.
Status* domains_of(const Api& api, const std::vector<Domain*>** out) {
  static std::mutex mutex;
  static std::vector<Domain*> domains;
  const std::lock_guard<std::mutex> lock(mutex);
  *out = &domains;
  for (std::size_t i = domains.size(); i < std::size(kDomains); ++i) {
    Domain* domain = nullptr;
    if (Status* const status = create_domain(api, kDomains[i], &domain)) return status;
    for (const CustomOperator& op : operators()) {
      if (Status* const status = add_operator(api, domain, &op)) return status;
    }
    domains.push_back(domain);
  }
  return nullptr;
}

}  // namespace
}  // namespace mluops::ort

/** Makes the operators known to the sessions made with these options.
 *
 *  onnxruntime calls it: SessionOptions.register_custom_ops_library(path), RegisterCustomOpsLibrary of its C API.
 *  Fails with a status where onnxruntime is older than 1.16. */
extern "C" __attribute__((visibility("default"))) mluops::ort::Status* RegisterCustomOps(
    mluops::ort::SessionOptions* options, const mluops::ort::ApiBase* base) {
  using namespace mluops::ort;
  const Api* const api = base->get_api(kApiVersion);
  if (api == nullptr) {
    return create_status(*base->get_api(1), kNotImplemented, "mluops: wanted onnxruntime 1.16 or later");
  }
  const std::vector<Domain*>* domains = nullptr;
  if (Status* const status = domains_of(*api, &domains)) return status;
  for (Domain* const domain : *domains) {
    if (Status* const status = add_domain(*api, options, domain)) return status;
  }
  return nullptr;
}
