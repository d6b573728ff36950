#include "supervisor/run/input_sizes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/loop/loop.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::supervisor {
namespace {

namespace fs = std::filesystem;

// Filesystems that need nobody but this kernel and its disks.
constexpr std::array<std::string_view, 19> kLocal = {
    "bcachefs", "btrfs", "erofs",  "exfat",    "ext2",  "ext3", "ext4", "f2fs", "iso9660", "jfs",
    "ntfs3",    "ramfs", "rootfs", "squashfs", "tmpfs", "vfat", "xfs",  "zfs",  "overlay"};

// Words of one simple command of a shell, as far as they are plain. A word that the shell would
// change is empty.
class ShellWords {
 public:
  explicit ShellWords(std::string_view text) : rest_(text) {}

  // The next word or operator; nothing at the end.
  std::optional<std::string> next() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
    if (rest_.empty()) return std::nullopt;
    if (is_operator(rest_.front())) return take_operator();
    return take_word();
  }

  static bool is_operator(char c) { return std::string_view("<>|&;()\n").find(c) != npos; }

 private:
  static constexpr auto npos = std::string_view::npos;

  std::string take_operator() {
    std::string found;
    while (!rest_.empty() && is_operator(rest_.front())) {
      found += rest_.front();
      rest_.remove_prefix(1);
    }
    return found;
  }

  std::string take_word() {
    std::string word;
    bool is_plain = true;
    char quote = 0;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (quote == 0 && (c == ' ' || c == '\t' || is_operator(c))) break;
      rest_.remove_prefix(1);
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else if (quote != '\'' && c == '\\') {
        if (rest_.empty()) break;
        word += rest_.front();
        rest_.remove_prefix(1);
      } else {
        const auto changed = std::string_view(quote == 0 ? "$`*?[{~#" : "$`");
        if (quote != '\'' && changed.find(c) != npos) is_plain = false;
        word += c;
      }
    }
    return is_plain ? word : std::string();
  }

  std::string_view rest_;
};

// Gathers what may be inputs out of words in their order.
class Inputs {
 public:
  void program() { at_program_ = true; }
  void skip() { skips_ = true; }

  void word(std::string_view word) {
    const bool is_program = std::exchange(at_program_, false);
    if (std::exchange(skips_, false) || is_program) return;
    if (word == "-o" || word == "--output") skips_ = true;
    if (word.empty() || word.front() == '-' || word.find('\0') != std::string_view::npos) return;
    if (found_.size() >= kInputsPerJobMax) return;
    if (std::find(found_.begin(), found_.end(), word) == found_.end()) found_.emplace_back(word);
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
  bool at_program_ = true;
  bool skips_ = false;
};

std::vector<std::string> words_of_shell(std::string_view text) {
  Inputs inputs;
  ShellWords words(text);
  while (const auto word = words.next()) {
    if (word->empty() || !ShellWords::is_operator(word->front())) {
      inputs.word(*word);
    } else if (word->starts_with('>') || word->starts_with("<<") || word->starts_with("&>")) {
      inputs.skip();
    } else if (!word->starts_with('<')) {
      inputs.program();
    }
  }
  return inputs.take();
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// What the kernel makes up has no size, and is nobody's input.
bool is_kernels(std::string_view path) {
  return is_below(path, "/proc") || is_below(path, "/sys") || is_below(path, "/dev");
}

}  // namespace

std::vector<std::string> words_that_may_be_inputs(const policy::Command& command) {
  if (const auto* text = std::get_if<std::string>(&command)) return words_of_shell(*text);
  Inputs inputs;
  for (const std::string_view word : std::get<Words>(command)) inputs.word(word);
  return inputs.take();
}

std::vector<std::string> mounts_that_may_block(std::string_view mountinfo) {
  std::vector<std::string> found;
  while (!mountinfo.empty()) {
    const auto mount = procfs::parse_mount(take_line(mountinfo));
    if (!mount || is_kernels(mount->mount_point)) continue;
    if (std::find(kLocal.begin(), kLocal.end(), mount->type) != kLocal.end()) continue;
    found.push_back(mount->mount_point);
  }
  return found;
}

Bytes rounded_size(Bytes size) {
  if (size.count == 0) return size;
  const double steps = std::round(std::log2(to_double(size)) * kSizeSteps);
  return {static_cast<std::uint64_t>(std::llround(std::exp2(steps / kSizeSteps)))};
}

InputSizes::InputSizes() {
  std::error_code failed;
  directory_ = fs::current_path(failed).string();
  const auto mounts = read_text_at(AT_FDCWD, "/proc/self/mountinfo");
  if (mounts && !failed) slow_mounts_ = mounts_that_may_block(*mounts);
}

std::optional<Bytes> InputSizes::of(const policy::JobSpec& job) {
  if (!slow_mounts_) return std::nullopt;
  const fs::path base = fs::path(directory_) / job.cwd;
  std::optional<Bytes> sum;
  for (const std::string& word : words_that_may_be_inputs(job.command)) {
    if (!end_) end_ = loop::now() + kInputsTime;
    if (left_ == 0 || loop::now() >= *end_) return std::nullopt;
    --left_;
    if (const auto size = size_of((base / word).lexically_normal().string())) {
      sum = sum.value_or(Bytes{}) + *size;
    }
  }
  if (sum) sum = rounded_size(*sum);
  return sum;
}

UniqueFd open_quick(const std::string& path, const std::vector<std::string>& mounts) {
  const auto is_above = [&path](const std::string& mount) { return is_below(path, mount); };
  if (std::any_of(mounts.begin(), mounts.end(), is_above)) return {};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  if (!mounts.empty()) how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

std::optional<Bytes> InputSizes::size_of(const std::string& path) {
  if (is_kernels(path)) return std::nullopt;
  const UniqueFd file = open_quick(path, *slow_mounts_);
  struct stat seen{};
  if (!file || ::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return std::nullopt;
  return Bytes{static_cast<std::uint64_t>(seen.st_size)};
}

}  // namespace plimsoll::supervisor
