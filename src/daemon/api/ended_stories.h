#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>

#include "daemon/api/job_request.h"

namespace plimsoll::daemon {

// What was decided about jobs that have ended: of each user's the last ones. Who has many or long
// ones leaves the others theirs. Of the loop's thread.
class EndedStories {
 public:
  // Stories and decisions of one user, and in all: a decision takes some hundred bytes. Beyond the
  // latter the oldest story goes of the user who has most decisions here. One is always kept.
  static constexpr std::size_t kOfUserMax = 100;
  static constexpr std::size_t kStoriesMax = 1000;
  static constexpr std::size_t kDecisionsOfUserMax = 20'000;
  static constexpr std::size_t kDecisionsMax = 100'000;

  void add(JobId job, std::uint32_t uid, JobStory story);

  struct Ended {
    JobId job{};
    std::uint32_t uid = 0;
    JobStory story;
  };
  // Nothing of a job that is not known any more.
  [[nodiscard]] const Ended* find(JobId job) const;

 private:
  struct User {
    std::list<Ended> stories;  // the oldest first
    std::size_t decisions = 0;
  };

  void drop_oldest(std::map<std::uint32_t, User>::iterator user);

  std::map<std::uint32_t, User> users_;  // those who have stories
  std::size_t stories_ = 0, decisions_ = 0;
};

}  // namespace plimsoll::daemon
