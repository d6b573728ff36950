// many_files [FILES]: makes so many files below the working directory, and writes as many pages to
// the disk: ten to each tenth file, as a file system that tells its disk what is free takes
// milliseconds to delete a file that has any.
// Checks: that clean page cache, and the inodes and directory entries with it, is not taken for
// memory that can't be dropped.
#include <sys/stat.h>

#include <array>

#include "program.h"

int main(int argc, char** argv) {
  constexpr unsigned long kInADirectory = 1000;
  constexpr unsigned long kDirtyMax = 10 * kInADirectory;
  constexpr unsigned long kPages = 10;
  const unsigned long files = number(argc, argv, 1, 1000);
  std::array<char, kPages * 4096> pages{};
  std::string directory;
  for (unsigned long i = 0; i < files; ++i) {
    if (i % kInADirectory == 0) {
      directory = "many-" + std::to_string(::getpid()) + "-" + std::to_string(i / kInADirectory);
      if (::mkdir(directory.c_str(), 0755) != 0) die("mkdir");
    }
    const std::string file = directory + "/" + std::to_string(i);
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) die("open");
    if (i % kPages == 0 && ::write(fd, pages.data(), pages.size()) < 0) die("write");
    if (i % kDirtyMax == kDirtyMax - 1 && ::syncfs(fd) != 0) die("syncfs");
    ::close(fd);
  }
  ready();
}
