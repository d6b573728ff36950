#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "daemon/settings.h"

namespace plimsoll::daemon {
namespace {

constexpr int kHelpPrinted = 0;
constexpr int kMistake = 125;

constexpr const char* kFooter =
    R"(Without --config, /etc/plimsoll.toml is read if it is there. An option goes before the
environment, that before the file. docs/daemon.md describes each setting.

Examples:
  plimsoll serve
  plimsoll serve --config plimsoll.toml --show-config
  plimsoll serve --line 80% --socket /run/user/1000/plimsolld.sock

SIGHUP reads the file again, SIGTERM lets what runs come to its end. The exit status is 0 after
that, 125 if Plimsoll itself failed.
)";

std::string named(const Setting& setting) {
  std::string name(setting.option);
  return setting.option == "--jobs" ? "-j," + name : name;
}

}  // namespace

std::optional<int> parse_serve_options(ServeOptions& options, int argc, char** argv) {
  CLI::App app("Serves this machine's governor to other programs.", "serve");
  app.footer(kFooter);
  app.add_option("--config", options.config_file, "TOML file to read");
  app.add_flag("--show-config", options.show_config,
               "Print every value that holds and where it is from, and leave");
  for (const Setting& setting : settings()) {
    if (setting.option.empty()) continue;
    const auto check = [&setting](const std::string& text) {
      Config scratch;
      auto taken = setting.take(scratch, resolved(setting, text));
      return taken ? std::string() : taken.error().message();
    };
    const auto store = [&options, &setting](const std::string& text) {
      options.values.push_back({.key = setting.key, .text = text});
    };
    app.add_option_function<std::string>(named(setting), store, std::string(setting.help))
        ->check(check);
  }
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help("plimsoll").c_str(), stdout);
    return kHelpPrinted;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "plimsoll serve: %s\n", error.what());
    return kMistake;
  }
  return std::nullopt;
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
