// Runs a model with mluops' operators without Python: an AOTInductor package (.pt2) or a TorchScript file.
// Usage: run_model MODEL INPUTS OUTPUTS, the inputs a list of tensors that torch.save wrote; torch.load reads the
// outputs.
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/script.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::vector<at::Tensor> tensors(at::ArrayRef<c10::IValue> values) {
  std::vector<at::Tensor> found;
  for (const c10::IValue& value : values) found.push_back(value.toTensor());
  return found;
}

std::vector<at::Tensor> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return tensors(torch::jit::pickle_load(bytes).toListRef());
}

void write(const std::string& path, const std::vector<at::Tensor>& tensors) {
  const std::vector<char> bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create({tensors.begin(), tensors.end()}));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<at::Tensor> run(const std::string& model, const std::vector<at::Tensor>& inputs) {
  if (model.size() > 4 && model.substr(model.size() - 4) == ".pt2") {
    return torch::inductor::AOTIModelPackageLoader(model).run(inputs);
  }
  const c10::IValue result = torch::jit::load(model).forward({inputs.begin(), inputs.end()});
  return tensors(result.toTupleRef().elements());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: run_model MODEL INPUTS OUTPUTS\n");
    return 2;
  }
  const c10::InferenceMode inference;
  write(argv[3], run(argv[1], read(argv[2])));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
