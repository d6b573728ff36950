#include "policy/job/oom.h"

#include <algorithm>

#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

std::string bytes(const Bytes& amount) { return words::bytes(to_double(amount)); }

std::string numbers(const OomVerdict& verdict) {
  if (!verdict.limit && !verdict.peak) return {};
  if (!verdict.peak) return " of " + bytes(*verdict.limit);
  if (!verdict.limit) return " (peak " + bytes(*verdict.peak) + ")";
  return " of " + bytes(*verdict.limit) + " (peak " + bytes(*verdict.peak) + ")";
}

// What the job had of it.
std::string share(const OomVerdict& verdict) {
  return verdict.own_peak ? "; the job had used up to " + bytes(*verdict.own_peak) : "";
}

}  // namespace

std::string_view name_of(OomLevel level) {
  switch (level) {
    case OomLevel::own: return "own";
    case OomLevel::pool: return "pool";
    case OomLevel::ancestor: return "ancestor";
    case OomLevel::machine: return "machine";
  }
  return {};
}

std::optional<OomVerdict> blame(const OomEvidence& evidence) {
  if (evidence.kills == 0) return std::nullopt;
  if (evidence.own_ooms > 0) {
    return OomVerdict{.level = OomLevel::own,
                      .group = {},
                      .limit = evidence.own_limit,
                      .peak = evidence.own_peak,
                      .own_peak = evidence.own_peak,
                      .kills = evidence.kills};
  }
  const auto found = std::find_if(evidence.above.begin(), evidence.above.end(),
                                  [](const OomGroup& group) { return group.ooms > 0; });
  if (found == evidence.above.end()) {
    return OomVerdict{.level = evidence.sees_all ? OomLevel::machine : OomLevel::ancestor,
                      .group = {},
                      .limit = evidence.machine,
                      .own_peak = evidence.own_peak,
                      .kills = evidence.kills};
  }
  return OomVerdict{.level = found->level,
                    .group = found->name,
                    .limit = found->limit,
                    .peak = found->peak,
                    .own_peak = evidence.own_peak,
                    .kills = evidence.kills};
}

std::string describe(const OomVerdict& verdict) {
  switch (verdict.level) {
    case OomLevel::own: return "needed more than its memory limit" + numbers(verdict);
    case OomLevel::pool:
      return "was killed by the kernel's OOM killer because all jobs together had reached the "
             "limit" +
             numbers(verdict) + share(verdict);
    case OomLevel::ancestor:
      if (verdict.group.empty()) {
        return "was killed by the kernel's OOM killer for the whole machine" +
               (verdict.limit ? ", which has " + bytes(*verdict.limit) : "") +
               ", or for a group that is not visible here" + share(verdict);
      }
      return "was killed by the kernel's OOM killer for the group " + verdict.group +
             ", which had reached its limit" + numbers(verdict) + share(verdict);
    case OomLevel::machine:
      return "was killed by the kernel's OOM killer because the whole machine was out of memory" +
             (verdict.limit ? " and has " + bytes(*verdict.limit) : "") + share(verdict);
  }
  return {};
}

}  // namespace plimsoll::policy
