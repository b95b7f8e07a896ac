#include "plugins/device/call.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "mlu_op.h"
#include "test/cases/base/contract.h"
#include "test/cases/base/in_out.h"

namespace mluops::device {
namespace {

constexpr std::size_t kMostPrepared = 256;

/// A status of the library, with its reason where the library is one of this project.
std::string text_of(const Library& library, mluOpStatus_t status) {
  const char* const name = mluOpGetErrorString(status);
  std::string text = "status " + std::to_string(status) + (name != nullptr ? std::string(" ") + name : "");
  const auto reason = reinterpret_cast<const char* (*)()>(library.find("mluOpExtGetLastErrorText"));
  if (reason != nullptr) text.append(": ").append(reason());
  return text;
}

/// What the library cannot be asked about is declined.
void demand(const Library& library, mluOpStatus_t status, const char* function) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  throw std::invalid_argument(std::string(function) + ": " + text_of(library, status));
}

mluOpDataType_t dtype_of(const cases::OperatorCases& op, const cases::Case& text) {
  std::vector<mluOpDataType_t> all = op.dtypes.strict;
  all.insert(all.end(), op.dtypes.extended.begin(), op.dtypes.extended.end());
  const auto found = std::ranges::find_if(all, [&](mluOpDataType_t dtype) { return names_dtype(text, dtype); });
  if (found == all.end()) throw std::invalid_argument("dtype: the C function has no such one");
  return text.has("dtype") ? *found : op.dtypes.strict.back();
}

cases::Description describe(const std::string& text) {
  const cases::Case parsed = cases::Case::parse(text);
  return cases::describe(parsed, dtype_of(cases::find_operator(parsed.op()), parsed));
}

const HostTensor* find(HostTensors tensors, const std::string& name) {
  const auto found = std::ranges::find_if(tensors, [&](const HostTensor& t) { return name == t.name; });
  return found == tensors.end() ? nullptr : found;
}

/// The counts of pairs of sparse convolutions, which lie on the host.
void put_counts(cases::Description& d, HostTensors tensors) {
  const HostTensor* const counts = find(tensors, "indice_num");
  if (d.counts == nullptr || counts == nullptr || counts->data == nullptr) return;
  std::memcpy(d.counts->data(), counts->data, d.counts->size() * sizeof(std::int64_t));
}

}  // namespace

class Context::Prepared {
 public:
  Prepared(const Library& library, const std::string& text) : description(describe(text)) {
    for (const cases::TensorSpec& t : description.tensors) {
      descriptors.push_back(nullptr);
      if (!t.pointer_only && !cases::is_initial(t.name)) describe_tensor(library, t, descriptors.back());
    }
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (mluOpTensorDescriptor_t one : descriptors) {
      if (one != nullptr) mluOpDestroyTensorDescriptor(one);
    }
  }

  cases::Description description;
  std::vector<mluOpTensorDescriptor_t> descriptors;  ///< nullptr where the C function takes none

 private:
  static void describe_tensor(const Library& library, const cases::TensorSpec& t, mluOpTensorDescriptor_t& made) {
    std::vector<int> dims;
    for (const std::int64_t dim : t.dims) {
      if (dim > std::numeric_limits<int>::max()) throw std::invalid_argument(t.name + ": wanted sizes below 2^31");
      dims.push_back(static_cast<int>(dim));
    }
    demand(library, mluOpCreateTensorDescriptor(&made), "mluOpCreateTensorDescriptor");
    demand(library, mluOpSetTensorDescriptor(made, t.layout, t.dtype, static_cast<int>(dims.size()), dims.data()),
           "mluOpSetTensorDescriptor");
  }
};

Context::Context() : library_(Library::instance()) {
  const OnCard on_card(library_);
  Scope scope(library_);
  queue_ = library_.runtime().make_queue();
  if (queue_ == nullptr) throw std::runtime_error("cnrtQueueCreate failed");
  mluOpStatus_t status = mluOpCreate(&handle_);
  if (status == MLUOP_STATUS_SUCCESS) status = mluOpSetQueue(handle_, static_cast<cnrtQueue_t>(queue_));
  if (status != MLUOP_STATUS_SUCCESS) {
    const std::string why = text_of(library_, status);
    library_.runtime().end_queue(queue_);
    throw std::runtime_error(library_.path() + ": mluOpCreate: " + why);
  }
  cases::extended_is_allowed = library_.find("mluOpExtSetContract") != nullptr;
}

Context::~Context() {
  try {
    const OnCard on_card(library_);
    Scope scope(library_);
    prepared_.clear();
    mluOpDestroy(handle_);
    library_.runtime().end_queue(queue_);
  } catch (const std::exception&) {  // the card is gone
  }
}

Context::Prepared& Context::prepared(const std::string& text) {
  const auto found = prepared_.find(text);
  if (found != prepared_.end()) return *found->second;
  auto made = std::make_unique<Prepared>(library_, text);
  const std::string& lacking = Scope::current().lacking();
  if (!lacking.empty()) throw std::invalid_argument("it exports no " + lacking);
  if (prepared_.size() == kMostPrepared) prepared_.clear();
  return *prepared_.emplace(text, std::move(made)).first->second;
}

/// What the call is given: blocks of the card with the tensors' contents.
class Tensors {
 public:
  Tensors(const Library& library, const cases::Description& d, const std::vector<mluOpTensorDescriptor_t>& descriptors,
          HostTensors host) {
    blocks_.reserve(d.tensors.size());
    for (std::size_t i = 0; i < d.tensors.size(); ++i) add(library, d.tensors[i], descriptors[i], host);
  }
  const cases::Arguments& arguments() const { return arguments_; }
  void fetch_outputs() const {
    for (const Block& b : blocks_) {
      if (b.output) b.memory.fetch(b.host);
    }
  }

 private:
  struct Block {
    DeviceMemory memory;
    void* host;
    bool output;
  };

  /// Tensors on the card. A description has a tensor that is read and written twice, once with the values before the
  /// call: that one stays empty.
  void add(const Library& library, const cases::TensorSpec& t, mluOpTensorDescriptor_t descriptor, HostTensors host) {
    arguments_.emplace_back();
    if (cases::is_initial(t.name)) return;
    const HostTensor* const tensor = find(host, t.name);
    if (tensor == nullptr)
      throw std::logic_error("tensor " + t.name + " of the C function has no place in the problem");
    if (tensor->data == nullptr) return;
    void* const data = const_cast<void*>(tensor->data);
    blocks_.push_back(
        {DeviceMemory(library.runtime(), data, static_cast<std::size_t>(t.bytes())), data, t.is_output()});
    arguments_.back() = {descriptor, blocks_.back().memory.get()};
  }

  std::vector<Block> blocks_;
  cases::Arguments arguments_;
};

mluOpStatus_t Context::run_on_card(Prepared& p, HostTensors tensors, std::string& reason) {
  put_counts(p.description, tensors);
  const Tensors on_card(library_, p.description, p.descriptors, tensors);
  const mluOpStatus_t status = p.description.call(handle_, on_card.arguments());
  library_.runtime().wait(queue_);
  const std::string& lacking = Scope::current().lacking();
  if (!lacking.empty()) {
    reason = "it exports no " + lacking;
    return MLUOP_STATUS_NOT_SUPPORTED;
  }
  if (status == MLUOP_STATUS_SUCCESS) on_card.fetch_outputs();
  if (status != MLUOP_STATUS_SUCCESS) reason = text_of(library_, status);
  return status;
}

mluOpStatus_t Context::run(const mluopsCall& call, const std::string& text, HostTensors tensors, std::string& reason) {
  const OnCard on_card(library_);
  Scope scope(library_);
  try {
    Prepared& p = prepared(text);
    mluOpSetAtomicsMode(handle_, call.atomics);
    return run_on_card(p, tensors, reason);
  } catch (const std::bad_alloc&) {  // before an output was written
    reason = "no memory of the card for the tensors";
  } catch (const std::invalid_argument& e) {
    reason = e.what();
  }
  return MLUOP_STATUS_NOT_SUPPORTED;
}

}  // namespace mluops::device
