#include "supervisor/output/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/file.h"

namespace plimsoll::output {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kDirectoryPermissions = 0777;  // both less the umask
constexpr mode_t kResultPermissions = 0666;

constexpr std::string_view kHexDigits = "0123456789abcdef";

// FNV-1a: the same on every machine and in every version, as the names of files must be.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

void append_hex(std::string& name, std::uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) name += kHexDigits[(value >> (4 * i)) & 0xf];
}

bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Those of `directory` and of its parents that are not there.
std::vector<std::string> missing_of(const std::string& directory) {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (fs::path path = directory; !path.empty() && !fs::exists(path, ignored);
       path = path.parent_path()) {
    missing.push_back(path.string());
  }
  return missing;
}

}  // namespace

std::string result_name(std::string_view id) {
  if (id.empty()) return "%empty";
  std::string name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7f || (c == '.' && name.empty())) {
      name += '%';
      append_hex(name, byte, 2);
    } else {
      name += c;
    }
  }
  if (name.size() <= kResultNameMax) return name;
  constexpr std::size_t kEnding = 2 + 16;  // "%~" and the hash
  std::size_t end = kResultNameMax - kEnding;
  while (end > 0 && inside_character(name[end])) --end;
  name.resize(end);
  name += "%~";
  append_hex(name, hash_of(id), 16);
  return name;
}

Result<void> ResultFile::append(std::string_view& rest) {
  auto wrote = write_front(*disk_, fd_.get(), rest);
  if (!wrote) return pass(std::move(wrote), path_);
  return {};
}

Result<void> ResultFile::finish() {
  if (durability_ != Durability::synced || disk_->sync(fd_.get()) == 0) return {};
  return fail_errno("force " + path_ + " to the disk");
}

Result<Results> Results::in(const std::string& directory, Durability durability, const Disk& disk) {
  const std::vector<std::string> missing = missing_of(directory);
  std::error_code code;
  fs::create_directories(directory, code);
  if (code) return fail(static_cast<std::errc>(code.value()), "make " + directory);
  auto fd = open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!fd) return pass(std::move(fd));
  // Told before any job runs; later each would be told of its own output.
  if (::faccessat(fd->get(), ".", W_OK | X_OK, 0) != 0) return fail_errno("write in " + directory);
  if (durability == Durability::synced) {
    for (const std::string& made : missing) {
      if (auto synced = sync_name(disk, made); !synced) return pass(std::move(synced));
    }
  }
  return Results(disk, durability, directory, std::move(*fd));
}

Result<void> Results::sync(int fd, const std::string& path) const {
  if (durability_ != Durability::synced || disk_->sync(fd) == 0) return {};
  return fail_errno("force " + path + " to the disk");
}

Result<ResultFile> Results::create_file(int own, const std::string& path, const char* name) const {
  // Not truncated but replaced: an earlier attempt's left-over writer must not get in between.
  if (disk_->unlink(own, name) != 0 && errno != ENOENT) {
    return fail_errno("replace " + path + "/" + name);
  }
  UniqueFd fd(disk_->open(own, name, O_WRONLY | O_CREAT | O_EXCL, kResultPermissions));
  if (!fd) return fail_errno("create " + path + "/" + name);
  return ResultFile(*disk_, durability_, std::move(fd), path + "/" + name);
}

Result<ResultFiles> Results::create(JobId job, std::string_view id) const {
  const std::string name = result_name(id);
  const std::string path = path_ + "/" + name;
  if (disk_->make_directory(directory_.get(), name, kDirectoryPermissions) != 0 &&
      errno != EEXIST) {
    return fail_errno("make " + path);
  }
  auto own = open_at(directory_.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!own) return pass(std::move(own), path_);
  auto out = create_file(own->get(), path, "stdout");
  if (!out) return pass(std::move(out));
  auto err = create_file(own->get(), path, "stderr");
  if (!err) return pass(std::move(err));
  auto seq = create_file(own->get(), path, "seq");
  if (!seq) return pass(std::move(seq));
  const std::string number = std::to_string(static_cast<std::uint64_t>(job)) + "\n";
  std::string_view rest = number;
  auto done = seq->append(rest);
  if (done) done = seq->finish();
  if (done) done = sync(own->get(), path);
  if (done) done = sync(directory_.get(), path_);
  if (!done) return pass(std::move(done));
  return ResultFiles{.out = std::move(*out), .err = std::move(*err)};
}

}  // namespace plimsoll::output
