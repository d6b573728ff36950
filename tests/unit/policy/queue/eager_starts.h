#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/queue/queue.h"

namespace plimsoll::policy {

// Starts whatever is ready in order of priority, then of input, as far as the queue has room. In a
// run the governor decides that.
class EagerStarts {
 public:
  // `queue` must outlive this, and jobs come to it by enter().
  explicit EagerStarts(Queue& queue) : queue_(queue) {}

  void enter(const JobSpec& job) {
    priorities_[job.id] = job.priority;
    queue_.enter(job);
  }

  // After Queue::settle().
  std::vector<Start> at(Instant now) {
    for (const JobId job : queue_.take_ready()) ready_.emplace(-priorities_.at(job), job);
    std::vector<Start> starts;
    while (!ready_.empty() && queue_.room(now) > 0) {
      const JobId job = ready_.begin()->second;
      ready_.erase(ready_.begin());
      if (queue_.is_waiting(job)) starts.push_back(queue_.start(job, now));
    }
    return starts;
  }

 private:
  Queue& queue_;
  std::unordered_map<JobId, int> priorities_;
  std::set<std::pair<int, JobId>> ready_;
};

}  // namespace plimsoll::policy
