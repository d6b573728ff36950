#include "govern/build_tools.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace plimsoll::govern {
namespace {

using std::string_view;

constexpr ToolVersion kAny{};

constexpr std::array kBuildTools = std::to_array<BuildTool>({
    {"make", "--version", kAny, ToolVersion{4, 4},
     "Leave -j out: it runs as many jobs as it gets tokens. With -jN it runs N, and hands these on "
     "to its sub-makes.",
     ""},
    {"gmake", "--version", kAny, ToolVersion{4, 4}, "As make.", ""},
    {"ninja", "--version", std::nullopt, ToolVersion{1, 13},
     "Leave -j out: it runs as many jobs as it gets tokens. With -jN it runs N.",
     "It runs as many jobs as -j says; its steps wait until they fit."},
    {"cargo", "--version", kAny, kAny,
     "It runs as many jobs as it gets tokens, and ignores -j where it is offered some.", ""},
    {"rustc", "--version", kAny, kAny, "It takes a token for each further thread.", ""},
    {"gcc", "--version", ToolVersion{10, 0}, ToolVersion{13, 0},
     "-flto=auto and -flto=jobserver take a token for each further part; below make only in lines "
     "that begin with + or contain $(MAKE).",
     "A link with -flto=N is one step that uses N cores."},
    {"clang", "--version", std::nullopt, std::nullopt, "",
     "One compilation uses one core; give links that use ThinLTO -flto-jobs=N."},
    {"cmake", "--version", std::nullopt, std::nullopt, "",
     "cmake --build runs make or ninja; leave -j out where these take tokens."},
    {"ctest", "--version", ToolVersion{3, 29}, ToolVersion{3, 29},
     "It takes a token for each test.", "ctest -j N runs N tests, each a step."},
    {"meson", "--version", std::nullopt, std::nullopt, "",
     "meson compile runs ninja; leave -j out where that takes tokens."},
    {"go", "version", std::nullopt, std::nullopt, "",
     "go build -p N starts N compilers, each a step."},
    {"bazel", "--version", std::nullopt, std::nullopt, "",
     "--jobs=N starts N actions, each a step if the command starts the server."},
    {"pytest", "--version", std::nullopt, std::nullopt, "",
     "With pytest-xdist, -n N starts N workers, each a step; PYTEST_XDIST_AUTO_NUM_WORKERS says "
     "what -n auto is."},
    {"parallel", "--version", std::nullopt, std::nullopt, "", "-j N starts N jobs, each a step."},
    {"snakemake", "--version", std::nullopt, std::nullopt, "",
     "--cores N starts N jobs, each a step."},
    {"npm", "--version", std::nullopt, std::nullopt, "",
     "What its scripts start are steps; workers are counted by the script's own options."},
    {"cabal", "--version", std::nullopt, std::nullopt, "",
     "-j N builds N packages; --semaphore is a protocol of GHC's own."},
    {"mold", "--version", std::nullopt, std::nullopt, "",
     "A link is one step; --thread-count=N limits its threads."},
    {"ld.lld", "--version", std::nullopt, std::nullopt, "",
     "A link is one step; --threads=N limits its threads."},
    {"wild", "--version", kAny, kAny, "It takes all tokens that are free, for threads.", ""},
});

// Builds of ninja with this in their version read descriptors as well; PyPI has them.
constexpr string_view kNinjaWithPipe = "jobserver-pipe";

const BuildTool& tool_named(string_view name) {
  return *std::find_if(kBuildTools.begin(), kBuildTools.end(),
                       [name](const BuildTool& tool) { return tool.name == name; });
}

bool reads(string_view name, string_view output, TokenStyle style) {
  const auto styles = verdict_of(tool_named(name), output).styles;
  return std::find(styles.begin(), styles.end(), style) != styles.end();
}

std::string named(string_view name, string_view output) {
  const auto version = version_in(output);
  if (!version) return std::string(name);
  return std::string(name) + " " + std::to_string(version->major) + "." +
         std::to_string(version->minor);
}

std::optional<unsigned> take_number(string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<ToolVersion> version_in(string_view text) {
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
    const auto major = take_number(text);
    if (!major) return std::nullopt;
    if (text.size() < 2 || text.front() != '.') continue;
    string_view rest = text.substr(1);
    if (const auto minor = take_number(rest)) return ToolVersion{*major, *minor};
  }
  return std::nullopt;
}

std::span<const BuildTool> build_tools() { return kBuildTools; }

ToolVerdict verdict_of(const BuildTool& tool, string_view output) {
  // One that does not tell its version is taken for an old one.
  const ToolVersion version = version_in(output).value_or(ToolVersion{});
  ToolVerdict verdict;
  const bool has_pipe = tool.name == "ninja" && output.find(kNinjaWithPipe) != string_view::npos;
  if (has_pipe || (tool.pipe_from && version >= *tool.pipe_from)) {
    verdict.styles.push_back(TokenStyle::pipe);
  }
  if (tool.fifo_from && version >= *tool.fifo_from) verdict.styles.push_back(TokenStyle::fifo);
  verdict.how = verdict.styles.empty() ? tool.other : tool.obeying;
  return verdict;
}

StyleChoice choose_style(const ClientVersions& versions) {
  std::string against;
  const auto fails_on_fifo = [&](string_view name, const std::optional<std::string>& output) {
    if (!output || reads(name, *output, TokenStyle::fifo)) return false;
    against = named(name, *output) + " reads no fifo";
    return true;
  };
  if (!fails_on_fifo("make", versions.make) && !fails_on_fifo("gcc", versions.gcc)) {
    return {.style = TokenStyle::fifo, .why = "make and gcc can read it, or are not there"};
  }
  const bool needs_fifo = versions.ninja && reads("ninja", *versions.ninja, TokenStyle::fifo) &&
                          !reads("ninja", *versions.ninja, TokenStyle::pipe);
  if (needs_fifo) {
    return {.style = std::nullopt,
            .why = against + ", and " + named("ninja", *versions.ninja) + " reads nothing else"};
  }
  return {.style = TokenStyle::pipe, .why = against};
}

}  // namespace plimsoll::govern
