#include "guardian/adoptions.h"

#include <algorithm>
#include <utility>

#include "kernel/cgroup/stuck.h"

namespace plimsoll::guardian {
namespace {

// A job's own group is no deeper below its run: pool, user, job.
constexpr std::size_t kJobDepthMax = 5;

bool lies_within(std::string_view path, std::string_view group) {
  for (auto at = path.find(group); at != std::string_view::npos; at = path.find(group, at + 1)) {
    const auto end = at + group.size();
    if (end == path.size() || path[end] == '/' || path[end] == ' ') return true;
  }
  return false;
}

bool is_in(const AdoptedChild& child, const std::string& group) {
  return !group.empty() && std::ranges::any_of(child.groups, [&group](const std::string& path) {
    return lies_within(path, group);
  });
}

}  // namespace

void Adoptions::began(ChildId id, Job job) {
  forget(id);  // a second birth
  is_used_ = true;
  groups_[job.group] = id;
  if (job.user != user_) job.name.clear();  // may be of any length, and tells nothing
  if (!job.name.empty()) names_[job.name].insert(id);
  sessions_[job.main] = id;
  users_[job.user].insert(id);
  jobs_.emplace(id, std::move(job));
}

void Adoptions::forget(ChildId id) {
  const auto known = jobs_.find(id);
  if (known == jobs_.end()) return;
  const Job& job = known->second;
  const auto drop = [id](auto& map, const auto& key) {
    const auto found = map.find(key);
    if (found != map.end() && found->second == id) map.erase(found);
  };
  drop(groups_, job.group);
  if (const auto named = names_.find(job.name); named != names_.end()) {
    named->second.erase(id);
    if (named->second.empty()) names_.erase(named);
  }
  drop(sessions_, job.main);
  const auto user = users_.find(job.user);
  user->second.erase(id);
  if (user->second.empty()) users_.erase(user);
  jobs_.erase(known);
  if (ending_.empty() && jobs_.empty()) heirs_.clear();
}

void Adoptions::ended(pid_t child) {
  has_changed_ = true;  // its own children have come
  host_.ended(child);
  waiting_.erase(child);
  unanswered_.erase(child);
  heirs_.erase(child);
  const auto found = orphans_.find(child);
  if (found == orphans_.end()) return;
  const Orphan& orphan = found->second;
  if (orphan.state == State::killed) tell(orphan, child, false);
  unowned_.erase(child);
  if (orphan.owner) {
    // Its job's end waits for a look at them.
    if (const auto ending = ending_.find(*orphan.owner); ending != ending_.end()) {
      ending->second.listing = listings_ + 1;
    }
    const auto owned = owned_.find(*orphan.owner);
    if (owned != owned_.end() && owned->second.erase(child) != 0 && owned->second.empty()) {
      owned_.erase(owned);
    }
  }
  orphans_.erase(found);
}

void Adoptions::look(const std::unordered_map<pid_t, ChildId>& started) {
  if (!is_used_) has_changed_ = false;
  if (has_to_list() && host_.time_now() >= list_due_) find(started);
  if (!work_.empty() && host_.time_now() >= work_due_) {
    const Instant begun = host_.time_now();
    work();
    const Instant ended = host_.time_now();
    work_due_ = ended + (kCostShare - 1) * (ended - begun);
  }
}

void Adoptions::find(const std::unordered_map<pid_t, ChildId>& started) {
  const Instant begun = host_.time_now();
  // Those of a list are told apart before the next: else whoever makes more would keep others'
  // behind them.
  if (unsorted_.empty() && std::exchange(has_changed_, false)) list(started);
  const Instant listed = host_.time_now();
  const bool has_sorted = sort();
  const Instant sorted = host_.time_now();
  if (!has_sorted && sorted - begun <= kFreeLook) return;
  // Everybody's ends wait for lists and for the sorting: half of a CPU where those take long.
  const Duration listing = listed - begun;
  const Duration gap = std::max(listing, std::min((kCostShare - 1) * listing, kListGapMax));
  list_due_ = sorted + gap + (sorted - listed);
}

void Adoptions::list(const std::unordered_map<pid_t, ChildId>& started) {
  ++listings_;
  const ChildId newest = jobs_.empty() ? ChildId{} : jobs_.rbegin()->first;
  const auto add = [&](pid_t pid) {
    if (started.contains(pid) || inherited_.contains(pid) || orphans_.contains(pid)) return;
    if (waiting_.insert(pid).second) unsorted_.push_back({pid, newest, listings_});
  };
  for (const pid_t pid : std::exchange(unanswered_, {})) add(pid);
  for (const pid_t pid : host_.new_children()) add(pid);
}

// Who has ended meanwhile has no number any more; that of another is not waited for here.
bool Adoptions::sort() {
  std::size_t asked = 0;
  while (asked < kSortedMax && !unsorted_.empty()) {
    const Unseen next = unsorted_.front();
    unsorted_.pop_front();
    if (!waiting_.contains(next.pid)) continue;
    ++asked;
    if (const auto user = host_.user_of(next.pid)) {
      work_[*user].unseen.push_back(next);
    } else {
      waiting_.erase(next.pid);
      unanswered_.insert(next.pid);  // it is about to be waited for
    }
  }
  return asked > 0;
}

// Users in turn, one process of each.
void Adoptions::work() {
  std::size_t done = 0;
  while (done < kReadsMax && !work_.empty()) {
    auto turn = work_.upper_bound(last_);
    if (turn == work_.end()) turn = work_.begin();
    last_ = turn->first;
    Work& those = turn->second;
    if (!those.doomed.empty()) {
      const pid_t pid = those.doomed.front();
      those.doomed.pop_front();
      if (const auto found = orphans_.find(pid);
          found != orphans_.end() && found->second.state == State::doomed) {
        ++done;
        end(pid);
      }
    } else if (!those.unseen.empty()) {
      const Unseen next = those.unseen.front();
      those.unseen.pop_front();
      if (waiting_.erase(next.pid) != 0) {
        ++done;
        read(next);
      }
    }
    if (those.doomed.empty() && those.unseen.empty()) work_.erase(last_);
  }
}

std::optional<ChildId> Adoptions::in_group(const std::vector<std::string>& groups) const {
  for (const std::string& path : groups) {
    const auto run = path.find("/plimsoll-");
    if (run == std::string::npos) continue;
    // Of runs within runs, any may be ours.
    for (auto start = run; start != std::string::npos; start = path.find("/plimsoll-", start + 1)) {
      auto end = start;
      for (std::size_t depth = 0; depth < kJobDepthMax && end != std::string::npos; ++depth) {
        end = path.find('/', end + 1);
        const auto found = groups_.find(path.substr(start, end - start));
        if (found != groups_.end()) return found->second;
      }
    }
  }
  return std::nullopt;
}

std::optional<ChildId> Adoptions::in_session(const AdoptedChild& child) const {
  const auto found = sessions_.find(child.session);
  if (found == sessions_.end()) return std::nullopt;
  const uid_t user = jobs_.at(found->second).user;
  return user == child.user || user == user_ ? std::optional(found->second) : std::nullopt;
}

std::optional<ChildId> Adoptions::by_name(pid_t pid, const AdoptedChild& child) const {
  if (names_.empty() || child.user != user_) return std::nullopt;
  const auto found = names_.find(host_.name_of(pid));
  if (found == names_.end() || found->second.size() > 1) return std::nullopt;
  return *found->second.begin();
}

Adoptions::Candidates Adoptions::candidates(const Orphan& orphan) const {
  Candidates found;
  const auto add = [&](uid_t user) {
    const auto jobs = users_.find(user);
    if (jobs == users_.end()) return;
    for (const ChildId id : jobs->second) {
      if (id > orphan.newest || found.count == 2) return;
      found.first = id;
      ++found.count;
    }
  };
  add(orphan.about.user);
  if (orphan.about.user != user_) add(user_);
  return found;
}

std::optional<ChildId> Adoptions::owner_of(pid_t pid, const Orphan& orphan) {
  if (const auto heir = heirs_.extract(pid); heir && heir.mapped().start == orphan.about.start) {
    return heir.mapped().owner;
  }
  if (const auto job = in_group(orphan.about.groups)) return job;
  if (const auto job = in_session(orphan.about)) return job;
  if (const auto job = by_name(pid, orphan.about)) return job;
  if (!inherited_.empty()) return std::nullopt;
  const Candidates those = candidates(orphan);
  return those.count == 1 ? std::optional(those.first) : std::nullopt;
}

void Adoptions::read(const Unseen& unseen) {
  auto about = host_.read(unseen.pid);
  // It is about to be waited for.
  if (!about) return static_cast<void>(unanswered_.insert(unseen.pid));
  Orphan orphan{.about = std::move(*about), .newest = unseen.newest, .owner = std::nullopt};
  orphan.owner = owner_of(unseen.pid, orphan);
  keep(unseen.pid, std::move(orphan));
}

void Adoptions::keep(pid_t pid, Orphan orphan) {
  const bool is_foreign = !orphan.owner && !inherited_.empty();
  const bool is_free =
      orphan.owner ? !jobs_.contains(*orphan.owner) : !is_foreign && candidates(orphan).count == 0;
  if (orphan.owner) {
    owned_[*orphan.owner].insert(pid);
  } else if (!is_foreign) {
    unowned_.insert(pid);
  }
  orphans_.insert_or_assign(pid, std::move(orphan));
  if (is_free) mark_dying(pid);
}

bool Adoptions::main_ended(ChildId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return false;
  // What was not looked at may be its own.
  bool is_left = has_changed_ || may_be_unseen(job->second.user, listings_, Of::anybody) ||
                 owned_.contains(id);
  for (auto at = unowned_.begin(); !is_left && at != unowned_.end(); ++at) {
    const Orphan& orphan = orphans_.at(*at);
    is_left =
        id <= orphan.newest && (job->second.user == orphan.about.user || job->second.user == user_);
  }
  if (!is_left) forget(id);
  return is_left;
}

void Adoptions::over(ChildId id) {
  const auto job = jobs_.find(id);
  Ending& ending = ending_[id];
  ending.deadline = host_.time_now() + kPatience;
  ending.others_until = host_.time_now() + kPatienceWithOthers;
  ending.listing = listings_ + 1;
  ending.user = user_;
  if (job != jobs_.end()) {
    ending.group = job->second.group;
    ending.user = job->second.user;
  }
  forget(id);
  has_changed_ = true;
  // What was killed with the group has not been waited for yet, and is found to be so.
  if (const auto owned = owned_.find(id); owned != owned_.end()) {
    const std::set<pid_t> those = owned->second;
    for (const pid_t pid : those) mark_dying(pid);
  }
  end_unowned();
}

void Adoptions::end_unowned() {
  std::vector<pid_t> free;
  for (const pid_t pid : unowned_) {
    const Orphan& orphan = orphans_.at(pid);
    if (orphan.state == State::kept && candidates(orphan).count == 0) free.push_back(pid);
  }
  for (const pid_t pid : free) mark_dying(pid);
}

void Adoptions::mark_dying(pid_t pid) {
  Orphan& orphan = orphans_.at(pid);
  if (orphan.state != State::kept) return;
  orphan.state = State::doomed;
  work_[orphan.about.user].doomed.push_back(pid);
}

void Adoptions::end(pid_t pid) {
  Orphan& orphan = orphans_.at(pid);
  auto about = host_.read(pid);
  if (!about) {
    orphan.state = State::killed;
    return;
  }
  orphan.about = std::move(*about);
  if (!orphan.owner) {
    if (const auto job = in_group(orphan.about.groups)) {
      orphan.state = State::kept;
      orphan.owner = job;
      unowned_.erase(pid);
      owned_[*job].insert(pid);
      return;
    }
  }
  const auto ending = orphan.owner ? ending_.find(*orphan.owner) : ending_.end();
  orphan.had_left = ending == ending_.end() || !is_in(orphan.about, ending->second.group);
  if (orphan.owner) {
    for (const procfs::Id& heir : host_.descendants_of(pid)) {
      heirs_[heir.pid] = {heir.start, *orphan.owner};
    }
  }
  if (host_.kill(pid)) {
    orphan.state = State::killed;
  } else {
    orphan.state = State::refused;
    tell(orphan, pid, true);
  }
}

void Adoptions::tell(const Orphan& orphan, pid_t pid, bool lives) {
  if (!orphan.had_left || orphan.is_told) return;
  const auto ending = orphan.owner ? ending_.find(*orphan.owner) : ending_.end();
  std::vector<Escapee>& list = ending == ending_.end() ? strays_ : ending->second.escaped;
  if (list.size() < cgroup::kReportedMax) list.push_back({pid, orphan.about.comm, lives});
}

// Of those of this listing or one before, which a job of `user` could have brought forth.
bool Adoptions::may_be_unseen(uid_t user, std::uint64_t listing, Of whose) const {
  const auto is_left = [listing](const std::deque<Unseen>& those) {
    return !those.empty() && those.front().listing <= listing;
  };
  if (is_left(unsorted_)) return true;
  return std::ranges::any_of(work_, [&](const auto& one) {
    const bool is_of_any = user == user_ && whose == Of::anybody;
    const bool concerns = is_of_any || one.first == user || one.first == user_;
    return concerns && is_left(one.second.unseen);
  });
}

bool Adoptions::is_busy_with(ChildId id, const Ending& ending) const {
  const Of whose = host_.time_now() < ending.others_until ? Of::anybody : Of::itself;
  if (listings_ < ending.listing || may_be_unseen(ending.user, ending.listing, whose)) return true;
  const auto owned = owned_.find(id);
  return owned != owned_.end() && std::ranges::any_of(owned->second, [this](pid_t pid) {
           const State state = orphans_.at(pid).state;
           return state == State::doomed || state == State::killed;
         });
}

std::vector<Escaped> Adoptions::settle() {
  std::vector<Escaped> answers;
  for (auto at = ending_.begin(); at != ending_.end();) {
    auto& [id, ending] = *at;
    const bool is_late = host_.time_now() >= ending.deadline;
    if (!is_late && is_busy_with(id, ending)) {
      ++at;
      continue;
    }
    const auto owned = owned_.find(id);
    for (const pid_t pid : owned == owned_.end() ? std::set<pid_t>() : owned->second) {
      Orphan& orphan = orphans_.at(pid);
      if (orphan.state == State::killed) tell(orphan, pid, true);
      orphan.is_told = true;
    }
    answers.push_back({id, std::move(ending.escaped)});
    at = ending_.erase(at);
  }
  return answers;
}

std::optional<Duration> Adoptions::next_turn() const {
  const Instant now = host_.time_now();
  std::optional<Duration> wait;
  const auto wake_at = [&](Instant when) {
    const Duration left = std::max(Duration{}, when - now);
    wait = wait ? std::min(*wait, left) : left;
  };
  if (has_to_list()) wake_at(list_due_);
  if (!work_.empty()) wake_at(work_due_);
  for (const auto& [id, ending] : ending_) {
    wake_at(now < ending.others_until ? ending.others_until : ending.deadline);
  }
  return wait;
}

}  // namespace plimsoll::guardian
