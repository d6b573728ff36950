// plimsoll govern: a command whose own commands are governed.
#include "cli/govern/govern.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/meeting.h"
#include "cli/command/process_mode.h"
#include "cli/command/run_memory.h"
#include "cli/govern/govern_options.h"
#include "cli/govern/jobserver_offer.h"
#include "cli/progress/terminal.h"
#include "govern/govern_run.h"
#include "govern/tokens.h"
#include "guardian/exec_filter.h"
#include "policy/job/attempt.h"
#include "report/json.h"
#include "report/plain.h"
#include "report/summary.h"
#include "report/top_jobs.h"
#include "report/writer.h"
#include "supervisor/control/control.h"
#include "supervisor/control/run_status.h"
#include "supervisor/reporting.h"
#include "supervisor/run/pool_terms.h"
#include "supervisor/run/run_id.h"
#include "supervisor/sharing/lease.h"
#include "supervisor/sharing/ledger_place.h"
#include "supervisor/sharing/runtime_dir.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

using OptionalReport = std::optional<report::OutputFile>;

// Notices go to standard error at once: the command has the terminal, and nothing is drawn on it.
class PlainNotices : public Notices {
 public:
  void note(const std::string& text) override { complain(text); }
};

std::string outcome_text(const supervisor::AttemptResult& ended) {
  const bool says_more = ended.end.outcome != policy::Outcome::signalled && !ended.reason.empty();
  return policy::describe(ended.end) + (says_more ? ": " + ended.reason : "");
}

// A governed command with all that is around it: what is remembered of earlier runs and recorded of
// this one, the report that the user asked for, the share of the line beside other runs. What fails
// of these is told; the command goes on.
class Session : private govern::GovernObserver,
                private supervisor::ControlTarget,
                private supervisor::JobSpecs {
 public:
  Session(supervisor::Supervisor& supervisor, const GovernOptions& options, OptionalReport report,
          govern::GovernConfig config, const std::vector<std::string>& command_line)
      : supervisor_(supervisor),
        options_(options),
        report_(std::move(report)),
        whole_{.line = config.scheduler.governor.line, .cores = config.scheduler.governor.cores},
        run_id_(config.run_id),
        begun_(loop::now()),
        top_jobs_(report::kHeaviestListed),
        memory_({.meta = {.run = run_id_,
                          .kind = report::RunKind::governed,
                          .command_line = command_line,
                          .started = supervisor::wall_now(),
                          .line = whole_.line,
                          .cores = whole_.cores},
                 .begun = begun_,
                 .names = {}},
                notices_),
        run_(supervisor, memory_.estimator(), std::move(config), *this) {}

  // The exit status.
  Result<int> run() {
    Meeting meeting{.ledger = lease()};
    meeting.control = start_control();
    tell_missed(meeting, notices_);
    auto end = run_.run();
    control_.reset();
    if (!end) return pass(std::move(end));
    if (lease_) end->summary.line = lease_->shared().line;
    memory_.finish(end->summary);
    finish_report(end->summary);
    print_end(*end);
    const supervisor::AttemptResult& ended = end->command;
    const auto asked = supervisor_.asked_to_end();
    const bool of_it = ended.end.outcome == policy::Outcome::signalled && ended.end.signal == asked;
    return asked && of_it ? supervisor_.die_of(*asked) : exit_status_of(ended);
  }

 private:
  // Alone on the machine until somebody else comes.
  Result<void> lease() {
    if (options_.standalone) return {};
    auto ledger = supervisor::Ledger::join(supervisor::open_ledger(), run_id_);
    if (!ledger) return pass(std::move(ledger));
    lease_.emplace(supervisor_.loop(), std::move(*ledger), whole_, supervisor::LeaseRole::run,
                   holder_);
    return {};
  }

  Result<void> start_control() {
    auto control = supervisor::Control::start(
        supervisor_.loop(), {.run_id = run_id_, .directory = supervisor::runtime_dir()}, *this);
    if (!control) return pass(std::move(control));
    control_ = std::move(*control);
    return {};
  }

  [[nodiscard]] supervisor::RunStatus status() const override {
    const govern::StepCounts& counts = run_.counts();
    return supervisor::run_status(run_.scheduler().status(),
                                  {.run = run_id_,
                                   .elapsed = loop::now() - begun_,
                                   .ended = {.total = counts.begun - counts.small,
                                             .succeeded = top_jobs_.succeeded(),
                                             .failed = top_jobs_.jobs() - top_jobs_.succeeded()},
                                   .commands = top_jobs_.commands()},
                                  *this);
  }
  [[nodiscard]] const policy::JobSpec& spec_of(JobId step) const override {
    const policy::JobSpec* spec = run_.spec_of(step);
    return spec == nullptr ? unknown_ : *spec;
  }
  [[nodiscard]] Result<JobId> find(std::string_view job) const override {
    const auto number = to_u64(job);
    if (number && run_.spec_of(JobId{*number}) != nullptr) return JobId{*number};
    return fail("there is no step \"" + std::string(job) + "\" that runs or waits");
  }
  Result<void> pause(JobId job) override { return run_.scheduler().pause(job); }
  Result<void> resume(JobId job) override { return run_.scheduler().resume(job); }
  Result<void> kill(JobId job) override { return run_.scheduler().kill(job, "killed by the user"); }
  Result<Bytes> set_line(std::string_view size) override {
    auto amount = supervisor::parse_memory_amount(size);
    if (!amount) return pass(std::move(amount));
    auto line = supervisor::line_of(*amount, supervisor_);
    if (!line) return line;
    whole_.line = *line;
    memory_.line(*line);
    const std::string reason = "the user set the line to " + format_bytes(*line);
    if (lease_) lease_->set_line(*line, reason);
    if (!lease_) run_.scheduler().set_line(*line, reason);
    return *line;
  }
  Result<void> set_jobs_max(unsigned jobs) override {
    run_.scheduler().set_jobs_max(jobs);
    return {};
  }

  void on_event(const policy::Event& event) override {
    memory_.event(event);
    if (lease_ && event.kind == policy::EventKind::started) lease_->has_grown();
  }
  void on_learnt(const policy::AttemptSummary& what) override { memory_.learnt(what); }
  void on_notice(const std::string& text) override { notices_.note(text); }

  void on_step_ended(const policy::JobSpec& /*step*/, const report::JobReport& report) override {
    top_jobs_.add(report);
    memory_.job(report);
    if (report_) write(report::to_json(report, report::JsonForm::line));
  }

  void write(const std::string& line) {
    const auto wrote = report_->append(line);
    if (wrote) return;
    notices_.note(wrote.error().message() + "; the report is not complete" + report_->kept_text());
    report_.reset();
  }

  void finish_report(const report::RunSummary& summary) {
    if (report_) write(report::to_json(summary, report::JsonForm::line));
    if (!report_) return;
    if (const auto done = report_->finish(); !done) {
      notices_.note(done.error().message() + report_->kept_text());
    }
  }

  void print_end(const govern::GovernEnd& end) const {
    const policy::Outcome outcome = end.command.end.outcome;
    const bool is_quiet = options_.verbosity == Verbosity::quiet;
    if (outcome == policy::Outcome::failed_to_start || is_quiet) {
      if (outcome != policy::Outcome::exited) complain("the command " + outcome_text(end.command));
      return;
    }
    const std::string text =
        run_.hears_execs() ? summary_text(end.summary) : measured_text(end.command);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }

  [[nodiscard]] std::string summary_text(const report::RunSummary& summary) const {
    // Command lines of compilers have thousands of characters.
    constexpr std::size_t kWidthMax = 160;
    report::TextStyle style = stderr_style();
    style.width = std::min(style.width, kWidthMax);
    const Bytes least{summary.line.value_or(Bytes{}).count / report::kHeavyShare};
    return report::heaviest_table(top_jobs_, {.by = report::Weight::memory, .from = least}, style) +
           report::run_text(summary, top_jobs_, style);
  }

  // As `plimsoll run` tells it.
  [[nodiscard]] std::string measured_text(const supervisor::AttemptResult& ended) const {
    policy::JobSpec job;
    job.command = options_.command;
    const report::JobReport report = supervisor::report_of({.job = job,
                                                            .attempts = {},
                                                            .last = &ended,
                                                            .outcome = ended.end.outcome,
                                                            .reason = ended.reason,
                                                            .machine = {}},
                                                           supervisor_.describe());
    return report::job_summary(report, stderr_style());
  }

  supervisor::Supervisor& supervisor_;
  const GovernOptions& options_;
  OptionalReport report_;
  policy::Share whole_;  // of the machine
  std::string run_id_;
  Instant begun_;
  report::TopJobs top_jobs_;
  const policy::JobSpec unknown_;  // of a step that is gone by now
  PlainNotices notices_;
  RunMemory memory_;
  govern::GovernRun run_;
  supervisor::SchedulerLeaseHolder holder_{run_.scheduler()};  // of the lease
  std::optional<supervisor::Lease> lease_;
  std::unique_ptr<supervisor::Control> control_;
};

Result<OptionalReport> open_report(const GovernOptions& options) {
  if (!options.report) return OptionalReport();
  if (options.report == "-") {
    return OptionalReport(report::OutputFile::onto(
        UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), "standard output"));
  }
  auto file =
      report::OutputFile::create(*options.report, report::Unfinished::keep, options.durability);
  if (!file) return pass(std::move(file), "--report");
  return OptionalReport(std::move(*file));
}

govern::GovernConfig govern_config(const GovernOptions& options, const std::string& run_id,
                                   const policy::GovernorConfig& governor) {
  govern::GovernConfig config;
  config.command.id = JobId{0};
  config.command.name = "command";
  config.command.command = options.command;
  config.run_id = run_id;
  config.drivers = options.drivers;
  config.reruns = options.reruns;
  config.scheduler.queue.jobs_max = governor.jobs_max;
  config.scheduler.governor = governor;
  config.scheduler.governor.order = policy::StartOrder::input;
  // A step that is killed fails its driver: nobody runs it again.
  config.scheduler.governor.may_evict = false;
  std::error_code unknown;  // then its steps are commands of no place
  config.scheduler.directory = std::filesystem::current_path(unknown).string();
  return config;
}

// Why execs can't be heard of here, if so.
std::optional<std::string> why_unheard(const GovernOptions& options, int code,
                                       const supervisor::Supervisor& supervisor) {
  if (options.no_hold) return "as --no-hold says";
  if (supervisor.why_process_mode()) {
    // What would help comes after a semicolon, if anything would.
    std::string_view rest = *supervisor.why_process_mode();
    const std::string why(take_until(rest, ';'));
    return "no cgroup can be made (" + why + ")" + (rest.empty() ? "" : ";") + std::string(rest);
  }
  if (code == 0) return std::nullopt;
  if (code == EBUSY) return "another seccomp filter listens to this process already";
  return "the seccomp filter that reports execs cannot be installed: " +
         std::make_error_code(static_cast<std::errc>(code)).message();
}

// Says whether the command gets the jobserver, and why.
std::string hand_over(JobserverOffer offer, JobserverWish wish, govern::GovernConfig& config) {
  const std::string none = "no jobserver is offered: ";
  if (!offer.pipe) return none + offer.why;
  if (config.why_unheard && wish == JobserverWish::automatic) {
    return none + "tokens of killed programs could not be replaced";
  }
  const policy::GovernorConfig& governor = config.scheduler.governor;
  const std::size_t slots = govern::slots_of_share(governor.cores, governor.jobs_max);
  config.command.env.emplace_back("MAKEFLAGS", makeflags_for(*offer.pipe, slots));
  config.jobserver.emplace(std::move(*offer.pipe));
  return "a jobserver with " + counted(slots, "slot", "slots") + " is offered by " +
         config.jobserver->in_words() + ": " + offer.why;
}

// What each side of the fork needs that was made before it.
struct BeforeFork {
  int filter_code = 0;
  JobserverOffer jobserver;
};

Result<int> govern(const GovernOptions& options, BeforeFork before, guardian::Link link,
                   const std::vector<std::string>& command_line) {
  auto report = open_report(options);
  if (!report) return pass(std::move(report));
  supervisor::SupervisorConfig machine;
  machine.run_id = supervisor::new_run_id(supervisor::wall_now());
  machine.cgroup_path = options.cgroup_path;
  machine.weight.run = options.governor.weight;
  machine.session = guardian::Session::shared;
  auto supervisor = supervisor::Supervisor::create(std::move(link), machine);
  if (!supervisor) return pass(std::move(supervisor));
  if (auto fits = announce(**supervisor, {}, options.governor.weight, Verbosity::quiet); !fits) {
    return pass(std::move(fits));
  }
  auto governor = supervisor::pool_governor(options.governor, **supervisor);
  if (!governor) return pass(std::move(governor));
  if (options.verbosity == Verbosity::verbose) {
    const std::string terms = supervisor::terms_text(
        supervisor::pool_terms(options.governor, *governor, supervisor::pool_facts(**supervisor)));
    std::fputs(("plimsoll: limits of all steps together:\n" + terms).c_str(), stderr);
  }
  govern::GovernConfig config = govern_config(options, machine.run_id, *governor);
  config.why_unheard = why_unheard(options, before.filter_code, **supervisor);
  const std::string offered = hand_over(std::move(before.jobserver), options.jobserver, config);
  if (config.why_unheard && options.verbosity != Verbosity::quiet) {
    complain("the command is measured as a whole, and nothing that it starts is held or paused: " +
             *config.why_unheard);
  }
  if (options.verbosity == Verbosity::verbose && !config.why_unheard && ::geteuid() != 0) {
    complain("set-user-ID programs such as sudo run without their privilege below this command");
  }
  if (options.verbosity == Verbosity::verbose) complain(offered);
  Session session(**supervisor, options, std::move(*report), std::move(config), command_line);
  return session.run();
}

// The run in which this one is governs what the command starts: two would take each step from each
// other.
int run_governed_already(const GovernOptions& options, const char* outer) {
  if (options.verbosity != Verbosity::quiet) {
    complain("govern: the run " + report::printable(outer) +
             " governs this command already, with limits of its own");
  }
  std::vector<char*> argv;
  for (const std::string& word : options.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  const int why = errno;
  complain("govern: could not execute \"" + report::printable(options.command.front()) +
           "\": " + std::make_error_code(static_cast<std::errc>(why)).message());
  return why == ENOENT ? kNotFound : kCannotExecute;
}

}  // namespace

int govern_command(int argc, char** argv) {
  std::vector<std::string> command_line = {"plimsoll"};
  command_line.insert(command_line.end(), argv, argv + argc);
  GovernOptions options;
  if (const auto status = parse_govern_options(options, argc, argv)) return *status;
  const auto failed = [](const Error& error) {
    complain("govern: " + error.message());
    return kPlimsollFailed;
  };
  if (auto done = become_nice(options.nice); !done) return failed(done.error());
  const int filter_code = options.no_hold ? 0 : guardian::try_exec_filter();
  const char* outer = std::getenv("PLIMSOLL_GOVERN");
  if (filter_code == EBUSY && outer != nullptr) return run_governed_already(options, outer);
  auto jobserver = offer_jobserver(options.jobserver, options.command);
  if (!jobserver) return failed(jobserver.error());
  auto link = guardian::become_guardian();
  if (!link) return failed(link.error());
  auto status = govern(options, {.filter_code = filter_code, .jobserver = std::move(*jobserver)},
                       std::move(*link), command_line);
  return status ? *status : failed(status.error());
}

}  // namespace plimsoll::cli
