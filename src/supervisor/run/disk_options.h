#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/governor/disk_floor.h"
#include "supervisor/run/pool_options.h"

// Which file systems a run watches the space of, and how much is to stay free there.
namespace plimsoll::supervisor {

// "PATH=FLOOR": a size, or a share of the file system such as 5%.
Result<DiskOption> parse_disk(std::string_view text);

// Those that the user names; of two on the same file system the higher floor. An error says what
// makes no sense.
//
// May wait for file systems that are named.
Result<std::vector<policy::DiskFloor>> named_floors(const PoolOptions& options);

// Besides these, to be told of only, those of TMPDIR and of the working directory, unless they are
// in memory or might hang: a twentieth of their size, and kToldMost at most.
Result<std::vector<policy::DiskFloor>> disk_floors(const PoolOptions& options);

// With less than this free a program that writes as little as a log may fail. A guess.
inline constexpr double kToldShare = 1.0 / 20;
inline constexpr Bytes kToldMost{std::uint64_t{1} << 30};

}  // namespace plimsoll::supervisor
