#include "policy/share.h"

#include <algorithm>

namespace plimsoll::policy {
namespace {

double amount(Bytes bytes) { return to_double(bytes); }
double amount(double cores) { return cores; }

template <class Amount>
double part_of(Amount whole_amount, const RunClaim& own, std::span<const RunClaim> others,
               Need<Amount> RunClaim::* resource) {
  const double whole = amount(whole_amount);
  double used = 0, claimed = 0;
  bool wanting = false;
  for (const RunClaim& other : others) {
    const Need<Amount>& need = other.*resource;
    used += amount(need.used);
    claimed += std::max(amount(need.claimed), amount(need.used));
    wanting = wanting || need.wanting;
  }
  const double unused = whole - used;
  const double fair = whole / static_cast<double>(others.size() + 1);
  double part = std::max(whole - claimed, std::min(fair, unused));
  if (wanting) part = std::min(part, std::max(fair, amount((own.*resource).used)));
  if (own.running == 1) part = std::max(part, unused);
  part = std::max(part, std::min(amount((own.*resource).used), unused));
  return std::max(part, whole * kShareMin);
}

Bytes taken_of(Bytes line, Bytes whole, std::span<const RunClaim> others) {
  double left = to_double(whole), starting = 0;
  for (const RunClaim& other : others) {
    left -= to_double(other.memory.used) + to_double(other.starting);
    starting += to_double(other.starting);
  }
  const double taken = std::min({to_double(line) - left, starting, to_double(line)});
  return taken < to_double(whole) * kTakenMin ? Bytes{} : to_bytes(taken);
}

std::optional<Bytes> left_of(Bytes whole, std::span<const RunClaim> others) {
  double used = 0;
  for (const RunClaim& other : others) used += to_double(other.memory.used);
  if (used < to_double(whole) * kTakenMin) return std::nullopt;
  return to_bytes(std::max(to_double(whole) - used, 0.0));
}

}  // namespace

Share share_of(const Share& whole, const RunClaim& own, std::span<const RunClaim> others) {
  const Bytes line = to_bytes(part_of(whole.line, own, others, &RunClaim::memory));
  return {.line = line,
          .cores = part_of(whole.cores, own, others, &RunClaim::cores),
          .taken = taken_of(line, whole.line, others),
          .left_by_others = left_of(whole.line, others)};
}

}  // namespace plimsoll::policy
