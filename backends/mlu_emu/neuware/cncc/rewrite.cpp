#include "backends/mlu_emu/neuware/cncc/rewrite.h"

#include <set>
#include <utility>

#include "backends/mlu_emu/neuware/cncc/calls.h"
#include "backends/mlu_emu/neuware/cncc/on_chip.h"
#include "backends/mlu_emu/neuware/cncc/place.h"
#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {
namespace {

class Rewriter {
 public:
  explicit Rewriter(Source& source) : s_(source), place_(source), on_chip_(source, place_) {}

  void run() {
    for (std::size_t& at = place_.at; at < s_.size(); ++at) {
      if (s_[at].user && s_[at].kind == Kind::kWord) word();
      if (s_[at].user && s_[at].is("<<<")) rewrite_launch(s_, at);
      if (s_[at].user && s_[at].is("?")) zero_branch();
      if (s_[at].kind == Kind::kWord) loop();
      place_.follow();
    }
  }

 private:
  void word() {
    const std::string_view t = s_[place_.at].text;
    if (is_device(t)) return device_function();
    if (t == "__nram__") return on_chip_.rewrite("kNram");
    if (t == "__wram__") return on_chip_.rewrite("kWram");
    if (t == "__mlu_shared__") return on_chip_.rewrite("kSram");
    if (t == "__ldram__" || t == "__mlu_const__") return s_.replace(place_.at, {});
    if (t == "asm" || t == "__asm__" || t == "__asm") return rewrite_assembly(s_, place_.at);
  }

  /// `condition ? 0 : h` with a half: each type converts to the other, so the 0 becomes one that has no type of its
  /// own.
  void zero_branch() {
    if (place_.at + 2 < s_.size() && s_[place_.at + 1].is("0") && s_[place_.at + 2].is(":"))
      s_.replace(place_.at + 1, "::neuware::Zero()");
  }

  static bool is_device(std::string_view t) { return one_of(t, {"__mlu_func__", "__mlu_device__", "__mlu_vector__"}); }

  /// Different files have different device functions of one name: each keeps its own.
  void device_function() { s_.replace(place_.at, linkage()); }

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
      if (i < place_.at && is_device(s_[i].text)) return {};  // the first qualifier has said it
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
    const Token& t = s_[place_.at];
    if (place_.at + 1 == s_.size()) return;
    if (t.is("do")) {
      const bool block = s_[place_.at + 1].is("{");
      do_tails_.insert(1 + (block ? s_.closing(place_.at + 1) : end_of_statement(place_.at + 1)));
      if (t.user && block) loop_body(place_.at + 1);
    } else if (t.user && (t.is("for") || (t.is("while") && do_tails_.count(place_.at) == 0)) &&
               s_[place_.at + 1].is("(")) {
      loop_body(s_.closing(place_.at + 1) + 1);
    }
  }

  void loop_body(std::size_t begin) {
    if (begin >= s_.size()) return;
    if (s_[begin].is("{")) return s_.replace(begin, "{ ::neuware::loop_ends();");
    if (s_[begin].is(";")) return s_.replace(begin, "{ ::neuware::loop_ends(); }");
    s_.replace(begin - 1, ") if (::neuware::loop_ends()) {} else");
  }

  std::size_t end_of_statement(std::size_t i) const {
    for (; i < s_.size() && !s_[i].is(";"); ++i) {
      if (one_of(s_[i].text, {"(", "[", "{"})) i = s_.closing(i);
    }
    return i;
  }

  Source& s_;
  Place place_;
  OnChip on_chip_;
  std::set<std::size_t> do_tails_;  // where the while of a do-loop stands
};

}  // namespace

std::string rewrite(std::string preprocessed) {
  Source source(std::move(preprocessed));
  Rewriter(source).run();
  return source.str();
}

}  // namespace cncc
