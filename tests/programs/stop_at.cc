// For LD_PRELOAD into Plimsoll, STOP_PROGRAM: stops whichever of its processes first writes a text
// to a file for the STOP_NTH time, as the patterns STOP_TEXT and STOP_FILE (of its path) have them,
// before or after that write (STOP_MOMENT), until the file STOP_HERE/go is there. While it stands,
// STOP_HERE/reached has its pid. Checks: that it does not matter at which of its writes who is
// killed.
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string link_of(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

// A job inherits the library, and is left alone.
struct Point {
  const char* file = setting("STOP_FILE");
  const char* here = setting("STOP_HERE");
  const char* text = setting("STOP_TEXT");
  bool is_before = std::string_view(setting("STOP_MOMENT")) == "before";
  long nth = std::atol(setting("STOP_NTH"));
  bool is_wanted = link_of("/proc/self/exe") == setting("STOP_PROGRAM");

  [[nodiscard]] bool is_met(int fd, std::string_view written) const {
    return is_wanted && ::fnmatch(text, std::string(written).c_str(), 0) == 0 &&
           ::fnmatch(file, link_of("/proc/self/fd/" + std::to_string(fd)).c_str(), 0) == 0;
  }

  // The first to get there makes the file; only he stops.
  void stop() const {
    const std::string reached_path = std::string(here) + "/reached", go = std::string(here) + "/go";
    const int reached = ::open(reached_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (reached < 0) return;
    const std::string pid = std::to_string(::getpid()) + "\n";
    ::syscall(SYS_write, reached, pid.data(), pid.size());
    ::close(reached);
    while (::access(go.c_str(), F_OK) != 0) ::usleep(1000);
  }
};

std::atomic<long> times_met = 0;

// Has no destructor to run, as the last writes come after those.
const Point& point() {
  static const Point made;
  return made;
}

// Known before anything is forked or has threads.
[[gnu::constructor]] void know_the_point() { point(); }

template <typename Call>
ssize_t at_point(int fd, const void* bytes, size_t size, const Call& call) {
  const bool is_met =
      point().is_met(fd, {static_cast<const char*>(bytes), size}) && ++times_met == point().nth;
  if (is_met && point().is_before) point().stop();
  const ssize_t result = call();
  if (!is_met || point().is_before) return result;
  const int error = errno;
  point().stop();
  errno = error;
  return result;
}

}  // namespace

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  return at_point(fd, bytes, size, [&] { return ::syscall(SYS_write, fd, bytes, size); });
}

extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return at_point(fd, bytes, size,
                  [&] { return ::syscall(SYS_pwrite64, fd, bytes, size, offset); });
}

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}
