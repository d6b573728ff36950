// hoard_tmpfs [MIB [exit]]: fills shared memory that no mapping shows, and holds it or exits.
// Checks: that shared memory counts as in use, and whom it is charged to when its writer is gone.
#include <sys/mman.h>

#include <vector>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long mib = number(argc, argv, 1, 64);
  const int fd = ::memfd_create("hoard", MFD_CLOEXEC);
  if (fd < 0) die("memfd_create");
  const std::vector<char> block(1 << 20, 'x');
  for (unsigned long i = 0; i < mib; ++i) {
    if (::write(fd, block.data(), block.size()) < 0) die("write");
  }
  ready();
  if (is(argc, argv, 2, "exit")) return 0;
  sleep_for_ever();
}
