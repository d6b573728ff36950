#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "daemon/grpc/status.h"

namespace plimsoll::daemon {

// The directory in which a worker lays out its actions. It is opened anew for each access, so that
// a file system that is mounted there later is seen, and paths below it are walked without
// following a symbolic link. Every call may block for as long as that file system does.
class BuildDirectory {
 public:
  explicit BuildDirectory(std::string path) : path_(std::move(path)) {}

  // The errors of both are complete, with the texts that bb_runner's users know.

  // Whether this path is there, as CheckReadiness asks.
  [[nodiscard]] Status check(const std::string& path) const;

  // A new file for what an action prints; `name` is "stdout" or "stderr". With `umask` in place of
  // the process's own, unless that is to hold.
  struct Made {
    UniqueFd file;
    Status status;
  };
  [[nodiscard]] Made make_log(std::string_view name, const std::string& path,
                              std::optional<mode_t> umask) const;

  // A new file in a directory below; for what we tell of an action.
  [[nodiscard]] Status write_file(const std::string& directory, const std::string& name,
                                  std::string_view text) const;

  [[nodiscard]] const std::string& path() const { return path_; }
  // "BUILD/path"; an absolute path stands for itself.
  [[nodiscard]] std::string absolute(const std::string& path) const;

 private:
  std::string path_;
};

// "base/path"; an absolute `path` stands for itself.
std::string join(const std::string& base, const std::string& path);

// How far a walk came; the walk itself is pure of texts, which differ by what it was for.
enum class WalkEnd : std::uint8_t { arrived, has_nul, is_absolute, leaves, failed };
struct Walk {
  WalkEnd end = WalkEnd::arrived;
  int number = 0;        // failed: the errno
  UniqueFd directory{};  // the last one that was entered
  std::string last{};    // the component below it; empty: the path names the directory itself
};
// From the open directory `from`, a component at a time; `..` goes back up to it and no further.
Walk walk(UniqueFd from, std::string_view path);

}  // namespace plimsoll::daemon
