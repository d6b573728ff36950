#pragma once

#include <sys/resource.h>

#include <map>
#include <set>
#include <string>

#include "base/units.h"
#include "process/census.h"
#include "process/usage.h"

namespace plimsoll::engine {

// All families of a run in process mode: looked at together, as one look at /proc serves all.
class Families {
 public:
  explicit Families(process::Census census);

  // As of process::Roll. Of the main process' end the kernel's count comes along, if it has one.
  process::FamilyId begin(const std::string& job);
  void born(process::FamilyId family, int main);
  void main_ended(process::FamilyId family, const rusage* usage);
  void end(process::FamilyId family);

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
  void settle(process::FamilyId family, Instant now);

  [[nodiscard]] process::Census& census() { return census_; }
  // As of the last measure().
  [[nodiscard]] const process::Usage& usage(process::FamilyId family) const;
  [[nodiscard]] Bytes used() const;  // of all, strays too

  // Stops a family and keeps it stopped: who is born later, or continued by somebody else, is
  // stopped at the next look. Each freeze is undone by one thaw.
  void freeze(process::FamilyId family);
  void thaw(process::FamilyId family);

  static constexpr Duration kGapMin = std::chrono::milliseconds(50);
  // Later, and nobody would notice in time that memory runs short.
  static constexpr Duration kGapMax = std::chrono::seconds(1);
  static constexpr int kCostShare = 20;

 private:
  struct Member {
    explicit Member(process::Meter with) : meter(std::move(with)) {}
    process::Meter meter;
    unsigned freezes = 0;  // that are not undone
    std::set<process::Id> stopped;
  };
  void follow(process::FamilyId family);
  void keep_stopped(process::FamilyId family, Member& member);

  process::Census census_;
  std::map<process::FamilyId, Member> members_;
  Instant due_{};
};

}  // namespace plimsoll::engine
