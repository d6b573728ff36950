#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/loop/loop.h"
#include "kernel/counters/sample_series.h"
#include "kernel/reap/course.h"
#include "supervisor/processes/child_spawner.h"
#include "supervisor/processes/family.h"
#include "supervisor/processes/process_set.h"

namespace plimsoll::supervisor {

// A family of processes as the place where an attempt lives, where no cgroup can be made. It holds
// nobody by force: docs/process-mode.md says who can get away, and what can't be measured.
class ProcfsProcessSet : public ProcessSet, private ChildObserver {
 public:
  // All must outlive this. `job` names the attempt within the run.
  ProcfsProcessSet(ChildSpawner& spawner, loop::Loop& loop, ProcessSetObserver& observer,
                   Families& families, std::string job)
      : ProcfsProcessSet(spawner, loop, observer,
                         std::make_shared<Family>(families, std::move(job))) {}
  // The same of a family that there is already.
  ProcfsProcessSet(ChildSpawner& spawner, loop::Loop& loop, ProcessSetObserver& observer,
                   std::shared_ptr<Family> family);
  ~ProcfsProcessSet() override;

  [[nodiscard]] Result<guardian::ChildId> spawn(guardian::SpawnRequest request) override;
  void adopt(int main) override;
  OomKills watch_oom() override { return OomKills::whole; }
  [[nodiscard]] OwnOoms own_ooms() override { return {}; }
  void freeze() override;
  void thaw() override;
  void signal_all(int number) override;
  const counters::Sample& sample(Instant now, WallTime wall, counters::Level level,
                                 counters::SampleState state) override;
  [[nodiscard]] Instant next_due() const override { return next_due_; }
  [[nodiscard]] counters::JobUsage finish(Instant now, WallTime wall) override;
  void reap(reap::LeftBehind left_behind) override;
  void give_up_removal() override {
    if (course_) course_->give_up();
  }
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group() const override { return nullptr; }

  // So often it is looked whether adopted processes live here, though no oftener than looks may
  // cost. The end of the main one mostly is that of all.
  static constexpr Duration kVacancyLook = Families::kGapMin;

 private:
  // The family is told first, then the owner.
  void on_started(guardian::Started started) override;
  void on_start_failed(const guardian::StartFailed& failure) override;
  void on_exited(const guardian::Exited& exited) override;

  [[nodiscard]] Families& families() const { return family_->all(); }
  [[nodiscard]] procfs::ProcessScanner& scanner() const { return families().process_scanner(); }
  void adopted_ended();
  void look_for_vacancy();
  void tell_if_vacant();
  void note_peak();
  void fill(Instant now, WallTime wall, counters::SampleState state);
  void look();
  void looked();
  void kill();
  void tell_gone();
  void leave();
  [[nodiscard]] std::vector<cgroup::StuckProcess> stuck() const;

  ChildSpawner& spawner_;
  ProcessSetObserver& observer_;
  loop::Loop& loop_;
  std::shared_ptr<Family> family_;
  bool is_frozen_ = false;
  bool main_has_ended_ = false;  // or was never born
  bool is_vacant_ = false;       // seen since
  Instant start_;
  Instant next_due_;
  counters::Sample latest_;
  counters::JobSeries series_;
  std::optional<Bytes> sampled_peak_;
  std::optional<Bytes> largest_;  // process, by the kernel's count at the main one's end
  std::optional<reap::Course> course_;
  reap::LeftBehind left_behind_{};
  reap::Reaped reaped_;
  std::optional<Error> trouble_;
  loop::Timer timer_;
  std::shared_ptr<const Families::Told> counted_;
  int main_ = -1;  // the pidfd of an adopted process
  loop::Watch main_watch_;
  loop::Timer vacancy_timer_;
};

}  // namespace plimsoll::supervisor
