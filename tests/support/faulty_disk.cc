#include "support/faulty_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace plimsoll::faults {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string link_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::string path_of(int dir, const std::string& name) {
  const fs::path base = dir == AT_FDCWD ? fs::path() : fs::read_symlink(link_of(dir));
  std::string path = (base / name).lexically_normal().string();
  if (path.ends_with('/')) path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }

int fail_with(int error) {
  errno = error;
  return -1;
}

// What a disk writes at once or not at all.
constexpr std::size_t kSector = 512;

// Of a file that is written anywhere.
std::string surviving_sectors(const std::string& synced, const std::string& bytes, Data which) {
  std::string left = synced;
  if (which == Data::nuls) {
    left.resize(bytes.size());
    return left;
  }
  left.resize(std::max(synced.size(), bytes.size()));
  std::size_t changed = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kSector) {
    const std::string_view sector = std::string_view(bytes).substr(at, kSector);
    if (std::string_view(left).substr(at, sector.size()) == sector) continue;
    if (changed++ % 2 == 0) left.replace(at, sector.size(), sector);
  }
  return left;
}

std::string surviving(const std::string& synced, const std::string& bytes, Data which,
                      Writes writes) {
  if (which == Data::synced) return synced;
  if (which == Data::all) return bytes;
  if (writes == Writes::anywhere) return surviving_sectors(synced, bytes, which);
  const auto parted = std::mismatch(synced.begin(), synced.end(), bytes.begin(), bytes.end());
  const auto same = static_cast<std::size_t>(parted.second - bytes.begin());
  if (which == Data::half) return bytes.substr(0, same + (bytes.size() - same) / 2);
  return bytes.substr(0, same) + std::string(bytes.size() - same, '\0');
}

}  // namespace

FaultyDisk::FaultyDisk(std::string directory, Writes writes)
    : directory_(std::move(directory)), writes_(writes) {
  read_tree();
}

FaultyDisk::FileId FaultyDisk::id_of(int fd) {
  struct stat status{};
  ::fstat(fd, &status);
  return {status.st_dev, status.st_ino};
}

FaultyDisk::FileId FaultyDisk::id_of(const std::string& path) {
  struct stat status{};
  ::stat(path.c_str(), &status);
  return {status.st_dev, status.st_ino};
}

void FaultyDisk::read_tree() {
  now_.clear();
  nodes_.clear();
  const auto add = [this](const std::string& path, bool is_directory) {
    auto node = std::make_shared<Node>();
    node->is_directory = is_directory;
    if (!is_directory) node->bytes = node->synced = text_of(path);
    now_[path] = nodes_[id_of(path)] = node;
  };
  add(directory_, true);
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
    add(entry.path().string(), entry.is_directory());
  }
  durable_ = now_;
}

void FaultyDisk::fail_after(std::size_t calls, Fault fault) {
  fault_at_ = calls_ + calls;
  fault_ = fault;
}

void FaultyDisk::recover() { fault_at_ = SIZE_MAX; }

bool FaultyDisk::meets(Fault fault) const {
  const std::size_t number = calls_ - 1;  // of the call that refusal() has counted last
  const bool lasts = fault == Fault::no_space || fault == Fault::power_loss;
  return fault == fault_ && (lasts ? number >= fault_at_ : number == fault_at_);
}

int FaultyDisk::refusal(Needs needs) const {
  ++calls_;
  if (meets(Fault::io_error) || meets(Fault::power_loss)) return EIO;
  return needs == Needs::space && meets(Fault::no_space) ? ENOSPC : 0;
}

std::shared_ptr<FaultyDisk::Node> FaultyDisk::node_of(int fd) const {
  const auto found = nodes_.find(id_of(fd));
  return found == nodes_.end() ? nullptr : found->second;
}

void FaultyDisk::look_again(int fd) const {
  if (const auto node = node_of(fd)) node->bytes = text_of(link_of(fd));
}

int FaultyDisk::open(int dir, const std::string& name, int flags, mode_t mode) const {
  const std::string path = path_of(dir, name);
  const bool makes = (flags & O_CREAT) != 0 && !now_.contains(path);
  if (makes || (flags & O_TRUNC) != 0) {
    if (const int error = refusal(makes ? Needs::space : Needs::nothing)) return fail_with(error);
  }
  const int fd = Disk::open(dir, name, flags, mode);
  if (fd < 0) return fd;
  if (makes) now_[path] = nodes_[id_of(fd)] = std::make_shared<Node>();
  if ((flags & O_TRUNC) != 0) look_again(fd);
  return fd;
}

int FaultyDisk::make_directory(int dir, const std::string& name, mode_t mode) const {
  if (const int error = refusal(Needs::space)) return fail_with(error);
  const int made = Disk::make_directory(dir, name, mode);
  if (made != 0) return made;
  const std::string path = path_of(dir, name);
  auto node = std::make_shared<Node>();
  node->is_directory = true;
  now_[path] = nodes_[id_of(path)] = node;
  return 0;
}

ssize_t FaultyDisk::write(int fd, const void* data, std::size_t size) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  if (meets(Fault::interrupted)) return fail_with(EINTR);
  const bool is_short = meets(Fault::short_write) || meets(Fault::no_space);
  const std::size_t wanted = is_short ? size / 2 : size;
  // A full disk takes what fits, and says what is wrong when it is asked again.
  if (wanted == 0 && meets(Fault::no_space)) return fail_with(ENOSPC);
  const ssize_t wrote = Disk::write(fd, data, std::max<std::size_t>(wanted, 1));
  const auto node = node_of(fd);
  if (!node || wrote <= 0) return wrote;
  const auto count = static_cast<std::size_t>(wrote);
  const std::size_t from = static_cast<std::size_t>(::lseek(fd, 0, SEEK_CUR)) - count;
  node->bytes.resize(std::max(node->bytes.size(), from + count));
  node->bytes.replace(from, count, static_cast<const char*>(data), count);
  return wrote;
}

int FaultyDisk::truncate(int fd, off_t size) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  const int done = Disk::truncate(fd, size);
  look_again(fd);
  return done;
}

int FaultyDisk::rename(int dir, const std::string& from, const std::string& to) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  const int done = Disk::rename(dir, from, to);
  if (done != 0) return done;
  const auto moved = now_.extract(path_of(dir, from));
  if (!moved.empty()) now_[path_of(dir, to)] = moved.mapped();
  return 0;
}

int FaultyDisk::link(int dir, const std::string& from, const std::string& to) const {
  if (const int error = refusal(Needs::space)) return fail_with(error);
  const int done = Disk::link(dir, from, to);
  if (done != 0) return done;
  const auto named = now_.find(path_of(dir, from));
  if (named != now_.end()) now_[path_of(dir, to)] = named->second;
  return 0;
}

int FaultyDisk::unlink(int dir, const std::string& name) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  const int done = Disk::unlink(dir, name);
  if (done == 0) now_.erase(path_of(dir, name));
  return done;
}

int FaultyDisk::remove_directory(int dir, const std::string& name) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  const int done = Disk::remove_directory(dir, name);
  if (done == 0) now_.erase(path_of(dir, name));
  return done;
}

int FaultyDisk::sync(int fd) const {
  if (const int error = refusal(Needs::nothing)) return fail_with(error);
  const auto node = node_of(fd);
  if (!node) return 0;
  node->synced = node->bytes;
  if (!node->is_directory) return 0;
  const std::string directory = fs::read_symlink(link_of(fd)).string();
  std::erase_if(durable_, [&](const auto& entry) { return parent_of(entry.first) == directory; });
  for (const auto& [path, there] : now_) {
    if (parent_of(path) == directory) durable_[path] = there;
  }
  return 0;
}

FaultyDisk::Remains FaultyDisk::after_crash(Survival survival) const {
  Remains remains;
  // In the order of paths, so that a directory comes before what is in it, or is missing with it.
  for (const auto& [path, node] : survival.names == Names::synced ? durable_ : now_) {
    if (path == directory_) continue;
    if (parent_of(path) != directory_ && !remains.contains(parent_of(path))) continue;
    remains[path] = node->is_directory
                        ? std::optional<std::string>()
                        : surviving(node->synced, node->bytes, survival.data, writes_);
  }
  return remains;
}

void FaultyDisk::restore(const Remains& remains) {
  for (const auto& entry : fs::directory_iterator(directory_)) fs::remove_all(entry.path());
  for (const auto& [path, bytes] : remains) {
    if (bytes) {
      std::ofstream(path, std::ios::binary) << *bytes;
    } else {
      fs::create_directory(path);
    }
  }
  recover();
  read_tree();
}

}  // namespace plimsoll::faults
