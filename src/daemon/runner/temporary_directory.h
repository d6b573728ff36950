#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/grpc/status.h"
#include "daemon/runner/file_turn.h"

namespace plimsoll::daemon {

// A directory in which actions leave what they like, and which is to be empty for the next ones.
//
// Of several threads; it never changes.
class TemporaryDirectory {
 public:
  // Looks at it as it is before any action: as such it is made anew. Blocks.
  explicit TemporaryDirectory(std::string path);

  // So many are set aside beside one directory; more, and what can't be removed stays in it.
  static constexpr unsigned kAsideMax = 8;

  // Removes all that is in it. Where that can't be done, or where something else has come in its
  // place, that goes aside to PATH.unclean-N as a whole, and an empty directory takes its place. An
  // error says what is left and where; it is for the log, as no later action has made it. Blocks,
  // and takes a step of `turn` for each thing.
  [[nodiscard]] Status clean(FileTurn& turn) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  // As it is to be.
  struct Form {
    mode_t mode = 0;
    uid_t uid = 0;
    gid_t gid = 0;
  };

  [[nodiscard]] std::string replace(FileTurn& turn) const;
  [[nodiscard]] std::optional<std::string> set_aside(FileTurn& turn) const;
  [[nodiscard]] int make() const;

  std::string path_;
  std::optional<Form> form_;  // nothing: it was no directory, and is let be
};

// What a runner does to other files around an action. Both may block; the errors are complete.
// Where the path is not there (symbolic links are followed): UNAVAILABLE.
Status check_path_exists(const std::string& path);

// Makes each of `links` a symbolic link to `target`, in place of a file, a link or an empty
// directory.
Status link_temporary_directories(const std::vector<std::string>& links, const std::string& target);

}  // namespace plimsoll::daemon
