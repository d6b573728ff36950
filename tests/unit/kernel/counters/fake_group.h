#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernel/cgroup/group.h"

namespace plimsoll::counters {

// A directory with files that look like those of a group. What it can't show: a removed group's
// ENODEV, and what the kernel rounds; tests/host/kernel/counters has those.
class FakeDirectory {
 public:
  explicit FakeDirectory(cgroup::Version version) : version_(version) {
    std::string pattern = std::filesystem::temp_directory_path() / "plimsoll-fake-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    write("cgroup.procs", "");
  }
  FakeDirectory(const FakeDirectory&) = delete;
  FakeDirectory& operator=(const FakeDirectory&) = delete;
  ~FakeDirectory() { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] cgroup::Group::Part part(cgroup::ControllerSet controllers) const {
    return {*cgroup::Directory::open(path_, version_), controllers};
  }

 private:
  cgroup::Version version_;
  std::filesystem::path path_;
};

template <class... Part>
cgroup::Group group_of(Part... part) {
  std::vector<cgroup::Group::Part> parts;
  (parts.push_back(std::move(part)), ...);
  return {"job-1", std::move(parts)};
}

}  // namespace plimsoll::counters
