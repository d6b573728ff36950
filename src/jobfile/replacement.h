#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plimsoll::jobfile {

// Which part of a value a replacement string stands for, seen as a path.
enum class Part : std::uint8_t {
  whole,            // {}
  without_suffix,   // {.}   a/b.tar.gz -> a/b.tar
  base,             // {/}   a/b.tar.gz -> b.tar.gz
  directory,        // {//}  a/b.tar.gz -> a
  base_sans_suffix  // {/.}  a/b.tar.gz -> b.tar
};

// One replacement string of a command template, in the words of GNU parallel.
struct Replacement {
  enum class What : std::uint8_t {
    all,       // {} {.} {/} {//} {/.}: every value of the job
    one,       // {1} {-1} {1.} {1/} {1//} {1/.}: the value at `position`
    sequence,  // {#}: the job's number
    slot,      // {%}: the slot that it runs in
  };
  What what = What::all;
  Part part = Part::whole;
  int position = 0;  // from 1, or from -1 for the last backwards
  bool operator==(const Replacement&) const = default;
};

// Reads what stands between the braces of `{...}`; `names` are other words for the positions from 1
// on. Nothing: it is not a replacement string, and the braces are text like any other.
[[nodiscard]] std::optional<Replacement> parse_replacement(std::string_view inside,
                                                           std::span<const std::string> names = {});

// The part of `value`; points into it, but for the directory of a path that names none: ".".
[[nodiscard]] std::string_view part_of(std::string_view value, Part part);

// Which of `count` values a position means, from 0; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> index_of(int position, std::size_t count);

}  // namespace plimsoll::jobfile
