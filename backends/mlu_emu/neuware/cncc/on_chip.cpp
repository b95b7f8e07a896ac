#include "backends/mlu_emu/neuware/cncc/on_chip.h"

namespace cncc {

/// The declarators from `i` on; `end` is set to the ";" behind them.
std::vector<OnChip::Declarator> OnChip::declarators(std::size_t i, std::size_t& end) const {
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
std::size_t OnChip::declared_name() const {
  int angle = 0;
  bool typed = false;  // the qualifier may stand behind the type, too
  for (std::size_t i = place_.statement(); i < place_.at; ++i) {
    typed |=
        s_[i].kind == Kind::kWord && !one_of(s_[i].text, {"static", "extern", "thread_local", "const", "volatile"});
    if (one_of(s_[i].text, {"__attribute__", "alignas", "["})) typed = false, i = s_.closing(s_[i].is("[") ? i : i + 1);
  }
  for (std::size_t i = place_.at + 1; i + 1 < s_.size(); ++i) {
    if (one_of(s_[i].text, {"__attribute__", "alignas", "decltype"})) {
      typed |= s_[i].is("decltype");
      i = s_.closing(i + 1);
      continue;
    }
    if (s_[i].is("[") && s_[i + 1].is("[")) {
      i = s_.closing(i);
      continue;
    }
    if (s_[i].is("<")) ++angle;
    if (s_[i].is(">")) --angle;
    if (angle > 0) continue;
    if (one_of(s_[i].text, {"*", "&", "(", ")", ";", "{", "}", ","})) return 0;
    const bool name = s_[i].kind == Kind::kWord && one_of(s_[i + 1].text, {"[", ";", ",", "=", "{"});
    if (name && typed) return i;
    typed |= s_[i].kind == Kind::kWord && !one_of(s_[i].text, {"static", "extern", "const", "volatile"});
  }
  return 0;
}

void OnChip::rewrite(const char* space) {
  const std::size_t name = declared_name();
  if (place_.parens() != 0 || place_.scope() == Scope::kClass || name == 0) return s_.replace(place_.at, {});
  std::string type;
  is_extern_ = false;
  for (std::size_t i = place_.statement(); i < name; ++i) {
    const bool dropped = i == place_.at || one_of(s_[i].text, {"static", "extern", "thread_local"});
    is_extern_ |= s_[i].is("extern");
    if (one_of(s_[i].text, {"__attribute__", "alignas"})) {
      i = s_.closing(i + 1);
    } else if (s_[i].is("[") && s_[i + 1].is("[")) {
      i = s_.closing(i);
    } else if (!dropped) {
      type += std::string(s_[i].text) + " ";
    }
  }
  std::size_t end = 0;
  std::string out;
  for (const Declarator& d : declarators(name, end)) {
    (d.dims.empty() ? scalars_ : arrays_).insert(d.name);
    if (is_fresh(d.name)) out += object(space, type, d);
  }
  s_.replace(place_.statement(), end, out);
  place_.at = end;
}

/// False for a further declaration of a file's object, of which all but one are extern.
bool OnChip::is_fresh(const std::string& name) {
  if (place_.scope() != Scope::kNamespace) return true;
  const auto known = declared_.find(name);
  if (known != declared_.end() && (known->second || is_extern_)) return known->second = is_extern_, false;
  declared_[name] = is_extern_;
  return true;
}

/// C++ for one object: a reference into the running core's memory, which the runtime lays out per file.
std::string OnChip::object(const std::string& space, const std::string& type, const Declarator& d) const {
  const bool local = place_.scope() == Scope::kCode;
  const std::string storage = local ? "" : "static thread_local ";
  const std::string place =
      "(neuware_unit, ::neuware::Space::" + space + ", \"" + (is_extern_ ? "extern " : "") + d.name + "\", [] {}";
  if (d.init.empty()) {
    const std::string reference = d.dims.empty() ? "&" + d.name : "(&" + d.name + ")" + d.dims;
    return storage + type + reference + " __attribute__((unused)) = ::neuware::on_chip<" + type + d.dims + ">" + place +
           "); ";
  }
  const std::string init = d.name + "_neuware_init";
  const std::string constant = type.find("const ") == std::string::npos ? "const " : "";
  return (local ? "" : "static ") + constant + type + init + d.dims + " = " + d.init + "; " + storage + "auto& " +
         d.name + " __attribute__((unused)) = ::neuware::" + (local ? "on_chip_filled" : "on_chip_refilled") + place +
         ", " + init + "); ";
}

}  // namespace cncc
