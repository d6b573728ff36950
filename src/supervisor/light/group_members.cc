#include "supervisor/light/group_members.h"

#include <fcntl.h>

#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/run_tree.h"

namespace plimsoll::supervisor {
namespace {

constexpr std::string_view kJobPrefix = "job-";

std::string groups_of(int pid) {
  auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup");
  return text ? std::move(*text) : std::string();
}

bool is_member(std::string_view groups, const std::string& path, const cgroup::Group& group) {
  std::size_t places = 0;
  while (!groups.empty()) {
    if (take_line(groups).ends_with(path)) ++places;
  }
  return places == group.parts().size();
}

// The job whose place has this name: "job-7", or "job-7.2" for its second attempt.
std::optional<JobId> job_named(std::string_view place) {
  if (!place.starts_with(kJobPrefix)) return std::nullopt;
  place.remove_prefix(kJobPrefix.size());
  const auto number = to_u64(take_until(place, '.'));
  return number ? std::optional(JobId{*number}) : std::nullopt;
}

}  // namespace

bool is_member(int pid, const std::string& path, const cgroup::Group& group) {
  return is_member(groups_of(pid), path, group);
}

std::optional<JobId> running_job_of(int pid, const std::string& place, const std::string& run,
                                    const HostExecutor& executor) {
  const auto job = job_named(place);
  const auto group = job ? executor.group_of(*job) : nullptr;
  if (group == nullptr) return std::nullopt;
  const std::string path = "/" + run + "/" + cgroup::kPoolName + "/" + group->name();
  return is_member(pid, path, *group) ? job : std::nullopt;
}

}  // namespace plimsoll::supervisor
