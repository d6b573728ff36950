#include "kernel/cgroup/stuck.h"

#include <dirent.h>
#include <fcntl.h>

#include <memory>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::cgroup {
namespace {

// Threads of one process that are looked at for the one that holds it up.
constexpr std::size_t kThreadsMax = 16;
// So many processes are looked at without a break: a millisecond, if all of them have threads.
constexpr std::size_t kLooks = 4;

std::string proc_path(int pid) { return "/proc/" + std::to_string(pid); }

bool is_dead(char state) { return state == 'Z' || state == 'X'; }

// Fills in what one thread, or a process by its leader, is doing; nothing if it is gone.
std::optional<StuckProcess> describe(const std::string& path) {
  auto text = read_text_at(AT_FDCWD, path + "/stat");
  if (!text) return std::nullopt;
  const auto stat = procfs::parse_stat(*text);
  if (!stat) return std::nullopt;
  StuckProcess found{.pid = 0, .comm = stat->comm, .state = stat->state, .wchan = {}};
  auto wchan = read_text_at(AT_FDCWD, path + "/wchan");
  if (wchan && *wchan != "0") found.wchan = std::string(trim(*wchan));
  return found;
}

// The thread of a process that says most: one that waits for a device, else one that lives.
std::optional<StuckProcess> describe_threads(const std::string& process) {
  const std::string path = process + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(path.c_str()), &::closedir);
  if (list == nullptr) return std::nullopt;
  std::optional<StuckProcess> best;
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(list.get())) {
    if (!to_u64(entry->d_name)) continue;
    if (++looked_at > kThreadsMax) break;
    auto thread = describe(path + "/" + entry->d_name);
    if (!thread || is_dead(thread->state)) continue;
    if (!best || thread->state == 'D') best = std::move(thread);
    if (best->state == 'D') break;
  }
  return best;
}

std::optional<StuckProcess> describe_process(int pid) {
  const std::string path = proc_path(pid);
  auto found = describe(path);
  if (!found) return std::nullopt;
  if (found->state != 'D') {
    if (auto thread = describe_threads(path)) {
      thread->comm = std::move(found->comm);
      found = std::move(thread);
    }
  }
  found->pid = pid;
  return found;
}

}  // namespace

std::vector<LeftProcess> left_processes(const std::vector<int>& pids) {
  std::vector<LeftProcess> left;
  for (const int pid : pids) {
    auto comm = read_text_at(AT_FDCWD, proc_path(pid) + "/comm");
    if (comm) left.push_back({.pid = pid, .comm = std::string(trim(*comm))});
  }
  return left;
}

std::vector<StuckProcess> stuck_processes(const Group& group) {
  StuckWalk walk(group);
  while (walk.step()) {
  }
  return walk.take();
}

bool StuckWalk::step() {
  if (!has_members_) {
    has_members_ = !members_.step();
    return true;
  }
  const std::vector<int>& pids = members_.pids();
  for (std::size_t looks = 0; looks < kLooks && looked_at_ < pids.size(); ++looks) {
    if (auto process = describe_process(pids[looked_at_++])) stuck_.push_back(std::move(*process));
  }
  return looked_at_ < pids.size();
}

}  // namespace plimsoll::cgroup
