#include "govern/seen_exec.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"
#include "govern/exec_reader.h"
#include "kernel/procfs/table.h"

namespace plimsoll::govern {
namespace {

// The kernel makes the stack, puts the words there, says where the code ends, and moves the stack's
// beginning below the words at last. Whose stack is not told to us has an end of its code all the
// time.
bool is_in_exec(const procfs::Stat& stat, std::string_view words) {
  return stat.stack == 0 ? words.empty() : stat.code_end == 0;
}

std::string words_of(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kWordBytesMax, '\0');
  std::size_t size = 0;
  while (file && size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::optional<Exec> exec_of(const procfs::Stat& stat, std::string_view words,
                            std::string_view program) {
  if (is_in_exec(stat, words)) return std::nullopt;
  Exec exec{.process = stat.id, .parent = stat.parent, .file = {}, .argv = {}, .is_done = true};
  while (!words.empty() && exec.argv.size() < kWordsMax) {
    exec.argv.emplace_back(take_until(words, '\0'));
  }
  std::string_view name = exec.argv.empty() ? std::string_view() : exec.argv.front();
  if (name.starts_with('-')) name.remove_prefix(1);  // of a login shell
  exec.file = name.empty() ? program : name;
  if (exec.file.empty()) return std::nullopt;
  return exec;
}

seccomp_notif call_of(const procfs::Stat& seen) {
  seccomp_notif call{};
  call.id = seen.id.start;
  call.pid = static_cast<std::uint32_t>(seen.id.pid);
  call.data.args[0] = seen.stack;
  return call;
}

procfs::Id process_of(const seccomp_notif& call) {
  return {.pid = static_cast<int>(call.pid), .start = call.id};
}

std::uint64_t stack_of(const seccomp_notif& call) { return call.data.args[0]; }

// What was read in between may be of either program if it was not the same one all the time; the
// next look finds the other.
Result<std::optional<Exec>> read_seen_exec(const seccomp_notif& call) {
  const procfs::Id process = process_of(call);
  const int pid = process.pid;
  const auto before = procfs::stat_of(pid);
  const std::string words = words_of(pid);
  const std::string program = program_of(pid);
  const auto after = procfs::stat_of(pid);
  if (!before || !after || before->id != process || after->id != process) {
    return fail(std::errc::no_such_process, "read process " + std::to_string(pid));
  }
  const std::uint64_t seen = stack_of(call);
  const bool is_one = before->stack == seen && after->stack == seen;
  if (!is_one || before->code_end != after->code_end) return std::optional<Exec>();
  return exec_of(*after, words, program);
}

}  // namespace plimsoll::govern
