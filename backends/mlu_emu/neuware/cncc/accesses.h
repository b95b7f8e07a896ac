// What the checks of a launch want to know of a kernel's source: the line of each word, the index of each array, the
// loads and stores through pointers.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "backends/mlu_emu/neuware/cncc/on_chip.h"
#include "backends/mlu_emu/neuware/cncc/place.h"
#include "backends/mlu_emu/neuware/cncc/references.h"
#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// If a word of the device is called at `at`, its place is told before.
void locate_word(Source& source, std::size_t at);

/// name[i][j]...: each index is held against the array's extent.
void check_subscripts(Source& source, std::size_t at);

/// A kernel's parameters behind the "(" at `open`: its body tells which of them are pointers.
void name_parameters(Source& source, std::size_t open);

/// Loads and stores of scalar code through pointers and arrays: name[i], a.name[i], name[i][j], (T*)(a)[i], *name,
/// *(name + i); those of on-chip objects that are no arrays, and of what a reference refers to: name; those of what a
/// function returned a reference to: name(i). What may be something else is left alone.
class Pointers {
 public:
  /// Names are known by their declarations, anywhere in the file.
  Pointers(Source& source, const Place& place, const OnChip& on_chip);

  const References& references() const { return references_; }
  bool names(std::size_t at) const { return names_.count(source_[at].text) != 0; }
  /// What stands there is a declarator, perhaps: of several of one statement or of a loop's head, or a class's member.
  bool declares(std::size_t at) const;
  /// At a word that names one, or an array on the chip, and has a "[" behind it. False where that is no access.
  bool subscript(std::size_t at);
  /// At a "[" behind any other expression.
  void subscript_of_expression(std::size_t open);
  /// At a "*".
  void dereference(std::size_t at);
  /// At a word that names an on-chip object that is no array.
  void scalar(std::size_t at);
  /// At a word that names a reference.
  void reference(std::size_t at);
  /// At a word with a "(" behind it, or template arguments and a "(".
  void call(std::size_t at);

 private:
  bool follows_declarator(std::size_t i) const;
  std::size_t begin_of(std::size_t last) const;
  std::size_t end_of_conversion(std::size_t first) const;
  void point(std::size_t at, std::size_t first, std::size_t last, std::size_t behind);
  bool multiplies(std::size_t at) const;
  bool is_used(std::size_t begin) const;
  bool applies_star(std::size_t at) const;
  std::size_t holder(std::size_t at) const;
  bool declares_another(std::size_t at, std::size_t open) const;
  bool binds(std::size_t at, std::size_t open) const;
  std::string touch_at(std::size_t begin, std::size_t behind);
  void enclose_object(std::size_t begin, std::size_t last, std::size_t behind);

  Source& source_;
  const Place& place_;
  const OnChip& on_chip_;
  const References references_;
  std::set<std::string, std::less<>> names_;
  bool packed_ = false;                  // the file has a packed class
  std::size_t watched_ = 0;              // the last "[" that subscript() took
  unsigned slots_ = 0;                   // given out
  mutable std::size_t walked_from_ = 0;  // the last walk back over a list, and what it found
  mutable bool walk_found_ = true;
};

}  // namespace cncc
