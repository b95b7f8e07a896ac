// On-chip objects: declarations of NRAM, WRAM and SRAM become references into the core's memory.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mlu_emu/neuware/cncc/place.h"

namespace cncc {

class OnChip {
 public:
  OnChip(Source& source, Place& place) : s_(source), place_(place) {}

  /// The declaration whose qualifier is at hand; `space` as the runtime names it. Leaves the place at its end.
  void rewrite(const char* space);
  /// An array on the chip has this name somewhere in the file.
  bool names_array(std::string_view name) const { return arrays_.count(name) != 0; }
  /// Or an object that is declared as no array.
  bool names_scalar(std::string_view name) const { return scalars_.count(name) != 0; }

 private:
  struct Declarator {
    std::string name, dims, init;
  };

  std::vector<Declarator> declarators(std::size_t i, std::size_t& end) const;
  std::size_t declared_name() const;
  bool is_fresh(const std::string& name);
  std::string object(const std::string& space, const std::string& type, const Declarator& d) const;

  Source& s_;
  Place& place_;
  bool is_extern_ = false;                // of the declaration at hand
  std::map<std::string, bool> declared_;  // the objects at file scope: whether extern
  std::set<std::string, std::less<>> arrays_, scalars_;
};

}  // namespace cncc
