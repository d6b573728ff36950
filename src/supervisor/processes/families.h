#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop/loop.h"
#include "base/units.h"
#include "kernel/procfs/process_scanner.h"
#include "kernel/procfs/usage.h"

namespace plimsoll::supervisor {

// All families of a run in process mode: looked at together, as one look at /proc serves all.
class Families {
 public:
  // `loop` must outlive this.
  Families(procfs::ProcessScanner process_scanner, loop::Loop& loop);
  Families(const Families&) = delete;
  Families& operator=(const Families&) = delete;

  // Whether its memory is the pool's: not that of drivers, which the line does not bound.
  enum class Counts : std::uint8_t { in_pool, beside_pool };
  // As of procfs::Membership. Of the main process' end the kernel's count comes along, if it has
  // one.
  procfs::FamilyId begin(const std::string& job, Counts counts = Counts::in_pool);
  void born(procfs::FamilyId family, int main);
  void main_ended(procfs::FamilyId family, const rusage* usage);
  // After that: the guardian has no other child than main processes, so that of what this one has
  // started nobody lives, unless it is below somebody who is not of the job, as below the first
  // process of another pid namespace. Whether nobody lives in the family then.
  bool left_nobody(procfs::FamilyId family);
  void end(procfs::FamilyId family);
  // For whoever is adopted and waited for by somebody else: who is its main process (Meter), and
  // how that was when it had ended, where it could still be seen.
  void main_is(procfs::FamilyId family, std::optional<int> pid) {
    members_.at(family).meter.main_is(pid);
  }
  void main_ended(procfs::FamilyId family, const procfs::Stat& dead);
  void adopt(procfs::FamilyId family, const std::vector<procfs::Stat>& processes) {
    process_scanner_.membership().adopt(family, processes);
  }
  // All of the one belong to the other from now on. Looks who they are.
  void give(procfs::FamilyId from, procfs::FamilyId to);

  // The mark of a job of this run, as text.
  [[nodiscard]] std::string mark_of(const std::string& job) const;

  // Looks who lives and what they use, unless the last look is so late that another would take more
  // than 1 / kCostShare of a CPU.
  void look(Instant now);
  // When that would be more than nothing.
  [[nodiscard]] Instant due() const { return due_; }
  // The same, whatever it costs.
  void measure(Instant now);
  // Looks who lives, whatever it costs.
  void count();
  // The same once for all who ask before it is done, who are told then, from the loop: in the next
  // turn, or so long after the last such look that these take 1 / kEndsShare of a CPU at most. Who
  // has destroyed what is returned is not told.
  using Told = std::function<void()>;
  [[nodiscard]] std::shared_ptr<const Told> tell_counted(Told then);
  // How often it was looked who lives.
  [[nodiscard]] std::uint64_t counts() const { return counts_; }
  // The job of the family of the pool that the process was last found in; empty if it was in none.
  [[nodiscard]] std::string place_in_pool(const procfs::Id& process) const;
  // Brings the use of one family up to date with the last count.
  void settle(procfs::FamilyId family, Instant now);

  [[nodiscard]] procfs::ProcessScanner& process_scanner() { return process_scanner_; }
  // As of the last measure().
  [[nodiscard]] const procfs::Usage& usage(procfs::FamilyId family) const;
  [[nodiscard]] Bytes used() const;  // of the pool: of strays too

  // Stops a family and keeps it stopped: who is born later, or continued by somebody else, is
  // stopped at the next look, of which there are some as long as anybody is. Each freeze is undone
  // by one thaw.
  void freeze(procfs::FamilyId family);
  void thaw(procfs::FamilyId family);
  // All that there are by now are frozen, once; and those of them that are left are thawed: not who
  // has begun meanwhile.
  void freeze_all();
  void thaw_all();
  // The same as freeze(), without a look: of those who are known.
  void hold(procfs::FamilyId family);
  // Whether all that were stopped stand. Those that were continued meanwhile are stopped again.
  bool keep_held(procfs::FamilyId family);

  static constexpr Duration kGapMin = std::chrono::milliseconds(50);
  // Later, and nobody would notice in time that memory runs short.
  static constexpr Duration kGapMax = std::chrono::seconds(1);
  static constexpr int kCostShare = 20;
  static constexpr int kEndsShare = 4;

 private:
  struct Member {
    Member(procfs::Meter with, Counts how) : meter(std::move(with)), counts(how) {}
    procfs::Meter meter;
    Counts counts;
    unsigned freezes = 0;  // that are not undone
    std::set<procfs::Id> stopped;
  };
  void follow(procfs::FamilyId family, Counts counts);
  void begin_freeze(Member& member);
  void keep_looking();
  void count_for_all();
  void keep_stopped(procfs::FamilyId family, Member& member);

  procfs::ProcessScanner process_scanner_;
  std::map<procfs::FamilyId, Member> members_;
  Instant due_{};
  std::uint64_t counts_ = 0;
  std::vector<std::weak_ptr<const Told>> asked_;
  Instant count_due_{};  // not sooner, whoever asks
  loop::Timer count_timer_;
  unsigned frozen_ = 0;                         // members with freezes
  std::set<procfs::FamilyId> frozen_together_;  // by freeze_all(), and not thawed since
  loop::Timer timer_;                           // while there are some
};

}  // namespace plimsoll::supervisor
