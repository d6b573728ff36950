#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/estimator/estimate.h"
#include "policy/governor/admission.h"
#include "policy/governor/admission_context.h"
#include "policy/governor/governor_config.h"
#include "policy/governor/member.h"
#include "policy/governor/reservation.h"
#include "policy/governor/running_set.h"
#include "policy/governor/waiting.h"
#include "policy/job/decision.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// So many kinds of a tenant are tried behind those that do not fit; a bound on the time of one
// decision.
inline constexpr std::size_t kBackfillDepth = 64;
// And behind so many that are held for the disk, which leave memory and cores to others; a bound
// likewise.
inline constexpr std::size_t kHeldForDiskMost = 256;

// One round of admissions: who of those that wait starts now.
//
// While the running jobs want fewer cores than there are, wide jobs of the only tenant that fit
// into the rest come before others of the highest priority; they leave the memory that is kept for
// one that waits, disk space that one may wait for, and a place.
//
// Commands that jobs wait for come first, whatever places are left; while one waits, no job starts.
//
// Who is held for the disk comes last, and is let go while cores are left over: to hold him wrongly
// costs order, and never an idle machine.
//
// Tenants take turns: of those whose first job has the highest priority, whoever has least of the
// machine is next. While somebody waits for memory that would be within his fair share, nobody who
// has more than his own starts anything. Where there is one tenant all that comes to nothing.
// The same holds of the space of a file system for those who write there (DiskTenancy).
class Round {
 public:
  struct Ground {
    const GovernorConfig& config;
    Waiting& waiting;
    RunningSet& running_set;
    Reservations& reservations;
    AdmissionContext& seen;
    std::optional<Tenant>& last_served;  // of all rounds: among equals he is not next
  };
  // All of `ground` must outlive this.
  Round(const Ground& ground, Instant now, unsigned starts_max)
      : ground_(ground), now_(now), starts_left_(starts_max) {}

  // Starts them: they are moved from `waiting` to `running set`.
  void admit(std::vector<Decision>& rulings);
  // Why the first that waits does; nothing: somebody could start if more starts were allowed.
  [[nodiscard]] const std::optional<Holding>& holding() const { return holding_; }

 private:
  // How far a tenant has got.
  struct Turn {
    std::set<Kind> refused{};
    std::set<Kind> held_for_disk{};     // not among these
    std::set<Kind> overtakes_nobody{};  // would fill cores, and can't start now
    std::set<Kind> to_idle_cores{};     // were held for it, and alone have their turn now
    bool has_begun = false;
    bool has_reserved_job = false;  // the first that did not fit was seen
    bool command_waits = false;     // no job starts before it
    bool is_over = false;           // nothing more of his starts in this round
  };

  void take_turns();
  void give_idle_cores();
  [[nodiscard]] bool may_start() const;
  [[nodiscard]] bool has_place() const;  // for a job
  [[nodiscard]] bool needs_no_place(const Waiting::Rank& rank) const;
  [[nodiscard]] std::optional<Tenant> next();
  [[nodiscard]] std::optional<Holding> bar(Tenant tenant, const Waiting::Rank& rank) const;
  [[nodiscard]] bool take_turn(Tenant tenant);
  [[nodiscard]] bool start_first(Tenant tenant, Turn& turn);
  [[nodiscard]] bool fill_cores(Tenant tenant, Turn& turn);
  [[nodiscard]] bool may_overtake(Tenant tenant, const Turn& turn) const;
  [[nodiscard]] bool is_tried_out(const Turn& turn) const;
  // Where a place is kept for one.
  [[nodiscard]] std::optional<Waiting::Rank> reserved_job_of(Tenant tenant) const;
  void hear_the_impatient();
  void hear_who_waits_for_space();
  void refused_for_space(Tenant tenant, std::size_t disk, const Estimate& estimate);
  void share_space(Surroundings& around, Tenant tenant) const;
  void share_space(Surroundings& around, Tenant tenant, const Waiting::Rank& rank) const;
  void count_in_space(Tenant tenant, const Estimate& admitted);
  [[nodiscard]] std::optional<Refused> refusal_of(const Surroundings& around,
                                                  const Waiting::Rank& rank) const;
  [[nodiscard]] bool consider(Tenant tenant, Turn& turn, const Waiting::Rank& rank);
  [[nodiscard]] bool is_awaited(const Ready& job) const;
  void start(Tenant tenant, const Waiting::Rank& rank);
  void refused_for_memory(Tenant tenant, Turn& turn, JobId job, const Estimate& estimate);
  [[nodiscard]] Surroundings around_of(Tenant tenant) const;
  [[nodiscard]] Surroundings around_of(Tenant tenant, const Waiting::Rank& rank) const;

  Ground ground_;
  Instant now_;
  unsigned starts_left_;
  std::map<Tenant, Turn> turns_{};
  std::map<Tenant, Reservation::Place> places_{};  // that are kept
  bool is_closed_ = false;                         // to everybody
  bool is_closed_to_rich_ = false;                 // to who has more than his share
  bool is_disk_last_ = false;                      // only who was held for it has a turn now
  std::optional<Holding> holding_{};
  std::optional<Holding> disk_holding_{};  // of the first that was refused, if for the disk
  std::vector<Decision>* rulings_ = nullptr;
};

}  // namespace plimsoll::policy
