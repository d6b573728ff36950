#include "cli/govern/tool_version.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/loop/loop.h"
#include "base/may_wait.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "cli/command/exit_status.h"

namespace plimsoll::cli {
namespace {

// The version is in the first lines.
constexpr std::size_t kVersionBytesMax = 4096;

[[noreturn]] void tell_version(const std::string& program, const std::string& option, int output) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::string first = program, second = option;
  std::array<char*, 3> argv = {first.data(), second.data(), nullptr};
  ::execv(program.c_str(), argv.data());
  ::_exit(kNotFound);
}

// Up to the end, the limit or the deadline; false: the deadline.
bool read_until(int fd, Instant deadline, std::string& text) {
  std::array<char, kVersionBytesMax> buffer{};
  while (text.size() < kVersionBytesMax) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - loop::now());
    if (left.count() <= 0) return false;
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t got = ::read(fd, buffer.data(), kVersionBytesMax - text.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view directory = take_until(rest, ':');
    const std::string file = std::string(directory.empty() ? "." : directory) + "/" + name;
    struct stat about{};
    const bool is_file = ::stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode);
    if (is_file && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

std::optional<std::string> version_text(const std::string& program, const std::string& option) {
  may_wait("version_text");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const Instant deadline = loop::now() + kVersionPatience;
  const pid_t child = ::fork();
  if (child < 0) return std::nullopt;
  if (child == 0) tell_version(program, option, writing.get());
  writing = UniqueFd();
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0U)));
  std::string text;
  const bool in_time = read_until(reading.get(), deadline, text);
  // Who has told its version may go on with something else, or wait for what nobody says.
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0U);
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED) != 0 && errno == EINTR) {
  }
  const bool failed = end.si_code == CLD_EXITED && end.si_status != 0;
  if (!in_time || failed || text.empty()) return std::nullopt;
  return text;
}

}  // namespace plimsoll::cli
