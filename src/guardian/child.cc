#include "guardian/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "guardian/exec_filter.h"

namespace plimsoll::guardian {
namespace {

// Steps of a child between its birth and its exec that the kernel has no single call for.

struct CloseListing {
  void operator()(DIR* listing) const { ::closedir(listing); }
};

bool mark_one_by_one() {
  const std::unique_ptr<DIR, CloseListing> listing(::opendir("/proc/self/fd"));
  if (!listing) return false;
  while (const dirent* entry = ::readdir(listing.get())) {
    const auto fd = to_u64(entry->d_name);
    if (fd && *fd > 2 && ::fcntl(static_cast<int>(*fd), F_SETFD, FD_CLOEXEC) != 0) return false;
  }
  return true;
}

// Marks every descriptor above 2 close-on-exec: by close_range(2), and where the kernel has not got
// that for marking (before Linux 5.11) or a filter refuses it, one by one as /proc/self/fd lists
// them. False, with errno set: some may be open.
bool mark_descriptors() {
  return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0 || mark_one_by_one();
}

// Around the change to another user. The kernel takes root's capabilities away with the uid 0, but
// not those of a caller who has another uid (ambient ones, say of a service), nor the inheritable
// ones; and with the securebits of capabilities(7) it takes away none.
//
// Before: as far as they are not locked.
void forget_securebits() {
  if (::prctl(PR_GET_SECUREBITS) > 0) ::prctl(PR_SET_SECUREBITS, 0);
}

// After. False, with errno set: some may be left. Ambient ones go with those that are inheritable.
bool drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

// What execvp(3) uses when the environment has no PATH.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";
constexpr const char* kShell = "/bin/sh";
constexpr const char* kChildOomScoreFile = "/proc/self/oom_score_adj";

// The files that a command may name, in the order in which they are tried. Name and PATH are
// whatever the user of the job has chosen: it is the child that goes through them, in one buffer.
class Candidates {
 public:
  // `env` ends with a null pointer.
  Candidates(const char* command, const std::vector<char*>& env) : command_(command) {
    if (command_.find('/') != std::string_view::npos) {
      named_ = command;
    } else if (!command_.empty()) {
      path_ = path_of(env);
    }
  }
  // The only one.
  explicit Candidates(const char* file) : named_(file) {}

  // Null: there are no more. One that is too long is none, and `errno` says so.
  const char* next() {
    if (named_ != nullptr) return std::exchange(named_, nullptr);
    while (path_) {
      std::string_view directory = take_until(*path_, ':');
      if (path_->empty()) path_.reset();
      // An empty entry is the working directory.
      const std::string_view slash = directory.empty() ? "" : "/";
      if (directory.size() + slash.size() + command_.size() >= file_.size()) {
        errno = ENAMETOOLONG;
        continue;
      }
      char* end = file_.data();
      for (const std::string_view part : {directory, slash, command_}) {
        end = std::copy(part.begin(), part.end(), end);
      }
      *end = '\0';
      return file_.data();
    }
    return nullptr;
  }

 private:
  static std::string_view path_of(const std::vector<char*>& env) {
    constexpr std::string_view kPrefix = "PATH=";
    for (const char* variable : env) {
      if (variable == nullptr) break;
      const std::string_view text(variable);
      if (text.starts_with(kPrefix)) return text.substr(kPrefix.size());
    }
    return kDefaultPath;
  }

  std::string_view command_;
  const char* named_ = nullptr;           // the only one
  std::optional<std::string_view> path_;  // what is left of it
  std::array<char, PATH_MAX> file_{};
};

// Runs in the child. Each step either succeeds or ends the child with a report.
class Child {
 public:
  Child(const ReceivedSpawn& request, const ChildSettings& settings, ChildReport& report)
      : request_(request), settings_(settings), report_(report) {}

  [[noreturn]] void run() {
    report_.born();
    enter_groups();
    reset_oom_score();
    if (settings_.nice) ::setpriority(PRIO_PROCESS, 0, *settings_.nice);
    if (request_.session == Session::own) begin_session();
    for (const ResourceLimit& limit : request_.rlimits) {
      if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &limit.value) != 0) {
        fail_at(SpawnStep::rlimit);
      }
    }
    if (request_.umask) ::umask(*request_.umask);
    connect_stdio();
    change_root();
    become_user();
    follow_guardian();
    if (*request_.cwd != '\0' && ::chdir(request_.cwd) != 0) fail_at(SpawnStep::working_directory);
    set_signals();
    if (request_.exec_listener && !install_exec_filter(request_.exec_listener.get())) {
      fail_at(SpawnStep::exec_filter);
    }
    execute();
  }

 private:
  [[noreturn]] void fail_at(SpawnStep step) {
    report_.failed({step, errno});
    ::_exit(127);
  }

  // As far as the kernel takes it.
  static void write_own(const char* file, std::string_view text) {
    const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t wrote = write_again(fd, text.data(), text.size());
    ::close(fd);
  }

  void enter_groups() {
    if (settings_.v2 == EntersV2::by_itself && request_.v2_group) {
      const int procs = ::openat(request_.v2_group.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC);
      if (procs < 0 || write_again(procs, "0", 1) != 1) fail_at(SpawnStep::enter_group);
    }
    for (const UniqueFd& procs : request_.v1_entrances) {
      if (write_again(procs.get(), "0", 1) != 1) fail_at(SpawnStep::enter_group);
    }
  }

  // Where the kernel weighs sessions as a whole, the nice value of a process says nothing outside
  // its own: a new session gets that of its process. Without the right to do that more than ten
  // times a second (CAP_SYS_ADMIN), some are left out.
  void begin_session() {
    if (::setsid() < 0) fail_at(SpawnStep::session);
    const int nice = ::getpriority(PRIO_PROCESS, 0);
    if (nice == 0) return;
    write_own("/proc/self/autogroup", std::to_string(nice));
  }

  // It was only lowered, so that putting it back is always allowed.
  void reset_oom_score() {
    if (settings_.oom_score != nullptr) write_own(kChildOomScoreFile, *settings_.oom_score);
  }

  void connect_stdio() {
    for (int target = 0; target < 3; ++target) {
      const UniqueFd& source = request_.stdio[static_cast<std::size_t>(target)];
      if (source && ::dup2(source.get(), target) < 0) fail_at(SpawnStep::stdio);
    }
    // Marked rather than closed: the report has to last until the exec.
    const bool closes = request_.descriptors == Descriptors::close;
    if (closes && !mark_descriptors()) fail_at(SpawnStep::stdio);
  }

  void change_root() {
    if (*request_.root == '\0') return;
    if (::chroot(request_.root) != 0 || ::chdir("/") != 0) fail_at(SpawnStep::root);
  }

  // Whoever possesses a session's keyring may use its keys, whatever user it has become. The new
  // one is made before the change: the quota of a user is too small for one in each of many jobs.
  void leave_keyring() {
    const long left = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    // A kernel without keys, or a filter that keeps everybody from them.
    const bool is_without_keys = left < 0 && (errno == ENOSYS || errno == EPERM);
    if (left < 0 && !is_without_keys) fail_at(SpawnStep::identity);
  }

  void become_user() {
    if (!request_.identity) return;
    const Identity& identity = *request_.identity;
    const bool is_another = identity.uid != ::geteuid();
    if (is_another) {
      leave_keyring();
      forget_securebits();
    }
    // Not by way of libc, which would change all threads that this process has none of: they are
    // the guardian's, and one that was just being made would be waited for without end.
    const bool became =
        ::syscall(SYS_setgroups, identity.groups.size(), identity.groups.data()) == 0 &&
        ::syscall(SYS_setresgid, identity.gid, identity.gid, identity.gid) == 0 &&
        ::syscall(SYS_setresuid, identity.uid, identity.uid, identity.uid) == 0;
    if (!became || (is_another && !drop_capabilities())) fail_at(SpawnStep::identity);
  }

  // After the change of user, which takes the wish back.
  void follow_guardian() {
    if (request_.guardian_death != GuardianDeath::end) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != settings_.guardian)
      ::_exit(128 + SIGKILL);  // dead before the wish was heard
  }

  void set_signals() {
    sigset_t mask = settings_.mask;
    if (request_.signals == Signals::set_default) {
      sigemptyset(&mask);
      for (int number = 1; number < NSIG; ++number) {
        if (sigismember(&settings_.ignored, number) == 1) ::signal(number, SIG_DFL);
      }
    }
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  }

  // Returns if the first file that may be executed is not after all, or there is none: what becomes
  // of that is the shell's affair.
  void execute_plain() {
    if (request_.plain.front() == nullptr) return;
    Candidates candidates(request_.plain.front(), request_.env);
    while (const char* file = candidates.next()) {
      if (::faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) != 0) continue;
      report_.executes();
      ::execve(file, request_.plain.data(), request_.env.data());
      return;
    }
  }

  // As execvp(3): the first file that can be executed; a text without an interpreter goes to the
  // shell, unless a file was named beside argv[0]; a file that was there but not executable is told
  // before one that was not there.
  [[noreturn]] void execute() {
    execute_plain();
    bool denied = false;
    errno = ENOENT;
    Candidates candidates = *request_.executable == '\0'
                                ? Candidates(request_.argv.front(), request_.env)
                                : Candidates(request_.executable);
    while (const char* file = candidates.next()) {
      if (may_be_executed(file)) ::execve(file, request_.argv.data(), request_.env.data());
      if (errno == ENOEXEC && *request_.executable == '\0') {
        if (settings_.memory == Memory::shared) break;  // the list of words would be allocated
        execute_as_script(file);
      }
      if (errno == EACCES) denied = true;
      if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) break;
    }
    if (denied && (errno == ENOENT || errno == ENOTDIR)) errno = EACCES;
    fail_at(SpawnStep::exec);
  }

  // Whether it is worth a call of execve(2); if not, `errno` says why. Who shares memory is to be
  // told from one that is about to be gone: it fails here, not there.
  bool may_be_executed(const char* file) {
    const bool is_shared = settings_.memory == Memory::shared;
    if (is_shared && ::faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) != 0) return false;
    report_.executes();
    return true;
  }

  void execute_as_script(const char* file) {
    std::vector<char*> argv = {const_cast<char*>(kShell), const_cast<char*>(file)};
    argv.insert(argv.end(), request_.argv.begin() + 1, request_.argv.end());
    ::execve(kShell, argv.data(), request_.env.data());
  }

  const ReceivedSpawn& request_;
  const ChildSettings& settings_;
  ChildReport& report_;
};

}  // namespace

void run_child(const ReceivedSpawn& request, const ChildSettings& settings, ChildReport& report) {
  Child(request, settings, report).run();
}

}  // namespace plimsoll::guardian
