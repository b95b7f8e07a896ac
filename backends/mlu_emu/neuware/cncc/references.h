// References of device code: a reference that is made is no access, each use of it is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

/// What a preprocessed file says about references, found by the form of its declarations.
class References {
 public:
  explicit References(const Source& source);

  /// The word there stands for what a reference refers to: a variable or a parameter, within its block.
  bool names(std::size_t at) const;
  /// A function of that name returns a reference; of operators "operator[]" and "operator()".
  bool returns(std::string_view function) const { return returning_.count(function) != 0; }
  /// A variable of that name is of a class that has such an operator; with the operator[] also one that may be.
  bool is_called_for_reference(std::string_view name) const {
    return returns("operator()") && objects_.count(name) != 0;
  }
  bool is_indexed_for_reference(std::string_view name) const {
    return returns("operator[]") && (objects_.count(name) != 0 || autos_.count(name) != 0);
  }
  /// The expression [begin, behind) is an initialiser of a reference, an argument where a function of this file takes
  /// one, or what a function returns as one.
  bool binds(std::size_t begin, std::size_t behind) const;

 private:
  void declarator(std::size_t name);
  void parameter(std::size_t name, std::size_t open);
  void function(std::size_t name, std::size_t open);
  void objects();
  std::size_t behind_initialiser(std::size_t i) const;
  std::size_t body_behind(std::size_t close) const;
  bool takes(std::string_view function, std::size_t open, std::size_t at) const;
  std::size_t position(std::size_t open, std::size_t at, std::size_t most = SIZE_MAX) const;
  bool is_returned_by_reference(std::size_t at) const;

  const Source& s_;
  std::map<std::string_view, std::vector<std::pair<std::size_t, std::size_t>>> names_;  // where each is a reference
  std::set<std::size_t> initialisers_, returning_bodies_;
  std::map<std::string_view, std::set<std::size_t>> taking_;  // of functions the places of their references
  std::set<std::string_view> returning_, classes_, objects_, autos_;
};

}  // namespace cncc
