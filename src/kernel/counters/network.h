#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/directory.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The kernel's id of a v2 group, which is never given twice: the inode of its directory.
enum class GroupId : std::uint64_t {};
Result<GroupId> id_of(const cgroup::Directory& v2_group);

// Groups that can be counted at once; those beyond have no figures. An entry is made when its group
// is, but the kernel lays out the table for all at once: of this size in 0.05 ms.
inline constexpr std::uint32_t kCountedGroupsMax = 8192;

class NetworkCount;

// Counts the network traffic of groups: two small BPF programs at the pool, which serve every group
// below and its sub-groups. No cgroup file tells this.
//
// Counted are IP packets of sockets as the kernel hands them over, IP headers included; a batch
// that the network card will cut up (GSO) counts as one packet. What a job sends to itself over
// loopback counts in both directions. Traffic of the pool itself and of groups that were not asked
// for is let through uncounted.
class Network {
 public:
  // Counts nothing, for the reason given.
  explicit Network(std::string why_not) : why_not_(std::move(why_not)) {}

  // Loads the programs and attaches them to `pool`. Needs CAP_BPF and CAP_NET_ADMIN (or
  // CAP_SYS_ADMIN). `group_depth` is how many levels below the root of the v2 hierarchy the groups
  // of jobs are: /POOL/JOB has 2. It is the depth in the whole hierarchy, which a cgroup namespace
  // hides. Where the kernel refuses, the result counts nothing and says why. Costs about 0.3 ms.
  static Network attach(const cgroup::Directory& pool, unsigned group_depth);

  // Begins to count a group, from zero, for as long as the result lives, which this outlives.
  // Packets before are let through uncounted: call it before the group's first process.
  [[nodiscard]] Result<NetworkCount> count(GroupId group);

  // Why nothing can be counted; empty if it can.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  friend class NetworkCount;
  UniqueFd map_;
  UniqueFd egress_link_;  // closing a link detaches its program, also when this process dies
  UniqueFd ingress_link_;
  std::string why_not_;
};

// One group that is being counted.
class NetworkCount {
 public:
  NetworkCount(NetworkCount&& other) noexcept
      : network_(std::exchange(other.network_, nullptr)), group_(other.group_) {}
  NetworkCount& operator=(NetworkCount&&) = delete;
  ~NetworkCount();

  // What the group has sent and received so far; absent if the kernel doesn't answer.
  [[nodiscard]] std::optional<NetworkUsage> usage() const;

 private:
  friend class Network;
  NetworkCount(Network& network, GroupId group) : network_(&network), group_(group) {}
  Network* network_;
  GroupId group_;
};

}  // namespace plimsoll::counters
