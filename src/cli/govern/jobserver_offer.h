#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "govern/build_tools.h"
#include "govern/token_pipe.h"

// The jobserver that `plimsoll govern` offers to its command.
namespace plimsoll::cli {

// How the user wants it.
enum class JobserverWish : std::uint8_t { automatic, pipe, fifo, off };
Result<JobserverWish> parse_jobserver(std::string_view text);

// What is offered, or why nothing is.
struct JobserverOffer {
  std::optional<govern::TokenPipe> pipe;
  std::string why;  // a clause: of the style, or why there is none
};

// By the wish, the command, MAKEFLAGS and the versions of what is on PATH. Before the processes
// that are to inherit the pipe are forked. Waits for these versions, some milliseconds.
// An error: what the user has asked for can't be had.
Result<JobserverOffer> offer_jobserver(JobserverWish wish, const std::vector<std::string>& command);

// MAKEFLAGS for the command, with so many slots.
[[nodiscard]] std::string makeflags_for(const govern::TokenPipe& pipe, std::size_t slots);

// The way that all tools on PATH understand. Waits for what they say of their versions.
enum class MayRunNinja : std::uint8_t { no, yes };
[[nodiscard]] govern::StyleChoice style_on_path(MayRunNinja ninja);

}  // namespace plimsoll::cli
