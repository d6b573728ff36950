#include "kernel/cgroup/processes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/events.h"
#include "kernel/cgroup/subtree.h"

namespace plimsoll::cgroup {
namespace {

void sort_and_unify(std::vector<int>& pids) {
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

std::vector<int> parse_pids(std::string_view text) {
  std::vector<int> pids;
  while (!text.empty()) {
    const auto pid = to_u64(take_line(text));
    if (pid && *pid > 0) pids.push_back(static_cast<int>(*pid));
  }
  return pids;
}

// The process of a thread: "Tgid:" of /proc/TID/status (proc(5)); nothing if the thread is gone.
std::optional<int> process_of(int thread) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(thread) + "/status");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    if (take_until(line, ':') != "Tgid") continue;
    const auto pid = to_u64(trim(line));
    return pid ? std::optional(static_cast<int>(*pid)) : std::nullopt;
  }
  return std::nullopt;
}

// Of so many threads at most.
Result<std::vector<int>> processes_of_threads(const Directory& directory, std::size_t most) {
  auto text = directory.read("cgroup.threads");
  if (!text) return pass(std::move(text));
  std::vector<int> threads = parse_pids(*text);
  threads.resize(std::min(threads.size(), most));
  std::vector<int> pids;
  for (const int thread : threads) {
    if (const auto pid = process_of(thread)) pids.push_back(*pid);
  }
  return pids;
}

// To list more takes too long.
bool has_few_children(int directory, const char* name) {
  struct stat status{};
  return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_nlink <= 2 + kSomeGroups;
}

// Where the kernel lists threads alone, of so many of them at most.
Result<std::vector<int>> listed_processes(const Directory& directory, std::size_t threads_max) {
  auto text = directory.read("cgroup.procs");
  if (text) return parse_pids(*text);
  if (text.error().code != std::errc::operation_not_supported) return pass(std::move(text));
  return processes_of_threads(directory, threads_max);
}

// Whether a list of members is empty, by its first byte.
Result<bool> lists_anybody(const Directory& directory, const std::string& file) {
  auto fd = directory.open_file(file, O_RDONLY);
  if (!fd) return pass(std::move(fd));
  char first = 0;
  const ssize_t got = ::read(fd->get(), &first, sizeof first);
  if (got < 0) return fail_errno("read " + file + " of " + directory.label());
  return got > 0;
}

Result<bool> has_members(const Directory& directory) {
  auto found = lists_anybody(directory, "cgroup.procs");
  if (!found && found.error().code == std::errc::operation_not_supported) {
    found = lists_anybody(directory, "cgroup.threads");
  }
  if (!found && found.error().gone()) return false;
  return found;
}

Result<bool> v2_populated(const Directory& directory) {
  auto text = directory.read("cgroup.events");
  if (!text && text.error().gone()) return false;
  if (!text) return pass(std::move(text));
  auto events = parse_cgroup_events(*text);
  if (!events) return pass(std::move(events), directory.label());
  return events->populated;
}

}  // namespace

Result<bool> populated(const Group& group, Scope scope) {
  OccupancyWalk walk(group, scope);
  auto answer = walk.step();
  while (!answer) answer = walk.step();
  return std::move(*answer);
}

std::optional<Result<bool>> OccupancyWalk::step() {
  if (scope_ == Scope::v2_first && group_.v2() != nullptr) return v2_populated(*group_.v2());
  for (std::size_t steps = 0; steps < GroupWalk::kSteps; ++steps) {
    const GroupWalk::Step step = walk_.next();
    if (step == GroupWalk::Step::ended) {
      if (!failed_) return pass(std::move(failed_));
      if (!walk_.trouble()) return pass(Result<void>(walk_.trouble()));
      return false;
    }
    if (step != GroupWalk::Step::entered) continue;
    auto lives = look_here();
    if (lives && *lives) return true;
    if (!lives && failed_) failed_ = pass(std::move(lives));
  }
  return std::nullopt;
}

// A v2 directory answers for what is below it as well.
Result<bool> OccupancyWalk::look_here() {
  if (walk_.part().directory.version() != Version::v2) return has_members(walk_.here());
  walk_.pass_over_part();
  return v2_populated(walk_.here());
}

Result<std::vector<int>> member_processes(const Directory& directory) {
  auto pids = listed_processes(directory, std::numeric_limits<std::size_t>::max());
  if (pids) sort_and_unify(*pids);
  return pids;
}

Result<std::vector<int>> processes_below(const Group& group) {
  std::vector<int> all;
  Result<void> failed{};
  bool listed = false;
  for (const Group::Part& part : group.parts()) {
    auto visited = visit_subtree(part.directory, [&](const Directory& directory) {
      auto here = member_processes(directory);
      if (here) {
        listed = true;
        all.insert(all.end(), here->begin(), here->end());
      } else if (here.error().gone()) {
        listed = true;
      } else if (failed) {
        failed = pass(std::move(here));
      }
    });
    if (!visited && failed) failed = std::move(visited);
  }
  if (!listed && !failed) return pass(std::move(failed));
  sort_and_unify(all);
  return all;
}

// The processes of a threaded group below are listed by the one above it that is not.
SomeProcesses some_processes_below(const Directory& top, std::size_t enough) {
  SomeProcesses some;
  const auto take = [&some](const Directory& directory, std::size_t threads_max) {
    ++some.groups;
    const auto here = listed_processes(directory, threads_max);
    if (here) some.pids.insert(some.pids.end(), here->begin(), here->end());
  };
  take(top, enough);
  if (may_have_children(top) && has_few_children(top.fd(), ".")) {
    SubtreeWalk walk(top);
    while (some.groups < kSomeGroups && some.pids.size() < enough) {
      const SubtreeWalk::Step step = walk.next();
      if (step == SubtreeWalk::Step::ended) break;
      if (step == SubtreeWalk::Step::entered) take(walk.here(), 0);
      if (step != SubtreeWalk::Step::found) continue;
      if (!has_few_children(walk.here().fd(), walk.name().c_str())) walk.pass_over();
    }
  }
  sort_and_unify(some.pids);
  some.pids.resize(std::min(some.pids.size(), enough));
  return some;
}

bool MemberWalk::step() {
  for (std::size_t steps = 0; steps < GroupWalk::kSteps; ++steps) {
    const GroupWalk::Step step = walk_.next();
    if (step == GroupWalk::Step::ended) return false;
    if (step != GroupWalk::Step::entered) continue;
    const auto here = member_processes(walk_.here());
    if (!here) continue;
    pids_.insert(pids_.end(), here->begin(), here->end());
    sort_and_unify(pids_);
    if (pids_.size() < enough_) continue;
    pids_.resize(enough_);
    return false;
  }
  return true;
}

}  // namespace plimsoll::cgroup
