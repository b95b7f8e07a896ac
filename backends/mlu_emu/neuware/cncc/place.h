// Where in a file the rewriting is: the token at hand, its statement, what kind of block it stands in.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

enum class Scope { kNamespace, kClass, kCode };

class Place {
 public:
  explicit Place(Source& source) : source_(source) {}

  std::size_t at = 0;  ///< may be moved on to a token behind

  std::size_t statement() const { return statement_; }
  Scope scope() const { return scope_; }
  int parens() const { return parens_; }  ///< that are open in this block

  /// To be called with each token in turn, when it is done with.
  void follow();

 private:
  struct Level {
    Scope scope;
    std::size_t statement;
    int parens;
  };

  std::size_t behind_template(std::size_t i) const;
  Scope scope_of_block() const;
  bool local_class() const;

  const Source& source_;
  std::size_t statement_ = 0;
  Scope scope_ = Scope::kNamespace;
  int parens_ = 0;
  std::vector<Level> levels_;
};

}  // namespace cncc
