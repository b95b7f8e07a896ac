// Where in a file the rewriting is: the token at hand, its statement, what kind of block it stands in.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/source.h"

namespace cncc {

enum class Scope { kNamespace, kClass, kCode };

/// A qualifier of functions that run on the device.
bool is_device(std::string_view word);

class Place {
 public:
  explicit Place(Source& source) : source_(source) {}

  std::size_t at = 0;  ///< may be moved on to a token behind

  std::size_t statement() const { return statement_; }
  Scope scope() const { return scope_; }
  int parens() const { return parens_; }  ///< that are open in this block
  bool in_device_code() const { return device_; }

  /// To be called with each token in turn, when it is done with.
  void follow();

 private:
  /// What the tokens of the statement up to `behind` say: looked at once each, however many blocks the statement has.
  struct Seen {
    std::size_t statement = 0, behind = 0;
    bool device = false;                        ///< a qualifier of device functions
    bool names_class = false, decided = false;  ///< `class` or its like; what such a word no longer changes behind it
    std::size_t next = 0;                       ///< outside of code
    bool heads_class = false;
    std::optional<Scope> scope;  ///< of the statement's blocks, where a word has decided it
  };
  struct Level {
    Scope scope;
    std::size_t statement;
    int parens;
    bool device;
    Seen seen;
  };

  std::size_t behind_template(std::size_t i) const;
  Scope scope_of_block();
  void look();
  bool statement_goes_on() const;

  const Source& source_;
  std::size_t statement_ = 0;
  Scope scope_ = Scope::kNamespace;
  int parens_ = 0;
  bool device_ = false;
  Seen seen_;
  std::vector<Level> levels_;
};

}  // namespace cncc
