#include "daemon/api/ended_stories.h"

#include <algorithm>
#include <utility>

namespace plimsoll::daemon {

void EndedStories::add(JobId job, std::uint32_t uid, JobStory story) {
  const auto own = users_.try_emplace(uid).first;
  User& user = own->second;
  user.decisions += story.decisions.size();
  decisions_ += story.decisions.size();
  ++stories_;
  user.stories.push_back({.job = job, .uid = uid, .story = std::move(story)});
  while (user.stories.size() > 1 &&
         (user.stories.size() > kOfUserMax || user.decisions > kDecisionsOfUserMax)) {
    drop_oldest(own);
  }
  while (stories_ > 1 && (stories_ > kStoriesMax || decisions_ > kDecisionsMax)) {
    // Whoever has most of what is too much.
    const bool are_many = stories_ > kStoriesMax;
    drop_oldest(
        std::max_element(users_.begin(), users_.end(), [are_many](const auto& a, const auto& b) {
          return are_many ? a.second.stories.size() < b.second.stories.size()
                          : a.second.decisions < b.second.decisions;
        }));
  }
}

void EndedStories::drop_oldest(std::map<std::uint32_t, User>::iterator user) {
  const std::size_t decisions = user->second.stories.front().story.decisions.size();
  user->second.stories.pop_front();
  user->second.decisions -= decisions;
  decisions_ -= decisions;
  --stories_;
  if (user->second.stories.empty()) users_.erase(user);
}

const EndedStories::Ended* EndedStories::find(JobId job) const {
  for (const auto& [uid, user] : users_) {
    for (const Ended& ended : user.stories) {
      if (ended.job == job) return &ended;
    }
  }
  return nullptr;
}

}  // namespace plimsoll::daemon
