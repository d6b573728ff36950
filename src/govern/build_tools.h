#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "govern/token_pipe.h"

// What build tools do with a jobserver, by what they say of their version. Pure.
namespace plimsoll::govern {

struct ToolVersion {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const ToolVersion&) const = default;
};
// The first one that the text names, as "12.2" in "gcc (Debian 12.2.0-14) 12.2.0".
[[nodiscard]] std::optional<ToolVersion> version_in(std::string_view text);

struct BuildTool {
  std::string_view name;
  std::string_view version_option;
  // The first versions that read tokens, each way; absent: none does.
  std::optional<ToolVersion> pipe_from;
  std::optional<ToolVersion> fifo_from;
  std::string_view obeying;  // how it is governed if it reads tokens, a sentence
  std::string_view other;    // and if it does not
};
[[nodiscard]] std::span<const BuildTool> build_tools();

// What a tool that is there obeys.
struct ToolVerdict {
  std::vector<TokenStyle> styles;  // that it can read
  std::string how;
};
// `output`: of the tool's version option.
[[nodiscard]] ToolVerdict verdict_of(const BuildTool& tool, std::string_view output);

// What the tools say of themselves that decide how tokens are offered; absent: it is not there.
struct ClientVersions {
  std::optional<std::string> make, gcc, ninja;
};
struct StyleChoice {
  std::optional<TokenStyle> style;  // absent: none is offered
  std::string why;
};
// The way that all of them understand: make before 4.4 and the link of gcc before 13 fail on a fifo
// in MAKEFLAGS, and ninja, if it runs, warns of descriptors unless it can read them.
[[nodiscard]] StyleChoice choose_style(const ClientVersions& versions);

}  // namespace plimsoll::govern
