#include "kernel/procfs/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace plimsoll::procfs {

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

std::vector<int> family_of(int pid) {
  constexpr std::size_t kFamilyMax = 10'000;  // who forks on is met by another look
  std::vector<int> family = {pid};
  for (std::size_t i = 0; i < family.size() && family.size() < kFamilyMax; ++i) {
    const std::string number = std::to_string(family[i]);
    const auto text = read_text_at(AT_FDCWD, "/proc/" + number + "/task/" + number + "/children");
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      if (const auto child = to_u64(take_until(rest, ' '))) {
        family.push_back(static_cast<int>(*child));
      }
    }
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

Result<std::vector<int>> ProcDir::pids() const {
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return fail_errno("list the processes");
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(copy), &::closedir);
  if (list == nullptr) {
    const UniqueFd closed(copy);
    return fail_errno("list the processes");
  }
  std::vector<int> pids;
  while (const dirent* entry = ::readdir(list.get())) {
    if (const auto pid = to_u64(entry->d_name)) pids.push_back(static_cast<int>(*pid));
  }
  return pids;
}

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
