#include "supervisor/run/disk_options.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "supervisor/run/input_sizes.h"

namespace plimsoll::supervisor {
namespace {

namespace fs = std::filesystem;

struct FileSystem {
  dev_t device{};
  Bytes size{};  // of what ordinary users may have
  bool is_in_memory = false;
};

std::optional<FileSystem> file_system_of(int file) {
  struct stat status{};
  struct statfs seen{};
  if (::fstat(file, &status) != 0 || ::fstatfs(file, &seen) != 0) return std::nullopt;
  const auto block = static_cast<std::uint64_t>(seen.f_frsize);
  const auto kept = static_cast<std::uint64_t>(seen.f_bfree - seen.f_bavail);  // for root
  return FileSystem{.device = status.st_dev,
                    .size = {(static_cast<std::uint64_t>(seen.f_blocks) - kept) * block},
                    .is_in_memory = seen.f_type == TMPFS_MAGIC || seen.f_type == RAMFS_MAGIC};
}

Bytes floor_of(const MemoryAmount& amount, Bytes size) {
  if (const Bytes* bytes = std::get_if<Bytes>(&amount)) return *bytes;
  return {static_cast<std::uint64_t>(to_double(size) * std::get<Percent>(amount).value / 100)};
}

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::string found = fs::absolute(path, failed).lexically_normal().string();
  return failed ? path : found;
}

// By file system, in the order of their first mention.
class Floors {
 public:
  Result<void> add(const DiskOption& option) {
    const UniqueFd file(::open(option.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const auto found = file ? file_system_of(file.get()) : std::nullopt;
    if (!found) return fail_errno(option.path);
    const Bytes floor = floor_of(option.floor, found->size);
    if (floor >= found->size) {
      return fail(option.path + ": a floor of " + format_bytes(floor) +
                  " leaves nothing of a file system that holds " + format_bytes(found->size));
    }
    const auto known = std::find(devices_.begin(), devices_.end(), found->device);
    if (known == devices_.end()) {
      if (floors_.size() == policy::kDisksMax) {
        return fail("found " + option.path + " on one more file system, expected at most " +
                    std::to_string(policy::kDisksMax));
      }
      add(*found, {.path = absolute(option.path), .floor = floor});
    } else if (auto& same = floors_[static_cast<std::size_t>(known - devices_.begin())];
               same.floor < floor) {
      same.path = absolute(option.path);
      same.floor = floor;
    }
    return {};
  }

  // What the user has not named must not keep him waiting.
  void add_told(const std::string& path, const std::vector<std::string>& slow_mounts) {
    if (floors_.size() == policy::kDisksMax) return;
    const UniqueFd file = open_quick(absolute(path), slow_mounts);
    const auto found = file ? file_system_of(file.get()) : std::nullopt;
    if (!found || found->is_in_memory) return;
    if (std::find(devices_.begin(), devices_.end(), found->device) != devices_.end()) return;
    const Bytes share{static_cast<std::uint64_t>(to_double(found->size) * kToldShare)};
    add(*found, {.path = absolute(path),
                 .floor = std::min(share, kToldMost),
                 .rule = policy::DiskRule::tell});
  }

  [[nodiscard]] std::vector<policy::DiskFloor> take() { return std::move(floors_); }

 private:
  void add(const FileSystem& found, policy::DiskFloor floor) {
    devices_.push_back(found.device);
    floor.size = found.size;
    floors_.push_back(std::move(floor));
  }

  std::vector<dev_t> devices_;  // of each of floors_
  std::vector<policy::DiskFloor> floors_;
};

Result<Floors> floors_of(const PoolOptions& options) {
  Floors floors;
  for (const DiskOption& option : options.disks) {
    if (auto added = floors.add(option); !added) return pass(std::move(added), options.disks_name);
  }
  return floors;
}

Result<MemoryAmount> parse_floor(std::string_view text) {
  if (!text.ends_with('%')) {
    auto bytes = parse_bytes(text);
    if (!bytes) return pass(std::move(bytes));
    return MemoryAmount(*bytes);
  }
  text.remove_suffix(1);
  const auto percent = to_double(text);
  if (!percent || *percent < 0 || *percent >= 100) return fail("no share that leaves anything");
  return MemoryAmount(Percent{*percent});
}

}  // namespace

Result<DiskOption> parse_disk(std::string_view text) {
  const std::string found = "found \"" + std::string(text) + "\", expected ";
  const std::size_t equals = text.rfind('=');  // the path may hold one itself
  if (equals == std::string_view::npos || equals == 0) {
    return fail(found + "PATH=FLOOR, such as /tmp=2G or /tmp=5%");
  }
  auto floor = parse_floor(text.substr(equals + 1));
  if (!floor) {
    return fail(found + "a size such as 2G, or a share of the file system below 100%, after \"" +
                std::string(text.substr(0, equals + 1)) + "\"");
  }
  return DiskOption{.path = std::string(text.substr(0, equals)), .floor = *floor};
}

Result<std::vector<policy::DiskFloor>> named_floors(const PoolOptions& options) {
  auto floors = floors_of(options);
  if (!floors) return pass(std::move(floors));
  return floors->take();
}

Result<std::vector<policy::DiskFloor>> disk_floors(const PoolOptions& options) {
  auto named = floors_of(options);
  if (!named) return pass(std::move(named));
  Floors floors = std::move(*named);
  const auto mounts = read_text_at(AT_FDCWD, "/proc/self/mountinfo");
  if (!mounts) return floors.take();
  const std::vector<std::string> slow = mounts_that_may_block(*mounts);
  const char* temporary = ::getenv("TMPDIR");
  floors.add_told(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp", slow);
  floors.add_told(".", slow);
  return floors.take();
}

}  // namespace plimsoll::supervisor
