// Sequences of calls of the C API: handles, settings, descriptors and operators, with arguments that lie. What was set
// last is what a getter answers; every failure has a text.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "test/fuzz/hostile.h"
#include "test/fuzz/targets/small_case.h"
#include "test/fuzz/targets/target.h"

namespace mluops::test {
namespace {

constexpr int kMostSteps = 60;

const char* const kWords[] = {"cpu",         "mlu_emu",     "cpu,mlu_emu", "mlu_emu,cpu",   "",
                              "none",        ",",           "cpu,cpu",     "isa",           "threading",
                              "scatter",     "path",        "arch",        "clusters",      "order",
                              "check",       "nram_bytes",  "trace",       "rates",         "cores_per_cluster",
                              "auto",        "sse2",        "avx2",        "threads",       "openmp",
                              "tbb",         "owner",       "atomic",      "mtp_220",       "mtp_372",
                              "2",           "1",           "65536",       "off",           "on",
                              "all",         "memory,race", "serial",      "parallel",      "shuffled:3",
                              "report",      "last_path",   "last_paths",  "scratch_bytes", "layouts",
                              "last_scatter"};
const int kNumbers[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 17, -1, -2, 64, 100, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};

/// A word of the library's, or any characters.
std::string any_text(Choices& choices) {
  if (!choices.chance(0.1)) return choices.pick(kWords);
  std::string text;
  for (std::int64_t i = choices.integer(0, 12); i > 0; --i) text += static_cast<char>(choices.bits(1));
  return text;
}

/// Calls the tasks in order or backwards; on its way uses the handle it was called for.
struct Pool {
  mluOpHandle_t handle = nullptr;
  bool backwards = false, intrudes = false;

  static void parallel_for(void* context, std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
    const Pool& self = *static_cast<Pool*>(context);
    char text[16];
    if (self.intrudes &&
        mluOpExtQuery(self.handle, "cpu", "isa", text, sizeof text, nullptr) != MLUOP_STATUS_BAD_PARAM) {
      require_harmless("a handle in use answered its own call", "executor");
    }
    for (std::int64_t i = 0; i < tasks; ++i) body(arg, self.backwards ? tasks - 1 - i : i);
  }
};

/// A handle and what was set last.
struct Slot {
  mluOpHandle_t handle = nullptr;
  Pool pool = {};
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_STRICT;
  mluOpAtomicsMode_t atomics = MLUOP_ATOMICS_NOT_ALLOWED;
};

class Sequence {
 public:
  explicit Sequence(ByteChoices choices) : choices_(choices) {}
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() {
    for (const Slot& slot : slots_) {
      if (slot.handle != nullptr) mluOpDestroy(slot.handle);
    }
    for (const mluOpTensorDescriptor_t desc : descs_) {
      if (desc != nullptr) mluOpDestroyTensorDescriptor(desc);
    }
  }

  void run() {
    for (int i = 0; i < kMostSteps && !choices_.empty(); ++i) step();
  }

 private:
  using Step = void (Sequence::*)();

  void step() {
    static constexpr Step kSteps[] = {&Sequence::make_handle,   &Sequence::destroy_handle, &Sequence::set_backend,
                                      &Sequence::set_option,    &Sequence::query,          &Sequence::settings,
                                      &Sequence::set_executor,  &Sequence::getters,        &Sequence::make_desc,
                                      &Sequence::destroy_desc,  &Sequence::set_desc,       &Sequence::set_desc_dims,
                                      &Sequence::get_desc,      &Sequence::other_desc,     &Sequence::group_of_descs,
                                      &Sequence::call_operator, &Sequence::call_operator,  &Sequence::names};
    slot_ = &slots_[static_cast<std::size_t>(choices_.integer(0, std::ssize(slots_) - 1))];
    desc_ = &descs_[static_cast<std::size_t>(choices_.integer(0, std::ssize(descs_) - 1))];
    (this->*choices_.pick(kSteps))();
  }

  /// A failure is one a caller can be told, with a text.
  mluOpStatus_t look(mluOpStatus_t status, const char* what) {
    const bool known = status == MLUOP_STATUS_SUCCESS || status == MLUOP_STATUS_BAD_PARAM ||
                       status == MLUOP_STATUS_NOT_SUPPORTED || status == MLUOP_STATUS_NOT_INITIALIZED ||
                       status == MLUOP_STATUS_ALLOC_FAILED;
    require_harmless(known ? "" : mluOpGetErrorString(status) + std::string(": ") + mluOpExtGetLastErrorText(), what);
    const bool silent = status != MLUOP_STATUS_SUCCESS && *mluOpExtGetLastErrorText() == '\0';
    require_harmless(silent ? "failed without a text" : "", what);
    return status;
  }
  void agree(bool same, const char* what) { require_harmless(same ? "" : "a getter answers something else", what); }
  int any_number() { return choices_.pick(kNumbers); }

  // ---- handles ----

  void make_handle() {
    if (slot_->handle != nullptr) return;
    *slot_ = {};
    look(mluOpCreate(choices_.chance(0.05) ? nullptr : &slot_->handle), "mluOpCreate");
  }
  void destroy_handle() {
    const mluOpStatus_t status = look(mluOpDestroy(slot_->handle), "mluOpDestroy");
    agree((status == MLUOP_STATUS_SUCCESS) == (slot_->handle != nullptr), "mluOpDestroy");
    slot_->handle = nullptr;
  }
  void set_backend() {
    const std::string chain = any_text(choices_);
    look(mluOpExtSetBackend(slot_->handle, chain.c_str()), "mluOpExtSetBackend");
  }
  void set_option() {
    const std::string backend = any_text(choices_), key = any_text(choices_), value = any_text(choices_);
    look(
        mluOpExtSetOption(slot_->handle, backend.c_str(), key.c_str(), choices_.chance(0.05) ? nullptr : value.c_str()),
        "mluOpExtSetOption");
  }
  void query() {
    const std::string backend = any_text(choices_), key = any_text(choices_);
    std::vector<char> buffer(static_cast<std::size_t>(choices_.integer(0, 40)));
    std::size_t length = 0;
    const mluOpStatus_t status = look(mluOpExtQuery(slot_->handle, backend.c_str(), key.c_str(), buffer.data(),
                                                    buffer.size(), choices_.chance(0.5) ? &length : nullptr),
                                      "mluOpExtQuery");
    const bool ended = buffer.empty() || std::find(buffer.begin(), buffer.end(), '\0') != buffer.end();
    agree(status != MLUOP_STATUS_SUCCESS || ended, "mluOpExtQuery");
  }
  void settings() {
    const int value = any_number();
    const auto contract = static_cast<mluOpExtContract_t>(value);
    if (look(mluOpExtSetContract(slot_->handle, contract), "mluOpExtSetContract") == MLUOP_STATUS_SUCCESS) {
      slot_->contract = contract;
    }
    const auto atomics = static_cast<mluOpAtomicsMode_t>(any_number());
    if (look(mluOpSetAtomicsMode(slot_->handle, atomics), "mluOpSetAtomicsMode") == MLUOP_STATUS_SUCCESS) {
      slot_->atomics = atomics;
    }
    look(mluOpSetQuantizeRoundMode(slot_->handle, static_cast<mluOpQuantizeRoundMode_t>(any_number())), "round mode");
    look(mluOpExtSetNumThreads(slot_->handle, any_number()), "mluOpExtSetNumThreads");
    static constexpr double kScalars[16] = {0.1, 0, -1, 1e300, 0.5};
    look(mluOpExtSetScalars(slot_->handle, kScalars, value), "mluOpExtSetScalars");
    look(mluOpSetQueue(slot_->handle, nullptr), "mluOpSetQueue");
    look(mluOpUpdateContextInformation(slot_->handle), "mluOpUpdateContextInformation");
  }
  void set_executor() {
    Slot& s = *slot_;
    s.pool = {s.handle, choices_.chance(0.5), choices_.chance(0.5)};
    const mluOpExtExecutor_t executor{&s.pool, choices_.chance(0.1) ? nullptr : Pool::parallel_for};
    look(mluOpExtSetExecutor(s.handle, choices_.chance(0.3) ? nullptr : &executor), "mluOpExtSetExecutor");
  }
  void getters() {
    mluOpExtContract_t contract{};
    mluOpAtomicsMode_t atomics{};
    mluOpQuantizeRoundMode_t mode{};
    cnrtQueue_t queue{};
    int threads = 1;
    std::uint64_t bytes = 0;
    const char* text = "";
    const mluOpHandle_t h = slot_->handle;
    if (look(mluOpExtGetContract(h, &contract), "contract") == MLUOP_STATUS_SUCCESS) {
      agree(contract == slot_->contract, "mluOpExtGetContract");
      look(mluOpGetAtomicsMode(h, &atomics), "atomics");
      agree(atomics == slot_->atomics, "mluOpGetAtomicsMode");
    }
    look(mluOpGetQuantizeRoundMode(h, &mode), "round mode");
    look(mluOpGetQueue(h, &queue), "queue");
    look(mluOpExtGetNumThreads(h, &threads), "threads");
    agree(threads > 0, "mluOpExtGetNumThreads");
    look(mluOpExtGetBackend(h, &text), "backend");
    look(mluOpExtGetLastRunBackend(h, &text), "last run backend");
    look(mluOpGetReservedMemSize(&bytes), "reserved");
    for (const auto status :
         {mluOpExtGetContract(h, nullptr), mluOpGetAtomicsMode(h, nullptr), mluOpGetQueue(h, nullptr)}) {
      agree(look(status, "getter without a place") == MLUOP_STATUS_BAD_PARAM, "getter without a place");
    }
  }

  // ---- descriptors ----

  void make_desc() {
    if (*desc_ == nullptr) look(mluOpCreateTensorDescriptor(desc_), "mluOpCreateTensorDescriptor");
  }
  void destroy_desc() {
    look(mluOpDestroyTensorDescriptor(*desc_), "mluOpDestroyTensorDescriptor");
    *desc_ = nullptr;
  }
  template <class T>
  std::array<T, 64> sizes() {
    std::array<T, 64> values;
    values.fill(1);
    for (std::size_t i = 0; i < 8; ++i)
      values[i] = static_cast<T>(choices_.chance(0.05) ? choices_.bits(8) : choices_.bits(1) % 8);
    return values;
  }
  int rank() { return static_cast<int>(choices_.chance(0.9) ? choices_.integer(0, 9) : choices_.integer(-2, 64)); }
  void set_desc() {
    const auto layout = static_cast<mluOpTensorLayout_t>(any_number());
    const auto dtype = static_cast<mluOpDataType_t>(any_number());
    const auto dims = sizes<int>(), strides = sizes<int>();
    const auto wide = sizes<std::int64_t>(), wide_strides = sizes<std::int64_t>();
    switch (choices_.integer(0, 4)) {
      case 0:
        look(mluOpSetTensorDescriptor(*desc_, layout, dtype, rank(), dims.data()), "set");
        break;
      case 1:
        look(mluOpSetTensorDescriptor_v2(*desc_, layout, dtype, rank(), wide.data()), "set v2");
        break;
      case 2:
        look(mluOpSetTensorDescriptorEx(*desc_, layout, dtype, rank(), dims.data(), strides.data()), "set ex");
        break;
      case 3:
        look(mluOpSetTensorDescriptorEx_v2(*desc_, layout, dtype, rank(), wide.data(), wide_strides.data()),
             "set ex v2");
        break;
      default:
        look(mluOpSetTensorDescriptor_v2(*desc_, layout, dtype, rank(), nullptr), "set without sizes");
    }
  }
  void set_desc_dims() {
    const auto dims = sizes<int>();
    const auto wide = sizes<std::int64_t>();
    look(mluOpSetTensorDescriptorDim(*desc_, rank(), dims.data()), "dim");
    look(mluOpSetTensorDescriptorDim_v2(*desc_, rank(), wide.data()), "dim v2");
    look(mluOpSetTensorDescriptorPointerMode(*desc_, static_cast<mluOpPointerMode_t>(any_number())), "pointer mode");
    look(mluOpSetTensorDescriptorOnchipDataType(*desc_, static_cast<mluOpDataType_t>(any_number())), "onchip");
    look(mluOpSetTensorDescriptorPositionScaleAndOffset(*desc_, any_number(), 0.5f, any_number()), "position");
    if (choices_.chance(0.2)) look(mluOpResetTensorDescriptor(*desc_), "reset");
  }
  void get_desc() {
    mluOpTensorLayout_t layout{};
    mluOpDataType_t dtype{};
    std::array<int, 128> dims, strides;
    std::array<std::int64_t, 128> wide, wide_strides;
    int count = 0, count_v2 = 0;
    const mluOpStatus_t narrow =
        look(mluOpGetTensorDescriptorEx(*desc_, &layout, &dtype, &count, dims.data(), strides.data()), "get");
    const mluOpStatus_t all = look(
        mluOpGetTensorDescriptorEx_v2(*desc_, &layout, &dtype, &count_v2, wide.data(), wide_strides.data()), "get v2");
    agree((all == MLUOP_STATUS_SUCCESS) == (*desc_ != nullptr), "get v2");
    if (narrow != MLUOP_STATUS_SUCCESS) return;
    agree(count == count_v2 && std::equal(dims.begin(), dims.begin() + count, wide.begin()), "32 and 64 bits");
    agree(std::equal(strides.begin(), strides.begin() + count, wide_strides.begin()), "strides of 32 and 64 bits");
    (void)mluOpGetTensorElementNum(*desc_);
  }
  void other_desc() {
    mluOpCarafeDescriptor_t carafe = nullptr;
    mluOpNmsDescriptor_t nms = nullptr;
    if (choices_.chance(0.9)) look(mluOpCreateCarafeDescriptor(&carafe), "carafe");
    if (choices_.chance(0.9)) look(mluOpCreateNmsDescriptor(&nms), "nms");
    look(mluOpSetCarafeDescriptor(carafe, any_number(), any_number(), any_number(), any_number()), "set carafe");
    look(mluOpSetNmsDescriptor(
             nms, static_cast<mluOpNmsBoxPointMode_t>(any_number()), static_cast<mluOpNmsOutputMode_t>(any_number()),
             static_cast<mluOpNmsAlgo_t>(any_number()), static_cast<mluOpNmsMethodMode_t>(any_number()), 0.5f,
             static_cast<float>(any_number()), any_number(), static_cast<float>(any_number()),
             static_cast<float>(any_number()), any_number(), choices_.chance(0.5)),
         "set nms");
    std::size_t size = 0;
    look(mluOpGetNmsWorkspaceSize(slot_->handle, nms, *desc_, *desc_, &size), "nms workspace");
    look(mluOpDestroyCarafeDescriptor(carafe), "destroy carafe");
    look(mluOpDestroyNmsDescriptor(nms), "destroy nms");
  }
  void group_of_descs() {
    std::array<mluOpTensorDescriptor_t, 3> made{};
    std::array<mluOpTensorDescriptor_t*, 3> group{&made[0], &made[1], &made[2]};
    const int count = static_cast<int>(choices_.integer(-1, 3));
    if (look(mluOpCreateGroupTensorDescriptors(group.data(), count), "group") != MLUOP_STATUS_SUCCESS) return;
    const auto wide = sizes<std::int64_t>();
    const mluOpTensorLayout_t layouts[3] = {MLUOP_LAYOUT_NHWC, MLUOP_LAYOUT_ARRAY,
                                            static_cast<mluOpTensorLayout_t>(any_number())};
    const mluOpDataType_t dtypes[3] = {MLUOP_DTYPE_HALF, MLUOP_DTYPE_INT32, static_cast<mluOpDataType_t>(any_number())};
    const int ranks[3] = {4, 1, static_cast<int>(choices_.integer(-1, 8))};
    look(mluOpSetGroupTensorDescriptors_v2(group.data(), layouts, dtypes, ranks, wide.data(), count), "set group");
    look(mluOpDestroyGroupTensorDescriptors(group.data(), count), "destroy group");
  }

  // ---- operators ----

  /// The smallest problem of an operator, maybe with lies; the handle as the sequence left it.
  void call_operator() {
    const cases::OperatorCases* const found = pick_operator(choices_);
    if (found == nullptr) return;
    const cases::OperatorCases& op = *found;
    const mluOpDataType_t dtype = choices_.chance(0.7) ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_HALF;
    const cases::Cases smallest = cases::cases_of(op, op.smallest);
    Problem problem = make_problem(choices_.pick(smallest), dtype);
    const Lies lies = choices_.chance(0.5) ? lie(problem, choices_) : Lies{};
    if (lies.about_shape && slot_->contract != MLUOP_EXT_CONTRACT_STRICT) return;
    const Harm harm = call_and_look(problem, slot_->handle);
    const bool memory = harm.status == MLUOP_STATUS_ALLOC_FAILED;  // of as many threads as an int can name
    require_harmless(memory ? "" : harm.text, problem.text().text() + lies.log);
    agree(harm.status != MLUOP_STATUS_SUCCESS || slot_->handle != nullptr, op.function);
  }
  void names() {
    const int value = any_number();
    std::size_t size = 0;
    agree(mluOpGetErrorString(static_cast<mluOpStatus_t>(value)) != nullptr, "mluOpGetErrorString");
    agree(mluOpGetNameOfDataType(static_cast<mluOpDataType_t>(value)) != nullptr, "mluOpGetNameOfDataType");
    agree(mluOpGetNameOfTensorLayout(static_cast<mluOpTensorLayout_t>(value)) != nullptr, "mluOpGetNameOfTensorLayout");
    look(mluOpGetSizeOfDataType(static_cast<mluOpDataType_t>(value), &size), "mluOpGetSizeOfDataType");
    const bool inside = value >= 0 && value < mluOpExtGetBackendCount();
    agree((mluOpExtGetBackendName(value) != nullptr) == inside, "mluOpExtGetBackendName");
    agree((mluOpExtGetBackendDescription(value) != nullptr) == inside, "mluOpExtGetBackendDescription");
  }

  ByteChoices choices_;
  std::array<Slot, 2> slots_;
  std::array<mluOpTensorDescriptor_t, 3> descs_{};
  Slot* slot_ = nullptr;
  mluOpTensorDescriptor_t* desc_ = nullptr;
};

}  // namespace

void fuzz_api(const std::uint8_t* data, std::size_t size) {
  Sequence({data, size}).run();
}

}  // namespace mluops::test
