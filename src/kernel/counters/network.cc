#include "kernel/counters/network.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include "kernel/counters/network_program.h"

namespace plimsoll::counters {
namespace {

Result<UniqueFd> owned(int fd, const char* what) {
  if (fd < 0) return fail_errno(what);
  return UniqueFd(fd);
}

struct Direction {
  bpf_attach_type type;
  const char* name;
  std::size_t bytes_offset;
};
constexpr Direction kEgress{BPF_CGROUP_INET_EGRESS, "plimsoll_tx",
                            offsetof(NetworkCounts, tx_bytes)};
constexpr Direction kIngress{BPF_CGROUP_INET_INGRESS, "plimsoll_rx",
                             offsetof(NetworkCounts, rx_bytes)};

Result<UniqueFd> load_and_attach(const Direction& direction, int map_fd, int pool_fd,
                                 unsigned group_depth) {
  const NetworkProgram program = network_program(map_fd, group_depth, direction.bytes_offset);
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = direction.type;
  // The licence is of these instructions; the helpers they call are open to every licence.
  auto loaded = owned(bpf_prog_load(BPF_PROG_TYPE_CGROUP_SKB, direction.name, "Apache-2.0",
                                    program.data(), program.size(), &options),
                      "load a BPF program");
  if (!loaded) return loaded;
  return owned(bpf_link_create(loaded->get(), pool_fd, direction.type, nullptr),
               "attach a BPF program to the pool");
}

std::string in_words(Error error) {
  const std::errc code = error.code;
  std::string words = std::move(error).within("count network traffic").message();
  if (code == std::errc::operation_not_permitted || code == std::errc::permission_denied) {
    words += "; it needs CAP_BPF and CAP_NET_ADMIN";
  } else if (code == std::errc::function_not_supported || code == std::errc::invalid_argument) {
    words += "; this kernel has no BPF programs for cgroups";
  }
  return words;
}

}  // namespace

Result<GroupId> id_of(const cgroup::Directory& v2_group) {
  struct stat status{};
  if (::fstat(v2_group.fd(), &status) != 0) return fail_errno("stat " + v2_group.label());
  return GroupId{status.st_ino};
}

Network Network::attach(const cgroup::Directory& pool, unsigned group_depth) {
  if (pool.version() != cgroup::Version::v2) {
    return Network("network traffic is counted in a cgroup v2 tree only");
  }
  ::libbpf_set_print(nullptr);  // it would write to stderr
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_NO_PREALLOC;
  auto map = owned(bpf_map_create(BPF_MAP_TYPE_HASH, "plimsoll_net", sizeof(GroupId),
                                  sizeof(NetworkCounts), kCountedGroupsMax, &options),
                   "create a BPF map");
  if (!map) return Network(in_words(std::move(map).error()));
  auto egress = load_and_attach(kEgress, map->get(), pool.fd(), group_depth);
  if (!egress) return Network(in_words(std::move(egress).error()));
  auto ingress = load_and_attach(kIngress, map->get(), pool.fd(), group_depth);
  if (!ingress) return Network(in_words(std::move(ingress).error()));

  Network network{std::string()};
  network.map_ = std::move(*map);
  network.egress_link_ = std::move(*egress);
  network.ingress_link_ = std::move(*ingress);
  return network;
}

Result<NetworkCount> Network::count(GroupId group) {
  if (!map_) return fail(why_not_);
  const NetworkCounts zero;
  if (bpf_map_update_elem(map_.get(), &group, &zero, BPF_ANY) != 0) {
    return fail_errno("count the network traffic of a group");
  }
  return NetworkCount(*this, group);
}

NetworkCount::~NetworkCount() {
  if (network_ != nullptr) bpf_map_delete_elem(network_->map_.get(), &group_);
}

std::optional<NetworkUsage> NetworkCount::usage() const {
  NetworkCounts counts;
  if (bpf_map_lookup_elem(network_->map_.get(), &group_, &counts) != 0) return std::nullopt;
  return NetworkUsage{.rx = Bytes{counts.rx_bytes},
                      .tx = Bytes{counts.tx_bytes},
                      .rx_packets = counts.rx_packets,
                      .tx_packets = counts.tx_packets};
}

}  // namespace plimsoll::counters
