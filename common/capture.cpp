#include "common/capture.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "common/env.h"
#include "common/per_thread.h"
#include "common/system.h"
#include "common/trust.h"
#include "common/verbose.h"
#include "common/version.h"

namespace mluops {
namespace {

/// "carafe,nms"
std::vector<std::string> parts_of(const std::string& operators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= operators.size();) {
    const std::size_t comma = std::min(operators.find(',', at), operators.size());
    if (comma > at) parts.push_back(operators.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

/// The first part that is in no operator's name and so keeps nothing; "" for none.
std::string unknown_part(const std::string& operators) {
  constexpr std::string_view kNames[] = {
#define MLUOPS_OPERATOR(name, Problem) #name,
#include "mluops/operators.inc"
  };
  for (const std::string& part : parts_of(operators)) {
    if (std::ranges::none_of(kNames, [&](std::string_view name) { return name.find(part) != name.npos; })) return part;
  }
  return "";
}

long long number_of_environment(const char* name, long long most, long long otherwise) {
  std::string problem;
  const auto number = env_integer(name, 0, most, &problem);
  if (!problem.empty()) say_once(problem);
  return number.value_or(otherwise);
}

CaptureSettings settings_of_environment() {
  CaptureSettings s = {.folder = secure_env_text("MLUOP_CAPTURE").value_or("")};
  if (s.folder.empty()) return s;
  s.operators = env_text("MLUOP_CAPTURE_OP").value_or("");
  if (const std::string part = unknown_part(s.operators); !part.empty()) {
    say_once("MLUOP_CAPTURE_OP: no operator's name contains \"" + part + "\"");
  }
  s.calls = number_of_environment("MLUOP_CAPTURE_CALLS", 1LL << 30, s.calls);
  s.bytes = number_of_environment("MLUOP_CAPTURE_BYTES", 1LL << 40, s.bytes);
  if (const std::string why = why_not_writable(s.folder); !why.empty()) {
    say_once("MLUOP_CAPTURE: no call can be kept in " + s.folder + ": " + why);
    s.folder.clear();
  }
  return s;
}

/// The current settings. A call copies them at its start, so a change does not affect a call in progress.
struct CaptureState {
  std::mutex mutex;
  std::shared_ptr<const CaptureSettings> settings = std::make_shared<CaptureSettings>(settings_of_environment());
  std::atomic<bool> on{!settings->folder.empty()};
  std::atomic<long long> files{0};

  std::shared_ptr<const CaptureSettings> now() {
    const std::lock_guard lock(mutex);
    return settings;
  }
};

CaptureState& capture_state() {
  static CaptureState state;
  return state;
}

bool captured(const std::string& operators, std::string_view op) {
  const std::vector<std::string> parts = parts_of(operators);
  return parts.empty() || std::ranges::any_of(parts, [&](const auto& part) { return op.find(part) != op.npos; });
}

std::vector<Capture::Tensor>& noted_tensors() {
  return of_this_thread<std::vector<Capture::Tensor>>();
}

/// FNV-1a: to tell whether two runs had the same data, where those are left out.
std::uint64_t hash_of(const unsigned char* data, std::int64_t bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::int64_t i = 0; i < bytes; ++i) hash = (hash ^ data[i]) * 1099511628211u;
  return hash;
}

std::string dims_word(const TensorDesc& desc) {
  std::string text;
  for (const std::int64_t dim : desc.dims) text.append(text.empty() ? "" : "x").append(std::to_string(dim));
  return text.empty() ? "scalar" : text;
}

std::string tensor_line(const Capture::Tensor& t) {
  const auto* data = static_cast<const unsigned char*>(t.data);
  std::string line = "tensor ";
  line.append(t.output ? "out " : "in ").append(t.name).append(" ").append(dtype_name(t.desc.dtype)).append(" ");
  line.append(layout_name(t.desc.layout)).append(" ").append(dims_word(t.desc)).append(" ");
  line.append(std::to_string(t.offset))
      .append(" ")
      .append(std::to_string(t.bytes()))
      .append(t.kept ? " data " : " hash ");
  return line.append(std::to_string(hash_of(data, t.bytes()))).append("\n");
}

}  // namespace

bool capturing() noexcept {
  try {
    return capture_state().on.load(std::memory_order_relaxed);
  } catch (const std::exception&) {
    return false;
  }
}

Status set_capture(CaptureSettings settings) {
  const bool wanted = !settings.folder.empty();
  if (wanted && !is_folder(settings.folder)) {
    return Status::bad_param("folder: wanted one that exists, got " + settings.folder);
  }
  if (const std::string why = wanted ? why_not_writable(settings.folder) : ""; !why.empty()) {
    return Status::bad_param("folder: wanted one that can be written to, got " + settings.folder + ": " + why);
  }
  if (const std::string part = unknown_part(settings.operators); !part.empty()) {
    return Status::bad_param("operators: wanted parts of operators' names, got \"" + part + "\"");
  }
  if (settings.calls < 0 || settings.bytes < 0) return Status::bad_param("calls and bytes: wanted 0 or more");
  CaptureState& state = capture_state();
  const std::lock_guard lock(state.mutex);
  state.settings = std::make_shared<CaptureSettings>(std::move(settings));
  state.files = 0;
  state.on = wanted;
  return Status::go_on();
}

void forget_tensors() noexcept {
  if (capturing()) noted_tensors().clear();
}

void note_tensor(const char* name, const TensorDesc* desc, const void* data, bool output) {
  if (desc == nullptr || data == nullptr || desc->elements <= 0) return;
  noted_tensors().push_back({.name = name, .output = output, .desc = *desc, .data = data});
}

void note_array(const char* name, mluOpDataType_t dtype, const void* data, std::int64_t count) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.dims = {count};
  desc.elements = count;
  note_tensor(name, &desc, data, false);
}

Capture::Capture(const char* op, const void* problem, std::size_t bytes, std::span<const Member> members)
    : op_(op), problem_(static_cast<const unsigned char*>(problem)), size_(bytes), members_(members) {
  if (!capturing()) return;
  tensors_.swap(noted_tensors());
  try {
    settings_ = capture_state().now();
    if (!settings_->folder.empty() && captured(settings_->operators, op)) start();
  } catch (const std::exception&) {
    active_ = false;
  }
}

void Capture::start() {
  active_ = std::ranges::all_of(members_, [this](const Member& m) { return !m.pointer || place_tensor(m); });
  if (!active_ && verbose_level() >= 1) verbose_line(std::string("MLUOP_CAPTURE: unknown pointers in ") + op_);
  if (!active_) return;
  std::erase_if(tensors_, [](const Tensor& t) { return t.offset < 0; });
  for (Tensor& t : tensors_) {
    t.kept = t.bytes() <= settings_->bytes;
    const auto* data = static_cast<const unsigned char*>(t.data);
    if (t.kept) t.before.assign(data, data + t.bytes());
  }
  begin_ = std::chrono::steady_clock::now();
}

/// Two inputs may be one tensor: each has an address of its own. A pointer that no rule has noted would lead a replay
/// astray.
bool Capture::place_tensor(const Member& member) {
  const void* data = nullptr;
  std::memcpy(&data, problem_ + member.offset, sizeof data);
  if (data == nullptr) return true;
  const auto found = std::ranges::find_if(tensors_, [&](const Tensor& t) { return t.data == data && t.offset < 0; });
  if (found == tensors_.end()) return false;
  found->offset = static_cast<std::int64_t>(member.offset);
  return true;
}

/// The problem with zeros for addresses and padding, so that a call of the same numbers gives the same file.
std::vector<unsigned char> Capture::numbers() const {
  std::vector<unsigned char> bytes(size_);
  for (const Member& m : members_) {
    if (!m.pointer) std::memcpy(bytes.data() + m.offset, problem_ + m.offset, m.bytes);
  }
  return bytes;
}

std::string Capture::header(const char* backend, const mluopsCall& call, const std::string& words, double ms) const {
  std::string text = "mluops-capture 1\nversion ";
  text.append(library_version())
      .append("\noperator ")
      .append(op_)
      .append("\ncase ")
      .append(words)
      .append("\nbackend ")
      .append(backend);
  text.append("\nthreads ").append(std::to_string(call.threads));
  text.append("\natomics ").append(std::to_string(static_cast<int>(call.atomics)));
  text.append("\ncontract ").append(std::to_string(static_cast<int>(call.contract)));
  text.append("\nms ").append(std::to_string(ms)).append("\nproblem ").append(std::to_string(size_)).append("\n");
  for (const Tensor& t : tensors_) text += tensor_line(t);
  return text.append("data\n");
}

void Capture::finish(const char* backend, const mluopsCall& call, const std::string& text) noexcept {
  if (!active_) return;
  active_ = false;
  try {
    write_file(backend, call, text);
  } catch (const std::exception&) {
    if (verbose_level() >= 1) verbose_line("MLUOP_CAPTURE: no memory for a file");
  }
}

void Capture::write_file(const char* backend, const mluopsCall& call, const std::string& words) const {
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  const long long number = capture_state().files++;
  if (number >= settings_->calls) return;
  const std::string path =
      settings_->folder + "/" + std::to_string(process_number()) + "-" + std::to_string(number) + "-" + op_ + ".mluops";
  OutputFile file = OutputFile::made_new(path);
  file.write(header(backend, call, words, ms));
  file.write(numbers().data(), size_);
  for (const Tensor& t : tensors_) {
    if (!t.kept) continue;
    file.write(t.before.data(), t.before.size());
    if (t.output) file.write(t.data, static_cast<std::size_t>(t.bytes()));
  }
  const std::string problem = file.close();
  if (!problem.empty()) say_once("MLUOP_CAPTURE: a call could not be kept in " + settings_->folder + ": " + problem);
}

}  // namespace mluops
