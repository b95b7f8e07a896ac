#include "common/op/indice_max_pool.h"

#include <algorithm>

#include "common/case_text.h"
#include "common/op/indice_pairs.h"

namespace mluops::op {
namespace {

/// Rows of channels like those of features: rank, dtype, channels.
Status is_like(const TensorArg& t, const TensorArg& features) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(t, 2));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(t, features));
  return has_dim(t, 1, features.desc->dims[1], "the channels of features");
}

Status check_features(const TensorArg& features, const TensorArg& pairs, const std::int64_t* indice_num,
                      mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_rank(features, 2));
  MLUOPS_RETURN_IF_FINISHED(has_rank(pairs, 3));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(features, contract));
  MLUOPS_RETURN_IF_FINISHED(is_countable(pairs, contract));
  return check_indice_pairs(pairs, indice_num);
}

mluopsIndiceMaxPoolShape pool_shape(const TensorArg& features, const TensorArg& features_out) {
  const auto& dims = features.desc->dims;
  return {features.desc->dtype, dims[0], features_out.desc->dims[0], dims[1]};
}

}  // namespace

Status check_indice_max_pool_forward(const IndiceMaxPoolForwardArgs& a, mluopsIndiceMaxPoolForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.features, a.indice_pairs, a.features_out};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_features(a.features, a.indice_pairs, a.indice_num, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_like(a.features_out, a.features));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.features, 0));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.features_out, 0));
  if (any_empty(all)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.features, a.indice_pairs}, {a.features_out}));
  problem = {pool_shape(a.features, a.features_out), indice_pairs_of(a.indice_pairs, a.indice_num), a.features.data,
             const_cast<void*>(a.features_out.data)};
  return Status::go_on();
}

Status check_indice_max_pool_backward(const IndiceMaxPoolBackwardArgs& a, mluopsIndiceMaxPoolBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.features, a.features_out, a.output_grad, a.indice_pairs, a.input_grad};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(check_features(a.features, a.indice_pairs, a.indice_num, a.handle->contract));
  for (const TensorArg& t : {a.features_out, a.output_grad, a.input_grad}) {
    MLUOPS_RETURN_IF_FINISHED(is_like(t, a.features));
  }
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.output_grad, a.features_out));
  MLUOPS_RETURN_IF_FINISHED(same_dims(a.input_grad, a.features));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable(all, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.features, 0));
  MLUOPS_RETURN_IF_FINISHED(is_indexable(a.features_out, 0));
  if (any_empty(all)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.features, a.features_out, a.output_grad, a.indice_pairs}, {a.input_grad}));
  problem = {pool_shape(a.features, a.features_out),
             indice_pairs_of(a.indice_pairs, a.indice_num),
             a.features.data,
             a.features_out.data,
             a.output_grad.data,
             const_cast<void*>(a.input_grad.data)};
  return Status::go_on();
}

namespace {

std::string keys_of(const mluopsIndiceMaxPoolShape& s, const mluopsIndicePairs& pairs) {
  return CaseKeys()("l", s.inputs)("m", s.outputs)("c", s.c)("k", pairs.offsets).text();
}

}  // namespace

std::string case_keys(const mluopsIndiceMaxPoolForwardProblem& p) {
  return keys_of(p.shape, p.pairs);
}
std::string case_keys(const mluopsIndiceMaxPoolBackwardProblem& p) {
  return keys_of(p.shape, p.pairs);
}

}  // namespace mluops::op
