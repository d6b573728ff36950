#pragma once

#include <sys/resource.h>

#include <map>
#include <set>
#include <string>

#include "base/units.h"
#include "kernel/procfs/process_scanner.h"
#include "kernel/procfs/usage.h"

namespace plimsoll::supervisor {

// All families of a run in process mode: looked at together, as one look at /proc serves all.
class Families {
 public:
  explicit Families(procfs::ProcessScanner process_scanner);

  // As of procfs::Membership. Of the main process' end the kernel's count comes along, if it has
  // one.
  procfs::FamilyId begin(const std::string& job);
  void born(procfs::FamilyId family, int main);
  void main_ended(procfs::FamilyId family, const rusage* usage);
  void end(procfs::FamilyId family);

  // The mark of a job of this run, as text.
  [[nodiscard]] std::string mark_of(const std::string& job) const;

  // Looks who lives and what they use, unless the last look is so late that another would take more
  // than 1 / kCostShare of a CPU.
  void look(Instant now);
  // The same, whatever it costs.
  void measure(Instant now);
  // Looks who lives, whatever it costs.
  void count();
  // Brings the use of one family up to date with the last count.
  void settle(procfs::FamilyId family, Instant now);

  [[nodiscard]] procfs::ProcessScanner& process_scanner() { return process_scanner_; }
  // As of the last measure().
  [[nodiscard]] const procfs::Usage& usage(procfs::FamilyId family) const;
  [[nodiscard]] Bytes used() const;  // of all, strays too

  // Stops a family and keeps it stopped: who is born later, or continued by somebody else, is
  // stopped at the next look. Each freeze is undone by one thaw.
  void freeze(procfs::FamilyId family);
  void thaw(procfs::FamilyId family);

  static constexpr Duration kGapMin = std::chrono::milliseconds(50);
  // Later, and nobody would notice in time that memory runs short.
  static constexpr Duration kGapMax = std::chrono::seconds(1);
  static constexpr int kCostShare = 20;

 private:
  struct Member {
    explicit Member(procfs::Meter with) : meter(std::move(with)) {}
    procfs::Meter meter;
    unsigned freezes = 0;  // that are not undone
    std::set<procfs::Id> stopped;
  };
  void follow(procfs::FamilyId family);
  void keep_stopped(procfs::FamilyId family, Member& member);

  procfs::ProcessScanner process_scanner_;
  std::map<procfs::FamilyId, Member> members_;
  Instant due_{};
};

}  // namespace plimsoll::supervisor
