#pragma once

#include <linux/bpf.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace plimsoll::counters {

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
inline constexpr std::size_t kNetworkProgramLength = 16;
using NetworkProgram = std::array<bpf_insn, kNetworkProgramLength>;

NetworkProgram network_program(int map_fd, unsigned group_depth, std::size_t bytes_offset);

}  // namespace plimsoll::counters
