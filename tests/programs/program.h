#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

// What the misbehaving programs share. They are run by tests, in a group; each says "ready" on its
// stdout when it has done what it is there to do, so that a test need not guess.

inline void ready() {
  constexpr char kLine[] = "ready\n";
  [[maybe_unused]] const ssize_t wrote = ::write(STDOUT_FILENO, kLine, sizeof kLine - 1);
}

// The number that is argument `i`, or `otherwise`.
inline unsigned long number(int argc, char** argv, int i, unsigned long otherwise) {
  if (i < argc) std::from_chars(argv[i], argv[i] + std::strlen(argv[i]), otherwise);
  return otherwise;
}

inline bool is(int argc, char** argv, int i, const char* word) {
  return i < argc && std::strcmp(argv[i], word) == 0;
}

[[noreturn]] inline void sleep_for_ever() {
  for (;;) ::pause();
}

[[noreturn]] inline void die(const char* what) {
  std::perror(what);
  std::exit(99);
}

// The mount point of the v2 hierarchy, where every distribution has it.
inline std::string v2_root() {
  const std::string hybrid = "/sys/fs/cgroup/unified";
  return ::access((hybrid + "/cgroup.procs").c_str(), F_OK) == 0 ? hybrid : "/sys/fs/cgroup";
}

// The directory of this process in the hierarchy whose line of /proc/self/cgroup has `key`: "::"
// for v2, ":freezer:" for a v1 controller. Empty where the job has no group of its own there: what
// is the caller's is left alone.
inline std::string own_group(const std::string& key, const std::string& mount_point) {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(key);
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at + key.size());
    return path.find("/plimsoll") == std::string::npos ? std::string() : mount_point + path;
  }
  return {};
}

inline std::string own_v2_group() { return own_group("::", v2_root()); }

// Writes a word to a kernel file; false if the kernel refuses.
inline bool put(const std::string& file, const std::string& word) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, word.data(), word.size()) >= 0;
  ::close(fd);
  return done;
}
