#include "kernel/cgroup/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "base/file.h"

namespace plimsoll::cgroup {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A cut label stays as it is further down.
std::string label_below(const std::string& label, const std::string& name) {
  constexpr std::string_view kCut = "/...";
  if (label.ends_with(kCut)) return label;
  if (label.size() + 1 + name.size() > Directory::kLabelMax) return label + std::string(kCut);
  return label + "/" + name;
}

}  // namespace

Result<Directory> Directory::open(const std::string& path, Version version) {
  UniqueFd fd(::open(path.c_str(), kOpenFlags));
  if (!fd) return fail_errno("open the group " + path);
  return Directory(std::move(fd), version, path);
}

Directory Directory::adopt(UniqueFd fd, Version version) {
  std::string label = "descriptor " + std::to_string(fd.get());
  return Directory(std::move(fd), version, std::move(label));
}

Result<Directory> Directory::clone() const {
  UniqueFd fd(::openat(fd_.get(), ".", kOpenFlags));
  if (!fd) return fail_errno("open the group " + label_);
  return Directory(std::move(fd), version_, label_);
}

Result<Directory> Directory::make_child(const std::string& name, mode_t mode) const {
  if (::mkdirat(fd_.get(), name.c_str(), mode) != 0) {
    return fail_errno("make the group " + label_ + "/" + name);
  }
  return open_child(name);
}

Result<Directory> Directory::open_child(const std::string& name) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), kOpenFlags));
  if (!fd) return fail_errno("open the group " + label_ + "/" + name);
  return Directory(std::move(fd), version_, label_below(label_, name));
}

Result<Directory> Directory::open_parent() const {
  UniqueFd fd(::openat(fd_.get(), "..", kOpenFlags));
  if (!fd) return fail_errno("open the parent of the group " + label_);
  return Directory(std::move(fd), version_, label_.substr(0, label_.rfind('/')));
}

Result<Directory> Directory::look_at_parent() const {
  UniqueFd fd(::openat(fd_.get(), "..", kOpenFlags | O_PATH));
  if (!fd) return fail_errno("examine the parent of the group " + label_);
  return Directory(std::move(fd), version_, label_.substr(0, label_.rfind('/')));
}

Result<void> Directory::remove_child(const std::string& name) const {
  if (::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
    return fail_errno("remove the group " + label_ + "/" + name);
  }
  return {};
}

Result<std::vector<std::string>> Directory::children() const {
  const auto failed = [this] { return fail_errno("list the group " + label_); };
  const int fd = ::openat(fd_.get(), ".", kOpenFlags);
  if (fd < 0) return failed();
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd), &::closedir);
  if (list == nullptr) {
    ::close(fd);
    return failed();
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    if (names.size() == kChildrenMax) break;
    names.emplace_back(name);
  }
  if (errno != 0) return failed();
  return names;
}

Result<std::string> Directory::read(const std::string& file) const {
  auto text = read_text_at(fd_.get(), file);
  if (!text) return pass(std::move(text), label_);
  return text;
}

Result<void> Directory::write(const std::string& file, std::string_view text) const {
  auto wrote = write_text_at(fd_.get(), file, text);
  if (!wrote) return pass(std::move(wrote), label_);
  return {};
}

Result<UniqueFd> Directory::open_file(const std::string& file, int flags) const {
  auto fd = open_at(fd_.get(), file, flags);
  if (!fd) return pass(std::move(fd), label_);
  return fd;
}

bool Directory::has_file(const std::string& file) const {
  return ::faccessat(fd_.get(), file.c_str(), F_OK, 0) == 0;
}

Result<UniqueFd> open_v1_entrance(const Directory& directory) {
  return directory.open_file("tasks", O_WRONLY);
}

}  // namespace plimsoll::cgroup
