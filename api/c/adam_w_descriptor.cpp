#include <cstring>

#include "api/c/boundary.h"
#include "common/op/adam_w_form.h"
#include "common/op/check.h"
#include "mluops/op/adam_w.h"

using namespace mluops;

namespace {

/// member = the T at buf.
template <class T, class Member>
Status set_attribute(Member& member, const void* buf, std::size_t bytes) {
  if (bytes != sizeof(T)) {
    return Status::bad_param(op::text_of("size_in_bytes: wanted ", sizeof(T), ", got ", bytes));
  }
  T value;
  std::memcpy(&value, buf, sizeof value);
  member = static_cast<Member>(value);
  return Status::go_on();
}

}  // namespace

mluOpStatus_t mluOpCreateAdamWDescriptor(mluOpAdamWDescriptor_t* adamw_desc) {
  return guard(__func__, {{"adamw_desc", adamw_desc}}, [&] { *adamw_desc = new mluOpAdamWStruct; });
}

mluOpStatus_t mluOpSetAdamWDescAttr(mluOpAdamWDescriptor_t adamw_desc, mluOpAdamWDescAttribute_t attr, const void* buf,
                                    const size_t size_in_bytes) {
  return guard(__func__, {{"adamw_desc", adamw_desc}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("attr", attr, 0, MLUOP_ADAMW_NEED_REMOVE_NAN));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("buf", buf));
    switch (attr) {
      case MLUOP_ADAMW_WEIGHT_DECAY:
        return set_attribute<float>(adamw_desc->weight_decay, buf, size_in_bytes);
      case MLUOP_ADAMW_GRAD_SCALE:
        return set_attribute<float>(adamw_desc->grad_scale, buf, size_in_bytes);
      case MLUOP_ADAMW_USE_NESTEROV:
        return set_attribute<unsigned char>(adamw_desc->use_nesterov, buf, size_in_bytes);
      default:
        return set_attribute<unsigned char>(adamw_desc->need_remove_nan, buf, size_in_bytes);
    }
  });
}

mluOpStatus_t mluOpDestroyAdamWDescriptor(mluOpAdamWDescriptor_t adamw_desc) {
  return guard(__func__, {{"adamw_desc", adamw_desc}}, [&] { delete adamw_desc; });
}
