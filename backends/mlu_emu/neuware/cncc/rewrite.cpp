#include "backends/mlu_emu/neuware/cncc/rewrite.h"

#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {
namespace {

enum class Scope { kNamespace, kClass, kCode };

struct Level {
  Scope scope;
  std::size_t statement;
  int parens;
};

bool one_of(std::string_view t, std::initializer_list<std::string_view> list) {
  for (const std::string_view s : list) {
    if (t == s) return true;
  }
  return false;
}

class Rewriter {
 public:
  explicit Rewriter(Source& source) : s_(source) {}

  void run() {
    for (at_ = 0; at_ < s_.size(); ++at_) {
      if (s_[at_].user && s_[at_].kind == Kind::kWord) word();
      if (s_[at_].user && s_[at_].is("<<<")) launch();
      if (s_[at_].user && s_[at_].is("?")) zero_branch();
      if (s_[at_].kind == Kind::kWord) loop();
      follow();
    }
  }

 private:
  // ---- where are we ----

  void follow() {
    const std::string_view t = s_[at_].text;
    if (t == "(" || t == "[") ++parens_;
    if (t == ")" || t == "]") --parens_;
    if (t == "{") {
      levels_.push_back({scope_, statement_, parens_});
      scope_ = scope_of_block();
      parens_ = 0;
      statement_ = at_ + 1;
    }
    if (t == "}" && !levels_.empty()) {
      const bool inside_parens = levels_.back().parens > 0;
      scope_ = levels_.back().scope;
      parens_ = levels_.back().parens;
      statement_ = inside_parens ? levels_.back().statement : at_ + 1;
      levels_.pop_back();
    }
    if (t == ";" && parens_ == 0) statement_ = at_ + 1;
  }

  /// First token of the statement that is not its template <...> head.
  std::size_t behind_template(std::size_t i) const {
    while (i < at_ && s_[i].is("template") && s_[i + 1].is("<")) {
      int depth = 0;
      for (++i; i < at_; ++i) {
        if (s_[i].is("<")) ++depth;
        if (s_[i].is(">") && --depth == 0) break;
      }
      ++i;
    }
    return i;
  }

  Scope scope_of_block() const {
    if (scope_ == Scope::kCode || levels_.back().parens > 0) {
      return local_class() ? Scope::kClass : Scope::kCode;
    }
    bool names_class = false;
    for (std::size_t i = behind_template(statement_); i < at_; ++i) {
      const Token& t = s_[i];
      if (t.is("namespace") || (t.is("extern") && s_[i + 1].kind == Kind::kText)) return Scope::kNamespace;
      if (t.is("__attribute__") || t.is("alignas")) {
        i = s_.closing(i + 1);
        continue;
      }
      if (one_of(t.text, {"class", "struct", "union"})) names_class = true;
      if (one_of(t.text, {"enum", "(", "="})) return Scope::kCode;
    }
    return names_class ? Scope::kClass : Scope::kCode;
  }
  bool local_class() const {
    for (std::size_t i = statement_; i < at_; ++i) {
      if (one_of(s_[i].text, {"(", "=", "return"})) return false;
      if (one_of(s_[i].text, {"class", "struct", "union"})) return true;
    }
    return false;
  }

  // ---- loops: each looks at the start of its body whether the launch has used up its time ----

  void loop() {
    const Token& t = s_[at_];
    if (at_ + 1 == s_.size()) return;
    if (t.is("do")) {
      const bool block = s_[at_ + 1].is("{");
      do_tails_.insert(1 + (block ? s_.closing(at_ + 1) : end_of_statement(at_ + 1)));
      if (t.user && block) loop_body(at_ + 1);
    } else if (t.user && (t.is("for") || (t.is("while") && do_tails_.count(at_) == 0)) && s_[at_ + 1].is("(")) {
      loop_body(s_.closing(at_ + 1) + 1);
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

  // ---- words ----

  void word() {
    const std::string_view t = s_[at_].text;
    if (is_device(t)) return device_function();
    if (t == "__nram__") return on_chip("kNram");
    if (t == "__wram__") return on_chip("kWram");
    if (t == "__mlu_shared__") return on_chip("kSram");
    if (t == "__ldram__" || t == "__mlu_const__") return s_.replace(at_, {});
    if (t == "asm" || t == "__asm__" || t == "__asm") return assembly();
  }

  /// `condition ? 0 : h` with a half: each type converts to the other, so the 0 becomes one that has no type of its
  /// own.
  void zero_branch() {
    if (at_ + 2 < s_.size() && s_[at_ + 1].is("0") && s_[at_ + 2].is(":")) s_.replace(at_ + 1, "::neuware::Zero()");
  }

  static bool is_device(std::string_view t) { return one_of(t, {"__mlu_func__", "__mlu_device__", "__mlu_vector__"}); }

  /// Different files have different device functions of one name: each keeps its own.
  void device_function() { s_.replace(at_, linkage()); }

  struct Declaration {
    bool function = false, member = false;
    std::size_t end = 0;  // its "(" or what shows that it is none
  };
  Declaration declaration() const {
    Declaration d;
    for (std::size_t i = at_ + 1; i < s_.size(); ++i) {
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
    if (scope_ != Scope::kNamespace || parens_ != 0) return {};
    const Declaration d = declaration();
    if (!d.function) return {};
    bool is_static = false, is_extern = false, is_inline = false;
    for (std::size_t i = statement_; i < d.end; ++i) {
      if (i < at_ && is_device(s_[i].text)) return {};  // the first qualifier has said it
      is_static |= s_[i].is("static");
      is_extern |= s_[i].is("extern");
      is_inline |= one_of(s_[i].text, {"inline", "__inline__", "constexpr"});
    }
    const bool is_template = s_[statement_].is("template");
    const bool instantiation = is_template && !s_[statement_ + 1].is("<");
    const bool specialisation = is_template && s_[statement_ + 1].is("<") && s_[statement_ + 2].is(">");
    if (instantiation || is_extern) return {};
    if (specialisation || d.member) return is_inline || is_static ? "" : "inline";
    return is_static ? "__attribute__((unused))" : "static __attribute__((unused))";
  }

  // ---- on-chip objects ----

  struct Declarator {
    std::string name, dims, init;
  };

  /// The declarators from `i` on; `end` is set to the ";" behind them.
  std::vector<Declarator> declarators(std::size_t i, std::size_t& end) const {
    std::vector<Declarator> list;
    while (i < s_.size() && !s_[i].is(";")) {
      Declarator d;
      d.name = s_[i++].text;
      const std::size_t dims = i;
      while (i < s_.size() && s_[i].is("[")) i = s_.closing(i) + 1;
      d.dims = s_.text(dims, i);
      while (i < s_.size() && s_[i].is("__attribute__")) i = s_.closing(i + 1) + 1;
      if (i < s_.size() && s_[i].is("=")) ++i;
      const std::size_t init = i;
      int depth = 0;
      for (; i < s_.size() && !(depth == 0 && one_of(s_[i].text, {",", ";"})); ++i) {
        if (one_of(s_[i].text, {"(", "[", "{"})) ++depth;
        if (one_of(s_[i].text, {")", "]", "}"})) --depth;
      }
      d.init = s_.text(init, i);
      list.push_back(d);
      if (i < s_.size() && s_[i].is(",")) ++i;
    }
    end = i;
    return list;
  }

  /// Index of the first declarator's name, or 0 when this is no object: a pointer, a reference, a parameter.
  std::size_t declared_name() const {
    int angle = 0;
    for (std::size_t i = at_ + 1; i + 1 < s_.size(); ++i) {
      if (s_[i].is("<")) ++angle;
      if (s_[i].is(">")) --angle;
      if (angle > 0) continue;
      if (one_of(s_[i].text, {"*", "&", "(", ")", ";", "{", "}", ","})) return 0;
      const bool name = s_[i].kind == Kind::kWord && one_of(s_[i + 1].text, {"[", ";", ",", "=", "{"});
      if (name && i > at_ + 1) return i;
    }
    return 0;
  }

  void on_chip(const char* space) {
    const std::size_t name = declared_name();
    if (parens_ != 0 || scope_ == Scope::kClass || name == 0) return s_.replace(at_, {});
    std::string type;
    is_extern_ = false;
    for (std::size_t i = statement_; i < name; ++i) {
      const bool dropped = i == at_ || one_of(s_[i].text, {"static", "extern", "thread_local"});
      is_extern_ |= s_[i].is("extern");
      if (s_[i].is("__attribute__") || s_[i].is("alignas")) {
        i = s_.closing(i + 1);
      } else if (!dropped) {
        type += std::string(s_[i].text) + " ";
      }
    }
    std::size_t end = 0;
    std::string out;
    for (const Declarator& d : declarators(name, end)) {
      if (is_fresh(d.name)) out += object(space, type, d);
    }
    s_.replace(statement_, end, out);
    at_ = end;
  }

  /// False for a further declaration of a file's object, of which all but one are extern.
  bool is_fresh(const std::string& name) {
    if (scope_ != Scope::kNamespace) return true;
    const auto known = declared_.find(name);
    if (known != declared_.end() && (known->second || is_extern_)) return known->second = is_extern_, false;
    declared_[name] = is_extern_;
    return true;
  }

  /// C++ for one object: a reference into the running core's memory, which the runtime lays out per file.
  std::string object(const std::string& space, const std::string& type, const Declarator& d) const {
    const bool local = scope_ == Scope::kCode;
    const std::string storage = local ? "" : "static thread_local ";
    const std::string place =
        "(neuware_unit, ::neuware::Space::" + space + ", \"" + (is_extern_ ? "extern " : "") + d.name + "\", [] {}";
    if (d.init.empty()) {
      return storage + type + "(&" + d.name + ")" + d.dims + " __attribute__((unused)) = ::neuware::on_chip<" + type +
             d.dims + ">" + place + "); ";
    }
    const std::string init = d.name + "_neuware_init";
    const std::string constant = type.find("const ") == std::string::npos ? "const " : "";
    return (local ? "" : "static ") + constant + type + init + d.dims + " = " + d.init + "; " + storage + "auto& " +
           d.name + " __attribute__((unused)) = ::neuware::" + (local ? "on_chip_filled" : "on_chip_refilled") + place +
           ", " + init + "); ";
  }

  // ---- launches: kernel<...><<<dim, type, queue>>>(arguments) ----

  std::size_t kernel_begin() const {
    std::size_t i = at_ - 1;
    if (s_[i].is(">")) {
      i = s_.opening_angle(i);
      if (i >= s_.size() || i == 0) throw std::runtime_error("a launch without a kernel's name before <<<");
      --i;
    }
    if (s_[i].kind != Kind::kWord) throw std::runtime_error("a launch without a kernel's name before <<<");
    while (i >= 2 && s_[i - 1].is("::") && s_[i - 2].kind == Kind::kWord) i -= 2;
    if (i >= 1 && s_[i - 1].is("::")) --i;
    return i;
  }

  std::vector<std::pair<std::size_t, std::size_t>> split(std::size_t begin, std::size_t end) const {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    if (begin == end) return parts;
    int depth = 0, angle = 0;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (one_of(s_[i].text, {"(", "[", "{"})) ++depth;
      if (one_of(s_[i].text, {")", "]", "}"})) --depth;
      const bool cast = i > begin && one_of(s_[i - 1].text, {"static_cast", "reinterpret_cast", "const_cast"});
      if (s_[i].is("<") && (cast || angle > 0)) ++angle;
      if (s_[i].is(">") && angle > 0) --angle;
      if (s_[i].is(",") && depth == 0 && angle == 0) {
        parts.emplace_back(from, i);
        from = i + 1;
      }
    }
    parts.emplace_back(from, end);
    return parts;
  }

  /// Three ">" in a row at the launch's own depth.
  std::size_t configuration_end() const {
    int depth = 0;
    for (std::size_t i = at_ + 1; i + 2 < s_.size(); ++i) {
      if (one_of(s_[i].text, {"(", "["})) ++depth;
      if (one_of(s_[i].text, {")", "]"})) --depth;
      const bool three = s_[i].is(">") && s_[i + 1].is(">") && s_[i + 2].is(">");
      if (depth == 0 && three && s_[i + 1].space.empty() && s_[i + 2].space.empty()) return i;
    }
    throw std::runtime_error("a launch whose <<< is not closed by >>>");
  }

  void launch() {
    const std::size_t kernel = kernel_begin(), close = configuration_end(), open = close + 3;
    if (open >= s_.size() || !s_[open].is("(")) throw std::runtime_error("a launch without arguments behind >>>");
    const std::size_t end = s_.closing(open);
    if (end == s_.size()) throw std::runtime_error("a launch whose arguments are not closed");
    const auto config = split(at_ + 1, close);
    if (config.size() != 3) throw std::runtime_error("a launch needs <<<dimensions, type, queue>>>");
    const std::string name = s_.text(kernel, at_);
    for (const auto& [begin, stop] : split(open + 1, end)) {
      if (stop == begin + 1 && one_of(s_[begin].text, {"__null", "NULL"})) s_.replace(begin, "nullptr");
    }
    std::string head = "::neuware::launch(neuware_unit, \"" + escaped(name) + "\", ";
    for (const auto& [begin, stop] : config) head.append("(").append(s_.text(begin, stop)).append("), ");
    head += "[=](auto... neuware_argument) { " + name + "(neuware_argument...); }";
    s_.replace(kernel, open, head);
    s_.replace(open, open + 1 == end ? "" : ", ");
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
  }

  // ---- asm volatile("text" : outputs : inputs : clobbers) ----

  /// Only `asm volatile` is MLISA: system headers and labels use the plain form.
  void assembly() {
    if (at_ + 2 >= s_.size() || !one_of(s_[at_ + 1].text, {"volatile", "__volatile__", "__volatile"})) return;
    if (!s_[at_ + 2].is("(")) return;
    const std::size_t open = at_ + 2, end = s_.closing(open);
    if (end == s_.size()) throw std::runtime_error("asm volatile(...) that is not closed");
    std::vector<std::size_t> colons;
    int depth = 0;
    for (std::size_t i = open + 1; i < end; ++i) {
      if (one_of(s_[i].text, {"(", "["})) ++depth;
      if (one_of(s_[i].text, {")", "]"})) --depth;
      if (depth == 0 && s_[i].is(":")) colons.push_back(i);
      if (depth == 0 && s_[i].is("::")) colons.insert(colons.end(), {i, i});
    }
    const std::size_t text_end = colons.empty() ? end : colons[0];
    std::string out = "::neuware::Mlisa(" + s_.text(open + 1, text_end) + ")";
    for (std::size_t section = 0; section < 2 && section < colons.size(); ++section) {
      const std::size_t begin = std::min(colons[section] + 1, end);
      const std::size_t stop = section + 1 < colons.size() ? colons[section + 1] : end;
      if (begin < stop) out += operands(begin, stop);
    }
    s_.replace(at_, end + 1, out + ".run()");
  }

  std::string operands(std::size_t begin, std::size_t end) const {
    std::string out;
    for (const auto& [from, to] : split(begin, end)) {
      std::size_t i = from;
      std::string name;
      if (s_[i].is("[")) {
        name = s_[i + 1].text;
        i += 3;
      }
      out += ".operand(\"" + name + "\", " + std::string(s_[i].text) + ", " + s_.text(i + 1, to) + ")";
    }
    return out;
  }

  Source& s_;
  std::size_t at_ = 0, statement_ = 0;
  Scope scope_ = Scope::kNamespace;
  int parens_ = 0;
  bool is_extern_ = false;                // of the on-chip declaration at hand
  std::set<std::size_t> do_tails_;        // where the while of a do-loop stands
  std::map<std::string, bool> declared_;  // the on-chip objects at file scope: whether extern
  std::vector<Level> levels_;
};

}  // namespace

std::string rewrite(std::string preprocessed) {
  Source source(std::move(preprocessed));
  Rewriter(source).run();
  return source.str();
}

}  // namespace cncc
