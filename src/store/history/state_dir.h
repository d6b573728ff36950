#pragma once

#include <cstdint>
#include <string>

#include "base/disk.h"
#include "base/result.h"

// Where Plimsoll keeps what it remembers from run to run.
namespace plimsoll::history {

enum class Caller : std::uint8_t { user, root };

// What the place depends on; empty: not set.
struct StateEnvironment {
  std::string own{};   // PLIMSOLL_STATE_DIR
  std::string xdg{};   // XDG_STATE_HOME
  std::string home{};  // HOME
  Caller caller = Caller::user;
};

// Of this process.
[[nodiscard]] StateEnvironment state_environment();

// PLIMSOLL_STATE_DIR if it is set; else /var/lib/plimsoll for root, and for others
// $XDG_STATE_HOME/plimsoll or ~/.local/state/plimsoll. As the XDG specification says, a path that
// is not absolute counts as not set. An error if nothing is left to go by.
Result<std::string> state_dir(const StateEnvironment& environment);

// Within the directory.
[[nodiscard]] std::string history_path(const std::string& state_dir);
[[nodiscard]] std::string runs_dir(const std::string& state_dir);

// Makes the directory and what is missing above it, for the caller alone (0700). One that is there
// keeps its mode, but must belong to the caller or to root and must not be writable for others:
// they could put anything in the place of our files.
Result<void> make_private_dir(const std::string& path, const Disk& disk = Disk::kernel());

}  // namespace plimsoll::history
