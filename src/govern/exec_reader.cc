#include "govern/exec_reader.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "kernel/procfs/table.h"

namespace plimsoll::govern {
namespace {

// Where the arguments of the two calls are.
struct CallArguments {
  int directory = AT_FDCWD;
  std::uint64_t path = 0;
  std::uint64_t argv = 0;
  std::size_t pointer = sizeof(std::uint64_t);  // bytes of one there
};

CallArguments arguments_of(const seccomp_data& call) {
  CallArguments found;
  const auto* args = call.args;
  unsigned execveat = __NR_execveat;
#if defined(__x86_64__)
  constexpr unsigned kExecveatOf32 = 358, kExecveatOfX32 = 0x40000000 + 545;
  if (call.arch == AUDIT_ARCH_I386) {
    found.pointer = sizeof(std::uint32_t);
    execveat = kExecveatOf32;
  } else if (static_cast<unsigned>(call.nr) == kExecveatOfX32) {
    found.pointer = sizeof(std::uint32_t);
    execveat = kExecveatOfX32;
  } else if ((static_cast<unsigned>(call.nr) & 0x40000000U) != 0) {
    found.pointer = sizeof(std::uint32_t);
  }
#endif
  if (static_cast<unsigned>(call.nr) == execveat) {
    found.directory = static_cast<int>(args[0]);
    ++args;
  }
  found.path = args[0];
  found.argv = args[1];
  return found;
}

// Reads up to `size` bytes, as far as they are mapped.
Result<std::string> read_memory(int pid, std::uint64_t from, std::size_t size) {
  std::string text(size, '\0');
  const std::uint64_t page = 4096;
  std::size_t done = 0;
  // Page by page: a call that meets an unmapped one in the middle of a part reads nothing of it.
  while (done < size) {
    const std::size_t part = std::min<std::size_t>(size - done, page - (from + done) % page);
    iovec local{.iov_base = text.data() + done, .iov_len = part};
    iovec remote{.iov_base = reinterpret_cast<void*>(from + done), .iov_len = part};
    const ssize_t got = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got <= 0) {
      if (done > 0) break;
      return fail_errno("read the memory of process " + std::to_string(pid));
    }
    done += static_cast<std::size_t>(got);
    if (std::memchr(text.data() + done - got, '\0', static_cast<std::size_t>(got)) != nullptr)
      break;
  }
  text.resize(done);
  return text;
}

Result<std::string> read_string(int pid, std::uint64_t from, std::size_t most) {
  auto text = read_memory(pid, from, most);
  if (!text) return text;
  text->resize(std::min(text->find('\0'), text->size()));
  return text;
}

std::vector<std::string> read_words(int pid, std::uint64_t from, std::size_t pointer) {
  std::vector<std::string> words;
  std::size_t left = kWordBytesMax;
  for (std::size_t i = 0; from != 0 && i < kWordsMax && left > 0; ++i) {
    std::uint64_t at = 0;
    iovec local{.iov_base = &at, .iov_len = pointer};
    iovec remote{.iov_base = reinterpret_cast<void*>(from + i * pointer), .iov_len = pointer};
    if (::process_vm_readv(pid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(pointer)) break;
    if (at == 0) break;
    auto word = read_string(pid, at, left);
    if (!word) break;
    left -= std::min(left, word->size() + 1);
    words.push_back(std::move(*word));
  }
  return words;
}

// As this process sees the file that the other one means.
std::string path_here(int pid, const CallArguments& arguments, const std::string& file) {
  const std::string process = "/proc/" + std::to_string(pid);
  if (file.starts_with('/')) return process + "/root" + file;
  if (arguments.directory == AT_FDCWD) return process + "/cwd/" + file;
  const std::string opened = process + "/fd/" + std::to_string(arguments.directory);
  return file.empty() ? opened : opened + "/" + file;
}

std::string link_text(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// The path of the file below the root of that process; empty if it can't be told.
std::string path_below_root(int pid, const CallArguments& arguments, const std::string& file) {
  if (file.starts_with('/')) return file;
  if (file.empty() || arguments.directory != AT_FDCWD) return {};
  const std::string process = "/proc/" + std::to_string(pid);
  std::string root = link_text(process + "/root");
  const std::string directory = link_text(process + "/cwd") + "/";
  if (!root.ends_with('/')) root += '/';
  return directory.starts_with(root) ? directory.substr(root.size() - 1) + file : std::string();
}

// An absolute link on the way leads on from the root of that process, not from ours.
UniqueFd open_below_root(int pid, const std::string& path) {
  const std::string root_path = "/proc/" + std::to_string(pid) + "/root";
  const UniqueFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

// The file itself, not opened yet: what is no plain file may do something when it is opened, as a
// device does.
UniqueFd find_file(int pid, const CallArguments& arguments, const std::string& file) {
  if (const auto below = path_below_root(pid, arguments, file); !below.empty()) {
    UniqueFd found = open_below_root(pid, below);
    if (found || errno == ENOENT || errno == ENOTDIR) return found;
  }
  // Without openat2(2), and through links of /proc.
  return UniqueFd(::open(path_here(pid, arguments, file).c_str(), O_PATH | O_CLOEXEC));
}

UniqueFd find_program(int pid, const CallArguments& arguments, const std::string& path) {
  UniqueFd file = find_file(pid, arguments, path);
  struct stat status{};
  const bool can_be_executed = file && ::fstat(file.get(), &status) == 0 &&
                               S_ISREG(status.st_mode) &&
                               (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  return can_be_executed ? std::move(file) : UniqueFd();
}

std::string beginning_of(const UniqueFd& program) {
  constexpr std::size_t kFirstBytes = 256;  // as many as the kernel looks at
  std::string text(kFirstBytes, '\0');
  const std::string path = "/proc/self/fd/" + std::to_string(program.get());
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The process of a thread: seccomp tells of the thread that has called.
int process_of(int thread) {
  const auto status = read_text_at(AT_FDCWD, "/proc/" + std::to_string(thread) + "/status");
  if (!status) return thread;
  std::string_view rest = *status;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    constexpr std::string_view kKey = "Tgid:";
    if (!line.starts_with(kKey)) continue;
    const auto pid = to_u64(trim(line.substr(kKey.size())));
    return pid ? static_cast<int>(*pid) : thread;
  }
  return thread;
}

}  // namespace

Result<std::optional<Exec>> read_exec(const seccomp_notif& notification) {
  using Read = std::optional<Exec>;
  const auto thread = static_cast<int>(notification.pid);
  const CallArguments arguments = arguments_of(notification.data);
  auto file = read_string(thread, arguments.path, kWordBytesMax);
  if (!file) return pass(std::move(file));
  const UniqueFd program = find_program(thread, arguments, *file);
  if (!program) return Read();
  const int pid = process_of(thread);
  const auto stat = procfs::stat_of(pid);
  if (!stat) return fail(std::errc::no_such_process, "read process " + std::to_string(pid));
  Exec exec;
  exec.process = stat->id;
  exec.parent = stat->parent;
  exec.file = file->empty() ? link_text(path_here(thread, arguments, *file)) : std::move(*file);
  exec.argv = read_words(thread, arguments.argv, arguments.pointer);
  exec.interpreter = parse_interpreter(beginning_of(program));
  return Read(std::move(exec));
}

std::optional<ExecMark> parse_mark(std::string_view stat) {
  const auto end = stat.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view rest = trim(stat.substr(end + 1));
  constexpr std::uint64_t kForkedWithoutExec = 0x40;  // PF_FORKNOEXEC of the kernel
  constexpr int kFlags = 9, kStack = 28;              // as proc(5) counts the fields
  ExecMark mark;
  for (int field = 3; field <= kStack; ++field) {
    if (rest.empty()) return std::nullopt;
    const auto number = to_u64(take_until(rest, ' '));
    if (field == kFlags) {
      if (!number) return std::nullopt;
      mark.has_executed = (*number & kForkedWithoutExec) == 0;
    }
    if (field == kStack) {
      if (!number) return std::nullopt;
      mark.stack = *number;
    }
  }
  return mark;
}

std::optional<ExecMark> mark_of(int pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_mark(*text) : std::nullopt;
}

std::vector<std::string> parse_interpreter(std::string_view beginning) {
  std::vector<std::string> words;
  if (!beginning.starts_with("#!")) return words;
  std::string_view line = take_line(beginning);
  line.remove_prefix(2);
  while (!(line = trim(line)).empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::string program_of(int pid) { return link_text("/proc/" + std::to_string(pid) + "/exe"); }

std::string directory_of(int pid) { return link_text("/proc/" + std::to_string(pid) + "/cwd"); }

}  // namespace plimsoll::govern
