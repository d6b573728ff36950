#include "kernel/counters/network.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>

namespace plimsoll::counters {
namespace {

using Register = std::uint8_t;
using Offset = std::int16_t;

// What the programs add to for one group, in place in the kernel's map.
struct NetworkCounts {
  std::uint64_t tx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t rx_packets = 0;
};

// A program of type BPF_PROG_TYPE_CGROUP_SKB (kernel: bpf/instruction-set, bpf-helpers(7)) that, in
// C, is
//
//   u64 group = bpf_skb_ancestor_cgroup_id(skb, group_depth);
//   struct NetworkCounts *counts = bpf_map_lookup_elem(&map, &group);
//   if (counts) { atomic_add(&counts->bytes, skb->len); atomic_add(&counts->packets, 1); }
//   return 1;  // let the packet through
//
// with the two members at `bytes_offset` and the 8 bytes after it.
constexpr std::size_t kNetworkProgramLength = 16;
using NetworkProgram = std::array<bpf_insn, kNetworkProgramLength>;

constexpr bpf_insn instruction(int code, Register to, Register from, Offset offset,
                               std::int32_t value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = to & 0xF;
  made.src_reg = from & 0xF;
  made.off = offset;
  made.imm = value;
  return made;
}

constexpr bpf_insn move(Register to, Register from) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}
constexpr bpf_insn set(Register to, std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}
constexpr bpf_insn add(Register to, std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value);
}
constexpr bpf_insn call(std::int32_t helper) {
  return instruction(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}
constexpr bpf_insn store(Register base, Offset offset, Register from) {
  return instruction(BPF_STX | BPF_MEM | BPF_DW, base, from, offset, 0);
}
constexpr bpf_insn load_word(Register to, Register base, Offset offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, to, base, offset, 0);
}
constexpr bpf_insn atomic_add(Register base, Offset offset, Register from) {
  return instruction(BPF_STX | BPF_ATOMIC | BPF_DW, base, from, offset, BPF_ADD);
}
// Over the next `count` instructions.
constexpr bpf_insn skip_if_zero(Register tested, Offset count) {
  return instruction(BPF_JMP | BPF_JEQ | BPF_K, tested, 0, count, 0);
}

NetworkProgram network_program(int map_fd, unsigned group_depth, std::size_t bytes_offset) {
  constexpr Register r0 = BPF_REG_0, r1 = BPF_REG_1, r2 = BPF_REG_2, skb = BPF_REG_6,
                     stack = BPF_REG_10;
  constexpr Offset kKey = -8;
  const auto bytes = static_cast<Offset>(bytes_offset);
  const auto packets = static_cast<Offset>(bytes_offset + sizeof(std::uint64_t));
  return {{
      move(skb, r1),
      set(r2, static_cast<std::int32_t>(group_depth)),
      call(BPF_FUNC_skb_ancestor_cgroup_id),
      store(stack, kKey, r0),
      // Loading the map takes two instructions' room (BPF_PSEUDO_MAP_FD).
      instruction(BPF_LD | BPF_DW | BPF_IMM, r1, BPF_PSEUDO_MAP_FD, 0, map_fd),
      instruction(0, 0, 0, 0, 0),
      move(r2, stack),
      add(r2, kKey),
      call(BPF_FUNC_map_lookup_elem),
      skip_if_zero(r0, 4),
      load_word(r1, skb, offsetof(__sk_buff, len)),
      atomic_add(r0, bytes, r1),
      set(r1, 1),
      atomic_add(r0, packets, r1),
      set(r0, 1),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  }};
}

Result<UniqueFd> owned(int fd, const char* what) {
  if (fd < 0) return fail_errno(what);
  return UniqueFd(fd);
}

struct Direction {
  bpf_attach_type type;
  std::size_t bytes_offset;
};
constexpr Direction kEgress{BPF_CGROUP_INET_EGRESS, offsetof(NetworkCounts, tx_bytes)};
constexpr Direction kIngress{BPF_CGROUP_INET_INGRESS, offsetof(NetworkCounts, rx_bytes)};

// For a name libbpf would first try on a program of its own whether this kernel knows names, which
// takes 0.1 ms. Whose a program is can be told from the group that it is attached to.
constexpr const char* kNoName = nullptr;

Result<UniqueFd> load_and_attach(const Direction& direction, int map_fd, int pool_fd,
                                 unsigned group_depth) {
  const NetworkProgram program = network_program(map_fd, group_depth, direction.bytes_offset);
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = direction.type;
  // The licence is of these instructions; the helpers they call are open to every licence.
  auto loaded = owned(bpf_prog_load(BPF_PROG_TYPE_CGROUP_SKB, kNoName, "Apache-2.0", program.data(),
                                    program.size(), &options),
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
  auto map = owned(bpf_map_create(BPF_MAP_TYPE_HASH, kNoName, sizeof(GroupId),
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
    if (errno == E2BIG) {
      return fail(std::errc::argument_list_too_long, "network traffic is counted for " +
                                                         std::to_string(kCountedGroupsMax) +
                                                         " groups at once, and so many are");
    }
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
