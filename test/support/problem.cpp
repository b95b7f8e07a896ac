#include "test/support/problem.h"

namespace mluops::test {

Problem::Problem(Description description) : spec_(std::move(description)) {
  const std::size_t misalign = static_cast<std::size_t>(text().real_or("misalign", 0));
  for (const TensorSpec& t : spec_.tensors) {
    auto& group = t.is_output() ? outputs : inputs;
    group.push_back(std::make_unique<Tensor>(t.name, t.layout, t.dtype, t.dims, misalign));
    in_order_.push_back(group.back().get());
    if (!t.is_output()) write(t.fill, t.dtype, t.elements(), group.back()->data());
  }
  arguments_.resize(in_order_.size());
}

const TensorSpec& Problem::output_spec(std::size_t i) const {
  for (const TensorSpec& t : spec_.tensors) {
    if (t.is_output() && i-- == 0) return t;
  }
  throw std::out_of_range(text().text() + ": no such output");
}

mluOpStatus_t Problem::call(mluOpHandle_t handle) {
  for (std::size_t i = 0; i < in_order_.size(); ++i) arguments_[i] = {in_order_[i]->desc(), in_order_[i]->data()};
  return spec_.call(handle, arguments_);
}

Inputs Problem::input_data() const {
  Inputs data;
  for (const auto& t : inputs) data.push_back(t->data());
  return data;
}

}  // namespace mluops::test
