// write_file FILE [MIB [sync]]: writes MIB (0: for ever) to a file that has no name any more.
// Checks: dirty pages and their writeback, IO counters, a disk that fills up.
#include <vector>

#include "program.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const unsigned long mib = number(argc, argv, 2, 0);
  const int fd = ::open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) die(argv[1]);
  ::unlink(argv[1]);
  const std::vector<char> block(1 << 20, 'x');
  for (unsigned long i = 0; mib == 0 || i < mib; ++i) {
    if (::write(fd, block.data(), block.size()) < 0) die("write");
    if (i == 0) ready();
  }
  if (is(argc, argv, 3, "sync") && ::fsync(fd) != 0) die("fsync");
  sleep_for_ever();
}
