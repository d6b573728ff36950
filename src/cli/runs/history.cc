// plimsoll history: what is known of each class of jobs, and how to forget it.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/loop/loop.h"
#include "base/text.h"
#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "cli/command/options.h"
#include "cli/progress/terminal.h"
#include "cli/runs/commands.h"
#include "report/plain.h"
#include "report/writer.h"
#include "store/history/classes.h"
#include "store/history/state_dir.h"
#include "store/history/store.h"
#include "store/runs/lists.h"
#include "supervisor/identity.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::cli {
namespace {

struct HistoryOptions {
  std::string pattern;  // empty: not given
  std::string user;     // likewise
  bool json = false;
  bool all = false;
};

constexpr const char* kHistoryFooter =
    R"(PATTERN names one class, or several with * ? and [...] as in the shell.
Peaks are of memory that can't be dropped; ">=" means that an attempt was ended before it reached
its peak.

Examples:
  plimsoll history
  plimsoll history 'cc *' --json | jq '.classes[].peak_bytes.p90'
  plimsoll history forget 'cc *'
  plimsoll history forget --all

A daemon keeps the history of each user apart: the column UID names the user, "-" is the daemon's
own user.

The history is a database in $PLIMSOLL_STATE_DIR, else in /var/lib/plimsoll for root and in
$XDG_STATE_HOME/plimsoll (~/.local/state/plimsoll) for others.
)";

// So many classes are told of where nobody asked for certain ones; then comes how to see the rest.
constexpr std::size_t kClassesListed = 40;

constexpr const char* kForgetFooter =
    R"(PATTERN names one class, or several with * ? and [...] as in the shell.

Examples:
  plimsoll history forget 'cc *'
  plimsoll history forget --user alice --all
  plimsoll history forget --all
)";

std::optional<int> parse(HistoryOptions& options, int argc, char** argv) {
  CLI::App app(
      "Shows what each class of jobs has needed in earlier runs.\n`plimsoll history forget` "
      "removes classes.",
      "history");
  app.footer(kHistoryFooter);
  app.add_option("PATTERN", options.pattern, "Classes to show (default: all)");
  app.add_option("--user", options.user,
                 "Only classes that a daemon has of this user (name or uid)")
      ->type_name("USER");
  app.add_flag("--json", options.json, "Print JSON (plimsoll.history/1) instead of text");
  return parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc));
}

std::optional<int> parse_forget(HistoryOptions& options, int argc, char** argv) {
  CLI::App app("Removes classes of jobs from the history.", "history forget");
  app.footer(kForgetFooter);
  app.add_option("PATTERN", options.pattern, "Classes to remove");
  app.add_option("--user", options.user, "Only classes of this user (name or uid)")
      ->type_name("USER");
  app.add_flag("--all", options.all, "Remove all classes");
  if (const auto status =
          parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc))) {
    return status;
  }
  if (options.pattern.empty() == !options.all) {
    complain("history forget: give a PATTERN, or --all for everything");
    return kPlimsollFailed;
  }
  return std::nullopt;
}

// Nothing: there is none yet.
Result<std::optional<history::Store>> open_history() {
  auto dir = history::state_dir(history::state_environment());
  if (!dir) return pass(std::move(dir));
  auto opened = history::Store::open(history::history_path(*dir), supervisor::wall_now(),
                                     history::WhenMissing::leave);
  if (!opened && opened.error().gone()) return std::optional<history::Store>();
  if (!opened) return pass(std::move(opened));
  if (opened->notice) complain("history: " + *opened->notice);
  return std::optional(std::move(opened->store));
}

// The database's own user has no number in it.
Result<history::Whose> whose_of(const std::string& user) {
  if (user.empty()) return history::kOfAll;
  auto uid = supervisor::find_uid(user);
  if (!uid) return pass(std::move(uid));
  if (*uid == ::geteuid()) return history::kOfKeeper;
  return history::Whose{.kind = history::Whose::Kind::user, .uid = *uid};
}

Result<int> list(const HistoryOptions& options) {
  auto store = open_history();
  if (!store) return pass(std::move(store));
  const std::string pattern = options.pattern.empty() ? "*" : options.pattern;
  std::vector<history::ClassSummary> classes;
  const auto whose = whose_of(options.user);
  if (!whose) return tl::unexpected(whose.error());
  if (*store) {
    auto loaded = (*store)->load(Instant::max(), &loop::now, *whose);
    if (!loaded) return pass(std::move(loaded));
    if (const auto notice = (*store)->take_notice()) complain("history: " + *notice);
    classes = history::summarise(loaded->entries, pattern);
  }
  if (classes.empty() && !options.pattern.empty()) {
    return fail("no class is named \"" + report::printable(options.pattern) +
                "\"; `plimsoll history` lists all");
  }
  auto out = report::OutputFile::onto(UniqueFd(::dup(STDOUT_FILENO)), "standard output");
  auto printed = Result<void>();
  if (options.json) {
    printed = out.append(report::to_json(classes, report::JsonForm::pretty));
  } else if (classes.empty()) {
    printed = out.append("the history is empty\n");
  } else {
    const std::size_t listed = options.pattern.empty() ? kClassesListed : classes.size();
    std::string rest;
    if (classes.size() > listed) {
      rest = "and " + counted(classes.size() - listed, "more class", "more classes") +
             "; `plimsoll history '*'` lists all\n";
      classes.resize(listed);
    }
    printed = out.append(report::history_text(classes, list_style()) + rest);
  }
  if (!printed) return pass(std::move(printed));
  return kSuccess;
}

Result<int> forget(const HistoryOptions& options) {
  auto store = open_history();
  if (!store) return pass(std::move(store));
  const auto whose = whose_of(options.user);
  if (!whose) return tl::unexpected(whose.error());
  history::Store::Forgotten forgotten;
  if (*store) {
    (*store)->be_patient();
    auto done = (*store)->forget(options.all ? "*" : options.pattern, *whose);
    if (!done) return pass(std::move(done));
    forgotten = *done;
  }
  if (forgotten.classes == 0 && !options.all) {
    return fail("no class is named \"" + report::printable(options.pattern) +
                "\"; `plimsoll history` lists all");
  }
  std::printf("forgot %s of %s\n",
              counted(forgotten.attempt_summaries, "attempt", "attempts").c_str(),
              counted(forgotten.classes, "class", "classes").c_str());
  return kSuccess;
}

}  // namespace

int history_command(int argc, char** argv) {
  HistoryOptions options;
  const bool forgets = argc > 1 && std::string_view(argv[1]) == "forget";
  const auto status =
      forgets ? parse_forget(options, argc - 1, argv + 1) : parse(options, argc, argv);
  if (status) return *status;
  auto done = forgets ? forget(options) : list(options);
  if (done) return *done;
  complain("history: " + done.error().message());
  return kPlimsollFailed;
}

}  // namespace plimsoll::cli
