#include "jobs/resume.h"

#include <unordered_map>

namespace plimsoll::jobs {
namespace {

enum class Past : std::uint8_t { none, succeeded, failed };

using Places = std::unordered_map<JobId, std::size_t>;

std::vector<Past> pasts_of(const std::vector<policy::JobSpec>& jobs, const Places& places,
                           std::span<const JoblogEntry> log) {
  std::vector<Past> pasts(jobs.size(), Past::none);
  for (const JoblogEntry& entry : log) {
    const auto place = places.find(JobId{entry.sequence});
    if (place == places.end()) continue;
    if (policy::command_line(jobs[place->second].command) != entry.command) continue;
    const bool failed = entry.exit_value != 0 || entry.signal != 0;
    pasts[place->second] = failed ? Past::failed : Past::succeeded;
  }
  return pasts;
}

bool starts(Past past, Resume rule) {
  switch (rule) {
    case Resume::unfinished: return past == Past::none;
    case Resume::unfinished_and_failed: return past != Past::succeeded;
    case Resume::failed: return past == Past::failed;
  }
  return true;
}

}  // namespace

std::vector<policy::JobSpec> jobs_left(std::vector<policy::JobSpec> jobs,
                                       std::span<const JoblogEntry> log, Resume rule) {
  Places places;
  for (std::size_t i = 0; i < jobs.size(); ++i) places.emplace(jobs[i].id, i);
  const std::vector<Past> pasts = pasts_of(jobs, places, log);

  std::vector<char> left(jobs.size(), 0);
  std::vector<std::size_t> open;  // in `left`, their needs still to be looked at
  const auto take = [&](std::size_t place) {
    if (left[place] != 0) return;
    left[place] = 1;
    open.push_back(place);
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (starts(pasts[i], rule)) take(i);
  }
  while (!open.empty()) {
    const std::size_t place = open.back();
    open.pop_back();
    for (const JobId need : jobs[place].needs) {
      const std::size_t needed = places.at(need);
      if (pasts[needed] != Past::succeeded) take(needed);
    }
  }

  std::vector<policy::JobSpec> result;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (left[i] == 0) continue;
    std::erase_if(jobs[i].needs, [&](JobId need) { return left[places.at(need)] == 0; });
    result.push_back(std::move(jobs[i]));
  }
  return result;
}

}  // namespace plimsoll::jobs
