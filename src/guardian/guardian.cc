#include "guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "guardian/cleaner.h"
#include "guardian/clock.h"
#include "guardian/heap_stock.h"
#include "guardian/protection.h"
#include "guardian/protocol.h"
#include "guardian/sentry.h"
#include "guardian/spawner.h"

namespace plimsoll::guardian {
namespace {

constexpr int kPlimsollFailed = 125;
// A name of its own, so that a pkill of one does not hit the other.
constexpr const char* kSupervisorName = "pl-supervisor";

constexpr std::array kSignals = {SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                 SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) sigaddset(&set, number);
  return set;
}

// The parent of a process, zombie or not; nothing once it is gone.
std::optional<pid_t> parent_of(pid_t pid) {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  // "pid (comm) state ppid ...", where comm may have anything in it.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = trim(std::string_view(*text).substr(name_end + 1));
  take_until(rest, ' ');
  const auto parent = to_u64(take_until(rest, ' '));
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

// Every process of a job descends from the guardian, as orphans come to it. Asked before children
// are waited for: the sender may be a zombie by now.
SignalOrigin origin_of(const signalfd_siginfo& info) {
  if (info.ssi_code == SI_KERNEL) return SignalOrigin::terminal;
  constexpr int kAncestorsMax = 1000;
  std::optional<pid_t> pid = static_cast<pid_t>(info.ssi_pid);
  for (int i = 0; i < kAncestorsMax && pid && *pid > 1; ++i) {
    if (*pid == ::getpid()) return SignalOrigin::job;
    pid = parent_of(*pid);
  }
  return SignalOrigin::process;
}

// A child whose exec has not been seen. The packet is kept because the request points into it.
struct Pending {
  Packet packet;
  ReceivedSpawn request;
  Newborn child;
  bool born = false;
};

class Guardian {
 public:
  Guardian(Channel channel, pid_t supervisor, const sigset_t& child_mask, UniqueFd signals,
           Pulse pulse)
      : channel_(std::move(channel)),
        supervisor_(supervisor),
        spawner_(child_mask),
        signals_(std::move(signals)),
        sentry_(std::move(pulse)) {}

  [[noreturn]] void run() {
    while (!supervisor_status_) turn();
    sentry_.lift();   // who is throttled dies late
    take_messages();  // a tree that was handed over just before the end
    std::vector<pid_t> mains;
    for (const auto& [pid, id] : children_) mains.push_back(pid);
    cleaner_.clean(mains);
    if (supervisor_status_->kind == WaitStatus::Kind::exited) std::exit(supervisor_status_->value);
    ::signal(SIGPIPE, SIG_IGN);  // with nobody to read this, the status still says it
    std::fprintf(stderr,
                 "plimsoll: its supervisor was ended by signal %d; every job was killed with it\n",
                 supervisor_status_->value);
    std::exit(kPlimsollFailed);
  }

 private:
  void turn() {
    const auto wanted = static_cast<short>(outbox_.empty() ? POLLIN : POLLIN | POLLOUT);
    std::vector<pollfd> fds = {{channel_open_ ? channel_.fd() : -1, wanted, 0},
                               {signals_.get(), POLLIN, 0}};
    for (const Pending& pending : pending_) fds.push_back({pending.child.report.get(), POLLIN, 0});
    const auto wait = sentry_.next_check();
    const auto ms = wait ? std::chrono::ceil<std::chrono::milliseconds>(*wait).count() : -1;
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(ms));
    if (wait) sentry_.check(clock_now());
    if (ready <= 0) return;
    for (std::size_t i = fds.size(); i-- > 2;) {
      if (fds[i].revents != 0) read_report(i - 2);
    }
    if (fds[1].revents != 0) take_signals();
    if ((fds[0].revents & POLLOUT) != 0) flush_outbox();
    if ((fds[0].revents & ~POLLOUT) != 0) take_messages();
  }

  // In order, and never waiting: what the supervisor has no room for yet stays in the outbox.
  void tell(FromGuardian message) {
    outbox_.push_back(std::move(message));
    if (outbox_.size() == 1) flush_outbox();
  }

  void flush_outbox() {
    while (!outbox_.empty()) {
      const auto sent = send(channel_, outbox_.front());
      if (!sent && sent.error().code == std::errc::resource_unavailable_try_again) return;
      if (!sent) channel_open_ = false;
      outbox_.pop_front();
    }
  }

  void take_messages() {
    for (;;) {
      auto packet = channel_.receive();
      if (!packet) {
        if (packet.error().code != std::errc::resource_unavailable_try_again) channel_open_ = false;
        return;
      }
      auto message = decode_from_supervisor(*packet);
      if (!message) continue;
      if (auto* request = std::get_if<ReceivedSpawn>(&*message)) {
        if (!supervisor_status_) spawn({std::move(*packet), std::move(*request), {}, false});
      } else if (auto* tree = std::get_if<HandOver>(&*message)) {
        cleaner_.take(std::move(*tree));
      } else if (std::holds_alternative<StandWatch>(*message)) {
        stand_watch();
      } else if (auto* families = std::get_if<HandOverFamilies>(&*message)) {
        cleaner_.take(std::move(*families));
      } else {
        stop();
      }
    }
  }

  void stand_watch() {
    sentry_.watch(cleaner_.tree());
    spawner_.children_have_oom_score(lower_oom_score());
    [[maybe_unused]] const bool locked = lock_memory();
    HeapStock().fill(clock_now());
  }

  void stop() {
    if (supervisor_status_) return;
    ::raise(SIGSTOP);
    tell(Resumed{});
  }

  void spawn(Pending pending) {
    auto child = spawner_.spawn(pending.request);
    if (!child) {
      tell(StartFailed{pending.request.id, SpawnStep::clone, child.error().code});
      return;
    }
    pending.child = std::move(*child);
    children_[pending.child.pid] = pending.request.id;
    pending_.push_back(std::move(pending));
  }

  // Bytes from a newborn: the birth byte, a failure, or the end of file that the exec makes.
  void read_report(std::size_t index) {
    Pending& pending = pending_[index];
    std::array<char, 1 + sizeof(SpawnFailure)> bytes{};
    const std::size_t want = pending.born ? sizeof(SpawnFailure) : 1;
    const ssize_t got = ::read(pending.child.report.get(), bytes.data(), want);
    if (got < 0) return;
    if (got > 0 && !pending.born) {
      pending.born = true;
      return;
    }
    Pending ended = std::move(pending);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
    if (got > 0) {
      SpawnFailure failure;
      std::memcpy(&failure, bytes.data(), sizeof failure);
      report_failure(ended, failure);
    } else if (!ended.born && spawner_.may_try_again(ended.child)) {
      children_.erase(ended.child.pid);
      spawn({std::move(ended.packet), std::move(ended.request), {}, false});
    } else {
      tell(Started{ended.request.id, ended.child.pid, ended.child.birth,
                   std::move(ended.child.pidfd)});
    }
  }

  void report_failure(const Pending& pending, const SpawnFailure& failure) {
    children_.erase(pending.child.pid);
    tell(StartFailed{pending.request.id, failure.step, static_cast<std::errc>(failure.code)});
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const auto number = static_cast<int>(info.ssi_signo);
      if (number == SIGCHLD) continue;
      tell(Signalled{number, origin_of(info)});
    }
    reap_children();
  }

  void reap_children() {
    for (;;) {
      siginfo_t info{};
      rusage usage{};
      if (::syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG, &usage) != 0) {
        // An end that is passed over here would be seen at the next one only, which may not come.
        if (errno == EINTR) continue;
        return;
      }
      if (info.si_pid == 0) return;
      const bool exited = info.si_code == CLD_EXITED;
      const WaitStatus status{exited ? WaitStatus::Kind::exited : WaitStatus::Kind::signalled,
                              info.si_status};
      if (info.si_pid == supervisor_) {
        supervisor_status_ = status;
        continue;
      }
      settle_report(info.si_pid);
      const auto child = children_.find(info.si_pid);
      if (child == children_.end()) continue;  // an orphan of a job
      tell(Exited{child->second, status, usage});
      children_.erase(child);
    }
  }

  // A child that has ended has nothing more to report: say of it what is to be said before its end.
  void settle_report(pid_t pid) {
    for (std::size_t i = 0; i < pending_.size();) {
      if (pending_[i].child.pid != pid) {
        ++i;
      } else {
        read_report(i);
      }
    }
  }

  Channel channel_;
  pid_t supervisor_;
  Spawner spawner_;
  UniqueFd signals_;
  Cleaner cleaner_;
  Sentry sentry_;
  std::deque<Pending> pending_;
  std::deque<FromGuardian> outbox_;  // not sent yet
  std::unordered_map<pid_t, ChildId> children_;
  std::optional<WaitStatus> supervisor_status_;
  bool channel_open_ = true;  // the supervisor can still be told things
};

// A descriptor below 3 that is closed would be taken by the next open, and then be a child's stdin.
// Close-on-exec, so that for children it is closed as it was for us.
void occupy_stdio() {
  int fd = 0;
  while (fd >= 0 && fd < 3) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 3) ::close(fd);
}

// What the limit was.
rlimit raise_descriptor_limit() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit most{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &most);
  return before;
}

void name_supervisor() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, kSupervisorName);
  // What the kernel sends a stopped group of processes when its last parent outside is gone
  // (setpgid(2)): the guardian may be killed while the supervisor is stopped, who then has to clean
  // up.
  ::signal(SIGHUP, SIG_IGN);
  // In the background of the terminal, writing must neither stop nor fail.
  ::signal(SIGTTOU, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Result<Link> become_guardian() {
  occupy_stdio();
  auto ends = Channel::make_pair();
  if (!ends) return pass(std::move(ends));
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail_errno("become a subreaper");
  const sigset_t handled = handled_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &handled, &before);
  UniqueFd signals(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail_errno("make a signalfd");

  auto pulse = Pulse::make();
  if (!pulse) return pass(std::move(pulse));

  const rlimit descriptors = raise_descriptor_limit();
  const pid_t guardian = ::getpid();
  const pid_t supervisor = ::fork();
  if (supervisor < 0) return fail_errno("fork the supervisor");
  if (supervisor == 0) {
    name_supervisor();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return Link{std::move(ends->first), guardian, descriptors, std::move(*pulse)};
  }
  {
    const Channel closed = std::move(ends->first);
  }
  Guardian(std::move(ends->second), supervisor, before, std::move(signals), std::move(*pulse))
      .run();
}

}  // namespace plimsoll::guardian
