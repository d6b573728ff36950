// plimsoll ctl: shows and steers a run, or the daemon.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/commands.h"
#include "cli/link/run_link.h"
#include "cli/progress/frame.h"
#include "cli/progress/terminal.h"
#include "report/plain.h"
#include "report/table.h"
#include "supervisor/control/control_protocol.h"

namespace plimsoll::cli {
namespace {

constexpr int kRefused = 1;
// A run answers at once; one that is being stopped by a debugger, say, does not.
constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};

struct CtlOptions {
  std::string run;  // empty: the only one
  bool json = false;
  supervisor::ControlRequest request;
  std::string done;  // what is told when it is
};

constexpr const char* kCtlFooter =
    R"(JOB is a job's name or its number. RUN is the id of a running batch, govern or
session, the beginning of one, `last` (the one that started last), `last-1` (the
one before it), or the path of a socket. Without --run the only one that runs is
meant, or the daemon (plimsoll serve) if there is none; `--run daemon` is always
the daemon.

Examples:
  plimsoll ctl status
  plimsoll ctl pause link-chrome
  plimsoll ctl line 12G
  plimsoll ctl --run 20261121-0359 jobs 4
  plimsoll ctl --run daemon status
  plimsoll ctl status --json | jq .status.used_bytes

Exit status: 0 if the request was carried out, 1 if the run refused it, 125 if
the command line is wrong or there is no such run.
)";

// What one subcommand is and does.
struct Subcommand {
  const char* name;
  const char* help;
  const char* word;          // that it takes; null: none
  const char* word_help;     // what that is
  const char* example_word;  // after "plimsoll ctl NAME"
};

constexpr const char* kJobHelp = "Name or number of the job";

constexpr Subcommand kSubcommands[] = {
    {"status", "Show which jobs run, which wait, and why", nullptr, nullptr, ""},
    {"pause", "Pause a running job", "JOB", kJobHelp, " link-chrome"},
    {"resume", "Resume a paused job", "JOB", kJobHelp, " link-chrome"},
    {"kill", "Kill a running job; its outcome is then \"cancelled\"", "JOB", kJobHelp, " 17"},
    {"line", "Set the memory that all jobs together may use: 12G, 80%", "SIZE",
     "The line: a size, or a share of the memory", " 12G"},
    {"jobs", "Set how many jobs may run at once", "N", "Number of jobs, 1 or more", " 4"},
};

void add_subcommand(CLI::App& app, const Subcommand& command, std::string& value) {
  CLI::App* added = app.add_subcommand(command.name, command.help);
  if (command.word != nullptr) {
    added->add_option(command.word, value, command.word_help)->required();
  }
  added->footer(
      std::string("Example:\n  plimsoll ctl ") + command.name + command.example_word +
      "\n\n`plimsoll ctl --help` describes --run, which chooses the batch, --json and the "
      "exit status.\n");
}

Result<supervisor::ControlRequest> request_of(const std::string& command, const std::string& word) {
  if (command == "status") return supervisor::ControlRequest(supervisor::AskStatus{});
  if (command == "pause") return supervisor::ControlRequest(supervisor::PauseJob{word});
  if (command == "resume") return supervisor::ControlRequest(supervisor::ResumeJob{word});
  if (command == "kill") return supervisor::ControlRequest(supervisor::KillJob{word});
  if (command == "line") return supervisor::ControlRequest(supervisor::SetLine{word});
  const auto jobs = to_u64(word);
  if (!jobs || *jobs < 1 || *jobs > supervisor::kJobsAtOnceMax) {
    return fail("jobs: found \"" + word + "\", expected a number from 1 to " +
                std::to_string(supervisor::kJobsAtOnceMax));
  }
  return supervisor::ControlRequest(supervisor::SetJobsMax{static_cast<unsigned>(*jobs)});
}

std::string done_text(const std::string& command, const std::string& word) {
  if (command == "pause") return "job " + word + " is paused";
  if (command == "resume") return "job " + word + " goes on, at once or when there is room for it";
  if (command == "kill") return "job " + word + " is killed";
  if (command == "jobs")
    return "at most " + word + (word == "1" ? " job runs" : " jobs run") + " at once now";
  return {};
}

std::optional<int> parse(CtlOptions& options, int argc, char** argv) {
  CLI::App app("Shows and controls a running batch, govern or session, or the daemon.", "ctl");
  app.footer(kCtlFooter);
  app.fallthrough();
  app.require_subcommand(1);
  app.add_option("--run", options.run,
                 "Run to control: an id, the beginning of one, last or last-1")
      ->type_name("RUN");
  app.add_flag("--json", options.json, "Print the answer as JSON");
  std::string word;
  for (const Subcommand& command : kSubcommands) add_subcommand(app, command, word);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto status = parse_or_exit_status(app, std::move(arguments))) return status;
  const std::string command = app.get_subcommands().front()->get_name();
  auto request = request_of(command, word);
  if (!request) {
    complain("ctl: " + request.error().message());
    return kPlimsollFailed;
  }
  options.request = std::move(*request);
  options.done = done_text(command, word);
  return std::nullopt;
}

// ctl waits for its answer.
Result<UniqueFd> connect(const std::string& wanted) {
  auto link = connect_to(wanted);
  if (!link) return pass(std::move(link));
  ::fcntl(link->fd.get(), F_SETFL, 0);
  ::setsockopt(link->fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(link->fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  return std::move(link->fd);
}

// The line of the answer, without its newline.
Result<std::string> ask(int fd, const supervisor::ControlRequest& request) {
  std::string_view rest;
  const std::string line = supervisor::to_line(request);
  for (rest = line; !rest.empty();) {
    const ssize_t sent = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0) return fail_errno("send the request to the run");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string answer;
  std::array<char, 65536> buffer{};
  while (answer.size() < supervisor::kAnswerBytesMax) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EAGAIN) return fail("the run did not answer in time");
    if (got < 0) return fail_errno("receive the answer of the run");
    if (got == 0) return fail("the run ended before it answered");
    answer.append(buffer.data(), static_cast<std::size_t>(got));
    if (const std::size_t end = answer.find('\n'); end != std::string::npos) {
      return answer.substr(0, end);
    }
  }
  return fail("the run's answer is longer than " + std::to_string(supervisor::kAnswerBytesMax) +
              " bytes");
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// What the governor had to do; nothing if nothing.
std::string so_far_text(const policy::Counts& counts) {
  std::vector<std::string> items;
  if (counts.used_peak > Bytes{}) items.push_back("used peak " + format_bytes(counts.used_peak));
  if (counts.pauses > 0) items.push_back("pauses " + std::to_string(counts.pauses));
  if (counts.evictions > 0) items.push_back("evictions " + std::to_string(counts.evictions));
  if (counts.lost_cpu > Duration{}) {
    items.push_back("CPU time lost " + format_duration(counts.lost_cpu));
  }
  return report::labelled_text("so far", items, style_of(STDOUT_FILENO).width);
}

// What other runs have of a daemon's line; nothing if there are none.
std::string leased_text(const supervisor::Others& others) {
  if (others.runs == 0) return {};
  const auto counted = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  std::array<char, 32> cores{};
  std::snprintf(cores.data(), cores.size(), "%.1f", others.cores_used);
  return report::labelled_text(
      "leased",
      {"to " + counted(others.runs, "run"), counted(others.jobs, "job"),
       "use " + format_bytes(others.used) + " of " + format_bytes(others.claimed),
       std::string(cores.data()) + " cores"},
      style_of(STDOUT_FILENO).width);
}

void print_status(const supervisor::RunStatus& status) {
  const report::TextStyle text = style_of(STDOUT_FILENO);
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  FrameStyle style{.width = text.width,
                   .colour = text.colour,
                   .glyphs = terminal_glyphs(),
                   .long_text = is_terminal ? LongText::cut : LongText::whole};
  constexpr std::size_t kSurroundings = 8;  // lines beside those of jobs
  style.height = status.running.size() + kSurroundings;
  print(report::printable(status.run) + "\n");
  for (const std::string& line : frame_lines(status, style)) print(line + "\n");
  print(so_far_text(status.counts));
  if (status.others) print(leased_text(*status.others));
}

Result<int> run(const CtlOptions& options) {
  auto connected = connect(options.run);
  if (!connected) return pass(std::move(connected));
  auto line = ask(connected->get(), options.request);
  if (!line) return pass(std::move(line));
  const auto answer = supervisor::parse_answer(*line);
  if (!answer) return fail("the run's answer: " + answer.error().message());
  if (options.json) {
    print(*line + "\n");
    return answer->error ? kRefused : kSuccess;
  }
  if (answer->error) {
    complain("ctl: " + report::printable(*answer->error));
    return kRefused;
  }
  if (answer->status) print_status(*answer->status);
  if (answer->line) complain("the line is now " + format_bytes(*answer->line));
  if (!options.done.empty()) complain(options.done);
  return kSuccess;
}

}  // namespace

int ctl_command(int argc, char** argv) {
  CtlOptions options;
  if (const auto status = parse(options, argc, argv)) return *status;
  auto status = run(options);
  if (status) return *status;
  complain("ctl: " + status.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
