// plimsoll serve: hands over to the daemon, a program of its own, whose libraries nobody else waits
// for.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/commands.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kProgram = "plimsolld";
// What the daemon calls itself in its help.
constexpr const char* kCalled = "plimsoll serve";

}  // namespace

int serve_command(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string called = kCalled;
  arguments.front() = called.data();
  arguments.push_back(nullptr);
  std::error_code unknown;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) ::execv((own.parent_path() / kProgram).c_str(), arguments.data());
  if (unknown || errno == ENOENT) ::execvp(kProgram, arguments.data());
  const int error = errno;
  complain(std::string("serve: execute ") + kProgram +
           ", beside plimsoll or in PATH: " + std::strerror(error));
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
