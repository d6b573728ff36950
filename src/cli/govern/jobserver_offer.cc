#include "cli/govern/jobserver_offer.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "cli/govern/tool_version.h"
#include "govern/drivers.h"
#include "govern/makeflags.h"
#include "supervisor/sharing/runtime_dir.h"

namespace plimsoll::cli {
namespace {

using govern::MakeJobs;
using govern::TokenStyle;

// The kernel takes 128 KiB for one variable; a jobserver adds a path and some words.
constexpr std::size_t kMakeflagsMax = 120 << 10;

std::string makeflags() {
  const char* value = std::getenv("MAKEFLAGS");
  return value == nullptr ? std::string() : value;
}

std::optional<std::string> version_on_path(const char* name) {
  const auto program = find_program(name);
  if (!program) return std::nullopt;
  // One that does not tell its version is taken for an old one.
  return version_text(*program, "--version").value_or("");
}

// Those that run ninja, or may.
bool may_run_ninja(const std::string& program) {
  constexpr std::array<std::string_view, 4> kNames = {"ninja", "ninja-build", "cmake", "meson"};
  const std::string name = govern::program_name(program);
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Why the command gets none unless the user asks for one, if so.
std::optional<std::string> why_not_for(const std::vector<std::string>& command) {
  if (govern::names_jobs(command)) return "the command names its own number of jobs";
  if (govern::jobs_in_makeflags(makeflags()) == MakeJobs::number) {
    return "MAKEFLAGS names a number of jobs";
  }
  if (makeflags().size() > kMakeflagsMax) return "MAKEFLAGS has no room for it";
  return std::nullopt;
}

Result<JobserverOffer> offer(TokenStyle style, std::string why) {
  std::string directory;
  if (style == TokenStyle::fifo) {
    directory = supervisor::runtime_dir();
    if (auto made = supervisor::make_runtime_dir(directory); !made) return pass(std::move(made));
  }
  auto pipe = govern::TokenPipe::create(style, directory);
  if (!pipe) return pass(std::move(pipe));
  return JobserverOffer{.pipe = std::move(*pipe), .why = std::move(why)};
}

}  // namespace

Result<JobserverWish> parse_jobserver(std::string_view text) {
  if (text == "auto") return JobserverWish::automatic;
  if (text == "pipe") return JobserverWish::pipe;
  if (text == "fifo") return JobserverWish::fifo;
  if (text == "off") return JobserverWish::off;
  return fail("found \"" + std::string(text) + "\", expected auto, pipe, fifo or off");
}

Result<JobserverOffer> offer_jobserver(JobserverWish wish,
                                       const std::vector<std::string>& command) {
  if (wish == JobserverWish::off) {
    return JobserverOffer{.pipe = std::nullopt, .why = "as --jobserver=off says"};
  }
  if (govern::jobs_in_makeflags(makeflags()) == MakeJobs::jobserver) {
    return JobserverOffer{.pipe = std::nullopt, .why = "MAKEFLAGS names one already"};
  }
  if (wish == JobserverWish::pipe) return offer(TokenStyle::pipe, "as --jobserver=pipe says");
  if (wish == JobserverWish::fifo) {
    auto offered = offer(TokenStyle::fifo, "as --jobserver=fifo says");
    if (!offered) return pass(std::move(offered), "--jobserver=fifo");
    return offered;
  }
  if (auto why = why_not_for(command)) {
    return JobserverOffer{.pipe = std::nullopt, .why = std::move(*why)};
  }
  const auto choice =
      style_on_path(may_run_ninja(command.front()) ? MayRunNinja::yes : MayRunNinja::no);
  if (!choice.style) return JobserverOffer{.pipe = std::nullopt, .why = choice.why};
  auto offered = offer(*choice.style, choice.why);
  if (offered) return offered;
  return JobserverOffer{.pipe = std::nullopt, .why = offered.error().message()};
}

std::string makeflags_for(const govern::TokenPipe& pipe, std::size_t slots) {
  return govern::with_jobserver(makeflags(), pipe.auth(), slots);
}

govern::StyleChoice style_on_path(MayRunNinja ninja) {
  govern::ClientVersions versions;
  versions.make = version_on_path("make");
  // Decided by make alone, most often.
  const bool make_decides = govern::choose_style(versions).style == TokenStyle::pipe;
  if (!make_decides) versions.gcc = version_on_path("gcc");
  if (ninja == MayRunNinja::yes) versions.ninja = version_on_path("ninja");
  return govern::choose_style(versions);
}

}  // namespace plimsoll::cli
