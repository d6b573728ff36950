#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/job_service.h"

namespace plimsoll::daemon {

// One job, from its coming to the removal of its last group.
struct JobService::Job {
  // One output of the present attempt, read as it comes.
  struct Pipe {
    UniqueFd fd;
    loop::Watch watch;
    loop::Timer full;  // until those who follow have room again, or till it is read for nobody
  };

  JobRequest order;
  std::uint32_t uid = 0;
  std::optional<guardian::Identity> identity;
  Instant came{};
  WallTime queued{};
  Instant waiting_since{};
  Duration held{}, paused{};
  ApiJobState state = ApiJobState::waiting;
  unsigned attempt = 0;
  std::string told;           // why it is in that state, as last told
  std::array<Pipe, 2> pipes;  // by OutputStream
  std::map<WatcherId, std::shared_ptr<JobWatcher>> watchers;
  std::vector<JobStory::Decision> first;
  std::deque<JobStory::Decision> latest;  // after the first half
  bool is_cut = false;
  std::size_t groups = 0;  // not removed yet
  bool is_ended = false;   // for good
  policy::Outcome outcome = policy::Outcome::skipped;
  std::string reason;
  std::vector<report::AttemptReport> attempts;
  std::optional<supervisor::AttemptResult> last;
  std::optional<counters::MachineUsage> machine;

  [[nodiscard]] StateTold state_told(JobId id, const std::string& why) const {
    return {.job = id, .state = state, .attempt = attempt, .reason = why};
  }

  // Why it does not run: of the one that is `next` as of now, of another as told last.
  [[nodiscard]] std::string why(const std::optional<policy::Holding>& next) const {
    if (state == ApiJobState::running) return {};
    const bool is_next = next && next->job == order.spec.id;
    return is_next && state == ApiJobState::waiting ? next->reason : told;
  }

  void note(JobStory::Decision decision) {
    if (first.size() < kDecisionsMax / 2) return first.push_back(std::move(decision));
    latest.push_back(std::move(decision));
    if (latest.size() <= kDecisionsMax / 2) return;
    latest.pop_front();
    is_cut = true;
  }

  [[nodiscard]] JobStory story() const {
    JobStory whole{.decisions = first, .cut = is_cut};
    whole.decisions.insert(whole.decisions.end(), latest.begin(), latest.end());
    return whole;
  }

  Pipe& pipe(OutputStream stream) { return pipes.at(static_cast<std::size_t>(stream)); }
};

}  // namespace plimsoll::daemon
