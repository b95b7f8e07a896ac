#include "common/op/prior_box.h"

#include "api/c/boundary.h"
#include "common/dispatch.h"
#include "mluops/op/prior_box.h"

using namespace mluops;

mluOpStatus_t mluOpPriorBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t min_sizes_desc, const void* min_sizes,
                            const mluOpTensorDescriptor_t aspect_ratios_desc, const void* aspect_ratios,
                            const mluOpTensorDescriptor_t variances_desc, const void* variances,
                            const mluOpTensorDescriptor_t max_sizes_desc, const void* max_sizes, const int height,
                            const int width, const int im_height, const int im_width, const float step_h,
                            const float step_w, const float offset, const bool clip,
                            const bool min_max_aspect_ratios_order, const mluOpTensorDescriptor_t output_desc,
                            void* output, const mluOpTensorDescriptor_t var_desc, void* var) {
  return guard_operator(
      __func__, handle, {{"step_h", step_h}, {"step_w", step_w}, {"offset", offset}},
      [&](const auto& scalars) -> Status {
        mluopsPriorBoxProblem problem;
        MLUOPS_RETURN_IF_FINISHED(op::check_prior_box({handle,
                                                       {"min_sizes", min_sizes_desc, min_sizes},
                                                       {"aspect_ratios", aspect_ratios_desc, aspect_ratios},
                                                       {"variances", variances_desc, variances},
                                                       {"max_sizes", max_sizes_desc, max_sizes},
                                                       height,
                                                       width,
                                                       im_height,
                                                       im_width,
                                                       scalars[0],
                                                       scalars[1],
                                                       scalars[2],
                                                       clip,
                                                       min_max_aspect_ratios_order,
                                                       {"output", output_desc, output},
                                                       {"var", var_desc, var}},
                                                      problem));
        return dispatch(*handle, "prior_box", problem, &mluopsBackend::prior_box);
      });
}
