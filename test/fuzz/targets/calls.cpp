// Thousands of calls a second: prepared calls of every operator, each time with other lies about sizes, types, pointers
// and data, and every C function by its signature. On both backends, under both contracts, on used and fresh handles.
// Sizes reach 2^62 on tensors without memory; a call whose sizes may be good runs in a process of its own.
#include <unistd.h>

#include <map>
#include <tuple>

#include "test/cases/base/contract.h"
#include "test/fuzz/absent.h"
#include "test/fuzz/hostile.h"
#include "test/fuzz/targets/counts.h"
#include "test/fuzz/targets/raw_entries.h"
#include "test/fuzz/targets/rigs.h"
#include "test/fuzz/targets/size_lies.h"
#include "test/fuzz/targets/target.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kGiantMicroseconds = 100'000;
constexpr std::size_t kOperatorBytes = 64, kRawBytes = 128;  ///< numbers an input may name: lists grow, inputs stay

struct Choice {
  std::size_t op = 0, raw = 0;
  bool is_raw = false;
  PreparedCall* call = nullptr;
  const PreparedTensor* culprit = nullptr;  ///< the only one lied about, where the lie is about it alone
  const Rig* rig = nullptr;
  bool fresh = false, extended = false, on_another_path = false, giant = false;
};

Choice choose(Choices& choices) {
  Choice c;
  const std::uint64_t how = choices.bits(2);
  c.is_raw = how % 4 == 3;
  c.extended = how / 4 % 2 == 1;
  const std::size_t dtype = how / 8 % kPreparedDtypes;
  c.fresh = how / 32 % 64 == 7;
  c.giant = how / 32 % 64 == 9;
  // The cpu's first handle mostly, then its threads; the emulated device takes a hundred times as long.
  const std::size_t which = how / 2048 % 32;
  c.rig = &rigs()[which < 26 ? 0 : which - 26];
  c.on_another_path = which == 1;
  const auto place = static_cast<std::size_t>(choices.integer(0, (c.is_raw ? kRawBytes : kOperatorBytes) - 1));
  const auto number = static_cast<std::size_t>(choices.integer(0, kPreparedCalls - 1));
  const auto& operators = cases::all_operators();
  if (c.is_raw) {
    if (place >= count_of_raw()) return c;
    c.raw = place;
    while (c.op < operators.size() && operators[c.op].op != std::string(operator_of_raw(place))) ++c.op;
  } else {
    c.op = place;
  }
  if (c.op == operators.size() || (!c.is_raw && place >= operators.size())) return c;
  c.call = prepared_call(c.op, dtype, number);
  if (c.call == nullptr) c.call = prepared_call(c.op, 0, number);  // not of that type
  return c;
}

std::string name_of(const Choice& c) {
  std::string name = c.call->text() + " on " + c.rig->settings + (c.fresh ? ", fresh" : "") +
                     (c.extended ? ", EXTENDED" : "") + (c.is_raw ? std::string(", ") + name_of_raw(c.raw) : "");
  for (const PreparedTensor& t : c.call->tensors) name += "\n  " + c.call->state_of(t);
  return name;
}

/// What is wrong with the answer; every refusal begins with the function and goes on with the argument.
std::string wrong_answer(mluOpStatus_t status, bool memory_too) {
  if (status == MLUOP_STATUS_SUCCESS) return "";
  const std::string text = mluOpExtGetLastErrorText();
  const bool known = status == MLUOP_STATUS_BAD_PARAM || status == MLUOP_STATUS_NOT_SUPPORTED ||
                     (memory_too && status == MLUOP_STATUS_ALLOC_FAILED);
  if (!known) return std::string(mluOpGetErrorString(status)) + ": " + text;
  const std::size_t end = text.find(": ");
  return text.rfind("mluOp", 0) != 0 || end == std::string::npos || text.size() < end + 8 ? "no text: " + text : "";
}

/// A refusal for one lie that is about one tensor alone names that tensor.
std::string wrong_argument(mluOpStatus_t status, const PreparedTensor* culprit) {
  if (status == MLUOP_STATUS_SUCCESS || culprit == nullptr) return "";
  const std::string text = mluOpExtGetLastErrorText();
  return text.find(culprit->spec->name) == std::string::npos ? "does not name " + culprit->spec->name + ": " + text
                                                             : "";
}

/// Whether the call is good without lies.
bool succeeds(const Choice& c) {
  static std::map<std::tuple<const PreparedCall*, const Rig*, bool>, bool> answers;
  const auto [answer, is_new] = answers.try_emplace({c.call, c.rig, c.extended});
  if (is_new) {
    Handle handle(c.rig->backend);
    handle.contract(c.extended ? MLUOP_EXT_CONTRACT_EXTENDED : MLUOP_EXT_CONTRACT_STRICT);
    answer->second = c.call->call(handle.get()) == MLUOP_STATUS_SUCCESS;
    c.call->restore();
  }
  return answer->second;
}

/// In a process of its own, which may touch missing memory, or take long.
void call_giant(const Choice& c) {
  CallCounts& counts = call_counts()[c.op];
  ++counts.giant;
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    faults_of_this_process_tell_where(kGiantMicroseconds);
    if (!spread_absent_tensors(*c.call)) _exit(kAnswered);
    Handle handle("cpu");
    handle.contract(c.extended ? MLUOP_EXT_CONTRACT_EXTENDED : MLUOP_EXT_CONTRACT_STRICT);
    the_library_is_called();
    _exit(wrong_answer(c.call->call(handle.get()), true).empty() ? kAnswered : kNoText);
  }
  const int end = end_of(child);
  counts.giant_touched += end == kTouched ? 1 : 0;
  const bool good = end == kAnswered || end == kTouched || end == SIGALRM;
  require_harmless(good ? "" : "its process ended with " + std::to_string(end), name_of(c));
}

void call_and_check(const Choice& c, mluOpHandle_t handle, Choices& choices) {
  CallCounts& counts = call_counts()[c.op];
  const mluOpStatus_t status = c.is_raw ? call_raw(c.raw, *c.call, handle, choices) : c.call->call(handle);
  const bool failed = status != MLUOP_STATUS_SUCCESS;
  ++(failed ? counts.refused : counts.computed);
  if (c.is_raw) ++counts.raw;
  std::string wrong = wrong_answer(status, false);
  if (wrong.empty()) wrong = wrong_argument(status, c.culprit);
  require_harmless(wrong, wrong.empty() ? "" : name_of(c));
  const std::string harm = c.call->harm(failed, c.is_raw);
  require_harmless(harm, harm.empty() ? "" : name_of(c) + ": " + mluOpExtGetLastErrorText());
  if (c.is_raw) c.call->forget_inputs();
}

/// Once more by one of the cpu kernel's other paths.
void call_on_another_path(const Choice& c, mluOpHandle_t handle, Choices& choices) {
  const std::vector<std::string> paths = last_paths(handle);
  const std::string& path = choices.pick(paths);
  if (path.empty()) return;
  mluOpExtSetOption(handle, "cpu", "path", path.c_str());
  call_and_check(c, handle, choices);
  mluOpExtSetOption(handle, "cpu", "path", "auto");
}

/// MLUOP_FUZZ_VERBOSE: what a crash was about to do.
void say(const Choice& c) {
  static const bool wanted = std::getenv("MLUOP_FUZZ_VERBOSE") != nullptr;
  if (wanted) std::fprintf(stderr, "%s\n", name_of(c).c_str());
}

void call_on_a_handle(const Choice& c, Handle& handle, Choices& choices) {
  handle.contract(c.extended ? MLUOP_EXT_CONTRACT_EXTENDED : MLUOP_EXT_CONTRACT_STRICT);
  call_and_check(c, handle.get(), choices);
  if (c.on_another_path && !c.is_raw) call_on_another_path(c, handle.get(), choices);
}

}  // namespace

void fuzz_calls(const std::uint8_t* data, std::size_t size) {
  ByteChoices choices(data, size);
  Choice c = choose(choices);
  if (c.call == nullptr) return;
  c.call->restore();
  const bool good = !c.is_raw && succeeds(c);
  const PreparedTensor* const culprit = tell_lies(*c.call, choices);
  if (good) c.culprit = culprit;
  c.call->note_inputs();
  count_call();
  say(c);
  if (any_tensor_is_absent(*c.call)) {
    if (c.giant && !c.is_raw) return call_giant(c);
    if (!beyond_strict(*c.call)) return;
    c.extended = false;
    cases::extended_is_allowed = false;
  }
  if (c.fresh) {
    Handle handle(c.rig->backend);
    call_on_a_handle(c, handle, choices);
  } else {
    call_on_a_handle(c, *c.rig->handle, choices);
  }
  cases::extended_is_allowed = true;
}

}  // namespace mluops::test
