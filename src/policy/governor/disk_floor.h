#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace plimsoll::policy {

// At most so many file systems are watched: each keeps a thread, and is looked at for each job that
// starts.
inline constexpr std::size_t kDisksMax = 8;

// What is done for a file system on which space gets short.
enum class DiskRule : std::uint8_t {
  tell,  // it is told, and only jobs of which the user has said what they take are held
  hold,  // whoever is believed to write too much is held, and writers are paused
};

// A file system of which so much is to stay free for users.
struct DiskFloor {
  std::string path;  // in it, as people know it
  Bytes floor{};
  DiskRule rule = DiskRule::hold;
  std::optional<Bytes> size{};  // of all that ordinary users may have of it; absent: not known
};

}  // namespace plimsoll::policy
