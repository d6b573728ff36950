#include "daemon/runner/runner_plan.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/may_wait.h"
#include "base/text.h"
#include "daemon/runner/quoted.h"

namespace plimsoll::daemon {
namespace {

constexpr std::string_view kStartPrefix = "Failed to start process: ";
// Inside the input root: finds the program by the PATH of the action there.
constexpr const char* kEnv = "/usr/bin/env";

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Status check_paths(const ActionRequest& order) {
  const std::pair<const char*, const std::string&> paths[] = {
      {"input root directory", order.input_root},
      {"working directory", order.working_directory},
      {"temporary directory", order.temporary_directory}};
  for (const auto& [name, path] : paths) {
    if (!has_nul(path)) continue;
    return {Code::invalid_argument,
            "Failed to resolve " + std::string(name) + ": Path contains a null byte"};
  }
  return {};
}

std::string variable_of(const ActionRequest& order, std::string_view name) {
  for (const auto& [known, value] : order.environment) {
    if (known == name) return value;
  }
  return {};
}

Status find_executable(const ActionRequest& order, guardian::SpawnRequest& spawn) {
  const std::string program(order.arguments.front());
  if (program.find('/') != std::string::npos) {
    spawn.executable = program;
    return {};
  }
  const std::string search_path = variable_of(order, "PATH");
  spawn.executable = has_nul(program) || has_nul(search_path)
                         ? std::string()
                         : find_program(program, search_path, spawn.cwd);
  if (!spawn.executable.empty()) return {};
  return {Code::invalid_argument, "Cannot find executable " + go_quoted(program) +
                                      " in search paths " + go_quoted(search_path)};
}

void place(const ActionRequest& order, const RunnerSettings& settings,
           guardian::SpawnRequest& spawn) {
  const std::string root = join(settings.build_directory, order.input_root);
  if (!settings.chroot_into_input_root) {
    spawn.cwd = join(root, order.working_directory);
    return;
  }
  spawn.root = root;
  spawn.cwd = join("/", order.working_directory);
}

std::vector<std::string> environment_of(const ActionRequest& order,
                                        const RunnerSettings& settings) {
  std::vector<std::string> environment;
  bool has_tmpdir = false;
  for (const auto& [name, value] : order.environment) {
    has_tmpdir = has_tmpdir || name == "TMPDIR";
    environment.push_back(name + "=" + value);
  }
  if (settings.set_tmpdir && !has_tmpdir && !order.temporary_directory.empty()) {
    environment.push_back("TMPDIR=" + join(settings.build_directory, order.temporary_directory));
  }
  return environment;
}

// Neither would arrive as it was meant.
bool has_nul_word(const guardian::SpawnRequest& spawn) {
  return std::any_of(spawn.argv.begin(), spawn.argv.end(), has_nul) ||
         std::any_of(spawn.env.begin(), spawn.env.end(), has_nul);
}

// Steps that fail by what the action asks for, its user included; the others are the runner's own,
// and may succeed when tried again.
bool is_of_the_command(guardian::SpawnStep step) {
  switch (step) {
    case guardian::SpawnStep::root:
    case guardian::SpawnStep::identity:
    case guardian::SpawnStep::working_directory:
    case guardian::SpawnStep::exec: return true;
    case guardian::SpawnStep::clone:
    case guardian::SpawnStep::enter_group:
    case guardian::SpawnStep::session:
    case guardian::SpawnStep::rlimit:
    case guardian::SpawnStep::exec_filter:
    case guardian::SpawnStep::stdio: return false;
  }
  return false;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& search_path,
                         const std::string& cwd) {
  if (name.empty() || search_path.empty()) return {};
  std::string_view rest = search_path;
  bool more = true;
  while (more) {
    more = rest.find(':') != std::string_view::npos;
    const std::string_view entry = take_until(rest, ':');
    // The working directory itself leaves nothing before the name.
    const std::string file = entry.empty() || entry == "." ? name : std::string(entry) + "/" + name;
    struct stat about{};
    if (::stat(join(cwd, file).c_str(), &about) != 0 || S_ISDIR(about.st_mode)) continue;
    if ((about.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0) return file;
  }
  return {};
}

Planned plan_run(const ActionRequest& order, const RunnerSettings& settings) {
  may_wait("plan_run");
  Planned planned;
  RunPlan& plan = planned.plan;
  guardian::SpawnRequest& spawn = plan.spawn;
  const auto refused = [&planned](Status status) {
    planned.status = std::move(status);
    return std::move(planned);
  };
  if (order.arguments.empty())
    return refused({Code::invalid_argument, "Insufficient number of command arguments"});
  if (auto paths = check_paths(order); !paths.ok()) return refused(std::move(paths));
  place(order, settings, spawn);
  spawn.argv = order.arguments;
  if (settings.chroot_into_input_root) {
    spawn.executable = kEnv;
    WordsBuilder words;
    words.add(Words{kEnv, "--"});
    words.add(order.arguments);
    spawn.argv = words.take();
  } else if (auto found = find_executable(order, spawn); !found.ok()) {
    return refused(std::move(found));
  }
  spawn.env = environment_of(order, settings);
  spawn.session = guardian::Session::own;
  spawn.descriptors = guardian::Descriptors::close;
  spawn.signals = guardian::Signals::set_default;
  spawn.identity = settings.run_as;
  spawn.umask = settings.umask;
  spawn.rlimits = settings.rlimits;

  const BuildDirectory build(settings.build_directory);
  auto out = build.make_log("stdout", order.stdout_path, settings.umask);
  if (!out.status.ok()) return refused(std::move(out.status));
  auto err = build.make_log("stderr", order.stderr_path, settings.umask);
  if (!err.status.ok()) return refused(std::move(err.status));
  plan.out = std::move(out.file);
  plan.err = std::move(err.file);
  if (has_nul_word(spawn)) {
    return refused({Code::internal, std::string(kStartPrefix) + errno_text(EINVAL)});
  }
  return planned;
}

Code code_of_spawn_errno(int number) {
  switch (number) {
    case ENOENT:
    case EACCES:
    case EPERM:
    case EISDIR:
    case ENOEXEC: return Code::invalid_argument;
    default: return Code::internal;
  }
}

Status status_of(const guardian::StartFailed& failure) {
  const int number = static_cast<int>(failure.code);
  const Code code = is_of_the_command(failure.step) ? code_of_spawn_errno(number) : Code::internal;
  return {code, std::string(kStartPrefix) + errno_text(number)};
}

}  // namespace plimsoll::daemon
