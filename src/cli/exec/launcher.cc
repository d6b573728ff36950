#include "cli/exec/launcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/cases.h"
#include "base/loop/loop.h"
#include "base/quantity.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/exec/short_name.h"
#include "kernel/procfs/signals.h"
#include "kernel/procfs/table.h"
#include "policy/job/job.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

// Lets a child of this process and its descendants go on that somebody else has stopped and can't
// let go on any more. Looks through all processes of the machine.
void continue_family(pid_t first) {
  const auto proc = procfs::ProcDir::open();
  if (!proc) return;
  const auto table = proc->read_table();
  if (!table) return;
  std::set<int> family = {first};
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [pid, stat] : *table) {
      if (family.contains(stat.parent)) grows |= family.insert(pid).second;
    }
  }
  std::vector<procfs::Stat> members;
  for (const int pid : family) {
    if (const auto found = table->find(pid); found != table->end())
      members.push_back(found->second);
  }
  [[maybe_unused]] const auto sent = procfs::send_to(*proc, members, SIGCONT);
}

// So long who was told that there is no room waits before it asks again: twice as long each time,
// as a thousand may wait.
constexpr Duration kBusyPause = std::chrono::milliseconds(100);
constexpr Duration kBusyPauseMax = std::chrono::seconds(3);

// Whoever governs answers at once: what is waited for is that the killed have ended.
constexpr Duration kWhyPatience = std::chrono::seconds(1);

std::string present_directory() {
  std::error_code unknown;
  return std::filesystem::current_path(unknown).string();
}

int milliseconds_until(std::optional<Instant> when) {
  if (!when) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*when - loop::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT32_MAX));
}

}  // namespace

Launcher::Launcher(LauncherConfig config, LightLink link)
    : config_(std::move(config)),
      is_rerunnable_(can_run_again(config_.command)),
      busy_pause_(kBusyPause),
      link_(std::move(link)) {}

Result<int> Launcher::run() {
  auto signals = take_signals();
  if (!signals) return pass(std::move(signals));
  signals_ = std::move(*signals);
  if (auto started = start_attempt(); !started) return pass(std::move(started));
  enter();
  while (true) {
    while (!wait_once()) continue;
    auto status = end_attempt();
    if (!status) return pass(std::move(status));
    if (*status) return **status;
  }
}

Result<void> Launcher::start_attempt() {
  if (is_rerunnable_) {
    auto output = AttemptOutput::open();
    if (!output) return pass(std::move(output));
    output_.emplace(std::move(*output));
    new_outputs_.emplace(config_.command);
  }
  auto process =
      HeldProcess::start(config_.command, output_ ? output_->ends() : std::array<int, 2>{-1, -1});
  if (!process) return pass(std::move(process));
  process_.emplace(std::move(*process));
  if (output_) output_->started();
  began_ = loop::now();
  return {};
}

void Launcher::enter() {
  const supervisor::LightEnter asked{.job_class = config_.job_class,
                                     .cwd = present_directory(),
                                     .words = config_.command,
                                     .memory_hint = config_.memory_hint,
                                     .restartable = is_rerunnable_};
  if (!link_->say(asked, process_->pidfd())) go_on_alone();
}

bool Launcher::wait_once() {
  const auto [out, err] = output_ ? output_->sources() : std::array<int, 2>{-1, -1};
  std::array<pollfd, 5> ready{{{.fd = process_->pidfd(), .events = POLLIN, .revents = 0},
                               {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                               {.fd = link_ ? link_->fd() : -1, .events = POLLIN, .revents = 0},
                               {.fd = out, .events = POLLIN, .revents = 0},
                               {.fd = err, .events = POLLIN, .revents = 0}}};
  if (::poll(ready.data(), ready.size(), milliseconds_until(due())) < 0) return false;
  if (ready[1].revents != 0) on_signals();
  if (ready[2].revents != 0 && link_) on_news();
  if (ready[3].revents != 0 || ready[4].revents != 0) output_->receive();
  on_time(loop::now());
  return ready[0].revents != 0;
}

// What the terminal sends goes to the command as well.
void Launcher::on_signals() {
  signalfd_siginfo about{};
  while (::read(signals_.get(), &about, sizeof about) == sizeof about) {
    const int number = static_cast<int>(about.ssi_signo);
    if (process_->is_released()) {
      if (about.ssi_code != SI_KERNEL) process_->signal(number);
    } else {
      give_up({.code = number, .by_signal = true});
    }
  }
}

// The process may stand still, with a copy of the connection: it ends because nobody asks for it
// any more, and that has to be said.
void Launcher::give_up(const ProcessEnd& end) {
  if (!given_up_) given_up_ = end;
  process_->give_up();
  if (link_) link_->say(supervisor::LightOver{.by_signal = true, .code = SIGKILL});
  link_.reset();
}

void Launcher::on_news() {
  const auto news = link_->hear();
  if (!news) return go_on_alone();
  std::visit(Cases{[this](const supervisor::LightHeld& held) {
                     const std::string why = "it " + report::printable(held.reason);
                     if (config_.verbose && why != why_held_) {
                       complain("exec: " + short_name(config_.command) + " " +
                                report::printable(held.reason));
                     }
                     why_held_ = why;
                   },
                   [this](const supervisor::LightAdmitted&) {
                     if (!given_up_) process_->release();
                   },
                   [this](const supervisor::LightCancelled& cancelled) {
                     cancelled_ = cancelled;
                     // Another attempt was promised, and then none left.
                     if (!process_->is_released()) give_up({.code = end_cancelled()});
                   },
                   [this](const supervisor::LightRefused& refused) { on_refused(refused); }},
             *news);
}

void Launcher::on_refused(const supervisor::LightRefused& refused) {
  if (process_->is_released() || !refused.busy) return go_on_alone();
  had_no_room_ = std::exchange(link_, std::nullopt);
  why_held_ = report::printable(refused.reason);
  ask_again_ = loop::now() + busy_pause_;
  busy_pause_ = std::min(2 * busy_pause_, kBusyPauseMax);
}

std::optional<Instant> Launcher::due() const {
  if (process_->is_released() || given_up_) return std::nullopt;
  std::optional<Instant> soonest = ask_again_;
  if (config_.hold_max) {
    soonest = std::min(soonest.value_or(Instant::max()), began_ + *config_.hold_max);
  }
  return soonest;
}

void Launcher::on_time(Instant now) {
  const auto when = due();
  if (!when || now < *when) return;
  if (config_.hold_max && now >= began_ + *config_.hold_max) {
    complain("exec: " + short_name(config_.command) + " has waited for " +
             format_duration(*config_.hold_max) + " and was not started: " +
             (why_held_.empty() ? "others run or wait before it" : why_held_) +
             ". Try again later, or start less at once");
    return give_up({.code = kLostToMachine});
  }
  ask_again_.reset();
  link_ = std::exchange(had_no_room_, std::nullopt)->another();
  if (!link_) return go_on_alone();
  enter();
}

// A governor that has gone may have left the command standing still.
void Launcher::go_on_alone() {
  link_.reset();
  ask_again_.reset();
  if (given_up_) return;
  if (process_->is_released()) return continue_family(process_->pid());
  process_->release();
}

// Why the process was killed may have been told just before it was.
void Launcher::hear_all() {
  pollfd ready{.fd = -1, .events = POLLIN, .revents = 0};
  while (link_) {
    ready.fd = link_->fd();
    if (::poll(&ready, 1, 0) <= 0) return;
    on_news();
  }
}

// Nobody tells before the kernel kills; who governs finds out when the end is told.
void Launcher::hear_why(const ProcessEnd& end) {
  const bool was_maybe_lost =
      end.by_signal ? end.code == SIGKILL || is_rerunnable_ : is_rerunnable_ && end.code != 0;
  if (cancelled_ || !was_maybe_lost || !process_->is_released()) return;
  const Instant until = loop::now() + kWhyPatience;
  pollfd ready{.fd = link_->fd(), .events = POLLIN, .revents = 0};
  while (link_ && !cancelled_) {
    const int seen = ::poll(&ready, 1, milliseconds_until(until));
    if (seen < 0 && errno == EINTR) continue;
    if (seen <= 0) return;
    const auto news = link_->hear();
    if (!news) return link_.reset();
    const auto* cancelled = std::get_if<supervisor::LightCancelled>(&*news);
    if (cancelled == nullptr) return;
    cancelled_ = *cancelled;
  }
}

Result<std::optional<int>> Launcher::end_attempt() {
  auto ended = process_->wait();
  if (!ended) return pass(std::move(ended));
  if (given_up_) return std::optional(end_like(*given_up_));
  if (process_->is_released()) hear_all();
  if (output_) output_->receive_rest();
  const bool ends =
      !link_ || !link_->say(supervisor::LightOver{.by_signal = ended->by_signal,
                                                  .code = static_cast<std::uint8_t>(ended->code),
                                                  .peak = ended->peak,
                                                  .cpu = ended->cpu});
  if (!ends) hear_why(*ended);
  // One that can be run again may have failed because only a child of it was killed.
  const bool was_killed = cancelled_ && (ended->by_signal || (is_rerunnable_ && ended->code != 0));
  if (was_killed && new_outputs_) new_outputs_->remove();
  const bool counts = !output_ || output_->has_passed_on();
  if (was_killed && cancelled_->again && !counts && !ends) {
    cancelled_.reset();
    if (auto started = start_attempt(); !started) return pass(std::move(started));
    if (!link_->say(supervisor::LightAgain{}, process_->pidfd())) go_on_alone();
    return std::optional<int>();
  }
  if (output_) output_->pass_on();
  return std::optional(was_killed ? end_cancelled() : end_like(*ended));
}

int Launcher::end_cancelled() const {
  const bool by_user = cancelled_->cause == policy::name_of(policy::Outcome::cancelled);
  std::string text = "exec: " + short_name(config_.command) + " was killed: ";
  text += report::printable(cancelled_->reason);
  if (!by_user) text += "; fewer commands at once, or a higher line, would leave it more memory";
  complain(text);
  return by_user ? kCancelled : kOverLimit;
}

}  // namespace plimsoll::cli
