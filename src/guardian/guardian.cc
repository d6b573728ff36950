#include "guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "guardian/adoptions.h"
#include "guardian/births.h"
#include "guardian/child_list.h"
#include "guardian/cleaner.h"
#include "guardian/clock.h"
#include "guardian/early_signals.h"
#include "guardian/heap_reserve.h"
#include "guardian/other_children.h"
#include "guardian/protection.h"
#include "guardian/protocol.h"
#include "guardian/say.h"
#include "guardian/signal_origin.h"
#include "guardian/split_steps.h"
#include "guardian/standstill.h"
#include "guardian/watchdog.h"

namespace plimsoll::guardian {
namespace {

constexpr int kPlimsollFailed = 125;
// So soon it is looked again for the number of a child that is just being made.
constexpr std::optional<Duration> kUnknownChildGap = std::chrono::milliseconds(1);
constexpr Duration kOrphanPatience = std::chrono::seconds(10);
// So many children are waited for in one turn: some hundred microseconds.
constexpr std::size_t kWaitsMax = 64;
// So long messages are taken in one turn.
constexpr Duration kMessagesMax = std::chrono::milliseconds(5);

// Of a child that had this process's memory before its exec the kernel tells the larger peak of the
// two. Zero: its own is not known.
void leave_out_own_peak(rusage& of_child) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (of_child.ru_maxrss <= own.ru_maxrss) of_child.ru_maxrss = 0;
}

class Guardian : private BirthObserver {
 public:
  Guardian(Channel channel, pid_t supervisor, const sigset_t& child_mask, UniqueFd signals,
           const sigset_t& ignored, Heartbeat heartbeat, const std::vector<pid_t>& inherited,
           NotifyManager notify)
      : channel_(std::move(channel)),
        supervisor_(supervisor),
        births_(child_mask, *this, [this] { lead(); }),
        signals_(std::move(signals)),
        ignored_(ignored),
        early_signals_(heartbeat.clone(), supervisor),
        watchdog_(std::move(heartbeat)),
        standstill_(supervisor),
        host_(supervisor),
        adoptions_(host_),
        other_children_(supervisor),
        has_inherited_(!inherited.empty()),
        notify_(notify) {
    adoptions_.inherit(inherited);
  }

  [[noreturn]] void run() {
    while (!supervisor_status_) turn();
    watchdog_.lift();  // who is throttled dies late
    take_messages();   // a tree that was handed over just before the end
    [[maybe_unused]] const bool is_told = births_.tell_begun();
    std::vector<pid_t> mains;
    for (const auto& [pid, id] : children_) mains.push_back(pid);
    cleaner_.clean(mains);
    if (!has_inherited_) clean_orphans();
    if (const auto signal = early_signals_.killed_by()) die_of(*signal);
    if (supervisor_status_->kind == WaitStatus::Kind::exited) {
      if (end_) die_of(*end_);
      std::exit(supervisor_status_->value);
    }
    say("the supervisor process was ended by signal " + std::to_string(supervisor_status_->value) +
        "; all jobs were killed");
    std::exit(kPlimsollFailed);
  }

 private:
  // Of a thread that has stood by: how nice a thread is, is its own affair.
  [[noreturn]] void lead() {
    if (stands_watch_) go_before_others();
    run();
  }

  void turn() {
    const auto wanted = static_cast<short>(outbox_.empty() ? POLLIN : POLLIN | POLLOUT);
    std::vector<pollfd> fds = {{channel_open_ ? channel_.fd() : -1, wanted, 0},
                               {signals_.get(), POLLIN, 0}};
    births_.watch(fds);
    auto wait = watchdog_.next_check();
    const auto look = standstill_.next_look(clock_now());
    if (look) wait = wait ? std::min(*wait, *look) : *look;
    const auto next = births_.tell_begun() ? adoptions_.next_turn() : kUnknownChildGap;
    if (next) wait = wait ? std::min(*wait, *next) : *next;
    if (has_more_ends_) wait = Duration{};
    const auto ms = wait ? std::chrono::ceil<std::chrono::milliseconds>(*wait).count() : -1;
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(ms));
    if (wait) {
      watchdog_.check(clock_now());
      look_at_supervisor();
    }
    if (ready > 0) take_events(fds);
    if (has_more_ends_) reap_children();
    mind_adopted();
  }

  void take_events(const std::vector<pollfd>& fds) {
    births_.take(std::span(fds).subspan(2));
    if (fds[1].revents != 0) take_signals();
    if ((fds[0].revents & POLLOUT) != 0) flush_outbox();
    if ((fds[0].revents & ~POLLOUT) != 0) take_messages();
  }

  void look_at_supervisor() {
    if (const auto stop = standstill_.look(clock_now())) say(*stop);
  }

  void mind_adopted() {
    if (births_.tell_begun()) adoptions_.look(children_);
    for (Escaped& left : adoptions_.settle()) tell(std::move(left));
    for (const Escapee& stray : adoptions_.take_strays()) say_of(stray);
  }

  static void say_of(const Escapee& escapee) {
    say("process " + std::to_string(escapee.pid) + " (" + plain(escapee.comm) +
        ") had left the group of its job and " +
        (escapee.lives ? "could not be killed" : "was killed"));
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

  // Births that are slow, on a file system that is, leave time for all else.
  void take_messages() {
    const Instant begun = clock_now();
    while (supervisor_status_ || clock_now() - begun < kMessagesMax) {
      auto packet = channel_.receive();
      if (!packet) {
        if (packet.error().code != std::errc::resource_unavailable_try_again) channel_open_ = false;
        return;
      }
      auto message = decode_from_supervisor(*packet);
      if (!message) continue;
      if (auto* request = std::get_if<ReceivedSpawn>(&*message)) {
        if (!supervisor_status_) births_.begin(std::move(*packet), std::move(*request));
      } else if (const auto* lost = std::get_if<LostSpawn>(&*message)) {
        tell(StartFailed{lost->id, SpawnStep::clone, std::errc::too_many_files_open});
      } else if (auto* tree = std::get_if<HandOver>(&*message)) {
        cleaner_.take(std::move(*tree));
      } else if (std::holds_alternative<StandWatch>(*message)) {
        stand_watch();
      } else if (auto* families = std::get_if<HandOverFamilies>(&*message)) {
        cleaner_.take(std::move(*families));
      } else if (const auto* over = std::get_if<Over>(&*message)) {
        adoptions_.over(over->id);
      } else if (const auto* death = std::get_if<DieOf>(&*message)) {
        end_ = death->signal;
      } else if (const auto* notice = std::get_if<Notify>(&*message)) {
        if (notify_) notify_(notice->state);
      } else {
        stop();
      }
    }
  }

  // Who has left the groups of his job.
  static void clean_orphans() {
    const auto orphans = end_orphans(clock_now() + kOrphanPatience, &clock_now);
    for (const Orphan& orphan : orphans) say_of({orphan.pid, orphan.comm, orphan.lives});
  }

  void stand_watch() {
    stands_watch_ = true;
    watchdog_.watch(cleaner_.tree());
    births_.children_have_oom_score(lower_oom_score());
    births_.children_are_as_nice_as_this();
    go_before_others();  // whatever orphans its jobs make: starts and ends of all come through here
    [[maybe_unused]] const bool locked = lock_memory();
    HeapReserve(HeapReserve::kBlockOfForking).fill(clock_now());
  }

  void stop() {
    if (supervisor_status_) return;
    if (births_.before_stop()) {
      ::raise(SIGSTOP);
    } else {
      say("not stopped: a command that is being started waits for a file system and can't be "
          "killed");
    }
    tell(Resumed{});
  }

  void on_begun(const ReceivedSpawn& request, pid_t pid) override {
    children_[pid] = request.id;
    follow(request, pid);
  }

  void on_withdrawn(pid_t pid) override {
    adoptions_.ended(pid);
    other_children_.ended(pid);
    children_.erase(pid);
  }
  void on_born(Started started) override { tell(std::move(started)); }

  void on_failed(const StartFailed& failure, pid_t pid) override {
    children_.erase(pid);
    other_children_.never_began(failure.id);
    adoptions_.never_began(failure.id);
    tell(failure);
  }

  // Who leaves the group of its job is to be found.
  void follow(const ReceivedSpawn& request, pid_t pid) {
    const bool is_file = !request.v2_group;
    if (is_file && request.v1_entrances.empty()) return other_children_.began(request.id);
    const int fd = is_file ? request.v1_entrances.front().get() : request.v2_group.get();
    std::string group = group_within_run(fd, is_file, cleaner_.tree().name);
    if (group.empty()) return;
    const uid_t user = request.identity ? request.identity->uid : ::geteuid();
    adoptions_.began(request.id, {pid, user, std::move(group), name_of_job(request.env)});
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const auto number = static_cast<int>(info.ssi_signo);
      if (number == SIGCHLD) continue;
      const SignalOrigin origin = origin_of(info);
      if (stays_ignored(number, origin) || early_signals_.take(number)) continue;
      tell(Signalled{number, origin});
    }
    look_at_supervisor();
    reap_children();
  }

  // A shell without job control has what it starts with `&` ignore Ctrl-C; who sends that signal to
  // this very process means it.
  [[nodiscard]] bool stays_ignored(int number, SignalOrigin origin) const {
    const bool is_meant =
        origin == SignalOrigin::process && (number == SIGINT || number == SIGQUIT);
    return sigismember(&ignored_, number) == 1 && !is_meant;
  }

  void reap_children() {
    std::vector<Exited> exits;
    has_more_ends_ = wait_for_children(exits);
    if (has_more_ends_) wait_for_mains(exits);
    if (births_.tell_begun()) adoptions_.look(children_);
    for (Exited& exit : exits) {
      const auto may_leave = other_children_.main_ended(exit.id, children_);
      exit.leaves_others = may_leave ? *may_leave : adoptions_.main_ended(exit.id);
      tell(exit);
    }
  }

  // False: there are no more that have ended. A job may make orphans faster than they can be waited
  // for: starts and ends of others come between.
  bool wait_for_children(std::vector<Exited>& exits) {
    for (std::size_t waits = 0; waits < kWaitsMax; ++waits) {
      if (!wait_for(P_ALL, 0, exits)) return false;
    }
    return true;
  }

  // Those that others wait for, however many orphans have ended before them.
  void wait_for_mains(std::vector<Exited>& exits) {
    std::vector<pid_t> mains = {supervisor_};
    for (const auto& [pid, id] : children_) mains.push_back(pid);
    for (const pid_t pid : mains) wait_for(P_PID, static_cast<id_t>(pid), exits);
  }

  // Whether one of those has ended.
  bool wait_for(idtype_t which, id_t id, std::vector<Exited>& exits) {
    siginfo_t info{};
    rusage usage{};
    long answer = 0;
    do {
      // An end that is passed over here would be seen at the next one only, which may not come.
      answer = ::syscall(SYS_waitid, which, id, &info, WEXITED | WNOHANG, &usage);
    } while (answer != 0 && errno == EINTR);
    if (answer != 0 || info.si_pid == 0) return false;
    const bool exited = info.si_code == CLD_EXITED;
    const WaitStatus status{exited ? WaitStatus::Kind::exited : WaitStatus::Kind::signalled,
                            info.si_status};
    if (info.si_pid == supervisor_) {
      supervisor_status_ = status;
      return true;
    }
    if (births_.settle(info.si_pid) == Memory::shared) leave_out_own_peak(usage);
    adoptions_.ended(info.si_pid);
    other_children_.ended(info.si_pid);
    const auto child = children_.find(info.si_pid);
    if (child == children_.end()) return true;  // an orphan of a job
    exits.push_back({child->second, status, usage});
    children_.erase(child);
    return true;
  }

  Channel channel_;
  pid_t supervisor_;
  Births births_;
  UniqueFd signals_;
  sigset_t ignored_;  // since before the start
  Cleaner cleaner_;
  EarlySignals early_signals_;
  Watchdog watchdog_;
  Standstill standstill_;
  ProcfsAdoptionHost host_;
  Adoptions adoptions_;
  OtherChildren other_children_;
  bool has_inherited_;  // children of before, whose orphans come here too: not ours
  NotifyManager notify_;
  std::deque<FromGuardian> outbox_;  // not sent yet
  std::unordered_map<pid_t, ChildId> children_;
  std::optional<WaitStatus> supervisor_status_;
  std::optional<int> end_;      // the signal to die of
  bool has_more_ends_ = false;  // children have ended that were not waited for
  bool stands_watch_ = false;
  bool channel_open_ = true;  // the supervisor can still be told things
};

}  // namespace

Result<Link> become_guardian(NotifyManager notify, Begins begins) {
  occupy_stdio();
  auto ends = Channel::make_pair();
  if (!ends) return pass(std::move(ends));
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail_errno("become a subreaper");
  const sigset_t ignored = ignored_signals();
  const sigset_t handled = handled_signals();
  ::signal(SIGCHLD, SIG_DFL);  // children are waited for, whatever the caller does with its own
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &handled, &before);
  UniqueFd signals(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail_errno("make a signalfd");

  const std::vector<pid_t> inherited = children();
  auto heartbeat = Heartbeat::make();
  if (!heartbeat) return pass(std::move(heartbeat));
  if (begins == Begins::at_once && !heartbeat->begin()) return fail("begin twice");

  const rlimit descriptors = raise_descriptor_limit();
  const pid_t guardian = ::getpid();
  const pid_t supervisor = ::fork();
  if (supervisor < 0) return fail_errno("fork the supervisor");
  if (supervisor == 0) {
    begin_as_supervisor();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return Link{std::move(ends->first), guardian, descriptors, std::move(*heartbeat)};
  }
  {
    const Channel closed = std::move(ends->first);
  }
  Guardian(std::move(ends->second), supervisor, before, std::move(signals), ignored,
           std::move(*heartbeat), inherited, notify)
      .run();
}

}  // namespace plimsoll::guardian
