// plimsoll exec: one command of a build tool's or a script's, started when it fits.
#include "cli/exec/exec.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/exec/command_kinds.h"
#include "cli/exec/launcher.h"
#include "cli/link/light_link.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kClassMax = 256;

constexpr const char* kExecFooter =
    R"(The command starts when the governor expects that it fits in memory beside all
that it governs. The governor is that of the daemon (plimsoll serve), or of the run
in a job of `plimsoll batch` and below `plimsoll govern` or `plimsoll session`.
The command has this program's terminal, descriptors, environment and
directory; signals reach it, and its exit status is that of this program. Where
nobody governs, it is executed at once. A compiler or a linker that is killed to
free memory is run again, unseen.

Examples:
  cmake -B build -D CMAKE_CXX_COMPILER_LAUNCHER='plimsoll;exec;--' .
  CCACHE_PREFIX=plimsoll-exec make -j32
  make -j32 CC='plimsoll exec -- gcc'
  RUSTC_WRAPPER=plimsoll-exec cargo build
  plimsoll exec --class link --memory-hint 6G --hold-max 10m -- ./link.sh

Exit status: that of the command, which may also have ended by a signal; 75 if
it has waited for --hold-max, 137 if the command was killed to free memory, 143 if a user
had it killed; 128+n if signal n came while it waited, 125 if Plimsoll itself
failed, 126 and 127 as in a shell.
)";

Result<std::string> parse_class(std::string_view text) {
  if (text.empty() || text.size() > kClassMax) {
    return fail("found a name of " + std::to_string(text.size()) + " bytes, expected 1 to " +
                std::to_string(kClassMax));
  }
  return std::string(text);
}

void add_options(CLI::App& app, LauncherConfig& config) {
  add_value(
      app, "--class", parse_class, [&](std::string name) { config.job_class = std::move(name); },
      "Class of the command; commands of one class are expected to behave alike")
      ->type_name("NAME");
  add_parsed(
      app, "--memory-hint", config.memory_hint, parse_bytes,
      "Memory that the command is expected to need; it counts until some of its class have ended")
      ->type_name("SIZE");
  add_parsed(app, "--hold-max", config.hold_max, parse_duration_above_zero,
             "Longest time to wait (10s, 5m); then the command is not started, and the exit status "
             "is 75")
      ->type_name("DURATION");
  app.add_flag("-v,--verbose", config.verbose, "Say on standard error why the command waits");
}

std::optional<int> parse(LauncherConfig& config, int argc, char** argv) {
  CLI::App app("Starts one command when it fits beside all others of this machine.", "exec");
  app.footer(kExecFooter);
  app.prefix_command();
  add_options(app, config);
  SplitArguments split = split_at_dashes(argc, argv);
  const args::Wording wording{.called = {}, .further_usage = {}, .followed_by = split.next()};
  if (const auto status = parse_or_exit_status(app, std::move(split.options), nullptr, wording)) {
    return status;
  }
  config.command = app.remaining();
  if (!config.command.empty() && config.command.front().starts_with('-')) {
    complain("exec: there is no option \"" + config.command.front() +
             "\"; `plimsoll exec --help` lists them");
    return kPlimsollFailed;
  }
  if (split.command) {
    // After the command's first word, `--` is its own.
    if (!config.command.empty()) config.command.emplace_back("--");
    config.command.insert(config.command.end(), split.command->begin(), split.command->end());
  }
  if (!config.command.empty()) return std::nullopt;
  complain("exec: no command was given; see `plimsoll exec --help`");
  return kPlimsollFailed;
}

// Below it, what this program launches is a step whoever asks: what a step starts through a further
// launcher is one, too.
bool is_below_govern() { return std::getenv("PLIMSOLL_GOVERN") != nullptr; }

// Whoever governs the command; nothing: nobody, or this process is part of what is governed
// already. To wait would keep what it is part of from its end, and what it uses counts there; but a
// run knows what its jobs wait for.
std::optional<LightLink> find_governor() {
  if (auto run = LightLink::of_run()) return run;
  if (is_below_govern() || std::getenv("PLIMSOLL_JOB") != nullptr) return std::nullopt;
  return LightLink::of_daemon();
}

}  // namespace

int exec_command(int argc, char** argv) {
  LauncherConfig config;
  if (const auto status = parse(config, argc, argv)) return *status;
  if (is_probe(config.command)) return execute(config.command);
  auto link = find_governor();
  if (!link) return execute(config.command);
  // What the command starts is part of it.
  if (!is_below_govern()) ::unsetenv(supervisor::kLightVariable);
  const std::string name = "exec-" + std::to_string(::getpid());
  ::setenv("PLIMSOLL_JOB", name.c_str(), 0);
  const auto status = Launcher(std::move(config), std::move(*link)).run();
  if (status) return *status;
  complain("exec: " + report::printable(status.error().message()));
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
