// Tensors in Python, for the functions of extensions.
#include <mluops_bindings.h>
#include <torch/csrc/autograd/python_variable.h>

namespace mluops_bindings {

bool is_tensor(PyObject* object) {
  return THPVariable_Check(object);
}
const at::Tensor& tensor_of(PyObject* object) {
  return THPVariable_Unpack(object);
}
PyObject* python_of(const at::Tensor& tensor) {
  return THPVariable_Wrap(tensor);
}

}  // namespace mluops_bindings
