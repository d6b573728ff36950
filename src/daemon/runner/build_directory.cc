#include "daemon/runner/build_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/may_wait.h"
#include "base/text.h"
#include "daemon/runner/quoted.h"

namespace plimsoll::daemon {
namespace {

constexpr int kEnter = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kLogMode = 0666;
constexpr mode_t kReportMode = 0644;

std::string_view text_of(WalkEnd end) {
  switch (end) {
    case WalkEnd::has_nul: return "Path contains a null byte";
    case WalkEnd::is_absolute: return "Path is absolute, while a relative path was expected";
    case WalkEnd::leaves: return "Path resolves to a location outside the build directory";
    case WalkEnd::arrived:
    case WalkEnd::failed: break;
  }
  return {};
}

Status told(const Walk& walk, Code of_errno) {
  if (walk.end == WalkEnd::failed) return {of_errno, errno_text(walk.number)};
  return {Code::invalid_argument, std::string(text_of(walk.end))};
}

struct Entered {
  UniqueFd directory;
  Status status;
};

Entered enter(const std::string& path) {
  may_wait("BuildDirectory");
  UniqueFd directory(::open(path.c_str(), kEnter));
  if (directory) return {std::move(directory), {}};
  return {{},
          {Code::internal,
           "Failed to open build directory " + go_quoted(path) + ": " + errno_text(errno)}};
}

}  // namespace

std::string join(const std::string& base, const std::string& path) {
  if (path.empty()) return base;
  if (path.starts_with('/')) return path;
  return base.ends_with('/') ? base + path : base + "/" + path;
}

std::string BuildDirectory::absolute(const std::string& path) const { return join(path_, path); }

Walk walk(UniqueFd from, std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return {.end = WalkEnd::has_nul};
  if (path.starts_with('/')) return {.end = WalkEnd::is_absolute};
  std::vector<UniqueFd> entered;
  entered.push_back(std::move(from));
  while (!path.empty()) {
    const bool is_last = path.find('/') == std::string_view::npos;
    const std::string name(take_until(path, '/'));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (entered.size() == 1) return {.end = WalkEnd::leaves};
      entered.pop_back();
      continue;
    }
    if (is_last) return {.directory = std::move(entered.back()), .last = name};
    UniqueFd next(::openat(entered.back().get(), name.c_str(), kEnter));
    if (!next) return {.end = WalkEnd::failed, .number = errno};
    entered.push_back(std::move(next));
  }
  return {.directory = std::move(entered.back())};
}

Status BuildDirectory::check(const std::string& path) const {
  const auto failed = [&path](std::string_view what, const std::string& why) {
    return Status{Code::internal, "Failed to " + std::string(what) + " path " + go_quoted(path) +
                                      " in build directory: " + why};
  };
  Entered root = enter(path_);
  if (!root.status.ok()) return std::move(root.status);
  const Walk found = walk(std::move(root.directory), path);
  if (found.end != WalkEnd::arrived) return failed("resolve", told(found, Code::internal).text);
  if (found.last.empty()) return {};
  struct stat about{};
  if (::fstatat(found.directory.get(), found.last.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed("check existence of", errno_text(errno));
  }
  return {};
}

BuildDirectory::Made BuildDirectory::make_log(std::string_view name, const std::string& path,
                                              std::optional<mode_t> umask) const {
  const auto failed = [&](Status status) {
    return Made{{},
                std::move(status).within("Failed to open " + std::string(name) + " path " +
                                         go_quoted(path) + ": ")};
  };
  Entered root = enter(path_);
  if (!root.status.ok()) return failed(std::move(root.status));
  const Walk found = walk(std::move(root.directory), path);
  if (found.end != WalkEnd::arrived) return failed(told(found, Code::unknown));
  if (found.last.empty()) return failed({Code::invalid_argument, "Path resolves to a directory"});
  UniqueFd file(::openat(found.directory.get(), found.last.c_str(),
                         O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         kLogMode));
  // The mode goes by the umask of the settings, which is not this process's.
  if (!file || (umask && ::fchmod(file.get(), kLogMode & ~*umask) != 0)) {
    return failed({Code::unknown, errno_text(errno)});
  }
  return {std::move(file), {}};
}

Status BuildDirectory::write_file(const std::string& directory, const std::string& name,
                                  std::string_view text) const {
  Entered root = enter(path_);
  if (!root.status.ok()) return std::move(root.status);
  const Walk found = walk(std::move(root.directory), directory + "/" + name);
  if (found.end != WalkEnd::arrived) return told(found, Code::unknown);
  const UniqueFd file(::openat(found.directory.get(), found.last.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kReportMode));
  if (!file) return {Code::unknown, errno_text(errno)};
  while (!text.empty()) {
    const ssize_t wrote = ::write(file.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return {Code::unknown, errno_text(errno)};
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

}  // namespace plimsoll::daemon
