// plimsoll govern and plimsoll session: a command whose own commands are governed.
#include "cli/govern/govern.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/process_mode.h"
#include "cli/govern/govern_options.h"
#include "cli/govern/governed_command.h"
#include "cli/govern/jobserver_offer.h"
#include "govern/govern_run.h"
#include "govern/tokens.h"
#include "guardian/exec_filter.h"
#include "report/plain.h"
#include "supervisor/light/light_protocol.h"
#include "supervisor/run/disk_options.h"
#include "supervisor/run/pool_terms.h"
#include "supervisor/run/run_id.h"
#include "supervisor/sharing/runtime_dir.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

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
  // A step that is killed fails its driver: nobody runs it again, but for launchers.
  config.scheduler.governor.may_lose = false;
  std::error_code unknown;  // then its steps are commands of no place
  config.scheduler.directory = std::filesystem::current_path(unknown).string();
  return config;
}

// Why execs can't be heard of here, if so.
std::optional<std::string> why_unheard(int code) {
  if (code == 0) return std::nullopt;
  if (code == EBUSY) return "another seccomp filter listens to this process already";
  return "the seccomp filter that reports execs cannot be installed: " +
         std::make_error_code(static_cast<std::errc>(code)).message();
}

void tell_how_steps_are_found(const govern::GovernConfig& config) {
  if (config.why_whole) {
    complain("the command is measured as a whole, and nothing that it starts is held or paused: " +
             *config.why_whole);
  } else if (config.why_unheard) {
    complain(govern::watching_text(*config.why_unheard));
  }
}

// Says whether the command gets the jobserver, and why.
std::string hand_over(JobserverOffer offer, JobserverWish wish, govern::GovernConfig& config) {
  const std::string none = "no jobserver is offered: ";
  if (!offer.pipe) return none + offer.why;
  if ((config.why_whole || config.why_unheard) && wish == JobserverWish::automatic) {
    return none + "tokens of killed programs could not be replaced";
  }
  const policy::GovernorConfig& governor = config.scheduler.governor;
  const std::size_t slots = govern::slots_of_share(governor.cores, governor.jobs_max);
  config.command.env.emplace_back("MAKEFLAGS", makeflags_for(*offer.pipe, slots));
  config.jobserver.emplace(std::move(*offer.pipe));
  return "a jobserver with " + counted(slots, "slot", "slots") + " is offered by " +
         config.jobserver->in_words() + ": " + offer.why;
}

// Programs that are told nothing else take the number of processors for theirs, which all sessions
// of a machine have.
void set_up_session(const SessionTerms& session, govern::GovernConfig& config) {
  config.drivers_first = true;
  auto& env = config.command.env;
  const auto hold_max = std::chrono::ceil<std::chrono::milliseconds>(session.hold_max);
  env.emplace_back("PLIMSOLL_HOLD_MAX", std::to_string(hold_max.count()) + "ms");
  constexpr const char* kWorkers = "PYTEST_XDIST_AUTO_NUM_WORKERS";
  if (std::getenv(kWorkers) != nullptr) return;
  const policy::GovernorConfig& governor = config.scheduler.governor;
  const auto slots = govern::slots_of_share(governor.cores, governor.jobs_max);
  env.emplace_back(kWorkers, std::to_string(slots));
}

// What each side of the fork needs that was made before it.
struct BeforeFork {
  int filter_code = 0;
  JobserverOffer jobserver;
};

Result<int> govern(const GovernOptions& options, BeforeFork before, guardian::Link link,
                   const std::vector<std::string>& command_line) {
  auto report = open_report_file(options.report, report::Unfinished::keep, options.durability);
  if (!report) return pass(std::move(report));
  supervisor::SupervisorConfig machine;
  machine.run_id = supervisor::new_run_id(supervisor::wall_now());
  machine.cgroup_path = options.cgroup_path;
  machine.weight.run = options.governor.weight;
  machine.session = guardian::Session::shared;
  auto supervisor = supervisor::Supervisor::create(std::move(link), machine);
  if (!supervisor) return pass(std::move(supervisor));
  if (auto fits = announce(**supervisor, {}, options.governor.weight, options.verbosity,
                           options.no_hold ? Governed::jobs : Governed::steps);
      !fits) {
    return pass(std::move(fits));
  }
  auto governor = supervisor::pool_governor(options.governor, **supervisor);
  if (!governor) return pass(std::move(governor));
  auto disks = supervisor::disk_floors(options.governor);
  if (!disks) return pass(std::move(disks));
  governor->disks = std::move(*disks);
  if (options.verbosity == Verbosity::verbose) {
    const std::string terms = supervisor::terms_text(
        supervisor::pool_terms(options.governor, *governor, supervisor::pool_facts(**supervisor)));
    std::fputs(("plimsoll: limits of all steps together:\n" + terms).c_str(), stderr);
  }
  govern::GovernConfig config = govern_config(options, machine.run_id, *governor);
  if (options.report == "-") config.standard_output = STDERR_FILENO;
  if (options.no_hold) config.why_whole = "as --no-hold says";
  config.why_unheard = why_unheard(before.filter_code);
  if (!config.why_whole) {
    config.light_socket =
        supervisor::runtime_dir() + "/" + supervisor::light_socket_name(machine.run_id);
  }
  if (options.session) set_up_session(*options.session, config);
  const std::string offered = hand_over(std::move(before.jobserver), options.jobserver, config);
  if (options.verbosity != Verbosity::quiet) tell_how_steps_are_found(config);
  const bool has_filter = !config.why_whole && !config.why_unheard;
  if (options.verbosity == Verbosity::verbose && has_filter && ::geteuid() != 0) {
    complain("set-user-ID programs such as sudo run without their privilege below this command");
  }
  if (options.verbosity == Verbosity::verbose) complain(offered);
  GovernedCommand command(**supervisor, options, std::move(*report), std::move(config),
                          command_line);
  return command.run();
}

// The run that this process is a step or a driver of; null: none, or it only measures.
const char* governing_run() {
  const char* light = std::getenv(supervisor::kLightVariable);
  return light == nullptr || *light == '\0' ? nullptr : std::getenv("PLIMSOLL_GOVERN");
}

// The run in which this one is governs what the command starts: two would take each step from each
// other. Where that run listens, no other can; where it could not, neither can this one.
int run_governed_already(const GovernOptions& options, const char* outer) {
  if (options.verbosity != Verbosity::quiet) {
    complain(std::string(options.name()) + ": the run " + report::printable(outer) +
             " governs this command already; the options of this one are ignored");
  }
  std::vector<char*> argv;
  for (const std::string& word : options.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  const int why = errno;
  complain(std::string(options.name()) + ": could not execute \"" +
           report::printable(options.command.front()) +
           "\": " + std::make_error_code(static_cast<std::errc>(why)).message());
  return why == ENOENT ? kNotFound : kCannotExecute;
}

int run(GovernOptions options, int argc, char** argv) {
  std::vector<std::string> command_line = {"plimsoll"};
  command_line.insert(command_line.end(), argv, argv + argc);
  if (const auto status = parse_govern_options(options, argc, argv)) return *status;
  const auto failed = [&options](const Error& error) {
    complain(std::string(options.name()) + ": " + error.message());
    return kPlimsollFailed;
  };
  if (auto done = become_nice(options.nice); !done) return failed(done.error());
  const int filter_code = options.no_hold ? 0 : guardian::try_exec_filter();
  const char* outer = filter_code == 0 ? nullptr : governing_run();
  if (outer != nullptr) return run_governed_already(options, outer);
  auto jobserver = offer_jobserver(options.jobserver, options.command);
  if (!jobserver) return failed(jobserver.error());
  auto link = guardian::become_guardian();
  if (!link) return failed(link.error());
  auto status = govern(options, {.filter_code = filter_code, .jobserver = std::move(*jobserver)},
                       std::move(*link), command_line);
  return status ? *status : failed(status.error());
}

}  // namespace

int govern_command(int argc, char** argv) { return run({}, argc, argv); }

int session_command(int argc, char** argv) {
  GovernOptions options;
  options.session.emplace();
  options.reruns = 0;  // whoever works in it sees what failed
  return run(std::move(options), argc, argv);
}

}  // namespace plimsoll::cli
