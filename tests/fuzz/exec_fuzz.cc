#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "govern/drivers.h"
#include "govern/exec_reader.h"
#include "govern/seen_exec.h"
#include "kernel/cgroup/run_tree.h"

// Any text of /proc/PID/stat, /proc/PID/cmdline and /proc/PID/cgroup, any beginning of a file, and
// any command line, of lines that are its words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::govern::parse_mark(text);
  (void)plimsoll::govern::exec_of({.id = {}, .comm = {}}, text, "/bin/program");
  (void)plimsoll::govern::exec_of({.id = {}, .comm = {}, .stack = 9, .code_end = size}, text, "");
  (void)plimsoll::cgroup::group_in_pool(text, "plimsoll-20261121-035916-3f2a91c4");
  plimsoll::govern::Exec exec;
  exec.interpreter = plimsoll::govern::parse_interpreter(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    exec.argv.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (!exec.argv.empty()) exec.file = exec.argv.front();
  (void)plimsoll::govern::Drivers({"mine"}).role_of(exec);
  return 0;
}
