#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/controller.h"

namespace plimsoll::cgroup {

// One group in one hierarchy, as its open directory. The descriptor is the identity: when the group
// is removed, every call says so (Error::gone()) even if another of the same name has been made.
class Directory {
 public:
  // `path` is absolute; `label` of what is opened is the path.
  static Result<Directory> open(const std::string& path, Version version);

  // Takes over a directory descriptor that another process has opened. The label is only its
  // number.
  static Directory adopt(UniqueFd fd, Version version);

  // A second, independent handle on the same group.
  [[nodiscard]] Result<Directory> clone() const;

  // Makes a child group and opens it. A name that is taken is an error (file_exists).
  [[nodiscard]] Result<Directory> make_child(const std::string& name, mode_t mode = 0755) const;
  [[nodiscard]] Result<Directory> open_child(const std::string& name) const;
  [[nodiscard]] Result<Directory> open_parent() const;
  // The parent, to read its files: also one whose children the caller may not list.
  [[nodiscard]] Result<Directory> look_at_parent() const;

  // Removes a child group; device_or_resource_busy while it has processes or children.
  [[nodiscard]] Result<void> remove_child(const std::string& name) const;

  // The names of the child groups, in no order; of more than kChildrenMax, so many. Whoever goes on
  // until none is left comes to the others when these are removed.
  [[nodiscard]] Result<std::vector<std::string>> children() const;

  [[nodiscard]] Result<std::string> read(const std::string& file) const;
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) const;
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& file, int flags) const;
  [[nodiscard]] bool has_file(const std::string& file) const;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Version version() const { return version_; }
  // The path at the time of opening, cut where it gets longer than kLabelMax: for messages only.
  [[nodiscard]] const std::string& label() const { return label_; }

  static constexpr std::size_t kChildrenMax = 100'000;
  // A job may nest groups deeper than any path is long.
  static constexpr std::size_t kLabelMax = 4096;

 private:
  Directory(UniqueFd fd, Version version, std::string label)
      : fd_(std::move(fd)), version_(version), label_(std::move(label)) {}

  UniqueFd fd_;
  Version version_;
  std::string label_;
};

// The file of a v1 group that a process with a single thread writes "0" to in order to enter, open
// for writing. It is `tasks`: a thread that moves itself alone needs no lock, while a write to
// cgroup.procs takes the one for thread groups, which waits for an RCU grace period: milliseconds,
// on a busy machine tens, and every fork and exec of the machine is slower meanwhile.
Result<UniqueFd> open_v1_entrance(const Directory& directory);

}  // namespace plimsoll::cgroup
