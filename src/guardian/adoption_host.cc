#include "guardian/adoption_host.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/text.h"
#include "guardian/clock.h"
#include "kernel/procfs/table.h"

namespace plimsoll::guardian {
namespace {

// The user may have made them as long as he likes.
constexpr std::size_t kEnvironBytesMax = 64 << 10;
constexpr std::size_t kHeirsMax = 256;

std::string file_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// Its beginning.
std::string environ_of(pid_t pid) {
  const auto file = open_at(AT_FDCWD, file_of(pid, "environ"), O_RDONLY);
  if (!file) return {};
  std::string text(kEnvironBytesMax, '\0');
  const ssize_t got = ::pread(file->get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::vector<std::string> groups_of_process(pid_t pid) {
  std::vector<std::string> groups;
  const auto text = read_text_at(AT_FDCWD, file_of(pid, "cgroup"));
  if (!text) return groups;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = take_line(rest);
    take_until(line, ':');
    take_until(line, ':');
    groups.emplace_back(line);
  }
  return groups;
}

void add_children(pid_t parent, std::vector<procfs::Id>& found) {
  const std::string thread = file_of(parent, "task/") + std::to_string(parent);
  const auto text = read_text_at(AT_FDCWD, thread + "/children");
  if (!text) return;
  for (std::string_view rest = trim(*text); !rest.empty() && found.size() < kHeirsMax;) {
    const auto pid = to_u64(take_until(rest, ' '));
    if (!pid) continue;
    if (const auto stat = procfs::stat_of(static_cast<int>(*pid))) found.push_back(stat->id);
  }
}

}  // namespace

std::vector<pid_t> ProcfsAdoptionHost::new_children() {
  std::vector<pid_t> found = children_.take_new();
  std::erase(found, supervisor_);
  return found;
}

// Whoever may be dumped owns his directory; those of others, such as set-uid programs, are root's.
std::optional<uid_t> ProcfsAdoptionHost::user_of(pid_t pid) {
  struct stat about{};
  const std::string directory = "/proc/" + std::to_string(pid);
  if (::stat(directory.c_str(), &about) != 0) return std::nullopt;
  if (about.st_uid != 0) return about.st_uid;
  const auto status = read_text_at(AT_FDCWD, directory + "/status");
  const auto uids = status ? procfs::parse_uids(*status) : std::nullopt;
  return uids ? std::optional<uid_t>(uids->real) : std::nullopt;
}

std::optional<AdoptedChild> ProcfsAdoptionHost::read(pid_t pid) {
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  if (asked != 0 || info.si_pid == pid) return std::nullopt;
  const auto stat = procfs::stat_of(pid);
  if (!stat) return std::nullopt;
  AdoptedChild child{.start = stat->id.start, .comm = stat->comm, .session = stat->session};
  const auto status = read_text_at(AT_FDCWD, file_of(pid, "status"));
  if (const auto uids = status ? procfs::parse_uids(*status) : std::nullopt) {
    child.user = uids->real;
  }
  child.groups = groups_of_process(pid);
  return child;
}

std::string ProcfsAdoptionHost::name_of(pid_t pid) {
  const std::string environ = environ_of(pid);
  return std::string(procfs::find_variable(environ, kJobVariable).value_or(""));
}

std::vector<procfs::Id> ProcfsAdoptionHost::descendants_of(pid_t pid) {
  std::vector<procfs::Id> found;
  add_children(pid, found);
  for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i].pid, found);
  return found;
}

bool ProcfsAdoptionHost::kill(pid_t pid) { return ::kill(pid, SIGKILL) == 0; }
Instant ProcfsAdoptionHost::time_now() { return clock_now(); }
uid_t ProcfsAdoptionHost::user() { return ::geteuid(); }

std::string name_of_job(const std::vector<char*>& env) {
  const std::string_view variable(kJobVariable);
  for (const char* entry : env) {
    if (entry == nullptr) break;
    const std::string_view text(entry);
    if (text.size() > variable.size() && text.starts_with(variable) &&
        text[variable.size()] == '=') {
      return std::string(text.substr(variable.size() + 1));
    }
  }
  return {};
}

std::string group_within_run(int fd, bool is_file, const std::string& run) {
  std::array<char, 4097> buffer{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  if (size <= 0) return {};
  const std::string_view path(buffer.data(), static_cast<std::size_t>(size));
  const auto begin = path.rfind("/" + run + "/");
  if (run.empty() || begin == std::string_view::npos) return {};
  const auto end = is_file ? path.rfind('/') : path.size();
  return end > begin ? std::string(path.substr(begin, end - begin)) : std::string();
}

}  // namespace plimsoll::guardian
