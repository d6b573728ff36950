// hang_fuse DIRECTORY: mounts a file system there that takes requests and never answers one. Who
// looks at the directory sleeps in state D and can't be killed until this has ended.
// Checks: that a process that does not die is reported, keeps its memory in the books, and holds up
// nobody else.
#include <linux/fuse.h>
#include <sys/mount.h>

#include <vector>

#include "program.h"

namespace {

// Without an answer to this one the kernel sends no other.
void answer_init(int device, const fuse_in_header& request) {
  struct {
    fuse_out_header header{};
    fuse_init_out init{};
  } answer;
  answer.header.len = sizeof answer;
  answer.header.unique = request.unique;
  answer.init.major = FUSE_KERNEL_VERSION;
  answer.init.minor = FUSE_KERNEL_MINOR_VERSION;
  answer.init.max_write = 4096;
  if (::write(device, &answer, sizeof answer) < 0) die("answer");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("no directory");
  const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) die("/dev/fuse");
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0";
  if (::mount("hang_fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    die("mount");
  }
  ready();
  std::vector<char> buffer(1 << 17);
  for (;;) {
    const ssize_t got = ::read(device, buffer.data(), buffer.size());
    if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
    fuse_in_header request{};
    std::memcpy(&request, buffer.data(), sizeof request);
    if (request.opcode == FUSE_INIT) answer_init(device, request);
  }
}
