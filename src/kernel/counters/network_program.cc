#include "kernel/counters/network_program.h"

namespace plimsoll::counters {
namespace {

using Register = std::uint8_t;
using Offset = std::int16_t;

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

}  // namespace

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

}  // namespace plimsoll::counters
