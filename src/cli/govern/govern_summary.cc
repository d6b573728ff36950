#include "cli/govern/govern_summary.h"

#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "base/text.h"
#include "policy/job/attempt.h"

namespace plimsoll::cli {
namespace {

std::string steps_text(const govern::GovernEnd& end) {
  const govern::StepCounts& counts = end.counts;
  std::string text = "  steps        " + std::to_string(counts.begun);
  if (counts.small > 0) {
    text +=
        ", of which " + std::to_string(counts.small) + " small ones without a group of their own";
  }
  text += "\n  governor     held " + counted(counts.held, "step", "steps") + ", paused " +
          counted(end.summary.pauses, "time", "times");
  if (end.killed > 0) {
    text += ", killed " + counted(end.killed, "step", "steps") + " for want of memory";
  }
  if (end.reruns > 0) text += ", run again " + counted(end.reruns, "time", "times");
  text += "\n";
  if (end.tokens_recovered > 0) {
    text += "  jobserver    " +
            counted(end.tokens_recovered, "token of a killed client was",
                    "tokens of killed clients were") +
            " replaced\n";
  }
  return text;
}

std::string memory_text(const report::RunSummary& summary) {
  if (!summary.used_peak || !summary.line) return {};
  constexpr std::uint64_t kWhole = 100;
  std::string text = "  memory       used peak " + format_bytes(*summary.used_peak) + " of " +
                     format_bytes(*summary.line);
  if (summary.line->count > 0) {
    text += " (" + std::to_string(summary.used_peak->count * kWhole / summary.line->count) + " %)";
  }
  if (summary.oom_kills > 0u) text += ", kernel kills " + std::to_string(*summary.oom_kills);
  return text + "\n";
}

}  // namespace

std::string outcome_text(const supervisor::AttemptResult& ended) {
  const bool says_more = ended.end.outcome != policy::Outcome::signalled && !ended.reason.empty();
  return policy::describe(ended.end) + (says_more ? ": " + ended.reason : "");
}

std::string govern_summary(const govern::GovernEnd& end, const report::TopJobs& top_jobs,
                           report::TextStyle style) {
  // Command lines of compilers have thousands of characters.
  constexpr std::size_t kWidthMax = 160;
  style.width = std::min(style.width, kWidthMax);
  const Bytes least{end.summary.line.value_or(Bytes{}).count / report::kHeavyShare};
  std::string text =
      report::heaviest_table(top_jobs, {.by = report::Weight::memory, .from = least}, style);
  text += "plimsoll: the command " + outcome_text(end.command);
  if (end.summary.makespan) text += " in " + format_duration(*end.summary.makespan);
  return text + "\n" + steps_text(end) + memory_text(end.summary);
}

}  // namespace plimsoll::cli
