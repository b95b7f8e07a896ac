// MLUOP_EMU_REPORT=page.html: one self-contained page about all launches of a program, written when it ends;
// page.json: its numbers.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/report.h"

namespace neuware {

class ReportPage {
 public:
  static ReportPage& instance();

  bool wanted() const { return !path_.empty(); }
  /// How many events of the next launch find room on the page.
  std::size_t events_wanted() const;
  /// A launch of a kernel of `file`; its fault is "" if it had none.
  void add(const std::string& file, mluops::emu::LaunchReport launch,
           const std::vector<mluops::emu::NramRegion>& objects, const std::string& fault);
  std::string html() const;
  std::string json() const;

 private:
  struct Note {
    std::string file, fault;
  };
  ReportPage();
  void write() const;

  std::string path_;
  mutable std::mutex mutex_;
  std::vector<mluops::emu::LaunchReport> launches_;
  std::vector<Note> notes_;  // of each launch
  std::size_t events_ = 0;
};

}  // namespace neuware
