// read_file FILE [TIMES]: reads a file from end to end, into the page cache and nowhere else.
// Checks: that clean page cache is not taken for memory in use.
#include <vector>

#include "program.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const unsigned long times = number(argc, argv, 2, 1);
  std::vector<char> block(1 << 20);
  for (unsigned long i = 0; i < times; ++i) {
    const int fd = ::open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0) die(argv[1]);
    while (::read(fd, block.data(), block.size()) > 0) {
    }
    ::close(fd);
  }
  ready();
  sleep_for_ever();
}
