// plimsoll submit: one command, run by the daemon as who asks.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/cases.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/command/report_lines.h"
#include "cli/commands.h"
#include "cli/link/daemon_link.h"
#include "report/plain.h"
#include "supervisor/control/job_protocol.h"
#include "supervisor/environment.h"

namespace plimsoll::cli {
namespace {

constexpr mode_t kOutputMode = 0666;  // less the umask, as a shell has it

struct SubmitOptions {
  policy::JobSpec job;
  std::optional<std::string> name, out, err, report;
  bool detach = false;
  bool quiet = false;
};

constexpr const char* kSubmitFooter =
    R"(The daemon (plimsoll serve) runs the command as this user, in this directory, with this
environment and umask, in a cgroup of its own, as soon as it fits. Its output is printed here; it
has no standard input. Ctrl-C kills it, and so does the end of this program. With --detach it
continues without this program.

Examples:
  plimsoll submit -- make -j4
  plimsoll submit --memory-hint 6G --class link -- ./link.sh
  plimsoll submit --detach --name nightly --stdout build.log -- ./build.sh
  plimsoll list; plimsoll ctl kill nightly

Exit status: as that of `plimsoll run`; 125 if the daemon refused the command, or if there is no
daemon.
)";

Result<int> parse_priority(std::string_view text) {
  const auto number = to_i64(text);
  if (!number || *number < -1000 || *number > 1000) {
    return fail("found \"" + std::string(text) + "\", expected a number from -1000 to 1000");
  }
  return static_cast<int>(*number);
}

void add_options(CLI::App& app, SubmitOptions& options, std::optional<int>& priority,
                 std::string& directory) {
  policy::JobSpec& job = options.job;
  app.add_flag("-d,--detach", options.detach,
               "Print the number of the job and exit; the job continues without this program");
  auto* out = app.add_option("--stdout", options.out,
                             "With --detach: file for the job's output (default: plimsoll-PID.out, "
                             "with the pid of this program)")
                  ->type_name("FILE");
  auto* err =
      app.add_option("--stderr", options.err,
                     "With --detach: file for the job's standard error (default: that of --stdout)")
          ->type_name("FILE");
  out->needs("--detach");
  err->needs("--detach");
  app.add_option("--name", options.name, "Name of the job for list and ctl (default: its number)")
      ->type_name("NAME");
  app.add_option("--class", job.job_class,
                 "Class of the job; jobs of one class are expected to behave alike")
      ->type_name("NAME");
  add_parsed(
      app, "--memory-hint", job.memory_hint, parse_bytes,
      "Memory that the job is expected to need; it counts until jobs of its class have ended")
      ->type_name("SIZE");
  add_parsed(app, "--cpu-hint", job.cpu_hint, parse_cpus, "Cores that the job is expected to use")
      ->type_name("N");
  add_parsed(
      app, "--disk-hint", job.disk_hint, parse_bytes,
      "Most disk space that the job takes at any time, where the daemon watches disks; it is "
      "believed, even after jobs of its class have ended")
      ->type_name("SIZE");
  add_parsed(app, "--memory-max", job.limits.memory_max, parse_bytes,
             "Memory limit, such as 512M; a job that exceeds it is killed with all its processes")
      ->type_name("SIZE");
  add_parsed(app, "--cpus", job.limits.cpus, parse_quota, "Cores that the job may use")
      ->type_name("N");
  add_parsed(app, "--pids-max", job.limits.pids_max, parse_count,
             "Maximum number of processes and threads of the job")
      ->type_name("N");
  add_parsed(app, "--cpu-weight", job.limits.cpu_weight, parse_weight,
             "Share of CPU time that the job gets in competition with other jobs (1 to 10000; "
             "default 100)")
      ->type_name("N");
  add_parsed(app, "--priority", priority, parse_priority,
             "Jobs of higher priority start earlier (-1000 to 1000; default 0); only root may set "
             "more than 0")
      ->type_name("N");
  add_parsed(app, "--timeout", job.timeout, parse_duration, "Maximum time of the job (10s, 5m)")
      ->type_name("DURATION");
  app.add_option("-C,--cwd", directory, "Directory to run the job in (default: this one)")
      ->type_name("DIR");
  app.add_flag(
      "--restartable", job.restartable,
      "The job may be killed to free memory; it then runs again, and its output is printed again");
  app.add_option("--report", options.report,
                 "File for the report as JSON; - is standard output, and the job's output goes to "
                 "standard error then")
      ->type_name("FILE")
      ->excludes("--detach");
  app.add_flag("-q,--quiet", options.quiet, "Print no messages while the job waits");
}

std::optional<int> parse(SubmitOptions& options, int argc, char** argv) {
  CLI::App app("Has the daemon run one command.", "submit");
  app.footer(kSubmitFooter);
  app.prefix_command();
  std::optional<int> priority;
  std::string directory;
  options.job.restartable = false;
  add_options(app, options, priority, directory);
  SplitArguments split = split_at_dashes(argc, argv);
  const args::Wording wording{.called = {}, .further_usage = {}, .followed_by = split.next()};
  if (const auto status = parse_or_exit_status(app, std::move(split.options), nullptr, wording)) {
    return status;
  }
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command.front().starts_with('-')) {
    complain("submit: there is no option \"" + command.front() +
             "\"; `plimsoll submit --help` lists them");
    return kPlimsollFailed;
  }
  if (split.command) {
    // After the command's first word, `--` is its own.
    if (!command.empty()) command.emplace_back("--");
    command.insert(command.end(), split.command->begin(), split.command->end());
  }
  if (command.empty()) {
    complain("submit: no command was given; see `plimsoll submit --help`");
    return kPlimsollFailed;
  }
  options.job.command = std::move(command);
  options.job.name = options.name.value_or("");
  options.job.priority = priority.value_or(0);
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (failed) {
    complain("submit: the working directory: " + failed.message());
    return kPlimsollFailed;
  }
  options.job.cwd = (here / directory).lexically_normal().string();
  return std::nullopt;
}

// Made here, where a mistake can be told; the job opens them anew.
Result<supervisor::OutputFiles> make_files(const SubmitOptions& options) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::string out = options.out.value_or("plimsoll-" + std::to_string(::getpid()) + ".out");
  supervisor::OutputFiles files{.out = (here / out).string(),
                                .err = (here / options.err.value_or(out)).string()};
  for (const std::string& path : {files.out, files.err}) {
    const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOutputMode));
    if (!made) return fail_errno("make " + path);
  }
  return files;
}

Result<std::optional<report::OutputFile>> open_report(const SubmitOptions& options) {
  return open_report_file(options.report, report::Unfinished::remove, Durability::written);
}

// Hours later it would be too late to be told of a mistake. A pipe is opened when there is
// something for its reader.
Result<void> check_report(const SubmitOptions& options) {
  std::error_code unknown;
  if (!options.report || std::filesystem::is_fifo(*options.report, unknown)) return {};
  auto file = open_report(options);
  if (!file) return pass(std::move(file));
  return {};
}

supervisor::SubmitJob submission(const SubmitOptions& options) {
  supervisor::SubmitJob asked{.job = options.job, .environment = supervisor::environment_with({})};
  asked.umask = ::umask(0);
  ::umask(asked.umask);
  return asked;
}

// Set by the first of the signals that end a program; the second one ends this.
volatile sig_atomic_t interrupted_by = 0;

void on_interrupt(int number) { interrupted_by = number; }

void heed_signals() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

int exit_status_of(const supervisor::JobEnded& ended) {
  const std::string& outcome = ended.outcome;
  if (outcome == "exited") return ended.exit_code.value_or(kPlimsollFailed);
  if (outcome == "signalled") return kSignalBase + ended.signal.value_or(0);
  if (outcome == "over_limit" || outcome == "over_line") return kOverLimit;
  if (outcome == "evicted" || outcome == "machine_oom") return kLostToMachine;
  if (outcome == "timed_out") return kTimedOut;
  if (outcome == "cancelled" || outcome == "skipped") return kCancelled;
  if (!ended.start_error) return kPlimsollFailed;
  return *ended.start_error == ENOENT ? kNotFound : kCannotExecute;
}

// A submission while it goes on.
class Follower {
 public:
  Follower(DaemonLink& link, const SubmitOptions& options) : link_(link), options_(options) {}

  Result<int> follow() {
    while (true) {
      if (interrupted_by != 0 && !is_killing_ && job_) {
        is_killing_ = true;
        const std::string number = std::to_string(static_cast<std::uint64_t>(*job_));
        if (auto said = link_.say(supervisor::to_line(supervisor::KillJob{number})); !said) {
          return pass(std::move(said));
        }
      }
      auto line = link_.hear_line();
      if (!line && line.error().code == std::errc::interrupted) continue;
      if (!line) return pass(std::move(line));
      auto news = supervisor::parse_news(*line);
      if (!news) return pass(std::move(news));
      auto taken = take(*news);
      if (!taken) return pass(std::move(taken));
      if (status_) return *status_;
    }
  }

 private:
  Result<void> take(const supervisor::JobNews& news) {
    return std::visit(Cases{[this](const supervisor::JobTaken& taken) -> Result<void> {
                              if (!job_) job_ = taken.job;  // else it answers the kill
                              return {};
                            },
                            [this](const supervisor::JobStands& stands) -> Result<void> {
                              tell(stands);
                              return {};
                            },
                            [this](const supervisor::OutputHead& head) { return pass_on(head); },
                            [this](const supervisor::JobEnded& ended) { return end(ended); },
                            [this](const supervisor::JobRefused& refused) -> Result<void> {
                              // That there is nothing left to kill.
                              if (is_killing_) return {};
                              return fail(refused.error);
                            }},
                      news);
  }

  // Of a job that starts at once there is nothing to tell. The first one says only how it stands
  // when it comes.
  void tell(const supervisor::JobStands& stands) {
    const std::string before = std::exchange(stood_, stands.state);
    const bool runs = stands.state == "running";
    if (options_.quiet || (runs && (before.empty() || before == stands.state))) return;
    const std::string number = std::to_string(static_cast<std::uint64_t>(*job_));
    std::string text = "job " + options_.name.value_or(number) + " is " + stands.state;
    if (runs && before == "paused") text += " again";
    if (!runs && !before.empty()) text += ": " + stands.reason;
    complain(report::printable(text));
  }

  Result<void> pass_on(const supervisor::OutputHead& head) {
    auto bytes = link_.hear_bytes(head.bytes);
    if (!bytes) return pass(std::move(bytes));
    const bool is_out = head.stream == supervisor::JobOutput::out && options_.report != "-";
    const int fd = is_out ? STDOUT_FILENO : STDERR_FILENO;
    for (std::string_view rest = *bytes; !rest.empty();) {
      const ssize_t wrote = write_again(fd, rest.data(), rest.size());
      if (wrote < 0) return fail_errno(is_out ? "write the output" : "write the errors");
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
  }

  [[nodiscard]] std::string told(const supervisor::JobEnded& ended) const {
    if (ended.outcome != "evicted") return ended.reason;
    return "the job was killed to free memory: " + ended.reason +
           (options_.job.restartable ? "" : "; with --restartable it would run again");
  }

  Result<void> end(const supervisor::JobEnded& ended) {
    if (!ended.reason.empty() && ended.outcome != "exited" && interrupted_by == 0) {
      complain("submit: " + report::printable(told(ended)));
    }
    status_ = exit_status_of(ended);
    const auto wrote = write_report(ended.report + "\n");
    if (wrote) return {};
    complain("submit: " + wrote.error().message());
    if (status_ == kSuccess) status_ = kPlimsollFailed;
    return {};
  }

  [[nodiscard]] Result<void> write_report(const std::string& text) const {
    auto file = open_report(options_);
    if (!file) return pass(std::move(file));
    if (!*file) return {};
    if (auto wrote = (*file)->append(text); !wrote) return wrote;
    return (*file)->finish();
  }

  DaemonLink& link_;
  const SubmitOptions& options_;
  std::optional<JobId> job_;
  std::string stood_;  // as told last; empty: never
  bool is_killing_ = false;
  std::optional<int> status_;
};

Result<int> detach(DaemonLink& link) {
  auto line = link.hear_line();
  if (!line) return pass(std::move(line));
  auto news = supervisor::parse_news(*line);
  if (!news) return pass(std::move(news));
  if (const auto* refused = std::get_if<supervisor::JobRefused>(&*news))
    return fail(refused->error);
  const auto* taken = std::get_if<supervisor::JobTaken>(&*news);
  if (taken == nullptr) return fail("the daemon's answer is not a job number");
  std::printf("%llu\n", static_cast<unsigned long long>(taken->job));
  return kSuccess;
}

Result<int> submit(const SubmitOptions& options) {
  if (auto possible = check_report(options); !possible) return pass(std::move(possible));
  auto link = DaemonLink::connect();
  if (!link) return pass(std::move(link));
  supervisor::SubmitJob asked = submission(options);
  if (options.detach) {
    auto files = make_files(options);
    if (!files) return pass(std::move(files));
    asked.files = std::move(*files);
  } else {
    heed_signals();
  }
  const std::string message = supervisor::to_message(asked);
  if (message.size() > supervisor::kSubmitBytesMax) {
    return fail("the command and its environment have " + std::to_string(message.size()) +
                " bytes, expected at most " + std::to_string(supervisor::kSubmitBytesMax));
  }
  if (auto said = link->say(message); !said) return pass(std::move(said));
  return options.detach ? detach(*link) : Follower(*link, options).follow();
}

}  // namespace

int submit_command(int argc, char** argv) {
  SubmitOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  const auto status = submit(options);
  if (interrupted_by != 0) {
    // As the shell expects of who was interrupted: by the signal itself.
    ::signal(interrupted_by, SIG_DFL);
    ::raise(interrupted_by);
  }
  if (status) return *status;
  complain("submit: " + report::printable(status.error().message()));
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
