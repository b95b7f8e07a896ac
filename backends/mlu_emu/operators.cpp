#include "backends/mlu_emu/operators.h"

#include "backends/mlu_emu/device/context.h"

namespace mluops::emu {
namespace {

Tensor make_tensor(const char* name, const void* data, std::int64_t bytes, Access access) {
  return {name, static_cast<char*>(const_cast<void*>(data)), bytes, access};
}

LaunchSpec make_spec(const char* kernel, const plan::Plan& plan, const std::vector<Tensor>& tensors) {
  LaunchSpec spec;
  spec.kernel = kernel;
  spec.clusters = plan.launch.type == plan::TaskType::kUnion1 ? 1 : 0;
  spec.x = plan.launch.x;
  spec.y = plan.launch.y;
  spec.z = plan.launch.z;
  for (const plan::Region& r : plan.nram.regions()) spec.nram.push_back({r.name, r.offset, r.bytes});
  spec.tensors = tensors;
  return spec;
}

}  // namespace

plan::Machine machine_of(const Context& context) {
  const Arch& arch = context.settings.arch;
  return {arch.nram_bytes, arch.clusters, arch.cores_per_cluster, arch.number};
}

Tensor reads(const char* name, const void* data, std::int64_t bytes) {
  return make_tensor(name, data, bytes, Access::kRead);
}
Tensor writes(const char* name, void* data, std::int64_t bytes) {
  return make_tensor(name, data, bytes, Access::kWrite);
}
Tensor updates(const char* name, void* data, std::int64_t bytes) {
  return make_tensor(name, data, bytes, Access::kReadWrite);
}

std::int32_t* workspace(Context& context, std::int64_t count) {
  return reinterpret_cast<std::int32_t*>(context.workspace(count * std::int64_t{sizeof(std::int32_t)}));
}

void fill_zero(Context& context, const char* name, void* data, std::int64_t bytes) {
  context.fill_zero(writes(name, data, bytes));
}

mluOpStatus_t launch(Context& context, const mluopsCall& call, const char* kernel, const plan::Plan& plan,
                     const std::vector<Tensor>& tensors, const std::function<void(char* nram)>& body) {
  const std::string fault = context.run(make_spec(kernel, plan, tensors), call.threads, body);
  if (fault.empty()) return MLUOP_STATUS_SUCCESS;
  call.set_error(fault.c_str());
  return MLUOP_STATUS_EXECUTION_FAILED;
}

mluOpStatus_t not_supported(const mluopsCall& call, const std::string& reason) {
  call.set_error(reason.c_str());
  return MLUOP_STATUS_NOT_SUPPORTED;
}

}  // namespace mluops::emu
