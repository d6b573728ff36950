#include "kernel/procfs/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::procfs {
namespace {

// struct pidfd_info of linux/pidfd.h, in its first size; older headers have none.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::array<std::uint32_t, 11> ids;
  std::int32_t exit_code;
};
constexpr std::uint64_t kInfoExit = 1U << 3;  // PIDFD_INFO_EXIT
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);
static_assert(sizeof(PidfdInfo) == 64);

// The number may be another process's before the text is read, but not while the pidfd names it.
std::optional<int> status_of_zombie(int pidfd) {
  const auto pid = pid_of(pidfd);
  if (!pid) return std::nullopt;
  const auto stat = read_text_at(AT_FDCWD, "/proc/" + std::to_string(*pid) + "/stat");
  const auto status = stat ? parse_end_status(*stat) : std::nullopt;
  return pid_of(pidfd) == pid ? status : std::nullopt;
}

// Those of the processes, or of the threads, that the directory has entries of.
Result<std::vector<int>> numbers_in(int directory) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return fail_errno("list the processes");
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(copy), &::closedir);
  if (list == nullptr) {
    const UniqueFd closed(copy);
    return fail_errno("list the processes");
  }
  std::vector<int> numbers;
  while (const dirent* entry = ::readdir(list.get())) {
    if (const auto number = to_u64(entry->d_name)) numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

// The number may have been another process's.
bool is_among(const std::set<Id>& processes, int pid) {
  const auto found = processes.lower_bound({.pid = pid, .start = 0});
  if (found == processes.end() || found->pid != pid) return false;
  const auto now = stat_of(pid);
  return now && now->id == *found;
}

// Whoever has forked is the parent of the child, as a thread of its process.
void add_children(int tasks, int thread, const std::set<Id>& apart, std::vector<int>& family) {
  const auto text = read_text_at(tasks, std::to_string(thread) + "/children");
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto child = to_u64(take_until(rest, ' '));
    if (child && !is_among(apart, static_cast<int>(*child))) {
      family.push_back(static_cast<int>(*child));
    }
  }
}

std::optional<int> status_by_pidfd(int pidfd) {
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

}  // namespace

bool has_ended(int pidfd) {
  pollfd ready{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) == 1;
}

std::optional<int> pid_of(int pidfd) {
  const auto info = read_text_at(AT_FDCWD, "/proc/self/fdinfo/" + std::to_string(pidfd));
  return info ? parse_fdinfo_pid(*info) : std::nullopt;
}

std::optional<Stat> stat_of(int pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_stat(*text) : std::nullopt;
}

bool user_may_signal(std::uint32_t user, int pid) {
  if (user == 0) return true;
  const auto status = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/status");
  const auto uids = status ? parse_uids(*status) : std::nullopt;
  return uids && may_signal(user, *uids);
}

// In this order: once the process is no zombie any more, its pidfd tells.
std::optional<int> end_status(int pidfd) {
  const auto status = status_of_zombie(pidfd);
  return status ? status : status_by_pidfd(pidfd);
}

std::vector<int> family_of(int pid, const std::set<Id>& apart) {
  constexpr std::size_t kFamilyMax = 10'000;  // who forks on is met by another look
  std::vector<int> family = {pid};
  for (std::size_t i = 0; i < family.size() && family.size() < kFamilyMax; ++i) {
    const std::string tasks = "/proc/" + std::to_string(family[i]) + "/task";
    const UniqueFd directory(::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto threads = numbers_in(directory.get());
    if (!threads) continue;
    for (const int thread : *threads) add_children(directory.get(), thread, apart, family);
  }
  return family;
}

Result<ProcDir> ProcDir::open() {
  UniqueFd directory(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail_errno("open /proc");
  if (::faccessat(directory.get(), "self", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
    return fail("/proc is not mounted here, and Plimsoll cannot work without it");
  }
  return ProcDir(std::move(directory));
}

Result<std::vector<int>> ProcDir::pids() const { return numbers_in(directory_.get()); }

Result<Table> ProcDir::read_table() const {
  const auto all = pids();
  if (!all) return tl::unexpected(all.error());
  Table table;
  for (const int pid : *all) {
    auto stat = read_stat(pid);
    if (stat && !stat->is_dead()) table.emplace(stat->id.pid, std::move(*stat));
  }
  return table;
}

Result<Stat> ProcDir::read_stat(int pid) const {
  auto text = read(pid, "stat");
  if (!text) return pass(std::move(text));
  auto stat = parse_stat(*text);
  if (!stat) return fail(std::errc::bad_message, "read the stat of process " + std::to_string(pid));
  return std::move(*stat);
}

Result<std::uint64_t> ProcDir::pid_space(int pid) const {
  struct stat status{};
  const std::string name = std::to_string(pid) + "/ns/pid";
  if (::fstatat(directory_.get(), name.c_str(), &status, 0) != 0) {
    return fail_errno("read the pid namespace of process " + std::to_string(pid));
  }
  return std::uint64_t{status.st_ino};
}

Result<std::string> ProcDir::read(int pid, const char* name) const {
  return read_text_at(directory_.get(), std::to_string(pid) + "/" + name);
}

}  // namespace plimsoll::procfs
