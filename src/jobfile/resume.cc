#include "jobfile/resume.h"

namespace plimsoll::jobfile {
namespace {

constexpr std::size_t kSeveral = SIZE_MAX;

}  // namespace

Remainder::Remainder(std::vector<policy::JobSpec> jobs)
    : jobs_(std::move(jobs)), pasts_(jobs_.size(), Past::none) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    places_.emplace(jobs_[i].id, i);
    const auto [place, is_new] = commands_.emplace(policy::command_line(jobs_[i].command), i);
    if (!is_new) place->second = kSeveral;
  }
}

void Remainder::add(const JoblogEntry& entry) {
  const auto found = commands_.find(entry.command);
  std::size_t place = found == commands_.end() ? jobs_.size() : found->second;
  if (place == kSeveral) {
    const auto numbered = places_.find(JobId{entry.sequence});
    const bool same = numbered != places_.end() &&
                      policy::command_line(jobs_[numbered->second].command) == entry.command;
    place = same ? numbered->second : jobs_.size();
  }
  if (place == jobs_.size()) {
    ++strange_;
    return;
  }
  const bool failed = entry.exit_value != 0 || entry.signal != 0;
  pasts_[place] = failed ? Past::failed : Past::succeeded;
}

bool Remainder::starts(Past past, Resume rule) {
  switch (rule) {
    case Resume::unfinished: return past == Past::none;
    case Resume::unfinished_and_failed: return past != Past::succeeded;
    case Resume::failed: return past == Past::failed;
  }
  return true;
}

std::vector<char> Remainder::to_run(Resume rule) const {
  std::vector<char> chosen(jobs_.size(), 0);
  std::vector<std::size_t> open;  // chosen, their needs still to be looked at
  const auto take = [&](std::size_t place) {
    if (chosen[place] != 0) return;
    chosen[place] = 1;
    open.push_back(place);
  };
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (starts(pasts_[i], rule)) take(i);
  }
  while (!open.empty()) {
    const std::size_t place = open.back();
    open.pop_back();
    for (const JobId need : jobs_[place].needs) {
      const std::size_t needed = places_.at(need);
      if (pasts_[needed] != Past::succeeded) take(needed);
    }
  }
  return chosen;
}

JobsLeft Remainder::left(Resume rule) && {
  JobsLeft result;
  result.strange = strange_;
  for (const Past past : pasts_) {
    result.logged += past == Past::none ? 0 : 1;
    result.failed += past == Past::failed ? 1 : 0;
  }
  const std::vector<char> chosen = to_run(rule);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (chosen[i] == 0) continue;
    std::erase_if(jobs_[i].needs, [&](JobId need) { return chosen[places_.at(need)] == 0; });
    result.jobs.push_back(std::move(jobs_[i]));
  }
  return result;
}

}  // namespace plimsoll::jobfile
