#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"

// What processes share by name and leave behind: System V shared memory, semaphores and message
// queues (sysvipc(7)), and POSIX message queues (mq_overview(7)). It lives until somebody removes
// it, whoever has ended. That of this process's own IPC namespace.
namespace plimsoll::procfs {

enum class IpcKind : std::uint8_t { shared_memory, semaphores, messages, posix_queue };
// For reports.
std::string_view name_of(IpcKind kind);

struct IpcObject {
  IpcKind kind{};
  std::string name;           // the id; of a POSIX queue its name, with the slash
  std::uint32_t creator = 0;  // a uid
  // Of shared memory alone.
  std::optional<Bytes> size{};
  std::optional<int> creator_pid{};
  std::uint64_t attached = 0;  // how often, by living processes

  bool operator==(const IpcObject&) const = default;
};

// A table of /proc/sysvipc. Columns are found by their names; lines that lack one are left out.
std::vector<IpcObject> parse_ipc_table(IpcKind kind, std::string_view text);

// Longer tables are not read: it is looked at each start and end, and anybody can make thousands.
inline constexpr std::size_t kIpcTableBytesMax = 128 << 10;  // some 1000 objects
inline constexpr std::size_t kPosixQueuesMax = 1000;

// Where one job ends and the next starts, what is left by the one is there before the other.
inline constexpr Duration kIpcMoment = std::chrono::microseconds(500);

// The tables as open files, for whoever looks at each start and end.
class IpcTables {
 public:
  // All that `creator` has made and that there is now; nothing if there is more than is read. POSIX
  // queues are seen where their file system is mounted at /dev/mqueue.
  [[nodiscard]] std::optional<std::vector<IpcObject>> objects_of(std::uint32_t creator,
                                                                 Instant now);
  // The same, or what was found a moment before (kIpcMoment), if it was of this creator.
  [[nodiscard]] std::optional<std::vector<IpcObject>> objects_lately(std::uint32_t creator,
                                                                     Instant now);

 private:
  struct File {
    IpcKind kind{};
    UniqueFd fd{};  // since the first look at it; a kernel without it has an empty one
  };
  struct Found {
    std::uint32_t creator = 0;
    std::optional<std::vector<IpcObject>> objects;
    Instant at{};
  };
  [[nodiscard]] std::optional<std::string_view> read(File& file);
  [[nodiscard]] std::optional<std::vector<IpcObject>> find(std::uint32_t creator);

  std::array<File, 3> files_{
      {{IpcKind::shared_memory}, {IpcKind::semaphores}, {IpcKind::messages}}};
  std::string buffer_;
  std::optional<Found> last_;
};

// False if it is gone already, is another user's by now, or may not be removed.
bool remove_ipc(const IpcObject& object);

// The users of whom a process lives: with any of its ids. Nothing if they can't be looked for.
// Reads a file of each process of the machine, some 5 us for each: not in a turn of a loop.
std::optional<std::set<std::uint32_t>> living_users();

}  // namespace plimsoll::procfs
