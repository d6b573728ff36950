#include "policy/queue/halt.h"

#include "base/text.h"

namespace plimsoll::policy {
namespace {

std::string_view name_of(HaltOn on) {
  switch (on) {
    case HaltOn::fail: return "fail";
    case HaltOn::success: return "success";
    case HaltOn::done: return "done";
  }
  return {};
}

std::string_view verb_of(HaltOn on) {
  switch (on) {
    case HaltOn::fail: return "failed";
    case HaltOn::success: return "succeeded";
    case HaltOn::done: return "ended";
  }
  return {};
}

std::uint64_t count_of(HaltOn on, const Tally& tally) {
  switch (on) {
    case HaltOn::fail: return tally.failed;
    case HaltOn::success: return tally.succeeded;
    case HaltOn::done: return tally.failed + tally.succeeded;
  }
  return 0;
}

bool reached(const HaltPolicy& policy, std::uint64_t count, std::uint64_t entered) {
  constexpr double kWhole = 100;
  if (const auto* jobs = std::get_if<JobCount>(&policy.threshold)) return count >= jobs->count;
  const auto percent = static_cast<double>(std::get<JobPercent>(policy.threshold).percent);
  return count > 0 && static_cast<double>(count) * kWhole >= static_cast<double>(entered) * percent;
}

std::optional<Urgency> urgency_of(std::string_view word) {
  if (word == "soon") return Urgency::soon;
  if (word == "now") return Urgency::now;
  return std::nullopt;
}

std::optional<HaltOn> halt_on(std::string_view word) {
  for (const HaltOn on : {HaltOn::fail, HaltOn::success, HaltOn::done}) {
    if (word == name_of(on)) return on;
  }
  return std::nullopt;
}

std::optional<std::variant<JobCount, JobPercent>> threshold_of(std::string_view word) {
  constexpr std::uint64_t kPercentMax = 100;
  const bool percent = word.ends_with('%');
  if (percent) word.remove_suffix(1);
  const auto number = to_u64(word);
  if (!number || *number == 0) return std::nullopt;
  if (!percent) return JobCount{*number};
  if (*number > kPercentMax) return std::nullopt;
  return JobPercent{static_cast<unsigned>(*number)};
}

}  // namespace

std::optional<std::string> halt_reason(const HaltPolicy& policy, const Tally& tally) {
  const std::uint64_t count = count_of(policy.on, tally);
  if (!reached(policy, count, tally.entered)) return std::nullopt;
  return "halted by " + to_text(policy) + ": " + std::to_string(count) + " of " +
         std::to_string(tally.entered) + " jobs " + std::string(verb_of(policy.on));
}

Result<HaltPolicy> parse_halt(std::string_view text) {
  std::string_view rest = text;
  if (text == "1") rest = "soon,fail=1";
  if (text == "2") rest = "now,fail=1";
  if (const auto share = threshold_of(text); share && text.ends_with('%')) {
    return HaltPolicy{.urgency = Urgency::soon, .on = HaltOn::fail, .threshold = *share};
  }
  const auto urgency = urgency_of(take_until(rest, ','));
  const auto on = halt_on(take_until(rest, '='));
  const auto threshold = threshold_of(rest);
  if (!urgency || !on || !threshold) {
    return fail("\"" + std::string(text) +
                "\" is not a halt policy: expected now|soon,fail|success|done=N|N%, such as "
                "soon,fail=1 or now,fail=10%, or never");
  }
  return HaltPolicy{.urgency = *urgency, .on = *on, .threshold = *threshold};
}

std::string to_text(const HaltPolicy& policy) {
  std::string text = policy.urgency == Urgency::now ? "now," : "soon,";
  text += name_of(policy.on);
  text += '=';
  if (const auto* jobs = std::get_if<JobCount>(&policy.threshold)) {
    return text + std::to_string(jobs->count);
  }
  return text + std::to_string(std::get<JobPercent>(policy.threshold).percent) + '%';
}

}  // namespace plimsoll::policy
