#include "common/handle.h"

#include <memory>

#include "api/c/boundary.h"
#include "common/env.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;
using op::not_null;

mluOpStatus_t mluOpCreate(mluOpHandle_t* handle) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    auto made = std::make_unique<mluOpContext>();
    made->chain_name = default_chain();
    MLUOPS_RETURN_IF_FINISHED(read_default_threads(made->default_threads));
    MLUOPS_RETURN_IF_FINISHED(create_chain(Registry::instance(), made->chain_name, made->chain));
    say_header(made->chain, made->default_threads);
    *handle = made.release();
    return Status::go_on();
  });
}

mluOpStatus_t mluOpUpdateContextInformation(mluOpHandle_t handle) {
  return guard(__func__, [&] { return not_null("handle", handle); });
}

mluOpStatus_t mluOpDestroy(mluOpHandle_t handle) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    if (handle->calls.held_here()) {
      return Status::bad_param(
          "handle is busy: this thread is inside a call on it (called from its own parallel_for?)");
    }
    delete handle;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue) {
  return guard(__func__, {{"handle", handle}}, [&] { handle->queue = queue; });
}

mluOpStatus_t mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t* queue) {
  return guard(__func__, {{"handle", handle}, {"queue", queue}}, [&] { *queue = handle->queue; });
}

mluOpStatus_t mluOpSetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t atomics_mode) {
  return guard(__func__, {{"handle", handle}}, [&] { handle->atomics = atomics_mode; });
}

mluOpStatus_t mluOpGetAtomicsMode(mluOpHandle_t handle, mluOpAtomicsMode_t* atomics_mode) {
  return guard(__func__, {{"handle", handle}, {"atomics_mode", atomics_mode}},
               [&] { *atomics_mode = handle->atomics; });
}

mluOpStatus_t mluOpSetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t round_mode) {
  return guard(__func__, {{"handle", handle}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(
        op::in_range("round_mode", round_mode, MLUOP_ROUND_HALF_TO_EVEN, MLUOP_ROUND_HALF_OFF_ZERO));
    handle->round_mode = round_mode;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetQuantizeRoundMode(mluOpHandle_t handle, mluOpQuantizeRoundMode_t* round_mode) {
  return guard(__func__, {{"handle", handle}, {"round_mode", round_mode}}, [&] { *round_mode = handle->round_mode; });
}

mluOpStatus_t mluOpGetReservedMemSize(uint64_t* mem_size) {
  return guard(__func__, {{"mem_size", mem_size}}, [&] {
    constexpr long long kDefault = 2081LL * 1024 * 1024;
    std::string problem;
    *mem_size = static_cast<uint64_t>(env_integer("MLUOP_MEM_POOL_SIZE", 0, INT64_MAX, &problem).value_or(kDefault));
    if (!problem.empty()) say_once(problem);
  });
}
