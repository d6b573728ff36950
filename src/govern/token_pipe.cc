#include "govern/token_pipe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace plimsoll::govern {
namespace {

constexpr std::string_view kPrefix = "jobserver-";
constexpr mode_t kOwnerReadsAndWrites = 0600;
// What GNU make writes; clients put back what they have read.
constexpr char kToken = '+';
constexpr std::size_t kAtOnce = 256;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// A fifo that nobody reads is left from a run that is dead: a live one has both ends open.
void remove_stale(const std::string& directory) {
  const std::unique_ptr<DIR, CloseDirectory> listing(::opendir(directory.c_str()));
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (!std::string_view(entry->d_name).starts_with(kPrefix)) continue;
    const std::string path = directory + "/" + entry->d_name;
    const UniqueFd writer(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
    if (!writer && errno == ENXIO) ::unlink(path.c_str());
  }
}

}  // namespace

Result<TokenPipe> TokenPipe::create(TokenStyle style, const std::string& directory) {
  TokenPipe made;
  auto done = style == TokenStyle::pipe ? made.make_pipe() : made.make_fifo(directory);
  if (!done) return pass(std::move(done));
  return made;
}

TokenPipe::~TokenPipe() {
  if (own_ && !path_.empty()) ::unlink(path_.c_str());
}

// Our own end is opened anew: that it does not block is a matter of the open file, which those who
// inherit the others share.
Result<void> TokenPipe::make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe for a jobserver");
  const UniqueFd reading(ends[0]), writing(ends[1]);
  const std::string again = "/proc/self/fd/" + std::to_string(reading.get());
  own_ = UniqueFd(::open(again.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!own_) return fail_errno("open the pipe of a jobserver");
  read_end_ = UniqueFd(::fcntl(reading.get(), F_DUPFD, kFirstDescriptor));
  write_end_ = UniqueFd(::fcntl(writing.get(), F_DUPFD, kFirstDescriptor));
  if (!read_end_ || !write_end_) return fail_errno("hand on the pipe of a jobserver");
  return {};
}

// It gets its name when both of its ends are open: one that is younger must not look stale. Another
// run may have the number of this process, in a namespace of pids of its own.
Result<void> TokenPipe::make_fifo(const std::string& directory) {
  // make takes these for something else in MAKEFLAGS.
  if (directory.find_first_of(" \t\n\\$'\"#") != std::string::npos) {
    return fail("the path of a jobserver cannot have blanks, quotes, \\, $ or #: " + directory);
  }
  remove_stale(directory);
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    return fail_errno("name a jobserver");
  }
  const std::string name = std::string(kPrefix) + std::to_string(number);
  const std::string unnamed = directory + "/." + name;
  const std::string path = directory + "/" + name;
  if (::mkfifo(unnamed.c_str(), kOwnerReadsAndWrites) != 0) return fail_errno("make " + path);
  own_ = UniqueFd(::open(unnamed.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!own_ || ::rename(unnamed.c_str(), path.c_str()) != 0) {
    auto failed = fail_errno("open " + path);
    ::unlink(unnamed.c_str());
    return failed;
  }
  path_ = path;
  return {};
}

std::string TokenPipe::auth() const {
  if (!path_.empty()) return "fifo:" + path_;
  return std::to_string(read_end_.get()) + "," + std::to_string(write_end_.get());
}

std::string TokenPipe::in_words() const {
  if (!path_.empty()) return "the fifo " + path_;
  return "the descriptors " + std::to_string(read_end_.get()) + " and " +
         std::to_string(write_end_.get());
}

std::size_t TokenPipe::free() const {
  int bytes = 0;
  if (::ioctl(own_.get(), FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

std::size_t TokenPipe::put(std::size_t tokens) {
  std::array<char, kAtOnce> bytes{};
  bytes.fill(kToken);
  std::size_t done = 0;
  while (done < tokens) {
    const ssize_t wrote = ::write(own_.get(), bytes.data(), std::min(tokens - done, bytes.size()));
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  return done;
}

std::size_t TokenPipe::take(std::size_t tokens) {
  std::array<char, kAtOnce> bytes{};
  std::size_t done = 0;
  while (done < tokens) {
    const ssize_t got = ::read(own_.get(), bytes.data(), std::min(tokens - done, bytes.size()));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace plimsoll::govern
