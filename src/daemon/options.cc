#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>

#include "args/parsing.h"
#include "daemon/settings.h"

namespace plimsoll::daemon {
namespace {

constexpr const char* kFooter =
    R"(Without --config, /etc/plimsoll.toml is read if it exists. Options override the
environment, and the environment overrides the file. docs/daemon.md describes
each setting.

Examples:
)";

constexpr std::array<const char*, 3> kExamples = {
    "", " --config plimsoll.toml --show-config",
    " --line 80% --socket /run/user/1000/plimsolld.sock"};

constexpr const char* kFooterEnd = R"(
SIGHUP makes the daemon read the file again. SIGTERM makes it admit no more jobs
and exit when the running jobs have ended.

Exit status: 0 after SIGTERM, 125 if Plimsoll itself failed.
)";

// `called`: as users do it.
std::string footer(const std::string& called) {
  std::string text = kFooter;
  for (const char* const options : kExamples) text += "  " + called + options + "\n";
  return text + kFooterEnd;
}

std::string named(const Setting& setting) {
  std::string name(setting.option);
  return setting.option == "--jobs" ? "-j," + name : name;
}

void add_setting(CLI::App& app, ServeOptions& options, const Setting& setting) {
  const auto check = [&setting](const std::string& text) {
    Config scratch;
    auto taken = setting.take(scratch, resolved(setting, text));
    return taken ? std::string() : taken.error().message();
  };
  const auto store = [&options, &setting](const std::string& text) {
    options.values.push_back({.key = setting.key, .text = text});
  };
  std::string help(setting.help);
  if (setting.by_default) help += " (default " + setting.by_default().value_or("none") + ")";
  app.add_option_function<std::string>(named(setting), store, help)
      ->check(check)
      ->type_name(std::string(setting.value));
}

}  // namespace

std::optional<int> parse_serve_options(ServeOptions& options, int argc, char** argv) {
  CLI::App app("Runs the daemon: it governs the jobs of other programs and of `plimsoll submit`.",
               "serve");
  // "plimsoll serve" where that has executed this program.
  const std::string name = argv[0];
  const std::string called = name.substr(name.rfind('/') + 1);
  app.footer(footer(called));
  app.add_option("--config", options.config_file, "TOML file to read")->type_name("FILE");
  app.set_version_flag("-V,--version", "plimsolld " PLIMSOLL_VERSION, "Print the version");
  app.add_flag("--show-config", options.show_config,
               "Print every value in force, where it comes from, and what follows from it here");
  for (const Setting& setting : settings()) {
    if (!setting.option.empty()) add_setting(app, options, setting);
  }
  return args::parse_or_exit_status(app, std::vector<std::string>(argv + 1, argv + argc), nullptr,
                                    {.called = called, .further_usage = {}});
}

Result<LoadedConfig> load_config(const ServeOptions& options) {
  return load_config(
      ConfigSources{.options = options.values,
                    .environment = [](std::string_view name) -> std::optional<std::string> {
                      const char* value = std::getenv(std::string(name).c_str());
                      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
                    },
                    .file = options.config_file});
}

}  // namespace plimsoll::daemon
