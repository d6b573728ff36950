#include "policy/governor/share.h"

#include <algorithm>
#include <span>

namespace plimsoll::policy {
namespace {

double amount(Bytes bytes) { return to_double(bytes); }
double amount(double cores) { return cores; }

// Those who count, and so many of them have the same share.
struct Party {
  std::span<const RunClaim> others;
  std::size_t parts = 1;
};

bool is_elder(const RunClaim& other, const RunClaim& own) {
  return other.oldest && (!own.oldest || *other.oldest <= *own.oldest);
}

// What `own` is to leave to the other: to an elder one what that is believed to reach.
template <class Amount>
double kept_for(const RunClaim& other, const RunClaim& own, Need<Amount> RunClaim::* resource) {
  const double used = amount((other.*resource).used);
  return is_elder(other, own) ? std::max(amount((other.*resource).claimed), used) : used;
}

template <class Amount>
double part_of(Amount whole_amount, const RunClaim& own, const Party& party,
               Need<Amount> RunClaim::* resource) {
  const double whole = amount(whole_amount);
  double used = 0, claimed = 0, used_by_elders = 0, ahead = 0, kept = 0;
  bool wanting = false;
  for (const RunClaim& other : party.others) {
    const Need<Amount>& need = other.*resource;
    used += amount(need.used);
    claimed += std::max(amount(need.claimed), amount(need.used));
    const double kept_for_it = kept_for(other, own, resource);
    kept += kept_for_it;
    if (is_elder(other, own)) {
      used_by_elders += amount(need.used);
      ahead = std::max(ahead, std::min(kept_for_it - amount(need.used), whole * kElderMargin));
    }
    wanting = wanting || need.wanting;
  }
  const double unused = whole - used;
  const double fair = whole / static_cast<double>(party.parts);
  double part = std::max(whole - claimed, std::min(fair, unused));
  if (wanting) part = std::min(part, std::max(fair, amount((own.*resource).used)));
  if (own.sizeable == 1) part = std::max({part, whole - kept, std::min(fair, unused)});
  part = std::max(part, std::min(amount((own.*resource).used), whole - used_by_elders - ahead));
  return std::max(part, whole * kShareMin);
}

Bytes taken_of(double line, Bytes whole, std::span<const RunClaim> others) {
  double left = to_double(whole), starting = 0;
  for (const RunClaim& other : others) {
    left -= to_double(other.memory.used) + to_double(other.starting);
    starting += to_double(other.starting);
  }
  const double taken = std::min({line - left, starting, line});
  return taken < to_double(whole) * kTakenMin ? Bytes{} : to_bytes(taken);
}

std::optional<Bytes> left_of(Bytes whole_bytes, const RunClaim& own, const Party& party) {
  const double whole = to_double(whole_bytes), fair = whole / static_cast<double>(party.parts);
  double used = 0, kept = 0;
  for (const RunClaim& other : party.others) {
    used += to_double(other.memory.used);
    kept += kept_for(other, own, &RunClaim::memory);
  }
  if (kept < whole * kTakenMin) return std::nullopt;
  return to_bytes(std::max({whole - kept, std::min(fair, whole - used), 0.0}));
}

bool has_elder(Bytes whole, const RunClaim& own, std::span<const RunClaim> others) {
  double theirs = 0;
  for (const RunClaim& other : others) {
    if (is_elder(other, own)) theirs += kept_for(other, own, &RunClaim::memory);
  }
  return theirs >= to_double(whole) * kEldersLeast;
}

// A user's word, as far as it goes.
RunClaim within(const Share& part, RunClaim claim) {
  claim.memory.used = std::min(claim.memory.used, part.line);
  claim.memory.claimed = std::min(claim.memory.claimed, part.line);
  claim.starting = std::min(claim.starting, part.line - claim.memory.used);
  claim.cores.used = std::min(claim.cores.used, part.cores);
  claim.cores.claimed = std::min(claim.cores.claimed, part.cores);
  return claim;
}

// All who are there, as far as each is believed.
std::vector<RunClaim> all_of(const Share& whole, const Beside& beside) {
  const auto users = static_cast<double>(beside.users + beside.told.size());
  const Share part{.line = to_bytes(to_double(whole.line) / users), .cores = whole.cores / users};
  std::vector<RunClaim> all = beside.believed;
  for (const RunClaim& claim : beside.told) all.push_back(within(part, claim));
  return all;
}

}  // namespace

Share share_of(const Share& whole, const RunClaim& own, const Beside& beside) {
  const Party believed{beside.believed, beside.users * beside.runs_of_own};
  const double line = part_of(whole.line, own, believed, &RunClaim::memory);
  Share share{.line = to_bytes(line),
              .cores = 0,
              .common_line = whole.line,
              .taken = taken_of(line, whole.line, beside.believed),
              .left_by_others = left_of(whole.line, own, believed),
              .has_elder = has_elder(whole.line, own, beside.believed)};
  for (const RunClaim& other : beside.believed) {
    share.unsettled += std::min(other.unsettled, kUnsettledMost - share.unsettled);
  }
  const std::vector<RunClaim> others = all_of(whole, beside);
  const Party all{others, beside.parts()};
  share.cores = part_of(whole.cores, own, all, &RunClaim::cores);
  if (beside.told.empty()) return share;
  const double for_starts = part_of(whole.line, own, all, &RunClaim::memory);
  const Bytes room = to_bytes(for_starts) - taken_of(for_starts, whole.line, others);
  const Bytes least = to_bytes(to_double(whole.line) * kShareMin);
  share.told = share.line - share.taken - std::max(room, least);
  return share;
}

}  // namespace plimsoll::policy
