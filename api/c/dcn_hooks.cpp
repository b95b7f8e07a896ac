// The descriptor of deformable convolution, which has arrays.
#include "api/c/boundary.h"
#include "common/op/dcn.h"
#include "mluops/op/dcn.h"

using namespace mluops;

mluOpStatus_t mluOpSetDCNDescriptor(mluOpDCNDescriptor_t dcn_desc, int dimNb, const int pad[], const int stride[],
                                    const int dilation[], int deformable_group, int conv_group, int im2col_step,
                                    const mluOpDataType_t compute_type) {
  return guard(__func__, {{"dcn_desc", dcn_desc}}, [&]() -> Status {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("dimNb", dimNb, 4, 4));
    MLUOPS_RETURN_IF_FINISHED(op::are_given({{"pad", pad}, {"stride", stride}, {"dilation", dilation}}));
    for (int i = 0; i < 4; ++i) MLUOPS_RETURN_IF_FINISHED(op::at_least("pad", pad[i], 0));
    for (int i = 0; i < 2; ++i) MLUOPS_RETURN_IF_FINISHED(op::at_least("stride", stride[i], 1));
    for (int i = 0; i < 2; ++i) MLUOPS_RETURN_IF_FINISHED(op::at_least("dilation", dilation[i], 1));
    MLUOPS_RETURN_IF_FINISHED(op::at_least("deformable_group", deformable_group, 1));
    MLUOPS_RETURN_IF_FINISHED(op::at_least("conv_group", conv_group, 1));
    MLUOPS_RETURN_IF_FINISHED(op::at_least("im2col_step", im2col_step, 1));
    if (compute_type != MLUOP_DTYPE_FLOAT)
      return Status::bad_param(std::string("compute_type: wanted DTYPE_FLOAT, got ") + dtype_name(compute_type));
    *dcn_desc = {{pad[0], pad[1], pad[2], pad[3]},
                 {stride[0], stride[1]},
                 {dilation[0], dilation[1]},
                 deformable_group,
                 conv_group,
                 im2col_step};
    return Status::go_on();
  });
}
