#include "supervisor/sharing/runtime_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "store/history/state_dir.h"

namespace plimsoll::supervisor {
namespace {

constexpr std::string_view kSuffix = ".sock";
constexpr std::string_view kLightSuffix = ".light";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string machine_name() {
  utsname about{};
  return ::uname(&about) == 0 ? about.nodename : "";
}

// Of a directory that others can enter: the mode, and what helps.
Error open_to_others(const std::string& path, const struct stat& about) {
  constexpr mode_t kAllBits = 07777;
  char mode[8];
  std::snprintf(mode, sizeof mode, "%o", static_cast<unsigned>(about.st_mode & kAllBits));
  const bool is_for_all = (about.st_mode & S_ISVTX) != 0 && (about.st_mode & S_IWOTH) != 0;
  const bool is_own = about.st_uid == ::geteuid();
  // One like /tmp must stay as it is.
  const std::string remedy = is_own && !is_for_all
                                 ? "`chmod 700 " + path + "` closes it to other users"
                                 : "PLIMSOLL_RUNTIME_DIR can name a directory of your own";
  return {.code = {}, .what = path + ": found mode " + mode + ", expected mode 700; " + remedy};
}

// Whether there was one, and it is gone. Who connects to another kind of file is refused as well.
bool remove_socket(int directory, const std::string& name) {
  struct stat about{};
  if (::fstatat(directory, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISSOCK(about.st_mode) && ::unlinkat(directory, name.c_str(), 0) == 0;
}

Result<UniqueFd> open_directory(const std::string& path) {
  if (path.empty()) {
    return fail(std::errc::no_such_file_or_directory,
                "there is no directory for sockets: none of PLIMSOLL_RUNTIME_DIR, XDG_RUNTIME_DIR "
                "and HOME is set");
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return fail_errno("examine " + path);
  if (about.st_uid != ::geteuid() && about.st_uid != 0) {
    return fail(path + " belongs to another user (uid " + std::to_string(about.st_uid) + ")");
  }
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return tl::unexpected(open_to_others(path, about));
  }
  return fd;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The names of the runs that have such a socket here, alive or not.
Result<std::vector<std::string>> runs_named(int directory, std::string_view suffix = kSuffix) {
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return fail_errno("read the runtime directory");
  const std::unique_ptr<DIR, CloseDirectory> listing(::fdopendir(own));
  if (!listing) return fail_errno("read the runtime directory");
  std::vector<std::string> runs;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name(entry->d_name);
    if (!name.ends_with(suffix) || name.starts_with('.')) continue;
    runs.emplace_back(name.substr(0, name.size() - suffix.size()));
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

Result<UniqueFd> connect_at(int directory, const std::string& name, int type) {
  // A path from the root may be longer than an address of a socket can be (unix(7): 108 bytes).
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(std::errc::no_such_file_or_directory, "connect to " + name);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("make a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  // The socket of a run that is dead is as good as none.
  if (errno == ECONNREFUSED) return fail(std::errc::no_such_process, "connect to " + name);
  return fail_errno("connect to " + name);
}

}  // namespace

std::string runtime_dir() {
  if (const std::string own = variable("PLIMSOLL_RUNTIME_DIR"); !own.empty()) return own;
  if (::geteuid() == 0) return "/run/plimsoll";
  if (const std::string xdg = variable("XDG_RUNTIME_DIR"); !xdg.empty()) return xdg + "/plimsoll";
  const auto state = history::state_dir(history::state_environment());
  return state ? *state + "/run-" + machine_name() : std::string();
}

std::string socket_name(const std::string& run) { return run + std::string(kSuffix); }
std::string light_socket_name(const std::string& run) { return run + std::string(kLightSuffix); }

Result<UniqueFd> open_runtime_dir(const std::string& path) { return open_directory(path); }

Result<UniqueFd> make_runtime_dir(const std::string& path) {
  auto found = open_directory(path);
  if (found || path.empty() || !found.error().gone()) return found;
  if (auto made = history::make_private_dir(path); !made) return pass(std::move(made));
  return open_directory(path);
}

Result<UniqueFd> connect_to_run(int directory, const std::string& run) {
  return connect_at(directory, socket_name(run), SOCK_STREAM);
}

Result<std::vector<std::string>> live_runs(int directory) {
  auto runs = runs_named(directory);
  if (!runs) return runs;
  std::erase_if(*runs, [directory](const std::string& run) {
    const auto connected = connect_to_run(directory, run);
    return !connected && connected.error().gone();
  });
  return runs;
}

std::vector<std::string> remove_stale_sockets(int directory) {
  std::vector<std::string> dead;
  const auto runs = runs_named(directory);
  if (!runs) return dead;
  for (const std::string& run : *runs) {
    const auto connected = connect_to_run(directory, run);
    if (!connected && connected.error().code == std::errc::no_such_process) {
      remove_socket(directory, light_socket_name(run));
      if (remove_socket(directory, socket_name(run))) dead.push_back(run);
    }
  }
  // Of a run that was killed at its end the second may be left alone.
  const auto lights = runs_named(directory, kLightSuffix);
  if (!lights) return dead;
  for (const std::string& run : *lights) {
    if (std::binary_search(runs->begin(), runs->end(), run)) continue;
    const auto connected = connect_at(directory, light_socket_name(run), SOCK_SEQPACKET);
    if (!connected && connected.error().code == std::errc::no_such_process) {
      if (remove_socket(directory, light_socket_name(run))) dead.push_back(run);
    }
  }
  std::sort(dead.begin(), dead.end());
  return dead;
}

}  // namespace plimsoll::supervisor
