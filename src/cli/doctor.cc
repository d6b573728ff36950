// plimsoll doctor: what this host offers, what is missing, what that costs, what would add it.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/commands.h"
#include "cli/progress/terminal.h"
#include "guardian/guardian.h"
#include "report/writer.h"
#include "supervisor/doctor/diagnosis.h"
#include "supervisor/doctor/doctor.h"
#include "supervisor/run/run_id.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

constexpr int kCanNotRun = 1;

struct DoctorOptions {
  std::optional<std::string> cgroup_path;
  bool json = false;
  bool build = false;
};

constexpr const char* kDoctorFooter = R"(Examples:
  plimsoll doctor
  plimsoll doctor --cgroup /batch
  plimsoll doctor --json | jq -r '.checks[] | select(.state != "ok") | .id'
  plimsoll doctor --build

Plimsoll tries out what the host offers, in cgroups of its own that it removes at the end.
docs/doctor.md explains each check. With --build it tries out nothing: it asks the
build tools on PATH for their versions (docs/jobserver.md).

Exit status: 0 if jobs can run here, 1 if they cannot, 125 if Plimsoll itself failed.
)";

std::optional<int> parse(DoctorOptions& options, int argc, char** argv) {
  CLI::App app("Shows what this host offers, what is missing, and how to add it.", "doctor");
  app.footer(kDoctorFooter);
  add_cgroup_option(app, options.cgroup_path);
  app.add_flag("--json", options.json,
               "Print JSON (plimsoll.doctor/1, plimsoll.doctor.build/1) instead of text");
  app.add_flag("--build", options.build,
               "Show instead which build tools on PATH obey a jobserver, and how each is governed");
  const auto status = parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
  if (status || !options.build || !options.cgroup_path) return status;
  // From the environment it is meant for whatever needs one.
  const char* of_environment = std::getenv("PLIMSOLL_CGROUP");
  if (of_environment != nullptr && *options.cgroup_path == of_environment) return status;
  complain("doctor: --cgroup has no meaning with --build, which looks at no cgroup");
  return kPlimsollFailed;
}

// The guardian removes the groups once this process has ended, however it does.
class EndOnSignals : public supervisor::SignalObserver {
 public:
  void on_signal(const guardian::Signalled& signal) override {
    const int number = signal.number;
    const bool ends =
        number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (ends) std::_Exit(kSignalBase + number);
  }
};

Result<void> print(const DoctorOptions& options, const report::DoctorReport& report) {
  auto out = report::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  if (options.json) return out.append(report::to_json(report, report::JsonForm::pretty));
  return out.append(report::doctor_text(report, style_of(STDOUT_FILENO)));
}

Result<int> doctor(const DoctorOptions& options, guardian::Link link) {
  supervisor::SupervisorConfig config;
  config.run_id = supervisor::new_run_id(supervisor::wall_now());
  config.cgroup_path = options.cgroup_path;
  config.controllers = supervisor::controllers_at_hand(options.cgroup_path);
  EndOnSignals ends;
  const auto supervisor = supervisor::Supervisor::create(std::move(link), config);

  supervisor::Patient patient{.run_id = config.run_id, .cgroup_path = options.cgroup_path};
  if (supervisor) {
    (*supervisor)->tell_signals(&ends);
    patient.supervisor = supervisor->get();
  } else {
    patient.why_no_machine = supervisor.error();
  }
  const report::DoctorReport report = supervisor::diagnose(patient);
  if (auto printed = print(options, report); !printed) return pass(std::move(printed));
  return report.why_not.empty() ? kSuccess : kCanNotRun;
}

}  // namespace

int doctor_command(int argc, char** argv) {
  DoctorOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  if (options.build) return doctor_build(options.json ? DoctorForm::json : DoctorForm::text);
  auto link = guardian::become_guardian();
  auto status = link ? doctor(options, std::move(*link)) : Result<int>(pass(std::move(link)));
  if (status) return *status;
  complain("doctor: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
