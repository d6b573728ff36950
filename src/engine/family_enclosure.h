#pragma once

#include <optional>
#include <string>

#include "engine/enclosure.h"
#include "engine/families.h"
#include "measure/sample_series.h"
#include "reap/course.h"

namespace plimsoll::engine {

// A family of processes as the place where an attempt lives, where no cgroup can be made. It holds
// nobody by force: docs/process-mode.md says who can get away, and what can't be measured.
class FamilyEnclosure : public Enclosure {
 public:
  // Both must outlive this. `job` names the attempt within the run.
  FamilyEnclosure(Machine& machine, Families& families, std::string job);
  ~FamilyEnclosure() override;

  [[nodiscard]] Result<guardian::ChildId> spawn(guardian::SpawnRequest request,
                                                ChildCallbacks callbacks) override;
  OomKills watch_oom(std::function<void()> /*told*/) override { return OomKills::whole; }
  [[nodiscard]] OwnOoms own_ooms() override { return {}; }
  void freeze() override;
  void thaw() override;
  void signal_all(int number) override;
  const measure::Sample& sample(Instant now, WallTime wall, measure::Level level,
                                measure::SampleState state) override;
  [[nodiscard]] Instant next_due() const override { return next_due_; }
  [[nodiscard]] measure::JobUsage finish(Instant now, WallTime wall) override;
  void reap(reap::LeftBehind left_behind, reap::ReaperCallbacks callbacks) override;
  void give_up_removal() override {
    if (course_) course_->give_up();
  }
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group() const override { return nullptr; }

 private:
  void main_ended(const rusage* usage);
  void fill(Instant now, WallTime wall, measure::SampleState state);
  void look();
  void kill();
  void tell_gone();
  void leave();
  [[nodiscard]] std::vector<cgroup::StuckProcess> stuck() const;

  Machine& machine_;
  Families& families_;
  std::string job_;
  process::FamilyId family_;
  bool is_frozen_ = false;
  Instant start_;
  Instant next_due_;
  measure::Sample latest_;
  measure::JobSeries series_;
  std::optional<Bytes> sampled_peak_;
  std::optional<Bytes> largest_;  // process, by the kernel's count at the main one's end
  std::optional<reap::Course> course_;
  reap::LeftBehind left_behind_{};
  reap::ReaperCallbacks callbacks_;
  reap::Reaped reaped_;
  std::optional<Error> trouble_;
  loop::Timer timer_;
};

}  // namespace plimsoll::engine
