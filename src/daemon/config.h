#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "supervisor/run/pool_options.h"

// What the daemon was told: by its file, by its environment and by its command line.
namespace plimsoll::daemon {

// One value of a file, wherever it stands in tables: "governor.line".
struct FileValue {
  std::string key;
  std::size_t line = 0;
  // monostate: of a type that no setting has (a list, a date); `kind` names it.
  std::variant<std::monostate, std::string, std::int64_t, double, bool> value;
  std::string_view kind;
};

// The most that is read: no configuration has a hundredth of it.
inline constexpr std::size_t kConfigBytesMax = 1 << 20;

// All values of a TOML 1.0 document, in the order of its lines. An error begins with the line:
// "3: found ...". Empty tables have no values.
Result<std::vector<FileValue>> parse_toml(std::string_view text);

// A place to listen at over IP.
struct Address {
  std::string host;  // a name or a number, an IPv6 one without its brackets
  std::uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

struct ListenConfig {
  std::string socket;                  // absolute path
  std::optional<std::string> group{};  // whose members may connect too
  // With mutual TLS only: present together with all three files.
  std::optional<Address> tcp{};
  std::string tls_certificate{}, tls_key{}, tls_client_ca{};
};

// Where metrics are served: at one of both, or nowhere.
struct MetricsConfig {
  std::optional<Address> address{};
  std::optional<std::string> socket{};  // absolute path of a Unix socket
  mode_t socket_mode = 0600;
  std::vector<std::string> names{};  // by which they may be asked for, besides the address
  [[nodiscard]] bool is_off() const { return !address && !socket; }
};

// A guess: what no honest build comes near, and less than half of what a machine of some GiB has.
inline constexpr std::uint64_t kUserProcesses = 16'384;
inline constexpr std::uint64_t kJobProcesses = 8'192;

// Where the dashboard is served, if it is.
struct DashboardAddress {
  std::optional<Address> address{};
  std::vector<std::string> names{};  // by which it may be asked for, besides the address
};

struct Config {
  supervisor::PoolOptions governor;
  std::optional<std::string> cgroup{};  // as SupervisorConfig's
  // Most processes and threads of one user and of one job; not of root and the daemon's own user.
  std::uint64_t user_processes = kUserProcesses;
  std::uint64_t job_processes = kJobProcesses;
  ListenConfig listen;
  MetricsConfig metrics{};
  DashboardAddress dashboard{};
  std::optional<std::string> runner_config{};  // the file of bb_runner; absent: no runner
  std::optional<std::string> state_dir{};      // absent: as of any Plimsoll
};

// When a value that is another on reload comes into force.
enum class Effect : std::uint8_t { at_once, at_restart };

// A value that holds, and where it is from.
struct Effective {
  std::string_view key;  // "governor.line"
  Effect effect{};
  std::optional<std::string> text;  // as TOML writes it; absent: not set
  std::string origin;  // "default", "/etc/plimsoll.toml:3", "--line", "PLIMSOLL_SOCKET"
};

struct LoadedConfig {
  Config config;
  std::vector<Effective> values;  // all of them, section by section
};

// A value of the command line, whose option is known.
struct OptionValue {
  std::string_view key;
  std::string text;
};

// What is consulted, each before the one below it.
struct ConfigSources {
  std::vector<OptionValue> options;
  std::function<std::optional<std::string>(std::string_view)> environment;
  std::optional<std::string> file;  // absent: kDefaultFile, which may be missing
};

inline constexpr std::string_view kDefaultFile = "/etc/plimsoll.toml";

// The configuration that holds. Reads one file. An error names the file and line, or the option,
// what was found and what was expected; nothing of a configuration with a mistake holds.
Result<LoadedConfig> load_config(const ConfigSources& sources);

// The same of the text of a file that is called `name`. Pure.
Result<LoadedConfig> read_config(const ConfigSources& sources, std::string_view text,
                                 const std::string& name);

// Whether nobody has said it.
bool is_default(const LoadedConfig& loaded, std::string_view key);

// What holds now and would not if `next` did. Of two that were loaded alike.
struct Change {
  Effective before, after;
};
std::vector<Change> changes(const LoadedConfig& now, const LoadedConfig& next);

// All values as a file that says the same, each with its origin as a comment.
std::string show(const LoadedConfig& loaded);

}  // namespace plimsoll::daemon
