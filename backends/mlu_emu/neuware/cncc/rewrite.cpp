#include "backends/mlu_emu/neuware/cncc/rewrite.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "backends/mlu_emu/neuware/cncc/accesses.h"
#include "backends/mlu_emu/neuware/cncc/by_address.h"
#include "backends/mlu_emu/neuware/cncc/calls.h"
#include "backends/mlu_emu/neuware/cncc/device_rules.h"
#include "backends/mlu_emu/neuware/cncc/on_chip.h"
#include "backends/mlu_emu/neuware/cncc/place.h"
#include "backends/mlu_emu/neuware/cncc/scalar_cost.h"
#include "backends/mlu_emu/neuware/cncc/source.h"
#include "backends/mlu_emu/neuware/cncc/statement.h"

namespace cncc {
namespace {

class Rewriter {
 public:
  explicit Rewriter(Source& source)
      : s_(source),
        place_(source),
        on_chip_(source, place_),
        pointers_(source, place_, on_chip_),
        rules_(source, place_) {}

  void run() {
    for (std::size_t& at = place_.at; at < s_.size(); ++at) {
      if (s_[at].user && s_[at].kind == Kind::kWord) word();
      if (s_[at].user && s_[at].is("<<<")) {
        at = launch(at);
        continue;
      }
      if (s_[at].user && s_[at].is("{")) rules_.block();
      if (s_[at].user && place_.in_device_code()) device_code();
      place_.follow();
      if (s_[at].user && s_[at].is("{") && place_.in_device_code() && place_.scope() == Scope::kCode) body();
    }
  }
  std::vector<Warning> warnings() const { return rules_.warnings(); }
  const std::vector<Warning>& errors() const { return errors_; }

 private:
  /// Index of its last token. One that is none is told, and its statement left out: the compiler judges the others.
  std::size_t launch(std::size_t at) {
    try {
      return rewrite_launch(s_, at);
    } catch (const std::runtime_error& e) {
      errors_.push_back({s_.offset(at), e.what()});
    }
    std::size_t end = at;
    while (end < s_.size() && !one_of(s_[end].text, {";", "}"})) {
      end = one_of(s_[end].text, {"(", "[", "{"}) ? s_.closing(end) + 1 : end + 1;
    }
    end = std::min(end, s_.size());
    s_.replace(place_.statement(), end, "");
    return end - 1;
  }

  void word() {
    const std::string_view t = s_[place_.at].text;
    if (is_device(t)) return device_function();
    if (t == "__nram__") return on_chip_.rewrite("kNram");
    if (t == "__wram__") return on_chip_.rewrite("kWram");
    if (t == "__mlu_shared__") return on_chip_.rewrite("kSram");
    if (t == "__mlu_const__") return s_.replace(place_.at, {});
    // Each core has its own; at function scope the stack is.
    if (t == "__ldram__") return s_.replace(place_.at, place_.scope() == Scope::kNamespace ? "thread_local" : "");
  }

  void device_code() {
    const Token& t = s_[place_.at];
    rules_.device_code();
    if (t.is("?")) number_branch();
    if (one_of(t.text, {"asm", "__asm__", "__asm"})) rewrite_assembly(s_, place_.at);
    if (one_of(t.text, {"for", "while", "do"})) loop();
    if (one_of(t.text, {"if", "else"})) branch();
    if (t.is("*")) pointers_.dereference(place_.at);
    if (t.is("[")) pointers_.subscript_of_expression(place_.at);
    if (t.replaced || t.kind != Kind::kWord) return;
    locate_word(s_, place_.at);
    if (s_[s_.behind_angle(place_.at + 1, s_.size())].is("(")) return pointers_.call(place_.at);
    if (pointers_.references().names(place_.at)) {
      pointers_.reference(place_.at);
    } else if (on_chip_.names_scalar(t.text)) {
      pointers_.scalar(place_.at);
    }
    const bool on_chip = on_chip_.names_array(t.text), pointer = pointers_.names(place_.at);
    if (!s_[place_.at + 1].is("[") || !(on_chip || pointer) || pointers_.declares(place_.at)) return;
    if (pointers_.subscript(place_.at) && on_chip) check_subscripts(s_, place_.at);
  }

  /// A statement without braces gets them, so that it counts what it does when it does it.
  void branch() {
    const Branch b = branch_at(s_, place_.at);
    const std::int64_t count = b.single ? operations(s_, b.begin, b.end) : 0;
    if (count > 0) s_.enclose(b.begin, b.end, "::neuware::count_operations(" + std::to_string(count) + ");");
  }

  void body() {
    if (begins_body(s_, place_.at)) s_.tokens[place_.at].behind += count_of_body(s_, place_.at);
  }

  /// `condition ? 0 : h` and `condition ? h : 0` with a half: each type converts to the other, so the number is given
  /// that of the other branch if it is such a one.
  void number_branch() {
    const std::size_t first = place_.at + 1, colon = behind_branch(first), end = behind_branch(colon + 1);
    if (!s_[colon].is(":")) return;
    if (is_number(first, colon)) return beside(first, colon + 1, end);
    if (is_number(colon + 1, end)) beside(colon + 1, first, colon);
  }
  bool is_number(std::size_t begin, std::size_t end) const {
    return end == begin + 1 && s_[begin].kind == Kind::kNumber && !s_[begin].replaced;
  }
  /// Index of what ends the branch of a conditional that begins at `i`.
  std::size_t behind_branch(std::size_t i) const {
    for (int nested = 0; i < s_.size(); ++i) {
      if (const std::size_t behind = s_.behind_angle(i, s_.size()); behind != i) i = behind;
      if (one_of(s_[i].text, {")", "]", "}", ";", ","})) return i;
      if (s_[i].is("?")) ++nested;
      if (s_[i].is(":") && nested-- == 0) return i;
      if (one_of(s_[i].text, {"(", "[", "{"})) i = s_.closing(i);
    }
    return i;
  }
  void beside(std::size_t number, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (one_of(s_[i].text, {"(", "[", "{"})) i = s_.closing(i);
      if (one_of(s_[i].text, {"?", ":"})) begin = i + 1;  // the last branch of those within
    }
    if (begin >= end || s_[begin].is("throw") || is_number(begin, end)) return;
    s_.replace(number,
               "::neuware::beside<decltype(" + s_.text(begin, end) + ")>(" + std::string(s_[number].text) + ")");
  }

  /// Different files have different device functions of one name: each keeps its own.
  void device_function() {
    const std::string_view t = s_[place_.at].text;
    const bool is_entry = t == "__mlu_entry__", kernel = is_entry || t == "__mlu_global__";
    s_.replace(place_.at, kernel ? "" : linkage());
    const Declaration d = declaration();
    if (!d.function || !s_[d.end].is("(")) return;
    rules_.marked(d.end);
    if (!kernel) return;
    name_parameters(s_, d.end);
    rules_.kernel(d.end);
    const bool plain = place_.scope() == Scope::kNamespace && !s_[place_.statement()].is("template") && !d.member;
    if (plain) know_by_address(s_, d.end, is_entry);
  }

  struct Declaration {
    bool function = false, member = false;
    std::size_t end = 0;  // its "(" or what shows that it is none
  };
  Declaration declaration() const {
    Declaration d;
    for (std::size_t i = place_.at + 1; i < s_.size(); ++i) {
      if (one_of(s_[i].text, {"__attribute__", "decltype", "alignas"})) {
        i = s_.closing(i + 1);
      } else if (s_[i].is("operator")) {
        d.member = s_[i - 1].is("::");
        d.function = true;
        d.end = i;
        return d;
      } else if (s_[i].is("(")) {
        d.function = true;
        d.member = s_[i - 2].is("::") || (s_[i - 2].is("~") && s_[i - 3].is("::"));
        d.end = i;
        return d;
      } else if (one_of(s_[i].text, {";", "=", "{", "}"})) {
        d.end = i;
        return d;
      }
    }
    return d;
  }

  std::string linkage() const {
    if (place_.scope() != Scope::kNamespace || place_.parens() != 0) return {};
    const Declaration d = declaration();
    if (!d.function) return {};
    bool is_static = false, is_extern = false, is_inline = false;
    for (std::size_t i = place_.statement(); i < d.end; ++i) {
      // The first qualifier has said it; a lambda's needs nothing said.
      if (i < place_.at && (is_device(s_[i].text) || s_[i].is("="))) return {};
      is_static |= s_[i].is("static");
      is_extern |= s_[i].is("extern");
      is_inline |= one_of(s_[i].text, {"inline", "__inline__", "constexpr"});
    }
    const bool is_template = s_[place_.statement()].is("template");
    const bool instantiation = is_template && !s_[place_.statement() + 1].is("<");
    const bool specialisation = is_template && s_[place_.statement() + 1].is("<") && s_[place_.statement() + 2].is(">");
    if (instantiation || is_extern) return {};
    if (specialisation || d.member) return is_inline || is_static ? "" : "inline";
    return is_static ? "__attribute__((unused))" : "static __attribute__((unused))";
  }

  // ---- loops: each looks at the start of its body whether the launch has used up its time ----

  void loop() {
    const bool is_do = s_[place_.at].is("do");
    if (!is_do && (do_tails_.count(place_.at) != 0 || !s_[place_.at + 1].is("("))) return;
    const std::size_t begin = is_do ? place_.at + 1 : s_.closing(place_.at + 1) + 1;
    const std::size_t end = behind_statement(s_, begin);
    if (is_do) do_tails_.insert(end);
    const bool block = s_[begin].is("{");  // counts itself
    const std::int64_t count =
        1 + (is_do ? 0 : operations(s_, place_.at + 2, begin - 1)) + (block ? 0 : operations(s_, begin, end));
    s_.enclose(begin, end, "::neuware::loop_ends(" + std::to_string(count) + ");");
  }

  Source& s_;
  Place place_;
  OnChip on_chip_;
  Pointers pointers_;
  DeviceRules rules_;
  std::vector<Warning> errors_;
  std::set<std::size_t> do_tails_;  // where the while of a do-loop stands
};

}  // namespace

Rewritten rewrite_with_places(std::string preprocessed) {
  Source source(std::move(preprocessed));
  Rewritten out;
  Rewriter rewriter(source);
  rewriter.run();
  out.warnings = rewriter.warnings();
  out.errors = rewriter.errors();
  out.text = source.str(&out.moved);
  return out;
}

std::string rewrite(std::string preprocessed) {
  Rewritten made = rewrite_with_places(std::move(preprocessed));
  if (!made.errors.empty()) throw std::runtime_error(made.errors[0].text);
  return std::move(made.text);
}

}  // namespace cncc
