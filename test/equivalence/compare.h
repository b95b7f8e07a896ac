// Random arguments, and the comparison of two functions that are given the same ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "common/capture.h"
#include "common/dispatch.h"
#include "common/op/check.h"
#include "mlu_op.h"
#include "mlu_op_ext.h"
#include "mluops/problem.h"

namespace mluops {

Kept& kept() {
  static Kept one;
  return one;
}

// ---- in place of common/capture.cpp ----

static std::string noted;
bool capturing() noexcept {
  return true;
}
void forget_tensors() noexcept {
  noted.clear();
}
void note_tensor(const char* name, const TensorDesc* desc, const void* data, bool output) {
  if (desc == nullptr || data == nullptr || desc->elements <= 0) return;
  noted += std::string(name) + (output ? ">" : "<") + std::to_string(reinterpret_cast<std::uintptr_t>(data)) + ":" +
           std::to_string(desc->elements) + ":" + std::to_string(desc->dtype) + " ";
}
void note_array(const char* name, mluOpDataType_t, const void* data, std::int64_t count) {
  noted += std::string(name) + std::to_string(reinterpret_cast<std::uintptr_t>(data)) + std::to_string(count) + " ";
}

/// The notes in an order of their own: that of the calls has no meaning.
inline std::string notes() {
  std::vector<std::string> all;
  std::size_t at = 0;
  for (std::size_t end; (end = noted.find(' ', at)) != std::string::npos; at = end + 1) {
    all.push_back(noted.substr(at, end - at));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());  // a tensor noted twice is captured once
  std::string text;
  for (const std::string& one : all) text += one + "\n";
  return text;
}

}  // namespace mluops

using Dims = std::vector<std::int64_t>;
constexpr std::size_t kRoom = 1 << 20;  // bytes of each tensor's memory
alignas(64) inline unsigned char memory[24][kRoom];

struct Tensor {
  mluOpTensorStruct form;
  void* data = nullptr;
  bool given = true;
  mluOpTensorDescriptor_t desc() { return given ? &form : nullptr; }
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {
    new (raw_) mluOpContext;
    handle_ = reinterpret_cast<mluOpContext*>(raw_);
    context_ = handle_;
  }

  /// Whether one more thing of this call is to be broken, with a chance.
  bool breaks(unsigned of) {
    if (left_ == 0 || !chance(of)) return false;
    --left_;
    return true;
  }
  bool single() const { return single_; }
  bool chance(unsigned of) { return engine_() % of == 0; }
  std::int64_t pick(std::initializer_list<std::int64_t> all) { return all.begin()[engine_() % all.size()]; }

  void handle(bool extended) {
    handle_ = context_;
    context_->contract = extended ? MLUOP_EXT_CONTRACT_EXTENDED : static_cast<mluOpExtContract_t>(0);
    extended_ = extended;
    left_ = chance(2) ? 0 : chance(2) ? 1 : 99;
    single_ = left_ <= 1;
    if (breaks(50)) handle_ = nullptr;
    exact_ = chance(8);
  }
  /// From low to high, and now and then not.
  std::int64_t number(std::int64_t low, std::int64_t high) {
    if (breaks(16)) return pick({low - 1, low - 3, 0, high + 1, 7, 64, 300, 70000, 2147483647});
    return low + static_cast<std::int64_t>(engine_() % static_cast<unsigned>(high - low + 1));
  }
  template <class T>
  std::int64_t fits(std::int64_t value) {
    return static_cast<std::int64_t>(static_cast<T>(value));
  }
  float real() {
    static const float all[] = {0.0f, -1.0f, 1e5f, -0.5f, NAN, INFINITY, -INFINITY, 3.0f};
    return breaks(5) ? all[engine_() % 8] : chance(2) ? 1.0f : 0.5f;
  }
  std::int64_t size() { return chance(12) ? 0 : pick({1, 1, 2, 2, 3, 4, 5, 6, 8, 9}); }
  void dtype(bool float_alone) {
    if (single_ && !extended_) {
      T = float_alone || chance(2) ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_HALF;
      return;
    }
    T = static_cast<mluOpDataType_t>(
        pick({MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE,
              MLUOP_DTYPE_BFLOAT16, single_ ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_INT32}));
  }
  void layout() { images = chance(3) && (extended_ || !single_) ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC; }
  mluOpTensorLayout_t any_layout() { return static_cast<mluOpTensorLayout_t>(pick({0, 1, 2, 3, 4, 4, 4, 5})); }

  Tensor tensor(std::vector<std::int64_t> dims, mluOpTensorLayout_t layout, mluOpDataType_t dtype, bool optional,
                int at) {
    Tensor t;
    if (layout == MLUOP_LAYOUT_NCHW && layout == images && dims.size() == 4)
      dims = {dims[0], dims[3], dims[1], dims[2]};
    for (std::int64_t& d : dims) d = d < 0 ? 0 : d;
    t.form.layout = layout;
    t.form.dtype = dtype;
    t.form.dims = dims;
    t.data = memory[at];
    t.given = true;
    if (optional && chance(3)) t.given = false, t.data = nullptr;
    return t;
  }

  void spoil(Tensor* t, int count) {
    const bool fill = breaks(8);
    for (int i = 0; i < count; ++i) set_data(i, t[i].form.dtype, fill && chance(2));
    for (int times = chance(3) ? 2 : 1; times > 0; --times) {
      if (breaks(1 + (left_ > 1 ? 0 : 1))) break_one(t[engine_() % static_cast<unsigned>(count)]);
    }
    for (int i = 0; i < count; ++i) finish(t[i].form);
    if (breaks(6)) t[engine_() % static_cast<unsigned>(count)].form.strides.assign(8, 7);
    if (breaks(3)) break_pointer(t, count);
  }
  void plain() {
    workspace = chance(2) ? nullptr : memory[20];
    workspace_size = workspace == nullptr && !breaks(6) ? 0 : chance(2) ? 0 : 16;
    count = breaks(12) ? nullptr : breaks(12) ? memory[engine_() % 8] : memory[21];
  }
  void* bare(int at) { return bare_ == 1 ? nullptr : bare_ == 2 ? memory[0] : memory[12 + at % 8]; }
  void give_scalars() {
    if (!exact_ || handle_ == nullptr) return;
    mluops::GivenScalars given;
    given.count = 1;
    given.values[0] = 0.5;
    handle_->scalars.set(given);
  }
  template <class Tensors>
  const std::int64_t* host(Tensors&) {
    return chance_host_ ? nullptr : host_;
  }
  void next() {
    bare_ = static_cast<int>(engine_() % 8);
    chance_host_ = chance(20);
    for (auto& v : host_) v = chance(20) ? -1 : chance(20) ? 1000 : static_cast<std::int64_t>(engine_() % 3);
    for (int i = 10; i < 64; ++i) host_[i] = -1;  // ends loops over more than there are
  }

  mluOpHandle_t handle_ = nullptr;
  mluOpDataType_t T = MLUOP_DTYPE_FLOAT;
  mluOpTensorLayout_t images = MLUOP_LAYOUT_NHWC;
  void *workspace = nullptr, *count = nullptr;
  std::size_t workspace_size = 0;

 private:
  static void finish(mluOpTensorStruct& form) {
    form.elements = 1;
    for (const std::int64_t d : form.dims) {
      if (form.elements >= 0 && __builtin_mul_overflow(form.elements, d, &form.elements)) form.elements = -1;
      if (d == 0) {
        form.elements = 0;
        break;
      }
    }
    form.strides.assign(form.dims.size(), 1);
    for (std::size_t i = form.dims.size(); i-- > 1;) {
      form.strides[i - 1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(form.strides[i]) *
                                                      static_cast<std::uint64_t>(form.dims[i]));
    }
  }
  /// Zeros; the first number of some is one that no index may be.
  void set_data(int at, mluOpDataType_t dtype, bool bad) {
    std::memset(memory[at], 0, 4096);
    const double number = chance(2) ? -3 : 1000;
    const std::int32_t whole = static_cast<std::int32_t>(number);
    const float single = static_cast<float>(number);
    if (!bad) return;
    if (dtype == MLUOP_DTYPE_DOUBLE) std::memcpy(memory[at], &number, 8);
    if (dtype == MLUOP_DTYPE_FLOAT) std::memcpy(memory[at], &single, 4);
    if (dtype == MLUOP_DTYPE_INT32) std::memcpy(memory[at], &whole, 4);
    if (dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_BFLOAT16) memory[at][0] = memory[at][1] = 0xC5;
  }
  void break_one(Tensor& t) {
    auto& dims = t.form.dims;
    const std::size_t axis = dims.empty() ? 0 : engine_() % dims.size();
    switch (engine_() % 8) {
      case 0:
        if (!dims.empty()) dims[axis] += pick({1, 2, -1});
        break;
      case 1:
        if (!dims.empty()) dims[axis] = 0;
        break;
      case 2:
        dims.push_back(pick({1, 2, 5}));
        break;
      case 3:
        if (dims.size() > 1) dims.pop_back();
        break;
      case 4:
        t.form.dtype = static_cast<mluOpDataType_t>(
            pick({MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_INT32, MLUOP_DTYPE_INT64,
                  MLUOP_DTYPE_UINT32, MLUOP_DTYPE_BOOL}));
        break;
      case 5:
        t.form.layout = any_layout();
        break;
      case 6:
        if (!dims.empty()) huge(t, axis);
        break;
      default:
        break;
    }
    for (std::int64_t& d : dims) d = d < 0 ? 0 : d;
  }
  /// The first number of its memory ends checks that read the data: there is no memory for so many.
  void huge(Tensor& t, std::size_t axis) {
    if (t.form.dims.size() != 1)
      t.form.dims[axis] = pick({2147483647, 2147483648, 4294967296, 1ll << 40, 1ll << 62, 9223372036854775807});
    for (int i = 0; i < 12; ++i) set_data(i, T, true);
  }
  void break_pointer(Tensor* t, int count) {
    const unsigned i = engine_() % static_cast<unsigned>(count), j = engine_() % static_cast<unsigned>(count);
    switch (engine_() % 4) {
      case 0:
        t[i].given = false;
        break;
      case 1:
        t[i].data = nullptr;
        break;
      case 2:
        t[i].data = t[j].data;
        break;
      default:
        if (t[j].data != nullptr) t[i].data = static_cast<unsigned char*>(t[j].data) + 4;
        break;
    }
  }

  std::mt19937 engine_;
  alignas(mluOpContext) unsigned char raw_[sizeof(mluOpContext)] = {};
  mluOpContext* context_;
  int left_ = 0;
  bool single_ = true, extended_ = false, exact_ = false, chance_host_ = false;
  int bare_ = 0;
  std::int64_t host_[64] = {};
};

class Comparison {
 public:
  void run(const char* name, void (*one)(Random&, Comparison&), long rounds) {
    Random random(7);
    for (long i = 0; i < rounds; ++i) random.next(), one(random, *this);
  }
  template <class Before, class After>
  void same(const char* name, Before&& before, After&& after) {
    const Answer a = answer(before), b = answer(after);
    count(name, a, b);
  }
  bool single = true;
  template <class Before, class After>
  void same_size(const char* name, Before&& before, After&& after, bool null) {
    std::size_t first = 77, second = 77;
    Answer a = answer([&] { return before(null ? nullptr : &first); });
    Answer b = answer([&] { return after(null ? nullptr : &second); });
    a.problem = std::to_string(first), b.problem = std::to_string(second);
    count(name, a, b);
  }
  int end() {
    bool fine = true;
    for (const auto& [name, n] : numbers_) {
      std::printf(
          "%s: %ld calls, %ld run, %ld nothing to do, %ld refused; differing: %ld statuses, %ld problems, %ld notes, "
          "%ld texts (%.2f %%), %ld of calls with one thing wrong\n",
          name.c_str(), n.calls, n.ran, n.nothing, n.calls - n.ran - n.nothing, n.statuses, n.problems, n.notes,
          n.texts, 100.0 * static_cast<double>(n.texts) / static_cast<double>(n.calls), n.singles);
      fine = fine && n.statuses + n.problems + n.notes == 0 && n.ran + n.nothing > n.calls / 50;
    }
    std::printf(fine ? "equal\n" : "DIFFERENT, or too few calls ran\n");
    return fine ? 0 : 1;
  }

 private:
  struct Answer {
    mluOpStatus_t status;
    std::string text, problem, notes;
    bool ran;
  };
  struct Numbers {
    long calls = 0, ran = 0, nothing = 0, statuses = 0, problems = 0, notes = 0, texts = 0, singles = 0, shown = 0;
  };
  template <class Call>
  static Answer answer(Call&& call) {
    mluops::kept() = {};
    mluops::set_last_error_text("");
    Answer made;
    made.status = call();
    const auto& kept = mluops::kept();
    made.ran = !kept.op.empty();
    made.text = mluops::last_error_text();
    if (const auto at = made.text.find("before_"); at == 0) made.text = made.text.substr(7);
    made.problem = kept.op + " " + kept.text + " " + std::string(kept.problem.begin(), kept.problem.end());
    made.notes = made.ran ? mluops::notes() : "";
    return made;
  }
  void count(const char* name, const Answer& a, const Answer& b) {
    Numbers& n = numbers_[name];
    ++n.calls;
    n.ran += a.ran;
    n.nothing += !a.ran && a.status == MLUOP_STATUS_SUCCESS;
    const bool status = a.status != b.status || a.ran != b.ran, problem = !status && a.problem != b.problem,
               notes = !status && a.notes != b.notes, text = !status && a.text != b.text;
    n.statuses += status, n.problems += problem, n.notes += notes, n.texts += text, n.singles += text && single;
    if ((status || problem || notes || (text && (single || std::getenv("TEXTS")))) && n.shown++ < 5) {
      std::printf("%s\n  before %d %s %s\n  after  %d %s %s\n", name, a.status, a.text.c_str(),
                  a.ran ? a.problem.substr(0, 150).c_str() : "", b.status, b.text.c_str(),
                  b.ran ? b.problem.substr(0, 150).c_str() : "");
      if (notes) std::printf("  notes before %s  notes after %s", a.notes.c_str(), b.notes.c_str());
    }
  }

  std::map<std::string, Numbers> numbers_;
};
