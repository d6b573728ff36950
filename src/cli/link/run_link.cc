#include "cli/link/run_link.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/link/daemon_link.h"
#include "store/runs/run_dir.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::cli {
namespace {

std::string listed(const std::vector<std::string>& runs) {
  std::string text;
  for (const std::string& run : runs) text += (text.empty() ? "" : ", ") + run;
  return text;
}

// The run that is meant, of those that live.
Result<std::string> choose_run(const std::string& wanted, const std::vector<std::string>& runs) {
  const auto back = report::back_from_last(wanted);
  const std::string quoted = "run \"" + wanted + "\"";
  if (runs.empty()) {
    const std::string why =
        wanted.empty() || back ? "no run goes on" : quoted + " is not running, and no other is";
    return fail(why + "; `plimsoll runs` lists recorded runs");
  }
  if (back) {
    // Ids begin with the time of their start; the daemon has a name.
    std::vector<std::string> ids;
    std::ranges::copy_if(runs, std::back_inserter(ids),
                         [](const std::string& run) { return is_digit(run.front()); });
    std::ranges::sort(ids, std::greater());
    if (*back < ids.size()) return ids[*back];
  }
  std::vector<std::string> matches;
  for (const std::string& run : runs) {
    if (run == wanted) return run;
    if (run.starts_with(wanted)) matches.push_back(run);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) return fail(quoted + " is not running; these are: " + listed(runs));
  return fail((wanted.empty() ? std::string("several runs go on; name one with --run: ")
                              : quoted + " is one of several: ") +
              listed(matches));
}

UniqueFd without_waiting(UniqueFd fd) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

RunLink daemon_link(DaemonLink link) {
  return {kDaemon, without_waiting(std::move(link).release())};
}

struct Directory {
  UniqueFd fd;  // none: there is no such directory
  std::vector<std::string> runs;
};

Result<Directory> look_into(const std::string& path) {
  auto opened = supervisor::open_runtime_dir(path);
  if (!opened && opened.error().gone()) return Directory{};
  if (!opened) return pass(std::move(opened));
  auto runs = supervisor::live_runs(opened->get());
  if (!runs) return pass(std::move(runs));
  return Directory{std::move(*opened), std::move(*runs)};
}

}  // namespace

Result<RunLink> connect_to(const std::string& wanted) {
  if (wanted == kDaemon) {
    auto link = DaemonLink::connect();
    if (!link) return pass(std::move(link));
    return daemon_link(std::move(*link));
  }
  std::string directory = supervisor::runtime_dir();
  std::string run = wanted;
  if (const std::size_t slash = wanted.rfind('/'); slash != std::string::npos) {
    constexpr std::string_view kSuffix = ".sock";
    directory = wanted.substr(0, slash + 1);
    run = wanted.substr(slash + 1);
    if (run.ends_with(kSuffix)) run.resize(run.size() - kSuffix.size());
  }
  auto seen = look_into(directory);
  if (!seen) return pass(std::move(seen));
  if (seen->runs.empty() && wanted.empty()) {
    auto daemon = DaemonLink::find();
    if (!daemon) return pass(std::move(daemon));
    if (*daemon) return daemon_link(std::move(**daemon));
  }
  auto chosen = choose_run(run, seen->runs);
  if (!chosen) return pass(std::move(chosen));
  auto fd = supervisor::connect_to_run(seen->fd.get(), *chosen);
  if (!fd) return pass(std::move(fd));
  return RunLink{std::move(*chosen), std::move(*fd)};
}

Result<std::vector<RunLink>> connect_to_all() {
  auto seen = look_into(supervisor::runtime_dir());
  if (!seen) return pass(std::move(seen));
  std::vector<RunLink> links;
  for (std::string& run : seen->runs) {
    auto fd = supervisor::connect_to_run(seen->fd.get(), run);
    if (fd) links.push_back({std::move(run), std::move(*fd)});
    if (!fd && !fd.error().gone()) return pass(std::move(fd));
  }
  auto daemon = DaemonLink::find();
  // One that this user may not talk to is no reason to show nothing of his runs.
  if (!daemon && links.empty()) return pass(std::move(daemon));
  if (daemon && *daemon) links.push_back(daemon_link(std::move(**daemon)));
  return links;
}

}  // namespace plimsoll::cli
