// plimsoll list: the daemon's jobs that have not ended.
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "base/quantity.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/commands.h"
#include "cli/link/daemon_link.h"
#include "cli/progress/terminal.h"
#include "report/plain.h"
#include "report/table.h"
#include "supervisor/control/job_protocol.h"

namespace plimsoll::cli {
namespace {

constexpr const char* kListFooter =
    R"(Lists the jobs that this user has given to the daemon and that have not ended; root sees the
jobs of all users.

Examples:
  plimsoll list
  plimsoll list --json | jq -r '.jobs[] | select(.state == "waiting") | .number'

Exit status: 0, or 125 if there is no daemon.
)";

std::string user_name(std::uint32_t uid) {
  const passwd* user = ::getpwuid(uid);
  return user == nullptr ? std::to_string(uid) : user->pw_name;
}

std::string jobs_text(const std::vector<supervisor::ListedJob>& jobs) {
  using report::Align;
  std::vector<report::Column> columns = {{.heading = "JOB", .cells = {}},
                                         {.heading = "USER", .align = Align::left, .cells = {}},
                                         {.heading = "STATE", .align = Align::left, .cells = {}},
                                         {.heading = "AGE", .cells = {}},
                                         {.heading = "NAME", .align = Align::left, .cells = {}},
                                         {.heading = "COMMAND", .align = Align::left, .cells = {}}};
  report::Column reasons{.heading = "WHY", .align = Align::left, .cells = {}};
  bool has_reasons = false;
  std::map<std::uint32_t, std::string> users;
  for (const supervisor::ListedJob& job : jobs) {
    const auto [user, is_new] = users.try_emplace(job.uid);
    if (is_new) user->second = user_name(job.uid);
    const std::string number = std::to_string(static_cast<std::uint64_t>(job.job));
    columns[0].cells.push_back(number);
    columns[1].cells.push_back(report::printable(user->second));
    columns[2].cells.push_back(report::printable(job.state));
    columns[3].cells.push_back(format_duration(job.age));
    columns[4].cells.push_back(job.name == number ? "" : report::printable(job.name));
    columns[5].cells.push_back(report::printable(job.command));
    reasons.cells.push_back(report::printable(job.reason));
    has_reasons = has_reasons || !job.reason.empty();
  }
  const std::size_t width = list_style().width;
  if (has_reasons) {
    for (std::string& command : columns.back().cells) {
      command = report::fitted_in_the_middle(command, width / 3);
    }
    columns.push_back(std::move(reasons));
  }
  return report::table_text(columns, width,
                            has_reasons ? report::LastColumn::wrapped : report::LastColumn::cut);
}

Result<void> list(bool as_json) {
  auto link = DaemonLink::connect();
  if (!link) return pass(std::move(link));
  if (auto said = link->say(supervisor::to_message(supervisor::ListJobs{})); !said) return said;
  auto line = link->hear_line();
  if (!line) return pass(std::move(line));
  auto jobs = supervisor::parse_listed(*line);
  if (!jobs) return pass(std::move(jobs));
  if (as_json) {
    std::puts(line->c_str());
  } else if (jobs->empty()) {
    complain("the daemon has no jobs of this user");
  } else {
    std::fputs(jobs_text(*jobs).c_str(), stdout);
  }
  return {};
}

}  // namespace

int list_command(int argc, char** argv) {
  CLI::App app("Lists the jobs that the daemon has.", "list");
  app.footer(kListFooter);
  bool as_json = false;
  app.add_flag("--json", as_json, "Print one JSON object (plimsoll.jobs/1)");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto status = parse_or_exit_status(app, std::move(arguments))) return *status;
  const auto listed = list(as_json);
  if (listed) return kSuccess;
  complain("list: " + listed.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
