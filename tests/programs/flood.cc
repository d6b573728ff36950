// flood [MIB [stderr]]: writes lines as fast as they are taken (0: for ever); not a "ready".
// Checks: that output is bounded, complete, and no drag on other jobs.
#include <string>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long bytes = number(argc, argv, 1, 0) << 20;
  const int fd = is(argc, argv, 2, "stderr") ? STDERR_FILENO : STDOUT_FILENO;
  std::string block;
  while (block.size() < 64 << 10) block += "the quick brown fox jumps over the lazy dog\n";
  for (unsigned long written = 0; bytes == 0 || written < bytes;) {
    const ssize_t wrote = ::write(fd, block.data(), block.size());
    if (wrote < 0) return 1;
    written += static_cast<unsigned long>(wrote);
  }
  return 0;
}
