#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

// Whose limit it was, when the kernel's OOM killer took processes of a job: from what the kernel
// counts at every level, never from a signal alone.
namespace plimsoll::policy {

enum class OomLevel : std::uint8_t {
  own,       // the job's own group, or one that it made itself
  pool,      // all jobs together
  ancestor,  // a group above the pool: a container's, a service's
  machine,   // the whole machine
};
std::string_view name_of(OomLevel level);

// One group above the job's, over the time of the attempt.
struct OomGroup {
  OomLevel level{};
  std::string name;        // for people
  std::uint64_t ooms = 0;  // times that its limit was hit and nothing could be taken back
  std::optional<Bytes> limit{}, peak{};
};

struct OomEvidence {
  std::uint64_t kills = 0;  // processes of the attempt that the kernel killed; or "more than none"
  std::uint64_t own_ooms = 0;
  std::optional<Bytes> machine{};  // all its memory
  std::optional<Bytes> own_limit{}, own_peak{};
  std::vector<OomGroup> above;  // the pool first
  bool sees_all = true;         // whether every group above could be read
};

// What the kernel did to an attempt.
struct OomVerdict {
  OomLevel level{};
  std::string group;  // whose limit, where it is neither the job's nor the machine's
  std::optional<Bytes> limit{}, peak{};  // of that group; of the machine, all its memory
  std::optional<Bytes> own_peak{};       // what the job itself had used at most
  std::uint64_t kills = 0;
  bool operator==(const OomVerdict&) const = default;
};

// Nothing if the kernel killed nobody. A job that broke its own limit is blamed before any group
// above that was short as well; then the nearest. If none was, it was the machine, or a group that
// can't be seen.
[[nodiscard]] std::optional<OomVerdict> blame(const OomEvidence& evidence);

// The verdict as a sentence whose subject is the job, with its numbers.
[[nodiscard]] std::string describe(const OomVerdict& verdict);

}  // namespace plimsoll::policy
