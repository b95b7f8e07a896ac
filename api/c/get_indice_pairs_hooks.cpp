// The descriptor of sparse convolutions, which has arrays and statuses of its own.
#include <limits>

#include "api/c/boundary.h"
#include "common/op/get_indice_pairs.h"
#include "mluops/op/get_indice_pairs.h"

using namespace mluops;

namespace {

/// The pointers of this family's descriptor functions; their codes are the vendor's.
Status is_there(mluOpStatus_t code, const char* name, const void* pointer) {
  if (pointer != nullptr) return Status::go_on();
  return Status::error(code, std::string(name) + ": wanted a pointer, got NULL");
}

}  // namespace

mluOpStatus_t mluOpCreateSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t* desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "desc", desc));
    *desc = new mluOpSparseConvolutionStruct;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpSetSparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t sparse_conv_desc, int dimNb,
                                                  int batch, const int pad[], const int stride[], const int dilation[],
                                                  const int input_space[], const int filter_space[],
                                                  const int output_space[], const int sub_m, const int transpose,
                                                  const int inverse) {
  return guard(__func__, {{"sparse_conv_desc", sparse_conv_desc}}, [&]() -> Status {
    struct Numbers {
      const char* name;
      const int* values;
      int least;
      std::int32_t mluopsSparseAxis::*member;
    };
    const Numbers all[] = {{"pad", pad, 0, &mluopsSparseAxis::pad},
                           {"stride", stride, 1, &mluopsSparseAxis::stride},
                           {"dilation", dilation, 1, &mluopsSparseAxis::dilation},
                           {"input_space", input_space, 1, &mluopsSparseAxis::input},
                           {"filter_space", filter_space, 1, &mluopsSparseAxis::filter},
                           {"output_space", output_space, 1, &mluopsSparseAxis::output}};
    for (const Numbers& n : all) MLUOPS_RETURN_IF_FINISHED(op::not_null(n.name, n.values));
    MLUOPS_RETURN_IF_FINISHED(op::in_range("dimNb", dimNb, 4, MLUOPS_MOST_SPARSE_AXES + 2));
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    MLUOPS_RETURN_IF_FINISHED(op::in_range("batch", batch, 1, most));
    MLUOPS_RETURN_IF_FINISHED(op::in_range("transpose", transpose, 0, 1));
    MLUOPS_RETURN_IF_FINISHED(op::in_range("inverse", inverse, 0, 0));
    mluOpSparseConvolutionStruct made;
    made.axes = dimNb - 2;
    made.batch = batch;
    made.sub_m = sub_m != 0;
    made.transpose = transpose != 0;
    for (const Numbers& n : all) {
      for (int i = 0; i < made.axes; ++i) {
        MLUOPS_RETURN_IF_FINISHED(op::in_range(n.name, n.values[i], n.least, most));
        made.axis[i].*n.member = n.values[i];
      }
    }
    *sparse_conv_desc = made;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetSparseConvolutionNumActOut(mluOpSparseConvolutionDescriptor_t desc, int* num_act_out) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "desc", desc));
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_NOT_INITIALIZED, "num_act_out", num_act_out));
    *num_act_out = desc->num_act_out;
    return Status::go_on();
  });
}

mluOpStatus_t mluOpDestroySparseConvolutionDescriptor(mluOpSparseConvolutionDescriptor_t desc) {
  return guard(__func__, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(is_there(MLUOP_STATUS_EXECUTION_FAILED, "desc", desc));
    delete desc;
    return Status::go_on();
  });
}
