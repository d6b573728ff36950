#include "govern/drivers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace plimsoll::govern {
namespace {

using std::string_view;

constexpr std::array kDriverNames = std::to_array<string_view>({
    "ant",
    "bazel",
    "bazelisk",
    "bb",
    "buck2",
    "bun",
    "cargo",
    "cmake",
    "codex",
    "claude",
    "ctest",
    "deno",
    "dpkg-buildpackage",
    "find",
    "gmake",
    "go",
    "gradle",
    "gradlew",
    "jest",
    "just",
    "lerna",
    "make",
    "meson",
    "moon",
    "mvn",
    "mvnw",
    "n2",
    "nextflow",
    "ninja",
    "ninja-build",
    "nox",
    "npm",
    "npx",
    "nx",
    "parallel",
    "pnpm",
    "prove",
    "py.test",
    "pytest",
    "rake",
    "runtests",
    "samu",
    "sccache",  // its server compiles for all of its clients
    "scons",
    "snakemake",
    "task",
    "tox",
    "turbo",
    "vitest",
    "waf",
    "xargs",
    "yarn",
});

// Those of them that find what is done when they are started again, and do the rest.
constexpr std::array kResumingNames = std::to_array<string_view>({
    "bazel",
    "buck2",
    "cargo",
    "cmake",
    "gmake",
    "go",
    "gradle",
    "make",
    "meson",
    "n2",
    "ninja",
    "ninja-build",
    "samu",
    "scons",
    "snakemake",
    "waf",
});

constexpr std::array kWholeNames = std::to_array<string_view>({
    "ar",     "as",  "c++",  "cc",       "ccache", "clang", "clang++", "collect2", "cpp",
    "distcc", "g++", "gcc",  "gfortran", "ghc",    "javac", "ld",      "ld.bfd",   "ld.gold",
    "ld.lld", "lld", "mold", "nvcc",     "ranlib", "rustc", "rustdoc", "swiftc",
});

// Has a make run the parts of one link.
constexpr string_view kLtoWrapper = "lto-wrapper";

// Those that take tokens of a jobserver for threads, or for all that they start at once.
constexpr std::array kTokenHolderNames =
    std::to_array<string_view>({"clippy-driver", "jobserver-exec", kLtoWrapper, "plimsoll",
                                "plimsolld", "rustc", "rustdoc", "wild"});

constexpr std::array kShells =
    std::to_array<string_view>({"ash", "bash", "busybox", "dash", "fish", "ksh", "sh", "zsh"});
// Scripts that are the task of an engine, and what surrounds it: nextflow's.
constexpr std::array kTaskScripts = std::to_array<string_view>({".command.run", ".command.sh"});
constexpr std::array kInterpreters =
    std::to_array<string_view>({"node", "nodejs", "perl", "pypy", "python", "ruby"});

// What the command line of a Java virtual machine holds that is one of these.
constexpr std::array kJavaDrivers =
    std::to_array<string_view>({"nextflow", "org.gradle", "org.codehaus.plexus.classworlds",
                                "A-server.jar", "org.apache.tools.ant"});

template <class Names>
bool is_among(const Names& names, string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

string_view base_name(string_view file) { return file.substr(file.rfind('/') + 1); }

bool is_option(string_view word) { return word.size() > 1 && word.front() == '-'; }

// The first word that is no option, of the words after the program's name; empty: there is none.
string_view operand_of(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_option(words[i])) return words[i];
  }
  return {};
}

// Whether an option holds this letter, alone or among others: `-c`, `-ec`.
bool has_flag(const std::vector<std::string>& words, char letter) {
  for (std::size_t i = 1; i < words.size() && is_option(words[i]); ++i) {
    const bool is_long = words[i].starts_with("--");
    if (!is_long && words[i].find(letter) != std::string::npos) return true;
  }
  return false;
}

// "npm" for npm-cli.js.
std::string script_name(string_view file) {
  string_view name = base_name(file);
  for (const string_view end : {".js", ".cjs", ".mjs", ".py", ".pl", ".rb", "-cli"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  return program_name(name);
}

// That of a cross compiler is the last part: x86_64-linux-gnu-gcc.
bool is_whole(string_view name) {
  if (is_among(kWholeNames, name)) return true;
  const auto dash = name.rfind('-');
  return dash != string_view::npos && is_among(kWholeNames, name.substr(dash + 1));
}

// Whether it works for a driver of its own kind: a worker of pytest-xdist, which is told by its
// standard input what to do, or a snakemake that runs one rule for another.
bool is_worker(const Exec& exec) {
  constexpr string_view kToldByInput = "exec(eval(sys.stdin.readline()))";
  bool is_snakemake = false;
  for (std::size_t i = 0; i + 1 < exec.argv.size(); ++i) {
    const string_view word = exec.argv[i], next = exec.argv[i + 1];
    if (word == "-c" && next.ends_with(kToldByInput)) return true;
    is_snakemake = is_snakemake || base_name(word) == "snakemake";
    if (is_snakemake && word == "--mode" && next == "subprocess") return true;
  }
  return false;
}

constexpr string_view kLauncher = "plimsoll-exec";
// A Java virtual machine starts each program through this one, which executes it at once. Its own
// words say nothing of the program.
constexpr string_view kJavaLauncher = "jspawnhelper";

// `plimsoll exec` starts one command, which is the step.
bool is_launcher(const Exec& exec) {
  const string_view name = base_name(exec.file);
  if (name == kLauncher || name == kJavaLauncher) return true;
  return program_name(exec.file) == "plimsoll" && exec.argv.size() > 1 && exec.argv[1] == "exec";
}

constexpr auto kShows =
    std::to_array<string_view>({"ctl", "explain", "history", "list", "report", "runs", "top"});

// Whether a shell's text names the launcher, as those of cmake and ninja do: the shell would be a
// step only until it has started that.
bool names_launcher(string_view text) {
  string_view before;
  while (!text.empty()) {
    const string_view word = take_until(text, ' ');
    if (base_name(word) == kLauncher) return true;
    if (word == "exec" && base_name(before) == "plimsoll") return true;
    before = word;
  }
  return false;
}

bool starts_launcher(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), names_launcher);
}

}  // namespace

std::string program_name(string_view file) {
  const string_view whole = base_name(file);
  string_view name = whole;
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9'))) {
    name.remove_suffix(1);
  }
  if (name.empty()) return std::string(whole);
  if (name.size() > 1 && name.size() < whole.size() && name.back() == '-') name.remove_suffix(1);
  return std::string(name);
}

Drivers::Drivers(std::vector<std::string> further) : further_(further.begin(), further.end()) {}

bool Drivers::is_named(string_view name) const {
  return is_among(kDriverNames, name) || further_.contains(name);
}

// `words`: the interpreter's own command line, its name first.
Role Drivers::role_of_interpreter(string_view name, const std::vector<std::string>& words) const {
  if (is_shell(name)) {
    if (is_among(kTaskScripts, base_name(operand_of(words)))) return Role::whole;
    return has_flag(words, 'c') && !starts_launcher(words) ? Role::whole : Role::driver;
  }
  if (name == "java") {
    for (const std::string& word : words) {
      for (const string_view part : kJavaDrivers) {
        if (word.find(part) != std::string::npos) return Role::driver;
      }
    }
    return Role::unknown;
  }
  if (!is_among(kInterpreters, name)) return Role::unknown;
  for (std::size_t i = 1; i + 1 < words.size() && is_option(words[i]); ++i) {
    if (words[i] == "-m") return is_named(words[i + 1]) ? Role::driver : Role::unknown;
    if (words[i] == "-c" || words[i] == "-e") return Role::unknown;
  }
  const string_view script = operand_of(words);
  const bool is_driver = is_named(script_name(script)) || is_named(base_name(script));
  return is_driver ? Role::driver : Role::unknown;
}

Role Drivers::role_of(const Exec& exec) const {
  const std::string name = program_name(exec.file);
  if (is_launcher(exec) || is_inner_govern(exec)) return Role::driver;
  if (shows_runs(exec)) return Role::unknown;
  if (name == "plimsoll" || name == "plimsolld") return Role::governor;
  if (is_worker(exec)) return Role::whole;
  if (base_name(exec.file) == kLtoWrapper) return Role::sealed;
  if (is_named(base_name(exec.file)) || is_named(script_name(exec.file))) return Role::driver;
  if (is_whole(name) || is_whole(base_name(exec.file))) return Role::whole;
  if (exec.interpreter.empty()) return role_of_interpreter(name, exec.argv);
  std::vector<std::string> words = exec.interpreter;
  if (program_name(words.front()) == "env") {
    words.erase(words.begin(), std::find_if(words.begin() + 1, words.end(),
                                            [](const std::string& w) { return !is_option(w); }));
  }
  if (words.empty()) return Role::unknown;
  words.push_back(exec.file);
  return role_of_interpreter(program_name(words.front()), words);
}

bool is_shell(std::string_view name) { return is_among(kShells, name); }

bool may_hold_tokens(const Exec& exec) {
  if (is_launcher(exec) || is_inner_govern(exec)) return false;
  return is_among(kTokenHolderNames, program_name(exec.file)) ||
         is_among(kTokenHolderNames, base_name(exec.file));
}

bool is_inner_govern(const Exec& exec) {
  return program_name(exec.file) == "plimsoll" && exec.argv.size() > 1 &&
         (exec.argv[1] == "govern" || exec.argv[1] == "session");
}

bool shows_runs(const Exec& exec) {
  return program_name(exec.file) == "plimsoll" && exec.argv.size() > 1 &&
         is_among(kShows, exec.argv[1]);
}

bool resumes(const Words& command) {
  if (command.empty()) return false;
  return is_among(kResumingNames, base_name(command.front())) ||
         is_among(kResumingNames, program_name(command.front()));
}

}  // namespace plimsoll::govern
