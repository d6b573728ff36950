#pragma once

#include <string>
#include <vector>

// Which commands need no governor, and which can be run again after they were killed, unseen by
// whoever has started them.
namespace plimsoll::cli {

// Whether the command only asks a compiler or another tool about itself (`gcc --version`,
// `rustc -vV`, `cc -dumpmachine`): over in a moment, and asked before anything else can go on.
[[nodiscard]] bool is_probe(const std::vector<std::string>& command);

// A compiler, an assembler, a linker or rustc, which writes its outputs anew from files alone: its
// first words say so, and none of them makes it read standard input.
[[nodiscard]] bool can_run_again(const std::vector<std::string>& command);

// The files that the command's words name as its outputs: of -o and -MF.
[[nodiscard]] std::vector<std::string> outputs_of(const std::vector<std::string>& command);

// Those of them that are not there, before an attempt: what it leaves of them when it is killed is
// incomplete, and newer than what it was made from.
class NewOutputs {
 public:
  explicit NewOutputs(const std::vector<std::string>& command);
  // Deletes the regular files among them that are there now.
  void remove() const;

 private:
  std::vector<std::string> missing_;
};

}  // namespace plimsoll::cli
