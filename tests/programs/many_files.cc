// many_files [FILES]: writes so many files of a page each below the working directory to the disk.
// Checks: that clean page cache, and the inodes and directory entries with it, is not taken for
// memory that can't be dropped.
#include <sys/stat.h>

#include <array>

#include "program.h"

int main(int argc, char** argv) {
  constexpr unsigned long kInADirectory = 1000;
  constexpr unsigned long kDirtyMax = 10 * kInADirectory;
  const unsigned long files = number(argc, argv, 1, 1000);
  std::array<char, 4096> page{};
  std::string directory;
  for (unsigned long i = 0; i < files; ++i) {
    if (i % kInADirectory == 0) {
      directory = "many-" + std::to_string(::getpid()) + "-" + std::to_string(i / kInADirectory);
      if (::mkdir(directory.c_str(), 0755) != 0) die("mkdir");
    }
    const std::string file = directory + "/" + std::to_string(i);
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) die("open");
    if (::write(fd, page.data(), page.size()) < 0) die("write");
    if (i % kDirtyMax == kDirtyMax - 1 && ::syncfs(fd) != 0) die("syncfs");
    ::close(fd);
  }
  ready();
}
