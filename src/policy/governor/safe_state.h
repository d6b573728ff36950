#pragma once

#include <vector>

namespace plimsoll::policy {

// What a job has, and what it needs beyond that before it ends and gives all of it back; bytes.
struct Claim {
  double used = 0;
  double need = 0;
};

// Whether the jobs can all end one after the other, the others standing still meanwhile: the first
// with what is free, each next with what those before have given back (Dijkstra's banker). While
// there is a way out, pausing suffices; without one, somebody must be evicted.
[[nodiscard]] bool is_safe_state(std::vector<Claim> claims, double free);

}  // namespace plimsoll::policy
